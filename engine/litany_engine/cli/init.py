"""Make a workspace: a repository, a first agent with its worktree, and a commented litany.toml.

Files that are in the folder stay as they are.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

EXAMPLE = """\
example:
  litany init work
  cd work
  echo 'print("hello")' | litany run -
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany init` takes."""
    parser.add_argument(
        "directory", metavar="DIR", nargs="?", type=Path, default=Path(), help="default: here"
    )
    parser.add_argument("--agent", "-a", metavar="ID", help="the first agent's id (default: a new one)")


def main(args: argparse.Namespace) -> int:
    """Make it and say what is where."""
    from litany_engine.workspaces.new_workspace import init_workspace

    workspace = init_workspace(args.directory, agent=args.agent)
    agent = workspace.agent()
    print(f"workspace   {workspace.root}")
    print(f"settings    {workspace.root / 'litany.toml'}")
    print(f"agent       {agent.id}")
    print(f"its files   {agent.worktree}")
    return 0
