"""The command line: `litany COMMAND`, each command a module of its own name, imported when it is called.

Exit codes are those of the contract: a command that runs something exits as what it ran; one that cannot do
its work exits 125, with one line on stderr that says why and what to do; 126 means that it was refused. 2
is a command line that is not understood, whoever notices it: an unknown command or option, an argument that
means nothing, a file that is not there. It is one line, too, and names the help.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from litany_engine.innermost import innermost
from litany_runtime.outcome import EXIT_CODES, Outcome

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

COMMANDS = {
    "run": "run a program and show what it prints",
    "init": "make a workspace",
    "check": "say what is wrong with a program, without running it",
    "invoke": "make one call through the door: {id, name, input} on stdin, the envelope on stdout",
    "tool": "call one tool as a shell command, or say what it takes",
    "stubs": "write the litany_tools module that programs import",
    "describe": "print what a model is told of the tools, to fit a budget",
    "show": "show what ran: steps, programs and their calls",
    "runs": "list what ran, the newest first",
    "replay": "run a recorded program again with its recorded answers",
    "stop": "stop what runs in a workspace",
    "holds": "show the calls that wait for your answer",
    "answer": "answer a call that is held",
    "advance": "settle what a dead process left, and go on with what was held",
    "prune": "remove old records, and old workspaces that were made for one run",
    "mcp": "serve an agent's tools to an MCP client, on stdin and stdout",
    "doctor": "try which layers of confinement hold on this machine",
}
"""Every command and the line that `litany --help` shows for it."""

PIPE_CLOSED = 128 + 13

EXAMPLE = """\
example:
  litany run - <<'END'
  import litany_tools
  print(litany_tools.bash(command="uname -sr").stdout)
  END

`litany COMMAND --help` shows what a command takes, with an example.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the arguments after the program's name; this process's own when None.

    Returns:
        The exit code.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0].startswith("-"):
        return _overview(arguments)
    if arguments[0] not in COMMANDS:
        return _no_command(arguments[0])
    from litany_engine.cli.streams import OutputClosedError, own_stdout

    try:
        with own_stdout():
            return _command(arguments[0], arguments[1:])
    except KeyboardInterrupt:
        return EXIT_CODES[Outcome.STOPPED]
    except OutputClosedError:
        return PIPE_CLOSED  # as a shell's own tools end, which say nothing either
    except Exception as error:  # noqa: BLE001  the last place where an error can become a line
        return _complain(innermost(error), arguments[0])


def _command(name: str, arguments: list[str]) -> int:
    import argparse

    from litany_engine.cli.parsing import Parser

    command = import_module(f"litany_engine.cli.{name}")
    parser = Parser(
        prog=f"litany {name}",
        description=command.__doc__,
        epilog=command.EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_arguments(parser)
    code: int = command.main(parser.parse_args(arguments))
    return code


def _overview(arguments: list[str]) -> int:
    import argparse

    from litany_engine.cli.common import USAGE, UsageError
    from litany_engine.cli.parsing import Parser

    parser: argparse.ArgumentParser = Parser(
        prog="litany",
        description="Run a program that a model wrote: confined, under a deadline, each call recorded.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", parser_class=argparse.ArgumentParser
    )
    for name, line in COMMANDS.items():
        commands.add_parser(name, help=line)
    try:
        version_alone = parser.parse_args(arguments).version
    except UsageError as error:
        return _complain(error, "")
    if version_alone:
        from importlib.metadata import version

        print(f"litany {version('litany')}")
        return 0
    parser.print_help(sys.stderr)
    return USAGE


def _no_command(name: str) -> int:
    from litany_engine.cli.common import UsageError
    from litany_engine.near import near

    return _complain(UsageError(f"there is no command {name!r}{near(name, COMMANDS)}"), "")


def _complain(error: BaseException, command: str) -> int:
    """Say in one line what is wrong, and of a command line that is not understood which help tells more.

    Exceptions of litany's own are written for whoever reads them. Any other is a fault of ours, and says so.
    """
    from litany_engine.cli.common import UsageError, say

    text = " ".join(str(error).split())
    if not type(error).__module__.startswith("litany_"):
        if os.environ.get("LITANY_DEBUG"):
            raise error
        text = _of_the_system(error) or (
            f"internal error: {type(error).__name__}: {text} (set LITANY_DEBUG=1 for the traceback)"
        )
    if isinstance(error, UsageError):
        text += f"; see `litany {command} --help`" if command else "; see `litany --help`"
    say(text)
    code = getattr(error, "exit_code", None)
    return code if isinstance(code, int) else EXIT_CODES[Outcome.FAULTED]


def _of_the_system(error: BaseException) -> str:
    """What a file or folder is at fault for, with its name; "" for an error of another kind."""
    if not isinstance(error, OSError) or error.strerror is None:
        return ""
    if isinstance(error, FileNotFoundError):
        try:
            os.getcwd()  # noqa: PTH109 - whether there is one, not which
        except FileNotFoundError:
            return "the current folder is gone; go to another one (cd) and try again"
    return f"{os.fsdecode(error.filename)}: {error.strerror}" if error.filename else ""
