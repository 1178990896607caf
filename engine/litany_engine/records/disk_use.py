"""How many bytes the records of a workspace take on disk, counted as they are written, by all its processes.

    <workspace>/disk_use      the sum so far, a number in decimal digits

Each process adds up what it writes and puts it into the file once it is `FLUSH_BYTES`, and when a step is
closed. So the sum may lack that much of each process; what a process that was killed did not put in, the next
count of what is there (`count_again`) finds. A file that is missing or cannot be read is counted again.

What is counted: every file and folder of a record, in whole blocks as a disk gives them, and each blob once.
"""

from __future__ import annotations

import fcntl
import math
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from litany_engine.records.blobs import FOLDER as BLOBS

FILE = "disk_use"
"""Under the workspace's root."""

FLUSH_BYTES = 1024 * 1024
"""What a process may have written before it says so: a thousandth of any budget that makes sense."""

LOOK_EVERY_S = 0.2
"""How long a look at the sum serves: a call takes less time than a look."""

BLOCK_BYTES = 4096
"""The unit in which file systems give room."""

_DIGITS = 20


class DiskUse:
    """The count of one workspace in this process. Safe from any thread.

    Args:
        root: the workspace's root folder.
        limit: bytes that records may take; None for no limit.
    """

    def __init__(self, root: Path, limit: int | None = None) -> None:
        self.limit = limit
        self._root = root
        self._pending = 0
        self._seen = 0  # the sum at the last look, which `_seen_at` says the time of
        self._seen_at = -math.inf
        self._lock = threading.Lock()

    def add(self, size: int) -> None:
        """Count a file or folder of that size."""
        with self._lock:
            self._pending += blocks(size)
            flush = self._pending >= FLUSH_BYTES
        if flush:
            self.flush()

    def flush(self) -> None:
        """Put what this process has written into the sum; a full disk is told by the writes that matter."""
        with self._lock:
            pending, self._pending = self._pending, 0
            self._seen += pending
        if not pending:
            return
        with suppress(OSError):
            file = os.open(self._root / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
                before = _number(os.pread(file, _DIGITS, 0))
                # Of a file without a number all is counted, and what is pending is there already.
                total = measure(self._root) if before is None else before + pending
                os.pwrite(file, f"{total:0{_DIGITS}d}".encode(), 0)
            finally:
                os.close(file)

    def used(self) -> int:
        """Bytes that the records take."""
        try:
            found = _number((self._root / FILE).read_bytes())
        except OSError:
            found = None
        return self.count_again() if found is None else found + self._pending

    def count_again(self) -> int:
        """Measure what is there, put that into the file, and say it."""
        with self._lock:
            self._pending = 0
            self._seen_at = -math.inf
        total = measure(self._root)
        with suppress(OSError):
            temporary = self._root / f".{FILE}.{os.getpid()}"
            temporary.write_text(f"{total:0{_DIGITS}d}")
            temporary.replace(self._root / FILE)
        return total

    def is_full(self) -> bool:
        """Whether records take as much as they may."""
        if self.limit is None:
            return False
        if time.monotonic() - self._seen_at >= LOOK_EVERY_S:
            self._seen = self.used() - self._pending
            self._seen_at = time.monotonic()
        return self._seen + self._pending >= self.limit


def blocks(size: int) -> int:
    """The room that a file of a size takes on disk."""
    return -(-max(size, 1) // BLOCK_BYTES) * BLOCK_BYTES


def measure(root: Path) -> int:
    """What the records of a workspace take on disk, each blob counted once."""
    seen: set[int] = set()
    total = 0
    waiting = [root / "steps", root / BLOBS]
    while waiting:
        folder = waiting.pop()
        with suppress(OSError), os.scandir(folder) as found:
            for each in found:
                status = each.stat(follow_symlinks=False)
                if each.is_dir(follow_symlinks=False):
                    waiting.append(Path(each.path))
                    total += BLOCK_BYTES
                elif status.st_nlink == 1 or status.st_ino not in seen:
                    if status.st_nlink > 1:
                        seen.add(status.st_ino)
                    total += blocks(status.st_size)
    return total


def _number(text: bytes) -> int | None:
    return int(text) if text.isdigit() and len(text) == _DIGITS else None
