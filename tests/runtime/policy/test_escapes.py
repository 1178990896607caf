"""Ways out that other sandboxes fell to, and those thought of here: each must fail inside the program.

A program calls `escaped(what)` when it got what it must not have. The host looks for the word, and for files it
planted outside the worktree; the child's own claim that it failed is not believed.
"""

from __future__ import annotations

import pytest

from policy_attacks import DESCRIPTORS, PREAMBLE, TOOLS
from policy_runner import PolicyRunner

WAYS = {
    "attrgetter": "import operator; escaped(operator.attrgetter('__globals__')(victim))",
    "attrgetter through a chain": "import operator; escaped(operator.attrgetter('x.__class__.__base__')(Own()))",
    "methodcaller": "import operator; escaped(operator.methodcaller('__subclasses__')(object))",
    "reduce over getattr": "import functools; escaped(functools.reduce(getattr, ['__class__', '__base__', '__subclasses__'], 1))",
    "map over getattr": "escaped(list(map(getattr, [victim], ['__globals__'])))",
    "getattr by a str subclass": "class S(str):\n    def __eq__(self, o): return True\n    __hash__ = str.__hash__\n    def startswith(self, *a): return False\nescaped(getattr(victim, S('__globals__')))",
    "format method": "s = '{0.__globals__}'; s.format(victim); escaped()",
    "format unbound": "str.format('{0.__globals__}', victim); escaped()",
    "format bound late": "f = getattr('{0.__globals__}', 'format'); f(victim); escaped()",
    "format through map": "list(map('{0.__globals__}'.format if False else str.format, ['{0.__globals__}'], [victim])); escaped()",
    "format_map": "x = '{a.__globals__}'; x.format_map({'a': victim}); escaped()",
    "format of a str subclass": "class S(str): pass\nS('{0.__globals__}').format(victim); escaped()",
    "format by super": "class S(str):\n    def go(self, v): return super().format(v)\nS('{0.__globals__}').go(victim); escaped()",
    "format by a weak proxy": "import weakref\nclass S(str): pass\ns = S('{0.__globals__}'); weakref.proxy(s).format(victim); escaped()",
    "format by a generic alias": "import types; types.GenericAlias(str, ()).format('{0.__globals__}', victim); escaped()",
    "format by methodcaller": "import operator; operator.methodcaller('format', victim)('{0.__globals__}'); escaped()",
    "format by augmented assignment": "kept = []\nclass R:\n    def __radd__(self, o): kept.append(o); return o\ns = '{0.__globals__}'\ntry: s.format += R()\nexcept AttributeError: pass\nkept and escaped(kept[0](victim))",
    "Formatter": "import string; string.Formatter().format('{0.__globals__}', victim); escaped()",
    "Formatter.get_field": "import string; escaped(string.Formatter().get_field('0.__globals__', (victim,), {}))",
    "Formatter subclass": "import string\nclass F(string.Formatter):\n    def go(self): return super().get_field('0.__globals__', (victim,), {})\nescaped(F().go())",
    "UserString": "import collections; collections.UserString('{0.__globals__}').format(victim); escaped()",
    "logging style": "import logging; r = logging.LogRecord('n', 1, 'p', 1, victim, (), None); logging.Formatter('{msg.__globals__}', style='{').format(r); escaped()",
    "match on globals": "import abc\nclass A(abc.ABC):\n    __match_args__ = ('__globals__',)\nA.register(type(victim))\nmatch victim:\n    case A(g): escaped(g)",
    "match args set later": "import abc\nclass A(abc.ABC): pass\nsetattr(A, '__match_args__', ('__globals__',))\nescaped()",
    "match args by make_dataclass": "import dataclasses; dataclasses.make_dataclass('A', ['a'], namespace={'__match_args__': ('__dict__',)}); escaped()",
    "match args by Enum": "import enum; enum.Enum('E', {'__match_args__': ('__dict__',)}); escaped()",
    "match args by argparse": "import argparse\nclass A: pass\np = argparse.ArgumentParser(); p.set_defaults(__match_args__=('__globals__',)); p.parse_args([], namespace=A); escaped(A.__match_args__)",
    "three-argument type": "escaped(type('A', (), {'__getattribute__': victim}))",
    "type of a type": "escaped(type(type(Own))('A', (), {'__getattribute__': victim}))",
    "metaclass of an enum": "import enum; escaped(type(enum.Enum)('A', (), {'__getattribute__': victim}))",
    "class of a class": "escaped(Own.__class__('A', (), {'__getattribute__': victim}))",
    "typing.Type origin": "import typing; escaped(typing.get_origin(typing.Type[int])('A', (), {'__getattribute__': victim}))",
    "typing.Type base": "import typing\nclass M(typing.Type[int]): pass\nescaped(M)",
    "typing.Type base leak": "import typing\nkept = []\ntry:\n    class M(typing.Type[int]):\n        def f(self): return __class__\n        kept.append(f)\nexcept TypeError: pass\nescaped(kept[0](None))",
    "type[int] base": "class M(type[int]): pass\nescaped(M)",
    "hints of text": "import typing\ndef f(a: '().__class__.__base__'): pass\nescaped(typing.get_type_hints(f))",
    "hints calling eval": "import typing\ndef f(a: 'eval(\"().__class__.__base__\")'): pass\nescaped(typing.get_type_hints(f, {}, {}))",
    "hints in a module's globals": "import typing, json\ndef f(a: 'codecs.builtins'): pass\nf.__wrapped__ = json.dumps\nescaped(typing.get_type_hints(f))",
    "hints of future annotations": "import typing\ndef f(a: 'victim.__globals__'): pass\nescaped(typing.get_type_hints(f))",
    "singledispatch annotations": "import functools\n@functools.singledispatch\ndef g(x): pass\ndef f(a: 'victim.__globals__'): pass\ng.register(f); escaped()",
    "update_wrapper reads": "import functools; c = Catch(); functools.update_wrapper(c, victim, assigned=('__globals__',)); escaped(c.got)",
    "update_wrapper reads updated": "import functools; c = Catch(); functools.update_wrapper(c, victim, updated=('__globals__',)); escaped(c.got)",
    "wraps on a module": "import functools, json\nvictim.loads = None\nfunctools.wraps(victim)(json); json.loads is None and escaped()",
    "dataclass field name": "import dataclasses\n@dataclasses.dataclass\nclass A: x: int = 1\ndataclasses.fields(A)[0].name = 'x,print(\"ESCAPED\")'\n@dataclasses.dataclass(init=False, repr=False, match_args=False)\nclass B(A): pass\nB() == B()",
    "dataclass field name by descriptor": "import dataclasses\n@dataclasses.dataclass\nclass A: a: int = 1\nclass D:\n    def __get__(self, o, t): dataclasses.fields(A)[0].name = 'a=print(1)'; return 1\n@dataclasses.dataclass\nclass B(A): b: int = D()\nescaped()",
    "dataclass annotations": "import dataclasses\nclass A: a: int = 1\nA.__annotations__['b=print(1)'] = int\ndataclasses.dataclass(A)\n'b=print(1)' in dataclasses.fields(A)[-1].name and escaped()",
    "ast fields": "import ast; victim._fields = ('__globals__',); got = dict(ast.iter_fields(victim)); got and escaped(got)",
    "ast transformer": "import ast\nclass N(ast.AST): _fields = ('__class__',)\nclass T(ast.NodeTransformer): pass\nT().visit(N(__class__=[1])); escaped() if type(N()).__name__ != 'N' else None",
    "frame of a generator": "escaped(getattr((x for x in ()), 'gi_frame'))",
    "frame of a coroutine": "async def c(): pass\nx = c()\ntry: escaped(getattr(x, 'cr_frame'))\nfinally: x.close()",
    "frame of a traceback": "try: 1 / 0\nexcept Exception as e: escaped(getattr(e.__traceback__, 'tb_frame'))",
    "frame of a task": "import asyncio\nasync def m(): return asyncio.current_task().get_stack()\nescaped(asyncio.run(m()))",
    "frame of a context manager": "import contextlib\n@contextlib.contextmanager\ndef m(): yield\nescaped(m().gen)",
    "object of an AttributeError": "import json\ntry: json.nope\nexcept AttributeError as e: escaped(e.obj)",
    "object by a generic alias": "import json, types\ntry: json.nope\nexcept AttributeError as e: escaped(types.GenericAlias(e, ()).obj)",
    "object by a match": "import json\ntry: json.nope\nexcept AttributeError as e: escaped(getattr(e, 'obj'))",
    "bound method's self": "escaped(getattr(print, '__self__'))",
    "own __getattribute__ through object": "escaped(object.__getattribute__ if False else getattr(object, '__getattribute__'))",
    "library __getattr__": "import tempfile; f = tempfile.NamedTemporaryFile(); escaped(f.__getattr__('__class__'))",
    "super into a library": "import pathlib\nclass P(type(pathlib.PurePath())): pass\nescaped(super(P, P())._flavour if hasattr(P, '_flavour') else P().parser)",
    "path parser": "import pathlib; p = pathlib.Path('x'); escaped(getattr(p, 'parser', None) or p._flavour)",
    "path parser by class": "import pathlib; escaped(pathlib.PurePath.parser if hasattr(pathlib.PurePath, 'parser') else pathlib.PurePath._flavour)",
    "enum conversion": "import enum\nclass E(enum.Enum): pass\nX = E._convert_('X', 'sys', lambda n: n == 'settrace'); escaped(X.settrace.value)",
    "enum conversion by name": "import enum\nclass E(enum.IntEnum): A = 1\nescaped(getattr(E, '_convert_'))",
    "redirect of another stream": "import contextlib\nclass R(contextlib.redirect_stdout): _stream = 'modules'\nwith R({}) as r: escaped(r)",
    "redirect by attribute": "import contextlib\nr = contextlib.redirect_stdout({}); r._stream = 'modules'\nwith r: escaped()",
    "threads of the library": "import threading; t = threading.Thread(target=victim); escaped(t._target)",
    "subclass and private": "import threading\nclass T(threading.Thread):\n    def peek(self): return self._bootstrap_inner\nescaped(T().peek())",
    "instance dict of a subclass": "import threading\nclass T(threading.Thread): pass\nt = T(target=victim); '_started' in vars(t) and escaped(vars(t))",
    "class dict descriptors": "import enum\nclass E(enum.Enum): A = 1\n[escaped(v) for v in vars(E).values() if type(v).__name__ == 'property' and hasattr(v, 'clsname')]",
    "state of an object": "import asyncio; l = asyncio.new_event_loop(); escaped(getattr(l, '__getstate__')())",
    "reduce": "import copy; escaped(getattr(Own(), '__reduce_ex__')(4))",
    "module chain json": "import json; escaped(json.codecs.builtins)",
    "module chain re": "import re; escaped(re.enum.sys)",
    "module chain random": "import random; escaped(random._os)",
    "module chain typing": "import typing; escaped(typing.sys)",
    "module chain dataclasses": "import dataclasses; escaped(getattr(dataclasses, 'sys'))",
    "module chain asyncio": "import asyncio; escaped(asyncio.base_events)",
    "module dict": "import json; escaped(json.__dict__)",
    "module vars": "import json; escaped(vars(json))",
    "module reinitialised": "import math; math.__init__('os'); escaped(math)",
    "module setattr": "import json; json.dumps = None; escaped()",
    "module setattr by object": "import json; object.__setattr__(json, 'dumps', None); escaped()",
    "module setattr by types": "import json, types; types.ModuleType.__setattr__(json, 'dumps', None); escaped()",
    "module loader": "import json; escaped(json.__loader__)",
    "library class changed": "import json; json.JSONEncoder.default = None; escaped()",
    "library class changed by setattr": "import collections.abc; setattr(collections.abc.Mapping, 'get', None); escaped()",
    "tools class changed": "import litany_tools; litany_tools.Result.ok = True; escaped()",
    "tools changed": "import litany_tools; litany_tools.call = victim; escaped()",
    "tools private": "import litany_tools; escaped(litany_tools._secret)",
    "tools module": "import litany_tools; escaped(litany_tools.json)",
    "descriptor opened": "escaped(open(50, 'wb'))",
    "descriptor by opener": "escaped(open('x', 'wb', opener=lambda *a: 50))",
    "descriptor by the raw type": "f = open('x', 'wb'); escaped(type(f.raw)('y', 'wb', opener=lambda *a: 50))",
    "descriptor by raw class": "f = open('x', 'wb', buffering=0); escaped(f.__class__(50))",
    "descriptor by raw init": "f = open('x', 'wb'); f.raw.__init__('y', 'wb', opener=lambda *a: 50); escaped()",
    "descriptor by a library": "import gzip; escaped(gzip.open(50))",
    "descriptor stat": "import os; escaped(os.stat(50))",
    "descriptor listed": "import os; escaped(os.listdir(51))",
    "descriptor by a pipe": "import asyncio\nclass P:\n    def fileno(self): return 50\n    def close(self): pass\nasync def m(): return await asyncio.get_running_loop().connect_write_pipe(asyncio.Queue, P())\nescaped(asyncio.run(m()))",
    "reader of a loop": "import asyncio; asyncio.new_event_loop().add_reader(0, print); escaped()",
    "reader replaced": "import asyncio; l = asyncio.new_event_loop(); l.add_reader = print; escaped()",
    "process": "import asyncio\nasync def m(): return await asyncio.get_running_loop().subprocess_exec(asyncio.Queue, 'id')\nescaped(asyncio.run(m()))",
    "network": "import asyncio\nasync def m(): return await asyncio.get_running_loop().create_connection(asyncio.Queue, '127.0.0.1', 80)\nescaped(asyncio.run(m()))",
    "sqlite attach": "import sqlite3; sqlite3.connect(':memory:').execute(\"attach '/etc/hostname' as x\"); escaped()",
    "sqlite attach by expression": "import sqlite3; sqlite3.connect(':memory:').execute('attach ? as x', ('/tmp/x.db',)); escaped()",
    "sqlite vacuum into": "import sqlite3; c = sqlite3.connect('a.db'); c.execute('create table t(x)'); c.commit(); c.execute(\"vacuum into '/tmp/litany-escaped.db'\"); escaped()",
    "sqlite authorizer": "import sqlite3; sqlite3.connect(':memory:').set_authorizer(None); escaped()",
    "sqlite authorizer by name": "import sqlite3; getattr(sqlite3.connect(':memory:'), 'set_authorizer')(None); escaped()",
    "sqlite authorizer by subclass": "import sqlite3\nclass C(sqlite3.Connection):\n    def go(self): self.set_authorizer(None)\nC(':memory:').go(); escaped()",
    "sqlite base class": "import sqlite3; c = sqlite3.connect(':memory:'); super(type(c), c).__init__('/tmp/x.db'); escaped()",
    "sqlite extension": "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True); escaped()",
    "sqlite uri": "import sqlite3; escaped(sqlite3.connect('file:/etc/hostname?mode=ro', uri=True))",
    "sqlite uri read two ways": "import sqlite3, os; os.mkdir('file:x?mode=memory'); escaped(sqlite3.connect('file:x?mode=memory/../../../../../../tmp/x.db'))",
    "sqlite temp store": "import sqlite3; sqlite3.connect(':memory:').execute(\"pragma temp_store_directory = '/etc'\"); escaped()",
    "globals through locals": "[escaped(n, v) for d in (locals(), vars(), globals()) for n, v in d.items() if n.startswith('_litany_') or 'guards' in repr(v)]",
    "globals through dir": "[escaped(n) for n in dir() if n.startswith('_litany_')]",
    "class attribute on an own class": "c = Own(); c.__class__ = Catch; escaped()",
    "object setattr class": "object.__setattr__(Own(), '__class__', Catch); escaped()",
    "builtins by import": "import builtins; escaped(builtins)",
    "exec through ast": "import ast; escaped(ast.compile)",
    "code replaced": "escaped(getattr(victim, '__code__').replace(co_name='x'))",
    "function made": "import types; escaped(types.FunctionType(getattr(victim, '__code__'), {}))",
    "defaults changed": "setattr(victim, '__defaults__', (2,)); escaped()",
    "catching a refusal": "try: getattr(victim, '__globals__')\nexcept AttributeError as e:\n    import traceback\n    frame = [f for f in traceback.TracebackException.from_exception(e).stack if hasattr(f, 'f_globals')]\n    frame and escaped(frame)",
    "refusal's class": "try: getattr(victim, '__globals__')\nexcept AttributeError as e: escaped(type(e).__mro__)",
    "excepthook": "import sys; sys.excepthook = print; escaped()",
    "settrace": "import sys; sys.settrace(print); escaped()",
    "modules by sys": "import sys; escaped(sys.modules)",
    "tools dict by import": "from litany_tools import __dict__ as d; escaped(d)",
    "tools class by import": "from litany_tools import __class__ as c; escaped(c)",
    "module dict by import": "def f():\n    from json import __dict__ as d; escaped(d)\nf()",
    "module getter by import": "def f():\n    from json import __getattr__ as g; escaped(g)\nf()",
    "sys dict by import": "try: from sys import __dict__ as d\nexcept ImportError: pass\nelse: escaped(d)",
    "sys class by import": "try: from sys import __class__ as c\nexcept ImportError: pass\nelse: escaped(c)",
    "module loader by import": "try: from json import __loader__ as c\nexcept ImportError: pass\nelse: escaped(c)",
    "module in a module by import": "try: from json import codecs as c\nexcept ImportError: pass\nelse: escaped(c)",
    "environment": "import os; len(os.environ) and escaped(dict(os.environ))",
    "environment's methods": "import os; escaped(os.environ.encodekey)",
    "environment of the host": "import os; os.environ['PATH'] = '/x'; escaped(type(os.environ)().putenv)",
    "executable": "import sys; sys.executable and escaped(sys.executable)",
    "members": "import inspect; d = dict(inspect.getmembers(victim)); ('__globals__' in d or '__code__' in d) and escaped(d)",
    "members of a module": "import inspect, json; d = dict(inspect.getmembers(json)); ('codecs' in d or '__dict__' in d) and escaped(d)",
    "members of a generator": "import inspect; d = dict(inspect.getmembers(x for x in ())); 'gi_frame' in d and escaped(d)",
    "bases of a library class": "import inspect, json; escaped(inspect.getmro(json.JSONDecodeError))",
    "default in a signature": "import inspect, tempfile, os\nf = tempfile.NamedTemporaryFile()\nfor each in (tempfile._TemporaryFileCloser if False else type(f), type(f).close, f.close):\n    for p in inspect.signature(each).parameters.values(): callable(p.default) and p.default is not p.empty and escaped(p.default)",
    "default by a wrapper": "import inspect, json\nvictim.__wrapped__ = json.JSONEncoder.iterencode\nclass S(inspect.Signature):\n    def __init__(self, p=None, **k):\n        for x in p or (): x.default not in (x.empty, ..., False, True, None) and escaped(x)\n        super().__init__(p, **k)\nS.from_callable(victim); inspect.signature(json.JSONEncoder.__init__)",
    "hidden default": "import inspect, xml.etree.ElementTree as e, collections, functools, threading, logging, weakref, random, asyncio\nfor c in (collections.OrderedDict, weakref.WeakValueDictionary, threading.Thread, asyncio.Queue, random.Random, logging.Handler, functools.singledispatchmethod):\n    for n, m in inspect.getmembers(c):\n        try: s = inspect.signature(m)\n        except (TypeError, ValueError): continue\n        [escaped(m, p) for p in s.parameters.values() if callable(p.default) and p.default is not p.empty]",
    "text of an annotation run": "import inspect\ndef f(a: 'escaped(1)'): pass\ninspect.signature(f, eval_str=True)",
    "text of a signature run": "import inspect\nclass C:\n    def __getattr__(self, n):\n        if n == '__text_signature__': return '(a=escaped(1))'\n        if n == '__signature__': return '(a=escaped(1))'\n        raise AttributeError(n)\n    def __call__(self, a): pass\ninspect.signature(C())",
    "signature of fake code": "import inspect\nclass C:\n    def __getattr__(self, n): return lambda: 0\n    def __call__(self): pass\ninspect.signature(C()); inspect.getfullargspec(C())",
    "example in a docstring": "import doctest\ndef f():\n    '''\n    >>> escaped(victim.__globals__)\n    '''\ndoctest.testmod()",
    "example's names": "import doctest\ndef f():\n    '''\n    >>> __builtins__['eval']('escaped()')\n    >>> import subprocess; escaped()\n    '''\ndoctest.testmod(); doctest.run_docstring_examples(f, {'__builtins__': {'escaped': escaped}})",
    "example given as a text that lies": "import doctest\nclass S(str):\n    def expandtabs(self): return self\n    def splitlines(self): return ['>>> victim.__globals__ and escaped()']\ndoctest.run_docstring_examples(S('x'), globals())",
    "import by a function": "import importlib; escaped(importlib.import_module('subprocess'))",
    "private import by a function": "import importlib; escaped(importlib.import_module('_ctypes'))",
    "import by a name that lies": "import importlib\nclass S(str):\n    def __eq__(self, o): return o == 'os'\n    def __hash__(self): return hash('os')\nescaped(importlib.import_module(S('subprocess')))",
    "import of the importer": "import importlib; escaped(importlib.import_module('importlib').reload)",
    "loader of a spec": "import importlib.util; s = importlib.util.find_spec('os'); s.loader and escaped(s.loader)",
    "objects of the collector": "import gc; escaped(getattr(gc, 'get_objects')())",
    "callbacks of the collector": "import gc; escaped(getattr(gc, 'callbacks'))",
    "limits raised": "import resource; escaped(getattr(resource, 'setrlimit'))",
    "stream of a test runner": "import unittest, threading; r = unittest.TextTestRunner(stream=threading.Thread(target=victim)); escaped(r.stream._target)",
    "format of a test runner's stream": "import unittest; r = unittest.TextTestRunner(stream='{0.__globals__}'); r.stream.format(victim); escaped()",
    "frames of a test's failure": "import unittest\nclass R(unittest.TestResult):\n    def addError(self, t, e): escaped(getattr(e[2], 'tb_frame'))\nclass T(unittest.TestCase):\n    def test(self): 1 / 0\nT('test').run(R())",
    "test case's private": "import unittest\nclass T(unittest.TestCase):\n    _testMethodName = '__class__'\n    def test(self): pass\nescaped(T('test'))",
    "test case's method by name": "import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\nescaped(T('__reduce_ex__'))",
    "handler's queue of a network": "import logging.handlers; escaped(logging.handlers.SocketHandler('a', 1))",
    "original streams' raw type": "import sys; escaped(type(sys.__stdout__.buffer.raw))",
    "small stack": "import threading; threading.stack_size(32768); escaped()",
    "timer of text": "import timeit; timeit.Timer('escaped()', globals={'escaped': escaped}).timeit(1)",
    "file type of a descriptor": "import argparse; escaped(argparse.FileType('wb')(50))",
    "codecs of a descriptor": "import codecs; escaped(codecs.open(50, 'wb'))",
    "reader's getter": "import codecs; r = codecs.getreader('utf-8')(victim); escaped(r.__getattr__('__globals__'))",
    "reader's format": "import codecs; r = codecs.getreader('utf-8')('{0.__globals__}'); r.format(victim); escaped()",
    "reader's private": "import codecs, threading; r = codecs.getreader('utf-8')(threading.Thread(target=victim)); escaped(r._target)",
    "disk of another place": "import shutil; escaped(shutil.disk_usage('/etc'))",
    "affinity of another": "import os; escaped(os.sched_getaffinity(1))",
    "frames of a report": "import traceback\ntry: 1 / 0\nexcept Exception as e:\n    for f in traceback.extract_tb(e.__traceback__):\n        [escaped(n) for n in ('f_globals', 'f_locals', '_code', 'frame') if hasattr(f, n)]",
    "frames of an exc_info": "import sys\ntry: 1 / 0\nexcept Exception: escaped(sys.exc_info()[2].tb_frame if False else getattr(sys.exc_info()[2], 'tb_frame'))",
    "recursion without end": "import sys\nfor n in (0, -1, 1.5, 'x'):\n    try: sys.setrecursionlimit(n); escaped(n)\n    except (TypeError, ValueError): pass",
    "environment expanded": "import os; os.path.expandvars('$PATH') != '$PATH' and escaped()",
    "own loop class": "import asyncio\nclass L(type(asyncio.new_event_loop())): pass\nescaped(L)",
    "module subclass": "import types\nclass M(types.ModuleType): pass\nescaped(M)",
    "global enum": "import enum; escaped(enum.global_enum)",
    "rmtree by descriptor": "import shutil; shutil.rmtree('x', dir_fd=51); escaped()",
    "swap by a thread": "import threading, pathlib\nshared = Own()\nstop = []\ndef swap():\n    global shared\n    while not stop: shared = Own(); shared = p\np = pathlib.PurePath('x')\nt = threading.Thread(target=swap, daemon=True); t.start()\nhits = 0\ndef look():\n    global hits\n    try:\n        shared._flavour; hits += 1\n    except AttributeError: pass\nfor _ in range(3000): look()\nstop.append(1); t.join()\nhits and escaped(hits)",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_way_out_is_closed(way: str, policy: PolicyRunner) -> None:
    run = policy.run(PREAMBLE + WAYS[way], tools=TOOLS, trusted=DESCRIPTORS)
    assert "ESCAPED" not in run.stdout
    assert run.exit_code in {0, 1, 126}, f"died: {run}"


def test_the_ways_are_programs(plain: PolicyRunner) -> None:
    """A way that is no Python would be closed by its own mistake."""
    for way, source in WAYS.items():
        compile(PREAMBLE + source, way, "exec")


KNOWN_TO_WORK = [
    "dataclass field name",
    "descriptor opened",
    "descriptor by opener",
    "descriptor by the raw type",
    "descriptor stat",
    "ast fields",
    "match args set later",
    "enum conversion",
    "update_wrapper reads",
    "hints of text",
    "typing.Type base leak",
    "class of a class",
    "redirect by attribute",
    "UserString",
    "Formatter.get_field",
    "path parser",
    "attrgetter",
    "format method",
    "three-argument type",
    "module chain json",
    "frame of a generator",
    "typing.Type base",
]


@pytest.mark.parametrize("way", KNOWN_TO_WORK)
def test_a_way_out_is_one_without_the_policy(way: str, plain: PolicyRunner) -> None:
    run = plain.run(PREAMBLE + WAYS[way], trusted=DESCRIPTORS)
    assert "ESCAPED" in run.stdout, run.stderr


def test_a_program_changes_nothing_that_a_later_one_sees(policy: PolicyRunner) -> None:
    vandal = """
import json, math, logging, decimal, random, warnings, sys, os, string, types
for f in (lambda: setattr(json, "dumps", None), lambda: setattr(math, "pi", 3), lambda: setattr(json.JSONEncoder, "encode", None)):
    try: f()
    except Exception: pass
decimal.getcontext().prec = 3; random.seed(1); logging.basicConfig(level=10); sys.setrecursionlimit(77)
json.dumps.changed = True; sys.stdout = open("x", "w"); warnings.simplefilter("error"); sys.implementation.name = "vandal"
"""
    look = """
import json, math, decimal, sys, os, logging
print(json.dumps([1]), math.pi, decimal.getcontext().prec, sys.getrecursionlimit() > 100, logging.getLogger().level, hasattr(json.dumps, "changed"), sys.implementation.name)
"""
    before = policy.run(look).stdout
    assert policy.run(vandal).exit_code == 0
    assert policy.run(look).stdout == before
    assert before.startswith("[1] 3.14159")


def test_the_audit_hook_refuses_what_the_names_let_through(policy: PolicyRunner) -> None:
    """With the names out of the way (a hole planted by the test), the second line still holds."""
    trusted = """
def before(namespace):
    import os, builtins, operator, ctypes, socket, subprocess, sys
    namespace.update(real_eval=builtins.eval, real_os=os, real_get=operator.attrgetter, real_socket=socket, real_sub=subprocess, real_sys=sys, real_ctypes=ctypes)
"""
    program = """
import sys
def victim(): pass
for name, f in {
    "eval": lambda: real_eval("1"),
    "system": lambda: real_os.system("true"),
    "fork": lambda: real_os.fork(),
    "kill": lambda: real_os.kill(1, 0),
    "open": lambda: real_os.open("/etc/hostname", 0),
    "code": lambda: real_get("__code__")(victim),
    "frame": lambda: real_get("gi_frame")(x for x in ()),
    "socket": lambda: real_socket.socket(),
    "popen": lambda: real_sub.run(["true"]),
    "trace": lambda: real_sys.settrace(None),
    "dlopen": lambda: real_ctypes.CDLL(None),
}.items():
    try: f(); print(name, "passed")
    except Exception as e: print(name, type(e).__name__)
"""
    run = policy.run(program, trusted=trusted)
    lines = dict(line.split() for line in run.stdout.splitlines())
    assert len(lines) == 11, run
    assert "passed" not in lines.values()
    assert set(lines.values()) <= {"PermissionError", "AttributeError", "RuntimeError"}
