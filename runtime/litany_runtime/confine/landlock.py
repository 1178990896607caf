"""Landlock: what a program may do with files, and that it reaches no network, socket or process.

A second lock behind the mounts and the network namespace, and in isolation `kernel` the first. It does not
see everything: metadata calls (stat, chmod, utime) pass it, which is why the seccomp table keeps some of them
for programs with a root of their own.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from litany_runtime.confine import kernel
from litany_runtime.confine.faults import ConfinementError, must
from litany_runtime.confine.plan import Layer
from litany_runtime.program import FilePolicy

if TYPE_CHECKING:
    from collections.abc import Iterable

OLDEST_ABI = 3
"""Linux 6.2: the first that controls truncation, without which a readable file could be emptied."""

NEWEST_ABI = 9
"""The newest ABI whose rights are handled here; a newer kernel is used as this one."""

_EXECUTE = 1 << 0
_WRITE_FILE = 1 << 1
_READ_FILE = 1 << 2
_READ_DIR = 1 << 3
_REMOVE_DIR = 1 << 4
_REMOVE_FILE = 1 << 5
_MAKE_DIR = 1 << 7
_MAKE_REG = 1 << 8
_MAKE_SYM = 1 << 12
_REFER = 1 << 13
_TRUNCATE = 1 << 14

_FILE_RIGHTS_BY_ABI = ((1, (1 << 13) - 1), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15), (9, 1 << 16))
"""Since which ABI there are which file rights: all are handled, so all that no rule grants is refused."""

_NET_RIGHTS = 0b11  # bind and connect TCP, since ABI 4
_SCOPES = 0b11  # abstract sockets and signals stay within the program, since ABI 6
_QUIET = 1  # since ABI 7: refusals are not written to the host's audit log, which a program could flood

EXECUTE = _EXECUTE
READ_FILE = _READ_FILE
READ = _READ_FILE | _READ_DIR
WRITE = (
    READ | _WRITE_FILE | _TRUNCATE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM | _REMOVE_DIR | _REMOVE_FILE | _REFER
)
"""No device, no FIFO (a host tool that opens one hangs), no socket, no execution."""

_OF_A_FILE = _READ_FILE | _WRITE_FILE | _TRUNCATE | _EXECUTE

RIGHTS = {FilePolicy.NONE: 0, FilePolicy.READ: READ, FilePolicy.WRITE: WRITE}
"""What a file policy grants in the worktree."""

DEVICES = (("/dev/null", _READ_FILE | _WRITE_FILE), ("/dev/zero", _READ_FILE), ("/dev/urandom", _READ_FILE))
"""The devices that a program may open. Zeros are only to be read: mapped for writing they are shared memory,
which no limit counts."""


def usable_abi(wanted: int | None = None) -> int:
    """The Landlock ABI to use here.

    Args:
        wanted: use no newer one than this.

    Raises:
        ConfinementError: there is none, or an older one than is needed.
    """
    found = must(
        kernel.landlock_create_ruleset(None, 0, kernel.LANDLOCK_VERSION),
        Layer.LANDLOCK,
        "landlock_create_ruleset",
    )
    usable = min(found, NEWEST_ABI, wanted or NEWEST_ABI)
    if usable < OLDEST_ABI:
        raise ConfinementError(
            Layer.LANDLOCK,
            f"the kernel's Landlock has ABI {usable}, without control of truncation; {OLDEST_ABI} is needed",
            "Use Linux 6.2 or newer",
        )
    return usable


class Rule(NamedTuple):
    """Rights for a path and all beneath it.

    Attributes:
        path: the path.
        rights: the rights, as the first half of a struct landlock_path_beneath_attr.
    """

    path: str
    rights: bytes


@dataclass(frozen=True, slots=True)
class Ruleset:
    """What children need to confine themselves, packed once.

    Attributes:
        abi: the ABI in use.
        attributes: a struct landlock_ruleset_attr.
        flags: what to confine with.
        shared: the rules of every child.
        worktree: the rule of the worktree, by what the child may do there; its path is the child's.
    """

    abi: int
    attributes: bytes
    flags: int
    shared: tuple[Rule, ...]
    worktree: dict[FilePolicy, bytes]


def prepare(abi: int, read_only: Iterable[str], writable: Iterable[str]) -> Ruleset:
    """Handle every right that this ABI knows, and pack the rules that children share.

    Args:
        abi: as `usable_abi` found it.
        read_only: what every child may read.
        writable: what every child may write.
    """
    handled = 0
    for since, rights in _FILE_RIGHTS_BY_ABI:
        if since <= abi:
            handled |= rights
    words = [handled]
    if abi >= 4:
        words.append(_NET_RIGHTS)
    if abi >= 6:
        words.append(_SCOPES)

    def rule(path: str, rights: int) -> Rule:
        # What has no entries takes rights of files only.
        rights &= handled if os.path.isdir(path) else handled & _OF_A_FILE
        return Rule(path, struct.pack("=Q", rights))

    return Ruleset(
        abi=abi,
        attributes=struct.pack(f"={len(words)}Q", *words),
        flags=_QUIET if abi >= 7 else 0,
        shared=(
            *(rule(path, READ) for path in read_only),
            *(rule(path, WRITE) for path in writable),
            *(rule(path, rights) for path, rights in DEVICES),
        ),
        worktree={policy: struct.pack("=Q", rights & handled) for policy, rights in RIGHTS.items()},
    )
