"""Where a path leads, and patterns over that: what a rule about files looks at.

A path is judged by where it really ends: joined to the working directory, `..` and symbolic links resolved as
the kernel does, whether or not the file exists. Patterns are globs over the result:

    src/**            inside the agent's worktree, below src
    **/*.env          inside it, at any depth
    /etc/**           anywhere, by the absolute path

`*`, `?` and `[…]` stay within one name, `**` is any number of them. Case counts. Where a path leads cannot
always be told (a loop of links, a NUL, /proc/self): then a rule that denies or asks applies, and one that
allows does not.

A link may be turned between this look and the tool's own; tools that open files for an agent therefore open
them in a way that no link leads out of (`builtins/worktree_files.py`). A rule here is the operator's wish
within that fence, not the fence.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litany_engine.rules.globs import glob

if TYPE_CHECKING:
    from pathlib import Path

_ANY_NAMES = "**"

_NO_LINK = frozenset({errno.EINVAL, errno.ENOENT, errno.ENOTDIR})
"""What is there is no link, or nothing is there."""

MAX_LINKS = 40
"""Links on the way of one path: the kernel's own limit."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path leads.

    Attributes:
        absolute: the names of the real path, from the file system's root.
        inside: the names from the agent's worktree; None when it leads elsewhere.
    """

    absolute: tuple[str, ...]
    inside: tuple[str, ...] | None


def locate(path: object, cwd: Path, root: Path) -> Place | None:
    """Where a path leads; None when that cannot be told.

    Args:
        path: the path as the call gives it.
        cwd: the agent's working directory, where relative paths start.
        root: the agent's worktree.
    """
    from litany_engine.tools.builtins.worktree_files import PROGRAM_VIEW  # noqa: PLC0415  a config needs no tools

    if not isinstance(path, str) or not path or "\0" in path:
        return None
    if path == PROGRAM_VIEW or path.startswith(f"{PROGRAM_VIEW}/"):
        path = os.fspath(root) + path[len(PROGRAM_VIEW) :]
    joined = os.path.join(cwd, path)  # noqa: PTH118 - `Path` would drop what `..` means
    names = _resolved(joined)
    if names is None:
        return None
    top = _names(os.path.realpath(root))
    return Place(names, names[len(top) :] if names[: len(top)] == top else None)


def _resolved(path: str) -> tuple[str, ...] | None:
    """The names of where an absolute path leads, whether or not it is there; None when that cannot be told.

    `os.path.realpath` would answer for this process: links under /proc lead elsewhere in the tool's.
    """
    names: list[str] = []
    left = path.split("/")[::-1]
    links = 0
    while left:
        name = left.pop()
        if name == "..":
            del names[-1:]
        if name in {"", ".", ".."}:
            continue
        names.append(name)
        try:
            target = os.readlink(f"/{'/'.join(names)}")  # noqa: PTH115 - `Path` would drop what `..` means
        except OSError as error:
            if error.errno not in _NO_LINK:
                return None
            continue
        except ValueError:
            return None
        links += 1
        if links > MAX_LINKS or names[0] == "proc":
            return None
        names = [] if target.startswith("/") else names[:-1]
        left += target.split("/")[::-1]
    return tuple(names)


def _names(path: str) -> tuple[str, ...]:
    return tuple(filter(None, path.split("/")))


@dataclass(frozen=True, slots=True)
class PathPattern:
    """One pattern.

    Attributes:
        names: its names; `**` stands for any number of them.
        absolute: it is about the whole path, not about the part inside the worktree.
    """

    names: tuple[str, ...]
    absolute: bool

    @classmethod
    def parse(cls, text: str) -> PathPattern:
        """Read a pattern.

        Raises:
            ValueError: it is no pattern; what is wrong with it.
        """
        names = _names(text)
        if not text or "\0" in text:
            raise ValueError('a path pattern is a text such as "src/**" or "/etc/**"')
        if any(each in {".", ".."} for each in names):
            raise ValueError(f"{text!r}: a pattern is over real paths, which have no '.' and no '..'")
        if joined := next((each for each in names if _ANY_NAMES in each and each != _ANY_NAMES), None):
            raise ValueError(f"{joined!r}: '**' stands as a name of its own; within a name write '*'")
        return cls(names, text.startswith("/"))

    def matches(self, place: Place) -> bool:
        """Whether a path leads to where the pattern says."""
        names = place.absolute if self.absolute else place.inside
        return names is not None and _walk(self.names, names)


def _walk(pattern: tuple[str, ...], names: tuple[str, ...]) -> bool:
    places = _spread(pattern, {0})
    for name in names:
        following = {place for place in places if pattern[place : place + 1] == (_ANY_NAMES,)}
        following |= {
            place + 1
            for place in places
            if place < len(pattern) and pattern[place] != _ANY_NAMES and glob(pattern[place], name)
        }
        places = _spread(pattern, following)
    return len(pattern) in places


def _spread(pattern: tuple[str, ...], places: set[int]) -> set[int]:
    """The places with those behind a `**`, which may stand for no name."""
    found = set(places)
    for index, each in enumerate(pattern):
        if each == _ANY_NAMES and index in found:
            found.add(index + 1)
    return found
