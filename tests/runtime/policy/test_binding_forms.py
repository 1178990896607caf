"""No form of binding gives a reserved name away."""

from __future__ import annotations

import sys

import pytest

from litany_runtime.policy import attributes, check

RESERVED = [attributes.VALUE, "_litany_", "_litany_star1"]
STRUCTURAL = ["__builtins__", "__import__", "__build_class__", "__name__", "__spec__", "__loader__"]

FORMS = {
    "assignment": "{n} = 1",
    "annotated assignment": "{n}: int = 1",
    "bare annotation": "{n}: int",
    "augmented assignment": "{n} += 1",
    "tuple target": "(a, {n}) = 1, 2",
    "starred target": "a, *{n} = [1, 2]",
    "list target": "[{n}] = [1]",
    "walrus": "({n} := 1)",
    "walrus in a comprehension": "[({n} := x) for x in []]",
    "argument": "def f({n}): pass",
    "positional-only argument": "def f({n}, /): pass",
    "keyword-only argument": "def f(*, {n}): pass",
    "variadic argument": "def f(*{n}): pass",
    "keyword argument": "def f(**{n}): pass",
    "lambda argument": "lambda {n}: 1",
    "positional-only lambda argument": "lambda {n}, /: 1",
    "variadic lambda argument": "lambda *{n}: 1",
    "keyword lambda argument": "lambda **{n}: 1",
    "async argument": "async def f({n}): pass",
    "function": "def {n}(): pass",
    "async function": "async def {n}(): pass",
    "class": "class {n}: pass",
    "class body": "class A:\n    {n} = 1",
    "method": "class A:\n    def {n}(self): pass",
    "import": "import {n}",
    "import as": "import math as {n}",
    "from import as": "from math import pi as {n}",
    "except as": "try: pass\nexcept ValueError as {n}: pass",
    "with as": "with a as {n}: pass",
    "with as tuple": "with a as (b, {n}): pass",
    "async with as": "async def f():\n    async with a as {n}: pass",
    "for": "for {n} in []: pass",
    "for tuple": "for a, {n} in []: pass",
    "async for": "async def f():\n    async for {n} in a: pass",
    "comprehension": "[1 for {n} in []]",
    "set comprehension": "{{1 for {n} in []}}",
    "dict comprehension": "{{1: 2 for {n} in []}}",
    "generator expression": "(1 for {n} in [])",
    "async comprehension": "async def f(): return [1 async for {n} in a]",
    "match capture": "match x:\n    case {n}: pass",
    "match as": "match x:\n    case int() as {n}: pass",
    "match star": "match x:\n    case [*{n}]: pass",
    "match rest": "match x:\n    case {{**{n}}}: pass",
    "match in a sequence": "match x:\n    case [1, {n}]: pass",
    "match in a class": "match x:\n    case A(b={n}): pass",
    "match in a mapping": "match x:\n    case {{1: {n}}}: pass",
    "match alternative": "match x:\n    case [{n}, 1] | [{n}, 2]: pass",
    "global": "def f():\n    global {n}",
    "nonlocal": "def f():\n    nonlocal {n}",
    "del": "del {n}",
    "reading": "print({n})",
    "decorator": "@{n}\ndef f(): pass",
    "default": "def f(a={n}): pass",
    "annotation": "def f(a: {n}): pass",
    "f-string": "f'{{{n}}}'",
}
if sys.version_info >= (3, 12):
    FORMS |= {
        "type parameter": "def f[{n}](): pass",
        "class type parameter": "class A[{n}]: pass",
        "type parameter tuple": "def f[*{n}](): pass",
        "type parameter spec": "def f[**{n}](): pass",
        "type alias": "type {n} = int",
        "type alias parameter": "type A[{n}] = int",
        "type parameter bound": "def f[T: {n}](): pass",
    }
READS_ONLY = {"reading", "decorator", "default", "annotation", "f-string", "type parameter bound"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", RESERVED)
def test_a_reserved_name_is_refused_in_every_form(name: str, form: str) -> None:
    found = check(FORMS[form].format(n=name).encode())
    assert any(v.rule in {"reserved-name", "import"} for v in found), found
    if form != "import":
        assert any(v.rule == "reserved-name" for v in found)


@pytest.mark.parametrize("form", [f for f in FORMS if f not in READS_ONLY])
@pytest.mark.parametrize("name", STRUCTURAL)
def test_the_interpreters_own_names_are_refused_in_every_form(name: str, form: str) -> None:
    if name == "__name__" and form in {"class body", "method"}:
        return  # an attribute of the program's own class
    found = check(FORMS[form].format(n=name).encode())
    assert any(
        v.rule in {"dunder-name", "special-method", "import", "import-name", "builtin"} for v in found
    ), found


@pytest.mark.parametrize("form", FORMS)
def test_an_ordinary_name_is_accepted_in_every_form(form: str) -> None:
    source = FORMS[form].format(n="_mine")
    found = [v for v in check(source.encode()) if v.rule not in {"import", "syntax"}]
    assert found == []


def test_a_name_is_judged_as_the_compiler_mangles_it() -> None:
    assert [v.rule for v in check(b"class _litany:\n    def f(self): self.__own")] == ["reserved-name"]


def test_a_name_is_judged_as_the_parser_normalizes_it() -> None:
    assert {v.rule for v in check("x.__ｇｌｏｂａｌｓ__".encode())} == {"dunder-attribute"}
    assert {v.rule for v in check("_ｌｉｔａｎｙ_own = 1".encode())} == {"reserved-name"}
