"""The system calls that Python has no name for, through ctypes, with OSError for a failure.

The functions and their numbers are bound at import, in the zygote. A child pays for the calls, and for little
else: after a fork, what is touched for the first time costs more than most system calls do.
"""

from __future__ import annotations

import ctypes
import os
import platform
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

_INT = ctypes.c_int
_LONG = ctypes.c_ulong
_BYTES = ctypes.c_char_p
_ADDRESS = ctypes.c_void_p


def _fail(name: str) -> None:
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number), name)


def _bind(name: str, *types: type) -> Callable[..., int]:
    """A function of libc, or a system call by its number, that raises OSError with its own name."""
    number = _NUMBERS.get(platform.machine(), {}).get(name, _NO_SUCH_CALL)
    by_number = number != _NO_SUCH_CALL or not hasattr(_libc, name)
    # Subscribing, unlike an attribute, makes a new function object each time, with types of its own.
    function = _libc["syscall" if by_number else name]
    function.restype = ctypes.c_long if by_number else ctypes.c_int
    first = (number,) if by_number else ()
    function.argtypes = (*((ctypes.c_long,) if by_number else ()), *types)

    def invoke(*arguments: int | bytes | None) -> int:
        result: int = function(*first, *arguments)
        if result < 0:
            _fail(name)
        return result

    return invoke


AT_FDCWD = -100
AT_EMPTY_PATH = 0x1000
AT_RECURSIVE = 0x8000
AT_SYMLINK_NOFOLLOW = 0x100

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

unshare = _bind("unshare", _INT)
pivot_root = _bind("pivot_root", _BYTES, _BYTES)
_sethostname = _bind("sethostname", _BYTES, _LONG)
_setdomainname = _bind("setdomainname", _BYTES, _LONG)


def sethostname(name: bytes) -> None:
    """Set the host name and forget the NIS domain's, in this UTS namespace."""
    _sethostname(name, len(name))
    _setdomainname(b"", 0)


MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_REC = 0x4000
MS_PRIVATE = 0x40000

_MNT_DETACH = 2

mount = _bind("mount", _BYTES, _BYTES, _BYTES, _LONG, _BYTES)
_umount2 = _bind("umount2", _BYTES, _INT)


def unmount(target: bytes) -> None:
    """Detach a mount; what still uses it keeps it."""
    _umount2(target, _MNT_DETACH)


_OPEN_TREE_CLONE = 1
_OPEN_TREE_CLOEXEC = os.O_CLOEXEC
_MOVE_MOUNT_F_EMPTY_PATH = 4

MOUNT_ATTR_RDONLY = 0x1
MOUNT_ATTR_NOSUID = 0x2
MOUNT_ATTR_NODEV = 0x4
MOUNT_ATTR_NOEXEC = 0x8
_MOUNT_ATTR_IDMAP = 0x100000

_MOUNT_ATTR_BYTES = 32

_open_tree = _bind("open_tree", _INT, _BYTES, _INT)
_move_mount = _bind("move_mount", _INT, _BYTES, _INT, _BYTES, _INT)
_mount_setattr = _bind("mount_setattr", _INT, _BYTES, _INT, _BYTES, _LONG)


def clone_tree(path: bytes) -> int:
    """A detached copy of the mounts at a path, as a descriptor; a symbolic link at its end is refused."""
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW
    return _open_tree(AT_FDCWD, path, flags)


def mount_attributes(wanted: int, user_namespace: int | None = None) -> bytes:
    """A struct mount_attr: attributes to set and, with a user namespace, a map of owners."""
    if user_namespace is not None:
        wanted |= _MOUNT_ATTR_IDMAP
    return b"".join(value.to_bytes(8, "little") for value in (wanted, 0, 0, user_namespace or 0))


def set_tree(tree: int, attributes: bytes) -> None:
    """Give all mounts of a detached tree attributes, as `mount_attributes` packs them."""
    _mount_setattr(tree, b"", AT_EMPTY_PATH | AT_RECURSIVE, attributes, _MOUNT_ATTR_BYTES)


def set_mount(path: bytes, attributes: bytes) -> None:
    """Give the one mount at a path attributes."""
    _mount_setattr(AT_FDCWD, path, 0, attributes, _MOUNT_ATTR_BYTES)


def attach_tree(tree: int, path: bytes) -> None:
    """Mount a detached tree at a path, never through a symbolic link."""
    _move_mount(tree, b"", AT_FDCWD, path, _MOVE_MOUNT_F_EMPTY_PATH)


PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_SECUREBITS = 28
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47

_prctl = _bind("prctl", _INT, _LONG, _LONG, _LONG, _LONG)


def prctl(option: int, value: int = 0) -> int:
    """The system call, its unused arguments zero."""
    return _prctl(option, value, 0, 0, 0)


capset = _bind("capset", _BYTES, _BYTES)
_capget = _bind("capget", _BYTES, _ADDRESS)
_CAPABILITY_BYTES = 24


def capget(header: bytes) -> bytes:
    """The capability sets, as the kernel packs them."""
    buffer = ctypes.create_string_buffer(_CAPABILITY_BYTES)
    _capget(header, ctypes.addressof(buffer))
    return buffer.raw


landlock_create_ruleset = _bind("landlock_create_ruleset", _BYTES, _LONG, _INT)
_landlock_add_rule = _bind("landlock_add_rule", _INT, _INT, _BYTES, _INT)
landlock_restrict_self = _bind("landlock_restrict_self", _INT, _INT)

_LANDLOCK_RULE_PATH_BENEATH = 1


def landlock_add_rule(ruleset: int, rule: bytes) -> None:
    """Add a struct landlock_path_beneath_attr."""
    _landlock_add_rule(ruleset, _LANDLOCK_RULE_PATH_BENEATH, rule, 0)


_SECCOMP_SET_MODE_FILTER = 1
_seccomp = _bind("seccomp", _INT, _INT, _BYTES)
_INSTRUCTION_BYTES = 8


def seccomp_load(program: bytes) -> None:
    """Load a system call filter, for this thread and all that it will start."""
    array = ctypes.c_char_p(program)
    address = ctypes.cast(array, ctypes.c_void_p).value or 0
    count = len(program) // _INSTRUCTION_BYTES
    _seccomp(_SECCOMP_SET_MODE_FILTER, 0, count.to_bytes(8, "little") + address.to_bytes(8, "little"))


socket = _bind("socket", _INT, _INT, _INT)
