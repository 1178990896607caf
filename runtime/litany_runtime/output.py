"""What is kept of a stream: the head and the tail, with the middle counted and dropped."""

from __future__ import annotations

from collections import deque


class Kept:
    """Bytes of one stream within a bound, however much arrives.

    Args:
        max_bytes: how much is kept, half from the head and half from the tail.
    """

    def __init__(self, max_bytes: int) -> None:
        self._head_room = max_bytes - max_bytes // 2
        self._tail_max = max_bytes // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self.total_bytes = 0

    def add(self, data: bytes) -> None:
        """Take what arrived."""
        self.total_bytes += len(data)
        if self._head_room:
            taken = data[: self._head_room]
            self._head += taken
            self._head_room -= len(taken)
            data = data[len(taken) :]
        if not data:
            return
        self._tail.append(data)
        self._tail_bytes += len(data)
        while self._tail and self._tail_bytes - len(self._tail[0]) >= self._tail_max:
            self._tail_bytes -= len(self._tail.popleft())

    @property
    def dropped_bytes(self) -> int:
        """How much of the middle is gone."""
        return self.total_bytes - len(self._head) - min(self._tail_bytes, self._tail_max)

    def bytes(self) -> bytes:
        """Head and tail; between them, if anything was dropped, a line that says how much."""
        tail = b"".join(self._tail)[-self._tail_max :] if self._tail_max else b""
        if not self.dropped_bytes:
            return bytes(self._head) + tail
        marker = f"\n[{self.dropped_bytes} of {self.total_bytes} bytes dropped here: output limit]\n"
        return bytes(self._head) + marker.encode() + tail
