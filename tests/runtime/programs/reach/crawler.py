"""Trusted code for a child: walks everything a program could reach, and says what it must never find.

From the program's globals and builtins it follows what a program could write: attributes by the rules of
the source (`guards.read`, which is what the source's attribute accesses mean), items of containers, what
classes and functions return when called with plain arguments, what the exceptions from failed calls carry. It calls
what it finds, as a program would.
"""

import collections
import gc
import importlib.machinery
import io
import os
import sys
import types

import litany_runtime.policy.constants as constants
import litany_runtime.policy.guards as guards
import litany_runtime.policy.names as names
import litany_runtime.policy.ownership as ownership

MAX_OBJECTS = 30_000
MAX_DEPTH = 7

SKIPPED_CALLS = {
    "input",
    "exit",
    "quit",
    "sleep",
    "print",
    "run_forever",
    "serve_forever",
    "wait",
    "join",
    "acquire",
    "get",
    "put",
    "setrecursionlimit",
    "autorange",
    "stack_size",
    "exec",
    "shutdown",
    "clear",
    "close",
    "kill",
    "breakpoint",
    "help",
    "setblocking",
    "cycle",
    "rmtree",
    "abort",
    "run",
    "select",
    "start",
    "result",
    "exception",
    "uuid1",
    "prcal",
    "prmonth",
    "repeat",
    "count",
    "run_until_complete",
    "stop",
    "detach",
    "set_int_max_str_digits",
    "timeit",
    "collect",
    "release",
    "notify",
    "disable",
    "suppress",
    "permutations",
    "product",
    "pow",
    "factorial",
    "comb",
    "perm",
    "setswitchinterval",
    "replace_stdio",
}


def forbidden_things(namespace):
    import builtins
    import shutil
    import socket
    import subprocess

    things = {}

    def add(name, thing):
        things[id(thing)] = (name, thing)

    add("sys.modules", sys.modules)
    add("builtins.__dict__", builtins.__dict__)
    add("the guards", constants.GUARDS)
    add("the program's own classes", ownership.own)
    add("the program's other classes", ownership.impure)
    add("os.environ", os.environ)
    for name in "system popen execv execve fork kill _exit open read write pipe dup dup2 putenv posix_spawn spawnv".split():
        if hasattr(os, name):
            add(f"os.{name}", getattr(os, name))
    for name in "eval exec compile __import__ open getattr setattr delattr vars globals locals type __build_class__".split():
        add(f"builtins.{name}", getattr(builtins, name))
    for thing in (
        subprocess.Popen,
        socket.socket,
        importlib.import_module,
        io.FileIO,
        io.open_code,
        sys._getframe,
        sys.settrace,
        gc.get_objects,
        gc.get_referrers,
        types.CodeType,
        types.FrameType,
        object.__getattribute__,
        type.__getattribute__,
        type.__subclasses__,
        object.__reduce_ex__,
        shutil.which,
    ):
        add(repr(thing), thing)
    for value in vars(guards).values():
        if isinstance(value, (dict, set, list)) and value:
            add("a guard's own state", value)
    return things


FORBIDDEN_KINDS = (types.FrameType, types.CodeType, importlib.machinery.ModuleSpec, types.CellType, io.FileIO)


def wrong(thing, forbidden):
    if id(thing) in forbidden and forbidden[id(thing)][1] is thing:
        return forbidden[id(thing)][0]
    kind = type(thing)
    if kind in FORBIDDEN_KINDS and kind is not io.FileIO:
        return f"a {kind.__name__}"
    if (
        isinstance(thing, types.ModuleType)
        and kind is types.ModuleType
        and sys.modules.get(thing.__name__) is thing
    ):
        return f"the module {thing.__name__}"
    if isinstance(thing, type) and issubclass(thing, type):
        return f"the metaclass {thing!r}"
    module = kind.__module__
    if isinstance(module, str) and module.startswith(("importlib", "_frozen_importlib")):
        return f"a loader, {kind.__name__}"
    return ""


def after(namespace):
    forbidden = forbidden_things(namespace)
    guarded = namespace["__builtins__"]
    start = [(name, value) for name, value in guarded.items()]
    start += [("import " + name, view) for name, view in VIEWS.items()]
    start[:0] = [(name, value) for name, value in namespace.items() if not name.startswith("__")]
    queue = collections.deque()
    seen = {}
    found = []
    reads = sorted(names.PLAIN_ATTRIBUTES | names.LOOKED_AT_DUNDERS)
    arguments = [(), ("a",), (1,), (["a"],), (namespace["own_function"],), ("a", "b"), (int, "a")]

    def offer(path, value, depth):
        if id(value) in seen and seen[id(value)] is value:
            return
        bad = wrong(value, forbidden)
        if bad:
            found.append(f"{path} is {bad}")
            return
        if len(seen) < MAX_OBJECTS and depth <= MAX_DEPTH:
            seen[id(value)] = value
            queue.append((path, value, depth))

    for path, value in start:
        offer(path, value, 0)
    while queue:
        path, value, depth = queue.popleft()
        seen[id(value)] = value
        kind = type(value)
        if kind in (int, float, complex, bool, bytes, type(None)) or (kind is str and depth > 2):
            continue
        if kind in (dict, types.MappingProxyType, collections.OrderedDict, collections.defaultdict):
            for key, item in list(value.items())[:300]:
                offer(f"{path}[{key!r:.30}]", item, depth + 1)
                offer(f"a key of {path}", key, depth + 1)
        elif kind in (list, tuple, set, frozenset, collections.deque):
            for number, item in enumerate(list(value)[:300]):
                offer(f"{path}[{number}]", item, depth + 1)
        if depth == MAX_DEPTH:
            continue
        try:
            listed = dir(value)
        except Exception:
            listed = []
        for name in {*listed, *reads}:
            if name.startswith("_") and name not in reads and name not in names.REVIEWED_PRIVATE:
                continue
            try:
                got = guards.read(value, name)
            except Exception as error:
                offer_exception(offer, f"{path}.{name} raising", error, depth)
                continue
            offer(f"{path}.{name}", got, depth + 1)
        name = getattr(value, "__name__", "")
        if callable(value) and depth <= 3 and name not in SKIPPED_CALLS and kind is not types.GenericAlias:
            for given in arguments:
                try:
                    got = within_an_alarm(value, given)
                except (SystemExit, KeyboardInterrupt, GeneratorExit):
                    continue
                except BaseException as error:
                    offer_exception(offer, f"{path}{given!r:.40} raising", error, depth)
                    continue
                if hasattr(got, "__await__") and hasattr(got, "close") and type(got) is types.CoroutineType:
                    got.close()
                offer(f"{path}{given!r:.40}", got, depth + 1)
                if hasattr(got, "__next__") and type(got) is not types.CoroutineType and depth <= 2:
                    try:
                        for number, item in zip(range(5), got):
                            offer(f"item {number} of {path}{given!r:.40}", item, depth + 2)
                    except BaseException:
                        pass
    return {"found": sorted(set(found)), "visited": len(seen), "left": len(queue)}


def offer_exception(offer, path, error, depth):
    offer(path, error, depth + 1)


def within_an_alarm(value, given):
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        return value(*given)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def interrupted(*_):
    raise TimeoutError("too long for a crawl")


import signal

signal.signal(signal.SIGALRM, interrupted)
import litany_runtime.policy.state as state

VIEWS = state.prepared.views
