"""The door: the one function that every call passes, whoever makes it.

    claim or mint the id ─► input.json ─► the gates ─► the executor, under its deadline ─► output.json

The exclusive creation of the record's folder is the lock on an id, so the door needs no memory of ids and two
processes may stand at it at once. `input.json` is on disk before a gate looks at the call, and `output.json`
before its answer is given; so every call that reached the door has left a record, refused ones too, and an
`input.json` alone means that the host died.

How a call ends, by what happens to the task it runs in:

| what happened | outcome |
|---|---|
| a gate refused | refused |
| the executor returned | what its capture says |
| the executor raised | faulted: a tool's failure is a capture; an exception is ours or the tool author's |
| its deadline passed | timed_out |
| `Door.stop` named it | stopped |
| the program that made it stopped waiting for it | stopped |
| the call it belongs to ended first | timed_out when that one's deadline has passed, else stopped |

An executor may answer its cancellation by returning what it has so far: so output survives a deadline.
The record is written without a checkpoint, so cancellation cannot come between an end and its record.
"""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import trio

from litany_engine.configuration.config import HoldConfig
from litany_engine.door.arguments import detach
from litany_engine.door.calls import CallEnd, Capture, ToolCall
from litany_engine.door.events import CallStarted, Event, Watchers
from litany_engine.door.execution import Deadlines, Executions
from litany_engine.door.gates import Admission, ControlFault, Hold, Verdict, ended_refusal, id_form_fault
from litany_engine.door.in_flight import Running, call_end, cut_short, faulted, told
from litany_engine.door.judging import Judging
from litany_engine.door.selection import selected
from litany_engine.records.call_counts import summary_of
from litany_engine.records.ids import record_name
from litany_engine.records.records import ClaimRefused, RecordError
from litany_runtime.outcome import EXIT_CODES, STOP_RAISED, Outcome
from litany_stubs.words import Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from litany_engine.door.budgets import Accounts
    from litany_engine.door.callers import Caller, Parent
    from litany_engine.door.calls import Executor
    from litany_engine.door.decisions import Decisions
    from litany_engine.door.holds import Holds
    from litany_engine.door.screens import Screen
    from litany_engine.records.disk_use import DiskUse
    from litany_engine.records.records import Record
    from litany_engine.rules.rules import Rules
    from litany_runtime.program import Awaited
    from litany_stubs.words import JSON

MAX_RECORDED_REFUSALS = 1000
"""Refused inner calls of one call that are looked at and recorded. A program that is refused a thousand times
is not going to mend its ways, and a record of each further try would fill the disk."""


class Door:
    """The door of one workspace in this process.

    Args:
        deadlines: what the operator allows.
        consult: asks the operator's control about a call; raises `ControlFault`. None when there is none.
        rules: the operator's rules.
        accounts: the budgets; None when there are none.
        holds: where the operator is asked; None when nobody can be: a hold is then a refusal.
        hold: how long the operator is waited for.
        decisions: the operator's decisions on disk, watched while calls run; None when nobody changes them.
        screens: functions over results, in their order.
        concurrency: inner calls of one agent at once.
        disk: what records take on disk, and may; None when nobody counts.
        router: answers every call in the place of the tools' own executors, whatever its name. It keeps the
            deadlines and watches for its cancellation itself, as every executor does.
    """

    def __init__(
        self,
        deadlines: Deadlines | None = None,
        consult: Callable[[ToolCall, Caller], Awaitable[Verdict]] | None = None,
        *,
        rules: Rules | None = None,
        accounts: Accounts | None = None,
        holds: Holds | None = None,
        hold: HoldConfig | None = None,
        decisions: Decisions | None = None,
        screens: Sequence[Screen] = (),
        concurrency: int = 8,
        router: Executor | None = None,
        disk: DiskUse | None = None,
    ) -> None:
        self._disk = disk
        self._consult = consult
        self._rules = rules
        self._decisions = decisions
        self._accounts = accounts
        self._watchers = Watchers()
        self._judging = Judging(holds, hold or HoldConfig(), self._watchers.tell)
        self._executions = Executions(deadlines or Deadlines(), screens, concurrency, router)
        self._running: dict[Running, None] = {}

    async def invoke(
        self,
        name: str,
        arguments: JSON,
        caller: Caller,
        *,
        call_id: str | None = None,
        deadline: float = math.inf,
        output: Callable[[str, bytes], None] | None = None,
        judged: Callable[[Verdict], None] | None = None,
        awaited: Awaited | None = None,
    ) -> CallEnd:
        """Make one call.

        Args:
            name: the tool's name.
            arguments: the input; copied before anything else, so that changing it later changes nothing.
            caller: who calls.
            call_id: an id offered from outside, any text for an outer call; None and the door mints one.
            deadline: on trio's clock, what the issuer allows; the least of all deadlines counts.
            output: `output(stream, chunk)` gets the tool's output as it comes, from tools that relay it.
            judged: told what the gates decided, before anything runs; a window parks on a hold. Not called
                when there was no verdict, which is a fault.
            awaited: what is known of a program that waits for the answer; None when nothing is.

        Returns:
            The end, recorded. Nothing is raised for a call that was refused or a tool that failed.

        Raises:
            trio.Cancelled: the issuer was cancelled; the end is recorded all the same.
        """
        parent = caller.parent
        if parent is not None and parent.refused >= MAX_RECORDED_REFUSALS:
            return _flooding(name, caller, parent)
        value, input_fault = detach(arguments)
        record, id_fault, record_fault = _claim(caller, call_id)
        given = call_id if record is not None and call_id != record.call_id else None
        call = ToolCall((call_id or "") if record is None else record.call_id, name, value, given or "")
        # A parent's deadline ends the task that its inner calls run in: a scope here need not watch it too.
        scope = trio.CancelScope(deadline=deadline)
        running = Running(call, caller, record, scope, awaited)
        if self._decisions is not None and not self._running:
            self._decisions.settle()
        self._running[running] = None
        self._watchers.tell(CallStarted(call, caller.agent, parent.id if parent else None))
        capture = Capture()
        try:
            with scope:
                if record_fault and parent is not None and not parent.lives:  # its step may be closed, too
                    capture = Capture(outcome=Outcome.REFUSED, refusal=ended_refusal(parent.id))
                elif record_fault:
                    capture = faulted(f"{record_fault}. The call was not run.")
                else:
                    capture = await self._admit_and_run(running, id_fault, input_fault, output, judged)
        except BaseException:  # cancelled from outside, or the process is asked to leave
            self._end(running, cut_short(running))
            raise
        if scope.cancelled_caught:
            capture = cut_short(running)
        return self._end(running, capture)

    async def stop(self, selector: str | None = None, *, reason: str = STOP_RAISED) -> tuple[str, ...]:
        """Raise the stop flag of running calls and wait until their ends are recorded.

        Args:
            selector: an agent (its descendants are covered), a call's id, or a call's record
                (`steps/<agent>/<NNN>/tools/<id>`); None for everything.
            reason: why, for the records.

        Returns:
            The ids of the calls whose flag was raised, outermost ones only: they end their inner calls.

        Raises:
            StopError: the id names calls of several agents or steps.
        """
        chosen = selected(self._running, selector)
        for each in chosen:
            each.stop(reason)
        for ending in [each.ending() for each in chosen]:  # before the first wait: others may end in it
            await ending.wait()
        return tuple(each.call.id for each in chosen)

    def running(self) -> tuple[ToolCall, ...]:
        """The calls in flight, in the order they came."""
        return tuple(each.call for each in self._running)

    def watch(self, watcher: Callable[[Event], None]) -> Callable[[], None]:
        """Tell `watcher` of every call from now on.

        Args:
            watcher: called in the door's own task, so it must not wait; one that raises is dropped.

        Returns:
            What ends the watching.
        """
        return self._watchers.add(watcher)

    async def _admit_and_run(
        self,
        running: Running,
        id_fault: str,
        input_fault: str,
        output: Callable[[str, bytes], None] | None,
        judged: Callable[[Verdict], None] | None,
    ) -> Capture:
        call, caller, record = running.call, running.caller, running.record
        arrived = trio.current_time()
        asked = Admission(
            call=call,
            caller=caller,
            id_fault=id_fault,
            input_fault=input_fault,
            rules=self._rules,
            consult=self._consult and self._ask_control,
            disk=self._disk,
            reserve=None if self._accounts is None else self._accounts.reserve,
        )
        try:
            if record is not None:
                record.write_input(call, caller.parent.id if caller.parent else None, running.started_at)
            verdict = await self._judging.judge(asked, running, parks=judged is not None)
        except (RecordError, ControlFault) as error:
            return faulted(f"{error}. The call was not run.")
        if asked.reservation is not None:
            running.reservations.append(asked.reservation)
        if judged is not None:
            judged(verdict)
        if verdict is not None:
            return Capture(outcome=Outcome.REFUSED, refusal=_as_refusal(verdict, asked))
        try:
            return await self._executions.run(
                asked,
                running,
                arrived,
                invoke=partial(self._invoke_inner, running),
                report=partial(self._report, running),
                output=output,
            )
        finally:
            if running.may_have_inner:
                await self._end_inner(running)

    async def _ask_control(self, call: ToolCall, caller: Caller) -> Verdict:
        assert self._consult is not None
        if self._decisions is not None and (fault := self._decisions.fault()):
            raise ControlFault(f"the control is not asked: {fault}")
        return await self._consult(call, caller)

    async def _invoke_inner(
        self, running: Running, name: str, arguments: JSON, awaited: Awaited | None = None, /
    ) -> CallEnd:
        """Make a call in the name of one that runs; a tool that stops waiting for it is told so as ever."""
        end = await self.invoke(name, arguments, running.inner_caller(), awaited=awaited)
        if awaited is None:
            await trio.lowlevel.checkpoint_if_cancelled()
        return end

    async def _end_inner(self, running: Running) -> None:
        """End what a call has left in flight in other tasks than its own: calls end before who made them."""
        left = [each for each in self._running if each.caller.parent is running.as_parent]
        endings = [each.ending() for each in left]
        for each in left:
            each.scope.cancel()
        with trio.CancelScope(shield=True):  # bounded by the cascades of those calls
            for ending in endings:
                await ending.wait()

    def _report(
        self,
        running: Running,
        message: object,
        fraction: object = None,
        *,
        progress: object = None,
        total: object = None,
    ) -> None:
        if running in self._running:  # what comes after the end is nobody's progress
            self._watchers.report(running.call, message, fraction, progress=progress, total=total)

    def _end(self, running: Running, capture: Capture) -> CallEnd:
        if self._decisions is not None and capture.outcome is not Outcome.REFUSED:
            notes = self._decisions.look(running.call.id, running.caller.agent)
            if notes:
                said = "".join(f"[litany: {note}]\n" for note in notes).encode()
                capture = replace(capture, stderr=capture.stderr + said)
        end = call_end(running, capture)
        if running.reservations or running.record is not None:
            try:
                self._settle(running, end)
                if running.record is not None:
                    _write_end(running, end)
            except Exception as error:  # noqa: BLE001  a full disk, or data that only this executor thinks is JSON
                why = f"its record could not be written ({told(error)}); what the call did stands"
                end = call_end(running, faulted(why))
        parent = running.caller.parent
        if parent is not None and end.outcome is Outcome.REFUSED:
            parent.refused += 1
        if parent is not None and parent.lives:
            parent.calls.append(summary_of(end))
        del self._running[running]
        running.tell_ended()
        self._watchers.tell(end)
        return end

    def _settle(self, running: Running, end: CallEnd) -> None:
        """Write down what the call gives, before it is given."""
        held, running.reservations = running.reservations, []
        size = len(end.stdout) + len(end.stderr)
        for index, each in enumerate(held):
            assert self._accounts is not None
            self._accounts.settle(each, 0 if index else size)


def _claim(caller: Caller, offered: str | None) -> tuple[Record | None, str, str]:
    """The record that holds the id; or why the id cannot be had; or why nothing can be recorded."""
    parent = caller.parent.id if caller.parent else None
    try:
        if offered is None:
            return (caller.step.mint_outer() if parent is None else caller.step.mint_inner(parent)), "", ""
        fault = id_form_fault(offered, parent)
        if fault:
            return None, fault, ""
        return caller.step.claim(record_name(offered) if parent is None else offered), "", ""
    except ClaimRefused as error:
        return None, str(error), ""
    except RecordError as error:
        return None, "", str(error)


def _write_end(running: Running, end: CallEnd) -> None:
    record, unrecorded = running.record, running.as_parent.unrecorded
    assert record is not None
    if unrecorded:
        record.write_text("unrecorded.json", f'{{"refused": {unrecorded}}}\n')
    record.write_output(end)


def _flooding(name: str, caller: Caller, parent: Parent) -> CallEnd:
    """The answer to a call whose like has been refused too often: in no time, without a trace of its own."""
    parent.unrecorded += 1
    now = datetime.now(UTC)
    reason = (
        f"{MAX_RECORDED_REFUSALS} calls of {parent.id!r} have been refused; no further call of its is looked "
        "at or recorded. End the program and read what the refusals said."
    )
    return CallEnd(
        ToolCall("", name, None),
        Outcome.REFUSED,
        EXIT_CODES[Outcome.REFUSED],
        started_at=now,
        ended_at=now,
        duration_s=0.0,
        refusal=Refusal("authority", reason),
        agent=caller.agent,
        parent=parent.id,
    )


def _as_refusal(verdict: Refusal | Hold, asked: Admission) -> Refusal:
    if isinstance(verdict, Refusal):
        return verdict
    where = "nobody can be waited for here" if asked.inner else "it was not run"
    return Refusal(
        verdict.gate, f"{asked.call.name!r} is held for the operator's answer, and {where}: {verdict.reason}"
    )
