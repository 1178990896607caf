"""Run a program: show what it prints as it prints it, and exit as it exits.

The program imports `litany_tools` and calls what its agent may call. Outside any workspace a new one is made
for the run, holding a copy of the files that git tracks under the current folder, and its place is told.
"""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litany_engine.cli.common import (
    REFUSED,
    CommandError,
    UsageError,
    add_agent,
    add_json,
    add_raw,
    add_tools,
    add_workspace,
    given_tools,
    given_workspace,
    print_json,
    read_option,
    read_stdin,
    refuse_inside_a_call,
    say,
    stop_on_signals,
    waited_s,
    warn_of_unknown_names,
)
from litany_engine.cli.holds import how_to_answer
from litany_engine.configuration.units import parse_deadline, parse_size, show_duration
from litany_engine.counted import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from litany_engine.cli.terminal import Terminal
    from litany_engine.door.calls import CallEnd, Tool
    from litany_engine.door.events import Event
    from litany_engine.workspaces.workspace import Workspace
    from litany_runtime.limits import Limits

EXAMPLE = """\
example:
  litany run examples/line_counts.py
  echo 'print(6 * 7)' | litany run --deadline 5s --memory 64M -

exit code: the program's own; 124 deadline passed, 125 litany failed, 126 refused, 143 stopped,
  128 + signal killed
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany run` takes."""
    parser.add_argument("program", metavar="PROGRAM.py|-", help="a file, or - for stdin")
    add_workspace(parser)
    add_agent(parser)
    parser.add_argument("--deadline", "-d", metavar="TIME", help="how long it may run, such as 30s or 5m")
    parser.add_argument("--memory", "-m", metavar="SIZE", help="what it may allocate, such as 512M")
    add_tools(parser)
    files = parser.add_mutually_exclusive_group()
    files.add_argument(
        "--files", metavar="DIR", type=Path, help="outside a workspace: copy this folder's files for the run"
    )
    files.add_argument("--no-files", action="store_true", help="outside a workspace: start with no files")
    add_raw(parser)
    add_json(parser, "one object at the end instead of the output as it comes")


def main(args: argparse.Namespace) -> int:
    """Run it."""
    refuse_inside_a_call("programs do not nest; make the calls directly")
    if args.deadline is not None:
        read_option("--deadline", parse_deadline, args.deadline)
    memory = None if args.memory is None else read_option("--memory", parse_size, args.memory)
    workspace = given_workspace(args)
    if workspace is not None and (args.files or args.no_files):
        raise UsageError(f"--files and --no-files are for a run outside a workspace; {workspace.root} is one")
    if args.files is not None and not args.files.is_dir():
        raise UsageError(
            f"--files: {args.files} is not a folder; name the one whose files the run starts with"
        )
    limits = _limits(workspace, memory)
    program = _program(args.program, limits)
    tools = given_tools(args)
    if workspace is None:
        workspace = _make_workspace(args)
    else:
        warn_of_unknown_names(workspace, tools)
    return _run(workspace, program, tools, limits, args)


def _limits(workspace: Workspace | None, memory: int | None) -> Limits:
    from litany_runtime.limits import Limits

    limits = Limits() if workspace is None else workspace.config.limits
    return limits if memory is None else replace(limits, memory_bytes=memory)


def _program(name: str, limits: Limits) -> str:
    from litany_engine.tools.source import NoSourceError, SourceError, decode_source, read_source

    try:
        if name == "-":
            return decode_source(
                read_stdin(limits.source_bytes, "the program"), "<stdin>", limits.source_bytes
            )
        return read_source(Path(name), limits.source_bytes)
    except NoSourceError as error:
        raise UsageError(str(error)) from error
    except SourceError as error:
        raise CommandError(str(error), REFUSED) from error


def _make_workspace(args: argparse.Namespace) -> Workspace:
    from litany_engine.workspaces.new_workspace import ephemeral_workspace
    from litany_engine.workspaces.pruning import MAX_PRUNED_BY_A_RUN, prune_made_workspaces
    from litany_engine.workspaces.seed import copy_folder, tracked_files
    from litany_engine.workspaces.workspace import WorkspaceError

    with suppress(OSError, WorkspaceError):  # room is made by the way; the next run tries again
        prune_made_workspaces(most=MAX_PRUNED_BY_A_RUN)
    workspace = ephemeral_workspace()
    told = f"not in a workspace; made {workspace.root}"
    worktree = workspace.agent().worktree
    if args.files is not None:
        copied = copy_folder(args.files, worktree)
        told += f" with {counted(copied.files, 'file')} of {args.files}{copied.told()}"
    elif not args.no_files:
        seeded = tracked_files(Path.cwd(), worktree)
        told += f" with {seeded}"
    say(told)
    return workspace


def _run(
    workspace: Workspace, program: str, tools: list[Tool], limits: Limits, args: argparse.Namespace
) -> int:
    import trio

    from litany_engine.api import OpenWorkspace, open_workspace
    from litany_engine.cli.streams import output_error, stdout_of_tools, why_unwritten
    from litany_engine.cli.terminal import LiveLine, Terminal

    async def stop_when_unread(ws: OpenWorkspace, unread: trio.Event, terminal: Terminal) -> None:
        await unread.wait()
        assert terminal.fault is not None
        await ws.stop(reason=why_unwritten(terminal.fault))

    async def redraw(line: LiveLine) -> None:
        while True:
            await trio.sleep(0.25)
            line.draw()

    async def main() -> CallEnd:
        unread, token = trio.Event(), trio.lowlevel.current_trio_token()
        with Terminal(stdout, lambda: token.run_sync_soon(unread.set), raw=args.raw) as terminal:
            async with (
                open_workspace(workspace, tools=tools, limits=limits) as ws,
                trio.open_nursery() as nursery,
            ):
                await nursery.start(stop_on_signals, lambda reason: ws.stop(reason=reason))
                nursery.start_soon(stop_when_unread, ws, unread, terminal)
                if sys.stderr.isatty() and not args.json:
                    line = LiveLine(terminal)
                    ws.watch(line.see)
                    nursery.start_soon(redraw, line)
                name = "<stdin>" if args.program == "-" else args.program
                ws.watch(lambda event: _tell_held(event, workspace, terminal))
                ws.watch(lambda event: _tell_warning(event, name, terminal))
                ws.looks = not args.json
                end = await ws.python(
                    program,
                    agent=args.agent,
                    deadline=args.deadline,
                    on_output=None if args.json else terminal.output,
                )
                nursery.cancel_scope.cancel()
            if not args.json:  # only now: what is told is the time that was waited
                _tell(end, terminal, name)
        if terminal.fault is not None:
            raise output_error(terminal.fault, f"; the program {_ended(end)}, and its record is {end.record}")
        return end

    stdout = 1 if sys.stdout is None else sys.stdout.fileno()
    with stdout_of_tools():
        end = trio.run(main)
    if args.json:
        print_json(as_object(end))
    return end.exit_code


def _ended(end: CallEnd) -> str:
    return f"{end.outcome.replace('_', ' ')} (exit {end.exit_code})"


def _tell_held(event: Event, workspace: Workspace, terminal: Terminal) -> None:
    """Say that a call waits: whoever runs the program may not know that there is somebody to ask."""
    from litany_engine.door.events import CallHeld

    if isinstance(event, CallHeld):
        clock = "" if workspace.config.hold.pause_clock else "; the program's deadline goes on meanwhile"
        terminal.line(
            # This terminal is taken; whoever answers may stand anywhere.
            f"held: {event.reason}; `{how_to_answer(event.call.id, workspace, anywhere=True)}` (or refuse) "
            f"answers it{clock}"
        )


def _tell_warning(event: Event, program: str, terminal: Terminal) -> None:
    """Say which calls in the program's text cannot be, before it runs; if it makes them, they are refused."""
    from litany_engine.door.events import CallReport
    from litany_engine.tools.python_act import PYTHON, WARNING

    if isinstance(event, CallReport) and event.call.name == PYTHON and event.message.startswith(WARNING):
        terminal.line(WARNING + _named(event.message.removeprefix(WARNING), program))


def _named(text: str, program: str) -> str:
    """A text about `program.py`, which the record and the model know, about the file that the user knows."""
    return re.sub(r"^program\.py(?=:)", lambda _: program, text, flags=re.MULTILINE)


def _tell(end: CallEnd, terminal: Terminal, program: str) -> None:
    for line in last_lines(end, program):
        terminal.line(line)


def last_lines(end: CallEnd, program: str) -> Iterator[str]:
    """What is said after the output: the cause if it was not the program's own, then how it ended.

    Args:
        end: how it ended.
        program: what the user calls the program; its record and its model know it as `program.py`.
    """
    from litany_engine.records.call_counts import told_calls

    if end.refusal is not None:
        yield f"refused by the {end.refusal.gate} gate: {_named(end.refusal.reason, program)}"
    elif end.reason:
        yield end.reason
    calls = told_calls(end.calls, end.unrecorded)
    record = f", record {end.record}" if end.record else ""
    yield f"{_ended(end)} in {show_duration(waited_s())}, {calls}{record}"


def as_object(end: CallEnd) -> dict[str, Any]:
    """The object of `--json`. A stream that is no UTF-8 is base64, and says so in a key of its own."""
    from litany_stubs.reply_json import stream_fields

    usage = end.usage
    told: dict[str, Any] = {
        "outcome": str(end.outcome),
        "exit_code": end.exit_code,
        "duration_s": round(end.duration_s, 6),
        "waited_s": round(waited_s(), 3),
        **stream_fields("stdout", end.stdout),
        **stream_fields("stderr", end.stderr),
        "calls": [
            {
                "id": each.id,
                "name": each.name,
                "outcome": str(each.outcome),
                "exit_code": each.exit_code,
                "duration_s": round(each.duration_s, 6),
                **({"why": each.why} if each.why else {}),
                **({"unread": True} if each.unread else {}),
            }
            for each in end.calls
        ],
        "usage": usage
        and {"cpu_s": usage.cpu_s, "peak_memory_bytes": usage.peak_memory_bytes, "calls": usage.calls},
        "record": str(end.record) if end.record else None,
    }
    if end.refusal is not None:
        told["refusal"] = {"gate": end.refusal.gate, "reason": end.refusal.reason}
    if end.reason:
        told["reason"] = end.reason
    if end.unrecorded:
        told["unrecorded"] = end.unrecorded
    return told
