"""Show the calls that wait for your answer.

A call is held when a rule or your control says so. One of a program waits with its program; one of the model
itself is parked until it is answered and its agent is advanced.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

from litany_engine.cli.common import add_json, add_workspace, naming, the_workspace

if TYPE_CHECKING:
    import argparse

    from litany_engine.door.holds import Answer, Question
    from litany_engine.workspaces.workspace import Workspace

EXAMPLE = """\
example:
  litany holds
  litany answer call_7-2 pass
"""

MAX_INPUT_CHARS = 400


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany holds` takes."""
    add_workspace(parser)
    add_json(parser, "a list of {agent, id, name, input, gate, reason, parent, since, record, waits, …}")


def main(args: argparse.Namespace) -> int:
    """Show what waits."""
    from litany_engine.door.dead_holds import refuse_dead_holds
    from litany_engine.door.decisions import SETTINGS_ID, held_settings
    from litany_engine.door.holds import Holds
    from litany_engine.plain_text import plain

    workspace = the_workspace(args)
    refuse_dead_holds(workspace.root)
    holds = Holds(workspace.root)
    changed = held_settings(workspace.root)
    if changed is not None and not args.json:
        print(
            f"{SETTINGS_ID}  changed while {plain(changed['call'])} of {plain(changed['agent'])} ran\n"
            f"    what    {plain(', '.join(changed['was']))}\n"
            f"    answer  look at it; pass takes it as it is, refuse puts back what it was"
        )
    found = [(each, holds.answered(each)) for each in holds.questions()]
    if args.json:
        print(json.dumps([asdict(each) | {"answered": said and said.verdict} for each, said in found]))
    elif not found and changed is None:
        print(f"no call is held in {workspace.root}")
    for each, said in [] if args.json else found:
        print(describe(each, said, workspace))
    return 0


def describe(question: Question, said: Answer | None, workspace: Workspace) -> str:
    """One question for a reader; what a model wrote has its control characters escaped.

    Args:
        question: the question.
        said: the answer that it has and that nobody has taken yet.
        workspace: where it waits.
    """
    from litany_engine.plain_text import plain

    shown = json.dumps(question.input)
    if len(shown) > MAX_INPUT_CHARS:
        shown = f"{shown[:MAX_INPUT_CHARS]}… ({len(shown)} characters; whole in {question.record}/input.json)"
    how = "its program waits" if question.waits else "parked"
    text = (
        f"{question.id}  {question.name}  {how} since {_to_the_second(question.since)}\n"
        f"    agent   {question.agent}\n"
        f"    held by {question.gate}: {plain(question.reason)}\n"
        f"    input   {shown}"
    )
    if said is None:
        text += f"\n    to pass `{how_to_answer(question.id, workspace)}` (or refuse)"
    else:
        rest = "its program is about to go on" if question.waits else asks_again(question, workspace)
        text += f"\n    answer  {said.verdict}; {rest}"
    return text


def how_to_answer(call_id: str, workspace: Workspace, *, anywhere: bool = False) -> str:
    """The command that lets a held call pass, as it works from this folder, or from any."""
    return f"litany answer {call_id} pass{naming(workspace, anywhere=anywhere)}"


def asks_again(question: Question, workspace: Workspace) -> str:
    """What becomes of a parked call once it is answered."""
    return f"`litany advance {question.agent}{naming(workspace)}` asks it again"


def _to_the_second(when: str) -> str:
    try:
        return datetime.fromisoformat(when).isoformat(sep=" ", timespec="seconds")
    except ValueError:
        return when
