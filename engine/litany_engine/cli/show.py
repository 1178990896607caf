"""Show what ran: a step with its programs and their calls, or one call with what went in and came out.

Without an argument, the newest step of the agent is shown. Outside any workspace it is about the last run
that was made outside of any, as it is with --last anywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from litany_engine.cli.common import (
    CommandError,
    UsageError,
    add_agent,
    add_json,
    add_workspace,
    given_workspace,
    naming,
    print_json,
    say,
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
  litany show --last          # the last run outside any workspace
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany show` takes."""
    parser.add_argument(
        "what", metavar="STEP|CALL", nargs="?", help="a step's number, or a call's id or record"
    )
    parser.add_argument("--last", action="store_true", help="of the last run outside any workspace")
    add_workspace(parser)
    add_agent(parser)
    add_json(parser, "one object")


def main(args: argparse.Namespace) -> int:
    """Print it."""
    from litany_engine.records.find_record import find_record
    from litany_engine.records.show import show_json, show_text
    from litany_engine.workspaces.made import last_run

    workspace = given_workspace(args) if not args.last else None
    if args.last and args.workspace:
        raise UsageError("--last and --workspace are about different workspaces; give one of them")
    if workspace is None:
        workspace = last_run() if args.last else last_run() or the_workspace(args)
        if workspace is None:
            raise CommandError(
                "nothing ran outside a workspace yet, or it was pruned; `litany run` makes one"
            )
        say(f"{'' if args.last else 'not in a workspace; '}the last run outside of any: {workspace.root}")
    folder = find_record(workspace.root / "steps", args.what, the_agent(args))
    if args.json:
        print_json(show_json(folder))
    else:
        print(show_text(folder, naming(workspace)), end="")
    return 0
