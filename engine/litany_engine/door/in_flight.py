"""A call between its start and its end, and what its end is called when it did not choose it itself."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import trio

from litany_engine.door.callers import Caller, Parent
from litany_engine.door.calls import CallEnd, Capture, ToolCall
from litany_engine.innermost import innermost
from litany_runtime.deadline import Deadline
from litany_runtime.outcome import DEADLINE_PASSED, EXIT_CODES, STOP_RAISED, Outcome

if TYPE_CHECKING:
    from litany_engine.door.budgets import Reservation
    from litany_engine.door.calls import CallSummary
    from litany_engine.records.records import Record
    from litany_runtime.program import Awaited


_GIVEN_UP = "stopped waiting for it"


def was_given_up(told: str) -> bool:
    """Whether what is told of a stopped call is that the program which made it waited no longer."""
    return told.rstrip().endswith(f", which made it, {_GIVEN_UP}")


class Running:
    """A call between its start and its end."""

    __slots__ = (
        "_ended",
        "_inner_caller",
        "as_parent",
        "awaited",
        "call",
        "caller",
        "clock",
        "held",
        "held_s",
        "record",
        "reservations",
        "scope",
        "started",
        "started_at",
        "stop_reason",
        "stopped",
        "waited_s",
    )

    def __init__(
        self,
        call: ToolCall,
        caller: Caller,
        record: Record | None,
        scope: trio.CancelScope,
        awaited: Awaited | None = None,
    ) -> None:
        self.call = call
        self.caller = caller
        self.record = record
        self.scope = scope
        self.awaited = awaited
        self.started_at = datetime.now(UTC)
        self.started = time.monotonic()
        self.stopped = False
        self.stop_reason = STOP_RAISED
        self.held = False
        self.held_s = 0.0
        self.waited_s = 0.0
        self.reservations: list[Reservation] = []
        self.clock = Deadline(scope.deadline)
        self.clock.bind(scope)
        self.as_parent = Parent(call.id)
        self._ended: trio.Event | None = None
        self._inner_caller: Caller | None = None

    def deadline(self) -> float:
        """The least of its own deadline and its parent's."""
        parent = self.caller.parent
        return self.clock.at if parent is None else min(self.clock.at, parent.ends_at())

    def given_up(self) -> bool:
        """Whether a program made it and stopped waiting for it before its deadline."""
        return self.awaited is not None and self.awaited.given_up_at < self.deadline()

    def halt(self, reason: str) -> None:
        """Stop the outermost call that this one belongs to."""
        above = self.caller.parent
        (self.stop if above is None or above.halt is None else above.halt)(reason)

    def inner_caller(self) -> Caller:
        """Who makes the calls that are made in this one's name: within its deadline, at its slots."""
        if self._inner_caller is None:
            above = self.caller.parent
            self.as_parent.clocks = (self.clock, *(above.clocks if above else ()))
            self.as_parent.halt = self.halt
            self._inner_caller = replace(self.caller, parent=self.as_parent)
        return self._inner_caller

    @property
    def may_have_inner(self) -> bool:
        """Whether a call could have been made in its name."""
        return self._inner_caller is not None

    def ending(self) -> trio.Event:
        """What is set once its end is recorded; ask while it runs: most calls are waited for by nobody."""
        if self._ended is None:
            self._ended = trio.Event()
        return self._ended

    def tell_ended(self) -> None:
        """Let those go on who wait for its end."""
        if self._ended is not None:
            self._ended.set()

    def stop(self, reason: str = STOP_RAISED) -> None:
        """Raise the flag, unless something else is ending the call: the first cause is the one recorded."""
        if not self.scope.cancel_called:
            self.stopped = True
            self.stop_reason = reason
            self.scope.cancel()

    def is_named(self, selector: str) -> bool:
        """Whether a selector names this call, by an id of its or by its record's place in the workspace."""
        if selector in {self.call.id, self.call.given_id}:
            return True
        return self.record is not None and self.record.path == self.caller.workspace / selector


def cut_short(running: Running, capture: Capture | None = None) -> Capture:
    """What became of a call whose work was cancelled, with what its executor handed over before it left."""
    if running.stopped:
        outcome, reason = Outcome.STOPPED, running.stop_reason
    elif running.given_up() and running.caller.parent is not None:
        outcome, reason = Outcome.STOPPED, f"call {running.caller.parent.id!r}, which made it, {_GIVEN_UP}"
    elif trio.current_time() >= running.deadline():
        outcome, reason = Outcome.TIMED_OUT, DEADLINE_PASSED
    elif running.caller.parent is not None:
        outcome, reason = Outcome.STOPPED, f"call {running.caller.parent.id!r}, which made it, ended first"
    else:
        outcome, reason = Outcome.STOPPED, "whoever issued the call stopped waiting for it"
    if running.held:
        reason += " while the call was held for the operator's answer; it was not run"
    return replace(capture or Capture(), outcome=outcome, reason=reason)


def call_end(running: Running, capture: Capture) -> CallEnd:
    """The end that a capture makes of a call: the outcome is the capture's own, else its exit code tells."""
    outcome = capture.outcome or (Outcome.COMPLETED if capture.exit_code == 0 else Outcome.FAILED)
    return CallEnd(
        call=running.call,
        outcome=outcome,
        exit_code=EXIT_CODES.get(outcome, capture.exit_code),
        started_at=running.started_at,
        ended_at=datetime.now(UTC),
        duration_s=time.monotonic() - running.started,
        waited_s=running.waited_s,
        stdout=capture.stdout,
        stderr=capture.stderr,
        data=capture.data,
        refusal=capture.refusal,
        reason=capture.reason,
        usage=capture.usage,
        layers=capture.layers,
        record=running.record.path if running.record else None,
        calls=_calls(running, capture),
        unrecorded=running.as_parent.unrecorded + capture.unsent,
        agent=running.caller.agent,
        parent=running.caller.parent.id if running.caller.parent else None,
    )


def _calls(running: Running, capture: Capture) -> tuple[CallSummary, ...]:
    calls = running.as_parent.calls
    if not capture.unread:
        return tuple(calls)
    unread = frozenset(capture.unread)
    return tuple(replace(each, unread=True) if each.id in unread else each for each in calls)


def faulted(reason: str) -> Capture:
    """A capture for what was litany's failure or a tool author's, and not the tool's own."""
    return Capture(outcome=Outcome.FAULTED, reason=reason)


def told(error: BaseException) -> str:
    """An exception in words for whoever reads the record; no traceback, no path of this host."""
    error = innermost(error)
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
