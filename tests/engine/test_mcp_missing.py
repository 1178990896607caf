"""Without the extra: what needs it says in a line how to install it, and nothing else needs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from litany_engine.workspaces.new_workspace import init_workspace
from litany_engine.workspaces.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return init_workspace(tmp_path / "ws", agent="a")


WITHOUT = """
import sys
from importlib import util
find = util.find_spec
util.find_spec = lambda name, *rest: None if name in {"mcp", "mcp_types"} else find(name, *rest)
sys.modules["mcp"] = sys.modules["mcp_types"] = None
from litany_engine.cli import main
sys.exit(main(sys.argv[1:]))
"""


def without_the_sdk(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments],
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


def test_without_the_sdk_it_says_how_to_install_it(workspace: Workspace) -> None:
    done = without_the_sdk("mcp", "--workspace", str(workspace.root))
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr == (
        "litany: litany mcp needs the MCP SDK (mcp 2.x), which is not installed: pip install 'litany[mcp]'\n"
    )


def test_servers_as_tools_need_no_sdk(workspace: Workspace) -> None:
    script = workspace.root.parent / "script.json"
    tool = {"name": "t", "description": "Says it.", "inputSchema": {"type": "object"}}
    script.write_text(json.dumps({"tools/list": {"tools": [tool]}}))
    servers = Path(__file__).parents[1] / "mcp_servers.py"
    command = json.dumps([sys.executable, str(servers), "raw", str(script)])
    (workspace.root / "litany.toml").write_text(f"[mcp.s]\ncommand = {command}")
    done = without_the_sdk("describe", "--workspace", str(workspace.root))
    assert (done.returncode, "s_t() -> Result[Any]\n    Says it." in done.stdout) == (0, True)
