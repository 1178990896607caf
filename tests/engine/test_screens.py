"""Screens: what they see, what they may do, and what becomes of one that fails."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import trio

from door_kit import Place, make_place, record_of
from litany_engine.door.calls import CallEnd, Capture, Context, Tool, ToolCall
from litany_engine.door.door import Door
from litany_engine.door.screens import Halt, Rewrite, Screen, ScreenVerdict, Withhold
from litany_engine.tools.toolset import toolset
from litany_runtime.outcome import Outcome
from litany_stubs.words import Refusal, ToolDeclaration


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def invoke(
    place: Place, screens: Sequence[Screen], name: str = "read_file", arguments: Any = None
) -> CallEnd:
    async def main() -> CallEnd:
        door = Door(screens=screens)
        given = {"path": "x"} if arguments is None else arguments
        return await door.invoke(name, given, place.caller(), call_id="T")

    return trio.run(main)


def redact(call: ToolCall, capture: Capture) -> ScreenVerdict:
    return Rewrite(
        Capture(stdout=capture.stdout.replace(b"content", b"[redacted]"), exit_code=capture.exit_code)
    )


def shout(call: ToolCall, capture: Capture) -> ScreenVerdict:
    return Rewrite(Capture(stdout=capture.stdout.upper(), exit_code=capture.exit_code))


def withhold(call: ToolCall, capture: Capture) -> ScreenVerdict:
    return Withhold("it has a key in it")


def broken(call: ToolCall, capture: Capture) -> ScreenVerdict:
    raise ValueError(capture.stdout)


def nonsense(call: ToolCall, capture: Capture) -> Any:
    return "pass"


def test_rewrites_compose_in_their_order_and_are_no_failure(place: Place) -> None:
    end = invoke(place, [redact, shout])
    assert (end.outcome, end.stdout) == (Outcome.COMPLETED, b"[REDACTED] OF X")
    assert record_of(end.record)["stdout"] == "[REDACTED] OF X"


def test_a_rewrite_does_not_change_how_a_call_ended(place: Place) -> None:
    end = invoke(place, [lambda *_: Rewrite(Capture(outcome=Outcome.COMPLETED, stdout=b"fine"))], "crash")
    assert (end.outcome, end.exit_code) == (Outcome.FAULTED, 125)


@pytest.mark.parametrize("screen", [withhold, broken, nonsense])
def test_a_screen_that_withholds_or_fails_lets_nothing_of_the_result_through(
    place: Place, screen: Any
) -> None:
    end = invoke(place, [screen, shout])
    assert (end.outcome, end.exit_code, end.stdout, end.data) == (Outcome.FAILED, 1, b"", None)
    assert f"withheld by screen {screen.__name__}".encode() in end.stderr
    assert b"Do not repeat" in end.stderr
    assert end.record is not None
    assert "content" not in (end.record / "output.json").read_text()


def refusing(place: Place) -> None:
    """Have a tool that would not start, as `python` does with a program that the language refuses."""

    async def execute(call: ToolCall, context: Context) -> Capture:
        await trio.lowlevel.checkpoint()
        refusal = Refusal("policy", "line 1: secret")
        return Capture(outcome=Outcome.REFUSED, refusal=refusal, layers=("seccomp",))

    place.toolset = toolset([Tool(ToolDeclaration("no"), execute)])


def test_a_rewrite_leaves_a_refused_call_refused(place: Place) -> None:
    refusing(place)
    end = invoke(place, [lambda *_: Rewrite(Capture(stdout=b"fine"))], "no", {})
    assert (end.outcome, end.exit_code, end.layers) == (Outcome.REFUSED, 126, ("seccomp",))
    assert end.refusal == Refusal("policy", "line 1: secret")
    assert record_of(end.record)["refusal"]["reason"] == "line 1: secret"


def test_a_rewrite_may_put_a_refusal_into_other_words(place: Place) -> None:
    refusing(place)
    end = invoke(place, [lambda *_: Rewrite(Capture(refusal=Refusal("policy", "line 1: …")))], "no", {})
    assert (end.outcome, end.refusal) == (Outcome.REFUSED, Refusal("policy", "line 1: …"))


def test_a_rewrite_refuses_no_call_that_ran(place: Place) -> None:
    end = invoke(place, [lambda *_: Rewrite(Capture(refusal=Refusal("policy", "no")))])
    assert (end.outcome, end.refusal) == (Outcome.COMPLETED, None)


@pytest.mark.parametrize("screen", [withhold, broken, nonsense])
def test_a_refused_call_is_never_said_to_have_been_made(place: Place, screen: Any) -> None:
    refusing(place)
    end = invoke(place, [screen], "no", {})
    assert (end.outcome, end.exit_code, end.stderr) == (Outcome.REFUSED, 126, b"")
    assert end.refusal is not None
    assert end.refusal.gate == "policy"
    assert "was refused and nothing was run" in end.refusal.reason
    assert "secret" not in str(record_of(end.record))


def test_a_screen_sees_inner_results_whole(place: Place) -> None:
    seen: list[tuple[str, Any, bytes]] = []

    def look(call: ToolCall, capture: Capture) -> ScreenVerdict:
        seen.append((call.id, call.name, capture.stdout))
        return None

    invoke(place, [look], "relay", {"name": "read_file", "input": {"path": "y" * 100_000}})
    assert [(each[0], each[1], len(each[2])) for each in seen] == [
        ("T-1", "read_file", 100_011),
        ("T", "relay", 100_011),
    ]


def test_a_screen_cannot_change_what_the_call_was(place: Place) -> None:
    def change(call: ToolCall, capture: Capture) -> ScreenVerdict:
        call.input["path"] = "z"
        return None

    end = invoke(place, [change])
    assert b"withheld by screen change" in end.stderr
    assert end.call.input == {"path": "x"}


def test_a_halt_stops_the_outermost_call_and_says_why(place: Place) -> None:
    def halt(call: ToolCall, capture: Capture) -> ScreenVerdict:
        return Halt("somebody else's data") if call.name == "read_file" else None

    end = invoke(place, [halt], "relay", {"name": "read_file", "input": {"path": "x"}})
    inner = record_of(place.root / "steps/a/001/tools/T-1")
    assert inner["outcome"] == "failed"
    assert "content" not in str(inner)
    assert (end.outcome, end.reason) == (Outcome.STOPPED, "screen halt: somebody else's data")


def test_a_halt_ends_what_is_still_running(place: Place) -> None:
    async def execute(call: ToolCall, context: Context) -> Capture:
        assert context.invoke is not None
        await context.invoke("read_file", {"path": "x"})
        await trio.lowlevel.checkpoint()
        return Capture(stdout=b"it went on")

    place.toolset = toolset([*place.toolset.tools.values(), Tool(ToolDeclaration("long"), execute)])

    def halt(call: ToolCall, capture: Capture) -> ScreenVerdict:
        return Halt("somebody else's data") if call.name == "read_file" else None

    end = invoke(place, [halt], "long", {})
    assert (end.outcome, end.reason) == (Outcome.STOPPED, "screen halt: somebody else's data")


def test_a_refused_call_has_no_result_to_look_at(place: Place) -> None:
    assert invoke(place, [broken], "nothing").outcome is Outcome.REFUSED


def test_without_screens_a_result_is_given_as_it_is(place: Place) -> None:
    """No screen is put in the place of none: not even one that would find the request in the result."""
    assert invoke(place, [], arguments={"path": "say this"}).stdout == b"content of say this"
