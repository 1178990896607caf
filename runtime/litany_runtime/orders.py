"""What the supervisor and the zygote say to each other: one datagram a message, descriptors beside it.

Both ends are ours, so there is less to doubt than on the wire; the codec still takes only the closed set.

| sender | message | descriptors | answered by |
|---|---|---|---|
| zygote | `Ready` | | |
| host | `Spawn` | the child's socket, stdout, stderr | `Exited`, once, when the child is gone |
| host | `Signal` | | |
| zygote | `Exited` | | |
| zygote | `Failed` | | the zygote could not be made; it is gone |
"""

from __future__ import annotations

import dataclasses
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import msgpack

from litany_runtime.confine import ChildPlan
from litany_runtime.limits import Limits
from litany_runtime.program import FilePolicy

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_ORDER_BYTES = 64 * 1024
"""Size of one datagram; the largest holds a few paths and numbers."""

_PATHS = "surrogateescape"
"""How Python writes the bytes of a path that are no text; both ends take them for the same bytes."""


@dataclass(frozen=True, slots=True)
class Begin:
    """The first order: what to be the zygote of.

    Attributes:
        plan: the fields of `confine.ZygotePlan`, as JSON.
        modules: packages to import beyond the standard ones.
        language_layer: False switches the policy off; for tests of the kernel layer alone.
    """

    TAG: ClassVar[int] = 1
    plan: dict[str, Any]
    modules: list[str]
    language_layer: bool


@dataclass(frozen=True, slots=True)
class Ready:
    """The zygote is confined and takes orders."""

    TAG: ClassVar[int] = 2


@dataclass(frozen=True, slots=True)
class Failed:
    """The zygote could not be made.

    Attributes:
        layer: the layer that is missing, or "" when something else went wrong.
        cause: what was tried and seen.
        remedy: what to do, or "".
    """

    TAG: ClassVar[int] = 3
    layer: str
    cause: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Spawn:
    """Fork a child.

    Attributes:
        key: the supervisor's number for it.
        worktree: the worktree's folder name under the worktree root, or None.
        files: what it may do there.
        limits: its limits.
    """

    TAG: ClassVar[int] = 4
    key: int
    worktree: str | None
    files: str
    limits: dict[str, Any]

    @classmethod
    def of(cls, key: int, worktree: str | None, files: FilePolicy, limits: Limits) -> Spawn:
        """The order for one child."""
        return cls(key, worktree, files.value, asdict(limits))

    def child_plan(self) -> ChildPlan:
        """The plan of the child that is ordered."""
        return ChildPlan(self.worktree, FilePolicy(self.files), Limits(**self.limits))


@dataclass(frozen=True, slots=True)
class Signal:
    """Send a signal to a child; one that is gone is no error.

    Attributes:
        key: which child.
        number: the signal's number.
    """

    TAG: ClassVar[int] = 5
    key: int
    number: int


@dataclass(frozen=True, slots=True)
class Exited:
    """A child is gone and reaped.

    Attributes:
        key: which child.
        status: its wait status, as `os.waitpid` gives it.
        cpu_s: user and system time, in seconds.
        peak_memory_bytes: largest resident set.
    """

    TAG: ClassVar[int] = 6
    key: int
    status: int
    cpu_s: float
    peak_memory_bytes: int


Order = Begin | Ready | Failed | Spawn | Signal | Exited

_ORDERS: Mapping[int, type[Order]] = {
    each.TAG: each for each in (Begin, Ready, Failed, Spawn, Signal, Exited)
}


def encode(order: Order) -> bytes:
    """The datagram of an order."""
    fields = [getattr(order, each.name) for each in dataclasses.fields(order)]
    data: bytes = msgpack.packb([order.TAG, *fields], unicode_errors=_PATHS)
    return data


def decode(data: bytes) -> Order:
    """The order in a datagram.

    Raises:
        ValueError: it is none.
    """
    tag, *values = msgpack.unpackb(data, unicode_errors=_PATHS)
    return _ORDERS[tag](*values)
