"""A result: split streams, data, refusals, exceptions on demand, a repr that never floods."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

from litany_stubs.render import render
from litany_stubs.result import Result, ToolError
from litany_stubs.testing import failure, output, refusal
from litany_stubs.words import Reply
from stubs_kit import declared


def test_streams_are_split_and_text_and_bytes_are_both_there() -> None:
    result: Result[Any] = Result(Reply("failed", 3, b"out\xff", "é".encode()))
    assert (result.stdout, result.stdout_bytes) == ("out\ufffd", b"out\xff")
    assert (result.stderr, result.stderr_bytes) == ("é", "é".encode())
    assert (result.exit_code, result.ok, result.outcome) == (3, False, "failed")


def test_an_empty_result_is_empty() -> None:
    result: Result[Any] = Result(output())
    assert (result.stdout, result.stderr, result.stdout_bytes, result.data) == ("", "", b"", None)
    assert result.ok


def test_data_is_what_the_tool_gave() -> None:
    assert Result(output("[1]", data={"a": 1}), parse=True).data == {"a": 1}


def test_stdout_becomes_data_only_when_the_schema_says_so() -> None:
    assert Result(output('{"a": 1}'), parse=True).data == {"a": 1}
    assert Result(output('{"a": 1}')).data is None


@pytest.mark.parametrize("text", ["", "no json", "[" * 100_000])
def test_stdout_that_is_no_json_gives_no_data(text: str) -> None:
    assert Result(output(text), parse=True).data is None


def test_a_failed_tool_has_no_data_of_its_stdout() -> None:
    assert Result(failure(stdout='{"a": 1}'), parse=True).data is None


def test_json_reads_stdout_and_says_what_is_there_instead() -> None:
    assert Result(output("[1, 2]")).json() == [1, 2]
    with pytest.raises(ValueError, match=r"stdout is not JSON.*'oops'; exit code 1, stderr: 'why'"):
        Result(failure("why", stdout="oops")).json()


def test_a_refusal_is_told_from_a_failure() -> None:
    refused: Result[Any] = Result(refusal("ask for less", gate="control"))
    assert refused.refusal is not None
    assert (refused.refusal.gate, refused.refusal.reason) == ("control", "ask for less")
    assert (refused.exit_code, refused.ok, refused.stderr) == (126, False, "ask for less")
    assert Result(failure("no", exit_code=126)).refusal is None


def test_check_passes_what_is_ok_and_raises_what_is_not() -> None:
    fine: Result[Any] = Result(output("x"))
    assert fine.check() is fine
    with pytest.raises(ToolError, match=r"^exit code 2: 'no such file'$") as caught:
        Result(failure("no such file\n", exit_code=2)).check()
    assert caught.value.result.exit_code == 2
    with pytest.raises(ToolError, match=r"^refused by grant: 'not yours'$"):
        Result(refusal("not yours", gate="grant")).check()
    with pytest.raises(ToolError, match=r"^exit code 124 \(timed_out\)"):
        Result(Reply("timed_out", 124)).check()


@pytest.mark.parametrize(
    "reply",
    [
        output("x" * 16_000_000, stderr=b"\xff" * 1_000_000),
        output(data={"k" * 1000: ["v" * 1000] * 1000}),
        output(data=["v" * 10_000] * 10_000),
        output(data={str(n): n for n in range(100_000)}),
        output(data="x" * 1_000_000),
        output(data=[10**4000]),
        output(data=[[[["deep"] * 100] * 100]]),
        refusal("r" * 1_000_000, gate="g"),
    ],
)
def test_a_repr_never_floods(reply: Reply) -> None:
    assert len(repr(Result(reply))) < 2000


def test_a_repr_shows_what_is_there() -> None:
    assert repr(Result(output("hi", data={"a": 1}))) == "Result(exit_code=0, stdout='hi', data={'a': 1})"
    assert repr(Result(refusal("no", gate="control"))) == "Result(exit_code=126, refusal=control: 'no')"
    assert repr(Result(Reply("killed", 137))) == "Result(exit_code=137, outcome=killed)"
    assert "16,000 bytes" in repr(Result(output("x" * 16_000)))


def test_an_exception_has_the_name_that_a_program_knows_it_by() -> None:
    space: dict[str, Any] = {"__name__": "litany_tools"}
    exec(compile(render([declared("edit_file")]), "litany_tools.py", "exec"), space)
    found = [each for each in space.values() if isinstance(each, type) and issubclass(each, BaseException)]
    assert {each.__name__ for each in found} >= {"ToolError", "DoorError"}
    for each in found:
        assert f"{each.__module__}.{each.__qualname__}" == f"litany_tools.{each.__name__}"
    shown = traceback.format_exception_only(ToolError(Result(Reply("failed", 2, stderr=b"why"))))
    assert shown == ["litany_tools.ToolError: exit code 2: 'why'\n"]
