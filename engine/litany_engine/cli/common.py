"""What several commands share: finding the workspace, opening it, loading tools from files, reading stdin."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from litany_engine.plain_text import plain_output
from litany_engine.tools.environment import AGENT_VARIABLE, CALL_VARIABLE, WORKSPACE_VARIABLE
from litany_runtime.outcome import EXIT_CODES, Outcome

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable, Iterable

    import trio

    from litany_engine.door.calls import Tool
    from litany_engine.tools.toolset import Toolset
    from litany_engine.workspaces.workspace import Workspace

T = TypeVar("T")

FAULTED = EXIT_CODES[Outcome.FAULTED]
REFUSED = EXIT_CODES[Outcome.REFUSED]
STOPPED = EXIT_CODES[Outcome.STOPPED]
USAGE = 2
"""Exit code of every command line that is not understood, as of a shell's own tools."""


class CommandError(RuntimeError):
    """A command cannot do its work; the message is the one line that the user reads.

    Attributes:
        exit_code: 125 when something has to be mended, 126 when the command was refused, 2 when it was not
            understood.
    """

    def __init__(self, message: str, exit_code: int = FAULTED) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class UsageError(CommandError):
    """A command line that cannot be what its user means; nothing was done."""

    def __init__(self, message: str) -> None:
        super().__init__(message, USAGE)


def say(text: str) -> None:
    """Tell the user something on stderr; what others wrote in it does nothing to a terminal."""
    from litany_engine.plain_text import plain_lines

    with suppress(OSError):  # there is nobody to be told that nobody can be told
        print(f"litany: {plain_lines(text)}", file=sys.stderr)


def print_json(value: object, *, indent: int | None = None) -> None:
    """Print a value as JSON, in letters that stdout can say: an escape of ours would be none of JSON's."""
    plain = sys.stdout is None or (sys.stdout.encoding or "").lower() not in {"utf-8", "utf8"}
    plain = plain or sys.stdout.isatty()  # DEL, C1 and what turns text around are letters to JSON
    print(json.dumps(value, indent=indent, ensure_ascii=plain))


def write_output(stdout: bytes, stderr: bytes, *, raw: bool) -> None:
    """Write what a tool or a program printed; on a terminal what would act on it is escaped, unless `raw`."""
    for stream, data in ((sys.stdout, stdout), (sys.stderr, stderr)):
        if data:
            stream.buffer.write(plain_output(data) if stream.isatty() and not raw else data)
            stream.flush()


def print_output(text: str) -> None:
    """Print a text that holds others' words; on a terminal what would act on it is escaped."""
    write_output(text.encode("utf-8", "backslashreplace"), b"", raw=False)


def add_workspace(parser: argparse.ArgumentParser) -> None:
    """The option `--workspace`."""
    parser.add_argument(
        "--workspace",
        "-w",
        metavar="DIR",
        type=Path,
        help="the workspace (default: the one that the current folder is in)",
    )


def add_agent(parser: argparse.ArgumentParser) -> None:
    """The option `--agent`."""
    parser.add_argument("--agent", "-a", metavar="ID", help="as which agent (default: the only one)")


def add_tools(parser: argparse.ArgumentParser) -> None:
    """The option `--tools`."""
    parser.add_argument(
        "--tools",
        "-t",
        metavar="FILE.py",
        type=Path,
        action="append",
        default=[],
        help="a Python file with more @tool functions, for this once; may be given again",
    )


def given_tools(args: argparse.Namespace) -> list[Tool]:
    """The tools in the files that `--tools` names.

    Raises:
        CommandError: a file cannot be read, fails, or has no tool in it.
    """
    from litany_engine.cli.streams import stdout_of_tools
    from litany_engine.cli.tool_files import load_tools

    with stdout_of_tools():
        return [tool for path in args.tools for tool in load_tools(path)]


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """The option `--json`."""
    parser.add_argument("--json", action="store_true", help=f"print {what}")


def add_raw(parser: argparse.ArgumentParser) -> None:
    """The option `--raw`."""
    parser.add_argument(
        "--raw", action="store_true", help="show output on a terminal as it is, control characters and all"
    )


def read_option(option: str, read: Callable[[str], T], text: str) -> T:
    """What an option's text means.

    Raises:
        UsageError: nothing; names the option.
    """
    from litany_engine.configuration.units import UnitError

    try:
        return read(text)
    except UnitError as error:
        raise UsageError(f"{option}: {error}") from error


def given_workspace(args: argparse.Namespace) -> Workspace | None:
    """The workspace that the command line, a tool's environment or the current folder names, or None.

    Raises:
        WorkspaceError: what they name is no workspace.
    """
    from litany_engine.workspaces.workspace import find_workspace, open_workspace_at

    named = args.workspace or os.environ.get(WORKSPACE_VARIABLE)
    found = Path(named) if named else find_workspace(Path.cwd())
    return None if found is None else open_workspace_at(found)


def naming(workspace: Workspace, *, anywhere: bool = False) -> str:
    """The option that a command needs to find a workspace, with a space before it; "" for none.

    Args:
        workspace: what is to be found.
        anywhere: the command is to work from any folder, and not only from this one.
    """
    from litany_engine.workspaces.workspace import find_workspace

    if (
        not anywhere
        and os.environ.get(WORKSPACE_VARIABLE) is None
        and find_workspace(Path.cwd()) == workspace.root
    ):
        return ""
    return f" --workspace {shlex.quote(str(workspace.root))}"


def the_workspace(args: argparse.Namespace) -> Workspace:
    """The workspace of a command that needs one.

    Raises:
        CommandError: there is none here.
        WorkspaceError: what was named is no workspace.
    """
    workspace = given_workspace(args)
    if workspace is None:
        raise CommandError(
            f"{Path.cwd()} is in no workspace; name one with --workspace DIR, or make one with `litany init`"
        )
    return workspace


def the_agent(args: argparse.Namespace) -> str | None:
    """The agent that the command line or a tool's environment names; None leaves it to the workspace."""
    return args.agent or os.environ.get(AGENT_VARIABLE) or None


def waited_s() -> float:
    """Seconds since this process was started: what its user has waited, imports and set-up included."""
    after_name = Path("/proc/self/stat").read_text("ascii", errors="replace").rpartition(")")[2].split()
    started_s = int(after_name[19]) / os.sysconf(
        "SC_CLK_TCK"
    )  # `starttime`, field 22, of which 3 is the first here
    return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - started_s)


def calling_call(workspace: Workspace) -> str | None:
    """The id of the tool call inside which this command runs, or None.

    A keeper's word goes before the environment's: a tool may write what it likes into its own.

    Raises:
        CommandError: it cannot be told which call that is, or it is one of another workspace.
    """
    from litany_engine.tools.ancestry import inside

    found = inside()
    if found is None:
        return os.environ.get(CALL_VARIABLE) or None
    if found.call is None and found.claims and not found.reaches(workspace.root):
        return None  # a server of another workspace
    claim = found.reaches(workspace.root)
    if claim is None or not claim.call:
        raise CommandError(
            f"this is inside {found}: no call can be made in {workspace.root} in its name", REFUSED
        )
    return claim.call


def the_caller(args: argparse.Namespace, workspace: Workspace) -> tuple[str | None, str | None]:
    """As which agent, and inside which call, a command makes its call.

    Raises:
        CommandError: another agent is named than the one whose call this is.
    """
    from litany_engine.tools.ancestry import inside

    call, found = calling_call(workspace), inside()
    claim = None if found is None else found.reaches(workspace.root)
    if claim is None or not claim.call:
        return the_agent(args), call
    if args.agent not in {None, claim.agent}:
        raise CommandError(f"this is inside {claim} of agent {claim.agent}, and no other's call", REFUSED)
    return claim.agent, call


def refuse_inside_a_call(what: str) -> None:
    """Keep a tool's process from what is the operator's.

    Raises:
        CommandError: this command runs inside a tool call, whatever its environment says of that.
    """
    from litany_engine.tools.ancestry import inside

    found = inside()
    if found is not None and (found.call is not None or not found.claims):
        raise CommandError(f"this is inside {found}: {what}", REFUSED)
    named = os.environ.get(CALL_VARIABLE)
    if named:
        raise CommandError(f"this is inside tool call {named!r}: {what}", REFUSED)


def refuse_inside_the_workspace(workspace: Workspace, what: str) -> None:
    """The same, and keep a server of the workspace from it as well; a server of another one may do it.

    Raises:
        CommandError: this command runs inside a tool call, or below a server of this workspace.
    """
    from litany_engine.tools.ancestry import inside

    refuse_inside_a_call(what)
    found = inside()
    if found is not None and found.reaches(workspace.root) is not None:
        raise CommandError(f"this is inside {found}: {what}", REFUSED)


def read_stdin(max_bytes: int, what: str) -> bytes:
    """Everything on stdin.

    Raises:
        CommandError: it is a terminal, or more than `max_bytes`.
    """
    if sys.stdin is None or sys.stdin.closed:
        raise UsageError(f"stdin is closed; {what} is read from it")
    if sys.stdin.isatty():
        raise UsageError(f"stdin is a terminal; {what} is read from it: use a pipe or `<<`")
    content = sys.stdin.buffer.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise CommandError(f"{what} on stdin is larger than {max_bytes} bytes", REFUSED)
    return content


async def stop_on_signals(
    stop: Callable[[str], Awaitable[object]], task_status: trio.TaskStatus[None]
) -> None:
    """Stop everything at SIGINT, SIGTERM and SIGHUP, until cancelled; `stop` is told why, for the records.

    One that comes while all is being stopped asks for what is being done. trio's own receiver would raise it
    once more when it closes, in the middle of what is left to do. An ignored SIGHUP is left to `nohup`.
    """
    import trio

    token = trio.lowlevel.current_trio_token()
    tell, told = trio.open_memory_channel[int](1)

    def arrived(number: int) -> None:
        with suppress(trio.WouldBlock):  # an earlier one waits to be looked at
            tell.send_nowait(number)

    def arrive(number: int, _frame: object) -> None:
        with suppress(trio.RunFinishedError):
            token.run_sync_soon(arrived, number)

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    former = {each: signal.signal(each, arrive) for each in numbers}
    try:
        task_status.started()
        async for number in told:
            await stop(f"stopped by {signal.Signals(number).name}")
    finally:
        for each, handler in former.items():
            signal.signal(each, handler)


def warn_of_unknown_names(workspace: Workspace, tools: Iterable[Tool] = ()) -> None:
    """Say on stderr which names in grants, in rules and under [tools] no tool has."""
    config = workspace.config
    if not (config.roles or config.rules.rules or config.suspended or config.deferred):
        return  # no name to look at: a start needs no list of tools for that

    from litany_engine.tools.python_act import PYTHON
    from litany_engine.tools.registry import SEARCH_TOOLS
    from litany_engine.tools.unknown_names import unknown_names
    from litany_engine.tools.workspace_tools import workspace_tools

    known = {PYTHON, *(tool.declaration.name for tool in [*workspace_tools(workspace), *tools])}
    if config.deferred:
        known.add(SEARCH_TOOLS)
    for warning in unknown_names(config, known):
        say(warning)


def the_toolset(workspace: Workspace | None, args: argparse.Namespace) -> Toolset:
    """What the door would permit an agent at this moment, with the tools of `--tools`.

    Args:
        workspace: where the agent is; None for what every workspace has.
        args: with the options of `add_agent` and `add_tools`.

    Raises:
        CommandError: an agent is named, and there is no workspace.
        ToolsetError: two tools have one name.
        ServerError: an MCP server cannot be used.
    """
    from litany_engine.api import OpenWorkspace
    from litany_engine.tools.builtins import BUILTIN_TOOLS
    from litany_engine.tools.toolset import toolset

    tools = given_tools(args)
    if workspace is None:
        if args.agent:
            raise UsageError(
                f"--agent {args.agent}: {Path.cwd()} is in no workspace; name one with --workspace"
            )
        return toolset([*BUILTIN_TOOLS, *tools])
    if workspace.config.mcp:
        return _with_servers(workspace, tools, the_agent(args))
    # Not opened: nothing is called, so nobody needs to be able to stop it.
    return OpenWorkspace(workspace, tools, None, (), None).toolset(the_agent(args))


def _with_servers(workspace: Workspace, tools: list[Tool], agent: str | None) -> Toolset:
    """The same in a workspace with MCP servers, which are started to say what tools they have."""
    import trio

    from litany_engine.api import open_workspace

    async def main() -> Toolset:
        async with open_workspace(workspace, tools=tools) as ws:
            await ws.connect(agent)
            return ws.toolset(agent)

    return trio.run(main)
