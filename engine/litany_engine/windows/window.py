"""The tool window: the calls of one reply of a model, answered in the order of their emission.

One call at a time goes through the door, and its result is committed before the next one begins, so what a
call did to files and what the model reads of it are one commit, and what is unanswered can be read from the
transcript after any death. Neighbours whose tools all say that they are safe beside others run together:

    judged     one by one in their order, each before the next begins: a hold keeps back all that comes after
    run        at once, as many as `concurrency` says
    committed  in their order, each as soon as it and all before it have ended

A window ends in one of four ways:

    completed   every call has its result
    finished    so has the only one, of a terminal tool: it is the last word, and the model is not asked again
    stopped     the calls in flight were ended and answered, and each one after was told that it was not run
    held        the operator's control wants to be asked again, or gave no verdict: nothing of that call or of
                any after it ran, the model is told nothing, and the mark refs/litany/held/<agent> says so

The mark of a held call goes before the call runs: while it stands, nothing has. A control that fails parks
the window too. It is the operator's to mend; put to the model, it would be an error to talk around.

Cancelling the task of a window is a stop: it returns within the cascade's time, with everything answered.
"""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

import trio

from litany_engine.door.gates import Hold
from litany_engine.door.prepared import fill, freeze
from litany_engine.records.ids import record_name
from litany_engine.windows.settlement import answer, stopped_before
from litany_runtime.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from litany_engine.door.callers import Caller
    from litany_engine.door.calls import CallEnd
    from litany_engine.door.door import Door
    from litany_engine.door.gates import Verdict
    from litany_engine.windows.entries import ToolResult, ToolUse
    from litany_engine.windows.marks import Marks
    from litany_engine.windows.transcript import Transcript

_log = logging.getLogger("litany.window")


class WindowEnd(StrEnum):
    """How a window ended."""

    COMPLETED = "completed"
    FINISHED = "finished"
    STOPPED = "stopped"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class Answers:
    """What a window gave.

    Attributes:
        results: one for each call that was answered, in the order of the calls; of a window that was gone on
            with after a hold, those given since.
        end: how it ended.
        reason: of a held window: what the operator is to know.
        ends: how the calls ended that went through the door.
    """

    results: tuple[ToolResult, ...]
    end: WindowEnd
    reason: str = ""
    ends: tuple[CallEnd, ...] = ()


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of each stream the model is shown.

    Attributes:
        head_bytes: of its start.
        tail_bytes: of its end.
    """

    head_bytes: int
    tail_bytes: int


@dataclass(frozen=True, slots=True)
class Asked:
    """What of a reply is to be answered.

    Attributes:
        calls: the calls, in the order of their emission.
        alone: the reply asked for one call.
        held: the id that the mark on disk names; None when nothing is held.
    """

    calls: tuple[ToolUse, ...]
    alone: bool
    held: str | None = None


@dataclass(eq=False, slots=True)
class Flag:
    """The stop flag of whoever drives an agent, from before its window opens to after its last commit.

    Attributes:
        agent: whose.
        raised: no further call begins; those in flight are ended by `Door.stop`.
        ended: set once everything that will be answered is answered.
        felled: ids of the calls that the stop kept from beginning.
    """

    agent: str
    raised: bool = False
    ended: trio.Event = field(default_factory=trio.Event)
    felled: tuple[str, ...] = ()


class Window:
    """One window; the executor's lock is held around it.

    Args:
        door: what every call goes through.
        caller: who calls.
        transcript: what is answered in.
        marks: where a held call is marked.
        bounds: how much of each stream the model is shown.
        together: calls that run at once, of tools that are safe beside others.
        flag: the stop flag.
    """

    def __init__(
        self,
        door: Door,
        caller: Caller,
        transcript: Transcript,
        marks: Marks,
        *,
        bounds: Bounds,
        together: int,
        flag: Flag,
    ) -> None:
        self._flag = flag
        self._agent = caller.agent
        self._door = door
        self._caller = caller
        self._transcript = transcript
        self._marks = marks
        self._bounds = bounds
        self._together = together
        self._held: str | None = None  # the id that the mark on disk names
        self._running: list[ToolUse] = []
        self._answered = False
        self._results: list[ToolResult] = []
        self._ends: list[CallEnd] = []

    async def run(self, asked: Asked) -> Answers:
        """Answer the calls of a reply, in their order.

        Raises:
            GitError: a result cannot be committed; it and all after it stay unanswered.
            trio.Cancelled: after everything was settled.
        """
        self._held = asked.held
        async with self._stopped_when_cancelled():
            end, reason = await self._answer(asked)
        await trio.lowlevel.checkpoint_if_cancelled()
        return Answers(tuple(self._results), end, reason, tuple(self._ends))

    async def _answer(self, asked: Asked) -> tuple[WindowEnd, str]:
        left, final = asked.calls, False
        while left:
            if self._flag.raised:
                return await self._settle(left)
            attempts = [_Attempt(call) for call in self._neighbours(left)]
            answered, final = await self._answer_together(attempts, alone=asked.alone)
            left = left[answered:]
            if answered < len(attempts):
                parked = attempts[answered].parked
                if parked is None or self._flag.raised:  # the stop came before it had begun
                    return await self._settle(left)
                return WindowEnd.HELD, parked
        if self._flag.raised:
            return WindowEnd.STOPPED, ""
        return (WindowEnd.FINISHED if final else WindowEnd.COMPLETED), ""

    def _neighbours(self, calls: Sequence[ToolUse]) -> Sequence[ToolUse]:
        """The calls that run now: the first, and those behind it as long as all are safe beside others."""
        safe = 0
        while safe < len(calls) and self._is_safe(calls[safe]):
            safe += 1
        return calls[: max(safe, 1)]

    def _is_safe(self, call: ToolUse) -> bool:
        tool = self._caller.toolset.permitted(call.name, inner=False)
        return tool is not None and tool.traits.is_declared_safe(
            freeze(fill(call.input, tool.declaration.input_schema))
        )

    async def _answer_together(self, attempts: Sequence[_Attempt], *, alone: bool) -> tuple[int, bool]:
        """Make calls, and commit their results in their order.

        Returns:
            How many were answered; the one behind these, if there is one, did not begin, and none after it.
            Whether the last result is the last word.

        Raises:
            GitError: a result cannot be committed; the calls that are still in flight are ended.
        """
        answered, final = 0, False
        raised: Exception | None = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._begin, attempts, nursery)
            for attempt in attempts:
                await attempt.ended.wait()
                raised = attempt.fault
                if raised is None:
                    if attempt.end is None or attempt.parked is not None:
                        break
                    try:
                        final = await self._give(attempt.end, alone=alone)
                    except Exception as error:  # noqa: BLE001  raised below, where no nursery wraps it
                        raised = error
                if raised is not None:
                    nursery.cancel_scope.cancel()
                    break
                answered += 1
        if raised is not None:
            raise raised
        return answered, final

    async def _begin(self, attempts: Sequence[_Attempt], nursery: trio.Nursery) -> None:
        """Begin calls in their order, each once it is known of the one before whether it runs."""
        room = trio.Semaphore(self._together)
        left = list(attempts)
        while left:
            await room.acquire()
            if self._flag.raised:
                break
            attempt = left.pop(0)
            nursery.start_soon(self._make, attempt, room)
            await attempt.known.wait()
            if attempt.parked is not None or attempt.fault is not None:
                break
        for each in left:
            each.ended.set()

    async def _make(self, attempt: _Attempt, room: trio.Semaphore) -> None:
        """Make one call."""
        call = attempt.call
        self._running.append(call)
        try:
            end = await self._door.invoke(
                call.name,
                call.input,
                self._caller,
                call_id=call.id,
                judged=partial(self._judged, attempt),
            )
            begun = attempt.judged and attempt.parked is None
            if begun or not self._flag.raised:  # else the stop came before it had begun
                attempt.end = end
                if end.outcome is Outcome.FAULTED and not attempt.judged:
                    self._park(attempt, end.reason)
        except Exception as error:  # noqa: BLE001  raised by whoever commits, where no nursery wraps it
            attempt.fault = error
        finally:
            self._running.remove(call)
            room.release()
            attempt.known.set()
            attempt.ended.set()

    async def _give(self, end: CallEnd, *, alone: bool) -> bool:
        """Commit the result of a call; whether it is the last word."""
        self._ends.append(end)
        bounds = self._bounds
        result = answer(end, bounds.head_bytes, bounds.tail_bytes, stopped=self._flag.raised)
        final = self._is_final(end, alone=alone)
        await self._commit(result, str(end.outcome), final=final, record=end.record)
        return final

    def _is_final(self, end: CallEnd, *, alone: bool) -> bool:
        """Whether a call's result is the last word.

        Only of a call that was alone in its reply. Beside others it finishes nothing: all are answered as
        ever, and the model has not yet seen what they gave.
        """
        tool = self._caller.toolset.tools.get(end.call.name)
        if tool is None or not tool.traits.is_terminal or end.outcome is not Outcome.COMPLETED:
            return False
        if not alone:
            _log.info(
                "call %s of agent %s is not alone in its reply, so its terminal tool %s finishes nothing",
                end.call.id,
                self._agent,
                end.call.name,
            )
        return alone

    async def _settle(self, calls: Sequence[ToolUse]) -> tuple[WindowEnd, str]:
        self._flag.felled = tuple(call.id for call in calls)
        for call in calls:
            await self._commit(stopped_before(call), "stopped before it began")
        self._lift()  # a held call among them is answered now, and nobody need be asked about it
        return WindowEnd.STOPPED, ""

    async def _commit(
        self, result: ToolResult, how: str, *, final: bool = False, record: Path | None = None
    ) -> None:
        append = partial(self._transcript.append_result, result, how, final=final, record=record)
        await trio.to_thread.run_sync(append)
        self._results.append(result)

    def _judged(self, attempt: _Attempt, verdict: Verdict) -> None:
        """Keep the mark true: it stands exactly while the call it names waits for the operator."""
        attempt.judged = True
        if isinstance(verdict, Hold):
            self._park(attempt, verdict.reason)
        else:
            self._lift()
        attempt.known.set()

    def _park(self, attempt: _Attempt, reason: str) -> None:
        attempt.parked = reason
        self._marks.hold(attempt.call, reason)
        self._held = attempt.call.id

    def _lift(self) -> None:
        if self._held is not None:
            self._marks.lift()
            self._held = None

    @asynccontextmanager
    async def _stopped_when_cancelled(self) -> AsyncIterator[None]:
        """Turn the cancellation of this task into a stop of the window: every call gets its result."""
        raised: Exception | None = None
        async with trio.open_nursery() as nursery:
            with trio.CancelScope(shield=True):  # from here on a cancellation is a stop, never an exception
                await nursery.start(self._stop_when_cancelled)
            try:
                with trio.CancelScope(shield=True):
                    yield
            except Exception as error:  # noqa: BLE001  raised below, outside the nursery that would wrap it
                raised = error
            self._answered = True
            nursery.cancel_scope.cancel()
        if raised is not None:
            raise raised

    async def _stop_when_cancelled(
        self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        task_status.started()
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            # Not let through: the nursery would raise it, and what the window gave be lost.
            if self._answered:
                return
            self._flag.raised = True
            tools = self._caller.step.tools.relative_to(self._caller.workspace)
            with trio.CancelScope(shield=True):  # bounded by the cascades of the calls in flight
                async with trio.open_nursery() as stopping:
                    for call in self._running:
                        stopping.start_soon(self._door.stop, str(tools / record_name(call.id)))


@dataclass(eq=False, slots=True)
class _Attempt:
    """A call on its way.

    Attributes:
        call: what is asked.
        judged: the gates have said something.
        parked: why the window is parked at it; None when it is not.
        end: how it ended; None while it has not, and for one that did not begin.
        fault: what kept it from being made, and ends the window.
        known: set once it is known whether it runs.
        ended: set once it has ended, or will not begin.
    """

    call: ToolUse
    judged: bool = False
    parked: str | None = None
    end: CallEnd | None = None
    fault: Exception | None = None
    known: trio.Event = field(default_factory=trio.Event)
    ended: trio.Event = field(default_factory=trio.Event)
