"""How much a tool may answer: the same for whatever answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from door_kit import make_place
from litany_engine import Capture, tool
from litany_engine.door import answers
from litany_engine.door.answers import MAX_FAULT_CHARS
from litany_engine.door.calls import CallEnd, Context, Tool, ToolCall
from litany_engine.door.door import Door
from litany_engine.door.screens import Rewrite
from litany_engine.records.recorded import load_call
from litany_engine.tools import processes
from litany_engine.tools.toolset import toolset
from litany_runtime.limits import Limits
from litany_runtime.outcome import Outcome
from litany_runtime.output import MARKER_BYTES, Kept
from litany_stubs.words import ToolDeclaration

MAX_OUTPUT_BYTES = MAX_DATA_BYTES = 100_000
MUCH = MAX_OUTPUT_BYTES + 1000


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MAX_OUTPUT_BYTES", MAX_OUTPUT_BYTES)
    monkeypatch.setattr(answers, "MAX_DATA_BYTES", MAX_DATA_BYTES)


def test_no_answer_is_cut_that_could_reach_a_program_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert min(answers.MAX_OUTPUT_BYTES, answers.MAX_DATA_BYTES) > Limits().value_bytes
    assert Limits().value_bytes > processes.MAX_OUTPUT_BYTES + MARKER_BYTES


def answers_of(tmp_path: Path, answer: Any, **of_the_door: Any) -> CallEnd:
    """The end of a call whose tool is made of `answer`, which is recorded as it was given."""
    place = make_place(tmp_path)
    place.toolset = toolset([answer])

    async def main() -> CallEnd:
        return await Door(**of_the_door).invoke(answer.declaration.name, {}, place.caller())

    end = trio.run(main)
    assert end.record is not None
    recorded = load_call(end.record).end
    assert recorded is not None
    assert (recorded.stdout, recorded.data) == (end.stdout, end.data)
    return end


@tool(name="t")
def in_a_thread() -> bytes:
    """Much."""
    return b"a" * MUCH


@tool(name="t")
async def in_a_task() -> str:
    """Much."""
    return "a" * MUCH


async def executor(call: ToolCall, context: Context) -> Capture:
    return Capture(stdout=b"a" * MUCH, stderr=b"b" * MUCH)


PLAIN = Tool(ToolDeclaration("t"), executor)


@pytest.mark.parametrize(
    ("answer", "router"),
    [(in_a_thread, None), (in_a_task, None), (PLAIN, None), (in_a_thread, executor)],
    ids=["thread", "task", "executor", "router"],
)
def test_a_stream_that_is_too_long_lacks_its_middle_whoever_wrote_it(
    tmp_path: Path, answer: Tool, router: Any
) -> None:
    end = answers_of(tmp_path, answer, router=router)

    assert end.outcome is Outcome.COMPLETED
    for stream in filter(None, (end.stdout, end.stderr)):
        assert f"[1000 of {MUCH} bytes dropped here: output limit]".encode() in stream
        assert len(stream) <= MAX_OUTPUT_BYTES + MARKER_BYTES
        assert stream.count(stream[:1]) >= MAX_OUTPUT_BYTES


def test_a_stream_of_just_the_limit_and_one_that_was_cut_before_are_left_as_they_are(tmp_path: Path) -> None:
    before = Kept(MAX_OUTPUT_BYTES)
    before.add(b"a" * MUCH)

    async def whole(call: ToolCall, context: Context) -> Capture:
        return Capture(stdout=before.bytes(), stderr=b"b" * MAX_OUTPUT_BYTES)

    end = answers_of(tmp_path, Tool(ToolDeclaration("t"), whole))

    assert end.stdout == before.bytes()
    assert end.stderr == b"b" * MAX_OUTPUT_BYTES


def test_a_screen_sees_what_is_dropped_afterwards_and_is_bounded_itself(tmp_path: Path) -> None:
    seen = []

    def twice(call: ToolCall, capture: Capture) -> Rewrite:
        seen.append(len(capture.stdout))
        return Rewrite(Capture(stdout=capture.stdout * 2))

    end = answers_of(tmp_path, in_a_task, screens=[twice])

    assert seen == [MUCH]
    assert f"of {2 * MUCH} bytes dropped here".encode() in end.stdout


def test_what_a_tool_hands_over_when_it_is_cut_short_is_bounded_too(tmp_path: Path) -> None:
    async def until_told(call: ToolCall, context: Context) -> Capture:
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            return Capture(stdout=b"a" * MUCH, exit_code=1)
        raise AssertionError

    end = answers_of(tmp_path, Tool(ToolDeclaration("t"), until_told, deadline_s=lambda _: 0.01))

    assert end.outcome is Outcome.TIMED_OUT
    assert b"bytes dropped here" in end.stdout


@pytest.mark.parametrize(("extra", "outcome"), [(0, Outcome.COMPLETED), (1, Outcome.FAULTED)])
def test_data_that_is_too_large_is_a_fault_because_it_cannot_be_cut(
    tmp_path: Path, extra: int, outcome: Outcome
) -> None:
    data = "a" * (MAX_DATA_BYTES - 2 + extra)

    async def execute(call: ToolCall, context: Context) -> Capture:
        return Capture(stdout=b"said", data=data)

    end = answers_of(tmp_path, Tool(ToolDeclaration("t"), execute))

    assert (end.outcome, end.stdout) == (outcome, b"said")
    assert (end.data == data) is not bool(extra)
    if extra:
        assert f"its data has {MAX_DATA_BYTES + 1} bytes as JSON" in end.reason
        assert "What the call did stands" in end.reason


def promising(schema: dict[str, Any], capture: Capture) -> Tool:
    """A tool that promises data of a shape, and answers with what it likes."""

    async def execute(call: ToolCall, context: Context) -> Capture:
        return capture

    return Tool(ToolDeclaration("t", output_schema=schema), execute)


@pytest.mark.parametrize("outcome", [Outcome.KILLED, Outcome.TIMED_OUT])
def test_a_tool_that_says_itself_that_it_was_ended_is_held_to_no_promise(
    tmp_path: Path, outcome: Outcome
) -> None:
    capture = Capture(data="half", outcome=outcome)

    end = answers_of(tmp_path, promising({"type": "integer"}, capture))

    assert (end.outcome, end.data) == (outcome, "half")


def test_a_wrong_value_is_shown_no_longer_than_a_person_reads(tmp_path: Path) -> None:
    end = answers_of(tmp_path, promising({"type": "integer"}, Capture(data="long" * 10_000)))

    assert end.outcome is Outcome.FAULTED
    assert "not what its output schema promises: $: " in end.reason
    assert "What the call did stands" in end.reason
    assert len(end.reason) < 2 * MAX_FAULT_CHARS


def test_an_output_schema_is_never_read_from_elsewhere(tmp_path: Path) -> None:
    elsewhere = tmp_path / "schema.json"
    elsewhere.write_text('{"type": "string"}')

    end = answers_of(tmp_path, promising({"$ref": elsewhere.as_uri()}, Capture(data="x")))

    assert end.outcome is Outcome.FAULTED
    assert "may not refer to another document" in end.reason
    assert "$defs" in end.reason


def test_a_program_is_bounded_by_its_limits_and_not_a_second_time(tmp_path: Path) -> None:
    composing = Tool(ToolDeclaration("t"), executor, composes=True)

    assert len(answers_of(tmp_path, composing).stdout) == MUCH


@given(sizes=st.lists(st.integers(1, 40), max_size=8), most=st.integers(0, 60))
def test_the_marker_of_a_cut_stream_fits_the_room_that_is_left_for_it(sizes: list[int], most: int) -> None:
    kept = Kept(most)
    for size in sizes:
        kept.add(b"x" * size)
    kept.total_bytes += 10**15  # however much was dropped

    assert len(kept.bytes()) <= most + MARKER_BYTES


class Text(str):
    """A text that is one."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("stdout", "text", "stdout is str, not bytes"),
        ("stdout", None, "stdout is NoneType, not bytes"),
        ("stdout", bytearray(b"x"), "stdout is bytearray, not bytes"),
        ("stderr", None, "stderr is NoneType, not bytes"),
        ("exit_code", "3", "exit_code is str, not int"),
        ("exit_code", True, "exit_code is bool, not int"),
        ("exit_code", 2**70, "exit_code is 1.18e+21, which no process has"),
        ("outcome", "nonsense", "outcome is str, not Outcome or None"),
        ("usage", 5, "usage is int, not Usage or None"),
        ("reason", b"x", "reason is bytes, not str"),
        ("refusal", "no", "refusal is str, not Refusal or None"),
        ("layers", [], "layers is list, not tuple"),
    ],
)
def test_a_capture_whose_fields_are_not_of_their_types_is_the_tool_s_fault(
    tmp_path: Path, field: str, value: Any, said: str
) -> None:
    async def execute(call: ToolCall, context: Context) -> Capture:
        return Capture(**{field: value})

    end = answers_of(tmp_path, Tool(ToolDeclaration("t"), execute))
    assert (end.outcome, end.exit_code) == (Outcome.FAULTED, 125)
    assert end.reason == (
        f"tool 't' returned a Capture whose {said}. What the call did stands; mend the tool"
    )


def test_a_capture_of_values_of_finer_types_is_one(tmp_path: Path) -> None:
    async def execute(call: ToolCall, context: Context) -> Capture:
        return Capture(stdout=b"x", exit_code=-9, outcome=Outcome.FAILED, reason=Text("why"))

    end = answers_of(tmp_path, Tool(ToolDeclaration("t"), execute))
    assert (end.outcome, end.exit_code, end.reason) == (Outcome.FAILED, -9, "why")
