"""The order in which it all happens: once for the zygote, here, and once for each child, in `child.py`.

| | zygote: `enter` | child: `confine_child` |
|---|---|---|
| who | dies with its parent; root given up; user namespace | user namespace of its own; no capability |
| where | pid, mount, net, ipc, uts, cgroup namespaces; the new root | mount namespace; worktree, /tmp |
| how much | | rlimits |
| what | no_new_privs; two capabilities left; seccomp | Landlock; seccomp; a look at whether they hold |

The zygote's own system call filter is the program's allow-list and what set-up needs besides; the child's
takes that back.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from litany_runtime.confine import identity, kernel, landlock, mounts, rlimits, seccomp
from litany_runtime.confine.faults import ConfinementError, layer, must
from litany_runtime.confine.plan import Isolation, Layer

if TYPE_CHECKING:
    from litany_runtime.confine.identity import Identity
    from litany_runtime.confine.landlock import Ruleset
    from litany_runtime.confine.plan import ZygotePlan
    from litany_runtime.confine.rlimits import Baseline
    from litany_runtime.confine.seccomp import Filters

HOSTNAME = b"litany"

_SPACES = (
    (Layer.MOUNT, kernel.CLONE_NEWNS),
    (Layer.PID, kernel.CLONE_NEWPID),
    (Layer.NET, kernel.CLONE_NEWNET),
    (Layer.IPC, kernel.CLONE_NEWIPC),
    (Layer.UTS, kernel.CLONE_NEWUTS),
    (Layer.CGROUP, kernel.CLONE_NEWCGROUP),
)
"""The namespaces that follow the user namespace, one call each so that a refusal has a name."""


@dataclass(frozen=True, slots=True, eq=False)
class Entered:
    """A zygote that has confined itself, and what its children will need.

    Attributes:
        plan: what was asked.
        pid: the zygote's pid, as its children see it.
        uid: the user that programs are outside.
        layers: the layers that its children hold, once confined, by name.
        baseline: what a child maps before its program does anything.
        ruleset: what Landlock is to handle, or None.
        filters: the assembled system call filters, or None.
    """

    plan: ZygotePlan
    pid: int
    uid: int
    layers: tuple[str, ...]
    baseline: Baseline
    ruleset: Ruleset | None
    filters: Filters | None

    def worktree_path(self, name: str) -> str:
        """Where a child sees the worktree of this name.

        Raises:
            ConfinementError: it is not the name of a folder.
        """
        mounts.check_name(name)
        if self.plan.isolation is Isolation.FULL:
            return mounts.WORKTREE
        assert self.plan.worktrees is not None
        return f"{self.plan.worktrees}/{name}"


def enter(plan: ZygotePlan) -> Entered:
    """Confine this process as a zygote; import and build everything first, for it then counts as nobody's.

    In isolation `full` it forks, and only the fork returns, as pid 1 of a new pid namespace with the new
    root; the caller's process stays behind to exit with its status. In the others it returns in place.

    Raises:
        ConfinementError: something that the isolation needs cannot be had. The process is then half confined
            and must exit.
    """
    _check_platform(plan.isolation)
    _come_clean(plan.supervisor)
    rlimits.prepare()
    if plan.isolation is Isolation.POLICY:
        baseline = rlimits.measure(rlimits.open_statm(), counts_threads=False)
        return Entered(plan, os.getpid(), os.getuid(), (Layer.RLIMITS.value,), baseline, None, None)
    full = plan.isolation is Isolation.FULL
    ruleset = filters = None
    if Layer.LANDLOCK not in plan.without:
        readable = map(str, plan.read_only)
        ruleset = landlock.prepare(
            landlock.usable_abi(plan.landlock_abi), readable, [mounts.TMP] if full else []
        )
    if Layer.SECCOMP not in plan.without:
        filters = seccomp.assemble(kernel.MACHINE, private_root=full)
    with layer(Layer.WORKTREE):
        who = identity.choose(None if plan.worktrees is None else str(plan.worktrees))
    layers, statm = _enter_namespaces(plan, who) if full else _enter_in_place(plan, who)
    identity.forbid_new_privileges()
    must(kernel.prctl(kernel.PR_SET_DUMPABLE, 0, 0, 0, 0), Layer.CAPABILITIES, "prctl")
    baseline = rlimits.measure(statm, counts_threads=full)
    if filters is not None:
        must(filters.zygote.load(os.getpid()), Layer.SECCOMP, "seccomp")
    names = _names(layers, ruleset, filters)
    return Entered(plan, os.getpid(), who.uid, names, baseline, ruleset, filters)


def _names(layers: tuple[Layer, ...], ruleset: Ruleset | None, filters: Filters | None) -> tuple[str, ...]:
    """The layers that a child holds when its set-up has returned, which it only does if all of them do."""
    names = [each.value for each in (*layers, Layer.NO_NEW_PRIVS, Layer.CAPABILITIES, Layer.RLIMITS)]
    if ruleset is not None:
        names.append(f"{Layer.LANDLOCK.value} abi {ruleset.abi}")
    if filters is not None:
        names.append(Layer.SECCOMP.value)
    return tuple(names)


def _check_platform(isolation: Isolation) -> None:
    if isolation is Isolation.POLICY:
        return
    if sys.platform != "linux":
        raise ConfinementError(
            Layer.PLATFORM,
            f"{sys.platform} has none of the mechanisms that confine a program",
            "Run litany on Linux: in a virtual machine, in WSL 2 or on another host",
        )
    if not seccomp.machine_is_known():
        raise ConfinementError(
            Layer.PLATFORM,
            f"the system call table has no numbers for {kernel.MACHINE}",
            "Use x86_64 or aarch64",
        )


def _come_clean(supervisor: int | None) -> None:
    """Leave behind what a process inherits: session and terminal, environment, umask, signal mask, folder."""
    if sys.platform == "linux":
        _die_with_parent()
        if supervisor is not None and os.getppid() != supervisor:
            os._exit(1)  # it died before it could be watched, and nobody is left to be told
    if os.getpid() != os.getsid(0):
        os.setsid()
    os.environ.clear()
    os.umask(0o022)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.chdir("/")


def _die_with_parent() -> None:
    """Be killed when the thread that started this process ends. A change of user forgets it."""
    must(kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), Layer.PLATFORM, "prctl")


def _become(who: Identity) -> None:
    identity.become(who)
    _die_with_parent()
    # A change of user takes /proc/self away from its own process until this gives it back.
    must(kernel.prctl(kernel.PR_SET_DUMPABLE, 1, 0, 0, 0), Layer.IDENTITY, "prctl")


def _enter_namespaces(plan: ZygotePlan, who: Identity) -> tuple[tuple[Layer, ...], int | None]:
    """Isolation `full`: return in pid 1 of new namespaces, inside the new root."""
    trees = mounts.take_trees(plan, who) if who.drops_root else None
    _become(who)
    must(kernel.unshare(kernel.CLONE_NEWUSER), Layer.USER, "unshare")
    with layer(Layer.USER):
        identity.map_ids(who)
    for name, flag in _SPACES:
        must(kernel.unshare(flag), name, "unshare")
    if trees is None:
        trees = mounts.take_trees(plan, who)
    parent_lives, lifeline = os.pipe()
    pid = os.fork()
    if pid:
        _stay_behind(pid, lifeline)
    os.close(lifeline)
    _die_with_parent()
    # The parent may have died between the fork and that call. It never writes: readable means closed.
    if select.select([parent_lives], [], [], 0)[0]:
        os._exit(1)
    os.close(parent_lives)
    statm = rlimits.open_statm()
    mounts.build_root(trees)
    must(kernel.sethostname(HOSTNAME, len(HOSTNAME)), Layer.UTS, "sethostname")
    must(kernel.setdomainname(b"", 0), Layer.UTS, "setdomainname")
    if (remembered := sys.modules.get("platform")) is not None:
        # It keeps the host's name, if anything imported has asked it for the system's.
        remembered._uname_cache = None  # type: ignore[attr-defined]  # noqa: SLF001
    identity.keep_what_set_up_needs()
    return (Layer.USER, *(name for name, _ in _SPACES), Layer.ROOT), statm


def _stay_behind(pid: int, lifeline: int) -> NoReturn:
    """Wait for pid 1 and end as it did. Holds nothing else open: whoever waits for an end of file gets it."""
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0, 0, 0, 0)
    os.closerange(0, lifeline)
    os.closerange(lifeline + 1, os.sysconf("SC_OPEN_MAX"))
    status = os.waitpid(pid, 0)[1]
    os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))


def _enter_in_place(plan: ZygotePlan, who: Identity) -> tuple[tuple[Layer, ...], int | None]:
    """Isolation `kernel`: the same process, root given up."""
    if who.drops_root:
        identity.empty_bounding_set()
    _become(who)
    for path in plan.read_only:
        if not os.access(path, os.R_OK):
            raise ConfinementError(
                Layer.IDENTITY,
                f"programs run as user {who.uid}, which cannot read {path}",
                "Install Python where every user can read it, or start litany as an ordinary user",
            )
    return (), rlimits.open_statm()
