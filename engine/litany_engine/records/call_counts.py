"""What is said of the calls that a program or tool made: how many, which were refused, which failed unseen.

    3 calls, 2 refused (bsh: not granted; apply_patch: 'patch' is not known)

A refused call is a value that a program may never look at; then it prints "done" and is completed. So whoever
reads the end is told, in a few words: the whole reasons are in the records of the calls.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from litany_engine.counted import counted
from litany_engine.door.calls import CallSummary
from litany_runtime.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from litany_engine.door.calls import CallEnd
    from litany_engine.records.recorded import RecordedCall
    from litany_stubs.words import Refusal

MAX_TOLD = 5
"""Different refusals or failures that are told one by one: what goes beyond is a program that loops."""

MAX_WHY_CHARS = 100
"""Of a refusal, in the line about all calls; its record has it whole."""

_MAX_NAME_CHARS = 64
_SHORT = {"grant": "not granted", "depth": "programs do not nest"}


def why_refused(name: str, refusal: Refusal) -> str:
    """Return a refusal in a few words: the first thing that is wrong, without what would be right.

    Args:
        name: the tool's name, which most reasons begin with.
        refusal: the whole of it.
    """
    if refusal.gate in _SHORT:
        return _SHORT[refusal.gate]
    text = " ".join(refusal.reason.split()).removeprefix(f"{name}: ").removeprefix(f"{name!r} ")
    text = text.removeprefix(f"{name}() ")
    text = text.partition(". ")[0].removesuffix(".")
    if refusal.gate == "schema":
        faults = text.split("; ")  # a misspelt argument is the cause of the one that is missing
        text = next((each for each in faults if " is not known" in each), faults[0])
        text = text.removeprefix("argument ").partition(" (did you mean")[0]
    return text if len(text) <= MAX_WHY_CHARS else text[: MAX_WHY_CHARS - 1] + "…"


def summary_of(end: CallEnd, *, unread: bool = False) -> CallSummary:
    """Return what is kept of an inner call's end."""
    why = "" if end.refusal is None else why_refused(end.call.name, end.refusal)
    return CallSummary(end.call.id, end.call.name, end.outcome, end.exit_code, end.duration_s, why, unread)


def recorded_summaries(recorded: RecordedCall, inner: Iterable[RecordedCall]) -> tuple[CallSummary, ...]:
    """Return the ended inner calls of a recorded call, as its end in memory had them."""
    return tuple(
        summary_of(each.end, unread=each.call.id in recorded.unread) for each in inner if each.end is not None
    )


def told_calls(calls: Sequence[CallSummary], unrecorded: int = 0) -> str:
    """Return how many calls there were and what became of those that somebody should know of.

    Args:
        calls: the inner calls of one call.
        unrecorded: calls besides these that were refused by their number and left no record.
    """
    told = counted(len(calls) + unrecorded, "call")
    refused = Counter(f"{_name(each)}: {each.why}" for each in calls if each.outcome is Outcome.REFUSED)
    if unrecorded:
        refused["more calls than are looked at"] = unrecorded
    if refused:
        told += f", {refused.total()} refused ({_listed(refused)})"
    unseen = Counter(_failure(each) for each in calls if each.unread)
    if unseen:
        told += f"; {counted(unseen.total(), 'failed result')} never looked at ({_listed(unseen)})"
    return told


def is_worth_telling(calls: Iterable[CallSummary], unrecorded: int = 0) -> bool:
    """Whether a call was refused, or failed without the program's knowing."""
    return unrecorded > 0 or any(each.unread or each.outcome is Outcome.REFUSED for each in calls)


def calls_note(end: CallEnd) -> str:
    """Return what a model is told of the calls of a call; "" when there is nothing that it should know."""
    return told_calls(end.calls, end.unrecorded) if is_worth_telling(end.calls, end.unrecorded) else ""


def _failure(call: CallSummary) -> str:
    if call.outcome is Outcome.REFUSED:
        return _name(call)  # why is told already
    ended = f"exit code {call.exit_code}"
    return f"{_name(call)}: {ended if call.outcome is Outcome.FAILED else f'{call.outcome}, {ended}'}"


def _name(call: CallSummary) -> str:
    name = call.name if call.name.isprintable() else ascii(call.name)
    return name if len(name) <= _MAX_NAME_CHARS else name[: _MAX_NAME_CHARS - 1] + "…"


def _listed(texts: Counter[str]) -> str:
    """Return different texts, each once with how often it came."""
    shown = [f"{text}, {count} times" if count > 1 else text for text, count in texts.items()]
    left = f"; and {len(shown) - MAX_TOLD} more" if len(shown) > MAX_TOLD else ""
    return "; ".join(shown[:MAX_TOLD]) + left
