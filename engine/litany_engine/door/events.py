"""What a watcher of the door is told: every call's start, its progress, and exactly one end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litany_engine.door.calls import CallEnd, ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_REPORT_CHARS = 8192
"""Characters of one progress message; a watcher shows a line, not a log."""


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A call has reached the door.

    Attributes:
        call: the call.
        agent: whose it is.
        parent: the id of the call it belongs to, or None.
    """

    call: ToolCall
    agent: str
    parent: str | None


@dataclass(frozen=True, slots=True)
class CallReport:
    """A call's progress, in its tool's words.

    Attributes:
        call: the call.
        message: bounded text.
        fraction: between 0 and 1, or None when the tool cannot tell.
        progress: how far it is in the tool's own unit, or None when the tool cannot tell.
        total: how far that is in all, in the same unit; None when the tool cannot tell.
    """

    call: ToolCall
    message: str
    fraction: float | None
    progress: float | None = None
    total: float | None = None


@dataclass(frozen=True, slots=True)
class CallHeld:
    """A call waits for the operator; what follows is its end, sooner or later.

    Attributes:
        call: the call.
        agent: whose it is.
        parent: the id of the call it belongs to, or None.
        gate: the gate that holds it.
        reason: why, for the operator.
    """

    call: ToolCall
    agent: str
    parent: str | None
    gate: str
    reason: str


Event = CallStarted | CallReport | CallHeld | CallEnd


class Watchers:
    """Those who look on. A watcher is called in the door's own task, so it must not wait."""

    def __init__(self) -> None:
        self._watchers: list[Callable[[Event], None]] = []

    def add(self, watcher: Callable[[Event], None]) -> Callable[[], None]:
        """Tell `watcher` of every call from now on; what is returned ends that."""
        self._watchers.append(watcher)
        return lambda: self._remove(watcher)

    def tell(self, event: Event) -> None:
        """Tell everyone; one that raises is dropped, since its failure is no call's."""
        for watcher in tuple(self._watchers):
            try:
                watcher(event)
            except Exception:  # noqa: BLE001
                self._remove(watcher)

    def report(
        self,
        call: ToolCall,
        message: object,
        fraction: object = None,
        *,
        progress: object = None,
        total: object = None,
    ) -> None:
        """Tell of a call's progress; what a tool says here is bounded and never an error."""
        done, whole, told = _amount(progress), _amount(total), _amount(fraction)
        if told is None and done is not None and whole:
            told = done / whole
        if told is not None and told > 1:
            told = None
        if done is None:
            done, whole = told, None if told is None else 1.0
        try:
            text = str(message)
        except Exception:  # noqa: BLE001 - a message that cannot be made is not told
            return
        if len(text) > MAX_REPORT_CHARS:
            text = "…" + text[1 - MAX_REPORT_CHARS :]  # what it says last is how far it is
        self.tell(CallReport(call, text, told, done, whole))

    def _remove(self, watcher: Callable[[Event], None]) -> None:
        if watcher in self._watchers:
            self._watchers.remove(watcher)


def _amount(value: object) -> float | None:
    """A number that says how much, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        amount = float(value)
    except OverflowError:
        return None
    return amount if 0 <= amount < math.inf else None
