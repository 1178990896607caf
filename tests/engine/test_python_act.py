"""The python act against a runtime in memory: what it writes, relays and answers, and how it stops."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from door_kit import Place, make_place, record_of
from litany_engine.door.calls import CallEnd, ToolCall
from litany_engine.door.door import Door
from litany_engine.door.execution import Deadlines
from litany_engine.records.envelope import whole_envelope
from litany_engine.tools.python_act import Seat, python_tool, reply_of, requested_deadline_s
from litany_engine.tools.source import SourceError, decode_source, encode_source, read_source
from litany_engine.tools.toolset import toolset
from litany_runtime.confine import ConfinementError
from litany_runtime.deadline import Deadline
from litany_runtime.limits import Limits
from litany_runtime.outcome import EXIT_CODES, Outcome, Usage
from litany_runtime.program import FilePolicy, InnerCall, Program, ProgramEnd
from litany_stubs.words import Refusal, Reply

Body = Callable[["Run"], Awaitable[ProgramEnd | None]]


class Run:
    """One run as the act asked for it."""

    def __init__(self, program: Program, limits: Limits, **how: Any) -> None:
        self.program = program
        self.limits = limits
        self.answer: Callable[[InnerCall], Awaitable[Reply]] = how["answer"]
        self.deadline: Deadline = how["deadline"]
        self.stop: trio.Event = how["stop"]
        self.output = how["output"]


class Runtime:
    """A supervisor whose programs are Python functions of the test."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.runs: list[Run] = []

    async def run(self, program: Program, limits: Limits, **how: Any) -> ProgramEnd:
        run = Run(program, limits, **how)
        self.runs.append(run)
        return await self.body(run) or ProgramEnd(Outcome.COMPLETED, 0, b"printed", usage=Usage(0.5, 1024, 1))


class Bench:
    """A door with a `python` whose runtime is in memory."""

    def __init__(self, place: Place, body: Body, deadlines: Deadlines | None = None) -> None:
        self.place = place
        self.runtime = Runtime(body)
        self.door = Door(deadlines)
        self.seat = Seat("STUBS = 1\n", place.root / "agents" / "a", FilePolicy.READ, Limits(calls=7))

        async def supervisor() -> Any:
            return self.runtime

        others = [tool for name, tool in place.toolset.tools.items() if name != "python"]
        place.toolset = toolset([*others, python_tool(lambda agent: self.seat, supervisor)])

    async def python(self, program: str, **more: Any) -> CallEnd:
        arguments = {"program": program, **more}
        return await self.door.invoke("python", arguments, self.place.caller(), call_id="T")


async def nothing(run: Run) -> None:
    return None


def python(bench: Bench, program: str, **more: Any) -> CallEnd:
    async def main() -> CallEnd:
        return await bench.python(program, **more)

    return trio.run(main)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def test_what_it_ran_and_could_call_is_in_the_record_before_the_child_starts(place: Place) -> None:
    async def look(run: Run) -> None:
        record = place.root / "steps/a/001/tools/T"
        assert (record / "program.py").read_text() == "print('é')"
        assert (record / "litany_tools.py").read_text() == "STUBS = 1\n"
        assert not (record / "output.json").exists()

    bench = Bench(place, look)
    assert python(bench, "print('é')").outcome is Outcome.COMPLETED
    (run,) = bench.runtime.runs
    assert run.program == Program(
        "print('é')".encode(), "STUBS = 1\n", place.root / "agents" / "a", FilePolicy.READ
    )
    assert run.limits.calls == 7


def test_the_end_of_the_program_is_the_end_of_the_call(place: Place) -> None:
    async def raise_something(run: Run) -> ProgramEnd:
        return ProgramEnd(Outcome.FAILED, 1, b"before\n", b"Traceback\n", usage=Usage(1.5, 2048, 0))

    end = python(Bench(place, raise_something), "x")
    assert (end.outcome, end.exit_code, end.stdout, end.stderr) == (
        Outcome.FAILED,
        1,
        b"before\n",
        b"Traceback\n",
    )
    assert record_of(end.record)["usage"]["peak_memory_bytes"] == 2048


def test_a_kill_says_in_words_what_ended_the_program(place: Place) -> None:
    async def be_killed(run: Run) -> ProgramEnd:
        return ProgramEnd(Outcome.KILLED, 137, reason="memory limit 256 MiB")

    end = python(Bench(place, be_killed), "x")
    assert (end.outcome, end.exit_code, end.reason) == (Outcome.KILLED, 137, "memory limit 256 MiB")


def test_inner_calls_are_answered_through_the_door_with_split_streams(place: Place) -> None:
    replies: list[Reply] = []

    async def call(run: Run) -> None:
        replies.append(await run.answer(InnerCall(1, "read_file", {"path": "x"})))
        replies.append(await run.answer(InnerCall(2, "fail", {})))
        replies.append(await run.answer(InnerCall(3, "python", {"program": ""})))
        replies.append(await run.answer(InnerCall(4, "crash", {})))

    end = python(Bench(place, call), "x")
    assert all(each.duration_s > each.waited_s >= 0 for each in replies)
    read, failed, refused, crashed = (replace(each, duration_s=0.0, waited_s=0.0) for each in replies)
    assert read == Reply("completed", 0, b"content of x")
    assert failed == Reply("failed", 3, b"half", b"no such thing\n")
    assert refused.refusal is not None
    assert (refused.outcome, refused.exit_code, refused.refusal.gate) == ("refused", 126, "depth")
    assert crashed.outcome == "faulted"
    assert b"ValueError: a bug" in crashed.stderr
    assert [(each.id, str(each.outcome)) for each in end.calls] == [
        ("T-1", "completed"),
        ("T-2", "failed"),
        ("T-3", "refused"),
        ("T-4", "faulted"),
    ]
    for each in end.calls:
        assert record_of(place.root / "steps/a/001/tools" / each.id)["outcome"] == each.outcome


def test_a_layer_that_cannot_be_had_is_a_fault_that_says_so(place: Place) -> None:
    async def refuse(run: Run) -> None:
        raise ConfinementError("namespaces", "forbidden here", "allow them")

    end = python(Bench(place, refuse), "x")
    assert (end.outcome, end.exit_code) == (Outcome.FAULTED, 125)
    assert "namespaces" in end.reason
    assert "allow them" in end.reason


@pytest.mark.parametrize(
    ("how", "outcome"),
    [("stop", Outcome.STOPPED), ("deadline", Outcome.TIMED_OUT), ("cancel", Outcome.STOPPED)],
)
def test_a_program_is_stopped_and_never_cancelled_so_its_output_survives(
    place: Place, how: str, outcome: Outcome
) -> None:
    async def print_until_stopped(run: Run) -> ProgramEnd:
        with trio.fail_after(1000):  # of the mocked clock: nobody else may cancel this
            await run.stop.wait()
        await trio.sleep(0.1)  # the cascade takes its time, and is not cut short
        return ProgramEnd(Outcome.STOPPED, 143, b"so far")

    async def main() -> Any:
        bench = Bench(place, print_until_stopped)
        with trio.move_on_after(5 if how == "cancel" else 100):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(
                    lambda: bench.python("x", **({"deadline": 5} if how == "deadline" else {}))
                )
                if how == "stop":
                    await trio.testing.wait_all_tasks_blocked()
                    await bench.door.stop()
        return record_of(place.root / "steps/a/001/tools/T")

    record = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0.05))
    assert (record["outcome"], record["exit_code"], record["stdout"]) == (
        outcome,
        EXIT_CODES[outcome],
        "so far",
    )


def test_calls_in_flight_at_the_end_are_cancelled_and_recorded(place: Place) -> None:
    async def leave_one_behind(run: Run) -> ProgramEnd:
        async with trio.open_nursery() as calls:
            calls.start_soon(run.answer, InnerCall(1, "wait", {}))
            await trio.testing.wait_all_tasks_blocked()
            calls.cancel_scope.cancel()
        return ProgramEnd(Outcome.FAILED, 1)

    end = python(Bench(place, leave_one_behind), "x")
    inner = record_of(place.root / "steps/a/001/tools/T-1")
    assert inner["outcome"] == "stopped"
    assert "'T'" in inner["reason"]
    assert [each.outcome for each in end.calls] == [Outcome.STOPPED]


@pytest.mark.parametrize(("asked", "effective"), [(30, 30), ("1m", 60), ("90m", 600), (None, 120)])
def test_the_deadline_of_a_call_is_below_the_operators_maximum(
    place: Place, asked: Any, effective: float
) -> None:
    async def main() -> float:
        bench = Bench(place, nothing, Deadlines(120, 600))
        began = trio.current_time()
        await bench.python("x", **({} if asked is None else {"deadline": asked}))
        return bench.runtime.runs[0].deadline.at - began

    assert trio.run(main, clock=trio.testing.MockClock()) == pytest.approx(effective)


@pytest.mark.parametrize(
    "deadline", ["soon", "5", "", " ", "-1s", "0s", "0m 0.0s", "1s\n", 0, -3, True, None, "5 parsecs"]
)
def test_a_deadline_that_is_none_is_refused_by_the_schema(place: Place, deadline: Any) -> None:
    end = python(Bench(place, nothing), "x", deadline=deadline)
    assert end.refusal is not None
    assert end.refusal.gate == "schema"
    assert "deadline" in end.refusal.reason


@pytest.mark.parametrize(
    "deadline", ["1h30m", "5m", "500ms", "1.5s", "1h2m3s4ms", "1 s", " 2 m 3 s ", "0h1ms"]
)
def test_what_the_schema_lets_through_as_a_duration_is_one(deadline: str) -> None:
    seconds = requested_deadline_s({"program": "", "deadline": deadline})
    assert seconds is not None
    assert 0 < seconds < math.inf


# -- program text --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "x = 'é'\n".encode(),
        "# coding: latin-1\nx = 'é'\n".encode("latin-1"),
        "#!/usr/bin/python\n# -*- coding: cp1251 -*-\nx = 'я'\n".encode("cp1251"),
        b"x = 1\r\ny = 2\r\n",
        b"",
        b"# coding: utf-8\nx = '\xe2\x82\xac'\n",
    ],
)
def test_a_file_comes_through_a_call_unchanged(content: bytes) -> None:
    assert encode_source(decode_source(content, "p.py", 1000)) == content


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"x = 1\ny = '\xff'\n", ["p.py:2", "0xff", "UTF-8"]),
        (b"# coding: klingon\n", ["p.py:1", "klingon"]),
        (b"\xff\xfex\x00", ["p.py:1"]),
        (b"x" * 1001, ["p.py", "1000 bytes"]),
    ],
)
def test_a_file_that_is_no_text_is_one_clear_line(content: bytes, words: list[str]) -> None:
    with pytest.raises(SourceError) as caught:
        decode_source(content, "p.py", 1000)
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="No such file"):
        read_source(tmp_path / "none.py", 10)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = '\ud800'\n", ["U+D800", "line 1"]),
        ("# coding: latin-1\nx = '€'\n", ["U+20AC", "line 2", "iso8859-1"]),
    ],
)
def test_text_that_its_own_encoding_cannot_hold_is_refused_with_its_line(text: str, words: list[str]) -> None:
    refusal = encode_source(text)
    assert isinstance(refusal, Refusal)
    for word in words:
        assert word in refusal.reason


def test_a_reason_is_told_once(place: Place) -> None:
    from dataclasses import replace

    end = CallEnd(ToolCall("T", "x", {}), Outcome.FAULTED, 125, *(None, None), 0.0, reason="why")  # type: ignore[arg-type]
    assert reply_of(end).stderr == b"faulted: why\n"
    assert reply_of(replace(end, stderr=b"x: why\n")).stderr == b"x: why\n"
    assert reply_of(replace(end, stderr=b"half")).stderr == b"half\nfaulted: why\n"
    assert reply_of(replace(end, stderr=b"why not?\n")).stderr == b"why not?\nfaulted: why\n"
    for each in (end, replace(end, stderr=b"half"), replace(end, outcome=Outcome.FAILED, stderr=b"x")):
        assert whole_envelope(each).endswith(
            reply_of(each).stderr
        )  # the model and a program are told the same
