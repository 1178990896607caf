"""The supervisor's end of one child's socket.

A program that loops over calls is a ping-pong: the child waits for the answer, so its socket has room for it,
and there is nothing to read until the child has run. So what is sent is tried at once, without a checkpoint,
and what is read is waited for before it is tried. `trio.SocketStream` does both the other way round, which
costs an inner call a fifth of its time.
"""

from __future__ import annotations

import contextlib
import socket

import trio

_RECEIVE_BYTES = 64 * 1024


class Link:
    """A socket to one child; whoever dies, the other end is told by `receive` alone.

    Args:
        sock: the socket; owned from now on.
    """

    __slots__ = ("_sending", "_socket")

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._socket = sock
        self._sending = trio.Lock()

    async def receive(self) -> bytes:
        """Some bytes that the child sent; none once it or this end is gone."""
        try:
            while True:
                await trio.lowlevel.wait_readable(self._open())
                try:
                    return self._socket.recv(_RECEIVE_BYTES)
                except BlockingIOError:
                    continue
        except (OSError, trio.ClosedResourceError):
            return b""

    async def send(self, frame: bytes) -> None:
        """Send a frame whole, after those that are being sent; to a child that is gone, nothing.

        A checkpoint only where the child does not take it at once. Half a frame would make nonsense of the
        next, so what has begun is not cancelled: whoever gives up on a child kills it, which ends this.
        """
        with contextlib.suppress(OSError, trio.ClosedResourceError):
            if self._sending.locked():
                with trio.CancelScope(shield=True):
                    async with self._sending:
                        await self._send_rest(memoryview(frame))
            elif (sent := self._try(frame)) < len(frame):
                self._sending.acquire_nowait()  # it is free: nothing has been waited for since the look
                try:
                    with trio.CancelScope(shield=True):
                        await self._send_rest(memoryview(frame)[sent:])
                finally:
                    self._sending.release()

    async def send_first(self, frame: bytes) -> None:
        """Send the first frame; when that is cancelled, no other may be sent."""
        with contextlib.suppress(OSError, trio.ClosedResourceError):
            await self._send_rest(memoryview(frame)[self._try(frame) :])

    async def _send_rest(self, rest: memoryview) -> None:
        while rest:
            await trio.lowlevel.wait_writable(self._open())
            rest = rest[self._try(rest) :]

    def _try(self, data: bytes | memoryview) -> int:
        """How many bytes the socket takes at this moment."""
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0

    def _open(self) -> socket.socket:
        """The socket, to be waited on; trio takes a closed one for a number of its own."""
        if self._socket.fileno() < 0:
            raise trio.ClosedResourceError
        return self._socket

    def close(self) -> None:
        """Close the socket; whoever waits on it is told that it is gone. Again changes nothing."""
        if self._socket.fileno() >= 0:
            trio.lowlevel.notify_closing(self._socket)
            self._socket.close()
