"""Show what ran: a step with its programs and their calls, or one call with what went in and came out.

Without an argument, the newest step of the agent is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from litany_engine.cli.common import (
    add_agent,
    add_json,
    add_workspace,
    naming,
    print_json,
    the_agent,
    the_workspace,
)

if TYPE_CHECKING:
    import argparse

EXAMPLE = """\
example:
  litany show                 # the newest step
  litany show 7               # step 7
  litany show call_7-3        # one call
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany show` takes."""
    parser.add_argument(
        "what", metavar="STEP|CALL", nargs="?", help="a step's number, or a call's id or record"
    )
    add_workspace(parser)
    add_agent(parser)
    add_json(parser, "one object")


def main(args: argparse.Namespace) -> int:
    """Print it."""
    from litany_engine.records.find_record import find_record
    from litany_engine.records.show import show_json, show_text

    workspace = the_workspace(args)
    folder = find_record(workspace.root / "steps", args.what, the_agent(args))
    if args.json:
        print_json(show_json(folder))
    else:
        print(show_text(folder, naming(workspace)), end="")
    return 0
