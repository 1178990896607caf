"""Say what the language policy has against a program, without running it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from litany_engine.cli.common import REFUSED, add_json, add_workspace, given_workspace, read_stdin

if TYPE_CHECKING:
    import argparse

EXAMPLE = """\
example:
  litany check program.py
  program.py:3:7: import: the module `socket` cannot be imported here (…)
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany check` takes."""
    parser.add_argument("program", metavar="PROGRAM.py|-", help="a file, or - for stdin")
    add_workspace(parser)
    add_json(parser, "a list of objects {file, line, column, rule, message, hint}")


def main(args: argparse.Namespace) -> int:
    """Print one line a finding; exit 0 when there is none."""
    from litany_engine.config import Config
    from litany_engine.source import decode_source, read_source
    from litany_runtime.policy import check

    workspace = given_workspace(args)
    config = Config() if workspace is None else workspace.config
    name = "<stdin>" if args.program == "-" else args.program
    limit = config.limits.source_bytes
    if args.program == "-":
        source = read_stdin(limit, "the program")
        decode_source(source, name, limit)
    else:
        read_source(Path(args.program), limit)
        source = Path(args.program).read_bytes()
    findings = check(source, name, config.modules)
    if args.json:
        keys = ("line", "column", "rule", "message", "hint")
        print(json.dumps([{"file": name} | {key: getattr(each, key) for key in keys} for each in findings]))
    else:
        for each in findings:
            hint = f" ({each.hint})" if each.hint else ""
            print(f"{name}:{each.line}:{each.column}: {each.rule}: {each.message}{hint}")
    return REFUSED if findings else 0
