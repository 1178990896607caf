"""Start a command on a poorer machine: `confine_deny.py no-user-namespaces COMMAND…`, or `name=ERRNO,…`.

The second form refuses system calls by a filter, as containers and old kernels do.
"""

import ctypes
import errno
import os
import struct
import sys
from pathlib import Path

NUMBERS = {
    "x86_64": {
        "unshare": 272,
        "mount": 165,
        "landlock_create_ruleset": 444,
        "seccomp": 317,
        "mount_setattr": 442,
    },
    "aarch64": {
        "unshare": 97,
        "mount": 40,
        "landlock_create_ruleset": 444,
        "seccomp": 277,
        "mount_setattr": 442,
    },
}
libc = ctypes.CDLL(None, use_errno=True)


def must(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def write(path: str, text: str) -> None:
    Path(path).write_text(text)


def forbid_user_namespaces() -> None:
    """Move into a user namespace that allows no further ones."""
    uid, gid = os.getuid(), os.getgid()
    must(libc.unshare(0x10000000))
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"1000 {uid} 1")
    write("/proc/self/gid_map", f"1000 {gid} 1")
    write("/proc/sys/user/max_user_namespaces", "0")


def refuse(calls: str) -> None:
    numbers = NUMBERS[os.uname().machine]
    steps = [struct.pack("=HBBI", 0x20, 0, 0, 0)]
    for each in calls.split(","):
        name, _, code = each.partition("=")
        steps.append(struct.pack("=HBBI", 0x15, 0, 1, numbers[name]))
        steps.append(struct.pack("=HBBI", 6, 0, 0, 0x50000 | getattr(errno, code)))
    steps.append(struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000))
    program = ctypes.create_string_buffer(b"".join(steps))
    must(libc.prctl(38, 1, 0, 0, 0))
    must(libc.prctl(22, 2, struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(program)), 0, 0))


if sys.argv[1] == "no-user-namespaces":
    forbid_user_namespaces()
else:
    refuse(sys.argv[1])
os.execv(sys.argv[2], sys.argv[2:])
