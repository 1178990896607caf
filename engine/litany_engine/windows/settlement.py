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
| host died while it ran | whether it ran is unknown, what it did stands |

Pure: from what was asked and recorded to results. Which calls are unanswered, only the transcript says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from litany_engine.records.envelope import model_text
from litany_engine.records.recorded import HOST_DIED, HOST_DIED_BEFORE
from litany_engine.windows.entries import ToolResult
from litany_runtime.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

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
DIED_AFTER = (
    "The process that answers calls died after this call had ended and before its result was delivered. "
    "The call ran; do not make it again for its output. What its record holds:"
)


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
    return ToolResult(end.call.id, text, is_error=end.refusal is not None or end.exit_code != 0)


def stopped_before(call: ToolUse) -> ToolResult:
    """The result of a call that a stop came before."""
    return ToolResult(call.id, NOT_RUN_STOPPED, is_error=True)


def died(call: ToolUse, recorded: RecordedCall | None, head_bytes: int, tail_bytes: int) -> ToolResult:
    """The result of a call whose host died.

    Args:
        call: what was asked.
        recorded: its record, completed; None when there is none.
        head_bytes: as in `answer`.
        tail_bytes: as in `answer`.
    """
    if recorded is None:
        text = NOT_RUN_DIED
    elif recorded.end is None or recorded.end.reason == HOST_DIED:
        text = DIED_UNKNOWN
    elif recorded.end.reason == HOST_DIED_BEFORE:
        text = NOT_RUN_DIED
    else:
        text = f"{DIED_AFTER}\n{model_text(recorded.end, head_bytes=head_bytes, tail_bytes=tail_bytes)}"
    return ToolResult(call.id, text, is_error=True)


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
        load: reads the record of an id in a step; None when there is none.
    """
    for number in reversed(steps):
        if number < first_step:
            return None
        found = load(number, call.id)
        if found is not None and (
            not found.at or (found.call.name, found.call.input) == (call.name, call.input)
        ):
            return found
    return None
