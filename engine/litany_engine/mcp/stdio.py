"""Our own stdin and stdout as the two ends of a connection, without a thread that could not be ended.

Descriptors 0 and 1 belong to the protocol while it is served: whatever else reads stdin finds nothing there,
and what prints goes to stderr. Reads and writes wait until the kernel says that they will not block, in place
of the flag that would make them so: the flag belongs to the open file, which others may share (a terminal).
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import anyio
import trio

from litany_engine.mcp.lines import Lines
from litany_engine.mcp.messages import read_message
from litany_runtime.limits import MIB

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from anyio.streams.memory import MemoryObjectSendStream
    from mcp.shared.message import SessionMessage

    from litany_engine.mcp.lines import Outgoing

MAX_REQUEST_BYTES = 64 * MIB
"""The longest message of a client: above what any limit of a program lets through."""

_READ_BYTES = 65536
_WRITE_BYTES = 4096
"""What a pipe that is writable takes without blocking, whoever else writes to it (PIPE_BUF)."""


@contextmanager
def own_stdin() -> Iterator[int]:
    """A descriptor of stdin that is ours alone; descriptor 0 is empty as long as the block lasts."""
    ours = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.dup2(nothing, 0)
        yield ours
    finally:
        os.dup2(ours, 0)
        os.close(nothing)
        os.close(ours)


async def receive(
    fd: int,
    messages: MemoryObjectSendStream[SessionMessage | Exception],
    unreadable: Callable[[bytes], None] | None = None,
) -> None:
    """Hand on what comes from a client, until it leaves; a line that is no message is handed on as an error.

    Args:
        fd: where it comes from.
        messages: where it goes.
        unreadable: told of each line that is no message.

    Raises:
        LineTooLongError: it sent a message that is longer than any may be.
    """
    lines = Lines(MAX_REQUEST_BYTES)
    async with messages:
        while True:
            await _wait(trio.lowlevel.wait_readable, fd)
            try:
                data = os.read(fd, _READ_BYTES)
            except OSError:  # the terminal is gone
                return
            if not data:
                return
            for line in lines.add(data):
                message: SessionMessage | Exception
                try:
                    message = read_message(line)
                except ValueError as error:
                    message = error
                    if unreadable is not None:
                        unreadable(line)
                with suppress(anyio.BrokenResourceError):  # nobody serves any more
                    await messages.send(message)


async def send(outgoing: Outgoing, fd: int) -> None:
    """Write out what is sent, until no more comes or nobody reads it."""
    try:
        async for chunk in outgoing:
            rest = memoryview(chunk)
            while rest:
                await _wait(trio.lowlevel.wait_writable, fd)
                rest = rest[os.write(fd, rest[:_WRITE_BYTES]) :]
    except OSError:
        pass  # the client has left; that is also how its input ends
    finally:
        outgoing.give_up()


async def _wait(wait: Callable[[int], Awaitable[None]], fd: int) -> None:
    try:
        await wait(fd)
    except OSError:  # a file is never waited for
        await trio.lowlevel.checkpoint()
