"""What a worktree may take on disk: counted while a program runs, at its calls, and at its end.

A kernel holds such a limit only where the operator has set one up (a project quota, which takes a privileged
mount and is asked for by `kernel_quota`). Everywhere else files are counted: a sweep over the worktree, which
follows no link and goes as deep as a program can make folders. A program that has gone past the limit is
stopped. Between two sweeps it may go past it by what it can write in that time; one that starts with no room
left may write nothing, and may remove files.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import stat
import struct
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import trio

from litany_engine.configuration.units import show_size

if TYPE_CHECKING:
    from pathlib import Path

    from litany_runtime.limits import Limits

LOOK_EVERY_S = 0.25
"""Between two sweeps while a program runs."""

LOOK_WHEN_FULL_S = 0.05
"""The same for a program that started with no room left."""

LOOK_AT_A_CALL_S = 0.05
"""A sweep at a call is left out when the last was so recent: a program may make thousands a second."""

SHARE = 20
"""The wait between two sweeps is at least so many times what a sweep takes."""

INLINE_FILES = 1000
"""A sweep over more files, some milliseconds, is done in a thread: a host has other things to do."""

MAX_RELATIVE_BYTES = 3000
"""Length of a path from an open folder, below the kernel's 4096: beyond it, the next folder is opened."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Usage:
    """What a worktree takes.

    Attributes:
        bytes: of all files, in the blocks that they have on disk.
        files: files, folders and links.
        unseen: a folder of ours that cannot be looked into, or "".
    """

    bytes: int = 0
    files: int = 0
    unseen: str = ""


@dataclass(frozen=True, slots=True)
class WorktreeLimit:
    """What a worktree may take.

    Attributes:
        bytes: of all files.
        files: files, folders and links.
    """

    bytes: int
    files: int

    def over(self, usage: Usage) -> bool:
        """Whether a worktree takes more than it may."""
        return usage.bytes > self.bytes or usage.files > self.files or bool(usage.unseen)

    def told(self, usage: Usage) -> str:
        """What is there and what may be, for whoever reads how a program ended."""
        if usage.unseen:
            return (
                f"the folder {usage.unseen!r} in the worktree cannot be looked into, so it cannot be counted"
            )
        return (
            f"the worktree holds {show_size(usage.bytes)} in {usage.files} files, and may hold "
            f"{show_size(self.bytes)} in {self.files} ([disk] worktree and worktree_files in litany.toml)"
        )


class Watch:
    """One program's use of its worktree.

    Args:
        worktree: the folder.
        limit: what it may take.
    """

    def __init__(self, worktree: Path, limit: WorktreeLimit) -> None:
        self._worktree = worktree
        self._limit = limit
        self._looked_at = 0.0
        self._took_s = 0.0
        self._base = Usage()
        self._is_small = True
        self.full_at_start = False
        self.breach = ""

    async def begin(self, limits: Limits) -> Limits:
        """Look before the program starts; the limits that it gets."""
        self._base = await self._look()
        self.full_at_start = self._limit.over(self._base)
        return replace(limits, file_bytes=1) if self.full_at_start else limits

    async def keep(self, stop: trio.Event) -> None:
        """Look again and again, and raise the program's stop flag once it is past the limit."""
        while not self.breach:
            every = LOOK_WHEN_FULL_S if self.full_at_start else LOOK_EVERY_S
            await trio.sleep(max(every, SHARE * self._took_s))
            await self._judge(stop)

    async def at_a_call(self, stop: trio.Event) -> None:
        """Look before a call of the program's, unless that was done a moment ago."""
        if time.monotonic() - self._looked_at >= max(LOOK_AT_A_CALL_S, SHARE * self._took_s):
            await self._judge(stop)

    async def at_the_end(self) -> str:
        """Look at what the program left; what whoever reads its end is to know, or ""."""
        usage = await self._look()
        if not self._limit.over(usage):
            return ""
        full = " It began with no room left, so it could write nothing." if self.full_at_start else ""
        return f"{self._limit.told(usage)}. Until files are removed, a program here may write nothing.{full}"

    async def _judge(self, stop: trio.Event) -> None:
        usage = await self._look()
        base = self._base
        grown = usage.bytes > base.bytes or usage.files > base.files or usage.unseen != base.unseen
        if self._limit.over(usage) and (grown or not self.full_at_start):
            self.breach = f"limit on disk: {self._limit.told(usage)}"
            stop.set()

    async def _look(self) -> Usage:
        began = time.monotonic()
        usage = sweep(self._worktree, self._limit, INLINE_FILES) if self._is_small else None
        if usage is None:
            self._is_small = False
            usage = await trio.to_thread.run_sync(sweep, self._worktree, self._limit)
            assert usage is not None
        self._looked_at = time.monotonic()
        self._took_s = self._looked_at - began
        return usage


class _Top:
    """An open folder, closed when nothing below it is left to be looked at."""

    __slots__ = ("fd",)

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __del__(self) -> None:
        os.close(self.fd)


def sweep(worktree: Path, limit: WorktreeLimit, most: int | None = None) -> Usage | None:
    """Count what a worktree takes; no further than it takes to know that it is twice the limit.

    Args:
        worktree: the folder; one that is gone takes nothing.
        limit: what it may take.
        most: count no more files than these.

    Returns:
        What it takes; None when it holds more files than `most`.
    """
    try:
        top = _Top(os.open(worktree, _FOLDER))
    except OSError:
        return Usage()
    total = files = 0
    unseen = ""
    linked: set[int] = set()
    waiting: list[tuple[_Top, str]] = [(top, ".")]
    while waiting and total <= 2 * limit.bytes and files <= 2 * limit.files:
        above, way = waiting.pop()
        try:
            folder = _Top(os.open(way, _FOLDER, dir_fd=above.fd))
        except OSError:
            unseen = unseen or _own(above.fd, way)
            continue
        below = folder if len(way) > MAX_RELATIVE_BYTES else above
        with os.scandir(folder.fd) as found:
            for each in found:
                try:
                    status = each.stat(follow_symlinks=False)
                except OSError:
                    continue  # it is gone
                files += 1
                if most is not None and files > most:
                    return None
                if stat.S_ISDIR(status.st_mode):
                    waiting.append((below, each.name if below is folder else f"{way}/{each.name}"))
                elif status.st_nlink > 1:
                    if status.st_ino in linked:
                        continue
                    linked.add(status.st_ino)
                total += status.st_blocks * 512
    return Usage(total, files, unseen)


def _own(top: int, way: str) -> str:
    """The folder, when it is there and ours and still cannot be opened; else ""."""
    try:
        status = os.stat(way, dir_fd=top, follow_symlinks=False)
    except OSError:
        return ""
    return way if stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() else ""


_GET_ATTRIBUTES = 0x801C581F  # FS_IOC_FSGETXATTR
_ATTRIBUTES = "IIIII8x"
_QUOTACTL_FD = 443  # the same on every architecture
_GET_PROJECT_QUOTA = (0x800007 << 8) | 2  # Q_GETQUOTA, PRJQUOTA
_QUOTA_BYTES = 72  # struct if_dqblk: eight numbers of 64 bits, one of 32, and padding


def kernel_quota(folder: Path) -> tuple[int | None, str]:
    """The limit that the kernel itself holds over a folder and what is made below it.

    Returns:
        Bytes, or None when it holds none; and why, or which project.
    """
    try:
        fd = os.open(folder, _FOLDER)
    except OSError as error:
        return None, f"{error.strerror}"
    try:
        attributes = bytearray(struct.calcsize(_ATTRIBUTES))
        fcntl.ioctl(fd, _GET_ATTRIBUTES, attributes)
        project = struct.unpack(_ATTRIBUTES, attributes)[3]
        if not project:
            return None, "the folder is in no project"
        quota = ctypes.create_string_buffer(_QUOTA_BYTES)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syscall(_QUOTACTL_FD, fd, _GET_PROJECT_QUOTA, project, quota) != 0:
            return None, f"project {project}: {os.strerror(ctypes.get_errno())}"
        (hard_kib,) = struct.unpack_from("Q", quota)
    except OSError as error:
        return None, f"the file system has no projects ({error.strerror})"
    finally:
        os.close(fd)
    return (hard_kib * 1024, f"project {project}") if hard_kib else (None, f"project {project} has no limit")
