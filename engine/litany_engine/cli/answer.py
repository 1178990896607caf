"""Answer a call that is held: let it pass, or refuse it.

A program that waits goes on at once. A call of the model itself is asked again when its agent is advanced.
A change of the settings that was made while a call ran is answered under the id litany.toml.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from litany_engine.cli.common import (
    UsageError,
    add_agent,
    add_workspace,
    refuse_inside_the_workspace,
    say,
    the_workspace,
)
from litany_engine.cli.holds import asks_again

if TYPE_CHECKING:
    import argparse

EXAMPLE = """\
example:
  litany answer call_7-2 pass
  litany answer call_7-3 refuse --reason "not on a Friday"
  litany answer litany.toml refuse           # put back the settings that a call changed
  litany answer call_7-4 pass --remember     # and the same call of this agent from now on, where a rule asks
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany answer` takes."""
    parser.add_argument("id", metavar="ID", help="the call's id, as `litany holds` shows it")
    parser.add_argument("verdict", choices=("pass", "refuse"))
    parser.add_argument("--reason", default="", help="for whoever made the call")
    parser.add_argument(
        "--remember",
        action="store_true",
        help="with pass: the same call passes from now on where a rule asks",
    )
    add_workspace(parser)
    add_agent(parser)


def main(args: argparse.Namespace) -> int:
    """Write the answer down."""
    from litany_engine.door.decisions import SETTINGS_ID, answer_settings
    from litany_engine.door.holds import Answer, Holds

    workspace = the_workspace(args)
    refuse_inside_the_workspace(workspace, "an answer to a held call is the operator's to give")
    if args.remember and args.verdict != "pass":
        raise UsageError("--remember is for pass; to refuse such calls for good, write a deny rule")
    if args.id == SETTINGS_ID:
        names = ", ".join(answer_settings(workspace.root, args.verdict))
        done = "taken as they are" if args.verdict == "pass" else "put back as they were"
        print(f"{args.verdict}: {names} {done}")
        return 0
    holds = Holds(workspace.root)
    question = holds.answer(
        args.id, Answer(args.verdict, args.reason), agent=args.agent, remember=args.remember
    )
    rest = "its program goes on" if question.waits else asks_again(question, workspace)
    print(f"{args.verdict}: {question.id} ({question.name}); {rest}")
    if args.remember and question.gate != "rules":
        say(f"--remember is for calls that a rule holds; the {question.gate} is asked about each")
    return 0
