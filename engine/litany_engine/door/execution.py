"""Running one admitted call: in its turn, under its deadline, again where the tool says that may help.

What a tool raises ends its call and never the door; what it returns when it is cancelled is kept.
"""

from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import trio

from litany_engine.door.answers import answered, kept, misshapen
from litany_engine.door.calls import Capture, Context
from litany_engine.door.in_flight import cut_short, faulted, told
from litany_engine.door.ledger import LedgerError
from litany_engine.door.schedule import Schedule, Slots
from litany_engine.door.screens import screen
from litany_runtime.outcome import Outcome
from litany_stubs.words import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from litany_engine.door.callers import Parent
    from litany_engine.door.calls import Executor, Invoke, Tool
    from litany_engine.door.gates import Admission
    from litany_engine.door.in_flight import Running
    from litany_engine.door.prepared import Prepared
    from litany_engine.door.screens import Screen
    from litany_engine.records.records import Record
    from litany_stubs.words import JSON

FIRST_BACKOFF_S = 0.5
MAX_BACKOFF_S = 16.0
"""Between tries the wait is random, up to a bound that doubles from the first to the last of these."""

_CUT = frozenset({Outcome.STOPPED, Outcome.TIMED_OUT})


@dataclass(frozen=True, slots=True)
class Deadlines:
    """What the operator allows an outer call, in seconds; an inner one lives within its parent's.

    Attributes:
        default_s: for a call that asks for nothing.
        maximum_s: for any call, whatever it asks for.
    """

    default_s: float = math.inf
    maximum_s: float = math.inf


class Executions:
    """How calls are run in this process.

    Args:
        deadlines: what the operator allows.
        screens: functions over results.
        concurrency: inner calls of one agent at once.
        router: answers every call in the place of the tools' own executors; None for those.
    """

    def __init__(
        self, deadlines: Deadlines, screens: Sequence[Screen], concurrency: int, router: Executor | None
    ) -> None:
        self._deadlines = deadlines
        self._screens = tuple(screens)
        self._concurrency = concurrency
        self._router = router
        self._slots: dict[str, Slots] = {}

    async def run(
        self,
        asked: Admission,
        running: Running,
        arrived: float,
        *,
        invoke: Invoke,
        report: Callable[..., None],
        output: Callable[[str, bytes], None] | None,
    ) -> Capture:
        """Run an admitted call.

        Raises:
            trio.Cancelled: the call was cancelled, and its executor handed nothing over.
        """
        prepared = asked.prepared
        assert prepared is not None
        assert running.record is not None
        tool, caller, call = prepared.tool, running.caller, prepared.call
        own = self._own_deadline(tool, running, arrived + running.held_s, call.input)
        running.clock.no_later_than(own)
        context = Context(
            workspace=caller.workspace,
            agent=caller.agent,
            call_id=call.id,
            cwd=caller.cwd,
            deadline=running.deadline(),
            report=report,
            record=running.record.path,
            invoke=invoke,
            keep=running.record.write_text,
            output=output if self._screens else _journaled(running.record, output),
            clock=running.clock,
            outside=frozenset(asked.outside),
        )
        try:
            if caller.parent is None:
                capture = await self._attempts(asked, running, prepared, context)
            else:
                schedule = self._schedule(caller.parent, caller.agent)
                traits = tool.traits
                judged = prepared.judged if callable(traits.concurrency_safe) else None
                asked_at = time.monotonic()
                try:
                    turn = await schedule.enter(
                        safe=traits.is_concurrency_safe(judged), barrier=traits.barrier
                    )
                finally:
                    running.waited_s = time.monotonic() - asked_at
                try:
                    if running.awaited is not None:
                        await running.awaited.room()
                    capture = await self._attempts(asked, running, prepared, context)
                finally:
                    schedule.leave(turn)
        finally:
            running.as_parent.lives = False
        if self._screens:
            screened = screen(self._screens, prepared.review, capture)
            if screened.halt:
                running.halt(screened.halt)
            capture = screened.capture
        return kept(prepared, capture)  # only now: screens see all of it

    async def _attempts(
        self, asked: Admission, running: Running, prepared: Prepared, context: Context
    ) -> Capture:
        capture = await self._once(running, prepared, context)
        for attempt in range(prepared.tool.traits.max_retries):
            if not capture.retryable or capture.exit_code == 0 or capture.outcome is not None:
                break
            bound_s = min(MAX_BACKOFF_S, FIRST_BACKOFF_S * 2**attempt)
            try:
                await trio.sleep(random.uniform(0, bound_s))  # noqa: S311 - to spread load, not to hide
            except trio.Cancelled:
                return cut_short(running, capture)
            if asked.reserve is not None:
                try:
                    paid = asked.reserve(prepared.call, asked.caller, again=True)
                except LedgerError:
                    break  # as when it is spent: what cannot be paid for is not tried
                if isinstance(paid, Refusal):
                    break
                running.reservations.append(paid)
            if running.record is not None:
                running.record.journal().clear()
            capture = await self._once(running, prepared, context)
        return capture

    async def _once(self, running: Running, prepared: Prepared, context: Context) -> Capture:
        execute = self._router or prepared.tool.execute
        name = prepared.call.name
        try:
            capture = await execute(prepared.private(), context)
        except Exception as error:  # noqa: BLE001  whatever a tool raises ends its call, never the door
            return faulted(f"tool {name!r} failed inside litany: {told(error)}")
        if not isinstance(capture, Capture):
            return faulted(f"tool {name!r} returned {type(capture).__name__}, not a Capture: mend the tool")
        if fault := misshapen(capture):
            return faulted(
                f"tool {name!r} returned a Capture whose {fault}. What the call did stands; mend the tool"
            )
        return cut_short(running, capture) if _was_cut_short(capture) else answered(prepared, capture)

    def _schedule(self, parent: Parent, agent: str) -> Schedule:
        """The order of a call's inner calls. Those that a program makes share the slots of its agent."""
        if parent.schedule is None:
            outermost = len(parent.clocks) <= 1
            slots = self._slots.get(agent) if outermost else Slots(self._concurrency)
            if slots is None:
                slots = self._slots[agent] = Slots(self._concurrency)
            parent.schedule = Schedule(slots)
        return parent.schedule

    def _own_deadline(self, tool: Tool, running: Running, arrived: float, arguments: JSON) -> float:
        asked = tool.deadline_s(arguments) if tool.deadline_s is not None else None
        if running.caller.parent is not None:
            return math.inf if asked is None else arrived + asked
        if asked is None and running.clock.at == math.inf:
            asked = self._deadlines.default_s
        bounds = (running.caller.deadline_s, self._deadlines.maximum_s)
        return arrived + min(math.inf if asked is None else asked, *bounds)


def _journaled(record: Record, output: Callable[[str, bytes], None] | None) -> Callable[[str, bytes], None]:
    """Keep what a call prints as it comes, and relay it to whoever watches."""
    journal = record.journal()
    if output is None:
        return journal.add

    def take(stream: str, chunk: bytes) -> None:
        journal.add(stream, chunk)
        output(stream, chunk)

    return take


def _was_cut_short(capture: Capture) -> bool:
    """Whether the executor was told to end, and what it returned does not say that it had ended before."""
    ended_by_itself = capture.exit_code == 0 if capture.outcome is None else capture.outcome not in _CUT
    return not ended_by_itself and trio.current_effective_deadline() == -math.inf
