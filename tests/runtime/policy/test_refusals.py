"""What is refused before a program runs, where, under which rule, and with which advice."""

from __future__ import annotations

import sys

import pytest

from litany_runtime.policy import PolicyError, Violation, check, compile_program
from policy_runner import PolicyRunner

EMPTY_ENVIRONMENT = "a program's environment is empty; pass values in the program text or through a tool"

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
    ("class A:\n    def __del__(self): pass", 2, 5, "special-method", "context manager"),
    ("class A:\n    def __init_subclass__(cls): pass", 2, 5, "special-method", "class decorator"),
    ("class A:\n    def __set_name__(self, o, n): pass", 2, 5, "special-method", "pass the name"),
    ("class A:\n    def __class_getitem__(cls, i): pass", 2, 5, "special-method", "typing.Generic"),
    ("class A:\n    def __reduce__(self): pass", 2, 5, "special-method", "__copy__"),
    ("class A:\n    def __getattribute__(self, n): pass", 2, 5, "special-method", "__getattr__"),
    ("class A:\n    def __instancecheck__(self, o): pass", 2, 5, "special-method", "abc.ABC"),
    ("class A:\n    def __subclasshook__(self, o): pass", 2, 5, "special-method", "Protocol"),
    ("class A:\n    def __prepare__(n, b): pass", 2, 5, "special-method", "class decorator"),
    ("class A:\n    def __mro_entries__(self, b): pass", 2, 5, "special-method", "class itself"),
    ("class A:\n    __del__ = print", 2, 5, "special-method", "context manager"),
    ("class A:\n    def __strange__(self): pass", 2, 5, "dunder-name", "double underscores"),
    ("x = 1; import subprocess", 1, 15, "import", "litany_tools"),
    ("import os, ctypes", 1, 12, "import", "litany_tools"),
    ("from importlib import import_module", 1, 1, "import", "import statement"),
    ("import jsn", 1, 8, "import", "did you mean json"),
    ("import zzzzqq", 1, 8, "import", "available: abc, argparse"),
    ("import numpy", 1, 8, "import", "the operator can add more"),
    ("import panda", 1, 8, "import", "the operator can add more"),
    ("import datatime", 1, 8, "import", "did you mean datetime?"),
    ("import sandbox_tools", 1, 8, "import", "import litany_tools"),
    ("import os.nope", 1, 8, "import", "os"),
    ("from . import x", 1, 1, "import", "full name"),
    ("from os import system", 1, 16, "import-name", "it has:"),
    ("from math import sqr", 1, 18, "import-name", "sqrt"),
    ("from sys import modules", 1, 17, "import-name", "it has:"),
    ("from json import codecs", 1, 18, "import-name", "it has:"),
    ("import os\nprint(os.environ)", 2, 7, "import-name", EMPTY_ENVIRONMENT),
    ("import os\nos.environ['A'] = '1'", 2, 1, "import-name", EMPTY_ENVIRONMENT),
    ("import os\nos.environb", 2, 1, "import-name", EMPTY_ENVIRONMENT),
    ("import os, sys\ndef f(): return os.getenv('A', 'b')", 2, 17, "import-name", EMPTY_ENVIRONMENT),
    ("import os\nos.putenv('A', 'b')", 2, 1, "import-name", EMPTY_ENVIRONMENT),
    ("import os\nos.unsetenv('A')", 2, 1, "import-name", EMPTY_ENVIRONMENT),
    ("import os as system\nx = system.environ.get('A')", 2, 5, "import-name", EMPTY_ENVIRONMENT),
    ("def f():\n    import os\n    return os.environ", 3, 12, "import-name", EMPTY_ENVIRONMENT),
    ("from os import environ", 1, 16, "import-name", EMPTY_ENVIRONMENT),
    ("import os.path\nos.environ", 2, 1, "import-name", EMPTY_ENVIRONMENT),
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


def test_an_environ_of_the_programs_own_is_its_own() -> None:
    assert check(b"class Os: environ = {}\nos = Os()\nos.environ['A'] = 1") == []
    assert check(b"import os\nclass A: pass\na = A()\na.environ = os.sep") == []


def test_every_violation_is_reported_in_the_order_of_their_places() -> None:
    found = check(b"help('1')\nx.__globals__\nimport ctypes\nx.gi_frame")
    assert [(v.line, v.rule) for v in found] == [
        (1, "builtin"),
        (2, "dunder-attribute"),
        (3, "import"),
        (4, "introspection"),
    ]


def test_except_star_is_refused_where_the_interpreter_confuses_types() -> None:
    found = check(b"try: pass\nexcept* ValueError: pass")
    if sys.version_info >= (3, 13, 2):
        assert found == []
    else:
        assert [(v.line, v.column, v.rule) for v in found] == [(1, 1, "except-star")]
        assert "except ExceptionGroup" in found[0].hint


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
    ("type('A', (), {})", "TypeError", "write a class statement"),
    ("class M(type): pass", "TypeError", "class decorator"),
    ("import typing\nclass M(typing.Type[int]): pass", "TypeError", "class decorator"),
    ("import enum\nclass M(type(enum.Enum)): pass", "TypeError", "class decorator"),
    ("class A:\n    __match_args__ = ('__globals__',)", "TypeError", "__match_args__ may not name"),
    (
        "import contextlib\nclass R(contextlib.redirect_stdout):\n    _stream = 'modules'",
        "TypeError",
        "choose another",
    ),
    ("vars(print)", "AttributeError", "not the program's own object"),
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
