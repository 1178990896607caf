"""Making room: what is old and needed by nobody goes, and nothing else."""

from __future__ import annotations

import json
import os
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import trio

from cli_kit import litany
from litany_engine import open_workspace, tool
from litany_engine.records.disk_use import measure
from litany_engine.workspaces.new_workspace import ephemeral_workspace, state_folder
from litany_engine.workspaces.pruning import prune_made_workspaces, prune_workspace
from litany_engine.workspaces.workspace import Workspace
from window_kit import AGENT, make_workspace, use

LONG = "line\n" * 9000


@tool
async def say(text: str) -> str:
    """Say it again."""
    await trio.lowlevel.checkpoint()
    return text


def age(root: Path, days: float) -> None:
    """Let everything below a folder be that old."""
    then = time.time() - days * 24 * 3600
    for folder, _, names in os.walk(root, topdown=False):
        for name in names:
            os.utime(Path(folder) / name, (then, then), follow_symlinks=False)
        os.utime(folder, (then, then))


def steps(workspace: Workspace) -> list[str]:
    return sorted(each.name for each in (workspace.root / "steps" / AGENT).iterdir())


def call(workspace: Workspace, *texts: str) -> None:
    async def main() -> None:
        async with open_workspace(workspace, tools=[say]) as ws:
            for text in texts:
                await ws.invoke("say", {"text": text})

    trio.run(main)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "w")


def test_old_steps_go_with_the_contents_that_only_they_had(workspace: Workspace) -> None:
    call(workspace, LONG, LONG + "other", LONG)
    age(workspace.root / "steps", 31)
    call(workspace, LONG)
    pruned = prune_workspace(workspace, 30)
    assert [each.name for each in pruned.steps] == ["001", "002", "003"]
    assert len(pruned.blobs) == 1
    assert steps(workspace) == ["004"]
    assert pruned.bytes > 0
    assert workspace.records.disk.used() == measure(workspace.root)
    call(workspace, "x")
    assert steps(workspace) == ["004", "005"]


def test_an_agents_newest_step_stays_however_old(workspace: Workspace) -> None:
    call(workspace, "x", "y")
    age(workspace.root / "steps", 400)
    assert [each.name for each in prune_workspace(workspace, 0).steps] == ["001"]
    assert steps(workspace) == ["002"]


def test_a_dry_run_removes_nothing(workspace: Workspace) -> None:
    call(workspace, "x", "y")
    age(workspace.root / "steps", 400)
    assert [each.name for each in prune_workspace(workspace, 30, dry=True).steps] == ["001"]
    assert steps(workspace) == ["001", "002"]


def test_what_a_settlement_reads_stays(workspace: Workspace) -> None:
    (workspace.root / "litany.toml").write_text('[[rules]]\naction = "ask"\ntool = "say"\n')
    workspace = Workspace(workspace.root)

    async def main() -> None:
        async with open_workspace(workspace, tools=[say]) as ws:
            await ws.invoke("bash", {"command": "true"})
            await ws.window(AGENT, [use("c", "say", text="x")])
            await ws.advance(AGENT)  # asked again, in another step
            await ws.invoke("bash", {"command": "true"})

    trio.run(main)
    age(workspace.root / "steps", 400)
    prune_workspace(workspace, 0)
    assert steps(workspace) == ["002", "003", "004"]


def test_a_step_in_use_stays(workspace: Workspace) -> None:
    call(workspace, "x")
    with closing(workspace.records.open_step(AGENT)):
        call(workspace, "y")
        age(workspace.root / "steps", 400)
        assert [each.name for each in prune_workspace(workspace, 0).steps] == ["001"]
        assert steps(workspace) == ["002", "003"]


def made(days: float, config: str = "") -> Workspace:
    workspace = ephemeral_workspace()
    if config:
        (workspace.root / "litany.toml").write_text(config)
    age(workspace.root, days)
    return workspace


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("LITANY_KEEP_DAYS", raising=False)
    return state_folder()


def test_workspaces_made_for_a_run_go_after_the_time_that_is_set(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, young = made(31), made(29)
    kept, short = made(31, "[disk]\nkeep_days = 90\n"), made(3, "[disk]\nkeep_days = 2\n")
    own = state / "mine"
    own.mkdir()
    age(own, 400)
    pruned = prune_made_workspaces()
    assert sorted(pruned.workspaces) == sorted([old.root, short.root])
    assert pruned.bytes > 50_000
    assert sorted(each.name for each in state.iterdir()) == sorted([young.root.name, kept.root.name, "mine"])
    monkeypatch.setenv("LITANY_KEEP_DAYS", "30")
    assert prune_made_workspaces().workspaces == (kept.root,)
    assert prune_made_workspaces(keep_days=7, dry=True).workspaces == (young.root,)
    assert young.root.exists()


def test_a_workspace_in_which_something_runs_is_kept(state: Path) -> None:
    workspace = made(0)
    with closing(workspace.records.open_step(workspace.agents()[0])):
        age(workspace.root, 400)
        assert prune_made_workspaces().workspaces == ()
    assert state.exists()


def test_a_run_outside_of_any_workspace_removes_old_ones(state: Path, tmp_path: Path) -> None:
    old = made(31)
    (tmp_path / "p.py").write_text("print(1)\n")
    assert litany("run", "p.py", cwd=tmp_path, state=tmp_path / "state").returncode == 0
    assert not old.root.exists()
    assert len(list(state.iterdir())) == 1


def test_the_command_says_what_it_removes_and_frees(workspace: Workspace, tmp_path: Path) -> None:
    call(workspace, LONG, "y")
    age(workspace.root / "steps", 31)

    def prune(*arguments: str) -> Any:
        return litany("prune", *arguments, cwd=workspace.root, state=tmp_path / "state")

    assert prune("--dry-run").stdout.startswith("would remove 1 step")
    told = json.loads(prune("--json").stdout)
    assert told["steps"] == [str(workspace.root / "steps" / AGENT / "001")]
    assert told["bytes"] > len(LONG)
    assert prune().stdout == "nothing to remove\n"
    assert prune("--days", "x").returncode != 0
