"""What is refused before a program runs, where, under which rule, and with which advice."""

from __future__ import annotations

from pathlib import Path

import pytest

from litany_runtime.policy import PolicyError, Violation, check, compile_program
from policy_runner import PolicyRunner, run_plainly

COMMANDS = "call a tool from litany_tools that runs commands"

REFUSED = [
    # source, line, column, rule, a part of the hint
    ("x = 1\ny = ().__class__.__base__", 2, 5, "dunder-attribute", "name the class"),
    ("(lambda: 0).__globals__", 1, 1, "dunder-attribute", "arguments"),
    ("def f(): pass\nf.__code__", 2, 1, "dunder-attribute", "call the function"),
    ("f.__closure__", 1, 1, "dunder-attribute", "object"),
    ("print.__self__", 1, 1, "dunder-attribute", "object itself"),
    ("int.__subclasses__()", 1, 1, "dunder-attribute", "decorator"),
    ("x.__getattribute__('a')", 1, 1, "dunder-attribute", "getattr(obj, name)"),
    ("x.__reduce__()", 1, 1, "dunder-attribute", "copy.copy"),
    ("x.__reduce_ex__(4)", 1, 1, "dunder-attribute", "copy.copy"),
    ("x.__class__ = int", 1, 1, "dunder-attribute", "public attributes"),
    ("x.__dict__ = {}", 1, 1, "dunder-attribute", "public attributes"),
    ("x.__module__ = 'os'", 1, 1, "dunder-attribute", "public attributes"),
    ("class A: pass\nA.__match_args__ = ('a',)", 2, 1, "dunder-attribute", "public attributes"),
    ("del f.__code__", 1, 5, "dunder-attribute", "call the function"),
    ("f.__code__ += 1", 1, 1, "dunder-attribute", "call the function"),
    ("for x.__class__ in []: pass", 1, 5, "dunder-attribute", "public"),
    ("with a as x.__class__: pass", 1, 11, "dunder-attribute", "public"),
    ("[0 for x.__class__ in []]", 1, 8, "dunder-attribute", "public"),
    ("(x.__class__, y) = 1, 2", 1, 2, "dunder-attribute", "public"),
    ("(i for i in ()).gi_frame", 1, 1, "introspection", "public attributes"),
    ("g.gi_code", 1, 1, "introspection", "public"),
    ("g.gi_yieldfrom", 1, 1, "introspection", "public"),
    ("c.cr_frame", 1, 1, "introspection", "public"),
    ("c.cr_await", 1, 1, "introspection", "public"),
    ("a.ag_frame", 1, 1, "introspection", "public"),
    ("e.__traceback__.tb_frame", 1, 1, "introspection", "traceback.format_exc"),
    ("t.tb_next", 1, 1, "introspection", "traceback.format_exc"),
    ("f.f_back.f_globals", 1, 1, "introspection", "public"),
    ("f.co_consts", 1, 1, "introspection", "public"),
    ("f.f_locals = {}", 1, 1, "introspection", "public"),
    ("breakpoint()", 1, 1, "builtin", "print"),
    ("help(int)", 1, 1, "builtin", "__doc__"),
    ("__import__('os')", 1, 1, "builtin", "import statement"),
    ("__builtins__['eval']", 1, 1, "builtin", "by their names"),
    ("__build_class__(f, 'A')", 1, 1, "builtin", "class statement"),
    ("__loader__", 1, 1, "builtin", "import statement"),
    ("__builtins__ = {}", 1, 1, "dunder-name", "by their names"),
    ("__name__ = 'os'", 1, 1, "dunder-name", "another variable"),
    ("__annotations__['x'] = 1", 1, 1, "dunder-name", "annotate"),
    ("class A:\n    __class__ = int", 2, 5, "special-method", "type(x)"),
    ("class A(metaclass=M): pass", 1, 9, "metaclass", "abc.ABC"),
    ("class A:\n    def __class_getitem__(cls, i): pass", 2, 5, "special-method", "typing.Generic"),
    ("class A:\n    def __reduce__(self): pass", 2, 5, "special-method", "__copy__"),
    ("class A:\n    def __getattribute__(self, n): pass", 2, 5, "special-method", "__getattr__"),
    ("class A:\n    def __instancecheck__(self, o): pass", 2, 5, "special-method", "abc.ABC"),
    ("class A:\n    def __subclasshook__(self, o): pass", 2, 5, "special-method", "Protocol"),
    ("class A:\n    def __prepare__(n, b): pass", 2, 5, "special-method", "class decorator"),
    ("class A:\n    def __mro_entries__(self, b): pass", 2, 5, "special-method", "class itself"),
    ("class A:\n    __del__ = print", 2, 5, "special-method", "in the class itself"),
    ("class A:\n    async def __del__(self): pass", 2, 5, "special-method", "in the class itself"),
    ("def __set_name__(self, o, n): pass", 1, 1, "special-method", "in the class itself"),
    ("class A:\n    def __code__(self): pass", 2, 5, "dunder-name", "double underscores"),
    ("x = 1; import subprocess", 1, 15, "import", "litany_tools"),
    ("import os, ctypes", 1, 12, "import", "litany_tools"),
    ("from importlib.machinery import ModuleSpec", 1, 1, "import", "import statement"),
    ("import jsn", 1, 8, "import", "did you mean json"),
    ("import zzzzqq", 1, 8, "import", "available: abc, argparse"),
    ("import numpy", 1, 8, "import", "the operator can add more"),
    ("import panda", 1, 8, "import", "the operator can add more"),
    ("import datatime", 1, 8, "import", "did you mean datetime?"),
    ("import sandbox_tools", 1, 8, "import", "import litany_tools"),
    ("import os.nope", 1, 8, "import", "os"),
    ("from os import system", 1, 16, "import-name", COMMANDS),
    ("from os import _exit", 1, 16, "import-name", "use sys.exit(code)"),
    ("from math import sqr", 1, 18, "import-name", "sqrt"),
    ("from sys import modules", 1, 17, "import-name", "import the module by its name"),
    ("from json import codecs", 1, 18, "import-name", "it has:"),
    ("import os\nos.environb", 2, 1, "import-name", "use os.environ"),
    ("import os\nos.putenv('A', 'b')", 2, 1, "import-name", "os.environ[name]"),
    ("import os as system\nx = system.popen('A')", 2, 5, "import-name", COMMANDS),
    ("def f():\n    import os\n    return os.system", 3, 12, "import-name", COMMANDS),
    ("import os.path\nos.system", 2, 1, "import-name", COMMANDS),
    ("import os\nos.spawnlp(0, 'ls')", 2, 1, "import-name", COMMANDS),
    ("import os\nos.system('cls' if os.name == 'nt' else 'clear')", 2, 1, "import-name", COMMANDS),
    ("import os\ntry: os.system('ls')\nexcept Exception: pass", 2, 6, "import-name", COMMANDS),
    ("import os\nos._exit(1)", 2, 1, "import-name", "use sys.exit(code)"),
    ("def f():\n    import os\n    os._exit(1)", 3, 5, "import-name", "use sys.exit(code)"),
    ("import os\nos.open('x', 0)", 2, 1, "import-name", "use open(path"),
    ("import os\nos.fork()", 2, 1, "import-name", "one process"),
    ("import sys\nsys.path.append('.')", 2, 1, "import-name", "open()"),
    ("import sys\nsys.modules['os']", 2, 1, "import-name", "import the module by its name"),
    ("import sys\nsys._getframe()", 2, 1, "import-name", "traceback.format_exc()"),
    ("import tempfile\ntempfile.mkstemp()", 2, 1, "import-name", "NamedTemporaryFile"),
    (
        "import concurrent.futures\nconcurrent.futures.ProcessPoolExecutor()",
        2,
        1,
        "import-name",
        "ThreadPool",
    ),
    ("import concurrent.futures as f\nf.ProcessPoolExecutor()", 2, 1, "import-name", "ThreadPool"),
    ("from concurrent import futures\nfutures.ProcessPoolExecutor()", 2, 1, "import-name", "ThreadPool"),
    ("import asyncio\nasyncio.create_subprocess_shell('ls')", 2, 1, "import-name", COMMANDS),
    ("import asyncio\nasyncio.open_connection('a', 1)", 2, 1, "import-name", "no network"),
    ("import inspect\ninspect.currentframe()", 2, 1, "import-name", "traceback.format_exc()"),
    ("import sys\nsys.excepthook = print", 2, 1, "import-name", "try/except"),
    ("import threading\nthreading.excepthook = print", 2, 1, "import-name", "thread's function"),
    ("import collections\ncollections.Mapping", 2, 1, "import-name", "collections.abc"),
    ("import time\ntime.clock()", 2, 1, "import-name", "perf_counter"),
    ("import math as _litany_x", 1, 8, "reserved-name", "another name"),
    ("import os as __builtins__", 1, 8, "dunder-name", "by their names"),
    ("x._litany_own", 1, 1, "reserved-name", "another name"),
    ("print(_litany_attribute)", 1, 7, "reserved-name", "another name"),
    ("f(_litany_x=1)", 1, 3, "reserved-name", "another name"),
    ("class litany:\n    def f(self): return __own", 2, 25, "reserved-name", "another name"),
    ("class _litany_a:\n    pass", 1, 1, "reserved-name", "another name"),
    ("match x:\n    case object(__class__=c): pass", 2, 27, "pattern", "in the case's body"),
    ("match x:\n    case A(__dict__=d): pass", 2, 21, "pattern", "in the case's body"),
    ("match x:\n    case A(gi_frame=d): pass", 2, 21, "pattern", "in the case's body"),
    ("match x:\n    case A(obj=d): pass", 2, 16, "pattern", "in the case's body"),
    ("match x:\n    case a.__class__: pass", 2, 10, "pattern", "in the case's body"),
    ("match x:\n    case {a.__dict__: y}: pass", 2, 11, "pattern", "in the case's body"),
    ("match x:\n    case a.__class__(): pass", 2, 10, "pattern", "in the case's body"),
    ("'{0.__class__}'.format(x)", 1, 1, "format-string", "argument"),
    ("'{:{0.__class__}}'.format(x)", 1, 1, "format-string", "argument"),
    ("'{a.gi_frame}'.format(a=x)", 1, 1, "format-string", "argument"),
    ("x = (1", 1, 5, "syntax", "mend the syntax"),
    ("return 1", 1, 1, "syntax", "mend the syntax"),
    ("def f(a, a): pass", 1, 1, "syntax", "mend the syntax"),
    ("for x in y:\n    pass\nbreak", 3, 1, "syntax", "mend the syntax"),
    ("x = 'café'; y.__globals__", 1, 13, "dunder-attribute", "arguments"),
]


@pytest.mark.parametrize(("source", "line", "column", "rule", "hint"), REFUSED, ids=lambda v: repr(v)[:40])
def test_a_refusal_names_place_rule_and_way_out(
    source: str, line: int, column: int, rule: str, hint: str
) -> None:
    found = check(source.encode())
    match = [v for v in found if v.rule == rule]
    assert match, f"not refused by {rule}: {found}"
    first = match[0]
    assert first.line == line
    if rule != "syntax":  # the interpreter's own columns differ between versions
        assert first.column == column
    assert hint in first.hint
    assert first.message
    assert "Traceback" not in first.message


def test_a_refused_name_of_the_programs_own_is_its_own() -> None:
    assert check(b"def help(x): return x\nhelp(1)") == []
    assert check(b"def f(breakpoint): return breakpoint(1)") == []
    assert check(b"from re import compile as help\nhelp('a')") == []


def test_a_name_of_the_programs_own_is_no_modules() -> None:
    assert check(b"class Os: system = {}\nos = Os()\nos.system['A'] = 1") == []
    assert check(b"import os\nclass A: pass\na = A()\na.system = os.sep\na.system") == []
    assert check(b"import os\ndef f(os): return os.system") == []


EXPECTED_TO_BE_MISSING = [
    "import os\ntry: os.fork()\nexcept AttributeError: pass",
    "import os\ntry: os.fork()\nexcept (OSError, AttributeError): pass",
    "import os\nif hasattr(os, 'fork'): os.fork()",
    "import os\nx = os.fork() if hasattr(os, 'fork') else 0",
    "import os\ndef f():\n    if not hasattr(os, 'startfile'): return\n    os.startfile('x')",
    "import os, sys\nif sys.platform == 'win32':\n    os.startfile('x')",
    "import os\nif os.name == 'nt': os.system('cls')",
    "import time, sys\nnow = time.clock if sys.version_info < (3, 3) else time.perf_counter",
    "from typing import TYPE_CHECKING\nimport types\nif TYPE_CHECKING: Code = types.CodeType",
]


@pytest.mark.parametrize("source", EXPECTED_TO_BE_MISSING)
def test_a_name_that_the_program_expects_to_miss_is_not_refused(source: str, policy: PolicyRunner) -> None:
    assert check(source.encode()) == []
    assert policy.run(source).exit_code == 0


AT_THEIR_PLACE = {
    "an optional module": "try: import ujson as json\nexcept ImportError: import json\nprint(json.dumps([1]))",
    "a module known not to be there": "try: import subprocess\nexcept ModuleNotFoundError as e: print(e.name)",
    "any handler": "try: import numpy as np\nexcept Exception: np = None\nprint(np)",
    "a bare handler": "try:\n    import yaml\nexcept:\n    yaml = None\nprint(yaml)",
    "a finally": "try:\n    try: import yaml\n    finally: print('finally')\nexcept ImportError: print('caught')",
    "suppressed": "import contextlib\nwith contextlib.suppress(ImportError): import yaml\nprint('after')",
    "for the type checker": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy as np\n    from x.y import Z\nprint('ran')",
    "a function that is never called": "def f():\n    import subprocess\n    from requests import get\nprint('ran')",
    "a class body": "class A:\n    try: import yaml\n    except ImportError: yaml = 1\nprint(A.yaml)",
    "a name": "try: from sys import nosuch\nexcept ImportError as e: print(e.name)",
    "a name known not to be there": "try: from os import fork\nexcept ImportError: print('no fork')",
    "a star": "try: from numpy import *\nexcept ImportError: print('no numpy')\nimport math\nprint(math.pi)",
    "a submodule": "try: import os.nope\nexcept ImportError as e: print(e.name)",
    "in text": "try: exec('import yaml')\nexcept ImportError: print('no yaml')",
    "in text with a handler": "exec('try: from os import nosuch\\nexcept ImportError: print(1)')",
    "relative": "try: from . import x\nexcept ImportError as e: print('no known parent package' in str(e))",
    "relative to a package": "try: from ..a import b as c\nexcept ImportError: print('no package')",
}


@pytest.mark.parametrize("what", AT_THEIR_PLACE)
def test_an_import_that_fails_raises_at_its_place(what: str, policy: PolicyRunner, tmp_path: Path) -> None:
    source = AT_THEIR_PLACE[what]
    assert check(source.encode()) == []
    run = policy.run(source)
    assert (run.exit_code, run.stderr) == (0, "")
    known = {"a module known not to be there": "subprocess\n", "a name known not to be there": "no fork\n"}
    assert run.stdout == (known.get(what) or run_plainly(source, tmp_path).stdout)


AS_THE_REFUSAL = [
    ("def f(): import subprocess\nf()", "ModuleNotFoundError", COMMANDS),
    ("def f(): import jsn\nf()", "ModuleNotFoundError", "No module named 'jsn' here (did you mean json?)"),
    ("def f(): import numpy\nf()", "ModuleNotFoundError", "the operator can add more"),
    ("def f(): from os import system\nf()", "ImportError", COMMANDS),
    ("def f(): from math import sqr\nf()", "ImportError", "did you mean sqrt?"),
    ("from . import x", "ImportError", "attempted relative import with no known parent package"),
    ("import os\nm = os\nm.system('ls')", "AttributeError", COMMANDS),
    ("import os\nm = os\nm._exit(0)", "AttributeError", "use sys.exit(code)"),
    ("import os\ngetattr(os, '_exit')(0)", "AttributeError", "use sys.exit(code)"),
    ("import os\ngetattr(os, '_get_exports_list')", "AttributeError", "module 'os' has no attribute"),
    ("import math\nmath.sqr(2)", "AttributeError", "module 'math' has no attribute 'sqr'"),
]


@pytest.mark.parametrize(("source", "exception", "says"), AS_THE_REFUSAL, ids=lambda v: repr(v)[:50])
def test_what_is_not_there_is_told_with_its_substitute_at_run_time(
    source: str, exception: str, says: str, policy: PolicyRunner
) -> None:
    run = policy.run("print('before')\n" + source)
    assert run.stdout == "before\n"
    assert run.exception == exception
    assert says in run.stderr


def test_a_hint_is_near_or_none() -> None:
    for source in (b"from inspect import nosuchthing", b"from os import exit", b"from sys import signature"):
        assert "did you mean" not in check(source)[0].hint
    assert check(b"from inspect import signature") == []


def test_every_violation_is_reported_in_the_order_of_their_places() -> None:
    found = check(b"help('1')\nx.__globals__\nimport ctypes\nx.gi_frame")
    assert [(v.line, v.rule) for v in found] == [
        (1, "builtin"),
        (2, "dunder-attribute"),
        (3, "import"),
        (4, "introspection"),
    ]


def test_unknown_syntax_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    import ast

    from litany_runtime.policy.transformer import Policy

    class Novelty(ast.stmt):
        _fields = ()

    walk = Policy(None)
    walk.run(ast.Module(body=[Novelty(lineno=1, col_offset=0)], type_ignores=[]))
    assert [(rule, message.split()[0]) for _, rule, message, _ in walk.found] == [("construct", "Novelty")]


def test_compile_program_raises_what_check_reports() -> None:
    source = b"import ctypes\nx.__globals__"
    with pytest.raises(PolicyError) as caught:
        compile_program(source, "mine.py")
    assert list(caught.value.violations) == check(source)
    assert str(caught.value).splitlines()[0].startswith("mine.py:1:8: import: ")


def test_a_violation_cannot_be_changed() -> None:
    violation = Violation(1, 2, "rule", "message", "hint")
    with pytest.raises(AttributeError):
        violation.line = 3  # type: ignore[misc]


AT_RUN_TIME = [
    # source, exception, what it says
    ("getattr(print, '__self__')", "AttributeError", "__self__ is refused here"),
    ("getattr((i for i in ()), 'gi_frame', None)", "AttributeError", "gi_frame is refused"),
    ("setattr(print, '__x__', 1)", "AttributeError", "__x__ is refused"),
    ("import math\nmath.pi = 3", "AttributeError", "modules are read-only"),
    ("import math\ndel math.pi", "AttributeError", "modules are read-only"),
    ("import math\nm = math\nsetattr(m, 'pi', 3)", "AttributeError", "modules are read-only"),
    ("import math\nobject.__setattr__(math, 'pi', 3)", "AttributeError", "not the program's own"),
    ("import pathlib\npathlib.Path.exists = 1", "TypeError", "immutable type"),
    ("import threading\nthreading.Thread(target=print)._target", "AttributeError", "private to Thread"),
    ("type('A', (), {'__getattribute__': 1})", "TypeError", "may not be defined here"),
    ("ABCMeta = int\nclass A(metaclass=ABCMeta): pass", "TypeError", "takes abc.ABCMeta or type"),
    ("class M(type): pass", "TypeError", "class decorator"),
    ("import typing\nclass M(typing.Type[int]): pass", "TypeError", "class decorator"),
    ("import enum\nclass M(type(enum.Enum)): pass", "TypeError", "class decorator"),
    ("class A:\n    __match_args__ = ('__globals__',)", "TypeError", "__match_args__ may not name"),
    (
        "import contextlib\nclass R(contextlib.redirect_stdout):\n    _stream = 'modules'",
        "TypeError",
        "choose another",
    ),
    ("vars(str)", "AttributeError", "not the program's own object"),
    ("open('/etc/passwd')", "PermissionError", "outside the worktree"),
    ("open(3)", "PermissionError", "descriptor 3"),
    ("open('x', opener=print)", "ValueError", "takes no opener"),
    ("s = '{0.__class__.__base__}'\ns.format(1)", "AttributeError", "__base__ is refused"),
    ("import json\ntry: json.nope\nexcept AttributeError as e: e.obj", "AttributeError", "obj is refused"),
]


@pytest.mark.parametrize(("source", "exception", "says"), AT_RUN_TIME, ids=lambda v: repr(v)[:50])
def test_a_refusal_at_run_time_is_an_ordinary_exception(
    source: str, exception: str, says: str, policy: PolicyRunner
) -> None:
    run = policy.run(source)
    last = [line for line in run.stderr.splitlines() if line.strip()][-1]
    assert run.exit_code == 1
    assert last.startswith(f"{exception}: ") or run.exception == exception
    assert says in run.stderr
