import email, email.generator, email.header, email.message, email.mime.multipart, email.parser, email.policy, inspect, logging.handlers, unittest, codecs, timeit
import abc, asyncio, collections, contextlib, dataclasses, enum, functools, io, json, logging, pathlib, sqlite3, threading, typing, types, weakref, tempfile, argparse, configparser, csv, re, datetime, decimal, queue, string, struct, tarfile, zipfile, random, ast, html.parser, xml.etree.ElementTree as ET, concurrent.futures, contextvars, traceback, warnings, operator, itertools, sys, os


def own_function(a=1, *b, c: int = 2, **d):
    "doc"
    return a


class Own:
    cls_attr = 1

    def __init__(self, *a):
        self.x = 1
        self._y = 2

    def method(self):
        return self

    @property
    def prop(self):
        return 1

    @classmethod
    def cm(cls):
        return cls

    @functools.cached_property
    def cp(self):
        return 5


class OwnThread(threading.Thread):
    pass


class OwnHandler(logging.Handler):
    pass


class OwnError(AttributeError):
    pass


class OwnStr(str):
    pass


class Color(enum.Enum):
    RED = 1
    GREEN = own_function


class Num(enum.IntFlag):
    A = 1


class Gen(typing.Generic[typing.TypeVar("T")]):
    pass


class Proto(typing.Protocol):
    def f(self): ...


class Abs(abc.ABC):
    pass


class Parser(html.parser.HTMLParser):
    pass


class Con(sqlite3.Connection):
    pass


class NT(typing.NamedTuple):
    a: int = 1


class TD(typing.TypedDict):
    a: int


@dataclasses.dataclass
class Data:
    a: int = 1
    b: list = dataclasses.field(default_factory=list)


@contextlib.contextmanager
def manager():
    yield 1


def generator():
    yield 1


async def coroutine():
    return 1


async def agen():
    yield 1


errors = []
for f in (
    lambda: json.nope,
    lambda: 1 / 0,
    lambda: {}["a"],
    lambda: undefined,
    lambda: Own().nope,
    lambda: int("x"),
    lambda: open("/etc/passwd"),
    lambda: [].nope,
    lambda: sys.nope,
    lambda: getattr(os, "system"),
    lambda: next(generator().nope),
    lambda: own_function.__nope,
):
    try:
        f()
    except Exception as e:
        errors.append(e)
try:
    raise ExceptionGroup("g", errors)
except ExceptionGroup as e:
    group = e
loop = asyncio.new_event_loop()


async def inside():
    return [
        asyncio.current_task(),
        asyncio.get_running_loop(),
        asyncio.Future(),
        asyncio.Lock(),
        asyncio.Queue(),
        asyncio.Event(),
        asyncio.all_tasks(),
        asyncio.create_task(coroutine()),
        asyncio.TaskGroup(),
        asyncio.timeout(1),
        asyncio.sleep(0),
    ]


class OwnTest(unittest.TestCase):
    def test_it(self):
        self.assertEqual(1, 2)


class OwnResult(unittest.TestResult):
    kept = []

    def addFailure(self, test, err):
        self.kept.append((test, err))
        super().addFailure(test, err)


class OwnGenerator(email.generator.Generator):
    pass


tested = OwnResult()
unittest.defaultTestLoader.loadTestsFromTestCase(OwnTest).run(tested)
mail = email.message_from_string("To: a <b@c>, d: e@f;\nSubject: s\n\nbody", policy=email.policy.default)
old_mail = email.mime.multipart.MIMEMultipart()
rotating = logging.handlers.RotatingFileHandler("log.txt")
made = loop.run_until_complete(inside())
parser = argparse.ArgumentParser()
parser.add_argument("--x")
sub = parser.add_subparsers()
conf = configparser.ConfigParser()
conf.read_string("[a]\nb=1")
open("f.txt", "w").write("x")
zipfile.ZipFile("z.zip", "w").close()
tarfile.open("t.tar", "w").close()
con = sqlite3.connect(":memory:")
con.row_factory = sqlite3.Row
pool = concurrent.futures.ThreadPoolExecutor(1)
fut = pool.submit(own_function)
objects = [
    OwnTest,
    OwnTest("test_it"),
    OwnTest("test_it").assertRaises(ValueError),
    OwnTest("test_it").assertWarns(UserWarning),
    tested,
    tested.kept,
    tested.failures,
    unittest.defaultTestLoader,
    unittest.TestSuite([OwnTest("test_it")]),
    unittest.TextTestRunner(),
    mail,
    mail["to"],
    mail["to"].addresses,
    mail["to"].groups,
    mail.policy,
    mail.policy.header_factory,
    mail.policy.content_manager,
    old_mail,
    old_mail.policy,
    OwnGenerator(sys.stdout),
    email.parser.BytesFeedParser(),
    email.header.Header("x"),
    rotating,
    logging.handlers.MemoryHandler(1),
    inspect.signature(own_function),
    inspect.signature(json.dumps),
    inspect.signature(Own),
    inspect.signature(own_function).bind(1),
    inspect.getfullargspec(own_function),
    inspect.getmembers(Own()),
    os.environ,
    os.times(),
    codecs.lookup("utf-8"),
    codecs.lookup("shift_jis"),
    codecs.getreader("utf-8")(io.BytesIO()),
    timeit.Timer(own_function),
    sys.exc_info(),
    traceback.extract_tb(errors[0].__traceback__),
    Own(),
    own_function,
    Own.method,
    Own().method,
    generator(),
    agen(),
    manager(),
    manager,
    OwnThread(),
    OwnHandler(),
    OwnError("x"),
    OwnStr("{0.__class__}"),
    Color.RED,
    Color.GREEN,
    Num.A,
    Gen[int],
    Gen(),
    Proto,
    Abs,
    Parser(),
    con,
    con.cursor(),
    con.execute("select 1 as a").fetchone(),
    NT(),
    Data(),
    errors,
    group,
    made,
    loop,
    parser,
    sub,
    conf,
    conf["a"],
    open("f.txt"),
    open("f.txt", "rb"),
    open("f.txt", "rb").raw,
    open("f.txt", "rb", buffering=0),
    pathlib.Path("f.txt"),
    zipfile.ZipFile("z.zip"),
    zipfile.Path("z.zip"),
    tarfile.open("t.tar"),
    tempfile.NamedTemporaryFile(),
    tempfile.TemporaryDirectory(),
    tempfile.SpooledTemporaryFile(),
    re.match("a", "a"),
    ET.fromstring("<a/>"),
    ET.XMLParser(),
    weakref.ref(Own),
    weakref.proxy(Own),
    logging.getLogger("x"),
    logging.getLogger(),
    logging.LogRecord("a", 1, "b", 1, "c", (), None),
    threading.current_thread(),
    threading.local(),
    threading.Timer(1, own_function),
    functools.partial(own_function),
    functools.lru_cache(own_function),
    functools.singledispatch(own_function),
    operator.attrgetter("x"),
    operator.itemgetter(1),
    operator.methodcaller("x"),
    itertools.chain([1]),
    io.StringIO(),
    io.BytesIO(),
    csv.reader([]),
    csv.DictReader(["a"]),
    string.Template("x"),
    string.Formatter(),
    struct.Struct("i"),
    random.Random(),
    ast.parse("x"),
    pool,
    fut,
    contextvars.copy_context(),
    contextvars.ContextVar("v"),
    traceback.TracebackException.from_exception(errors[0]),
    warnings.catch_warnings(record=True),
    types.SimpleNamespace(a=1),
    types.MethodType(own_function, 1),
    types.GenericAlias(list, (int,)),
    list[int],
    int | str,
    typing.List[int],
    typing.Type[int],
    typing.Optional[int],
    typing.Callable[[int], str],
    typing.Annotated[int, 1],
    Own.__dict__,
    Own().__dict__,
    vars(Data),
    super(Own, Own()),
    memoryview(b"x"),
    slice(1),
    sys.stdout,
    sys.stderr,
    sys.stdin,
    sys.implementation,
    sys.flags,
    datetime.datetime.now(),
    decimal.getcontext(),
    collections.ChainMap({}),
    collections.UserString("x"),
    dataclasses.fields(Data),
    own_function.__annotations__,
    contextlib.ExitStack(),
    contextlib.suppress(),
    contextlib.redirect_stdout(None),
    queue.Queue(),
    os.stat("f.txt"),
    list(os.scandir("."))[0],
    errors[0].__traceback__,
    json.JSONEncoder(),
    json.JSONDecoder(),
    type(Own()),
    type(Own),
    Own.__mro__,
    Color.__members__,
    Data.__match_args__,
]
