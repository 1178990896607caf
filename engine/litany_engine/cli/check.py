"""Say what is wrong with a program, without running it.

What the language policy refuses, and, where the type checker of `litany[check]` is installed, the calls of
tools that their declarations do not accept: the tools of the agent's workspace, and those of --tools.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from litany_engine.cli.common import (
    REFUSED,
    CommandError,
    add_agent,
    add_json,
    add_tools,
    add_workspace,
    given_workspace,
    read_stdin,
    the_toolset,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from litany_engine.workspaces.workspace import Workspace
    from litany_runtime.policy import Violation

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
    from litany_engine.configuration.config import Config
    from litany_runtime.policy import check

    workspace = given_workspace(args)
    config = Config() if workspace is None else workspace.config
    name = "<stdin>" if args.program == "-" else args.program
    source, text = _read(args.program, name, config.limits.source_bytes)
    found = [*check(source, name, config.modules)]
    found = sorted(found) or [*_wrong_calls(text, workspace, args)]
    if args.json:
        keys = ("line", "column", "rule", "message", "hint")
        print(json.dumps([{"file": name} | {key: getattr(each, key) for key in keys} for each in found]))
    else:
        for each in found:
            hint = f" ({each.hint})" if each.hint else ""
            print(f"{name}:{each.line}:{each.column}: {each.rule}: {each.message}{hint}")
    return REFUSED if found else 0


def _read(program: str, name: str, limit: int) -> tuple[bytes, str]:
    from litany_engine.tools.source import SourceError, decode_source, read_bytes

    try:
        content = read_stdin(limit, "the program") if program == "-" else read_bytes(Path(program), limit)
        return content, decode_source(content, name, limit)
    except SourceError as error:
        raise CommandError(str(error), REFUSED) from error


def _wrong_calls(program: str, workspace: Workspace | None, args: argparse.Namespace) -> Iterator[Violation]:
    from litany_runtime.policy import Violation
    from litany_stubs.typecheck import check_types, find_checker

    unchecked = ""
    if find_checker() is None:
        unchecked = "no type checker is installed (pip install 'litany[check]')"
    elif workspace is None and not args.tools:
        unchecked = "this is no workspace (name one with --workspace, or tools with --tools)"
    if unchecked:
        if "litany_tools" in program:
            print(f"litany: its calls of tools were not checked: {unchecked}", file=sys.stderr)
        return
    for each in check_types(program, the_toolset(workspace, args).stubs()):
        yield Violation(each.line, each.column, "tools", each.message, "")
