"""Library code that does for a program what the program may not do itself, and each must refuse.

A function that reads, sets or calls by a name is a deputy when the name is the program's: a descriptor's
`attrname`, a field's name, what an object's class says of how it is copied, a private name that a base beside
the library's brings in. So is a function that sets attributes on whatever the program's `__new__` returned, and
any library frame in which a callable of the program's is run. The host looks for the word `ESCAPED`.
"""

from __future__ import annotations

import pytest

from policy_attacks import DESCRIPTORS, PREAMBLE, TOOLS
from policy_runner import PolicyRunner

WAYS = {
    "a slot in a pool": """
import types, concurrent.futures
slot = types.TracebackType.tb_lineno
kept = []
with concurrent.futures.ThreadPoolExecutor(1) as pool:
    try: 1 / 0
    except ZeroDivisionError as e: escaped(pool.submit(slot.__get__, e.__traceback__).result())
""",
    "a cached property in a pool": """
import functools, types, json, concurrent.futures
cp = functools.cached_property(lambda self: 0); cp.attrname = '__globals__'
d = cp.__get__(types.FunctionType)
with concurrent.futures.ThreadPoolExecutor(1) as pool: escaped(pool.submit(d.__get__, json.dumps).result())
""",
    "fake fields of an instance": """
import dataclasses, pathlib
class Fake:
    init = True; _field_type = None; default = None; name = '_flavour' if hasattr(pathlib.PurePosixPath, '_flavour') else 'parser'
@dataclasses.dataclass(init=False)
class P(pathlib.PurePosixPath):
    def __new__(cls, *a, **k):
        k and escaped(k); return pathlib.PurePosixPath.__new__(cls)
    def __init__(self, *a, **k): pass
p = P()
vars(p)['__dataclass_fields__'] = {'a': Fake()}
dataclasses.replace(p)
""",
    "a reducer in a namespace": """
import copy, types, json
copy.copy(types.SimpleNamespace(**{'__reduce_ex__': lambda n: (lambda: json.dumps, (), ({}, {'__kwdefaults__': {'skipkeys': 7}}))})); escaped()
""",
    "a reducer in an instance": """
import copy, json
o = Own(); vars(o)['__reduce_ex__'] = lambda n: (lambda: json.dumps, (), ({'marked': 1}, None))
copy.deepcopy(o); hasattr(json.dumps, 'marked') and escaped()
""",
    "annotated private of a library base": """
import warnings, dataclasses
@dataclasses.dataclass(init=False)
class W(warnings.catch_warnings):
    _module: object
    def __new__(c, *a, **k):
        k and escaped(k); return warnings.catch_warnings.__new__(c)
    def __init__(self, *a, **k):
        super().__init__()
dataclasses.replace(W())
""",
    "annotated private set": """
import contextlib, dataclasses
@dataclasses.dataclass
class R(contextlib.redirect_stdout):
    _stream: str
    def __post_init__(self): contextlib.redirect_stdout.__init__(self, {})
with R('modules'): escaped()
""",
    "mixin of a library base": """
import contextlib
got = []
class Mixin:
    _stream = 'modules'
class R(Mixin, contextlib.redirect_stdout): pass
with R({}): escaped()
""",
    "mixin set later": """
import contextlib
class Mixin: pass
class R(Mixin, contextlib.redirect_stdout): pass
Mixin._stream = 'modules'
with R({}): escaped()
""",
    "mixin property": """
import contextlib
got = []
class Mixin:
    @property
    def _old_targets(self): return got
    @_old_targets.setter
    def _old_targets(self, v): pass
class R(Mixin, contextlib.redirect_stdout): pass
escaped(R)
""",
    "mixin dataclass": """
import warnings, dataclasses
@dataclasses.dataclass(init=False)
class M:
    _module: object
class W(M, warnings.catch_warnings):
    def __init__(self, **k): k and escaped(k); warnings.catch_warnings.__init__(self)
dataclasses.replace(W())
""",
    "field renamed": """
import warnings, dataclasses
@dataclasses.dataclass(init=False)
class W(warnings.catch_warnings):
    a: object
    def __init__(self, **k): k and escaped(k); warnings.catch_warnings.__init__(self)
dataclasses.fields(W)[0].name = '_module'
dataclasses.replace(W())
""",
    "state seen by __setstate__": """
import warnings, copy
class W(warnings.catch_warnings):
    def __setstate__(self, s): '_module' in s and escaped(s)
copy.copy(W())
""",
    "new returns another": """
import copy, json
class P:
    def __new__(c): return json.dumps if armed else object.__new__(c)
    def __getstate__(self): return ({'marked': 1}, None)
armed = False
p = P()
armed = True
copy.copy(p); hasattr(json.dumps, 'marked') and escaped()
""",
    "userdict copy": """
import copy, collections, json
class U(collections.UserDict):
    def __new__(c, *a): return json if armed else object.__new__(c)
armed = False
u = U(); u.dumps = 5
armed = True
copy.copy(u); getattr(json, 'dumps') == 5 and escaped()
""",
    "userlist copy": """
import copy, collections, json
class U(collections.UserList):
    def __new__(c, *a): return json if armed else object.__new__(c)
armed = False
u = U(); u.dumps = 5
armed = True
u.__copy__(); getattr(json, 'dumps') == 5 and escaped()
""",
    "partialmethod self": """
import functools
class D:
    def __call__(self): pass
    def __get__(self, o, t): return print
r = functools.partialmethod(D()).__get__(None, D)
functools.update_wrapper(victim, r)
escaped(vars(victim)['__self__'])
""",
    "enum member of another's": """
import enum
f = open('x', 'wb', buffering=0)
def new(c, *a): return f
class E(enum.Enum):
    __new__ = new
    A = ('y', 'wb', True, lambda *a: 50)
escaped(f)
""",
    "enum member by a static new": """
import enum
f = open('x', 'wb', buffering=0)
class E(enum.Enum):
    __new__ = staticmethod(lambda c, *a: f)
    A = ('y', 'wb', True, lambda *a: 50)
escaped(f)
""",
    "enum member by a library's function": """
import enum, typing
class E(enum.Enum):
    __new__ = typing.cast
    A = (victim,)
hasattr(victim, '_value_') and escaped()
""",
    "tar open method": """
import tarfile
class T(tarfile.TarFile): OPEN_METH = {'x': '__setattr__'}
T.open(victim, '__kwdefaults__:x', {'a': 9}); escaped()
""",
    "tar open method quiet": """
import tarfile
class T(tarfile.TarFile): OPEN_METH = {'x': '__setattr__'}
import json
T.open(json, 'dumps:x', 1); escaped()
""",
    "temporary file format": """
import tempfile
f = tempfile.NamedTemporaryFile(); f.file = '{0.__globals__}'; escaped(f.format(victim))
""",
    "listdir from shutil": """
import shutil, os, types
shutil.copyfileobj(types.SimpleNamespace(read=os.listdir), types.SimpleNamespace(write=lambda names: (escaped(names), exit())), 51)
""",
    "mro entries twice": """
import types
n = []
def entries(bases):
    n.append(1); return (int,) if len(n) == 1 else (types.ModuleType,)
x = types.SimpleNamespace(**{'__mro_entries__': entries})
class M(x): pass
issubclass(M, types.ModuleType) and escaped(M)
""",
    "instance as base": """
got = []
class X:
    def __init__(self, *a): got.append(a)
x = X()
class A(x):
    def f(self): return __class__
got[1:] and escaped(got)
""",
    "slots": """
class A: __slots__ = ('__reduce_ex__',)
escaped(A)
""",
    "record state": """
import logging, copy, json
r = logging.makeLogRecord({'__reduce_ex__': lambda n: (lambda: json.dumps, (), ({'marked': 1}, None))})
copy.copy(r); hasattr(json.dumps, 'marked') and escaped()
""",
    "partial state": """
import functools, copy, json
vars(victim)['__reduce_ex__'] = lambda n: (lambda: json.dumps, (), ({'marked': 1}, None))
p = functools.update_wrapper(functools.partial(victim), victim)
copy.copy(p); hasattr(json.dumps, 'marked') and escaped()
""",
    "exception state": """
import copy, json
class E(Exception): pass
e = E(); vars(e)['__reduce__'] = lambda: (lambda: json.dumps, (), {'marked': 1})
copy.copy(e); hasattr(json.dumps, 'marked') and escaped()
""",
    "exception class by state": """
import copy
class E(Exception): pass
class F(Exception): pass
e = E(); vars(e)['__class__'] = F
type(copy.copy(e)) is F and escaped()
""",
    "getstate class": """
import copy
class F: pass
class P:
    def __getstate__(self): return (None, {'__class__': F})
type(copy.copy(P())) is F and escaped()
""",
    "cached_property foreign": """
import functools, threading
cp = functools.cached_property(lambda s: 1); cp.attrname = '_target'
escaped(cp.__get__(threading.Thread(target=victim)))
""",
    "cached_property in a class": """
import functools, types
cp = functools.cached_property(lambda s: 1)
class A: a = cp
cp.attrname = '__globals__'
escaped(cp.__get__(types.FunctionType))
""",
    "copy keeps str subclass keys": """
import copy, types, json
class S(str):
    def __hash__(self): return hash('__reduce_ex__')
    def __eq__(self, o): return o == '__reduce_ex__'
x = types.SimpleNamespace(**{S('abc'): lambda n: (lambda: json.dumps, (), ({'marked': 1}, None))})
copy.copy(x); hasattr(json.dumps, 'marked') and escaped()
""",
    "base that says it is another": """
import types
n = []
class X:
    def __eq__(self, o): return True
    __hash__ = None
x = X()
vars(x)['__mro_entries__'] = lambda b: n.append(1) or ((int,) if len(n) == 1 else (types.ModuleType,))
class M(x): pass
issubclass(M, types.ModuleType) and escaped(M)
""",
    "ast fields function": """
import ast, threading
class N(threading.Thread): _fields = ('_started',)
got = dict(ast.iter_fields(N(target=victim))); '_started' in got and escaped(got)
""",
    "ast fields of catch": """
import ast, warnings
class W(warnings.catch_warnings): _fields = ('_module',)
got = dict(ast.iter_fields(W())); got and escaped(got)
""",
    "pprint ns impure": """
import pprint, types, warnings
class N(warnings.catch_warnings, types.SimpleNamespace):
    __repr__ = types.SimpleNamespace.__repr__
    def __init__(self): warnings.catch_warnings.__init__(self)
class PP(pprint.PrettyPrinter):
    def format(self, o, c, m, l):
        if 'module' in type(o).__name__: escaped(o)
        return super().format(o, c, m, l)
PP(width=1).pformat(N())
""",
    "deepcopy memo": """
import copy, contextlib
r = contextlib.redirect_stdout(Own()); memo = {}; copy.deepcopy(r, memo)
for v in memo.values():
    if isinstance(v, dict) and '_old_targets' in v: escaped(v)
""",
    "log defaults": """
import logging, warnings
class D(dict):
    def __or__(self, o): escaped(o); return {}
f = logging.Formatter('%(a)s', defaults=D(a=1)); f.formatMessage(warnings.catch_warnings())
""",
    "log defaults template": """
import logging, warnings
class D(dict):
    def __or__(self, o): escaped(o); return {}
f = logging.Formatter('$a', style='$', defaults=D(a=1)); f.formatMessage(warnings.catch_warnings())
""",
    "comparison of dicts": """
import types, warnings
class N(warnings.catch_warnings, types.SimpleNamespace):
    def __init__(self): warnings.catch_warnings.__init__(self)
class E:
    def __eq__(self, o): type(o).__name__ == 'module' and escaped(o); return True
n = N(); m = N(); [setattr(m, k, E()) for k in ('_module', '_record', '_entered', '_filters')]
n == m
""",
    "comparison of namespaces": """
import argparse, warnings
class N(warnings.catch_warnings, argparse.Namespace):
    def __init__(self): warnings.catch_warnings.__init__(self)
escaped(N)
""",
    "comparison of reports": """
import traceback, warnings
class N(warnings.catch_warnings, traceback.TracebackException):
    def __init__(self): warnings.catch_warnings.__init__(self)
escaped(N)
""",
    "mail policy made another's": """
import email.policy
p = email.policy.default.clone(__class__=Own); type(p) is Own and escaped(p)
""",
    "mail policy begun as another's": """
import email.policy
p = type(email.policy.default)(**{'__class__': Own}); type(p) is Own and escaped(p)
""",
    "mail policy added": """
import email.policy, types
p = email.policy.default + types.SimpleNamespace(**{'__class__': Own}); type(p) is Own and escaped(p)
""",
    "mail policy's own state": """
import email.policy
class P(type(email.policy.default)): pass
p = P(); vars(p)['__class__'] = Own
q = p.clone(max_line_length=5); type(q) is Own and escaped(q)
""",
    "class made by a header": """
import email.policy, types
r = email.policy.default.header_factory; r.base_class = types.ModuleType; r.default_class = Own
issubclass(r['x'], types.ModuleType) and escaped(r['x'])
""",
    "class made by a mapping of headers": """
import email.policy, types
class D(dict):
    def get(self, *a): return types.ModuleType
r = email.policy.default.header_factory; r.registry = D(); r.base_class = Own
issubclass(r['x'], types.ModuleType) and escaped(r['x'])
""",
    "class made by a registered header": """
import email.policy, asyncio
r = email.policy.default.header_factory; r.map_to_type('x', type(asyncio.new_event_loop())); r.base_class = Own
escaped(r['x'])
""",
    "raw type by a mail's content": """
import email.message, email.policy
class D(dict):
    def __contains__(self, k): hasattr(k, 'readall') and escaped(k); return False
m = email.message.EmailMessage(); email.policy.default.content_manager.set_handlers = D()
m.set_content(open('x', 'wb', buffering=0))
""",
    "type by a mail's content": """
import email.message, email.policy
class D(dict):
    def __contains__(self, k): k.__name__ == 'type' and escaped(k('A', (), {})); return False
m = email.message.EmailMessage(); email.policy.default.content_manager.set_handlers = D()
m.set_content(Own)
""",
    "module by a name of tests": """
import unittest
class L(unittest.TestLoader):
    def loadTestsFromModule(self, m, *a, **k): hasattr(m, 'system') and escaped(m); return unittest.TestSuite()
L().loadTestsFromName('os')
""",
    "module by names of tests": """
import unittest
class L(unittest.TestLoader):
    def loadTestsFromModule(self, m, *a, **k): hasattr(m, 'system') and escaped(m); return unittest.TestSuite()
L().loadTestsFromNames(['os'])
""",
    "module by the main of tests": """
import unittest
class L(unittest.TestLoader):
    def loadTestsFromModule(self, m, *a, **k): hasattr(m, 'system') and escaped(m); return unittest.TestSuite()
unittest.main('os', testLoader=L(), exit=False, argv=['x'])
""",
    "test found in a file": """
import unittest
open('test_x.py', 'w').write('print("ESCAPED")')
unittest.defaultTestLoader.discover('.')
""",
    "test found by the command line": """
import unittest
open('test_x.py', 'w').write('print("ESCAPED")')
unittest.main(None, argv=['x', 'discover'], exit=False)
""",
    "node set": """
import ast, contextlib
class R(contextlib.redirect_stdout, ast.AST):
    def __init__(self): contextlib.redirect_stdout.__init__(self, {})
r = R(); ast.AST.__init__(r, _stream='modules')
escaped(r)
""",
}

OURS_ALONE = {"mro entries twice", "base that says it is another", "comparison of dicts"}
"""Ways that only a guard which asks twice would open."""


@pytest.mark.parametrize("way", WAYS)
def test_a_deputy_is_refused(way: str, policy: PolicyRunner) -> None:
    run = policy.run(PREAMBLE + WAYS[way], tools=TOOLS, trusted=DESCRIPTORS)
    assert "ESCAPED" not in run.stdout
    assert run.exit_code in {0, 1, 126}, f"died: {run}"


@pytest.mark.parametrize("way", sorted(set(WAYS) - OURS_ALONE))
def test_a_deputy_works_without_the_policy(way: str, plain: PolicyRunner) -> None:
    run = plain.run(PREAMBLE + WAYS[way], tools=TOOLS, trusted=DESCRIPTORS)
    assert "ESCAPED" in run.stdout, run.stderr


ORDINARY = {
    "a property of a class, cached": """
import functools
class A:
    @functools.cached_property
    def size(self): return 3
class B(A): pass
print(A().size, B().size, A.size is not None, vars(B()) == {})
""",
    "copies": """
import copy, dataclasses, collections, types, typing, enum
@dataclasses.dataclass(slots=True, frozen=True)
class S: a: int; b: list
@dataclasses.dataclass
class D: a: int; _b: list
class E(Exception):
    def __init__(self, m, c): super().__init__(m, c); self.c = c
class Slots:
    __slots__ = ("a", "_b")
class State:
    def __init__(self): self.a, self.b = 1, 2
    def __getstate__(self): return {"a": 5}
    def __setstate__(self, state): self.a = state["a"] + 1
class New:
    def __new__(cls, *a): o = super().__new__(cls); o.n = 1; return o
class G(typing.Generic[typing.TypeVar("T")]): pass
class U(collections.UserDict): pass
x = Slots(); x.a, x._b = [1], 2
e = E("m", [2]); e.add_note("n")
for thing in (S(1, [2]), D(1, [2]), types.SimpleNamespace(a=[1]), collections.Counter("aab")):
    for made in (copy.copy(thing), copy.deepcopy(thing)): print(made, made == thing, made is thing)
y = copy.deepcopy(x); print(y.a, y._b, y.a is x.a, copy.copy(x).a is x.a)
f = copy.deepcopy(e); print(f.args, f.c, f.c is e.c, f.__notes__)
print(vars(copy.copy(State())), copy.copy(New()).n, type(copy.copy(G[int]())).__name__, copy.copy(U(a=1)))
loop = []; loop.append(loop); made = copy.deepcopy(loop); print(made[0] is made)
""",
    "fields": """
import dataclasses
@dataclasses.dataclass
class A:
    x: int; _y: int = 2; items: list = dataclasses.field(default_factory=list)
a = A(1)
print(dataclasses.replace(a, x=5), dataclasses.asdict(a), dataclasses.astuple(a), [f.name for f in dataclasses.fields(a)])
""",
    "members": """
import enum
class Planet(enum.Enum):
    A = (1, 2); B = (3, 4)
    def __init__(self, mass, radius): self.mass, self.radius = mass, radius
class Coord(bytes, enum.Enum):
    def __new__(cls, value, label):
        obj = bytes.__new__(cls, [value]); obj._value_ = value; obj.label = label; return obj
    PX = (0, "P.X"); PY = (1, "P.Y")
class Auto(enum.Enum):
    def __new__(cls):
        obj = object.__new__(cls); obj._value_ = len(cls.__members__) + 1; return obj
class More(Auto): X = (); Y = ()
print(Planet.B.radius, Coord.PY.label, Coord(1), More.Y.value)
""",
    "redirection": """
import contextlib, io
out = io.StringIO()
with contextlib.redirect_stdout(out): print("inside")
print(repr(out.getvalue()))
""",
    "parsers, nodes and namespaces": """
import argparse, ast, logging, pprint, types, typing, abc
p = argparse.ArgumentParser(prog="p", conflict_handler="resolve"); p.add_argument("-x", "--ex", type=int, default=3); p.add_argument("-x")
s = p.add_subparsers(dest="cmd"); q = s.add_parser("go"); q.add_argument("n", nargs="*")
class Keep: pass
k = Keep(); p.parse_args(["go", "a"], namespace=k); print(vars(k), p.parse_known_args(["go", "b", "--zz"]))
class V(ast.NodeVisitor):
    def visit_Name(self, node): print("name", node.id)
V().visit(ast.parse("a + b")); print(ast.unparse(ast.parse("x=1")), ast.dump(ast.parse("x")))
class N(types.SimpleNamespace, typing.Generic[typing.TypeVar("T")]): pass
class M(types.SimpleNamespace, abc.ABC): pass
pprint.pprint([N(a=1, b="x" * 90), M(b=2), {"z": 1, "a": [1] * 40}], width=60); print(N(a=1) == N(a=1))
for style, text in (("%", "%(levelname)s %(message)s %(who)s"), ("{", "{levelname} {message} {who}"), ("$", "$levelname $message $who")):
    f = logging.Formatter(text, style=style, defaults={"who": "me"}); print(f.format(logging.makeLogRecord({"msg": "hi", "levelname": "X"})))
""",
    "binding": """
class A:
    def f(self): return "f"
class Typed:
    def __get__(self, obj, owner=None): return "typed" if obj else owner.__name__
    def __set__(self, obj, value): print("set", value)
class B: t = Typed()
def g(self, *a): return type(self).__name__, a
print(g.__get__(A())(1), A.f.__get__(A())(), property(lambda s: 5).__get__(A()), staticmethod(g).__get__(A())(1, 2))
print(classmethod(g).__get__(A(), A)(3)[1], Typed().__get__(None, B), B().t, len.__name__); B().t = 4; Typed().__set__(B(), 5)
""",
    "wrappers": """
import functools
def d(f):
    @functools.wraps(f)
    def w(*a): return f(*a)
    return w
def f(x): return x
f.mark = 7
g = d(f); print(g.__name__, g.mark, g.__wrapped__ is f, g(3))
""",
}


@pytest.mark.parametrize("what", ORDINARY)
def test_what_was_mended_does_its_ordinary_work(what: str, policy: PolicyRunner, plain: PolicyRunner) -> None:
    run, expected = policy.run(ORDINARY[what]), plain.run(ORDINARY[what])
    assert expected.exit_code == 0, expected.stderr
    assert (run.stdout, run.exit_code) == (expected.stdout, 0), run


def test_a_library_frame_reads_only_what_its_own_code_names(policy: PolicyRunner) -> None:
    """With a real descriptor in the program's hands, no library function reads with it for the program."""
    trusted = """
def before(namespace):
    import types
    namespace.update(get=types.FunctionType.__dict__["__code__"].__get__, set_=types.FunctionType.__dict__["__code__"].__set__)
"""
    program = """
import concurrent.futures, threading, functools, weakref, asyncio, contextlib, contextvars, itertools, json, shutil, types, logging
got = []
def keep(v): v is not None and got.append(v)
async def far(): return await asyncio.to_thread(get, json.dumps)
class Mapped:
    __getattr__ = staticmethod(get)
def pool():
    with concurrent.futures.ThreadPoolExecutor(1) as p:
        for f in (p.submit(get, json.dumps), *[p.submit(set_, json.dumps, None)]): keep(f.result())
def stack():
    with contextlib.ExitStack() as s: s.callback(lambda: None); s.push(lambda *a: keep(get(json.dumps)))
for way in (
    lambda: keep(get(json.dumps)),
    pool,
    lambda: keep(next(map(get, [json.dumps]))),
    lambda: keep(sorted([json.dumps, json.loads], key=get)),
    lambda: keep(functools.reduce(lambda a, b: get(b), [0, json.dumps])),
    lambda: keep(functools.partial(get, json.dumps)()),
    lambda: keep(functools.lru_cache(get)(json.dumps)),
    lambda: keep(functools.singledispatch(get)(json.dumps)),
    lambda: keep(asyncio.run(far())),
    lambda: keep(contextvars.copy_context().run(get, json.dumps)),
    lambda: keep(list(filter(get, [json.dumps]))),
    lambda: keep(list(itertools.starmap(get, [(json.dumps,)]))),
    stack,
    lambda: shutil.copyfileobj(types.SimpleNamespace(read=lambda n: get(json.dumps)), types.SimpleNamespace(write=keep)),
    lambda: keep(weakref.finalize(Mapped(), get, json.dumps)()),
    lambda: keep(json.dumps(object(), default=lambda o: keep(get(json.dumps)))),
    lambda: keep(json.loads("{}", object_hook=lambda o: get(json.dumps))),
):
    try: way()
    except Exception: pass
print(len(got), [type(g).__name__ for g in got])
"""
    run = policy.run(program, trusted=trusted)
    assert run.stdout == "0 []\n", run


def test_a_redirection_is_of_a_stream_whatever_its_object_says(policy: PolicyRunner) -> None:
    trusted = """
def before(namespace):
    import contextlib
    namespace["r"] = contextlib.redirect_stdout({})
    namespace["r"]._stream = "modules"
"""
    run = policy.run("with r: print('inside')", trusted=trusted)
    assert (run.stdout, run.exception) == ("", "AttributeError"), run
    assert "a redirection is for a stream" in run.stderr


def test_a_programs_tests_leave_the_interrupt_to_the_runtime(policy: PolicyRunner) -> None:
    trusted = """
import signal
def before(namespace):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
def after(namespace):
    return signal.getsignal(signal.SIGINT) == signal.SIG_IGN
"""
    program = """
import unittest
class T(unittest.TestCase):
    def test(self): pass
unittest.main(argv=["x", "--catch"], exit=False)
unittest.main(argv=["x"], exit=False, catchbreak=True)
"""
    run = policy.run(program, trusted=trusted)
    assert run.after is True, run
    assert "Ran 1 test" in run.stderr
