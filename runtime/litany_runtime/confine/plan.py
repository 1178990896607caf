"""What to confine, and the words for its layers: pure data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from litany_runtime.limits import Limits
    from litany_runtime.program import FilePolicy


class Isolation(StrEnum):
    """How much of the kernel layer a program must have around it.

    Attributes:
        FULL: namespaces, a root of its own, Landlock, seccomp, rlimits. The default.
        KERNEL: Landlock, seccomp and rlimits without namespaces: what most containers allow.
        POLICY: rlimits alone: for tests of the language layer, never for programs of strangers.
    """

    FULL = "full"
    KERNEL = "kernel"
    POLICY = "policy"


class Layer(StrEnum):
    """The layers, as records, refusals and `litany doctor` name them."""

    PLATFORM = "platform"
    USER = "user namespace"
    MOUNT = "mount namespace"
    PID = "pid namespace"
    NET = "network namespace"
    IPC = "ipc namespace"
    UTS = "uts namespace"
    CGROUP = "cgroup namespace"
    ROOT = "private root"
    IDENTITY = "own user id"
    WORKTREE = "worktree"
    NO_NEW_PRIVS = "no new privileges"
    CAPABILITIES = "no capabilities"
    RLIMITS = "rlimits"
    LANDLOCK = "landlock"
    SECCOMP = "seccomp"


@dataclass(frozen=True, slots=True)
class ZygotePlan:
    """What a zygote and all of its children share.

    Attributes:
        isolation: what must hold.
        read_only: what programs may read: the interpreter's library and the packages they import, as
            `read_only_paths` finds them. Real paths; seen under the same names inside.
        worktrees: the folder whose folders are the agents' worktrees, or None when no program has files.
        supervisor: pid of the process that started the launcher; the launcher ends with it.
        without: layers to leave out; for tests that try each layer alone, and for nothing else.
        landlock_abi: use Landlock as a kernel with this ABI has it; for tests of older kernels.
    """

    isolation: Isolation = Isolation.FULL
    read_only: tuple[Path, ...] = ()
    worktrees: Path | None = None
    supervisor: int | None = None
    without: frozenset[Layer] = frozenset()
    landlock_abi: int | None = None

    def __post_init__(self) -> None:
        """Refuse to leave out a layer that cannot be left out alone."""
        if stuck := self.without - {Layer.LANDLOCK, Layer.SECCOMP}:
            raise ValueError(f"only landlock and seccomp can be left out, not {', '.join(sorted(stuck))}")

    def to_json(self) -> dict[str, Any]:
        """The plan in JSON's domain, for the launcher."""
        return {
            "isolation": self.isolation.value,
            "read_only": [str(path) for path in self.read_only],
            "worktrees": None if self.worktrees is None else str(self.worktrees),
            "supervisor": self.supervisor,
            "without": sorted(self.without),
            "landlock_abi": self.landlock_abi,
        }

    @classmethod
    def from_json(cls, plan: dict[str, Any]) -> ZygotePlan:
        """The plan that `to_json` wrote."""
        return cls(
            isolation=Isolation(plan["isolation"]),
            read_only=tuple(Path(path) for path in plan["read_only"]),
            worktrees=None if plan["worktrees"] is None else Path(plan["worktrees"]),
            supervisor=plan["supervisor"],
            without=frozenset(Layer(name) for name in plan["without"]),
            landlock_abi=plan["landlock_abi"],
        )


@dataclass(frozen=True, slots=True)
class ChildPlan:
    """What is one child's own.

    Attributes:
        worktree: name of its agent's folder directly under the plan's worktrees, or None.
        files: what it may do there.
        limits: its limits.
    """

    worktree: str | None
    files: FilePolicy
    limits: Limits
