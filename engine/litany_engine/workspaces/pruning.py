"""Making room: old steps, shared contents that no record has, and workspaces that were made for one run.

Nothing goes that somebody may still need: a step in use, an agent's newest step, from which the next number
is counted, those of a reply that is not answered yet, from which settlement reads, and a workspace in which
something runs. What goes is first moved out of its place, so a death in the middle leaves no half.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litany_engine.records.blobs import unused_blobs
from litany_engine.records.dead_records import is_in_use
from litany_engine.records.disk_use import measure
from litany_engine.records.ids import agent_id_fault
from litany_engine.records.records import step_name, step_numbers
from litany_engine.windows.entries import TranscriptError, standing
from litany_engine.windows.transcript import Transcript
from litany_engine.workspaces.git import GitError
from litany_engine.workspaces.new_workspace import state_folder
from litany_engine.workspaces.workspace import Workspace, WorkspaceError, is_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DAY_S = 24 * 3600.0

KEEP_VARIABLE = "LITANY_KEEP_DAYS"
"""Days for which workspaces that were made for one run are kept; without it each one's own setting counts."""

MAX_PRUNED_BY_A_RUN = 20
"""Workspaces that one run outside of any looks at and may remove: it has something else to do."""

_MADE = re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}", re.ASCII)
_GOING = ".pruned-"


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was removed, or would be.

    Attributes:
        steps: folders of steps.
        blobs: shared contents that no record has.
        workspaces: folders of workspaces.
        bytes: what they took on disk.
    """

    steps: tuple[Path, ...] = ()
    blobs: tuple[Path, ...] = ()
    workspaces: tuple[Path, ...] = ()
    bytes: int = 0


def prune_workspace(workspace: Workspace, keep_days: float, *, dry: bool = False) -> Pruned:
    """Remove the records of a workspace that are old, and the shared contents that no record has.

    Args:
        workspace: whose.
        keep_days: steps in which nothing was recorded for that long are old.
        dry: remove nothing, and say what would be. The contents that only old records have are not among it.
    """
    before = measure(workspace.root)
    old = [each for agent in _agents(workspace) for each in _old_steps(workspace, agent, keep_days * DAY_S)]
    gone = [each for each in old if dry or _remove(each)]
    for left in () if dry else (workspace.root / "steps").glob(f"*/{_GOING}*"):
        shutil.rmtree(left, ignore_errors=True)  # of a prune that was killed
    blobs = list(unused_blobs(workspace.root))
    if dry:
        return Pruned(tuple(gone), tuple(blobs))
    for each in blobs:
        with suppress(OSError):
            each.unlink()
    return Pruned(tuple(gone), tuple(blobs), bytes=before - workspace.records.disk.count_again())


def prune_made_workspaces(
    *, keep_days: float | None = None, dry: bool = False, most: int | None = None
) -> Pruned:
    """Remove workspaces that were made for a run outside of any, and are old.

    Args:
        keep_days: those in which nothing ran for that long are old; None for what is set, by `KEEP_VARIABLE`
            or in each of them.
        dry: remove nothing, and say what would be.
        most: look at no more than these, the oldest.

    Raises:
        WorkspaceError: the user has no state folder.
    """
    folder = state_folder()
    gone: list[Path] = []
    freed = 0
    with suppress(FileNotFoundError):
        for root in sorted(folder.iterdir())[:most]:
            if root.name.startswith(_GOING):  # of a prune that was killed
                if not dry:
                    shutil.rmtree(root, ignore_errors=True)
            elif _is_old_workspace(root, keep_days):
                size = _size(root)
                if dry or _remove(root):
                    gone.append(root)
                    freed += size
    return Pruned(workspaces=tuple(gone), bytes=freed)


def _agents(workspace: Workspace) -> list[str]:
    steps = workspace.root / "steps"
    return [each.name for each in steps.iterdir() if each.is_dir() and agent_id_fault(each.name) is None]


def _old_steps(workspace: Workspace, agent: str, age_s: float) -> Iterator[Path]:
    folder = workspace.root / "steps" / agent
    numbers = step_numbers(folder)
    needed = min(_first_needed(workspace, agent), max(numbers, default=0))
    for number in numbers:
        step = folder / step_name(number)
        if number < needed and _age_s(step, step / "tools") > age_s and not is_in_use(step):
            yield step


def _first_needed(workspace: Workspace, agent: str) -> float:
    """The first step that a settlement may read from; 0 when that cannot be told."""
    if agent not in workspace.agents():
        return float("inf")
    try:
        transcript = Transcript(workspace.repository, agent, workspace.worktrees / agent)
        now = standing(transcript.entries())
    except (TranscriptError, GitError):
        return 0
    return now.reply.step if now.unanswered and now.reply is not None else float("inf")


def _is_old_workspace(root: Path, keep_days: float | None) -> bool:
    if not _MADE.fullmatch(root.name) or root.is_symlink() or not is_workspace(root):
        return False
    try:
        workspace = Workspace(root)
        days = _kept_days(workspace) if keep_days is None else keep_days
        steps = [each for agent in _agents(workspace) for each in (root / "steps" / agent).iterdir()]
        places = [root, *(root / "steps" / each for each in _agents(workspace)), *steps]
        places += [each / "tools" for each in steps]
        return (
            root.stat().st_uid == os.geteuid()
            and _age_s(*places) > days * DAY_S
            and not any(is_in_use(each) for each in steps if (each / "tools").is_dir())
        )
    except (OSError, ValueError, WorkspaceError):
        return False  # what cannot be understood is the user's to remove


def _kept_days(workspace: Workspace) -> float:
    named = os.environ.get(KEEP_VARIABLE, "")
    return int(named) if named.isascii() and named.isdigit() else workspace.config.keep_days


def _age_s(*places: Path) -> float:
    """Seconds since something changed in one of some folders, of those that are there."""
    newest = 0.0
    for each in places:
        with suppress(OSError):
            newest = max(newest, each.stat().st_mtime)
    return time.time() - newest


def _remove(folder: Path) -> bool:
    """Take a folder away; whether it is gone from its place."""
    going = folder.with_name(f"{_GOING}{secrets.token_hex(4)}")
    try:
        folder.rename(going)
    except OSError:
        return False
    shutil.rmtree(going, ignore_errors=True)
    return True


def _size(root: Path) -> int:
    """What a folder takes on disk; a file with several names counts once."""
    total, seen = 0, set()
    for folder, _, names in os.walk(root):
        for name in names:
            with suppress(OSError):
                status = os.lstat(os.path.join(folder, name))  # noqa: PTH118 - `os.walk` gives texts
                if status.st_ino not in seen:
                    seen.add(status.st_ino)
                    total += status.st_blocks * 512
    return total
