"""The pipes of one tool process: ours and theirs, read and written without ever waiting for a stranger."""

from __future__ import annotations

import os
import socket
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import trio

from litany_runtime.limits import MIB

if TYPE_CHECKING:
    from collections.abc import Callable

_READ_BYTES = 65536
_DRAIN_BYTES = 2 * MIB  # what a pipe of the largest size an ordinary user may ask for can still hold, twice


class Pipes:
    """The descriptors of one call: ours, and theirs until they are handed over.

    Args:
        stack: closes what is left of them.
        feed: the process has an input; else it reads `/dev/null`.

    Raises:
        OSError: there are no descriptors left.

    Attributes:
        control: where the keeper speaks, and is spoken to.
        stdin: our end of the process's input; None when it has none.
        stdout: our end of its output.
        stderr: the same for the other stream.
        theirs: the other ends: control, stdin, stdout, stderr.
    """

    def __init__(self, stack: ExitStack, *, feed: bool) -> None:
        theirs = stack.enter_context(ExitStack())
        self._stdin = stack.enter_context(ExitStack())
        self.control, control = socket.socketpair()
        stack.callback(self.control.close)
        theirs.callback(control.close)
        self.stdin: int | None = None
        if feed:
            stdin, self.stdin = _pipe(theirs, self._stdin)
        else:
            stdin = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            theirs.callback(os.close, stdin)
        self.stdout, stdout = _pipe(stack, theirs)
        self.stderr, stderr = _pipe(stack, theirs)
        for ours in (self.stdin, self.stdout, self.stderr):
            if ours is not None:
                os.set_blocking(ours, False)
        self.control.setblocking(False)
        self.theirs = (control.fileno(), stdin, stdout, stderr)
        self.hand_over = theirs.close
        self.close_stdin = self._stdin.close  # earlier than the rest, so that the reader sees the end


def _pipe(readers: ExitStack, writers: ExitStack) -> tuple[int, int]:
    readable, writable = os.pipe2(os.O_CLOEXEC)
    readers.callback(os.close, readable)
    writers.callback(os.close, writable)
    return readable, writable


async def collect(fd: int, take: Callable[[bytes], None]) -> None:
    """Read a stream until its end or until we are cancelled."""
    while True:
        await trio.lowlevel.wait_readable(fd)
        try:
            data = os.read(fd, _READ_BYTES)
        except BlockingIOError:
            continue
        if not data:
            return
        take(data)


def drain(fd: int, take: Callable[[bytes], None]) -> None:
    """Take what ended processes left in a pipe. Never waits: somebody outside the tree may hold it."""
    with suppress(BlockingIOError):
        for _ in range(_DRAIN_BYTES // _READ_BYTES):
            data = os.read(fd, _READ_BYTES)
            if not data:
                return
            take(data)


async def send_all(fd: int, data: bytes) -> None:
    """Write all of it, whenever there is room.

    Raises:
        OSError: nobody reads it.
    """
    rest = memoryview(data)
    while rest:
        await trio.lowlevel.wait_writable(fd)
        with suppress(BlockingIOError):
            rest = rest[os.write(fd, rest) :]
