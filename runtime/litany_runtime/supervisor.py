"""The supervisor: the one place where programs meet processes and time.

It keeps one zygote, has children wait warm for programs of the kinds that come, and takes each program
through a child of its own (`run.py`).
"""

from __future__ import annotations

import math
import signal
from collections import deque
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio

from litany_runtime import confine
from litany_runtime.limits import Limits
from litany_runtime.outcome import EXIT_CODES, Outcome
from litany_runtime.program import ProgramEnd
from litany_runtime.run import Run
from litany_runtime.zygote_process import Zygote, ZygoteError
from litany_stubs.words import Refusal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from litany_runtime.deadline import Deadline
    from litany_runtime.program import InnerCall, Program
    from litany_runtime.setup import Setup
    from litany_runtime.zygote_process import Child, Kind
    from litany_stubs.words import Reply

_MAX_KINDS = 16
"""For how many kinds of program children wait at once; each waiting child holds a few MiB."""


class Supervisor:
    """Runs programs; made by `open_supervisor`."""

    def __init__(self, setup: Setup, services: _Services) -> None:
        self._setup = setup
        self._services = services
        self._zygote: Zygote | None = None
        self._starting = trio.Lock()
        self._warm: dict[Kind, deque[Child]] = {}
        self._refilling: set[Kind] = set()

    async def run(
        self,
        program: Program,
        limits: Limits | None = None,
        *,
        answer: Callable[[InnerCall], Awaitable[Reply]],
        deadline: float | Deadline = math.inf,
        stop: trio.Event | None = None,
        output: Callable[[str, bytes], None] | None = None,
        warned: Callable[[str], None] | None = None,
    ) -> ProgramEnd:
        """Run one program to its end, whatever that is.

        Args:
            program: what to run.
            limits: what it may use; the defaults when None.
            answer: answers one inner call; run as a task for each, cancelled when the program ends.
            deadline: absolute, on trio's clock; start-up and waiting count, except while a `Deadline`'s clock
                is stopped.
            stop: the stop flag.
            output: told each piece of output as it arrives: `("stdout" | "stderr", bytes)`; what it raises
                ends the program and is raised.
            warned: told each call of a tool in the program's text that cannot be, before it runs; None and
                nobody looks. It must not raise.

        Returns:
            How it ended; a fault of the harness is an end too (`faulted`).

        Raises:
            confine.ConfinementError: a layer that the isolation asks for cannot be had, so nothing runs.
        """
        limits = limits or Limits()
        if len(program.source) > limits.source_bytes:
            size = f"{len(program.source)} bytes; the limit is {limits.source_bytes} (source_bytes)"
            return _refused("policy", f"the program has {size}")
        run = Run(
            self, program, limits, answer=answer, deadline=deadline, stop=stop, output=output, warned=warned
        )
        return await run.through()

    async def take(self, kind: Kind) -> Child:
        """A warm child, from those that wait or forked now.

        Raises:
            ZygoteError: none can be had.
            confine.ConfinementError: a layer that the isolation asks for cannot be had.
        """
        return await self._waiting_child(kind) or await (await self._running_zygote()).spawn(kind)

    def release(self, kind: Kind) -> None:
        """A program of this kind has ended: have children wait for the next ones.

        Not when one is taken, because forking would keep the zygote from telling that a child has ended.
        """
        if self._setup.warm:
            self._services.attend(self._refill, kind)

    async def _waiting_child(self, kind: Kind) -> Child | None:
        waiting = self._warm.get(kind)
        while waiting:
            child = waiting.popleft()
            if not child.gone.is_set():
                return child
            await child.close()
        return None

    async def _refill(self, kind: Kind) -> None:
        """Bring the children that wait for a kind back to their number; the kind used last stays longest."""
        self._warm[kind] = waiting = self._warm.pop(kind, deque())
        while len(self._warm) > _MAX_KINDS:
            for child in self._warm.pop(next(iter(self._warm))):
                await self.discard(child)
        if kind in self._refilling:
            return
        self._refilling.add(kind)
        try:
            while len(waiting) < self._setup.warm and self._warm.get(kind) is waiting:
                child = await (await self._running_zygote()).spawn(kind)
                if self._warm.get(kind) is waiting:
                    waiting.append(child)
                else:
                    await self.discard(child)
        except (ZygoteError, confine.ConfinementError):
            pass  # the next program finds out, and is told
        finally:
            self._refilling.discard(kind)

    async def _running_zygote(self) -> Zygote:
        async with self._starting:
            if self._zygote is None or self._zygote.dead:
                self._zygote = await Zygote.start(self._setup)
                self._services.attend(self._zygote.serve)
            return self._zygote

    async def discard(self, child: Child) -> None:
        """End a child that is not needed any more, and let go of its descriptors."""
        await self.signal(child, signal.SIGKILL)
        await child.close()

    async def signal(self, child: Child, number: int) -> None:
        """Send a signal to a child; one that is gone is no error."""
        if self._zygote is not None:
            await self._zygote.signal(child, number)

    def attend(self, task: Callable[..., Awaitable[None]], *arguments: object) -> None:
        """Run a task that outlives the caller's cancellation, until the supervisor closes."""
        self._services.attend(task, *arguments)

    def end(self) -> None:
        """End the zygote and everything under it; the next program gets another."""
        if self._zygote is not None:
            self._zygote.kill()

    async def let_go(self) -> None:
        """Close the descriptors of the children that still wait; the zygote must be dead."""
        with trio.CancelScope(shield=True):
            while self._warm:
                _, waiting = self._warm.popitem()
                for child in waiting:
                    await child.close()


@asynccontextmanager
@trio.lowlevel.enable_ki_protection  # an interrupt while it closes would leave it half closed
async def open_supervisor(setup: Setup) -> AsyncIterator[Supervisor]:
    """A supervisor for as long as the block lasts; its zygote starts with the first program."""
    services = await _Services.start()
    supervisor = Supervisor(setup, services)
    try:
        yield supervisor
    finally:
        supervisor.end()
        await services.close()
        await supervisor.let_go()


class _Services:
    """Tasks that outlive the cancellation of the block: a cancelled run needs them to see its child end.

    They live in a system task and not in a nursery around the block, which would wrap every exception of the
    block into a group.
    """

    def __init__(self) -> None:
        self._nursery: trio.Nursery | None = None
        self._started = trio.Event()
        self._closed = trio.Event()

    @classmethod
    async def start(cls) -> _Services:
        self = cls()
        trio.lowlevel.spawn_system_task(self._serve)
        await self._started.wait()
        return self

    async def _serve(self) -> None:
        try:
            async with trio.open_nursery() as self._nursery:
                self._started.set()
                await trio.sleep_forever()
        finally:
            self._closed.set()

    def attend(self, task: Callable[..., Awaitable[None]], *arguments: object) -> None:
        assert self._nursery is not None
        self._nursery.start_soon(_uninterrupted, task, *arguments)

    async def close(self) -> None:
        assert self._nursery is not None
        self._nursery.cancel_scope.cancel()
        with trio.CancelScope(shield=True):
            await self._closed.wait()


@trio.lowlevel.enable_ki_protection
async def _uninterrupted(task: Callable[..., Awaitable[None]], *arguments: object) -> None:
    """Do a task; an interrupt that comes while it runs is the host's, and hits what that waits for.

    Raised here it would end the tasks of every program.
    """
    await task(*arguments)


def _refused(gate: str, reason: str) -> ProgramEnd:
    return ProgramEnd(Outcome.REFUSED, EXIT_CODES[Outcome.REFUSED], refusal=Refusal(gate, reason))
