"""The tool window: the calls of one reply of a model, answered in the order of their emission.

One call at a time goes through the door, and its result is committed before the next one begins, so what a
call did to files and what the model reads of it are one commit, and what is unanswered can be read from the
transcript after any death. A window ends in one of four ways:

    completed   every call has its result
    finished    so has the only one, of a terminal tool: it is the last word, and the model is not asked again
    stopped     the call in flight was ended and answered, and each one after it was told that it was not run
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
        raised: no further call begins; the one in flight is ended by `Door.stop`.
        ended: set once everything that will be answered is answered.
        felled: ids of the calls that the stop kept from beginning.
    """

    agent: str
    raised: bool = False
    ended: trio.Event = field(default_factory=trio.Event)
    felled: tuple[str, ...] = ()


class Window:
    """One window; the executor's lock is held around it."""

    def __init__(
        self,
        door: Door,
        caller: Caller,
        transcript: Transcript,
        marks: Marks,
        *,
        bounds: Bounds,
        flag: Flag,
    ) -> None:
        self._flag = flag
        self._agent = caller.agent
        self._door = door
        self._caller = caller
        self._transcript = transcript
        self._marks = marks
        self._bounds = bounds
        self._held: str | None = None  # the id that the mark on disk names
        self._running: ToolUse | None = None
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
        calls, final = asked.calls, False
        for index, call in enumerate(calls):
            if self._flag.raised:
                return await self._settle(calls[index:])
            self._running = call
            judgement = _Judgement()
            end = await self._door.invoke(
                call.name,
                call.input,
                self._caller,
                call_id=call.id,
                judged=partial(self._judged, call, judgement),
            )
            if self._flag.raised and (not judgement.given or judgement.hold is not None):
                return await self._settle(calls[index:])  # it came before the call had begun
            if end.outcome is Outcome.FAULTED and not judgement.given:
                self._park(call, end.reason)
                return WindowEnd.HELD, end.reason
            if judgement.hold is not None:
                return WindowEnd.HELD, judgement.hold.reason
            self._ends.append(end)
            bounds = self._bounds
            result = answer(end, bounds.head_bytes, bounds.tail_bytes, stopped=self._flag.raised)
            final = self._is_final(end, alone=asked.alone)
            await self._commit(result, str(end.outcome), final=final, record=end.record)
        if self._flag.raised:
            return WindowEnd.STOPPED, ""
        return (WindowEnd.FINISHED if final else WindowEnd.COMPLETED), ""

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

    def _judged(self, call: ToolUse, judgement: _Judgement, verdict: Verdict) -> None:
        """Keep the mark true: it stands exactly while the call it names waits for the operator."""
        judgement.given = True
        if isinstance(verdict, Hold):
            judgement.hold = verdict
            self._park(call, verdict.reason)
        else:
            self._lift()

    def _park(self, call: ToolUse, reason: str) -> None:
        self._marks.hold(call, reason)
        self._held = call.id

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
            if self._running is not None:
                record = self._caller.step.tools / record_name(self._running.id)
                with trio.CancelScope(shield=True):  # bounded by the cascade of the call in flight
                    await self._door.stop(str(record.relative_to(self._caller.workspace)))


@dataclass(slots=True)
class _Judgement:
    """What the gates said of a call.

    Attributes:
        given: they said something.
        hold: it was a hold.
    """

    given: bool = False
    hold: Hold | None = None
