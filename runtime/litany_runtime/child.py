"""The child: one program, from its first byte to its exit status.

Forked from the zygote, confined before it says that it is warm, never reused. Everything in this process
belongs to the program once it runs; what it says over the wire is a claim that the supervisor checks.
"""

from __future__ import annotations

import asyncio
import atexit
import builtins
import io
import os
import signal
import socket
import sys
import threading
import traceback
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from litany_runtime import confine, giving_up, policy, tracebacks, wire
from litany_runtime.channel import Channel, Interrupts
from litany_runtime.outcome import EXIT_CODES, Outcome
from litany_runtime.streams import Stream
from litany_stubs import client
from litany_stubs.looking import look
from litany_stubs.module import load_stubs

if TYPE_CHECKING:
    from collections.abc import Callable

    from litany_runtime import orders
    from litany_runtime.confine import Entered, Script
    from litany_runtime.policy import Prepared

WIRE_FD = 3
FAULT = EXIT_CODES[Outcome.FAULTED]
"""Exit code of a child whose harness failed; the message is on its stderr."""

_RESERVE_BYTES = 4 * 1024 * 1024
"""Held back while the program runs and let go when it is out of memory, so that its end can be told."""


@dataclass(frozen=True, slots=True)
class Nature:
    """What every child of one zygote shares.

    Attributes:
        prepared: the policy's module views and guards.
        language_layer: False: programs run with Python's own builtins; for tests of the kernel layer alone.
    """

    prepared: Prepared
    language_layer: bool


def main(order: orders.Spawn, fds: list[int], script: Script, entered: Entered, nature: Nature) -> NoReturn:
    """Be the child of an order; never returns."""
    code = FAULT
    try:
        code = _live(order, fds, script, entered, nature)
    except BaseException as error:  # noqa: BLE001 - nothing may return into the zygote's stack
        os.write(2, _why_it_failed(error, order).encode(errors="replace"))
    finally:
        os._exit(code)


def _why_it_failed(error: BaseException, order: orders.Spawn) -> str:
    """What the supervisor tells of a child that did not come up."""
    if isinstance(error, confine.ConfinementError):
        return str(error)
    if isinstance(error, MemoryError):
        limit = order.limits["memory_bytes"]
        return f"the memory limit (limits.memory) of {limit} bytes is too small for a child to come up"
    return f"the child failed: {type(error).__name__}: {error}"


def _live(order: orders.Spawn, fds: list[int], script: Script, entered: Entered, nature: Nature) -> int:
    plan = order.child_plan()
    files, limits = plan.files, plan.limits
    interrupts = Interrupts()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, interrupts.arrive)
    asyncio.runners.signal = interrupts  # type: ignore[attr-defined]
    sock = _arrange(fds)
    layers = [*(["language policy"] if nature.language_layer else []), *script.run()]
    stdout, stderr = _streams()
    decoder = wire.Decoder(wire.FROM_HOST, wire.max_frame_from_host(limits))
    stubs = _receive(sock, decoder)
    if not isinstance(stubs, wire.Stubs):
        return 0
    channel = Channel(sock, limits, decoder, interrupts)
    client.bind(channel)
    giving_up.begin(channel)
    tools = load_stubs(stubs.code)
    worktree = None if order.worktree is None else entered.worktree_path(order.worktree)
    namespace = (
        policy.namespace(nature.prepared, tools=tools, worktree=worktree, files=files)
        if nature.language_layer
        else _bare_namespace(tools)
    )
    channel.say(wire.Warm(layers))
    run = _receive(sock, decoder)
    if not isinstance(run, wire.Run):
        return 0
    return _Program(run, channel, tools, stdout, stderr).live(nature, namespace)


def _bare_namespace(tools: types.ModuleType) -> dict[str, Any]:
    """What a program finds when the language layer is off."""
    sys.modules["litany_tools"] = tools
    return {"__name__": "__main__", "__builtins__": builtins}


def _arrange(fds: list[int]) -> socket.socket:
    """Leave exactly these open: 0 nothing, 1 and 2 the output pipes, 3 the wire."""
    wire_fd, out, err = fds
    for fd, at in ((wire_fd, WIRE_FD), (out, 1), (err, 2)):
        os.dup2(fd, at, inheritable=False)
    os.closerange(WIRE_FD + 1, os.sysconf("SC_OPEN_MAX"))
    return socket.socket(fileno=WIRE_FD)


def _streams() -> tuple[io.TextIOWrapper, io.TextIOWrapper]:
    """Put the program's streams where it finds them."""
    stdout, stderr = Stream(1), Stream(2, "backslashreplace")
    sys.stdin = io.StringIO()
    sys.stdout = sys.__stdout__ = stdout  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = stderr  # type: ignore[misc]
    return stdout, stderr


def _receive(sock: socket.socket, decoder: wire.Decoder) -> wire.Message | None:
    """Wait for the next message; None when none will come."""
    while data := sock.recv(1 << 20):
        for message in decoder.feed(data):
            return message  # the host sends no other before it is answered
    return None


class _Program:
    """One run, with all that its end needs."""

    def __init__(
        self,
        run: wire.Run,
        channel: Channel,
        tools: types.ModuleType,
        stdout: io.TextIOWrapper,
        stderr: io.TextIOWrapper,
    ) -> None:
        self._tools = tools
        self._run = run
        self._channel = channel
        self._say = channel.say
        self._stdout = stdout
        self._stderr = stderr
        self._out_of_memory = False
        self._reserve: bytes | None = bytes(_RESERVE_BYTES)  # zeros that nobody looks at: they cost no page

    def live(self, nature: Nature, namespace: dict[str, Any]) -> int:
        """Compile, run, end; the exit code."""
        try:
            code = self._compile(nature)
        except policy.PolicyError as error:
            self._say(wire.Refused(str(error)))
            return EXIT_CODES[Outcome.REFUSED]
        tracebacks.begin(self._run.filename, self._run.source)
        if self._run.look:
            self._look()
        exit_code = self._execute(nature, code, namespace)
        self._reserve = None  # however it ended: what it holds on to may be all that there is
        finalize = (lambda: policy.end(namespace)) if nature.language_layer else int
        exit_code = self._finish(exit_code, finalize)
        unread = client.unread()[: wire.MAX_UNREAD]
        self._say(wire.Ended(exit_code, self._out_of_memory, unread, self._channel.unsent))
        return exit_code

    def _look(self) -> None:
        lines = look(self._run.source, self._run.filename, self._tools)
        self._say(wire.Warned(lines[: wire.MAX_WARNINGS]))

    def _compile(self, nature: Nature) -> types.CodeType:
        if nature.language_layer:
            return policy.compile_program(self._run.source, self._run.filename)
        return compile(self._run.source, self._run.filename, "exec", dont_inherit=True)

    def _execute(self, nature: Nature, code: types.CodeType, namespace: dict[str, Any]) -> int:
        try:
            if nature.language_layer:
                policy.execute(code, namespace)
            else:
                exec(code, namespace)  # noqa: S102
        except SystemExit as end:
            return self._exit_code(end.code)
        except BaseException as error:  # noqa: BLE001 - the program's own end, whatever it raised
            self._reserve = None
            self._out_of_memory = isinstance(error, MemoryError)
            self._report(error)
            return 1
        return 0

    def _exit_code(self, code: object) -> int:
        """What `sys.exit(code)` means to CPython."""
        if code is None:
            return 0
        if isinstance(code, int):
            return int(code) & 0xFF
        try:
            print(code, file=sys.stderr)  # noqa: T201 - what CPython does
        except Exception as error:  # noqa: BLE001 - the program's own __str__
            self._report(error)
        return 1

    def _report(self, error: BaseException) -> None:
        """The traceback, as CPython prints it."""
        try:
            report = traceback.TracebackException.from_exception(error, compact=True)
            self._stderr.write("".join(report.format()))
            self._stderr.flush()
        except BaseException as failure:  # noqa: BLE001 - no memory, an interrupt, a program's own __str__
            os.write(2, f"{type(error).__name__} (its traceback failed: {type(failure).__name__})\n".encode())

    def _finish(self, exit_code: int, finalize: Callable[[], object]) -> int:
        """End as an interpreter does: threads first, exit handlers, finalizers, then the output."""
        steps = (finalize, self._stdout.flush, self._stderr.flush)
        for step in (giving_up.at_the_end, threading._shutdown, atexit._run_exitfuncs, *steps):  # type: ignore[attr-defined]  # noqa: SLF001
            try:
                step()
            except BaseException as error:  # noqa: BLE001 - each step gets its turn
                self._report(error)
                exit_code = exit_code or 1
        return exit_code
