"""The escape suite of the kernel layer: hostile programs with no policy around them, judged from the host.

Each configuration runs every probe that one of its layers must stop, alone or with others, in a child of its own.
The configurations with a single layer show that none leans on another.
"""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass, field
from typing import Any

import pytest

from confine_kit import DENY, NOBODY, Host, Task, a_host, launch
from confine_probes import PROBES
from litany_runtime.confine import Isolation, Layer
from litany_runtime.program import FilePolicy

AS_ROOT = os.getuid() == 0
NAMESPACES = {"root", "net", "pid", "user"}
LANDLOCK = {"landlock", "landlock4", "landlock6"}
ALWAYS = {"always", "limits"}
NO_NAMESPACES = (sys.executable, str(DENY), "no-user-namespaces")
BOTH = frozenset({Layer.LANDLOCK, Layer.SECCOMP})


@dataclass(frozen=True)
class Case:
    """One way to run programs, and what it has to stop."""

    isolation: Isolation
    stops: frozenset[str]
    plan: dict[str, Any] = field(default_factory=dict)
    prefix: tuple[str, ...] = ()
    as_root: bool = False
    owner: int | None = None

    def must_hold(self) -> list[str]:
        return [name for name, each in PROBES.items() if each.stopped_by & self.stops]


def case(isolation: Isolation, *stops: set[str], **more: Any) -> Case:
    return Case(isolation, frozenset[str]().union(ALWAYS, *stops), **more)


FULL, KERNEL = Isolation.FULL, Isolation.KERNEL
CASES = {
    "full": case(FULL, NAMESPACES, LANDLOCK, {"seccomp"}),
    "full, started by root": case(FULL, NAMESPACES, LANDLOCK, {"seccomp"}, as_root=True, owner=0),
    "full, root, a user's files": case(FULL, NAMESPACES, LANDLOCK, {"seccomp"}, as_root=True, owner=NOBODY),
    "full, oldest Landlock": case(FULL, NAMESPACES, {"landlock", "seccomp"}, plan={"landlock_abi": 3}),
    "namespaces alone": case(FULL, NAMESPACES, plan={"without": BOTH}),
    "kernel": case(KERNEL, LANDLOCK, {"seccomp"}),
    "kernel, started by root": case(KERNEL, LANDLOCK, {"seccomp"}, as_root=True, owner=NOBODY),
    "kernel, no user namespaces": case(KERNEL, LANDLOCK, {"seccomp"}, prefix=NO_NAMESPACES),
    "kernel, oldest Landlock": case(KERNEL, {"landlock", "seccomp"}, plan={"landlock_abi": 3}),
    "Landlock alone": case(KERNEL, LANDLOCK, plan={"without": frozenset({Layer.SECCOMP})}),
    "seccomp alone": case(KERNEL, {"seccomp"}, plan={"without": frozenset({Layer.LANDLOCK})}),
}


def attack(host: Host, names: list[str], *, as_root: bool, **plan: Any) -> dict[str, dict[str, Any]]:
    tasks = [
        Task(name, "one" if PROBES[name].worktree else None, FilePolicy(PROBES[name].files)) for name in names
    ]
    user = NOBODY if AS_ROOT and not as_root else None
    result = launch(tasks, facts=host.facts, user=user, worktrees=host.worktrees, **plan)
    assert result.code == 0, result.stderr + str(result.rows[-3:])
    return {name: result.of(name) for name in names}


@pytest.mark.parametrize("name", CASES)
def test_no_probe_gets_through(name: str) -> None:
    each = CASES[name]
    if each.as_root and not AS_ROOT:
        pytest.skip("these tests were not started by root")
    owner = each.owner if AS_ROOT and each.owner is not None else (NOBODY if AS_ROOT else None)
    names = each.must_hold()
    with a_host(owner) as host:
        rows = attack(
            host, names, as_root=each.as_root, isolation=each.isolation, prefix=each.prefix, **each.plan
        )
        through = {probe: row for probe, row in rows.items() if row["kind"] != "held"}
        assert not through
        assert host.look() == host.before
        assert host.contacts() == []
        assert not any(host.secret in str(row) for row in rows.values())
        assert not _odd_files(host)
    layers = rows[names[0]]["layers"]
    print(f"{name}: {len(names)} probes held with {', '.join(layers)}")
    assert (Layer.ROOT in layers) == (each.isolation is FULL)


def _odd_files(host: Host) -> list[str]:
    """What no program may leave in its worktree: pipes, sockets, devices, set-id bits."""
    found = []
    for path in (host.worktrees / "one").rglob("*"):
        mode = path.lstat().st_mode
        if mode & 0o6000 or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
            found.append(str(path))
    return found


def test_the_probes_get_through_where_nothing_is_confined() -> None:
    """A probe that cannot get through anywhere shows nothing."""
    last = ["signal_a_host_process"]
    names = [name for name, each in PROBES.items() if each.bare and name not in last] + last
    with a_host(NOBODY if AS_ROOT else None) as host:
        rows = attack(host, names, as_root=False, isolation=Isolation.POLICY)
        held = {name: row["got"] for name, row in rows.items() if row["kind"] == "held"}
        assert not held
        assert host.look() != host.before
        assert host.contacts()


def test_there_are_enough_probes_of_every_kind() -> None:
    assert len(PROBES) >= 200
    for layer in NAMESPACES | LANDLOCK | {"seccomp"}:
        assert any(layer in each.stopped_by for each in PROBES.values()), layer
