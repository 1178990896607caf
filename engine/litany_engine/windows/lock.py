"""The executor's lock: one process at a time drives an agent, and a dead one drives nothing.

The lock is the kernel's (`flock`) on the agent's inbox folder, so it goes with the process that holds it,
however that process ends: no file to clean up, no process id to go stale. It belongs to the open folder, so a
fork without exec would share it; `close-on-exec` keeps it out of everything that is started properly.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class LockHeld(RuntimeError):  # noqa: N818 - a state to act on, not a fault
    """Another process holds the lock; the message names it where the kernel tells.

    Attributes:
        pid: its process id, or None when it cannot be seen from here.
    """

    def __init__(self, folder: Path, pid: int | None) -> None:
        who = f"process {pid}" if pid else "another process"
        super().__init__(f"{folder.name} is being driven by {who} (it holds the lock on {folder})")
        self.pid = pid


@contextmanager
def executor_lock(folder: Path) -> Iterator[int]:
    """Hold the lock on a folder for the length of a block; never waits.

    Args:
        folder: the agent's inbox, `Workspace.inbox(agent)`.

    Yields:
        The descriptor that carries the lock.

    Raises:
        LockHeld: somebody has it.
        OSError: the folder cannot be opened.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LockHeld(folder, lock_holder(folder)) from None
        yield descriptor
    finally:
        os.close(descriptor)


def lock_holder(folder: Path) -> int | None:
    """The process that holds the lock on a folder, as the kernel's table of locks says.

    None when none does, or when it cannot be told: the holder is outside our pid namespace, or the file
    system shows files under another device number than the table does (btrfs, overlayfs).

    The answer may be old by the time it is read: signal it only by a descriptor (pidfd) and look again after
    opening that.
    """
    try:
        status = folder.stat()
        with open("/proc/locks", encoding="ascii") as table:  # noqa: PTH123 - a kernel table, not a file of ours
            lines = table.read().splitlines()
    except OSError:
        return None
    inode = f":{status.st_ino}"
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    for line in lines:  # "1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF"; "->" marks one that waits
        words = line.split()
        if len(words) > 5 and words[1] == "FLOCK" and words[5] == device + inode:
            return int(words[4]) if int(words[4]) > 0 else None
    return None
