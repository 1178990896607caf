"""Write the `litany_tools` module that programs of an agent import: what it may call, as Python functions."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from litany_engine.cli.common import add_agent, add_workspace, the_agent, the_toolset, the_workspace
from litany_engine.environment import AGENT_VARIABLE, WORKSPACE_VARIABLE

if TYPE_CHECKING:
    import argparse

EXAMPLE = """\
example:
  litany stubs | less         # read it
  litany stubs -o lib         # to import it outside the sandbox; its calls go through the real door
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany stubs` takes."""
    parser.add_argument(
        "--output", "-o", metavar="DIR", type=Path, help="write it there instead of to stdout"
    )
    add_workspace(parser)
    add_agent(parser)


def main(args: argparse.Namespace) -> int:
    """Write it."""
    workspace, agent = the_workspace(args), the_agent(args)
    tools = the_toolset(workspace, agent)
    if args.output is None:
        print(tools.stubs(), end="")
        return 0
    from litany_stubs.render import write_stubs

    variables = {
        "PYTHONPATH": args.output.absolute(),
        WORKSPACE_VARIABLE: workspace.root,
        AGENT_VARIABLE: workspace.agent(agent).id,
    }
    print(f"wrote {write_stubs(tools.declarations(), args.output)}; outside the sandbox it is imported with")
    print("export", *(f"{name}={shlex.quote(str(value))}" for name, value in variables.items()))
    return 0
