"""What the model is told of calls that nobody will answer: pure, and worded for what is known."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litany_engine.door.calls import CallEnd, ToolCall
from litany_engine.records.recorded import HOST_DIED, HOST_DIED_BEFORE, HOST_DIED_WHILE, RecordedCall
from litany_engine.windows.entries import ToolUse
from litany_engine.windows.settlement import (
    DIED_AFTER,
    DIED_UNKNOWN,
    DIED_WHILE,
    NOT_RUN_DIED,
    STOPPED_WHILE_IT_RAN,
    answer,
    died,
    record_of,
    stopped_before,
)
from litany_runtime.outcome import EXIT_CODES, Outcome
from litany_stubs.words import Refusal

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CALL = ToolUse("c", "say", {"text": "x"})


def ended(outcome: Outcome = Outcome.COMPLETED, **fields: Any) -> CallEnd:
    exit_code = fields.pop("exit_code", EXIT_CODES.get(outcome, 1))
    return CallEnd(ToolCall("c", "say", {"text": "x"}), outcome, exit_code, NOW, NOW, 0.0, **fields)


def recorded(
    end: CallEnd | None, name: str = "say", asked: Any = None, at: datetime | None = NOW
) -> RecordedCall:
    call = ToolCall("c", name, {"text": "x"} if asked is None else asked)
    return RecordedCall(call, None, at, end, Path("/w/steps/a/001/tools/c"))


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (None, NOT_RUN_DIED),
        (recorded(None), DIED_UNKNOWN),
        (recorded(ended(Outcome.FAULTED, reason=HOST_DIED)), DIED_UNKNOWN),
        (recorded(ended(Outcome.FAULTED, reason=HOST_DIED_BEFORE)), NOT_RUN_DIED),
        (recorded(ended(stdout=b"out")), f"{DIED_AFTER}\nExit code: 0\nout"),
        (recorded(ended(Outcome.REFUSED, refusal=Refusal("grant", "not yours"))), f"{DIED_AFTER}\nnot yours"),
    ],
)
def test_a_dead_host_s_call_is_an_error_that_says_what_is_known(
    record: RecordedCall | None, text: str
) -> None:
    result = died(CALL, record, 2048, 2048)
    assert (result.tool_use_id, result.is_error, result.text) == ("c", True, text)


def made(index: int, end: CallEnd | None, asked: Any = None) -> RecordedCall:
    call = ToolCall(f"c-{index}", "write", {"file": f"f{index}"} if asked is None else asked)
    return RecordedCall(call, "c", NOW, end, Path(f"/w/steps/a/001/tools/c-{index}"))


def how_far(inner: list[RecordedCall], **streams: bytes) -> list[str]:
    end = ended(Outcome.FAULTED, reason=HOST_DIED_WHILE, **streams)
    result = died(CALL, recorded(end), 8, 8, inner)
    assert result.is_error
    first, *lines = result.text.splitlines()
    assert first == DIED_WHILE
    return lines


def test_a_dead_program_s_calls_are_told_by_how_they_ended() -> None:
    told = how_far(
        [
            made(1, ended()),
            made(2, ended(Outcome.FAILED, exit_code=3)),
            made(3, ended(Outcome.REFUSED, refusal=Refusal("schema", "no"))),
            made(4, ended(Outcome.FAULTED, reason=HOST_DIED)),
            made(5, ended(Outcome.FAULTED, reason=HOST_DIED_BEFORE)),
            made(6, ended(Outcome.FAULTED, reason=HOST_DIED_WHILE)),
            made(7, None, {"text": "\x1b" + "x" * 500}),
        ]
    )
    assert told[:5] == [
        "Of the calls it made, 4 calls had ended:",
        '  c-1 write {"file": "f1"}: completed',
        '  c-2 write {"file": "f2"}: failed, exit code 3',
        '  c-3 write {"file": "f3"}: refused by the schema gate',
        '  c-5 write {"file": "f5"}: was not run',
    ]
    assert told[5:8] == [
        "3 calls of its had no end, and how far each came is unknown:",
        '  c-4 write {"file": "f4"}',
        '  c-6 write {"file": "f6"}',
    ]
    assert len(told[8]) < 150
    assert "\x1b" not in told[8]
    assert told[9:] == ["It had printed nothing yet."]


def test_of_many_calls_the_first_and_the_last_are_told() -> None:
    told = how_far([made(index, ended()) for index in range(1, 10_001)])
    assert told[0] == "Of the calls it made, 10000 calls had ended:"
    assert told[10:12] == ['  c-10 write {"file": "f10"}: completed', "  … 9970 more …"]
    assert told[31] == '  c-10000 write {"file": "f10000"}: completed'


def test_what_a_dead_program_printed_is_bounded_like_an_answer() -> None:
    told = how_far([], stdout=b"a" * 100, stderr=b"oh")
    assert told[:3] == ["It had made no call.", "What it had printed:", "a" * 8]
    assert told[3].startswith("[stdout: 100 bytes")
    assert told[4:] == ["a" * 8, "--- stderr ---", "oh"]


def test_a_call_that_a_stop_came_before_was_not_run() -> None:
    assert "not run" in stopped_before(CALL).text
    assert stopped_before(CALL).is_error


@pytest.mark.parametrize(
    ("end", "is_error"),
    [
        (ended(), False),
        (ended(Outcome.FAILED, exit_code=2), True),
        (ended(Outcome.REFUSED, refusal=Refusal("grant", "no")), True),
        (ended(Outcome.STOPPED), True),
    ],
)
def test_an_answer_is_an_error_when_the_call_did_not_do_what_was_asked(end: CallEnd, is_error: bool) -> None:
    assert answer(end, 10, 10).is_error is is_error


def test_only_the_call_that_a_stop_ended_is_said_to_stand_half_done() -> None:
    assert answer(ended(Outcome.STOPPED), 10, 10, stopped=True).text.endswith(f"\n{STOPPED_WHILE_IT_RAN}")
    assert STOPPED_WHILE_IT_RAN not in answer(ended(Outcome.STOPPED), 10, 10).text
    assert STOPPED_WHILE_IT_RAN not in answer(ended(), 10, 10, stopped=True).text


def look_up(records: dict[int, RecordedCall], first: int) -> RecordedCall | None:
    return record_of(CALL, first, sorted(records), lambda number, _: records.get(number))


def test_the_latest_record_of_the_same_call_counts() -> None:
    old, new = recorded(ended(stdout=b"held")), recorded(ended(stdout=b"run"))
    assert look_up({1: old, 4: new}, 1) is new


def test_a_record_from_before_the_reply_is_another_call_s() -> None:
    assert look_up({1: recorded(ended()), 2: recorded(ended())}, 3) is None


def test_a_record_of_another_call_under_the_same_id_is_passed_over() -> None:
    mine = recorded(ended())
    assert (
        look_up({1: mine, 2: recorded(ended(), name="other"), 3: recorded(ended(), asked={"text": "y"})}, 1)
        is mine
    )


def test_a_record_that_does_not_say_what_was_asked_is_taken_by_its_id() -> None:
    bare = recorded(None, name="", asked={}, at=None)
    assert look_up({1: bare}, 1) is bare


@given(st.sets(st.integers(1, 50)), st.integers(1, 50))
def test_no_record_before_the_reply_s_step_is_ever_looked_at(numbers: set[int], first: int) -> None:
    looked: list[int] = []

    def load(number: int, _: str) -> None:
        looked.append(number)

    record_of(CALL, first, sorted(numbers), load)
    assert looked == sorted((n for n in numbers if n >= first), reverse=True)


def test_of_a_program_that_had_ended_refused_and_unread_calls_are_told_as_ever() -> None:
    refused = replace(made(1, ended(Outcome.REFUSED, refusal=Refusal("grant", "no"))))
    refused = replace(refused, end=replace(refused.end or ended(), call=refused.call))
    failed = made(2, replace(ended(Outcome.FAILED, exit_code=3), call=ToolCall("c-2", "write", {})))
    program = replace(recorded(ended(stdout=b"done\n")), unread=frozenset({"c-2"}))
    text = died(CALL, program, 2048, 2048, [refused, failed, made(3, None)]).text
    note = "2 calls, 1 refused (write: not granted); 1 failed result never looked at (write: exit code 3)"
    assert text == f"{DIED_AFTER}\nExit code: 0\ndone\n--- calls ---\n{note}\n"
