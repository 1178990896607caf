"""Print what a model is told of the tools its programs may call: signatures, and a line on each.

With a budget it is shortened to fit, and says what is missing and how a program finds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from litany_engine.cli.common import add_agent, add_workspace, the_agent, the_toolset, the_workspace

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


def main(args: argparse.Namespace) -> int:
    """Print it."""
    from litany_engine.cli.common import CommandError
    from litany_stubs.describe import MIN_BUDGET_CHARS, describe

    if args.budget is not None and args.budget < MIN_BUDGET_CHARS:
        raise CommandError(f"--budget must be at least {MIN_BUDGET_CHARS} characters, not {args.budget}")
    declarations = the_toolset(the_workspace(args), the_agent(args)).declarations()
    print(describe(declarations, args.budget), end="")
    return 0
