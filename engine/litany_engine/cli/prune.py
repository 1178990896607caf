"""Make room: remove old records of a workspace, and old workspaces that were made for one run.

In a workspace, or with --workspace, the steps in which nothing was recorded for [disk] keep_days (30) days
go, and the shared contents that no record has any more. Workspaces that `litany run` made for a run outside
of any go as a whole, after as many days, or LITANY_KEEP_DAYS; `litany run` removes such old ones, too.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from litany_engine.cli.common import (
    add_json,
    add_workspace,
    given_workspace,
    refuse_inside_the_workspace,
)

if TYPE_CHECKING:
    import argparse

    from litany_engine.workspaces.pruning import Pruned

EXAMPLE = """\
example:
  litany prune --dry-run
  litany prune --days 7
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany prune` takes."""
    parser.add_argument(
        "--days", metavar="N", type=_days, help="keep what is younger than N days, whatever the settings say"
    )
    parser.add_argument("--dry-run", action="store_true", help="remove nothing, and say what would be")
    add_workspace(parser)
    add_json(parser, "one object {removed, steps, blobs, workspaces, bytes}")


def main(args: argparse.Namespace) -> int:
    """Remove, and say what was."""
    from litany_engine.workspaces.pruning import Pruned, prune_made_workspaces, prune_workspace

    workspace = given_workspace(args)
    done = Pruned()
    if workspace is not None:
        refuse_inside_the_workspace(workspace, "what records are kept is the operator's to say")
        days = workspace.config.keep_days if args.days is None else args.days
        done = prune_workspace(workspace, days, dry=args.dry_run)
    made = prune_made_workspaces(keep_days=args.days, dry=args.dry_run)
    if args.json:
        told = {
            "removed": not args.dry_run,
            "steps": list(map(str, done.steps)),
            "blobs": len(done.blobs),
            "workspaces": list(map(str, made.workspaces)),
            "bytes": done.bytes + made.bytes,
        }
        print(json.dumps(told))
    else:
        print(_as_text(done, made, dry=args.dry_run))
    return 0


def _as_text(done: Pruned, made: Pruned, *, dry: bool) -> str:
    from litany_engine.configuration.units import show_size
    from litany_engine.counted import counted

    what = [
        counted(len(found), name)
        for found, name in (
            (done.steps, "step"),
            (done.blobs, "shared content"),
            (made.workspaces, "workspace"),
        )
        if found
    ]
    if not what:
        return "nothing to remove"
    size = done.bytes + made.bytes
    freed = f", {show_size(size)}" if size > 0 else ""
    return f"{'would remove' if dry else 'removed'} {', '.join(what)}{freed}"


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError(text)
    return int(text)
