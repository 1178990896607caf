"""How many calls are in flight at once, over all processes of a workspace: locks on bytes of one file.

A call in flight holds the lock on one byte of the file; the limit is how many bytes there are to be had. The
kernel lets go of the locks of a process that dies, however it dies, so nothing is left to be swept up or be
counted for ever, as a number in a file would be. The locks are of the open file (F_OFD_SETLK), not of the
process, so that two doors in one process bound each other, too.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_FLOCK = "hhqqi4x"
"""struct flock of Linux, on machines of 64 bits: type, whence, start, length, pid."""

_TAKEN = frozenset({errno.EAGAIN, errno.EACCES})


class Pending:
    """The places of one file.

    Args:
        path: the file; made, with its folder, when the first place is taken.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = -1
        self._held: set[int] = set()

    def take(self, limit: int) -> int | None:
        """Take one of the first `limit` places.

        Returns:
            Which, for `leave`; None when all are taken.

        Raises:
            OSError: the file cannot be had.
        """
        if self._fd < 0:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            weakref.finalize(self, os.close, self._fd)
        for place in range(limit):
            if place not in self._held and self._lock(fcntl.F_WRLCK, place):
                self._held.add(place)
                return place
        return None

    def leave(self, place: int) -> None:
        """Give a place back."""
        self._held.discard(place)
        self._lock(fcntl.F_UNLCK, place)

    def _lock(self, kind: int, place: int) -> bool:
        try:
            fcntl.fcntl(self._fd, fcntl.F_OFD_SETLK, struct.pack(_FLOCK, kind, os.SEEK_SET, place, 1, 0))
        except OSError as error:
            if error.errno in _TAKEN:
                return False
            raise
        return True
