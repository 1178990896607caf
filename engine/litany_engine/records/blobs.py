"""Contents that records share: written once, by their digest, and linked into each record that has them.

    blobs/<2 digits>/<62 digits>      in the workspace; the rest of the name is the content's SHA-256

A record holds a hard link, so it stays whole by itself: it can be copied, read and removed without an index,
and a blob that only its own name is left of is in no record any more (`unused_blobs`). Where a file system
has no hard links, or a blob has as many as it may, the record gets a copy of its own.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDER = "blobs"
"""Under the workspace's root."""

SHARED_BYTES = 4096
"""Contents from this size on are shared: one block of a disk, which the smallest file takes anyhow."""

ATTEMPTS = 8
"""Tries to link a blob that another process removes meanwhile."""

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_NO_LINK = frozenset({errno.EMLINK, errno.EPERM, errno.EXDEV, errno.ENOTSUP, errno.ENOSYS})


class Blobs:
    """The shared contents of one workspace.

    Args:
        root: the workspace's root folder.
        durable: flush a blob to the device before it is linked.
    """

    def __init__(self, root: Path, *, durable: bool = False) -> None:
        self._folder = root / FOLDER
        self._durable = durable

    def link(self, content: bytes, folder_fd: int, name: str) -> int | None:
        """Put a content into a record.

        Args:
            content: all of it.
            folder_fd: descriptor of a folder above the record's.
            name: the way from there to the file, which is not there.

        Returns:
            How many bytes were written for it: none when it is there already. None when it cannot be linked.

        Raises:
            OSError: the disk does not take it.
        """
        digest = hashlib.sha256(content).hexdigest()
        blob = self._folder / digest[:2] / digest[2:]
        written = 0
        for _ in range(ATTEMPTS):
            try:
                if not _is_whole(blob, len(content)):
                    self._write(blob, content)
                    written = len(content)
                os.link(blob, name, dst_dir_fd=folder_fd, follow_symlinks=False)
            except FileNotFoundError:  # it was removed as unused, a moment ago
                continue
            except FileExistsError:  # the call's own, of an earlier try
                os.unlink(name, dir_fd=folder_fd)
            except OSError as error:
                if error.errno in _NO_LINK:
                    return None
                raise
            else:
                return written
        return None

    def _write(self, blob: Path, content: bytes) -> None:
        """Write under a temporary name, then into place: nobody links to half a blob."""
        blob.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = blob.with_name(f".{secrets.token_hex(8)}")
        file = os.open(temporary, _CREATE, 0o444)
        try:
            try:
                left = memoryview(content)
                while left:
                    left = left[os.write(file, left) :]
                if self._durable:
                    os.fsync(file)
            finally:
                os.close(file)
            temporary.rename(blob)
            if self._durable:
                _flush(blob.parent)
                _flush(self._folder)
        except OSError:
            with suppress(OSError):
                temporary.unlink()
            raise


def unused_blobs(root: Path) -> Iterator[Path]:
    """The blobs of a workspace that no record has any more, and what a writer that died left behind."""
    for folder in (root / FOLDER).glob("??"):
        for blob in folder.iterdir():
            with suppress(OSError):
                if blob.lstat().st_nlink == 1:
                    yield blob


def _is_whole(blob: Path, size: int) -> bool:
    """Whether a blob is there; after a power cut it may be a name with nothing behind it."""
    try:
        return blob.lstat().st_size == size
    except FileNotFoundError:
        return False


def _flush(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
