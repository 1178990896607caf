"""Print what a model is told of the tools its programs may call: signatures, what each says of itself, types.

With a budget it is shortened to fit, and says what is missing and how a program finds it. Outside a workspace
it tells of the built-in tools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from litany_engine.cli.common import (
    add_agent,
    add_tools,
    add_workspace,
    given_workspace,
    print_output,
    the_toolset,
)

if TYPE_CHECKING:
    import argparse

EXAMPLE = """\
example:
  litany describe --budget 4000      # text for a prompt, at most 4000 characters
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany describe` takes."""
    parser.add_argument("--budget", "-b", metavar="CHARACTERS", type=int, help="the most it may take")
    add_workspace(parser)
    add_agent(parser)
    add_tools(parser)


def main(args: argparse.Namespace) -> int:
    """Print it."""
    from litany_engine.cli.common import UsageError
    from litany_stubs.describe import MIN_BUDGET_CHARS, describe

    if args.budget is not None and args.budget < MIN_BUDGET_CHARS:
        raise UsageError(f"--budget must be at least {MIN_BUDGET_CHARS} characters, not {args.budget}")
    declarations = the_toolset(given_workspace(args), args).declarations()
    print_output(describe(declarations, args.budget))
    return 0
