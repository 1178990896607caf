"""What an attacker would try at the door: ids, authority, recursion, floods, and a control that lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from door_kit import Place, inside, make_place, record_of
from litany_engine import init_workspace, open_workspace, tool
from litany_engine.door.calls import CallEnd, Capture, Context, Tool, ToolCall
from litany_engine.door.door import MAX_RECORDED_REFUSALS, Door
from litany_engine.door.gates import ControlFault
from litany_engine.records.records import RecordError
from litany_engine.tools.toolset import toolset
from litany_engine.workspaces.workspace import Workspace
from litany_runtime.outcome import Outcome
from litany_stubs.words import ToolDeclaration


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def invoke(door: Door, *args: Any, **kwargs: Any) -> CallEnd:
    async def main() -> CallEnd:
        return await door.invoke(*args, **kwargs)

    return trio.run(main)


def gate_of(end: CallEnd) -> str:
    return end.refusal.gate if end.refusal else ""


# -- ids and names ------------------------------------------------------------------------------------------------


def test_of_two_calls_under_one_id_one_runs(place: Place) -> None:
    async def main() -> list[str]:
        door, caller, found = Door(), place.caller(), []

        async def one() -> None:
            found.append(gate_of(await door.invoke("read_file", {"path": "x"}, caller, call_id="T")))

        async with trio.open_nursery() as nursery:
            for _ in range(20):
                nursery.start_soon(one)
        return found

    assert sorted(trio.run(main)) == [""] + ["id"] * 19
    assert len(place.kept.calls) == 1


def test_the_record_of_a_call_in_flight_cannot_be_taken_over(place: Place) -> None:
    async def main() -> CallEnd:
        door, caller = Door(), place.caller()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: door.invoke("wait", {}, caller, call_id="T"))
            await trio.testing.wait_all_tasks_blocked()
            end = await door.invoke("read_file", {"path": "x"}, caller, call_id="T")
            await door.stop()
        return end

    assert gate_of(trio.run(main)) == "id"
    assert record_of(place.root / "steps/a/001/tools/T", "input.json")["name"] == "wait"


@settings(deadline=None)
@given(
    st.text(max_size=30)
    | st.sampled_from(["../T-1", "T-1/x", "/etc/x", "..", "T-1\0", "T--1", "T-1 ", "t-1", "T-１"])
)
def test_no_offered_id_leaves_anything_outside_of_its_own_folder(
    tmp_path_factory: pytest.TempPathFactory, offered: str
) -> None:
    place = make_place(tmp_path_factory.mktemp("w"))
    end = invoke(Door(), "read_file", {"path": "x"}, inside(place.caller()), call_id=offered)
    left = {str(p.relative_to(place.root)) for p in place.root.rglob("*") if p.is_file()}
    if end.outcome is Outcome.REFUSED:
        assert left == set()
    else:
        assert left == {f"steps/a/001/tools/{offered}/{half}.json" for half in ("input", "output")}


@settings(deadline=None)
@given(
    st.text(max_size=50)
    | st.sampled_from(["../read_file", "read_file\0", "READ_FILE", "read_file ", "__class__", "x" * 10_000])
)
def test_a_name_is_a_key_and_nothing_else(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    place = make_place(tmp_path_factory.mktemp("w"))
    end = invoke(Door(), name, {"path": "x"}, place.caller(["read_file"]))
    assert gate_of(end) == ("" if name == "read_file" else "grant")
    if end.refusal:
        assert len(end.refusal.reason) < 600


# -- authority ----------------------------------------------------------------------------------------------------


def test_after_a_call_has_ended_nothing_is_done_in_its_name_however_it_ended(place: Place) -> None:
    kept: list[Context] = []

    async def keep(call: ToolCall, context: Context) -> Capture:
        kept.append(context)
        if call.input.get("how") == "raise":
            raise ValueError
        if call.input.get("how") == "wait":
            await trio.sleep_forever()
        return Capture()

    place.toolset = toolset([*place.toolset.tools.values(), Tool(ToolDeclaration("keep"), keep)])

    async def main() -> list[str]:
        door, found = Door(), []
        for how in ("return", "raise", "wait"):
            await door.invoke("keep", {"how": how}, place.caller(), deadline=trio.current_time() + 0.05)
            invoke = kept[-1].invoke
            assert invoke is not None
            found.append(gate_of(await invoke("read_file", {"path": "x"})))
        return found

    assert trio.run(main) == ["authority"] * 3
    assert place.kept.calls == []


@pytest.mark.parametrize("how", ["return", "raise"])
def test_calls_that_a_call_leaves_in_flight_end_recorded_before_it_does(place: Place, how: str) -> None:
    async def main() -> list[tuple[str, str, str]]:
        async with trio.open_nursery() as elsewhere:

            async def leave(call: ToolCall, context: Context) -> Capture:
                assert context.invoke is not None
                for name in ("wait", "wait_politely"):
                    elsewhere.start_soon(context.invoke, name, {})
                await trio.testing.wait_all_tasks_blocked()
                if how == "raise":
                    raise ValueError
                return Capture()

            place.toolset = toolset([*place.toolset.tools.values(), Tool(ToolDeclaration("leave"), leave)])
            door, ends = Door(), []
            door.watch(lambda event: ends.append(event) if isinstance(event, CallEnd) else None)
            await door.invoke("leave", {}, place.caller(), call_id="T")
            assert door.running() == ()
        return [(each.call.id, str(each.outcome), each.reason) for each in ends]

    *inner, outer = trio.run(main)
    why = "call 'T', which made it, ended first"
    assert sorted(inner) == [("T-1", "stopped", why), ("T-2", "stopped", why)]
    assert outer[0] == "T"
    records = (record_of(place.root / f"steps/a/001/tools/T-{k}") for k in (1, 2))
    assert sorted(each["stdout"] for each in records) == ["", "so far"]


def test_a_dead_calls_refusals_tell_nothing_of_what_could_be_called(place: Place) -> None:
    end = invoke(Door(), "nothing", {}, inside(place.caller(), lives=False))
    assert end.refusal is not None
    assert "read_file" not in end.refusal.reason


def test_after_its_step_is_closed_a_dead_call_is_refused_all_the_same(place: Place) -> None:
    caller = inside(place.caller(), lives=False)
    caller.step.close()
    end = invoke(Door(), "read_file", {"path": "x"}, caller)
    assert (end.outcome, gate_of(end), end.record) == (Outcome.REFUSED, "authority", None)
    living = inside(caller)
    assert invoke(Door(), "read_file", {"path": "x"}, living).outcome is Outcome.FAULTED
    assert place.kept.calls == []


# -- recursion ----------------------------------------------------------------------------------------------------


def test_a_tool_that_calls_itself_ends_with_its_deadline_and_leaves_whole_records(place: Place) -> None:
    async def again(call: ToolCall, context: Context) -> Capture:
        assert context.invoke is not None
        end = await context.invoke("again", {})
        return Capture(exit_code=end.exit_code, outcome=None)

    place.toolset = toolset([Tool(ToolDeclaration("again"), again)])

    async def main() -> CallEnd:
        return await Door().invoke("again", {}, place.caller(), deadline=trio.current_time() + 5)

    end = trio.run(main)
    assert end.outcome in {Outcome.FAILED, Outcome.TIMED_OUT}
    records = list((place.root / "steps/a/001/tools").iterdir())
    # An id has at most 200 characters, so the descent has an end before the stack has.
    assert 50 < len(records) < 200
    assert all((record / "output.json").exists() for record in records)


@pytest.mark.parametrize("name", ["python", "relay"])
def test_a_composing_tool_is_out_of_reach_through_any_number_of_calls(place: Place, name: str) -> None:
    asked: Any = {"name": "python", "input": {"name": "fail"}}
    for _ in range(3):
        asked = {"name": "relay", "input": asked}
    invoke(Door(), "relay", asked, place.caller(), call_id="T")
    assert [call.name for call in place.kept.calls] == ["relay"] * 4
    deepest = record_of(place.root / "steps/a/001/tools/T-1-1-1-1")
    assert deepest["refusal"]["gate"] == "depth"


# -- floods -------------------------------------------------------------------------------------------------------


def test_a_hundred_thousand_refused_calls_take_bounded_time_and_disk(place: Place) -> None:
    async def flood(call: ToolCall, context: Context) -> Capture:
        assert context.invoke is not None
        for _ in range(100_000):
            end = await context.invoke("nothing", {"x": "y" * 1000})
        assert end.refusal is not None
        return Capture(stdout=end.refusal.reason.encode())

    place.toolset = toolset([Tool(ToolDeclaration("flood"), flood)])
    told: list[str] = []

    async def main() -> CallEnd:
        door = Door()
        door.watch(lambda event: told.append(event.call.id))
        return await door.invoke("flood", {}, place.caller(), call_id="T")

    end = trio.run(main)
    # What is not told, recorded or looked at costs next to nothing: so much for the time.
    assert len(told) == 2 * (MAX_RECORDED_REFUSALS + 1)
    size = sum(each.stat().st_size for each in place.root.rglob("*") if each.is_file())
    assert size < 4 * 1024 * (MAX_RECORDED_REFUSALS + 1)
    records = list((place.root / "steps/a/001/tools").iterdir())
    assert len(records) == MAX_RECORDED_REFUSALS + 1
    assert record_of(end.record, "unrecorded.json") == {"refused": 99_000}
    assert b"End the program" in end.stdout
    assert len(end.calls) == MAX_RECORDED_REFUSALS


def test_a_flood_of_one_call_is_not_anothers(place: Place) -> None:
    door, caller = Door(), place.caller()
    flooded = inside(caller, "T", refused=MAX_RECORDED_REFUSALS)
    assert invoke(door, "read_file", {"path": "x"}, flooded).record is None
    assert invoke(door, "read_file", {"path": "x"}, inside(caller, "U")).outcome is Outcome.COMPLETED


# -- a control that lies --------------------------------------------------------------------------------------------

CONTROLS = {
    "nothing": "exit 0",
    "garbage": "echo '\\377 garbage'",
    "a yes": "echo yes",
    "two answers": 'echo \'{"verdict": "pass"}{"verdict": "pass"}\'',
    "a key twice": 'echo \'{"verdict": "refuse", "verdict": "pass"}\'',
    "another input": 'echo \'{"verdict": "pass", "input": {}}\'',
    "pass with an exit code": 'echo \'{"verdict": "pass"}\'; exit 1',
    "pass and death": 'echo \'{"verdict": "pass"}\'; kill -9 $$',
    "pass without end": 'echo \'{"verdict": "pass"}\'; sleep 60',
    "a flood": "yes",
    "case": 'echo \'{"verdict": "Pass"}\'',
}


@pytest.mark.parametrize("script", CONTROLS.values(), ids=CONTROLS.keys())
def test_a_control_that_gives_no_verdict_lets_nothing_run(tmp_path: Path, script: str) -> None:
    ran = []

    @tool
    def act() -> None:
        ran.append(1)

    workspace = init_workspace(tmp_path / "w", agent="a")
    (workspace.root / "control.sh").write_text(f"#!/bin/sh\ncat > /dev/null\n{script}\n")
    (workspace.root / "control.sh").chmod(0o755)
    (workspace.root / "litany.toml").write_text('[control]\ncommand = ["./control.sh"]\ndeadline = "1s"\n')

    async def main() -> CallEnd:
        async with open_workspace(Workspace(workspace.root), tools=[act]) as ws:
            return await ws.invoke("act", {})

    end = trio.run(main)
    assert (end.outcome, ran) == (Outcome.FAULTED, [])
    assert "control" in end.reason


def test_a_control_that_answers_twice_or_late_is_heard_once(place: Place) -> None:
    answers = iter([ControlFault("late"), None])

    async def consult(*_: object) -> None:
        answer = next(answers)
        if answer is not None:
            raise answer

    door = Door(consult=consult)
    assert invoke(door, "read_file", {"path": "x"}, place.caller()).outcome is Outcome.FAULTED
    assert invoke(door, "read_file", {"path": "x"}, place.caller()).outcome is Outcome.COMPLETED
    assert len(place.kept.calls) == 1


def test_a_record_that_ended_is_not_written_by_a_late_answer(place: Place) -> None:
    end = invoke(Door(), "read_file", {"path": "x"}, place.caller(), call_id="T")
    step = place.records.current_step("a")
    with pytest.raises(Exception, match="taken"):
        step.claim("T")
    assert end.record is not None
    assert record_of(end.record)["stdout"] == "content of x"
    assert issubclass(RecordError, RuntimeError)
