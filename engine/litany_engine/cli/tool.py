"""Call one tool as a shell command: its input on stdin, its output on stdout, its diagnostics on stderr.

The call goes through the door like any other and leaves its record. Without a name, the tools that the agent
may call are listed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from litany_engine.cli.common import (
    REFUSED,
    CommandError,
    add_agent,
    add_raw,
    add_tools,
    add_workspace,
    given_workspace,
    print_json,
    read_stdin,
    say,
    the_toolset,
    write_output,
)
from litany_engine.plain_text import plain

if TYPE_CHECKING:
    import argparse

EXAMPLE = """\
example:
  litany tool                          # what the agent may call
  litany tool read_file --describe     # what it takes
  litany tool read_file --input '{"path": "README.md", "limit": 3}'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany tool` takes."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="the tool")
    parser.add_argument("--input", "-i", metavar="JSON", help="its input (default: what is on stdin)")
    parser.add_argument("--describe", action="store_true", help="print its declaration instead of calling it")
    add_raw(parser)
    add_workspace(parser)
    add_agent(parser)
    add_tools(parser)


def main(args: argparse.Namespace) -> int:
    """Call it, describe it, or list all."""
    from litany_engine.cli.invoke import MAX_BLOCK_BYTES, Block, make_call

    if args.name is None or args.describe:
        return _describe(args)
    text = read_stdin(MAX_BLOCK_BYTES, "the input") if args.input is None else args.input
    try:
        given = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise CommandError(f"the input of {args.name} is not JSON: {error}", REFUSED) from error
    end = make_call(args, Block(args.name, given, None))
    write_output(end.stdout, end.stderr, raw=args.raw)
    if end.refusal is not None:
        say(f"refused by the {end.refusal.gate} gate: {end.refusal.reason}")
    elif end.reason:
        say(f"{end.outcome}: {end.reason}")
    return end.exit_code


def _describe(args: argparse.Namespace) -> int:
    name: str | None = args.name
    tools = the_toolset(given_workspace(args), args).all_permitted(inner=False)
    permitted = {tool.declaration.name: tool.declaration for tool in tools}
    if name is None:
        for each in permitted.values():
            print(plain(f"{each.name:<20} {first_sentence(each.description)}".rstrip()))
        return 0
    if name not in permitted:
        raise CommandError(
            f"{name!r} is not granted here; granted: {', '.join(permitted) or 'no tool'}", REFUSED
        )
    found = permitted[name]
    told = {"name": name, "description": found.description, "input_schema": dict(found.input_schema)}
    if found.output_schema is not None:
        told["output_schema"] = dict(found.output_schema)
    print_json(told, indent=2)
    return 0


def first_sentence(description: str) -> str:
    """What a list has room for."""
    line = description.strip().partition("\n")[0]
    return line.partition(". ")[0].removesuffix(".")
