"""The system calls that Python has no name for, through ctypes: -1 for a failure, as in C.

`faults.must` turns a failure into words. The functions are bound at import, in the zygote, and have no layer
of Python around them: `child.py` says why.
"""

from __future__ import annotations

import ctypes
import os
import struct
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_libc = ctypes.CDLL(None, use_errno=True)

_SAME_ON_BOTH = {
    "open_tree": 428,
    "move_mount": 429,
    "mount_setattr": 442,
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
}
_NUMBERS = {
    "x86_64": {"pivot_root": 155, "capset": 126, "capget": 125, "seccomp": 317, **_SAME_ON_BOTH},
    "aarch64": {"pivot_root": 41, "capset": 91, "capget": 90, "seccomp": 277, **_SAME_ON_BOTH},
}
_NO_SUCH_CALL = -1  # the kernel answers ENOSYS
MACHINE = os.uname().machine
"""This machine's architecture. Not from `platform`, which would remember the host's name beside it."""

_numbers = _NUMBERS.get(MACHINE, {})

_INT = ctypes.c_int
_LONG = ctypes.c_ulong
_BYTES = ctypes.c_char_p
_ADDRESS = ctypes.c_void_p


def _function(name: str, *types: type) -> Callable[..., int]:
    """A function of libc; where it has none of this name, one that fails with ENOSYS."""
    if not hasattr(_libc, name):
        return _system_call(name, *types)
    # Subscribing, unlike an attribute, makes a new function object each time, with types of its own.
    function = _libc[name]
    function.argtypes = types
    function.restype = ctypes.c_int
    return function


def _system_call(name: str, *types: type) -> Callable[..., int]:
    """A system call by its number on this machine."""
    function = _libc["syscall"]
    function.argtypes = (ctypes.c_long, *types)
    function.restype = ctypes.c_long
    return partial(function, _numbers.get(name, _NO_SUCH_CALL))


last_error = ctypes.get_errno
"""The errno of the last call here that failed."""


# Namespaces: unshare(flags).

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

unshare = _function("unshare", _INT)
sethostname = _function("sethostname", _BYTES, _LONG)
setdomainname = _function("setdomainname", _BYTES, _LONG)

# Mounts. A tree is a descriptor of detached mounts: taken with open_tree, given attributes, put somewhere.

AT_FDCWD = -100
AT_RECURSIVE = 0x8000

MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000

MNT_DETACH = 2

MOUNT_ATTR_RDONLY = 0x1
MOUNT_ATTR_NOSUID = 0x2
MOUNT_ATTR_NODEV = 0x4
MOUNT_ATTR_NOEXEC = 0x8
MOUNT_ATTR_IDMAP = 0x100000
MOUNT_ATTR_BYTES = 32

CLONE_TREE = 0x1 | os.O_CLOEXEC | 0x8000 | 0x100  # OPEN_TREE_CLONE, AT_RECURSIVE, AT_SYMLINK_NOFOLLOW
WHOLE_TREE = 0x1000 | 0x8000  # AT_EMPTY_PATH, AT_RECURSIVE
FROM_DESCRIPTOR = 0x4  # MOVE_MOUNT_F_EMPTY_PATH, and no symbolic link is followed at the target

mount = _function("mount", _BYTES, _BYTES, _BYTES, _LONG, _BYTES)
umount2 = _function("umount2", _BYTES, _INT)
pivot_root = _system_call("pivot_root", _BYTES, _BYTES)
open_tree = _system_call("open_tree", _INT, _BYTES, _INT)
move_mount = _system_call("move_mount", _INT, _BYTES, _INT, _BYTES, _INT)
mount_setattr = _system_call("mount_setattr", _INT, _BYTES, _INT, _BYTES, _LONG)


def mount_attributes(wanted: int, user_namespace: int = 0) -> bytes:
    """A struct mount_attr: attributes to set and, with MOUNT_ATTR_IDMAP, whose map of owners."""
    return struct.pack("=4Q", wanted, 0, 0, user_namespace)


# Processes.

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_SECUREBITS = 28
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

prctl = _function("prctl", _INT, _LONG, _LONG, _LONG, _LONG)
capset = _system_call("capset", _BYTES, _BYTES)
capget = _system_call("capget", _BYTES, _ADDRESS)

# Landlock and seccomp.

LANDLOCK_VERSION = 1  # asks for the ABI, and makes no ruleset
LANDLOCK_RULE_PATH_BENEATH = 1
SECCOMP_SET_MODE_FILTER = 1

landlock_create_ruleset = _system_call("landlock_create_ruleset", _BYTES, _LONG, _INT)
landlock_add_rule = _system_call("landlock_add_rule", _INT, _INT, _BYTES, _INT)
landlock_restrict_self = _system_call("landlock_restrict_self", _INT, _INT)
seccomp = _system_call("seccomp", _INT, _INT, _BYTES)

# What Python does have names for, without an exception for a failure: for a child's script (`child.py`).

SCRATCH_BYTES = 256
_scratch = ctypes.create_string_buffer(SCRATCH_BYTES)
SCRATCH = ctypes.addressof(_scratch)
"""Memory for results that nobody reads."""

access = _function("access", _BYTES, _INT)
close = _function("close", _INT)
chdir = _function("chdir", _BYTES)
kill = _function("kill", _INT, _INT)
mkdir = _function("mkdir", _BYTES, _INT)
open = _function("open", _BYTES, _INT, _INT)  # noqa: A001 - named as the call is
readlink = _function("readlink", _BYTES, _ADDRESS, _LONG)
setrlimit = _function("setrlimit", _INT, _BYTES)
setsid = _function("setsid")
symlink = _function("symlink", _BYTES, _BYTES)
socket = _function("socket", _INT, _INT, _INT)
