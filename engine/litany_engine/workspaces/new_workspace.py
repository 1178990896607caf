"""Making a workspace: in a folder that the user names, or in the user's state folder for one run.

A workspace appears whole or not at all: it is built beside its place and moved there, the repository last,
because the repository is what makes a folder a workspace.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from litany_engine.configuration.settings import default_toml
from litany_engine.records.ids import agent_id_fault, mint_agent_id
from litany_engine.workspaces.git import GitError, Repository
from litany_engine.workspaces.workspace import Workspace, WorkspaceError

PARTS = ("agents", "steps", "inbox", "litany.toml", "repo.git")
"""What a workspace consists of, in the order in which it is moved into place."""


def init_workspace(directory: Path, *, agent: str | None = None) -> Workspace:
    """Make a workspace in a folder, with a first agent of the default role; what is there stays.

    Args:
        directory: the folder; made when it is missing.
        agent: the first agent's id; one is minted when none is given.

    Raises:
        WorkspaceError: it is a workspace, something is in the way, or it cannot be made: nothing is left.
    """
    root = Path(os.path.abspath(directory))  # noqa: PTH100 - links in the path are the user's, and stay
    if agent is not None and (fault := agent_id_fault(agent)):
        raise WorkspaceError(fault)
    for part in PARTS[::-1]:
        if os.path.lexists(root / part):
            taken = "is a workspace already" if part == "repo.git" else f"has {part} in it already"
            raise WorkspaceError(f"{root} {taken}; choose another folder")
    existed = os.path.lexists(root)
    missing = [each for each in root.parents if not os.path.exists(each)]  # noqa: PTH110 - a closed one is no error
    # Inside an existing folder: its parent may be closed to us, and it may be somebody's working directory.
    building = (root if existed else root.parent) / f".litany-init-{secrets.token_hex(4)}"
    placed: list[Path] = []
    try:
        if not existed:
            root.parent.mkdir(parents=True, exist_ok=True)
        building.mkdir()
        _fill(Workspace(building), agent)
        if existed:
            for part in PARTS:
                (building / part).rename(root / part)
                placed.append(root / part)
            building.rmdir()
        else:
            building.rename(root)
            placed.append(root)
        workspace = Workspace(root)
        for first in workspace.agents():
            workspace.worktree(first)  # it was built elsewhere: point git at where it is now
    except BaseException as error:
        for path in (building, *placed):
            _remove(path)
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
        if isinstance(error, OSError):
            why = f"cannot make a workspace in {root}: {error.strerror}{_remedy(root, error)}"
            raise WorkspaceError(why) from error
        if isinstance(error, WorkspaceError):  # where it was built is nobody's folder to mend
            raise WorkspaceError(str(error).replace(str(building), str(root))) from error
        raise
    return workspace


def ephemeral_workspace() -> Workspace:
    """Make a workspace in the user's state folder, for a run outside any; it stays for a time (`pruning.py`).

    It is `$XDG_STATE_HOME/litany/workspaces/<time>-<short>`, by default under `~/.local/state`.

    Raises:
        WorkspaceError: it cannot be made.
    """
    folder = state_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise WorkspaceError(
            f"cannot make the folder {folder}: {error.strerror}; set XDG_STATE_HOME to a folder of yours, or "
            "make a workspace (litany init) and run in it"
        ) from error
    return init_workspace(folder / mint_agent_id())


def state_folder() -> Path:
    """The folder of the workspaces that were made for one run; it need not be there.

    Raises:
        WorkspaceError: the user has no home folder.
    """
    state = os.environ.get("XDG_STATE_HOME", "")
    base = Path(state) if state.startswith("/") else _home() / ".local" / "state"
    return base / "litany" / "workspaces"


def _home() -> Path:
    """The user's home folder. An empty HOME, or a relative one, is none: it would be the current folder."""
    named = os.environ.get("HOME", "")
    if named.startswith("/"):
        return Path(named)
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError as error:
        raise WorkspaceError("no home directory: set XDG_STATE_HOME or HOME, or name a workspace") from error


def _remedy(root: Path, error: OSError) -> str:
    """What to do about a folder that one may not write in: its name, and another's."""
    if not isinstance(error, PermissionError):
        return ""
    closed = next((each for each in (root, *root.parents) if os.path.exists(each)), root)  # noqa: PTH110
    return f"; you may not write in {closed}: make it yours (chmod u+rwx, chown), or choose another folder"


def _remove(path: Path) -> None:
    if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114 - a closed one is no error
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def _fill(workspace: Workspace, agent: str | None) -> None:
    for folder in PARTS[:3]:
        (workspace.root / folder).mkdir()
    (workspace.root / "litany.toml").write_text(default_toml(), encoding="utf-8")
    try:
        Repository.create(workspace.root / "repo.git")
    except GitError as error:
        raise WorkspaceError(str(error)) from error
    workspace.add_agent(agent)
