"""What tests of connected MCP servers share: a workspace that has one, and what becomes of its calls."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import trio

from litany_engine import open_workspace
from litany_engine.api import OpenWorkspace
from litany_engine.door.calls import CallEnd
from litany_engine.workspaces.new_workspace import init_workspace
from litany_engine.workspaces.workspace import Workspace, open_workspace_at

T = TypeVar("T")

SERVERS = Path(__file__).with_name("mcp_servers.py")


def workspace_with(
    tmp_path: Path, server: str, argument: Path, *, more: str = "", rest: str = ""
) -> Workspace:
    """A workspace with one server, named `s`.

    Args:
        tmp_path: where it is made, when it is not there yet.
        server: which of `mcp_servers.py`.
        argument: what that gets.
        more: lines in its table.
        rest: lines before it.
    """
    root = tmp_path / "ws"
    if not root.exists():
        init_workspace(root, agent="a")
    command = json.dumps([sys.executable, str(SERVERS), server, str(argument)])
    (root / "litany.toml").write_text(f"{rest}\n[mcp.s]\ncommand = {command}\n{more}\n")
    return open_workspace_at(root)


def good(tmp_path: Path, *, more: str = "", rest: str = "") -> Workspace:
    """A workspace with the server that keeps to the rules; what that notes is in `tmp_path / "seen"`."""
    (tmp_path / "seen").mkdir(exist_ok=True)
    return workspace_with(tmp_path, "good", tmp_path / "seen", more=more, rest=rest)


def raw(tmp_path: Path, script: dict[str, Any], *, more: str = "") -> Workspace:
    """A workspace with a server that says what a script says."""
    (tmp_path / "script.json").write_text(json.dumps(script))
    return workspace_with(tmp_path, "raw", tmp_path / "script.json", more=more)


def within(workspace: Workspace, do: Callable[[OpenWorkspace], Awaitable[T]], **more: Any) -> T:
    """Do something with it opened."""

    async def main() -> T:
        async with open_workspace(workspace, **more) as ws:
            return await do(ws)

    return trio.run(main)


def call(workspace: Workspace, name: str, given: Any = None) -> CallEnd:
    """One call, with the workspace opened for it."""
    return within(workspace, lambda ws: ws.invoke(name, given or {}))


def tool(name: str = "t", **more: Any) -> dict[str, Any]:
    """A tool as a raw server lists it."""
    return {"name": name, "inputSchema": {"type": "object"}, **more}
