"""One program's way through its child: take a warm one, give it the program, answer its calls, see it end.

The deadline and the stop flag cancel one scope; then one shielded, bounded block ends what is left:

    in-flight calls are cancelled; the child is interrupted (SIGINT), so that `finally` blocks run and output
    is flushed; after the grace it is killed (SIGKILL); its pipes are read to their end; its death is waited
    for.

Nothing here believes the child: its exit status comes from the kernel by way of the zygote, its calls are
counted here, and a message out of turn is its end.

A child that does not read its answers makes no further calls: once more than the largest value waits for it,
nothing more of what it says is read, and no call of its begins. So it costs its host that much memory, and
what the calls that run already answer.
"""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING

import trio

from litany_runtime import confine, wire
from litany_runtime.deadline import Deadline
from litany_runtime.limits import MIB, Limits
from litany_runtime.outcome import DEADLINE_PASSED, EXIT_CODES, STOP_RAISED, Outcome, Usage
from litany_runtime.output import Kept
from litany_runtime.program import Awaited, InnerCall, ProgramEnd
from litany_runtime.zygote_process import Child, Kind, Place, ZygoteError
from litany_stubs.words import Refusal, Reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from litany_runtime.program import Program
    from litany_runtime.supervisor import Supervisor

DEADLINE_GRACE_S = 0.05
"""Between the interrupt and SIGKILL when the deadline has passed: the time was agreed on beforehand, so what
is left is only to flush. A stop, which comes unannounced, gives `Limits.grace_s`."""

_LEAD_S = 0.005
"""Between the interrupt and the answers of the calls that end with the program: it goes by way of the
zygote, and answers do not."""

_LEAD_BOUND_S = 1.0
"""How long answers wait for the interrupt at most."""

_EXIT_S = 0.5
"""Between a child's last word and SIGKILL; it has nothing left to do but exit."""

_REAP_S = 5.0
"""How long a killed child may take to be reaped, on a machine that is out of breath."""

_DRAIN_S = 0.5
"""How long a dead child's pipes are read; they end with it unless something else holds them."""

_PIPE_BYTES = 64 * 1024

_MAX_WHY_CHARS = 1024
"""Why a result cannot be delivered names a value by its keys, which are the tool's and may be large; the end
says what is wrong."""


MAX_UNSENT = 1_000_000
"""Calls that a program may say it did not send; what a hostile one says is shown to people, and added up."""


class Run:
    """One program's way through its child; made by `Supervisor.run`, whose arguments it takes."""

    def __init__(
        self,
        supervisor: Supervisor,
        program: Program,
        limits: Limits,
        *,
        answer: Callable[[InnerCall], Awaitable[Reply]],
        deadline: float | Deadline,
        stop: trio.Event | None,
        output: Callable[[str, bytes], None] | None,
        warned: Callable[[str], None] | None = None,
    ) -> None:
        self._warned = warned
        self._supervisor = supervisor
        self._program = program
        self._limits = limits
        self._answer = answer
        self._deadline = deadline
        self._stop = stop
        self._output = output
        self._kept = {"stdout": Kept(limits.output_bytes), "stderr": Kept(limits.output_bytes)}
        self._drained = {"stdout": trio.Event(), "stderr": trio.Event()}
        self._calls = 0
        self._in_flight: dict[int, _Awaited] = {}
        self._cancelled: set[int] = set()
        self._sent_bytes = 0
        self._unsent_bytes = 0  # of answers that the child has not taken
        self._room: trio.Event | None = None
        self._interrupted = trio.Event()
        # How it ended; the first of these to be set is what the end says.
        self._cause: Outcome | None = None  # the flag: timed_out or stopped
        self._breach = ""  # a rule of the wire, or a limit counted here
        self._last: wire.Ended | wire.Refused | None = None  # its own last word
        self._fault = ""  # ours
        self._hosts_error: Exception | None = None
        self._flag = trio.CancelScope()

    async def through(self) -> ProgramEnd:
        """Take a child, run the program in it, see it end."""
        child: Child | None = None
        missing: confine.ConfinementError | None = None
        async with trio.open_nursery() as flagged:
            flag = self._flag = flagged.cancel_scope
            (self._deadline if isinstance(self._deadline, Deadline) else Deadline(self._deadline)).bind(flag)
            if self._stop is not None:
                flagged.start_soon(self._watch, self._stop, flag)
            settled = False
            try:
                async with trio.open_nursery() as calls:
                    try:
                        child = await self._supervisor.take(self._kind())
                        await self._converse(child, calls)
                    except ZygoteError as error:
                        self._fault = str(error)
                    except confine.ConfinementError as error:
                        missing = error
                    finally:
                        if self._last is None and not self._breach and flag.cancel_called:
                            self._cause = self._cause or Outcome.TIMED_OUT
                        if not self._ended_well():
                            calls.cancel_scope.cancel()
                        if child is not None:
                            with trio.CancelScope(shield=True):
                                await self._see_end(child)
                settled = True
            finally:
                if not settled and flag.cancel_called:
                    # It ended, but calls that it had not waited for did not, in time.
                    self._cause = self._cause or Outcome.TIMED_OUT
            flag.cancel()
        if missing is not None:
            raise missing
        if self._hosts_error is not None:
            raise self._hosts_error
        return self._end(child)

    def _kind(self) -> Kind:
        program = self._program
        name, place = None, None
        if program.worktree is not None:
            name = program.worktree.name
            with contextlib.suppress(OSError):  # the child that enters it says that a worktree is gone
                place = Place.of(program.worktree)
        return Kind(name, place, program.files, self._limits, program.stubs)

    async def _watch(self, stop: trio.Event, flag: trio.CancelScope) -> None:
        await stop.wait()
        if not flag.cancel_called:
            self._cause = Outcome.STOPPED
            flag.cancel()

    def _ended_well(self) -> bool:
        return isinstance(self._last, wire.Ended) and self._last.exit_code == 0

    # The conversation.

    async def _converse(self, child: Child, calls: trio.Nursery) -> None:
        self._supervisor.attend(self._drain, "stdout", child.stdout)
        self._supervisor.attend(self._drain, "stderr", child.stderr)
        run = wire.Run(self._program.source, self._program.filename, self._warned is not None)
        # Cancelled, it is half a frame to a child that is about to be killed, and was told nothing else.
        await child.link.send_first(wire.encode(run, wire.max_frame_from_host(self._limits)))
        await self._listen(child, calls)

    async def _listen(self, child: Child, calls: trio.Nursery | None) -> None:
        """Take what the child says until it has said its last; without `calls`, refuse its calls."""
        while self._last is None and not self._breach:
            if calls is not None:
                await self.room()  # what it does not read it shall not ask for
            if not (data := await child.link.receive()):
                return
            try:
                for message in child.decoder.feed(data):
                    self._take(child, message, calls)
                    if self._last is not None or self._breach:
                        return  # what it says after its last word is not read
            except wire.RemoteError as error:
                self._breach = f"it broke the rules of the wire: {error}"

    def _take(self, child: Child, message: wire.Message, calls: trio.Nursery | None) -> None:
        limits = self._limits
        if isinstance(message, wire.Refused) and self._calls:
            self._breach = "it broke the rules of the wire: it made calls, and says that it was refused"
        elif isinstance(message, wire.Ended | wire.Refused):
            self._last = message
        elif isinstance(message, wire.Cancel):
            self._cancel(message.seq, ending=calls is None)
        elif isinstance(message, wire.Warned) and self._warned is not None and not self._calls:
            warned, self._warned = self._warned, None
            for each in message.lines[: wire.MAX_WARNINGS]:
                warned(each[:_MAX_WHY_CHARS])
        elif not isinstance(message, wire.Call):
            self._breach = f"it broke the rules of the wire: {type(message).__name__} out of turn"
        elif message.seq != self._calls + 1:
            self._breach = f"it broke the rules of the wire: call {message.seq} after call {self._calls}"
        elif message.seq > limits.calls:
            self._breach = f"limit of {limits.calls} calls (calls)"
        elif len(self._in_flight) >= limits.pending_calls:
            self._breach = f"limit of {limits.pending_calls} calls at once (pending_calls)"
        elif child.decoder.taken_bytes + self._sent_bytes > limits.total_value_bytes:
            self._breach = f"limit of {limits.total_value_bytes} bytes over all values (total_value_bytes)"
        else:
            self._calls += 1
            awaited = self._in_flight[message.seq] = _Awaited(self)
            if calls is None:
                refusal = Refusal("stop", "the program is being ended; no call is taken any more")
                reply = Reply(Outcome.REFUSED, EXIT_CODES[Outcome.REFUSED], refusal=refusal)
                self._supervisor.attend(self._send, child, self._frame(child, message.seq, reply))
            else:
                asked = InnerCall(message.seq, message.name, message.input, awaited)
                calls.start_soon(self._answer_one, child, asked, awaited.scope)

    def _cancel(self, seq: int, *, ending: bool) -> None:
        """End a call that the program waits for no longer; one that is answered already is left as it is."""
        if not 1 <= seq <= self._calls:
            self._breach = f"it broke the rules of the wire: it cancelled call {seq}, which it has not made"
        elif seq in self._cancelled:
            self._breach = f"it broke the rules of the wire: it cancelled call {seq} again"
        else:
            self._cancelled.add(seq)
            if not ending and (awaited := self._in_flight.get(seq)):
                awaited.give_up()

    async def room(self) -> None:
        """Wait until the child has taken enough of its answers for more to be made."""
        while self._unsent_bytes > self._limits.value_bytes:
            if self._room is None:
                self._room = trio.Event()
            await self._room.wait()

    async def _answer_one(self, child: Child, call: InnerCall, scope: trio.CancelScope) -> None:
        seq = call.seq
        try:
            with scope:
                frame = self._frame(child, seq, await self._answer(call))
            if scope.cancelled_caught:
                frame = self._frame(child, seq, _given_up())
        except trio.Cancelled:
            outcome = self._cause or Outcome.STOPPED
            await self._send(child, self._frame(child, seq, Reply(outcome, EXIT_CODES[outcome])))
            raise
        except Exception as error:  # noqa: BLE001 - a fault of the host must not end another's program silently
            text = f"the door failed: {type(error).__name__}: {error}"
            failed = Reply(Outcome.FAULTED, EXIT_CODES[Outcome.FAULTED], stderr=text.encode(errors="replace"))
            frame = self._frame(child, seq, failed)
        del call  # what it was given is not kept for as long as the child takes to read what it gave
        await self._send(child, frame)

    def _frame(self, child: Child, seq: int, reply: Reply) -> bytes:
        """What a call is answered with, which is then on its way."""
        limits = self._limits
        try:
            room = limits.total_value_bytes - child.decoder.taken_bytes - self._sent_bytes
            frame = wire.encode(_answer(seq, reply), min(limits.value_bytes, max(room, 0)))
        except wire.LocalError as error:
            outcome, why = str(reply.outcome)[:_MAX_WHY_CHARS], str(error)[-_MAX_WHY_CHARS:]
            text = (
                f"the call was made and ended ({outcome}, exit code {reply.exit_code}), but its result "
                f"cannot be delivered: {why}. Do not repeat the call for its output."
            )
            undelivered = Reply(
                Outcome.FAULTED, EXIT_CODES[Outcome.FAULTED], stderr=text.encode(errors="backslashreplace")
            )
            frame = wire.encode(_answer(seq, undelivered), wire.FRAME_OVERHEAD_BYTES)
        self._sent_bytes += len(frame)
        del self._in_flight[seq]
        return frame

    async def _send(self, child: Child, frame: bytes) -> None:
        self._unsent_bytes += len(frame)
        try:
            if self._flag.cancel_called and not self._interrupted.is_set():
                # The program is to be interrupted in this call, and not to go on behind it.
                with trio.CancelScope(shield=True), trio.move_on_after(_LEAD_BOUND_S):
                    await self._interrupted.wait()
                    await trio.sleep(_LEAD_S)
            await child.link.send(frame)  # to a child that does not read, until `_see_end` has killed it
        finally:
            self._unsent_bytes -= len(frame)
            if self._room is not None and self._unsent_bytes <= self._limits.value_bytes:
                self._room.set()
                self._room = None

    async def _drain(self, name: str, pipe: trio.lowlevel.FdStream) -> None:
        """Take a stream to its end, never waiting for anybody."""
        kept = self._kept[name]
        try:
            with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                while data := await pipe.receive_some(_PIPE_BYTES):
                    kept.add(data)
                    if self._output is not None:
                        self._relay(name, bytes(data))
        finally:
            self._drained[name].set()

    def _relay(self, name: str, data: bytes) -> None:
        assert self._output is not None
        try:
            self._output(name, data)
        except Exception as error:  # noqa: BLE001 - the host's own; `run` raises it once the program has ended
            self._output = None
            self._hosts_error = error
            self._cause = self._cause or Outcome.STOPPED
            self._flag.cancel()

    # The end.

    async def _see_end(self, child: Child) -> None:
        """End what is left of a child. Every wait here is bounded."""
        if self._last is None and not self._breach and not child.gone.is_set():
            await self._supervisor.signal(child, signal.SIGINT)
            self._interrupted.set()
            grace_s = self._limits.grace_s
            with trio.move_on_after(
                min(grace_s, DEADLINE_GRACE_S) if self._cause is Outcome.TIMED_OUT else grace_s
            ):
                await self._listen(child, None)
                await child.gone.wait()
        elif self._last is not None:
            with trio.move_on_after(_EXIT_S):
                await child.gone.wait()
        self._interrupted.set()
        if not child.gone.is_set():
            await self._supervisor.signal(child, signal.SIGKILL)
            with trio.move_on_after(_REAP_S):
                await child.gone.wait()
            if not child.gone.is_set():
                self._supervisor.end()  # a zygote that cannot reap is broken; its end is everyone's
        with trio.move_on_after(_DRAIN_S):
            for each in self._drained.values():
                await each.wait()
        await child.close()
        self._supervisor.release(child.kind)

    def _end(self, child: Child | None) -> ProgramEnd:
        outcome, exit_code, reason = self._verdict(child)
        refusal = None
        if outcome is Outcome.REFUSED and isinstance(self._last, wire.Refused):
            refusal = Refusal("policy", self._last.reason)
        exited = None if child is None else child.exited
        usage = Usage(calls=self._calls)
        if exited is not None:
            usage = Usage(exited.cpu_s, exited.peak_memory_bytes, self._calls)
        return ProgramEnd(
            outcome,
            exit_code,
            self._kept["stdout"].bytes(),
            self._kept["stderr"].bytes(),
            reason,
            refusal,
            usage,
            () if child is None else child.layers,
            *self._unnoticed(),
        )

    def _unnoticed(self) -> tuple[tuple[int, ...], int]:
        """Which calls failed without its looking, and how many were not sent: what it says of itself."""
        last = self._last
        if not isinstance(last, wire.Ended):
            return (), 0
        made = (each for each in dict.fromkeys(last.unread[: wire.MAX_UNREAD]) if 1 <= each <= self._calls)
        return tuple(made), min(max(0, last.unsent), MAX_UNSENT)

    def _verdict(self, child: Child | None) -> tuple[Outcome, int, str]:
        """Outcome, exit code and reason, by the first cause."""
        limits = self._limits
        if self._cause is not None:
            reason = DEADLINE_PASSED if self._cause is Outcome.TIMED_OUT else STOP_RAISED
            return self._cause, EXIT_CODES[self._cause], reason
        if self._breach:
            return Outcome.KILLED, 128 + signal.SIGKILL, self._breach
        if self._fault or child is None:
            return Outcome.FAULTED, EXIT_CODES[Outcome.FAULTED], self._fault
        if isinstance(self._last, wire.Refused):
            return Outcome.REFUSED, EXIT_CODES[Outcome.REFUSED], ""
        if child.exited is None:
            return Outcome.FAULTED, EXIT_CODES[Outcome.FAULTED], "the zygote died while the program ran"
        status = child.exited.status
        if os.WIFSIGNALED(status):
            used = Usage(child.exited.cpu_s, child.exited.peak_memory_bytes)
            reason = confine.explain_death(status, used, limits)
            return Outcome.KILLED, 128 + os.WTERMSIG(status), reason
        exit_code = os.WEXITSTATUS(status)
        if self._last is None and exit_code == EXIT_CODES[Outcome.FAULTED]:
            return Outcome.FAULTED, exit_code, self._kept["stderr"].bytes().decode("utf-8", "replace").strip()
        if exit_code == 0:
            return Outcome.COMPLETED, 0, ""
        reason = ""
        if isinstance(self._last, wire.Ended) and self._last.out_of_memory:
            reason = f"memory limit {limits.memory_bytes // MIB} MiB"
        return Outcome.FAILED, exit_code, reason


class _Awaited(Awaited):
    """A program that waits for a call, as its `Run` knows it."""

    __slots__ = ("_run", "scope")

    def __init__(self, run: Run) -> None:
        super().__init__()
        self._run = run
        self.scope = trio.CancelScope()

    def give_up(self) -> None:
        """End the call."""
        self.given_up_at = trio.current_time()
        self.scope.cancel()

    async def room(self) -> None:
        """Wait until the child has taken enough of its answers for more to be made."""
        await self._run.room()


def _given_up() -> Reply:
    return Reply(
        Outcome.STOPPED, EXIT_CODES[Outcome.STOPPED], stderr=b"stopped: the program stopped waiting for it\n"
    )


def _answer(seq: int, reply: Reply) -> wire.Answer:
    refusal = reply.refusal or Refusal("", "")
    return wire.Answer(
        seq,
        str(reply.outcome),
        reply.exit_code,
        reply.stdout,
        reply.stderr,
        reply.data,
        refusal.gate,
        refusal.reason,
        float(reply.duration_s),
        float(reply.waited_s),
    )
