"""The Python interface of a workspace: who is meant by no name, what a mistake leaves, calls from elsewhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
import trio

from litany_engine import open_workspace
from litany_engine.api import OpenWorkspace
from litany_engine.configuration.units import UnitError
from litany_engine.records.record_files import RecordError
from litany_engine.workspaces.new_workspace import init_workspace
from litany_engine.workspaces.workspace import Workspace, WorkspaceError
from litany_runtime.outcome import Outcome

T = TypeVar("T")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return init_workspace(tmp_path / "ws", agent="a")


def within(workspace: Workspace, do: Callable[[OpenWorkspace], Awaitable[T]]) -> T:
    async def main() -> T:
        async with open_workspace(workspace) as ws:
            return await do(ws)

    return trio.run(main)


def everything(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


@pytest.mark.parametrize("deadline", ["banana", "", "30", "0s", 0, -1, float("nan"), True])
def test_a_deadline_that_is_none_opens_no_step(workspace: Workspace, deadline: Any) -> None:
    before = everything(workspace.root / "steps")
    with pytest.raises(UnitError, match="30s"):
        within(workspace, lambda ws: ws.invoke("bash", {"command": "true"}, deadline=deadline))
    assert everything(workspace.root / "steps") == before


def test_no_name_means_the_only_agent_for_as_long_as_it_is_the_only_one(workspace: Workspace) -> None:
    async def do(ws: OpenWorkspace) -> None:
        assert (await ws.invoke("bash", {"command": "true"})).agent == "a"
        ws.workspace.add_agent("b")
        with pytest.raises(WorkspaceError, match="has 2 agents: name one of a, b"):
            await ws.invoke("bash", {"command": "true"})
        with pytest.raises(WorkspaceError, match="name one of a, b"):
            await ws.python("print(1)")
        with pytest.raises(WorkspaceError, match="name one of a, b"):
            ws.toolset()
        assert (await ws.invoke("bash", {"command": "true"}, agent="b")).agent == "b"

    within(workspace, do)


def in_flight_elsewhere(workspace: Workspace, call: str = "call_1") -> Path:
    """A call's record without an end: its process is another one, as far as can be told."""
    record = workspace.records.open_step("a").tools / call
    record.mkdir()
    (record / "input.json").write_text("{}")
    return record


@pytest.mark.parametrize("parent", ["001", "1", "a/001", "001/call_1", "steps/a/001", "", "..", "call_2"])
def test_a_call_from_elsewhere_is_named_by_its_id_alone(workspace: Workspace, parent: str) -> None:
    in_flight_elsewhere(workspace)
    before = everything(workspace.root / "steps")
    with pytest.raises(RecordError):
        within(workspace, lambda ws: ws.invoke_inside("a", parent, "bash", {"command": "true"}))
    assert everything(workspace.root / "steps") == before
    end = within(workspace, lambda ws: ws.invoke_inside("a", "call_1", "bash", {"command": "echo x"}))
    assert (end.call.id, end.stdout) == ("call_1-1", b"x\n")


def test_a_call_from_elsewhere_ends_at_the_operators_maximum(workspace: Workspace) -> None:
    (workspace.root / "litany.toml").write_text("[deadline]\nmaximum = '200ms'\n")
    in_flight_elsewhere(workspace)
    end = within(workspace, lambda ws: ws.invoke_inside("a", "call_1", "bash", {"command": "sleep 60"}))
    assert end.outcome is Outcome.TIMED_OUT
