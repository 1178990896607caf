"""Calls that cannot be, found in a program's text by names alone."""

from __future__ import annotations

from types import ModuleType

import pytest

from litany_stubs.looking import MAX_FOUND, look
from litany_stubs.module import load_stubs
from litany_stubs.render import render
from litany_stubs.words import ToolDeclaration

TEXT = {"type": "string"}


@pytest.fixture(scope="module")
def tools() -> ModuleType:
    def declared(name: str, *required: str, closed: bool = True, **more: object) -> ToolDeclaration:
        properties = dict.fromkeys((*required, "extra", "x-y"), TEXT)
        schema = {"type": "object", "properties": properties, "required": list(required), **more}
        return ToolDeclaration(name, "", schema | ({"additionalProperties": False} if closed else {}))

    return load_stubs(
        render(
            [
                declared("read", "path"),
                declared("write", "path", "text"),
                declared("lax", "path", closed=False),
                declared("wide", "path", closed=False, additionalProperties=TEXT),
                declared("from", "path"),
            ]
        )
    )


HEAD = "import litany_tools, litany_tools as t\nfrom litany_tools import aio, read, invoke, fan_out\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("t.raed('a')", "no tool raed is granted (did you mean read?): its call will be refused"),
        ("litany_tools.bash('a')", "no tool bash is granted (granted: lax, read, wide, write, from)"),
        ("await aio.raed('a')", "no tool raed"),
        ("await t.aio.raed('a')", "no tool raed"),
        ("read()", "read() missing 1 required positional argument: 'path'; it takes path, extra"),
        ("read(pth='a')", "read() got an unexpected keyword argument 'pth'"),
        ("read('a', 'b', 'c')", "read() takes from 1 to 2 positional arguments but 3 were given"),
        ("read('a', path='b')", "read() got multiple values for argument 'path'"),
        ("t.write(*['a'], txt='b')", "write() got an unexpected keyword argument 'txt'"),
        ("t.lax('a', limt=1)", "lax() got an unexpected keyword argument 'limt'"),
        ("invoke('raed', {})", "no tool 'raed' is granted (did you mean read?)"),
        ("invoke('read', {'pth': 'a', 'path': 'b'})", "read() got an unexpected keyword argument 'pth'"),
        ("invoke('write', 'a')", "write() missing 1 required positional argument: 'text'"),
        ("fan_out(read, ['a', {'pth': 'b'}])", "read() got an unexpected keyword argument 'pth'"),
        ("fan_out(t.write, [('a',)])", "write() missing 1 required positional argument: 'text'"),
        ("fan_out('raed', [])", "no tool raed"),
        ("await aio.fan_out(aio.read, [{}])", "read() missing 1 required positional argument"),
        ("from litany_tools import raed", "no tool raed (did you mean read?)"),
    ],
)
def test_a_call_that_cannot_be_is_found_at_its_place(tools: ModuleType, line: str, said: str) -> None:
    (found,) = look(f"{HEAD}if True:\n  x = 1; {line}\n", "p.py", tools)
    where = "p.py:4:" if not line.startswith("await") else "p.py:4:16"
    assert found.startswith(where)
    assert said in found


@pytest.mark.parametrize(
    "line",
    [
        "t.read('a'); read(path='a', extra='b'); t.write('a', text='b')",
        "t.wide('a', anything='b'); invoke('lax', {'path': 'a', 'limt': 1})",
        "t.read('a', **{'x-y': 'b'}); invoke('read', {'path': 'a', 'x-y': 'b'}); invoke('from', {'pth': 'a'})",
        "t.write(*args); t.write('a', **kwargs); read(**{'path': 'a'})",
        "invoke(name, {}); invoke('read', arguments); fan_out(read, items); fan_out(read, [item, *items])",
        "fan_out(read, [{**item}, (*item,)]); invoke(*args)",
        "if hasattr(t, 'bash'): t.bash('ls')",
        "run = getattr(t, 'bash', None)",
        "def f(t): t.bash('ls')",
        "for read in []: read(1, 2, 3)",
        "read = print; read(1, 2, 3)",
        "t.search('x'); t.Result; t.DoorError('x'); other.bash('ls'); t.read",
        "try: t.read('a')\n  except Exception as t: t.bash()",
        "import os as t; t.bash()",
        "match x:\n    case t: t.bash()",
    ],
)
def test_what_may_be_right_is_not_warned_of(tools: ModuleType, line: str) -> None:
    assert look(f"{HEAD}if True:\n  {line}\n", "p.py", tools) == []


@pytest.mark.parametrize("text", ["t.read(", "\x00", "(" * 500, "print(1)", "", "x = " + "-" * 9000 + "1"])
def test_a_text_that_is_no_program_or_has_no_tools_has_no_findings(tools: ModuleType, text: str) -> None:
    assert look(text, "p.py", tools) == []


def test_findings_are_bounded(tools: ModuleType) -> None:
    found = look("import litany_tools as t\n" + "t.nope()\n" * 1000, "p.py", tools)
    assert len(found) == MAX_FOUND + 1
    assert found[-1] == f"p.py: and {1000 - MAX_FOUND} more calls that cannot be"
