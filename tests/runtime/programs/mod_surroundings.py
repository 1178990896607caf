import atexit
import codecs
import gc
import http
import importlib
import importlib.util
import inspect
import io
import json.decoder
import logging
import logging.handlers
import os
import platform
import queue
import resource
import shutil
import sys
import threading
import timeit
import traceback
import uuid
from http import HTTPMethod, HTTPStatus
from json.decoder import JSONDecodeError
from json.encoder import JSONEncoder

print(os.environ.get("NO_SUCH_NAME", "default"), os.getenv("NO_SUCH_NAME"), "NO_SUCH_NAME" in os.environ)
os.environ["MINE"] = "1"
print(os.environ["MINE"], os.getenv("MINE"), os.path.expandvars("$MINE ${MINE} $NO_SUCH_NAME ${NO"), os.environ.pop("MINE"))
try:
    os.environ["NO_SUCH_NAME"]
except KeyError as error:
    print("KeyError", error)
try:
    os.environ["A"] = 1
except TypeError as error:
    print(error)
print(os.environ.setdefault("B", "2"), {**os.environ}["B"], dict(os.environ | {"C": "3"})["C"], os.environ.copy()["B"])
print(HTTPStatus.NOT_FOUND.value, HTTPStatus(200).phrase, http.HTTPStatus.OK == 200, HTTPMethod.GET.value)
print(shutil.which("no-such-command"), platform.system(), os.name, platform.machine() == platform.uname().machine, platform.architecture()[0])
print(importlib.import_module("json").dumps([1]), importlib.import_module("os.path").join("a", "b"))
print(importlib.util.find_spec("no_such_module"), importlib.util.find_spec("json").name)
try:
    json.loads("{")
except JSONDecodeError as error:
    print(error.lineno, json.decoder.JSONDecodeError is JSONDecodeError, JSONEncoder().encode({"a": 1}))
print(gc.isenabled() in (True, False), gc.collect() >= 0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0)
print(len(os.sched_getaffinity(0)) > 0, os.getuid() >= 0, os.isatty(0), os.times().user >= 0, os.EX_OK)
with open("f.txt", "w") as f:
    f.write("x")
    f.flush()
    os.fsync(f.fileno())
print(shutil.disk_usage(".").total > 0, uuid.uuid1().version, uuid.uuid1() != uuid.uuid1())


def f(a: int, b="x", *args, c=3, **kwargs) -> str:
    """Say a and b."""


class A:
    """A class."""

    attribute = 1

    def __init__(self, x, y=2):
        self.x = x

    def method(self, z): ...

    async def coro(self): ...


print(inspect.signature(f), inspect.signature(A), inspect.signature(A(1).method), list(inspect.signature(f).parameters))
print(inspect.signature(f).parameters["b"].default, inspect.signature(f).bind(1, c=4).arguments, inspect.signature(len))
print(inspect.getfullargspec(f).args, inspect.getdoc(f), [n for n, _ in inspect.getmembers(A, inspect.isfunction)])
print([n for n, v in inspect.getmembers(A(1)) if not n.startswith("_")], inspect.ismethod(A(1).method), inspect.isroutine(len))
print([c.__name__ for c in inspect.getmro(A)], inspect.iscoroutinefunction(A.coro), inspect.isbuiltin(len), inspect.ismodule(json))
generator = (n for n in range(3))
print(inspect.getgeneratorstate(generator), inspect.Parameter("q", inspect.Parameter.KEYWORD_ONLY, default=1))
try:
    {}["k"]
except KeyError:
    kind, value, tb = sys.exc_info()
    print(kind.__name__, value, tb is value.__traceback__, sys.exception() is value)
    print([(f.name, f.lineno == tb.tb_lineno) for f in traceback.extract_tb(tb)])
print(sys.exc_info())
handler = logging.handlers.RotatingFileHandler("log.txt", maxBytes=60, backupCount=2)
logger = logging.getLogger("rotating")
logger.addHandler(handler)
for n in range(9):
    logger.warning("message %d is written here", n)
handler.close()
print(sorted(name for name in os.listdir(".") if name.startswith("log")))
memory = logging.handlers.MemoryHandler(10, target=logging.StreamHandler(sys.stdout))
logger.handlers[:] = [memory]
logger.error("kept")
memory.flush()
q = queue.Queue()
listener = logging.handlers.QueueListener(q, logging.StreamHandler(sys.stdout))
listener.start()
logger.handlers[:] = [logging.handlers.QueueHandler(q)]
logger.error("queued")
listener.stop()
timed = logging.handlers.TimedRotatingFileHandler("timed.txt", when="midnight")
timed.close()
with codecs.open("utf.txt", "w", "utf-8") as f2:
    f2.write("é")
print(codecs.open("utf.txt", encoding="utf-8").read(), codecs.lookup("utf8").name, codecs.getreader("utf-8")(io.BytesIO(b"\xc3\xa9")).read())
timer = timeit.Timer(lambda: None)
print(timer.timeit(10) >= 0, len(timer.repeat(2, 10)), timeit.timeit(lambda: None, number=3) >= 0)
threading.stack_size(4 * 1024 * 1024)
t = threading.Thread(target=lambda: print("thread"))
t.start()
t.join()
limit = sys.getrecursionlimit()
sys.setrecursionlimit(limit + 500)
print(limit, sys.getrecursionlimit())


def deep(n):
    try:
        return deep(n + 1)
    except RecursionError:
        return n


sys.setrecursionlimit(200)
print(150 < deep(0) <= 200)
for wrong in (0, "a"):
    try:
        sys.setrecursionlimit(wrong)
    except (ValueError, TypeError) as error:
        print(type(error).__name__, error)
sys.setrecursionlimit(1000)
try:
    sys.setrecursionlimit(1)
except RecursionError as error:
    print("too low")
atexit.unregister(atexit.register(print, "never"))
print(platform.python_implementation(), "json" in sys.stdlib_module_names)
