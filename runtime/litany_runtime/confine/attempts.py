"""One attempt for each layer, made in a fork of a throwaway process, which `probing.py` starts."""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Callable
from typing import Any

from litany_runtime.confine import identity, kernel, landlock, rlimits, seccomp
from litany_runtime.confine.child import confine_child
from litany_runtime.confine.enter import enter
from litany_runtime.confine.faults import ConfinementError, explain, must
from litany_runtime.confine.plan import ChildPlan, Isolation, Layer, ZygotePlan
from litany_runtime.limits import Limits
from litany_runtime.program import FilePolicy

_FULL = (Isolation.FULL.value,)
_BOTH = (Isolation.FULL.value, Isolation.KERNEL.value)


def try_each() -> None:
    """Make every attempt and print the rows, as JSON."""
    rows = []
    for name, needed_by, tried, attempt in _ATTEMPTS:
        held, seen, remedy = _in_a_fork(attempt)
        rows.append(
            {
                "layer": name.value,
                "held": held,
                "tried": tried,
                "seen": seen,
                "remedy": remedy,
                "needed_by": needed_by,
            }
        )
    os.write(1, json.dumps(rows).encode())


def try_all(plan: dict[str, Any]) -> None:
    """Confine a zygote and a child as for a program, and print how it went, as JSON."""
    out = os.dup(1)
    try:
        entered = enter(ZygotePlan.from_json(plan))
        pid = os.fork()
        if pid == 0:
            layers = confine_child(entered, ChildPlan(None, FilePolicy.NONE, Limits()))
            os.write(out, json.dumps({"held": True, "layers": layers}).encode())
            os._exit(0)
        os.waitpid(pid, 0)
    except ConfinementError as error:
        answer = {"held": False, "layer": error.layer, "cause": error.cause, "remedy": error.remedy}
        os.write(out, json.dumps(answer).encode())
    os._exit(0)


def _in_a_fork(attempt: Callable[[], str]) -> tuple[bool, str, str]:
    """Whether an attempt succeeded, what was seen, the remedy."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        answer: tuple[bool, str, str]
        try:
            answer = (True, attempt(), "")
        except ConfinementError as error:
            answer = (False, error.cause, error.remedy)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is what was seen
            answer = (False, f"{type(error).__name__}: {error}", "")
        os.write(write, json.dumps(answer).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    if not said:
        return False, "the process that tried it died", ""
    held, seen, remedy = json.loads(said)
    return held, seen, remedy


def _enter_user_namespace() -> None:
    who = identity.Identity(os.geteuid(), os.getegid(), drops_root=False, maps_root=False)
    must(kernel.unshare(kernel.CLONE_NEWUSER), Layer.USER, "unshare")
    try:
        identity.map_ids(who)
    except OSError as error:
        raise explain(Layer.USER, error) from error


def _user() -> str:
    _enter_user_namespace()
    return f"this process is user {os.getuid()} there"


def _namespace(name: Layer, flag: int) -> Callable[[], str]:
    def attempt() -> str:
        _enter_user_namespace()
        must(kernel.unshare(flag), name, "unshare")
        return "made"

    return attempt


def _mount() -> str:
    _enter_user_namespace()
    must(kernel.unshare(kernel.CLONE_NEWNS), Layer.MOUNT, "unshare")
    # Where a security module only pretends to give the namespace, this is what it refuses.
    done = kernel.mount(None, b"/", None, kernel.MS_REC | kernel.MS_PRIVATE, None)
    must(done, Layer.MOUNT, "mount")
    must(kernel.mount(b"tmpfs", b"/proc", b"tmpfs", 0, b"size=64k"), Layer.MOUNT, "mount of a tmpfs")
    return "made, and a tmpfs mounted in it"


def _pid() -> str:
    _enter_user_namespace()
    must(kernel.unshare(kernel.CLONE_NEWPID), Layer.PID, "unshare")
    pid = os.fork()
    if pid == 0:
        os._exit(0 if os.getpid() == 1 else 1)
    if os.waitpid(pid, 0)[1]:
        raise ConfinementError(Layer.PID, "the first process in it is not pid 1", "")
    return "made, and its first process is pid 1"


def _net() -> str:
    _enter_user_namespace()
    must(kernel.unshare(kernel.CLONE_NEWNET), Layer.NET, "unshare")
    try:
        # An address for documentation; a datagram socket sends nothing by connecting.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))
    except OSError as error:
        if error.errno == errno.ENETUNREACH:
            return "made, with no way out of it"
        raise
    raise ConfinementError(Layer.NET, "it was made, and has a way out", "")


def _landlock() -> str:
    abi = landlock.usable_abi()
    identity.forbid_new_privileges()
    ruleset = landlock.prepare(abi, [], [])
    fd = kernel.landlock_create_ruleset(ruleset.attributes, len(ruleset.attributes), 0)
    must(fd, Layer.LANDLOCK, "landlock_create_ruleset")
    must(kernel.landlock_restrict_self(fd, ruleset.flags), Layer.LANDLOCK, "landlock_restrict_self")
    try:
        os.listdir("/")
    except PermissionError:
        return f"ABI {abi}; a folder that everybody may list was refused"
    raise ConfinementError(Layer.LANDLOCK, "it was applied, and / could still be listed", "")


def _seccomp() -> str:
    identity.forbid_new_privileges()
    filters = seccomp.assemble(kernel.MACHINE, private_root=True)
    must(filters.zygote.load(os.getpid()), Layer.SECCOMP, "seccomp")
    must(filters.child.load(os.getpid()), Layer.SECCOMP, "seccomp")
    if kernel.socket(2, 1, 0) >= 0:
        raise ConfinementError(Layer.SECCOMP, "it was loaded, and a socket could still be made", "")
    return "loaded, and a socket was refused"


def _limits() -> str:
    rlimits.prepare()
    baseline = rlimits.measure(rlimits.open_statm(), counts_threads=False)
    limits = Limits(memory_bytes=16 << 20)
    for number, value in rlimits.limits_of(limits, baseline):
        must(kernel.setrlimit(number, value), Layer.RLIMITS, "setrlimit")
    try:
        bytearray(64 << 20)
    except MemoryError:
        return "an allocation of 64 MiB under a limit of 16 MiB was refused"
    raise ConfinementError(Layer.RLIMITS, "64 MiB could be allocated under a limit of 16 MiB", "")


_ATTEMPTS: tuple[tuple[Layer, tuple[str, ...], str, Callable[[], str]], ...] = (
    (Layer.USER, _FULL, "unshare, and a map of one user", _user),
    (Layer.MOUNT, _FULL, "unshare, and a mount", _mount),
    (Layer.PID, _FULL, "unshare, and a fork", _pid),
    (Layer.NET, _FULL, "unshare, and a route to an address outside", _net),
    (Layer.IPC, _FULL, "unshare", _namespace(Layer.IPC, kernel.CLONE_NEWIPC)),
    (Layer.UTS, _FULL, "unshare", _namespace(Layer.UTS, kernel.CLONE_NEWUTS)),
    (Layer.CGROUP, _FULL, "unshare", _namespace(Layer.CGROUP, kernel.CLONE_NEWCGROUP)),
    (Layer.LANDLOCK, _BOTH, "an empty ruleset, and a look at /", _landlock),
    (Layer.SECCOMP, _BOTH, "the program's own filters, and a socket", _seccomp),
    (Layer.RLIMITS, _BOTH, "a memory limit, and an allocation", _limits),
)
