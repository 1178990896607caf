"""Messages as lines of bytes, the way MCP crosses a pipe; with a bound on whatever waits.

The other side is a stranger. It may send a line without an end, or stop reading what it is sent; either would
be a leak of memory here. So both have a limit, past which the connection is over.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

import anyio
import trio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from litany_runtime.limits import MIB

if TYPE_CHECKING:
    from types import TracebackType

MAX_UNREAD_BYTES = 64 * MIB
"""Bytes that wait for the other side to read them: a few of the largest messages."""


class LineTooLongError(ValueError):
    """A message that is longer than any may be."""


class Lines:
    """Makes lines of bytes as they come.

    Args:
        max_bytes: the longest line.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._rest = bytearray()

    def add(self, data: bytes) -> list[bytes]:
        """Take what arrived; returns the lines that are whole now, without their ends.

        Raises:
            LineTooLongError: one is longer than the limit.
        """
        *ended, last = data.split(b"\n")
        lines = []
        for each in ended:
            self._keep(each)
            lines.append(bytes(self._rest))
            self._rest.clear()
        self._keep(last)
        return [line for line in lines if line.strip()]

    def _keep(self, data: bytes) -> None:
        if len(self._rest) + len(data) > self._max_bytes:
            raise LineTooLongError(f"a message of more than {self._max_bytes} bytes")
        self._rest += data


def read_message(line: bytes) -> SessionMessage:
    """Understand one line.

    Raises:
        ValueError: it is no message.
    """
    return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))


class Outgoing:
    """Messages on their way out: the SDK's write stream on one side, chunks for a pipe on the other.

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

    async def send(self, item: SessionMessage, /) -> None:
        """Put a message into the queue; the SDK's own interface, which awaits this.

        Raises:
            anyio.ClosedResourceError: the other side is gone, or has left too much unread.
        """
        line = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        if self._unread + len(line) > self._max_unread_bytes:
            self.close()
        try:
            self._send.send_nowait(line)
        except (trio.ClosedResourceError, trio.BrokenResourceError):
            raise anyio.ClosedResourceError from None
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

    async def aclose(self) -> None:
        """The same as `close`, as the SDK calls it."""
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.close()
