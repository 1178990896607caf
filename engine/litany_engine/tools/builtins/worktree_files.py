"""Files of one agent's worktree, opened so that no path and no race leads out of it.

A confined program can rename folders and plant symbolic links while we look, so a path that was checked and
then opened may be another path by then. Here the kernel does both at once: `openat2` with RESOLVE_BENEATH
follows links and `..` as long as they stay below the worktree, and refuses the rest. What is changed is
changed by a name in an opened folder, never by a path.

Why nothing outside is reachable: a program calls these tools through the door, and must not reach further
through them than its own confinement lets it. An agent whose grant has `bash` can read elsewhere with that.

The exception is what the operator has let this one call reach: real paths, as they were shown. They are
opened from the root of the file system with no link followed, so that they are what was shown.
"""

from __future__ import annotations

import ctypes
import errno
import os
import posixpath
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, Self

from litany_engine.rules.paths import locate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM_VIEW = "/worktree"
"""Where a confined program sees its worktree; an absolute path that it made of it means the same file."""

RACE_ATTEMPTS = 64
"""Tries to resolve a path while folders on it are being renamed: the kernel asks to try again."""

NAME_MAX_BYTES = 255
"""The longest name of a file or folder on Linux (NAME_MAX)."""

_OPENAT2 = 437  # the same on every architecture
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08
_GIT = ".git"


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


_libc = ctypes.CDLL(None, use_errno=True)


class FileRefusedError(ValueError):
    """A path that is not for a tool to touch, or a file that it cannot use: which, and why."""


class _Aim(NamedTuple):
    """What is to be opened.

    Attributes:
        top: the folder that the path starts from.
        path: the way from there.
        resolve: how the kernel goes it.
    """

    top: int
    path: str
    resolve: int


class WorktreeFiles:
    """The files that one call may reach. A context manager: it holds the worktree open.

    Args:
        worktree: the agent's worktree.
        cwd: the agent's working directory; relative paths start there.
        outside: real paths outside of it that this call may reach, too.
    """

    def __init__(self, worktree: Path, cwd: Path, outside: frozenset[str] = frozenset()) -> None:
        self._worktree = worktree
        self._cwd = cwd
        self._outside_paths = outside

    def __enter__(self) -> Self:
        try:
            self._root = os.open(self._worktree, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise FileRefusedError(f"the agent's worktree: {error.strerror}") from error
        self._real = _path_of(self._root)
        self._top = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._root)
        os.close(self._top)

    def read(self, path: str, max_bytes: int) -> tuple[bytes, int]:
        """Read a regular file.

        Args:
            path: the file, relative to the working directory, or absolute within the worktree.
            max_bytes: read no more than this.

        Returns:
            The first `max_bytes` bytes, and the size: what the file system says, or what was read if more.

        Raises:
            FileRefusedError: outside the worktree, missing, not permitted, or no regular file.
        """
        # Not blocking: to open a named pipe would else wait for a writer.
        fd = self._open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            self._refuse_git(fd, path)
            status = os.fstat(fd)
            _refuse_irregular(status, path)
            content = b"".join(_chunks(fd, max_bytes))
        finally:
            os.close(fd)
        return content, max(status.st_size, len(content))

    @contextmanager
    def parent(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """Open the folder that holds, or would hold, `path`: a change by name in it cannot land elsewhere.

        Args:
            path: as for `read`; its last part is not looked at and need not exist.
            make: make the folders that are missing.

        Yields:
            The folder's descriptor, open in the block only, and the name in it.

        Raises:
            FileRefusedError: as for `read`, or the path names no file.
            FileNotFoundError: the folder is missing and is not to be made.
        """
        aim = self._aim_at_entry(path)
        folder, name = posixpath.split(aim.path)
        if name in {"", ".", ".."}:
            raise FileRefusedError(f"{path!r} names a folder, not a file")
        parts = [each for each in folder.split("/") if each]
        for end in range(1, len(parts) + 1) if make else ():
            self._make_folder(aim._replace(path="/".join(parts[:end])), path)
        try:
            fd = _openat2(aim._replace(path=folder or "."), os.O_PATH | os.O_DIRECTORY)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise FileRefusedError(self._why(error, path)) from error
        try:
            self._refuse_git(fd, path, name)
            yield fd, name
        finally:
            os.close(fd)

    def status(self, path: str) -> os.stat_result | None:
        """What stands at `path` itself, a link not followed; None when nothing does.

        Raises:
            FileRefusedError: as for `parent`.
        """
        try:
            with self.parent(path) as (fd, name):
                return os.stat(name, dir_fd=fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileRefusedError(self._why(error, path)) from error

    def place(self, path: str) -> tuple[int, int, str] | None:
        """The same for two paths that name one file by different ways; None when its folder is missing.

        Raises:
            FileRefusedError: as for `parent`.
        """
        try:
            with self.parent(path) as (fd, name):
                folder = os.fstat(fd)
                return folder.st_dev, folder.st_ino, name
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileRefusedError(self._why(error, path)) from error

    def _make_folder(self, folder: _Aim, path: str) -> None:
        try:
            os.close(_openat2(folder, os.O_PATH | os.O_DIRECTORY))
        except FileNotFoundError:
            above, name = posixpath.split(folder.path)
            fd = _openat2(folder._replace(path=above or "."), os.O_PATH | os.O_DIRECTORY)
            try:
                self._refuse_git(fd, path, name)
                os.mkdir(name, dir_fd=fd)
                if (owner := owner_of_new_files(fd)) is not None:
                    os.chown(name, *owner, dir_fd=fd, follow_symlinks=False)
            except FileExistsError as error:  # a link to nowhere
                raise FileRefusedError(f"{path!r}: {name!r} on the way is no folder") from error
            finally:
                os.close(fd)
        except OSError as error:
            raise FileRefusedError(self._why(error, path)) from error

    def _open(self, path: str, flags: int) -> int:
        try:
            return _openat2(self._aim_at_file(path), flags)
        except OSError as error:
            raise FileRefusedError(self._why(error, path)) from error

    def _aim_at_file(self, path: str) -> _Aim:
        """What `path` leads to, links followed."""
        _refuse_no_path(path)
        if self._outside_paths:
            place = locate(path, self._cwd, self._worktree)
            if place is not None and place.inside is None:
                return self._permitted("/".join(place.absolute), path)
        return self._within(path)

    def _aim_at_entry(self, path: str) -> _Aim:
        """What stands at `path` itself: the same folder's entry, a link not followed."""
        _refuse_no_path(path)
        folder, name = posixpath.split(path)
        if self._outside_paths and name not in {"", ".", ".."}:
            place = locate(folder or ".", self._cwd, self._worktree)
            if place is not None and place.inside is None:
                return self._permitted("/".join((*place.absolute, name)), path)
        return self._within(path)

    def _permitted(self, real: str, path: str) -> _Aim:
        if f"/{real}" not in self._outside_paths:
            raise FileRefusedError(self._outside(path))
        return _Aim(self._top, real, _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS)

    def _within(self, path: str) -> _Aim:
        return _Aim(self._root, self._relative(path), _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)

    def _relative(self, path: str) -> str:
        """The path from the worktree's root, links and `..` still in it: only the kernel resolves those."""
        if path.startswith("/"):
            for root in (str(self._worktree), self._real, PROGRAM_VIEW):
                if path == root or path.startswith(f"{root}/"):
                    return path[len(root) :].strip("/") or "."
            raise FileRefusedError(self._outside(path))
        cwd = os.path.realpath(self._cwd)
        if cwd != self._real and not cwd.startswith(f"{self._real}/"):
            raise FileRefusedError(
                f"{path!r} starts at the working directory, which is outside the agent's worktree; give "
                f"a path that begins with {PROGRAM_VIEW}/"
            )
        return posixpath.join(cwd[len(self._real) :].strip("/"), path)

    def _refuse_git(self, fd: int, path: str, name: str = "") -> None:
        """`.git` says whose worktree it is; a program does not see it, and neither do its tools."""
        real = posixpath.join(_path_of(fd), name)
        git = f"{self._real}/{_GIT}"
        if real == git or real.startswith(f"{git}/"):
            raise FileRefusedError(f"{path!r} belongs to git, and is not for tools")

    def _why(self, error: OSError, path: str) -> str:
        if error.errno == errno.EXDEV:
            return self._outside(path)
        if error.errno == errno.ENXIO:  # a socket
            return f"{path!r} is no regular file"
        return f"{path!r}: {error.strerror}"

    def _outside(self, path: str) -> str:
        return (
            f"{path!r} lies outside the agent's worktree; this tool works within it: give a path relative to "
            f"the working directory, or one that begins with {PROGRAM_VIEW}/"
        )


def shown_cwd(worktree: Path, cwd: Path) -> str:
    """The working directory as a program sees it: where the worktree is on the host is nobody's business."""
    real, top = os.path.realpath(cwd), os.path.realpath(worktree)
    if real == top or real.startswith(f"{top}/"):
        return f"{PROGRAM_VIEW}{real[len(top) :]}"
    return f"a folder outside {PROGRAM_VIEW}"


def _refuse_no_path(path: str) -> None:
    if not path or "\0" in path:
        raise FileRefusedError(f"{path!r} is no path")
    for part in path.split("/"):
        # Before anything is looked up: below a folder that is still to be made, the kernel is not asked.
        if len(part.encode(errors="surrogatepass")) > NAME_MAX_BYTES:
            raise FileRefusedError(f"{part[:40]!r}…: name too long, it may have {NAME_MAX_BYTES} bytes")


def _openat2(aim: _Aim, flags: int) -> int:
    how = _OpenHow(flags | os.O_CLOEXEC, 0, aim.resolve)
    for _ in range(RACE_ATTEMPTS):
        fd: int = _libc.syscall(
            ctypes.c_long(_OPENAT2),
            ctypes.c_long(aim.top),
            ctypes.c_char_p(os.fsencode(aim.path)),
            ctypes.byref(how),
            ctypes.c_size_t(ctypes.sizeof(how)),
        )
        if fd >= 0:
            return fd
        number = ctypes.get_errno()
        if number not in {errno.EAGAIN, errno.EINTR}:
            break
    raise OSError(number, os.strerror(number))


def owner_of_new_files(folder: int) -> tuple[int, int] | None:
    """Whose a new file in a folder should be when root makes it: the folder's owner's, as if they had."""
    if os.geteuid() != 0:
        return None
    status = os.fstat(folder)
    return status.st_uid, status.st_gid


def _path_of(fd: int) -> str:
    return os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115 - the kernel's text, which Path would interpret


def _refuse_irregular(status: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise FileRefusedError(f"{path!r} is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise FileRefusedError(f"{path!r} is no regular file")


def _chunks(fd: int, left: int) -> Iterator[bytes]:
    while left > 0 and (data := os.read(fd, min(left, 1 << 20))):
        left -= len(data)
        yield data
