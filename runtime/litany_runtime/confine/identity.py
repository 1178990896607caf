"""Who a program is: never uid 0, inside or out, and with no privilege left or to be had.

Inside it is always the same ordinary user. Outside it is the user who started litany; when that is root, it
is the owner of the worktrees, or nobody when that is root too, and then the worktrees are mounted with a map
that shows root's files as nobody's (`mounts.py`): what the program writes is root's on disk, though no
process of its ever was.
"""

from __future__ import annotations

import errno
import os
import struct
from typing import NamedTuple

from litany_runtime.confine import kernel
from litany_runtime.confine.faults import layer, must
from litany_runtime.confine.plan import Layer

INSIDE_ID = 1000
"""The user and group id that a program sees."""

NOBODY = 65534
"""The user and group id outside when root owns the worktrees: the kernel's overflow id."""

_CAP_SETPCAP = 8
_CAP_SYS_ADMIN = 21
_HIGHEST_CAPABILITY = 63
_ZYGOTE_NEEDS = (1 << _CAP_SYS_ADMIN) | (1 << _CAP_SETPCAP)
CAPABILITY_HEADER = struct.pack("=Ii", 0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this thread
SECUREBITS_LOCKED = 0b11101111  # NOROOT, NO_SETUID_FIXUP, NO_CAP_AMBIENT_RAISE and all locks; KEEP_CAPS off


class Identity(NamedTuple):
    """Who the program is outside.

    Attributes:
        uid: user id.
        gid: group id.
        drops_root: whether this process must give up root to become it.
        maps_root: whether root's files must be shown as its own.
    """

    uid: int
    gid: int
    drops_root: bool
    maps_root: bool


def choose(worktrees: str | None) -> Identity:
    """Who a program of these worktrees is to be, started by the user of this process.

    Root inside a user namespace that has no other user is an ordinary user with a misleading number.
    """
    uid, gid = os.geteuid(), os.getegid()
    if uid != 0 or not _has_other_users():
        return Identity(uid, gid, drops_root=False, maps_root=False)
    owner = None if worktrees is None else os.stat(worktrees)
    if owner is None or owner.st_uid == 0:
        return Identity(NOBODY, NOBODY, drops_root=True, maps_root=owner is not None)
    return Identity(owner.st_uid, owner.st_gid or NOBODY, drops_root=True, maps_root=False)


def _has_other_users() -> bool:
    with open("/proc/self/uid_map", encoding="ascii") as table:
        return any(
            int(first) <= NOBODY < int(first) + int(count) for first, _, count in map(str.split, table)
        )


def become(identity: Identity) -> None:
    """Give up root for good."""
    if identity.drops_root:
        with layer(Layer.IDENTITY):
            os.setgroups([])
            os.setresgid(identity.gid, identity.gid, identity.gid)
            os.setresuid(identity.uid, identity.uid, identity.uid)


def map_ids(identity: Identity) -> None:
    """In a new user namespace, be `INSIDE_ID` there."""
    for file, line in (
        ("setgroups", "deny"),
        ("uid_map", f"{INSIDE_ID} {identity.uid} 1"),
        ("gid_map", f"{INSIDE_ID} {identity.gid} 1"),
    ):
        _write(f"/proc/self/{file}", line)


def user_namespace_for_root(identity: Identity) -> int:
    """A user namespace that shows root's files as `identity`'s, as a descriptor for an idmapped mount."""
    awake, ready = os.pipe()
    held, release = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(release)
            if kernel.unshare(kernel.CLONE_NEWUSER) == 0:
                os.write(ready, b".")
                os.read(held, 1)
        finally:
            os._exit(0)
    try:
        os.close(ready)
        if not os.read(awake, 1):
            raise OSError(1, "a user namespace was refused", "unshare")
        _write(f"/proc/{pid}/uid_map", f"0 {identity.uid} 1")
        _write(f"/proc/{pid}/gid_map", f"0 {identity.gid} 1")
        return os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(release)
        os.close(held)
        os.close(awake)
        os.waitpid(pid, 0)


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    except OSError as error:
        error.filename = path
        raise
    finally:
        os.close(fd)


def forbid_new_privileges() -> None:
    """No exec of this process or a later one can gain anything; seccomp and Landlock ask for it."""
    must(kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), Layer.NO_NEW_PRIVS, "prctl")


def keep_what_set_up_needs() -> None:
    """In the zygote: keep the two capabilities that a child's set-up uses (mounting, dropping), no other."""
    empty_bounding_set(but=_ZYGOTE_NEEDS)
    must(kernel.capset(CAPABILITY_HEADER, _packed(_ZYGOTE_NEEDS)), Layer.CAPABILITIES, "capset")


def empty_bounding_set(but: int = 0) -> None:
    """Take from the set that bounds what an exec could give."""
    for capability in range(_HIGHEST_CAPABILITY + 1):
        if (but >> capability) & 1:
            continue
        dropped = kernel.prctl(kernel.PR_CAPBSET_DROP, capability, 0, 0, 0)
        if dropped < 0 and kernel.last_error() == errno.EINVAL and capability > 0:
            return  # the kernel has no such capability, nor any above it
        must(dropped, Layer.CAPABILITIES, "prctl")


def _packed(wanted: int) -> bytes:
    """Effective and permitted, nothing inheritable: two halves of each, low first."""
    low, high = wanted & 0xFFFFFFFF, wanted >> 32
    return struct.pack("=6I", low, low, 0, high, high, 0)


NO_CAPABILITIES = _packed(0)
"""What capset is given to drop all."""
