"""What this machine can hold, found out by trying.

Each layer is tried on its own (`attempts.py`), in a throwaway process, and then all of them together, as a
zygote and a child have them. No version string decides anything.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import litany_runtime
import litany_stubs
from litany_runtime.confine import kernel, seccomp
from litany_runtime.confine.faults import ConfinementError
from litany_runtime.confine.paths import read_only_paths
from litany_runtime.confine.plan import Isolation, Layer, ZygotePlan

PATIENCE_S = 20.0
"""How long attempts may take before they count as not held; a quiet machine takes a tenth of a second."""

_DELEGATION = "control groups"


@dataclass(frozen=True, slots=True)
class Row:
    """One layer, tried.

    Attributes:
        layer: its name.
        held: whether it can be had here.
        tried: what was done.
        seen: what came of it.
        remedy: what to do if it is not held.
        needed_by: the isolations that need it; empty for what is only good to have.
    """

    layer: str
    held: bool
    tried: str
    seen: str
    remedy: str = ""
    needed_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What was tried, layer by layer.

    Attributes:
        rows: one for each layer.
    """

    rows: tuple[Row, ...]

    def missing(self, isolation: Isolation) -> tuple[Row, ...]:
        """The layers that this isolation needs and that cannot be had here."""
        return tuple(row for row in self.rows if not row.held and isolation.value in row.needed_by)

    def to_json(self) -> list[dict[str, object]]:
        """The rows in JSON's domain."""
        return [asdict(row) for row in self.rows]


_BOTH = (Isolation.FULL.value, Isolation.KERNEL.value)


def probe(worktrees: Path | None = None) -> Report:
    """Try every layer.

    Args:
        worktrees: the folder of worktrees to try with; None tries with a new one in the temporary folder.
    """
    if sys.platform != "linux" or not seccomp.machine_is_known():
        row = Row(
            Layer.PLATFORM.value,
            held=False,
            tried="looking at the platform",
            seen=f"{sys.platform} on {kernel.MACHINE}",
            remedy="Run litany on Linux, on x86_64 or aarch64",
            needed_by=_BOTH,
        )
        return Report((row,))
    rows = _each()
    both = (Isolation.FULL, Isolation.KERNEL)
    if worktrees is not None:
        rows += [_all(isolation, worktrees) for isolation in both]
    else:
        with tempfile.TemporaryDirectory(prefix="litany-") as folder:
            # As a workspace would be: reachable by the user that programs run as.
            Path(folder).chmod(0o755)
            rows += [_all(isolation, Path(folder)) for isolation in both]
    rows.append(_delegation())
    return Report(tuple(rows))


def require(isolation: Isolation, worktrees: Path | None = None) -> Report:
    """Try every layer, and refuse if one is missing that this isolation needs.

    Returns:
        What was tried and seen.

    Raises:
        ConfinementError: the first such layer, its likely cause and the remedy.
    """
    report = probe(worktrees)
    for row in report.missing(isolation):
        raise ConfinementError(row.layer, row.seen, row.remedy)
    return report


_BOOT = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
from litany_runtime.confine import attempts
getattr(attempts, sys.argv[2])(*json.loads(sys.argv[3]))
"""


def _throw_away(function: str, *arguments: object) -> Any:
    """What a function of `attempts` prints, in a process of its own; a string is what went wrong."""
    packages = [str(Path(str(each.__file__)).parent.parent) for each in (litany_runtime, litany_stubs)]
    options = ["-I", "-S", "-B", "-c", _BOOT, json.dumps(packages), function, json.dumps(arguments)]
    try:
        done = subprocess.run(
            [sys.executable, *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={},
            timeout=PATIENCE_S,
            check=False,
        )
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return f"no end within {PATIENCE_S:g} s"
    except ValueError:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return said[-1] if said else "the process that tried it died"


def _each() -> list[Row]:
    answer = _throw_away("try_each")
    if isinstance(answer, str):
        return [Row("every layer", held=False, tried="a process", seen=answer, needed_by=_BOTH)]
    return [Row(**{**row, "needed_by": tuple(row["needed_by"])}) for row in answer]


def _all(isolation: Isolation, worktrees: Path) -> Row:
    plan = ZygotePlan(isolation, read_only_paths(), worktrees)
    began = time.monotonic()
    answer = _throw_away("try_all", plan.to_json())
    took_ms = (time.monotonic() - began) * 1000
    remedy = ""
    if isinstance(answer, str):
        held, seen = False, answer
    elif not answer["held"]:
        held, seen, remedy = False, f"{answer['layer']}: {answer['cause']}", answer["remedy"]
    else:
        held, seen = True, f"{len(answer['layers'])} layers, in {took_ms:.0f} ms with the interpreter's start"
    name = f"{isolation.value}, all together"
    return Row(name, held, "a zygote and a child", seen, remedy, (isolation.value,))


def _delegation() -> Row:
    """Whether a part of the control group tree is ours to write: memory would then be bounded in all."""
    tried = "making a group below our own"
    remedy = "Optional: start litany with `systemd-run --user --scope -p Delegate=yes …`"
    try:
        own = next(
            line.rstrip("\n").removeprefix("0::")
            for line in Path("/proc/self/cgroup").read_text().splitlines()
            if line.startswith("0::")
        )
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
        root = next(line.split()[4] for line in mounts if " - cgroup2 " in line)
        folder = Path(root + own) / f"litany-probe-{os.getpid()}"
        folder.mkdir()
        controllers = (folder / "cgroup.controllers").read_text().split()
        folder.rmdir()
    except (OSError, StopIteration) as error:
        seen = str(error) or "no unified control group tree"
        return Row(_DELEGATION, held=False, tried=tried, seen=f"not delegated: {seen}", remedy=remedy)
    if not {"memory", "pids"} <= set(controllers):
        seen = f"delegated, without memory and pids (has: {' '.join(controllers) or 'none'})"
        return Row(_DELEGATION, held=False, tried=tried, seen=seen, remedy=remedy)
    return Row(_DELEGATION, held=True, tried=tried, seen=f"delegated: {' '.join(controllers)}")
