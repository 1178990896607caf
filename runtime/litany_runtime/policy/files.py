"""Where a program may read and write: its worktree and a private folder for temporary files.

Pure path logic over the kernel's answers. The rule is checked on the real path, symbolic links followed,
and is asked by the audit hook (`audit.py`) for every path the interpreter opens, whoever's code asks. A
check and a use are two moments; between them another thread may move a link. The kernel's own confinement
(the mount namespace, Landlock) has no such gap, which is why this is the first lock and not the only one.
"""

from __future__ import annotations

import errno
import os
import posix
import stat
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from litany_runtime.program import FilePolicy

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LINKS = 40
"""Symbolic links followed in one path; the kernel's own limit."""

_lstat = posix.lstat
_readlink = posix.readlink
_getcwd = posix.getcwd
_is_link = stat.S_ISLNK

DEVICES_READ = frozenset({"/dev/null", "/dev/zero", "/dev/urandom"})
DEVICES_WRITTEN = frozenset({"/dev/null"})

GIT = ".git"
"""The entry at the worktree's root that belongs to the workspace, not to the program."""

MAPPED = "-shm"
"""How the files end that SQLite maps into memory for a database in WAL mode."""


def exact_path(path: Any) -> str | None:
    """The path as the interpreter's C code reads it; None for what is no path.

    A subclass of `str` is read by its real characters, not by its methods; an object with `__fspath__` is
    accepted only when it is pathlib's, for another could answer differently the next time.
    """
    kind = type(path)
    if kind is str:
        return path  # type: ignore[no-any-return]
    if kind is bytes:
        return os.fsdecode(path)
    if isinstance(path, str):
        return str.__add__("", path)
    if isinstance(path, bytes):
        return os.fsdecode(bytes.__add__(b"", path))
    if isinstance(path, PurePath):
        text = PurePath.__fspath__(path)
        return text if type(text) is str else None
    return None


def real_path(path: str, start: str = "") -> str:
    """The real path, links followed as far as they exist.

    Args:
        path: any path; relative ones are taken from the current folder.
        start: a folder known to be real; a path below it is followed from there.

    Raises:
        OSError: more than `MAX_LINKS` links.
    """
    if not path.startswith("/"):
        path = f"{_getcwd()}/{path}"
    resolved = ""
    if start and path.startswith(start + "/"):
        resolved, path = start, path[len(start) + 1 :]
    rest = path.split("/")
    rest.reverse()
    links = 0
    while rest:
        name = rest.pop()
        if name in {"", "."}:
            continue
        if name == "..":
            resolved = resolved.rpartition("/")[0]
            continue
        candidate = f"{resolved}/{name}"
        try:
            mode = _lstat(candidate).st_mode
        except (OSError, ValueError):
            resolved = candidate
            continue
        if _is_link(mode):
            links += 1
            if links > MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            target = _readlink(candidate)
            if target.startswith("/"):
                resolved = ""
            rest.extend(reversed(target.split("/")))
        else:
            resolved = candidate
    return resolved or "/"


class FileRules:
    """What one program may do with paths. Made in the zygote; a child says which program it is for.

    Args:
        libraries: folders that library code may read: its own source. Each ends with a slash.
        public: folders that anyone may read: time zones.
    """

    def __init__(self, libraries: tuple[str, ...] = (), public: tuple[str, ...] = ()) -> None:
        self.libraries = libraries
        self.public = public
        self.begun = False
        self.worktree: str | None = None
        self.temporary: str | None = None
        self.writable = False
        self._ancestors: frozenset[str] = frozenset()

    def begin(self, worktree: str | None, files: FilePolicy, temporary: str | None) -> None:
        """Hold from here on.

        Args:
            worktree: where the worktree is; None for a program without files.
            files: what the program may do there.
            temporary: a folder that is the program's alone.
        """
        self.worktree = real_path(worktree) if worktree is not None and files != FilePolicy.NONE else None
        self.writable = files == FilePolicy.WRITE
        self.temporary = real_path(temporary) if temporary is not None else None
        roots = [r for r in (self.worktree, self.temporary) if r]
        self._ancestors = frozenset(
            a for r in roots for a in ("/".join(r.split("/")[:n]) or "/" for n in range(1, r.count("/") + 1))
        )
        self.begun = True

    def read(self, path: Any, *, library: bool = False) -> None:
        """Allow reading a path.

        Raises:
            PermissionError: it is outside.
        """
        real = self._real(path)
        if not (
            self._in_worktree(real, path)
            or self._in_temporary(real)
            or real in DEVICES_READ
            or f"{real}/".startswith(self.public)
            or (library and f"{real}/".startswith(self.libraries))
        ):
            raise self._outside(path)

    def look(self, path: Any) -> None:
        """Allow asking about a path: what may be read, and the folders above it."""
        real = self._real(path)
        if not (
            self._in_worktree(real, path)
            or self._in_temporary(real)
            or real in self._ancestors
            or real in DEVICES_READ
            or f"{real}/".startswith(self.public)
            or f"{real}/".startswith(self.libraries)
        ):
            raise self._outside(path)

    def write(self, path: Any, *, entry: bool = False) -> None:
        """Allow changing a path.

        Args:
            path: the path.
            entry: True when the folder's entry is changed (remove, rename), so that a link is not followed.

        Raises:
            PermissionError: it is outside, or the worktree is for reading only.
        """
        real = self._real_entry(path) if entry else self._real(path)
        if not entry:
            self.keep(real)
        if self._in_worktree(real, path):
            if not self.writable:
                raise PermissionError(
                    errno.EACCES,
                    f"the worktree {self.worktree} is for reading only; tempfile makes temporary files",
                    path,
                )
        elif not self._in_temporary(real) and real not in DEVICES_WRITTEN:
            raise self._outside(path)

    def keep(self, path: Any) -> None:
        """Refuse to write, rename or link a file that SQLite maps into memory: cut short, it is a SIGBUS.

        Raises:
            PermissionError: it is one by its name.
        """
        if (exact_path(path) or "").rstrip("/").endswith(MAPPED):
            raise PermissionError(errno.EACCES, "SQLite keeps this file in memory; choose another name", path)

    def link(self, target: Any, path: Any) -> None:
        """Allow making a symbolic link at `path` that leads to `target`."""
        self.write(path, entry=True)
        text = exact_path(target)
        if text is None:
            raise self._outside(target)
        place = self._real_entry(path).rpartition("/")[0]
        self.look(text if text.startswith("/") else f"{place}/{text}")

    def checked(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of `os` that asks about a path and raises no audit event, made to ask here first."""

        def ask(path: Any, *args: Any, **kwargs: Any) -> Any:
            if not self.begun:
                pass
            elif type(path) is int:
                if path > 2:
                    raise self._outside(path)
            else:
                self.look(path)
            return function(path, *args, **kwargs)

        ask.__name__ = ask.__qualname__ = function.__name__
        ask.__doc__ = function.__doc__
        return ask

    def _real(self, path: Any) -> str:
        text = exact_path(path)
        if text is None:
            raise self._outside(path)
        return real_path(text, self.worktree or "")

    def _real_entry(self, path: Any) -> str:
        text = exact_path(path)
        if text is None:
            raise self._outside(path)
        folder, _, name = text.rstrip("/").rpartition("/")
        if name in {"", ".", ".."}:
            return real_path(text, self.worktree or "")
        where = real_path(folder or ("/" if text.startswith("/") else "."), self.worktree or "")
        return f"{where.rstrip('/')}/{name}"

    def _in_worktree(self, real: str, path: Any) -> bool:
        root = self.worktree
        if root is None or not (real == root or real.startswith(root + "/")):
            return False
        if real == f"{root}/{GIT}" or real.startswith(f"{root}/{GIT}/"):
            raise PermissionError(errno.EACCES, "the worktree's .git belongs to the workspace", path)
        return True

    def _in_temporary(self, real: str) -> bool:
        root = self.temporary
        return root is not None and (real == root or real.startswith(root + "/"))

    def _outside(self, path: Any) -> PermissionError:
        if self.worktree is None:
            reason = "this program has no files; temporary ones are possible (tempfile)"
        else:
            reason = (
                f"outside the worktree {self.worktree}; use a path inside it, relative to start from its root"
            )
        shown = path if isinstance(path, (str, bytes, int)) else repr(type(path).__name__)
        return PermissionError(errno.EACCES, reason, shown)
