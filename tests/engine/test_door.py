"""The door, one call at a time: what each gate refuses, what each end is called, what is on disk."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from door_kit import Place, inside, make_place, record_of
from litany_engine.door.callers import Caller
from litany_engine.door.calls import CallEnd
from litany_engine.door.door import Door
from litany_engine.door.execution import Deadlines
from litany_engine.door.gates import ControlFault, Hold
from litany_engine.door.selection import StopError
from litany_runtime.outcome import Outcome
from litany_stubs.words import Refusal


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def invoke(door: Door, *args: Any, clock: Any = None, **kwargs: Any) -> CallEnd:
    async def main() -> CallEnd:
        return await door.invoke(*args, **kwargs)

    return trio.run(main, clock=clock)


def test_a_call_runs_and_leaves_both_halves_of_its_record(place: Place) -> None:
    end = invoke(Door(), "read_file", {"path": "x"}, place.caller(), call_id="toolu_1")
    assert (end.outcome, end.exit_code, end.stdout) == (Outcome.COMPLETED, 0, b"content of x")
    assert end.record == place.root / "steps/a/001/tools/toolu_1"
    assert record_of(end.record, "input.json")["input"] == {"path": "x"}
    assert record_of(end.record)["stdout"] == "content of x"


def test_a_failing_tool_is_an_end_with_its_own_code_and_split_streams(place: Place) -> None:
    end = invoke(Door(), "fail", {}, place.caller())
    assert (end.outcome, end.exit_code, end.stdout, end.stderr) == (
        Outcome.FAILED,
        3,
        b"half",
        b"no such thing\n",
    )


def test_an_executor_that_raises_is_faulted_in_words_without_a_traceback(place: Place) -> None:
    end = invoke(Door(), "crash", {}, place.caller())
    assert (end.outcome, end.exit_code) == (Outcome.FAULTED, 125)
    assert "ValueError: a bug" in end.reason
    assert "Traceback" not in end.reason


REFUSALS = [
    # gate, name, input, inside a program, words that must be there
    ("grant", "nothing", {}, False, ["'nothing'", "read_file"]),
    ("grant", "read_fil", {}, False, ["did you mean 'read_file'"]),
    ("grant", "fail", {}, False, ["'fail'", "worker", "Granted: python, read_file, relay"]),
    ("depth", "python", {"name": "read_file"}, True, ["'python'", "Granted: read_file, relay"]),
    (
        "schema",
        "read_file",
        {},
        False,
        ["'path' is missing", "path (string, required)", "limit (integer, opt"],
    ),
    ("schema", "read_file", {"path": "x", "limt": 1}, True, ["'limt' is not known", "did you mean 'limit'"]),
    ("schema", "read_file", {"path": 5}, False, ["'path'", "string"]),
    ("schema", "read_file", {"path": "x", "limit": 0}, False, ["'limit'", "minimum of 1"]),
    ("schema", "read_file", [], False, ["object"]),
    ("schema", "read_file", {"path": math.nan}, False, ["input.path", "nan"]),
    ("schema", "read_file", {"path": {1: 2}}, False, ["input.path", "key"]),
]


@pytest.mark.parametrize(("gate", "name", "arguments", "inner", "words"), REFUSALS)
def test_each_gate_refuses_by_name_with_the_legal_shape_and_a_record(
    place: Place, gate: str, name: str, arguments: Any, inner: bool, words: list[str]
) -> None:
    caller = place.caller(["read_file", "python", "relay"])
    end = invoke(Door(), name, arguments, inside(caller) if inner else caller)
    assert (end.outcome, end.exit_code) == (Outcome.REFUSED, 126)
    assert end.refusal is not None
    assert end.refusal.gate == gate
    for word in words:
        assert word in end.refusal.reason
    assert record_of(end.record)["refusal"]["gate"] == gate
    assert place.kept.calls == []


def test_an_absent_grant_is_every_tool_and_an_empty_one_is_none(place: Place) -> None:
    assert invoke(Door(), "fail", {}, place.caller(None)).outcome is Outcome.FAILED
    end = invoke(Door(), "fail", {}, place.caller([]))
    assert end.refusal is not None
    assert "granted no tool" in end.refusal.reason


@pytest.mark.parametrize(
    "offered", ["", ".", "..", "a/b", "T-0", "T-01", "T", "T-x", "U-1", "T-1/..", "T-1\n", "T-1-1", "x" * 300]
)
def test_an_id_offered_inside_a_call_must_be_its_own_and_well_formed(place: Place, offered: str) -> None:
    end = invoke(Door(), "read_file", {"path": "x"}, inside(place.caller()), call_id=offered)
    assert end.refusal is not None
    assert end.refusal.gate == "id"
    assert end.record is None
    assert place.kept.calls == []
    assert list((place.root / "steps/a/001/tools").iterdir()) == []


def test_a_taken_id_is_refused_and_its_record_is_not_written_over(place: Place) -> None:
    caller = inside(place.caller())
    first = invoke(Door(), "read_file", {"path": "x"}, caller, call_id="T-7")
    again = invoke(Door(), "read_file", {"path": "y"}, caller, call_id="T-7")
    assert again.refusal is not None
    assert again.refusal.gate == "id"
    assert record_of(first.record)["stdout"] == "content of x"


def test_inner_ids_count_from_one_without_gaps_refused_calls_too(place: Place) -> None:
    async def main() -> list[str]:
        caller, door, ids = inside(place.caller()), Door(), []

        async def one(name: str) -> None:
            ids.append((await door.invoke(name, {"path": "x"}, caller)).call.id)

        async with trio.open_nursery() as nursery:
            for k in range(50):
                nursery.start_soon(one, "read_file" if k % 2 else "nothing")
        return ids

    assert sorted(trio.run(main)) == sorted(f"T-{k}" for k in range(1, 51))


def test_changing_the_arguments_after_the_call_changes_nothing(place: Place) -> None:
    async def main() -> CallEnd:
        arguments: dict[str, Any] = {"deadline": 0.01, "list": [1, 2]}

        async def change() -> None:
            arguments["list"].append(3)
            arguments["deadline"] = 1000

        async with trio.open_nursery() as nursery:
            nursery.start_soon(change)
            return await Door().invoke("wait", arguments, place.caller())

    end = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0.05))
    assert record_of(end.record, "input.json")["input"] == {"deadline": 0.01, "list": [1, 2]}
    assert place.kept.calls[0].input == {"deadline": 0.01, "list": [1, 2]}


# -- control --------------------------------------------------------------------------------------------------


def controlled(verdict: Any) -> tuple[Door, list[str]]:
    asked: list[str] = []

    async def consult(call: Any, caller: Caller) -> Any:
        asked.append(call.id)
        if isinstance(verdict, Exception):
            raise verdict
        return verdict

    return Door(consult=consult), asked


def test_a_control_that_passes_is_asked_once_under_the_id_of_the_record(place: Place) -> None:
    door, asked = controlled(None)
    end = invoke(door, "read_file", {"path": "x"}, inside(place.caller()))
    assert end.outcome is Outcome.COMPLETED
    assert asked == ["T-1"]


def test_a_control_that_refuses_is_the_gate_named_in_the_record(place: Place) -> None:
    door, _ = controlled(Refusal("control", "'read_file' is refused by the control: not today"))
    end = invoke(door, "read_file", {"path": "x"}, place.caller())
    assert record_of(end.record)["refusal"] == {
        "gate": "control",
        "reason": "'read_file' is refused by the control: not today",
    }
    assert place.kept.calls == []


@pytest.mark.parametrize("inner", [False, True])
def test_a_hold_is_a_refusal_that_says_so(place: Place, inner: bool) -> None:
    door, _ = controlled(Hold("ask Ann"))
    caller = place.caller()
    end = invoke(door, "read_file", {"path": "x"}, inside(caller) if inner else caller)
    assert end.refusal is not None
    assert end.refusal.gate == "control"
    assert "held" in end.refusal.reason
    assert "ask Ann" in end.refusal.reason
    assert place.kept.calls == []


def test_a_control_that_faults_lets_nothing_run(place: Place) -> None:
    door, _ = controlled(ControlFault("control /x/judge exited 3"))
    end = invoke(door, "read_file", {"path": "x"}, place.caller())
    assert (end.outcome, end.exit_code) == (Outcome.FAULTED, 125)
    assert "/x/judge exited 3" in end.reason
    assert place.kept.calls == []
    assert record_of(end.record)["outcome"] == "faulted"


def test_a_control_is_not_asked_about_a_call_that_an_earlier_gate_refuses(place: Place) -> None:
    door, asked = controlled(None)
    invoke(door, "wait", {}, place.caller(["read_file"]))
    invoke(door, "read_file", {}, place.caller(["read_file"]))
    assert asked == []


# -- authority ------------------------------------------------------------------------------------------------


def test_the_right_to_make_calls_ends_with_the_call(place: Place) -> None:
    async def main() -> tuple[CallEnd, CallEnd]:
        door = Door()
        outer = await door.invoke("relay", {"name": "fail"}, place.caller(), call_id="T")
        kept = place.kept.contexts[0].invoke
        assert kept is not None
        return outer, await kept("fail", {})

    outer, late = trio.run(main)
    assert [each.id for each in outer.calls] == ["T-1"]
    assert late.refusal is not None
    assert late.refusal.gate == "authority"
    assert [call.id for call in place.kept.calls] == ["T", "T-1"]
    assert record_of(late.record)["outcome"] == "refused"


def test_an_inner_call_of_a_tool_goes_through_the_same_gates(place: Place) -> None:
    end = invoke(Door(), "relay", {"name": "python"}, place.caller(), call_id="T")
    assert end.data == {"outcome": "refused", "id": "T-1"}
    assert [(each.name, each.outcome) for each in end.calls] == [("python", Outcome.REFUSED)]


# -- deadlines and stops --------------------------------------------------------------------------------------


def timed(
    place: Place, deadlines: Deadlines, asked: float | None, issuer: float = math.inf
) -> tuple[CallEnd, float]:
    async def main() -> tuple[CallEnd, float]:
        began = trio.current_time()
        arguments = {} if asked is None else {"deadline": asked}
        end = await Door(deadlines).invoke("wait", arguments, place.caller(), deadline=began + issuer)
        return end, trio.current_time() - began

    return trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0.05))


@pytest.mark.parametrize(
    ("default", "maximum", "asked", "issuer", "effective"),
    [
        (10, 100, None, math.inf, 10),
        (10, 100, 50, math.inf, 50),
        (10, 100, 500, math.inf, 100),
        (10, 100, 5, 3, 3),
        (10, 100, None, 60, 60),
        (math.inf, 7, None, math.inf, 7),
    ],
)
def test_the_least_of_all_deadlines_counts(
    place: Place, default: float, maximum: float, asked: float | None, issuer: float, effective: float
) -> None:
    end, took = timed(place, Deadlines(default, maximum), asked, issuer)
    assert (end.outcome, end.exit_code) == (Outcome.TIMED_OUT, 124)
    assert took == pytest.approx(effective)
    assert record_of(end.record)["outcome"] == "timed_out"


@pytest.mark.parametrize(
    ("maximum", "role_s", "asked", "effective"), [(100, 7, 50, 7), (5, 7, 50, 5), (100, 70, 50, 50)]
)
def test_a_role_s_deadline_is_one_of_them(
    place: Place, maximum: float, role_s: float, asked: float, effective: float
) -> None:
    async def main() -> float:
        began = trio.current_time()
        caller = replace(place.caller(), deadline_s=role_s)
        await Door(Deadlines(10, maximum)).invoke("wait", {"deadline": asked}, caller)
        return trio.current_time() - began

    took = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0.05))
    assert took == pytest.approx(effective)


def test_time_that_a_control_takes_counts_against_the_deadline(place: Place) -> None:
    async def consult(call: Any, caller: Caller) -> None:
        await trio.sleep(6)

    async def main() -> tuple[CallEnd, float]:
        began = trio.current_time()
        end = await Door(consult=consult).invoke("wait", {"deadline": 10}, place.caller())
        return end, trio.current_time() - began

    end, took = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0.05))
    assert end.outcome is Outcome.TIMED_OUT
    assert took == pytest.approx(10)


def test_a_control_that_never_answers_is_ended_by_the_deadline(place: Place) -> None:
    async def consult(call: Any, caller: Caller) -> None:
        await trio.sleep_forever()

    async def main() -> CallEnd:
        return await Door(consult=consult).invoke(
            "fail", {}, place.caller(), deadline=trio.current_time() + 5
        )

    end = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0.05))
    assert end.outcome is Outcome.TIMED_OUT
    assert place.kept.calls == []


def test_an_inner_call_does_not_outlive_its_parents_deadline(place: Place) -> None:
    async def main() -> tuple[CallEnd, float]:
        began = trio.current_time()
        asked = {"name": "wait", "input": {"deadline": 100}}
        end = await Door().invoke("relay", asked, place.caller(), call_id="T", deadline=began + 2)
        return end, trio.current_time() - began

    end, took = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0.05))
    assert took == pytest.approx(2)
    assert (end.outcome, end.calls[0].outcome) == (Outcome.TIMED_OUT, Outcome.TIMED_OUT)
    inner = record_of(place.root / "steps/a/001/tools/T-1")
    assert (inner["outcome"], inner["reason"]) == ("timed_out", "the deadline passed")
    assert place.kept.contexts[1].deadline == place.kept.contexts[0].deadline


def test_an_inner_call_may_have_a_shorter_deadline_of_its_own(place: Place) -> None:
    async def main() -> CallEnd:
        asked = {"name": "wait", "input": {"deadline": 1}}
        return await Door().invoke("relay", asked, place.caller(), deadline=trio.current_time() + 50)

    end = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0.05))
    assert end.outcome is Outcome.COMPLETED
    assert end.calls[0].outcome is Outcome.TIMED_OUT


def test_a_disk_that_takes_no_record_is_an_end_and_not_an_exception(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from litany_engine.records.records import RecordError, Step

    caller = place.caller()

    def full(*_: object) -> None:
        raise RecordError("cannot make the record: no space left on device")

    monkeypatch.setattr(Step, "mint_outer", full)
    end = invoke(Door(), "read_file", {"path": "x"}, caller)
    assert end.outcome is Outcome.FAULTED
    assert "no space left" in end.reason
    assert place.kept.calls == []


def stopping(
    place: Place, name: str, arguments: Any, selector: str | None
) -> tuple[CallEnd | None, tuple[str, ...]]:
    ends: list[CallEnd] = []

    async def main() -> tuple[str, ...]:
        door = Door()

        async def run() -> None:
            ends.append(await door.invoke(name, arguments, place.caller(agent="a-1"), call_id="T"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await trio.testing.wait_all_tasks_blocked()
            stopped = await door.stop(selector)
            nursery.cancel_scope.cancel()
        return stopped

    stopped = trio.run(main)
    return (ends[0] if ends else None), stopped


@pytest.mark.parametrize("selector", [None, "a-1", "a", "T", "steps/a-1/001/tools/T"])
def test_a_stop_names_everything_or_an_agent_or_its_forebear_or_a_call(
    place: Place, selector: str | None
) -> None:
    end, stopped = stopping(place, "wait", {}, selector)
    assert stopped == ("T",)
    assert end is not None
    assert (end.outcome, end.exit_code) == (Outcome.STOPPED, 143)
    assert record_of(end.record)["outcome"] == "stopped"
    assert record_of(end.record)["reason"] == "the stop flag was raised"


@pytest.mark.parametrize(("deadline", "stop_at", "outcome"), [(5, 7, "timed_out"), (7, 5, "stopped")])
def test_the_first_cause_of_an_end_is_the_one_recorded(
    place: Place, deadline: float, stop_at: float, outcome: str
) -> None:
    async def main() -> CallEnd:
        door, began, ends = Door(), trio.current_time(), []

        async def run() -> None:
            ends.append(await door.invoke("clean_up", {}, place.caller(), deadline=began + deadline))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await trio.sleep_until(began + stop_at)
            await door.stop()
        assert trio.current_time() - began == pytest.approx(min(deadline, stop_at) + 10)
        return ends[0]

    end = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0.05))
    assert (end.outcome, end.stdout) == (outcome, b"cleaned")


@pytest.mark.parametrize("selector", ["b", "a-", "a-11", "T-1", "steps/a-1/002/tools/T"])
def test_a_stop_of_something_else_leaves_a_call_alone(place: Place, selector: str) -> None:
    _, stopped = stopping(place, "wait", {}, selector)
    assert stopped == ()


def test_an_id_that_two_calls_have_stops_neither_and_is_told_with_their_records(place: Place) -> None:
    async def main() -> tuple[str, int, tuple[str, ...], int]:
        door = Door()
        async with trio.open_nursery() as nursery:
            callers = [place.caller(), place.caller(agent="b")]
            for caller in callers:
                nursery.start_soon(partial(door.invoke, "wait", {}, caller, call_id="T"))
            await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(StopError) as caught:
                await door.stop("T")
            after = len(door.running())
            stopped = await door.stop("steps/b/001/tools/T")
            left = len(door.running())
            nursery.cancel_scope.cancel()
        return str(caught.value), after, stopped, left

    told, after, stopped, left = trio.run(main)
    assert "give the record of the one you mean: " in told
    assert all(f"steps/{agent}/001/tools/T" in told for agent in "ab")
    assert (after, stopped, left) == (2, ("T",), 1)


def test_output_handed_over_at_a_stop_is_kept(place: Place) -> None:
    end, _ = stopping(place, "wait_politely", {}, None)
    assert end is not None
    assert (end.outcome, end.exit_code, end.stdout) == (Outcome.STOPPED, 143, b"so far")


def test_stopping_an_outer_call_ends_its_inner_calls_first_and_records_them(place: Place) -> None:
    end, stopped = stopping(place, "relay", {"name": "wait"}, None)
    assert stopped == ("T",)
    assert end is not None
    assert end.outcome is Outcome.STOPPED
    inner = record_of(place.root / "steps/a-1/001/tools/T-1")
    assert inner["outcome"] == "stopped"
    assert [each.outcome for each in end.calls] == [Outcome.STOPPED]


def test_stopping_one_inner_call_is_an_answer_to_the_program(place: Place) -> None:
    end, stopped = stopping(place, "relay", {"name": "wait"}, "T-1")
    assert stopped == ("T-1",)
    assert end is not None
    assert end.outcome is Outcome.COMPLETED
    assert end.data == {"outcome": "stopped", "id": "T-1"}


def test_a_cancelled_issuer_leaves_a_whole_record(place: Place) -> None:
    async def main() -> None:
        with trio.move_on_after(1):
            await Door().invoke("wait", {}, place.caller(), call_id="T")

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0.05))
    assert record_of(place.root / "steps/a/001/tools/T")["outcome"] == "stopped"


# -- records that cannot be written, watchers ---------------------------------------------------------------


def test_a_call_whose_input_cannot_be_recorded_does_not_run(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = place.caller()
    door = Door()

    async def consult(call: Any, caller: Caller) -> None:
        raise AssertionError("no gate is asked about a call without a record")

    from litany_engine.records.records import Record, RecordError

    def full(*_: object) -> None:
        raise RecordError("no space left on device")

    monkeypatch.setattr(Record, "write_input", full)
    end = invoke(door, "read_file", {"path": "x"}, caller)
    assert end.outcome is Outcome.FAULTED
    assert "no space left" in end.reason
    assert place.kept.calls == []


def test_an_answer_whose_record_cannot_be_written_is_not_given(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from litany_engine.records.records import Record, RecordError

    def full(*_: object) -> None:
        raise RecordError("no space left on device")

    monkeypatch.setattr(Record, "write_output", full)
    end = invoke(Door(), "read_file", {"path": "x"}, place.caller())
    assert end.outcome is Outcome.FAULTED
    assert "no space left" in end.reason
    assert "stands" in end.reason
    assert end.stdout == b""


def test_a_watcher_sees_one_start_and_one_end_of_every_call(place: Place) -> None:
    door, seen = Door(), []
    door.watch(lambda event: seen.append((type(event).__name__, event.call.id)))
    invoke(door, "relay", {"name": "nothing"}, place.caller(), call_id="T")
    assert seen == [("CallStarted", "T"), ("CallStarted", "T-1"), ("CallEnd", "T-1"), ("CallEnd", "T")]


def test_a_watcher_that_raises_is_dropped_and_the_call_goes_on(place: Place) -> None:
    door, told = Door(), []

    def broken(event: object) -> None:
        told.append(event)
        raise RuntimeError("a watcher's bug")

    door.watch(broken)
    assert invoke(door, "read_file", {"path": "x"}, place.caller()).outcome is Outcome.COMPLETED
    assert len(told) == 1


def test_a_stop_of_several_calls_comes_back_in_whatever_order_they_end(place: Place) -> None:
    async def main() -> tuple[str, ...]:
        door = Door()
        async with trio.open_nursery() as nursery:
            for number in range(5):
                name = "wait" if number % 2 else "wait_politely"
                nursery.start_soon(door.invoke, name, {}, place.caller())
            await trio.testing.wait_all_tasks_blocked()
            with trio.fail_after(10):
                return await door.stop()
        raise AssertionError

    assert trio.run(main) == ("call_1",) * 5
