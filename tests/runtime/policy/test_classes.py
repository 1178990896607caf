"""How a program makes classes, and that no hook, namespace or metaclass is a way out.

What is ordinary stands in `programs/class_hooks.py`, which runs as under CPython.
"""

from __future__ import annotations

import pytest

from litany_runtime.policy import check
from policy_attacks import DESCRIPTORS, PREAMBLE, TOOLS
from policy_runner import PolicyRunner

WAYS = {
    "a refused class seen by a hook": """
import contextlib
kept = []
class Mixin:
    _stream = 'modules'
    def __init_subclass__(cls, **k): kept.append(cls)
try:
    class R(Mixin, contextlib.redirect_stdout): pass
except TypeError: pass
kept and escaped(kept)
""",
    "a refused class seen by an attribute": """
import contextlib
kept = []
class Field:
    def __set_name__(self, owner, name): kept.append(owner)
class Mixin: _stream = 'modules'
try:
    class R(Mixin, contextlib.redirect_stdout): f = Field()
except TypeError: pass
kept and escaped(kept)
""",
    "a refused class seen by a member": """
import contextlib, enum
kept = []
class Mixin: _stream = 'modules'
try:
    class R(Mixin, contextlib.redirect_stdout, enum.Enum):
        A = {}
        def __init__(self, *a): kept.append(type(self))
except TypeError: pass
kept and escaped(kept)
""",
    "a refused class seen by slots": """
kept = []
class Base:
    def __init_subclass__(cls): kept.append(cls)
try:
    class A(Base): __slots__ = ('__reduce_ex__',)
except TypeError: pass
kept and escaped(kept)
""",
    "a refused class seen by match args": """
kept = []
class Base:
    def __init_subclass__(cls): kept.append(cls)
try:
    class A(Base): __match_args__ = ('__globals__',)
except TypeError: pass
kept and escaped(kept)
""",
    "a hook on a library's class": """
import threading
kept = []
class Base:
    def __init_subclass__(cls): cls._started = kept; kept.append(cls)
Base.__dict__['__init_subclass__'].__get__(None, threading.Thread)() if '__init_subclass__' in Base.__dict__ else None
kept and escaped(kept)
""",
    "an attribute's hook on a library's class": """
import threading
class F:
    def __set_name__(self, owner, name): escaped(owner)
F().__set_name__(threading.Thread, 'x')
""",
    "a hook while another class is made": """
kept = []
class F:
    def __set_name__(self, owner, name): kept.append(owner)
import abc, pathlib
class Lazy:
    @property
    def __isabstractmethod__(self):
        F().__set_name__(pathlib.Path, 'x'); return False
class A(abc.ABC): f = Lazy()
pathlib.Path in kept and escaped(kept)
""",
    "a library's hook with any class": "import typing\nclass G(typing.Generic[typing.TypeVar('T')]):\n    def go(cls): super(typing.Generic, cls).__init_subclass__()\nescaped(super(G, G).__init_subclass__)",
    "a hook read": "class A:\n    def __init_subclass__(cls): pass\nescaped(A.__init_subclass__)",
    "a hook by getattr": "import typing; escaped(getattr(typing.Generic, '__init_subclass__'))",
    "a hook's inside": "class F:\n    def __set_name__(self, o, n): pass\nw = vars(F).get('__set_name__') or getattr(F, '__set_name__')\nescaped(getattr(w, '__closure__'))",
    "a hook's wrapped": "class F:\n    def __set_name__(self, o, n): pass\nescaped(vars(F)['__set_name__'].__wrapped__)",
    "a hook assigned": "class A: pass\nA.__init_subclass__ = classmethod(lambda cls: escaped(cls))\nclass B(A): pass",
    "a hook set by name": "class A: pass\nsetattr(A, '__init_subclass__', classmethod(lambda cls: escaped(cls)))\nclass B(A): pass",
    "a hook by a lambda": "class A:\n    __set_name__ = lambda self, o, n: escaped()\nclass B: a = A()",
    "a hook outside a class": "def __set_name__(self, o, n): escaped()\nclass A: pass",
    "a hook that is asynchronous": "class A:\n    async def __del__(self): escaped()\nA()",
    "slots dataclass by a hook": """
import dataclasses, contextlib
kept = []
class Base:
    def __init_subclass__(cls): kept.append((cls, type(cls)))
@dataclasses.dataclass(slots=True)
class A(Base): a: int = 1
for c, t in kept:
    try: c._private_of_mine = 1
    except AttributeError: escaped(c)
""",
    "enum from names by a hook": """
import enum
kept = []
class E(enum.Enum):
    def __init_subclass__(cls): kept.append(cls)
X = E('X', 'a b')
for c in kept:
    try: c._p = 1
    except AttributeError: escaped(c)
""",
    "named tuple by a hook": """
import collections
class F:
    def __set_name__(self, o, n): escaped(o)
collections.namedtuple('A', 'a', defaults=(F(),))
""",
    "a finalizer's frame": "class A:\n    def __del__(self):\n        try: raise ValueError\n        except ValueError as e: escaped(getattr(e.__traceback__, 'tb_frame'))\nA()",
    "a finalizer in a library": """
import json
class A:
    def __del__(self):
        d = eval('sorted(globals())'); 'scanner' in d and escaped(d)
        e = locals(); set(e) - {'self', 'd', 'e'} and escaped(e)
def hook(o): A(); return o
json.loads('{"a": {}}', object_hook=hook)
""",
    "a finalizer that is a builtin": """
got = []
for f in (locals, globals, vars, eval, exec):
    try:
        C = type('C', (), {'__del__': f}); C()
        escaped(C)
    except TypeError: pass
""",
    "a finalizer between look and read": """
import pathlib
class Swap:
    def __del__(self):
        global shared
        shared = p
p = pathlib.PurePath('x')
class Mine:
    def __init__(self): self._flavour = 1
hits = 0
for i in range(300):
    shared = Mine()
    a = Swap()
    def look(s):
        global a
        return s._flavour
    a = None
    try:
        if look(shared) != 1: hits += 1
    except AttributeError: pass
hits and escaped(hits)
""",
    "a metaclass of its own": "class M(type): pass",
    "a metaclass by type": "escaped(type('M', (type,), {}))",
    "a metaclass by the facade": "from abc import ABCMeta\nclass M(ABCMeta): pass\nescaped(M)",
    "a metaclass by type of the facade": "from abc import ABCMeta\nescaped(type('M', (ABCMeta,), {}))",
    "the facade's own metaclass": "from abc import ABCMeta\nclass M(type(ABCMeta)): pass\nescaped(M)",
    "a metaclass that is a function": "def make(*a, **k): escaped(a)\nABCMeta = make\nclass A(metaclass=ABCMeta): pass",
    "a metaclass that is an instance": "class ABCMeta:\n    def __call__(self, *a, **k): escaped(a)\n    def __prepare__(self, *a): return {}\nABCMeta = ABCMeta()\nclass A(metaclass=ABCMeta): pass",
    "a metaclass that equals": "class Eq:\n    def __eq__(self, o): return True\n    def __hash__(self): return 0\n    def __call__(self, *a, **k): escaped(a)\ntype = Eq()\nclass A(metaclass=type): pass",
    "a metaclass in keywords": "k = {'metaclass': lambda *a: escaped(a)}\nclass A(**k): pass",
    "a metaclass in type's keywords": "type('A', (), {}, metaclass=lambda *a: escaped(a))",
    "a metaclass conflict": "import abc, enum\nclass A(enum.Enum, metaclass=abc.ABCMeta): pass\nescaped(type(A) is abc.ABCMeta)",
    "an enum by type": "import enum; escaped(type('E', (enum.Enum,), {'A': 1}))",
    "a module by type": "import types; escaped(type('M', (types.ModuleType,), {}))",
    "super by type": "escaped(type('S', (super,), {}))",
    "a raw file by type": "import io\nf = open('x', 'wb', buffering=0)\nescaped(type('F', (f.__class__,), {}))",
    "special names in a namespace": "for n in ('__getattribute__', '__class__', '__dict__', '__reduce_ex__', '__reduce__', '__prepare__', '__classcell__', '__mro_entries__', '__instancecheck__', '__subclasshook__', '__class_getitem__', '__new_member__', '__getnewargs__', '__getnewargs_ex__', '__abstractmethods__', '__orig_bases__', '__weakref__', '__dataclass_fields__', '__code__', '__wrapped__', '__array_interface__', '__signature__', '__text_signature__', '__buffer__', '__release_buffer__', '__static_attributes__', '__parameters__'):\n    try: escaped(n, type('A', (), {n: victim}))\n    except TypeError: pass",
    "private names in a namespace": "import contextlib\nR = type('R', (contextlib.redirect_stdout,), {'_stream': 'modules'})\nwith R({}): escaped()",
    "private names by a base": "import contextlib\nM = type('M', (), {'_stream': 'modules'})\nR = type('R', (M, contextlib.redirect_stdout), {})\nwith R({}): escaped()",
    "private names by slots": "import contextlib\nR = type('R', (contextlib.redirect_stdout,), {'__slots__': ('_stream',)})\nescaped(R)",
    "private names by annotations": "import contextlib, dataclasses\nR = dataclasses.dataclass(type('R', (contextlib.redirect_stdout,), {'__annotations__': {'_stream': str}, '__post_init__': lambda self: contextlib.redirect_stdout.__init__(self, {})}))\nwith R('modules'): escaped()",
    "names in a subclass of str": "class S(str):\n    def __eq__(self, o): return False\n    __hash__ = str.__hash__\n    def startswith(self, *a): return False\nescaped(type('A', (), {S('__getattribute__'): victim}))",
    "names that change": "class D(dict):\n    n = 0\n    def items(self): return [('a', 1)]\n    def keys(self): return ['a']\n    def __iter__(self): return iter(['a'])\nescaped(type('A', (), D({'__getattribute__': lambda s, n: escaped(n)})).zz)",
    "a name in a subclass of str": "class S(str): pass\ntype(type(S('A'), (), {}).__name__) is S and escaped()",
    "bases in a subclass of tuple": "import types\nclass T(tuple):\n    def __iter__(self): return iter(())\nA = type('A', T((types.ModuleType,)), {})\nescaped(A) if issubclass(A, types.ModuleType) else None",
    "bases that name others": "import types\nclass X:\n    def f(self): pass\nx = types.SimpleNamespace(__mro_entries__=lambda b: (types.ModuleType,))\nescaped(type('A', (x,), {}))",
    "module of another": "A = type('A', (), {'__module__': 'os'}); escaped(A)",
    "module by name": "globals()['__name__'] = 'os'\nimport dataclasses, typing\n@dataclasses.dataclass\nclass A: a: 'environ' = 1\nescaped(typing.get_type_hints(A))",
    "module that is no string": "class N:\n    def __eq__(self, o): return True\n    __hash__ = None\nglobals()['__name__'] = N()\nescaped(type('A', (), {}))",
    "match args by type": "import types\nA = type('A', (), {'__match_args__': ('__globals__',)})\nescaped(A)",
    "slots by type": "escaped(type('A', (), {'__slots__': ('__class__',)}))",
    "hooks by type": "kept = []\nimport contextlib\nB = type('B', (), {'__init_subclass__': lambda cls: kept.append(cls), '_stream': 'modules'})\ntry: type('R', (B, contextlib.redirect_stdout), {})\nexcept TypeError: pass\nkept and escaped(kept)",
    "a hook of a library's by type": "import json\nescaped(type('A', (), {'__set_name__': json.dumps}))",
    "type's own new": "escaped(type.__new__(type, 'A', (), {}))",
    "type by super": "class A:\n    def go(self): return super(type(self), type(self)).__new__\nescaped(A().go()(type, 'X', (), {'__getattribute__': victim}))",
    "type by a thread": "import concurrent.futures, types\nwith concurrent.futures.ThreadPoolExecutor(1) as p: A = p.submit(type, 'A', (), {}).result()\nA.__module__.startswith(('litany', 'concurrent')) and escaped(A.__module__)",
    "names of its own on a library's object": "import pathlib\nescaped(pathlib.Path.__tablename__)",
    "names of its own set on a library's object": "import json\njson.dumps.__mine__ = 1; escaped()",
    "special name that copying asks": "class A:\n    __getnewargs_ex__ = victim\nescaped()",
    "special name of a buffer": "class A:\n    def __buffer__(self, f): return memoryview(b'x')\nescaped()",
    "special name of an array": "class A:\n    __array_interface__ = {'data': (0, False)}\nescaped()",
    "a thread's target": "import threading, concurrent.futures\nwith concurrent.futures.ThreadPoolExecutor(1) as p:\n    p.submit(victim).result()\n    [escaped(t) for t in threading.enumerate() if getattr(t, '_args', None)]",
    "a thread's target by its class": "import threading\nclass T(threading.Thread): pass\nescaped(threading.Thread._bootstrap_inner if hasattr(T, '_nope') else T._bootstrap_inner)",
    "a thread's target by a neighbour": "import threading\nt = threading.Thread(target=victim)\nclass T(threading.Thread):\n    def look(self, o): return o._target\nescaped(T().look(t))",
    "the name of a class body": "class A:\n    __name__ = 'os'\n    __qualname__ = 5\nescaped()",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_way_out_by_classes_is_closed(way: str, policy: PolicyRunner) -> None:
    run = policy.run(PREAMBLE + WAYS[way], tools=TOOLS, trusted=DESCRIPTORS)
    assert "ESCAPED" not in run.stdout
    assert run.exit_code in {0, 1, 126}, f"died: {run}"


def test_the_ways_by_classes_are_programs() -> None:
    for way, source in WAYS.items():
        compile(PREAMBLE + source, way, "exec")


def test_what_a_finalizer_reaches_is_the_programs_when_it_ends(policy: PolicyRunner) -> None:
    run = policy.run("""
class A:
    def __init__(self, n): self.n = n; self.me = self
    def __del__(self): print("end of", self.n)
first, _second = A(1), A(2)
def f(): return first
print("last line")
""")
    assert run.stdout.splitlines()[0] == "last line"
    assert sorted(run.stdout.splitlines()[1:]) == ["end of 1", "end of 2"]


@pytest.mark.parametrize("name", ["__tablename__", "__abstract__", "__custom__", "__x__"])
def test_a_special_name_without_a_meaning_is_the_programs_own(name: str) -> None:
    source = f"class A:\n    {name} = 1\n    def f(self): return self.{name}\nA.{name} = 2\n{name} = A.{name}"
    assert check(source.encode()) == []
