"""Serve an agent's tools to an MCP client, on stdin and stdout.

The client starts this command itself; nothing but the protocol is on stdout. Each call is a step of its own,
gated and recorded like every other. A call ends when its client cancels it, or leaves; SIGTERM and Ctrl-C end
them all. Needs the extra: pip install 'litany[mcp]'.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from litany_engine.cli.common import (
    STOPPED,
    UsageError,
    add_agent,
    add_tools,
    add_workspace,
    given_tools,
    refuse_inside_a_call,
    say,
    stop_on_signals,
    the_agent,
    the_workspace,
    warn_of_unknown_names,
)

if TYPE_CHECKING:
    import argparse

    from litany_engine.api import OpenWorkspace
    from litany_engine.door.calls import Tool
    from litany_engine.workspaces.workspace import Workspace

EXAMPLE = """\
example:
  litany mcp --workspace work --only python     # programs alone; they call every tool that is granted

what a client's configuration says:
  {"mcpServers": {"litany": {"command": "litany", "args": ["mcp", "--workspace", "/path/to/work"]}}}
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany mcp` takes."""
    add_workspace(parser)
    add_agent(parser)
    add_tools(parser)
    parser.add_argument(
        "--only",
        metavar="TOOL",
        action="append",
        default=[],
        help="offer this tool, and of the others none; may be given again",
    )
    parser.add_argument(
        "--budget",
        "-b",
        metavar="CHARACTERS",
        type=int,
        help="the most that the description of `python` says of the other tools (default: 16000)",
    )


def main(args: argparse.Namespace) -> int:
    """Serve until the client leaves."""
    from litany_engine.mcp.sdk import need_sdk

    refuse_inside_a_call("an agent is served from outside")
    need_sdk("litany mcp")
    workspace, tools = the_workspace(args), given_tools(args)
    workspace.agent(the_agent(args))  # a mistake is told here, and not to the client's first call
    warn_of_unknown_names(workspace, tools)
    if sys.stdin is None or sys.stdin.isatty():
        say("this speaks MCP on stdin and stdout, and is started by an MCP client (see --help)")
    return _serve(workspace, tools, args)


def _check_only(ws: OpenWorkspace, agent: str | None, only: list[str]) -> None:
    """Refuse a name that no tool of the agent has; what a server has is known once it is started."""
    from litany_engine.near import near

    toolset, servers = ws.toolset(agent), ws.workspace.config.mcp.values()
    for name in only:
        if toolset.granted_tool(name, inner=False) is None and not any(
            name.startswith(each.prefix) for each in servers
        ):
            known = [each for each in toolset.tools if toolset.granted_tool(each, inner=False)]
            raise UsageError(f"--only {name}: the agent is granted no such tool{near(name, known)}")


def _serve(workspace: Workspace, tools: list[Tool], args: argparse.Namespace) -> int:
    import trio

    from litany_engine.api import open_workspace
    from litany_engine.cli.streams import stdout_of_tools
    from litany_engine.mcp.serving import Serving
    from litany_engine.mcp.stdio import own_stdin
    from litany_engine.tools.offered import DESCRIBE_BUDGET_CHARS
    from litany_stubs.describe import MIN_BUDGET_CHARS

    budget = DESCRIBE_BUDGET_CHARS if args.budget is None else args.budget
    if budget < MIN_BUDGET_CHARS:
        raise UsageError(f"--budget must be at least {MIN_BUDGET_CHARS} characters, not {budget}")
    stdout = os.dup(1 if sys.stdout is None else sys.stdout.fileno())

    async def serve(stdin: int) -> int:
        code = 0
        async with open_workspace(workspace, tools=tools) as ws, trio.open_nursery() as nursery:
            _check_only(ws, the_agent(args), args.only)
            serving = Serving(ws, the_agent(args), args.only, budget)

            async def stop(reason: str) -> None:
                nonlocal code
                code = STOPPED
                await ws.stop(reason=reason)
                serving.leave()

            await nursery.start(stop_on_signals, stop)
            await serving.run(stdin, stdout)
            nursery.cancel_scope.cancel()
        return code

    with stdout_of_tools(), own_stdin() as stdin:
        return trio.run(serve, stdin)
