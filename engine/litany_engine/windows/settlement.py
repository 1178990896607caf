"""Settlement: what a model is told of calls that nobody will answer any more.

A reply whose calls are not all answered is the end of a transcript: no provider takes it, whatever is said
after it. So when a window ends before its last block, each call that is left gets one result here, worded for
what is known of it, an error in any case, and nothing is run again.

| what is known | the model reads |
|---|---|
| stopped before it began | it was not run |
| stopped while it ran | its envelope; what it had done stands |
| host died, no record or nothing written | it was not run |
| host died after its end was recorded | it ran, and the envelope of what the record holds |
| host died, nothing shows that it had begun | whether it ran is unknown, what it did stands |
| host died while it ran | that, which of the calls it made had ended, and what it had printed |

Pure: from what was asked and recorded to results. Which calls are unanswered, only the transcript says.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from litany_engine.counted import counted
from litany_engine.plain_text import plain
from litany_engine.records.call_counts import recorded_summaries
from litany_engine.records.envelope import model_text, streams_text
from litany_engine.records.ids import record_name
from litany_engine.records.recorded import HOST_DIED, HOST_DIED_BEFORE, HOST_DIED_WHILE
from litany_engine.windows.entries import ToolResult
from litany_runtime.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from litany_engine.door.calls import CallEnd
    from litany_engine.records.recorded import RecordedCall
    from litany_engine.windows.entries import ToolUse

NOT_RUN_STOPPED = "This call was not run: the agent was stopped before it began."
STOPPED_WHILE_IT_RAN = "[the agent was stopped while this call ran; what it had done stands]"
NOT_RUN_DIED = (
    "This call was not run: the process that answers calls died before it began. "
    "Make it again if it is still wanted."
)
DIED_UNKNOWN = (
    "This call has no result: the process that answers calls died. Whether the call ran, and how far, is "
    "unknown; what it did stands. Look at what is there before making it again."
)
DIED_WHILE = (
    "This call has no result: the process that answers calls died while it ran. What it did stands. What is "
    "known of how far it came follows; look at what is there before making it again."
)
DIED_AFTER = (
    "The process that answers calls died after this call had ended and before its result was delivered. "
    "The call ran; do not make it again for its output. What its record holds:"
)

FIRST_TOLD = 10
LAST_TOLD = 20
"""Calls of a program that are told one by one, of the first and of the last; the records have them all."""

MAX_INPUT_CHARS = 120
"""Characters of a call's input in such a line: enough to know the call again."""


def answer(end: CallEnd, head_bytes: int, tail_bytes: int, *, stopped: bool = False) -> ToolResult:
    """The result of a call that ended.

    Args:
        end: how it ended.
        head_bytes: shown of the start of each stream.
        tail_bytes: shown of its end.
        stopped: the whole agent was stopped, and this call with it.
    """
    text = model_text(end, head_bytes=head_bytes, tail_bytes=tail_bytes)
    if stopped and end.outcome is Outcome.STOPPED:
        text = f"{text}{'' if text.endswith(chr(10)) else chr(10)}{STOPPED_WHILE_IT_RAN}"
    return ToolResult(end.call.given_id, text, is_error=end.refusal is not None or end.exit_code != 0)


def stopped_before(call: ToolUse) -> ToolResult:
    """The result of a call that a stop came before."""
    return ToolResult(call.id, NOT_RUN_STOPPED, is_error=True)


def died(
    call: ToolUse,
    recorded: RecordedCall | None,
    head_bytes: int,
    tail_bytes: int,
    inner: Iterable[RecordedCall] = (),
) -> ToolResult:
    """The result of a call whose host died.

    Args:
        call: what was asked.
        recorded: its record, completed; None when there is none.
        head_bytes: as in `answer`.
        tail_bytes: as in `answer`.
        inner: the records of the calls that it made, completed, in the order of their ids; read only when the
            call had begun.
    """
    if recorded is None:
        text = NOT_RUN_DIED
    elif recorded.end is None or recorded.end.reason == HOST_DIED:
        text = DIED_UNKNOWN
    elif recorded.end.reason == HOST_DIED_BEFORE:
        text = NOT_RUN_DIED
    elif recorded.end.reason == HOST_DIED_WHILE:
        text = _how_far(recorded.end, inner, head_bytes, tail_bytes)
    else:
        end = replace(recorded.end, calls=recorded_summaries(recorded, inner))
        text = f"{DIED_AFTER}\n{model_text(end, head_bytes=head_bytes, tail_bytes=tail_bytes)}"
    return ToolResult(call.id, text, is_error=True)


def _how_far(end: CallEnd, inner: Iterable[RecordedCall], head_bytes: int, tail_bytes: int) -> str:
    """What is known of a call that was running: the calls it made, and what it had printed."""
    ended: list[str] = []
    lost: list[str] = []
    for each in inner:
        line = f"  {_asked(each)}"
        if each.end is None or each.end.reason in {HOST_DIED, HOST_DIED_WHILE}:
            lost.append(line)
        elif each.end.reason == HOST_DIED_BEFORE:
            ended.append(f"{line}: was not run")
        else:
            ended.append(f"{line}: {_how(each.end)}")
    lines = [DIED_WHILE]
    if ended:
        lines += [f"Of the calls it made, {counted(len(ended), 'call')} had ended:", *_told(ended)]
    if lost:
        what = f"{counted(len(lost), 'call')} of its had no end, and how far each came is unknown:"
        lines += [what, *_told(lost)]
    if not ended and not lost:
        lines.append("It had made no call.")
    printed = streams_text(end, head_bytes=head_bytes, tail_bytes=tail_bytes)
    lines.append(f"What it had printed:\n{printed}" if printed else "It had printed nothing yet.")
    return "\n".join(lines)


def _told(lines: list[str]) -> list[str]:
    left_out = len(lines) - FIRST_TOLD - LAST_TOLD
    if left_out <= 0:
        return lines
    return [*lines[:FIRST_TOLD], f"  … {left_out} more …", *lines[-LAST_TOLD:]]


def _asked(recorded: RecordedCall) -> str:
    asked = plain(json.dumps(recorded.call.input, ensure_ascii=False))
    if len(asked) > MAX_INPUT_CHARS:
        asked = f"{asked[: MAX_INPUT_CHARS - 1]}…"
    return f"{recorded.call.id} {plain(recorded.call.name) or '?'} {asked}"


def _how(end: CallEnd) -> str:
    if end.refusal is not None:
        return f"refused by the {end.refusal.gate} gate"
    return str(end.outcome) if end.exit_code == 0 else f"{end.outcome}, exit code {end.exit_code}"


def record_of(
    call: ToolUse, first_step: int, steps: list[int], load: Callable[[int, str], RecordedCall | None]
) -> RecordedCall | None:
    """The record that a call of a reply left, or None.

    A provider may use an id again in another reply, so a record counts only when it is in a step of this one
    or later (a held call is asked again in a new step), and says the same call.

    Args:
        call: what was asked.
        first_step: the step that the reply opened.
        steps: the numbers of the agent's steps, ascending.
        load: reads a record by its name in a step; None when there is none.
    """
    for number in reversed(steps):
        if number < first_step:
            return None
        found = load(number, record_name(call.id))
        asked = (call.id, call.name, call.input)
        if found is not None and (
            not found.at or (found.call.given_id, found.call.name, found.call.input) == asked
        ):
            return found
    return None
