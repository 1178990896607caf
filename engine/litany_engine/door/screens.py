"""Screens: functions over results, between a tool and whoever gets its answer.

    def no_keys(call: ToolCall, capture: Capture) -> ScreenVerdict: ...

Screens see whole results, those of inner calls too, before anything is cut for the model and before the
record is written: what a screen takes out is nowhere. They run in their order; a rewrite is what the next one
sees; the first that refuses ends it. One that raises refuses: a screen that fails open screens nothing.

| verdict | what becomes of the call |
|---|---|
| None | nothing |
| Rewrite | its result is the new one; how it ended stays, a refusal of its too |
| Withhold | it failed; it ran, or was refused, and says so, but nothing of its result is given |
| Halt | the same, and the outermost call it belongs to is stopped |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from litany_engine.door.calls import Capture, ToolCall
from litany_runtime.outcome import Outcome
from litany_stubs.words import Refusal


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Put another result in the place of this one.

    Attributes:
        capture: the other result; of the old one, how it ended, what it used and under which confinement are
            kept. A call that was refused stays refused: for the reason given here, or else for its own.
    """

    capture: Capture


@dataclass(frozen=True, slots=True)
class Withhold:
    """Give nothing of this result.

    Attributes:
        reason: for whoever made the call.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Halt:
    """Give nothing of this result, and stop what the call belongs to.

    Attributes:
        reason: for whoever made the call, and for the operator.
    """

    reason: str


ScreenVerdict = Rewrite | Withhold | Halt | None
Screen = Callable[[ToolCall, Capture], ScreenVerdict]


@dataclass(frozen=True, slots=True)
class Screened:
    """A result after the screens.

    Attributes:
        capture: what is given.
        halt: why the outermost call is to be stopped, or "".
    """

    capture: Capture
    halt: str = ""


def screen(screens: Iterable[Screen], call: ToolCall, capture: Capture) -> Screened:
    """Put a result through screens."""
    for each in screens:
        name = getattr(each, "__name__", type(each).__name__)
        try:
            verdict = each(call, capture)
        except Exception as error:  # noqa: BLE001 - a screen that fails lets nothing through
            return Screened(_withheld(call, capture, name, f"it failed ({type(error).__name__})"))
        if isinstance(verdict, Rewrite):
            capture = _rewritten(capture, verdict.capture)
        elif isinstance(verdict, Withhold):
            return Screened(_withheld(call, capture, name, verdict.reason))
        elif isinstance(verdict, Halt):
            return Screened(
                _withheld(call, capture, name, verdict.reason), f"screen {name}: {verdict.reason}"
            )
        elif verdict is not None:
            why = f"it answered {type(verdict).__name__}, which is no verdict"
            return Screened(_withheld(call, capture, name, why))
    return Screened(capture)


def _rewritten(old: Capture, new: Capture) -> Capture:
    return replace(
        new,
        outcome=old.outcome,
        usage=old.usage,
        reason=old.reason,
        layers=old.layers,
        unread=old.unread,
        unsent=old.unsent,
        refusal=old.refusal and (new.refusal or old.refusal),
    )


def _withheld(call: ToolCall, capture: Capture, name: str, why: str) -> Capture:
    """A result of which nothing is given; how the call ended stays true when it was not by itself."""
    if capture.refusal is not None:
        text = (
            f"{call.name}: the call was refused and nothing was run; why is withheld by screen {name}: {why}."
        )
        refusal = Refusal(capture.refusal.gate, text)
        return Capture(outcome=capture.outcome, usage=capture.usage, refusal=refusal, layers=capture.layers)
    text = (
        f"{call.name}: the call was made and has ended; its result is withheld by screen {name}: {why}. "
        "Do not repeat the call for its output."
    )
    ended_by_itself = capture.outcome in {None, Outcome.COMPLETED, Outcome.FAILED}
    return Capture(
        stderr=f"{text}\n".encode("utf-8", "backslashreplace"),
        exit_code=capture.exit_code or 1,
        outcome=Outcome.FAILED if ended_by_itself else capture.outcome,
        usage=capture.usage,
        layers=capture.layers,
        unread=capture.unread,
        unsent=capture.unsent,
    )
