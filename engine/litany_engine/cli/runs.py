"""List what ran, the newest first: in this workspace or, outside any, the runs outside of any.

`litany show` shows one of them.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from litany_engine.cli.common import (
    UsageError,
    add_json,
    add_workspace,
    given_workspace,
    naming,
    print_json,
    say,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path

    from litany_engine.workspaces.workspace import Workspace

EXAMPLE = """\
example:
  litany runs                 # the last twenty
  litany runs --limit 100 --json
"""

RUNS = 20
"""How many are listed unless asked for more: a screen."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany runs` takes."""
    parser.add_argument(
        "--limit", "-n", metavar="N", type=int, default=RUNS, help=f"how many (default: {RUNS})"
    )
    add_workspace(parser)
    add_json(parser, "a list of {workspace, agent, step, started_at, outcome, calls, tools}")


def main(args: argparse.Namespace) -> int:
    """List them."""
    from litany_engine.plain_text import plain
    from litany_engine.workspaces.made import made_workspaces

    if args.limit < 1:
        raise UsageError(f"--limit must be above zero, not {args.limit}")
    workspace = given_workspace(args)
    places = [workspace] if workspace is not None else made_workspaces()
    found = list(islice((run for place in places for run in _runs(place)), args.limit))
    if args.json:
        print_json(found)
        return 0
    for run in found:
        tools = plain(", ".join(run["tools"]))
        print(f"{run['started_at']:<19}  {run['outcome']:<9}  {tools}  {run['calls']} calls  {run['show']}")
    if not found:
        where = f"in {workspace.root}" if workspace is not None else "outside a workspace"
        say(f"nothing ran {where} yet, or it was pruned")
    return 0


def _runs(workspace: Workspace) -> Iterator[dict[str, Any]]:
    from litany_engine.workspaces.made import steps_of

    option = naming(workspace)
    for step in steps_of(workspace.root):
        yield _run(workspace, step, option)


def _run(workspace: Workspace, step: Path, option: str) -> dict[str, Any]:
    from litany_engine.records.recorded import call_tree, iter_calls

    nodes = call_tree(iter_calls(step))
    first = nodes[0].call if nodes else None
    end = None if first is None else first.end
    started = None if first is None else first.at
    return {
        "workspace": str(workspace.root),
        "agent": step.parent.name,
        "step": step.name,
        "started_at": "" if started is None else started.isoformat(sep=" ", timespec="seconds")[:19],
        "outcome": "no end" if end is None else str(end.outcome),
        "calls": sum(len(node.calls) for node in nodes),
        "tools": [node.call.call.name for node in nodes],
        "show": f"litany show {step.parent.name}/{step.name}{option}",
    }
