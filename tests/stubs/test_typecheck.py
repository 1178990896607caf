"""A program against its stubs: line, column, tool and parameter, before anything runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from litany_stubs import typecheck
from litany_stubs.render import render
from litany_stubs.typecheck import CheckerError, Finding, check_types
from stubs_kit import corpus, declared

STUBS = render(
    [
        declared("add"),
        declared("open_object"),
        declared("tuples"),
        declared("formats"),
        declared("bounds"),
        declared("plot"),
    ]
)

WRONG = """\
import litany_tools as t
from litany_tools import aio, add, ad
é = "ü"; t.add(a="1", b=2)
t.add(a=1)
t.ad(a=1, b=2)
t.add(a=1, b=2, c=3)
t.add(1, 2, 3)
t.add(a=1, b=2).output
t.open_object(c={"x": 1, "y": 1})
t.formats(a=None)
async def main():
    await aio.add(a=None, b=1)
    aio.add(a=1, b=2).stdout
    await aio.add(1, "2")
t.add(1, a=2)
"""

RIGHT = """\
import litany_tools, asyncio, json
from litany_tools import aio, UNSET, ToolError
point = {"x": 1}
point["other"] = "y"
closed = {"x": 1}
litany_tools.open_object(a=point, c=closed)
whole = [1, 2]
litany_tools.plot(kind="line", x=whole, y=whole)
litany_tools.open_object(point, c=closed)
litany_tools.add(1, 2)
litany_tools.add(1, b=2)
litany_tools.tuples(a=["x", 1], c=["a", 1.5])
litany_tools.bounds(d=whole, b=1)
print(litany_tools.add(a=1, b=2).data["sum"] + 1)
litany_tools.formats(a=UNSET, b="x")
results = litany_tools.fan_out(litany_tools.add, [{"a": 1, "b": 2}, (1, 2)])
litany_tools.invoke("add", 1, b=2)
async def main():
    return await asyncio.gather(aio.add(a=1, b=2), aio.formats())
try:
    litany_tools.invoke("any.thing", {"class": 1}).check()
except ToolError as error:
    print(error.result.stderr, undefined_here)
x: int = "not about the tools"
"""


@pytest.fixture(scope="module")
def findings() -> list[Finding]:
    return check_types(WRONG, STUBS)


@pytest.mark.parametrize(
    ("line", "column", "said"),
    [
        (2, 36, "no member `ad`; did you mean add"),
        (3, 16, 'add, argument a: Expected `float`, found `Literal["1"]`'),
        (4, 1, "parameter `b`"),
        (5, 1, "`ad`; did you mean add"),
        (6, 17, "add, argument c:"),
        (7, 13, "add: Too many positional arguments"),
        (8, 1, "no attribute `output`"),
        (9, 26, 'open_object, argument c: Unknown key "y"'),
        (10, 11, "leave the argument out"),
        (12, 19, "aio.add, argument a:"),
        (13, 5, "aio.add: await it first"),
        (14, 22, "aio.add, argument b: Expected `float`"),
        (15, 10, "add, argument a: Multiple values"),
    ],
)
def test_each_mistake_is_found_at_its_place(
    findings: list[Finding], line: int, column: int, said: str
) -> None:
    assert any(said in each.message for each in findings if (each.line, each.column) == (line, column)), (
        findings
    )


def test_no_finding_hangs_on_the_name_of_a_rule(
    findings: list[Finding], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = typecheck.find_checker()
    renamed = tmp_path / "ty"
    renamed.write_text(
        f'#!/bin/sh\n{real} "$@" | sed -E '
        r"""'s/"check_name": "[^"]*"/"check_name": "r"/; s/"description": "[a-z-]+: /"description": "r: /'"""
    )
    renamed.chmod(0o755)
    monkeypatch.setattr(typecheck, "find_checker", lambda: str(renamed))
    found = check_types(WRONG, STUBS)
    assert [(each.line, each.column) for each in found] == [(each.line, each.column) for each in findings]
    assert found == findings


def test_a_misspelt_name_is_known_by_its_place_whatever_the_checker_calls_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [
        {
            "check_name": "some-rule",
            "description": f"some-rule: nothing of the name `{name}` here",
            "location": {"positions": {"begin": {"line": line, "column": 1}}},
        }
        for line, name in ((2, "ad"), (3, "ad"), (4, "output"))
    ]
    checker = tmp_path / "ty"
    checker.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(said)}\nEND\n")
    checker.chmod(0o755)
    monkeypatch.setattr(typecheck, "find_checker", lambda: str(checker))
    program = "import litany_tools as t\nt.ad(a=1)\nt.aio.ad(a=1)\nprint(t.add(a=1).output)\n"
    found = check_types(program, STUBS)
    assert [(each.line, each.message) for each in found] == [
        (line, "nothing of the name `ad` here; did you mean add?") for line in (2, 3)
    ]


def test_a_mistake_inside_a_dict_is_said_once(findings: list[Finding]) -> None:
    assert len([each for each in findings if each.line == 9]) == 1


def test_a_right_program_has_no_findings_and_other_opinions_are_left_out() -> None:
    assert check_types(RIGHT, STUBS) == []


@pytest.mark.parametrize(
    "program", ["", "print(1)", "import litany_tools", "def broken(:", "\x00", "x = '\ud800'"]
)
def test_a_program_that_uses_no_tool_or_is_no_python_has_no_findings(program: str) -> None:
    assert check_types(program, STUBS) == []


def test_the_whole_corpus_checks_in_reasonable_time() -> None:
    found = check_types("import litany_tools\nlitany_tools.nope()\n", render(corpus()))
    assert [each.line for each in found] == [2]


def test_without_a_checker_it_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typecheck, "find_checker", lambda: None)
    with pytest.raises(CheckerError, match=r"pip install 'litany\[check\]'"):
        check_types(WRONG, STUBS)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("sleep 30", "took more than"),
        ("echo nonsense; echo why >&2", "it said: why"),
        ("exit 3", "cannot be read|can be read"),
    ],
)
def test_a_checker_that_does_not_work_is_said_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    broken = tmp_path / "ty"
    broken.write_text(f"#!/bin/sh\n{script}\n")
    broken.chmod(0o755)
    monkeypatch.setattr(typecheck, "find_checker", lambda: str(broken))
    with pytest.raises(CheckerError, match=said):
        check_types(WRONG, STUBS, timeout_s=0.3)
