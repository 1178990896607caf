"""The workspaces that `litany run` made for runs outside of any: which there are, and which was the last."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from litany_engine.workspaces.new_workspace import state_folder
from litany_engine.workspaces.workspace import Workspace, WorkspaceError, is_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def made_workspaces() -> Iterator[Workspace]:
    """The workspaces of runs outside any workspace, the newest first; none is no error."""
    try:
        folder = state_folder()
        names = sorted(os.listdir(folder), reverse=True)  # noqa: PTH208 - an id begins with its time
    except (OSError, WorkspaceError):
        return
    for name in names:
        if not name.startswith(".") and is_workspace(folder / name):
            yield Workspace(folder / name)


def last_run() -> Workspace | None:
    """The workspace of the last run outside any workspace, if it is still there."""
    return next((each for each in made_workspaces() if any(steps_of(each.root))), None)


def steps_of(root: Path) -> list[Path]:
    """The steps of all agents of a workspace, the last opened first."""
    found = [each for each in (root / "steps").glob("*/*") if each.name.isdigit() and each.is_dir()]
    return sorted(found, key=lambda each: (each.stat().st_mtime_ns, each.name), reverse=True)
