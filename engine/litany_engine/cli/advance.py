"""Go on with agents after their process died, or after the operator's control has made up its mind.

Calls that a dead process left unanswered are answered with an error, once; records without an end get one; a
call that was held is put to the control again, and its window goes on if it passes; messages that wait are
delivered. Without an argument this is done for every agent. Doing it twice changes nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from litany_engine.cli.common import (
    FAULTED,
    STOPPED,
    add_json,
    add_tools,
    add_workspace,
    given_tools,
    refuse_inside_a_call,
    say,
    stop_on_signals,
    the_workspace,
)
from litany_engine.cli.holds import how_to_answer
from litany_engine.counted import counted

if TYPE_CHECKING:
    import argparse

    from litany_engine.door.calls import Tool
    from litany_engine.windows.driver import Advance
    from litany_engine.workspaces.workspace import Workspace

EXAMPLE = """\
example:
  litany advance              # every agent of the workspace of the current folder
  litany advance AGENT --tools tools.py
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany advance` takes."""
    parser.add_argument("agent", metavar="AGENT", nargs="?", help="one agent (default: every one)")
    add_workspace(parser)
    add_tools(parser)
    add_json(parser, "one object for each agent, one a line")


def main(args: argparse.Namespace) -> int:
    """Advance, and say what was done."""
    from litany_engine.plain_text import plain_lines

    refuse_inside_a_call("an agent is driven from outside")
    workspace = the_workspace(args)
    tools = given_tools(args)
    agents = [args.agent] if args.agent else workspace.agents()
    failed = False
    advanced, stopped = _run(workspace, agents, tools)
    for done, fault in advanced:
        if fault:
            failed = True
            say(fault)
        elif args.json:
            print(json.dumps(_as_json(done)))
        else:
            print(plain_lines(_as_text(done, _how_to_answer(workspace, done))))
    if stopped:
        say("stopped; what was not said above is as it was")
        return STOPPED
    return FAULTED if failed else 0


def _run(workspace: Workspace, agents: list[str], tools: list[Tool]) -> tuple[list[tuple[Any, str]], bool]:
    import trio

    from litany_engine.cli.streams import stdout_of_tools

    with stdout_of_tools():
        return trio.run(_advance, workspace, agents, tools)


async def _advance(
    workspace: Workspace, agents: list[str], tools: list[Tool]
) -> tuple[list[tuple[Any, str]], bool]:
    import trio

    from litany_engine.api import open_workspace
    from litany_engine.records.records import RecordError
    from litany_engine.windows.entries import TranscriptError
    from litany_engine.windows.lock import LockHeld
    from litany_engine.workspaces.git import GitError

    done: list[tuple[Any, str]] = []
    stopped = False
    async with open_workspace(workspace, tools=tools) as ws, trio.open_nursery() as nursery:

        async def stop(reason: str) -> None:
            nonlocal stopped
            stopped = True
            await ws.stop(reason=reason)

        await nursery.start(stop_on_signals, stop)
        for agent in agents:
            if stopped:
                break
            try:
                done.append((await ws.advance(agent), ""))
            except (LockHeld, TranscriptError, GitError, RecordError) as error:
                done.append((None, str(error)))  # one agent's trouble is not another's
        nursery.cancel_scope.cancel()
    return done, stopped


def _as_json(done: Advance) -> dict[str, Any]:
    answers = done.answers
    return {
        "agent": done.agent,
        "settled": [each.tool_use_id for each in done.settled],
        "records": [path.name for path in done.records],
        "answered": [each.tool_use_id for each in answers.results] if answers else [],
        "window": answers and answers.end,
        "delivered": done.delivered,
        "held": done.held,
        "due": done.due,
        "finished": done.finished,
    }


def _how_to_answer(workspace: Workspace, done: Advance) -> str:
    """What answers the call that an agent is held at; "" where none but the control can."""
    from litany_engine.door.holds import Holds

    if not done.held:
        return ""
    holds = Holds(workspace.root)
    parked = [each for each in holds.questions() if each.agent == done.agent and each.parked]
    return "".join(f"; `{how_to_answer(each.id, workspace)}` (or refuse) answers it" for each in parked)


def _as_text(done: Advance, how_to_answer: str) -> str:
    facts = []
    if done.settled:
        ids = ", ".join(each.tool_use_id for each in done.settled)
        facts.append(f"settled {ids}: the process that was to answer died")
    if done.records:
        facts.append(f"completed {counted(len(done.records), 'record')}")
    if done.answers is not None and done.answers.results:
        facts.append(f"answered {', '.join(each.tool_use_id for each in done.answers.results)}")
    if done.delivered:
        facts.append(f"delivered {counted(done.delivered, 'message')}")
    if done.held:
        facts.append(f"held: {done.held}{how_to_answer}")
    elif done.due:
        facts.append("it is the model's turn")
    elif done.finished:
        facts.append("it has finished: its last call was of a terminal tool")
    return f"{done.agent}: {'; '.join(facts) or 'nothing to do'}"
