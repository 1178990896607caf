"""A workspace: one git repository and its sibling folders, the boundary between one body of work and another.

    <workspace>/
        repo.git/            the bare repository; the branches agents/<id> are the registry of agents
        agents/<id>/         an agent's worktree, rebuilt from its branch when it is missing
        steps/<id>/<NNN>/    records; outside every worktree, so that no commit and no program can reach them
        blobs/               what records share by content
        inbox/<id>/          deposits; the executor's lock is held on this folder
        litany.toml          what the operator decided

`new_workspace.py` makes one.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from litany_engine.configuration.config import DEFAULT_ROLE, Config, load_config
from litany_engine.records.disk_use import DiskUse
from litany_engine.records.ids import agent_id_fault, mint_agent_id
from litany_engine.records.records import Records
from litany_engine.workspaces.git import GitError, Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class WorkspaceError(RuntimeError):
    """A workspace is missing, broken or in the way; the message says what, where, and what to do."""


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent of a workspace.

    Attributes:
        id: its id.
        role: the name of its role in `litany.toml`.
        worktree: the folder its programs work in.
    """

    id: str
    role: str
    worktree: Path


class Workspace:
    """An opened workspace. Holds no lock and no open file; make one with `open_workspace_at`.

    Attributes:
        root: its folder, absolute.
        repository: its bare repository.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.repository = Repository(root / "repo.git")

    @cached_property
    def config(self) -> Config:
        """What `litany.toml` says, read once for this object.

        Raises:
            ConfigError: the file is not usable.
        """
        return load_config(self.root / "litany.toml")

    @cached_property
    def records(self) -> Records:
        """The records of its calls, as durable as the configuration asks.

        Raises:
            ConfigError: the configuration is not usable.
        """
        return Records(
            self.root / "steps", self.config.durability, DiskUse(self.root, self.config.records_bytes)
        )

    @property
    def worktrees(self) -> Path:
        """The folder that holds every agent's worktree, each directly under it."""
        return self.root / "agents"

    def inbox(self, agent: str) -> Path:
        """The agent's inbox, made when it is missing; `executor_lock` takes it."""
        self._known(agent)
        folder = self.root / "inbox" / agent
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def agents(self) -> list[str]:
        """The ids of all agents, oldest first.

        Raises:
            WorkspaceError: the repository cannot be read.
        """
        with _blaming_workspace():
            return self.repository.agents()

    def agent(self, agent: str | None = None) -> Agent:
        """An agent by its id; without one, the only agent there is.

        Raises:
            WorkspaceError: there is no such agent, or there are several to choose from.
        """
        if agent is None:
            agents = self.agents()
            if len(agents) != 1:
                present = f"name one of {', '.join(agents)}" if agents else "it has none"
                raise WorkspaceError(f"workspace {self.root} has {len(agents)} agents: {present}")
            agent = agents[0]
        self._known(agent)
        with _blaming_workspace():
            role = self.repository.read_mark("role", agent)
        if role is None:
            raise WorkspaceError(
                f"agent {agent} in {self.root} has no role (refs/litany/role/{agent} is missing)"
            )
        return Agent(agent, role, self.worktree(agent))

    def add_agent(
        self, agent: str | None = None, *, role: str = DEFAULT_ROLE, parent: str | None = None
    ) -> Agent:
        """Start an agent: branch, worktree, inbox, steps.

        Args:
            agent: its id; one is minted when none is given.
            role: its role; must be one that `litany.toml` knows.
            parent: the id of the agent that starts it; a minted id then shows the descent.

        Raises:
            WorkspaceError: the id is malformed or taken, or the parent unknown.
            ConfigError: the role is not declared.
        """
        self.config.role(role)
        if parent is not None:
            self._known(parent)
        agent = mint_agent_id(parent) if agent is None else agent
        if fault := agent_id_fault(agent):
            raise WorkspaceError(fault)
        with _blaming_workspace():
            if self.repository.has_agent(agent):
                raise WorkspaceError(f"agent {agent} exists in {self.root}; choose another id")
            for folder in (self.root / "inbox" / agent, self.root / "steps" / agent):
                folder.mkdir(parents=True, exist_ok=True)
            self.repository.start_agent(agent, role)
        return Agent(agent, role, self.worktree(agent))

    def worktree(self, agent: str) -> Path:
        """An agent's worktree, rebuilt from its branch when it is missing.

        Raises:
            WorkspaceError: there is no such agent, or the worktree cannot be made.
        """
        self._known(agent)
        path = self.worktrees / agent
        with _blaming_workspace():
            if path.is_dir():
                self.repository.link_worktree(agent, path)
            else:
                self.repository.add_worktree(agent, path)
        return path

    def cwd(self, agent: str) -> Path:
        """Where an agent's tools run: the folder that its `cwd` mark names, or else its worktree.

        A vanished folder is no error, or the agent could not even leave it.
        """
        with _blaming_workspace():
            marked = self.repository.read_mark("cwd", agent) if not agent_id_fault(agent) else None
        if marked is not None and marked.startswith("/") and Path(marked).is_dir():
            return Path(marked)
        return self.worktree(agent)

    def _known(self, agent: str) -> None:
        if fault := agent_id_fault(agent):
            raise WorkspaceError(fault)
        with _blaming_workspace():
            if not self.repository.has_agent(agent):
                present = ", ".join(self.repository.agents()) or "none"
                raise WorkspaceError(f"no agent {agent} in {self.root}; there are: {present}")


def open_workspace_at(path: Path) -> Workspace:
    """Open the workspace whose folder this is.

    Raises:
        WorkspaceError: it is none, or another user's: `litany.toml` names programs that the engine starts, so
            opening one is trusting its owner.
    """
    root = Path(os.path.abspath(path))  # noqa: PTH100 - as above
    if not root.is_dir():
        raise WorkspaceError(f"there is no folder {root}")
    if not is_workspace(root):
        _refuse_damaged(root)
        above = find_workspace(root)
        hint = f"it is inside {above}: name that" if above else f"make one with: litany init {root}"
        raise WorkspaceError(f"{root} is not a workspace (no repo.git and steps in it); {hint}")
    owner, me = root.stat().st_uid, os.geteuid()
    if owner not in {me, 0}:
        raise WorkspaceError(
            f"workspace {root} belongs to user {owner} and you are user {me}; its litany.toml may name "
            "programs to start: run litany as its owner, or make it yours (chown -R)"
        )
    return Workspace(root)


def find_workspace(start: Path) -> Path | None:
    """The workspace that a folder is or is inside of: the nearest one going up, or None.

    A damaged one is found, too: to pass it over would run a program somewhere else, under nobody's control.
    `open_workspace_at` says what is wrong with it.
    """
    folder = Path(os.path.abspath(start))  # noqa: PTH100 - as above
    return next((each for each in (folder, *folder.parents) if is_workspace(each) or _was_one(each)), None)


def is_workspace(folder: Path) -> bool:
    """Whether a folder looks like a whole workspace from outside."""
    return not _faults(folder)


def _was_one(folder: Path) -> bool:
    """Whether a folder holds what only a workspace has, whole or not."""
    return any(os.path.lexists(folder / part) for part in ("litany.toml", "repo.git"))


def _faults(folder: Path) -> list[tuple[str, str]]:
    """The parts that a workspace cannot do without and that this one lacks, each with what is wrong."""
    parts = ((Path("repo.git/HEAD"), stat.S_ISREG), (Path("steps"), stat.S_ISDIR))
    return [(str(part), fault) for part, is_it in parts if (fault := _fault(folder / part, is_it))]


def _fault(path: Path, is_it: Callable[[int], bool]) -> str:
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "is missing"
    except OSError as error:
        return f"cannot be reached ({error.strerror})"
    return "" if is_it(mode) else "is something else"


_MENDS = {
    "steps": "the records of its calls are kept there: restore it, or begin anew with: mkdir {root}/steps",
    "repo.git/HEAD": "restore repo.git from a copy; if this is no workspace, take its litany.toml and "
    "repo.git away",
}


def _refuse_damaged(root: Path) -> None:
    if not _was_one(root):
        return
    part, fault = _faults(root)[0]
    mend = _MENDS[part].format(root=root)
    if fault != "is missing":
        mend = f"it must be a {'folder' if part == 'steps' else 'file'} that you may read; mend that"
    raise WorkspaceError(f"{root} is a damaged workspace: {part} {fault} ({mend})")


@contextmanager
def _blaming_workspace() -> Iterator[None]:
    try:
        yield
    except GitError as error:
        raise WorkspaceError(str(error)) from error
    except OSError as error:
        raise WorkspaceError(f"{error.filename}: {error.strerror}") from error
