"""Stop what runs in a workspace, in whichever process it runs, and wait until its records say so.

Without an argument everything is stopped. An agent's stop covers the agents it started.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from litany_engine.cli.common import (
    FAULTED,
    add_json,
    add_workspace,
    refuse_inside_the_workspace,
    say,
    the_workspace,
)

if TYPE_CHECKING:
    import argparse

EXAMPLE = """\
example:
  litany stop                 # everything in the workspace of the current folder
  litany stop call_7          # one call, as `litany show` names it
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany stop` takes."""
    parser.add_argument(
        "selector", metavar="AGENT|CALL", nargs="?", help="an agent, a call's id, or its record"
    )
    add_workspace(parser)
    add_json(parser, "one object {stopped, errors}")


def main(args: argparse.Namespace) -> int:
    """Stop, and say what was."""
    import trio

    from litany_engine.stopping import stop_running

    workspace = the_workspace(args)
    refuse_inside_the_workspace(workspace, "a stop is the operator's to raise")
    answers = trio.run(stop_running, workspace.root, args.selector)
    stopped = [call for answer in answers for call in answer.calls]
    errors = [answer.error for answer in answers if answer.error]
    if args.json:
        print(json.dumps({"stopped": stopped, "errors": errors}))
    elif stopped:
        print(f"stopped: {', '.join(stopped)}")
    else:
        print(
            f"nothing to stop: no call runs in {workspace.root}"
            + (f" as {args.selector}" if args.selector else "")
        )
    for error in errors:
        say(error)
    return FAULTED if errors else 0
