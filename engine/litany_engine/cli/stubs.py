"""Write the `litany_tools` module that programs of an agent import: what it may call, as Python functions.

Outside a workspace these are the built-in tools.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from litany_engine.cli.common import (
    add_agent,
    add_tools,
    add_workspace,
    given_workspace,
    print_output,
    say,
    the_agent,
    the_toolset,
)
from litany_engine.tools.environment import AGENT_VARIABLE, WORKSPACE_VARIABLE

if TYPE_CHECKING:
    import argparse

EXAMPLE = """\
example:
  litany stubs | less         # read it
  litany stubs -o lib         # to import it outside the sandbox; its calls go through the real door
  eval "$(litany stubs -o lib)"     # and set the variables that it needs
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany stubs` takes."""
    parser.add_argument(
        "--output", "-o", metavar="DIR", type=Path, help="write it there instead of to stdout"
    )
    add_workspace(parser)
    add_agent(parser)
    add_tools(parser)


def main(args: argparse.Namespace) -> int:
    """Write it."""
    workspace = given_workspace(args)
    tools = the_toolset(workspace, args)
    if args.output is None:
        print_output(tools.stubs())
        return 0
    from litany_stubs.render import write_stubs

    say(f"wrote {write_stubs(tools.declarations(), args.output)}")
    variables = {"PYTHONPATH": str(args.output.absolute())}
    if workspace is None:
        say("for an editor, a type checker and tests; to make calls, name a workspace with --workspace")
    else:
        say("outside the sandbox it is imported with the variables below")
        variables |= {
            WORKSPACE_VARIABLE: str(workspace.root),
            AGENT_VARIABLE: workspace.agent(the_agent(args)).id,
        }
    if args.tools:
        files = ", ".join(map(str, args.tools))
        say(f"only a host that has the tools of {files} can call them: outside the sandbox they are refused")
    # alone on stdout, so that a shell can evaluate it
    print("export", *(f"{name}={shlex.quote(value)}" for name, value in variables.items()))
    return 0
