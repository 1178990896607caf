"""What is kept of a stream: the head and the tail, with the middle counted and dropped."""

from __future__ import annotations

MARKER_BYTES = 128
"""The line that stands for a dropped middle is shorter than this."""


class Kept:
    """Bytes of one stream within a bound, however much arrives and in whatever pieces.

    Args:
        max_bytes: how much is kept, half from the head and half from the tail.
    """

    def __init__(self, max_bytes: int) -> None:
        self._head_max = max_bytes - max_bytes // 2
        self._tail_max = max_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total_bytes = 0

    def add(self, data: bytes | bytearray) -> None:
        """Take what arrived."""
        self.total_bytes += len(data)
        if room := self._head_max - len(self._head):
            self._head += data[:room]
            data = data[room:]
        self._tail += data[-self._tail_max :] if self._tail_max else b""
        # Cut only when it has doubled, so that a byte costs a constant however small the pieces are.
        if len(self._tail) > 2 * self._tail_max:
            del self._tail[: -self._tail_max]

    @property
    def dropped_bytes(self) -> int:
        """How much of the middle is gone."""
        return self.total_bytes - len(self._head) - min(len(self._tail), self._tail_max)

    def bytes(self) -> bytes:
        """Head and tail; between them, if anything was dropped, a line that says how much."""
        tail = self._tail[-self._tail_max :] if self._tail_max else b""
        if not self.dropped_bytes:
            return bytes(self._head + tail)
        marker = f"\n[{self.dropped_bytes} of {self.total_bytes} bytes dropped here: output limit]\n"
        return bytes(self._head) + marker.encode() + tail
