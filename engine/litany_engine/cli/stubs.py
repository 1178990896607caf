"""Write the `litany_tools` module that programs of an agent import: what it may call, as Python functions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from litany_engine.cli.common import add_agent, add_workspace, the_agent, the_toolset, the_workspace

if TYPE_CHECKING:
    import argparse

EXAMPLE = """\
example:
  litany stubs | less         # read it
  litany stubs -o lib         # import it outside the sandbox: PYTHONPATH=lib python program.py
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
    tools = the_toolset(the_workspace(args), the_agent(args))
    if args.output is None:
        print(tools.stubs(), end="")
    else:
        from litany_stubs.render import write_stubs

        print(write_stubs(tools.declarations(), args.output))
    return 0
