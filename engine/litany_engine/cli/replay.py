"""Run a recorded program again with its recorded answers, and say whether it did the same.

No tool is called and nothing is recorded. The program works on a copy of its agent's files as they are now,
which is thrown away. With PROGRAM.py that program runs instead, against the same answers.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from litany_engine.cli.common import (
    FAULTED,
    CommandError,
    UsageError,
    add_agent,
    add_raw,
    add_workspace,
    read_option,
    refuse_inside_a_call,
    say,
    the_agent,
    the_workspace,
    write_output,
)
from litany_engine.configuration.units import parse_deadline

if TYPE_CHECKING:
    import argparse

    from litany_engine.door.calls import CallEnd
    from litany_engine.records.recorded import CallNode
    from litany_engine.workspaces.workspace import Workspace
    from litany_runtime.program import ProgramEnd
    from litany_stubs.replay import AnsweredCall, ReplayDoor

EXAMPLE = """\
example:
  litany replay call_7               # the same again
  litany replay call_7 changed.py    # where does the changed program leave the record?

exit code: 0 when it made the same calls and ended in the same way with the same output, else 1
"""

DIFFERENT = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany replay` takes."""
    parser.add_argument("record", metavar="RECORD", help="a program's call, as `litany show` names it")
    parser.add_argument("program", metavar="PROGRAM.py", nargs="?", type=Path, help="run this one instead")
    parser.add_argument("--deadline", "-d", metavar="TIME", default="60s", help="how long it may run (60s)")
    add_raw(parser)
    add_workspace(parser)
    add_agent(parser)


def main(args: argparse.Namespace) -> int:
    """Run it again and compare."""
    from litany_engine.records.find_record import find_record
    from litany_engine.records.recorded import call_tree, iter_calls
    from litany_stubs.replay import ReplayDoor

    refuse_inside_a_call("programs do not nest")
    deadline_s = read_option("--deadline", parse_deadline, args.deadline)
    workspace = the_workspace(args)
    folder = find_record(workspace.root / "steps", args.record, the_agent(args))
    is_step = folder.parent.name != "tools"
    tree = call_tree(iter_calls(folder if is_step else folder.parents[1]))
    programs = (each for each in tree if (each.call.path / "program.py").exists())
    node = next((each for each in programs if is_step or each.call.path == folder), None)
    if node is None or node.call.end is None:
        raise CommandError(f"{folder} is no record of a program that has ended; `litany show` names them")
    door = ReplayDoor([_recorded(each) for each in node.calls])
    end = _run(workspace, node, args.program, door, deadline_s)
    write_output(end.stdout, end.stderr, raw=args.raw)
    differences = [str(found)] if (found := door.finish()) else []
    differences += _differences(node.call.end, end)
    for each in differences:
        say(each)
    if not differences:
        say(f"the same calls ({len(node.calls)}), the same end, the same output")
    return DIFFERENT if differences else 0


def _recorded(node: CallNode) -> AnsweredCall:
    from litany_engine.tools.python_act import reply_of
    from litany_stubs.replay import AnsweredCall
    from litany_stubs.words import Reply

    call, end = node.call.call, node.call.end
    unknown = Reply("faulted", FAULTED, stderr=b"the record has no answer to this call\n")
    return AnsweredCall(call.name, call.input, unknown if end is None else reply_of(end))


def _run(
    workspace: Workspace, node: CallNode, other: Path | None, door: ReplayDoor, deadline_s: float
) -> ProgramEnd:
    import trio

    from litany_engine.door.in_flight import was_given_up
    from litany_engine.tools.source import SourceError, read_bytes
    from litany_engine.workspaces.seed import copy_folder
    from litany_runtime.confine import Isolation
    from litany_runtime.program import InnerCall, Program
    from litany_runtime.setup import Setup
    from litany_runtime.supervisor import open_supervisor
    from litany_stubs.words import DoorError, Reply

    if other is not None and not other.is_file():
        raise UsageError(f"{other}: there is no such file")
    config = workspace.config
    record = node.call.path
    agent = workspace.agent(record.parents[2].name)
    try:
        source = read_bytes(other or record / "program.py", config.limits.source_bytes)
        stubs = (record / "litany_tools.py").read_text("utf-8")
    except (SourceError, OSError) as error:
        raise CommandError(f"the program cannot be replayed: {error}") from error

    async def answer(call: InnerCall) -> Reply:
        try:
            reply = await door.call_async(call.name, call.input)
        except DoorError as error:
            return Reply("faulted", FAULTED, stderr=f"{error}\n".encode())
        if reply.outcome == "stopped" and was_given_up(reply.stderr.decode("utf-8", "replace")):
            await trio.sleep_forever()  # until the program gives it up again: it never had an answer
        return reply

    async def run(worktrees: Path) -> ProgramEnd:
        worktree = worktrees / agent.id
        worktree.mkdir()
        copy_folder(agent.worktree, worktree)
        setup = Setup(worktrees, Isolation(config.isolation), config.modules)
        async with open_supervisor(setup) as supervisor:
            program = Program(source, stubs, worktree, config.role(agent.role).files)
            deadline = trio.current_time() + deadline_s
            return await supervisor.run(program, config.limits, answer=answer, deadline=deadline)

    # Beside the agents' own: where worktrees may be is settled there, permissions and file system included.
    with tempfile.TemporaryDirectory(prefix=".replay-", dir=workspace.root) as folder:
        return trio.run(run, Path(folder))


def _differences(before: CallEnd, now: ProgramEnd) -> list[str]:
    found = []
    if (before.outcome, before.exit_code) != (now.outcome, now.exit_code):
        reason = f": {now.refusal.reason if now.refusal else now.reason}" if now.refusal or now.reason else ""
        was = f"{before.outcome} (exit {before.exit_code})"
        found.append(f"it ended {now.outcome} (exit {now.exit_code}){reason}; the record says {was}")
    found += [
        f"its {name} differs from the record's"
        for name, one, other in (("stdout", before.stdout, now.stdout), ("stderr", before.stderr, now.stderr))
        if one != other
    ]
    return found
