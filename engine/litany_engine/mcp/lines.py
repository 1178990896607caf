"""Messages as lines of bytes, the way MCP crosses a pipe; with a bound on whatever waits.

The other side is a stranger. It may send a line without an end, or stop reading what it is sent; either would
be a leak of memory here. So both have a limit, past which the line is dropped or the connection is over.
"""

from __future__ import annotations

import math
from typing import Protocol, Self

import trio

from litany_runtime.limits import KIB, MIB

MAX_UNREAD_BYTES = 64 * MIB
"""Bytes that wait for the other side to read them: a few of the largest messages."""

MAX_DROPPED_BYTES = 256 * MIB
"""How far a line that is too long may go on until it is taken for one without an end."""

TAIL_BYTES = KIB
"""What is kept of the end of a line that is too long: some write a message's id there."""


class LineTooLongError(ValueError):
    """A message that is longer than any may be."""


class ClosedError(Exception):
    """Nothing more can be sent: the other side is gone, or has left too much unread."""


class Overlong(Protocol):
    """Told of a line that is too long to be read: once for its head, and once for its end."""

    def __call__(self, part: bytes, *, ended: bool) -> None:
        """Look at a part of it; what is raised comes out of `Lines.add`."""


class Lines:
    """Makes lines of bytes as they come.

    Args:
        max_bytes: the longest line.
        overlong: told of a longer one, the rest of which is then dropped; None and it is an error.
    """

    def __init__(self, max_bytes: int, overlong: Overlong | None = None) -> None:
        self._max_bytes = max_bytes
        self._overlong = overlong
        self._rest = bytearray()
        self._dropping = False
        self._dropped = 0

    def add(self, data: bytes) -> list[bytes]:
        """Take what arrived; returns the lines that are whole now, without their ends.

        Raises:
            LineTooLongError: one is longer than the limit.
        """
        *ended, last = data.split(b"\n")
        lines = []
        for each in ended:
            self._keep(each)
            if self._dropping:
                assert self._overlong is not None
                self._dropping = False
                self._overlong(bytes(self._rest), ended=True)
            else:
                lines.append(bytes(self._rest))
            self._rest.clear()
        self._keep(last)
        return [line for line in lines if line.strip()]

    def _keep(self, data: bytes) -> None:
        if self._dropping:
            self._dropped += len(data)
            if self._dropped > MAX_DROPPED_BYTES:
                raise LineTooLongError(f"a message of more than {MAX_DROPPED_BYTES} bytes")
            self._rest += data[-TAIL_BYTES:]
            del self._rest[:-TAIL_BYTES]
            return
        if len(self._rest) + len(data) <= self._max_bytes:
            self._rest += data
            return
        if self._overlong is None:
            raise LineTooLongError(f"a message of more than {self._max_bytes} bytes")
        head = bytes(self._rest[:TAIL_BYTES]) + data[: max(0, TAIL_BYTES - len(self._rest))]
        self._rest += data[-TAIL_BYTES:]
        del self._rest[:-TAIL_BYTES]
        self._dropping, self._dropped = True, 0
        self._overlong(head, ended=False)


class Outgoing:
    """Messages on their way out, as chunks for a pipe.

    Sending never waits, so that telling the other side of a cancellation cannot hold up a stop.

    Attributes:
        closed: nothing more is taken: it was closed, or too much was left unread.
    """

    def __init__(self, max_unread_bytes: int = MAX_UNREAD_BYTES) -> None:
        self._max_unread_bytes = max_unread_bytes
        self._unread = 0
        self._taken = 0
        self.closed = False
        self._send, self._receive = trio.open_memory_channel[bytes](math.inf)

    def put(self, line: bytes) -> None:
        """Put a message into the queue.

        Raises:
            ClosedError: the other side is gone, or has left too much unread.
        """
        if self._unread + len(line) > self._max_unread_bytes:
            self.close()
        try:
            self._send.send_nowait(line)
        except (trio.ClosedResourceError, trio.BrokenResourceError):
            raise ClosedError from None
        self._unread += len(line)

    def __aiter__(self) -> Self:
        """The queue as bytes, until it is closed and empty; `give_up` follows when nobody takes them."""
        return self

    async def __anext__(self) -> bytes:
        self._unread -= self._taken
        self._taken = 0
        try:
            line = await self._receive.receive()
        except (trio.EndOfChannel, trio.ClosedResourceError):
            raise StopAsyncIteration from None
        self._taken = len(line)
        return line

    def close(self) -> None:
        """Take no more; what is in the queue still goes out."""
        self.closed = True
        self._send.close()

    def give_up(self) -> None:
        """Nobody reads the other end."""
        self.close()
        self._receive.close()
