"""Say what is wrong with a program, without running it.

What the language policy refuses, and, where the type checker of `litany[check]` is installed, the calls of
tools that their declarations do not accept: the tools of the agent's workspace, and those of --tools. The
program is parsed in a confined process, as it would be run in one, and the type checker is confined as
well.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from litany_engine.cli.common import (
    REFUSED,
    CommandError,
    UsageError,
    add_agent,
    add_json,
    add_tools,
    add_workspace,
    given_workspace,
    read_stdin,
    say,
    the_toolset,
)
from litany_engine.plain_text import plain_lines

if TYPE_CHECKING:
    import argparse

EXAMPLE = """\
example:
  litany check program.py
  program.py:3:1: import: …
  litany check --tools tools.py program.py

exit code: 0 when nothing is wrong, else 126
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany check` takes."""
    parser.add_argument("program", metavar="PROGRAM.py|-", help="a file, or - for stdin")
    add_workspace(parser)
    add_agent(parser)
    add_tools(parser)
    add_json(parser, "a list of objects {file, line, column, rule, message, hint}")


def main(args: argparse.Namespace) -> int:
    """Print one line a finding; exit 0 when there is none."""
    import trio

    from litany_engine.checking import CheckError, check_program, why_unchecked
    from litany_engine.configuration.config import Config

    workspace = given_workspace(args)
    config = Config() if workspace is None else workspace.config
    name = "<stdin>" if args.program == "-" else args.program
    source, text = _read(args.program, name, config.limits.source_bytes)
    unchecked = why_unchecked(has_tools=workspace is not None or bool(args.tools))
    stubs = None if unchecked or "litany_tools" not in text else the_toolset(workspace, args).stubs()
    try:
        found, failed = trio.run(check_program, source, text, name, config, stubs)
    except CheckError as error:
        raise CommandError(str(error)) from error
    if args.json:
        keys = ("line", "column", "rule", "message", "hint")
        print(json.dumps([{"file": name} | {key: getattr(each, key) for key in keys} for each in found]))
    else:
        for each in found:
            hint = f" ({each.hint})" if each.hint else ""
            print(plain_lines(f"{name}:{each.line}:{each.column}: {each.rule}: {each.message}{hint}"))
    if "litany_tools" in text and (unchecked or failed):
        say(f"its calls of tools were not checked: {unchecked or failed}")
    return REFUSED if found else 0


def _read(program: str, name: str, limit: int) -> tuple[bytes, str]:
    from litany_engine.tools.source import NoSourceError, SourceError, decode_source, read_bytes

    try:
        content = read_stdin(limit, "the program") if program == "-" else read_bytes(Path(program), limit)
        return content, decode_source(content, name, limit)
    except NoSourceError as error:
        raise UsageError(str(error)) from error
    except SourceError as error:
        raise CommandError(str(error), REFUSED) from error
