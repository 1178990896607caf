"""Try which layers of confinement hold on this machine: each by an attempt that it has to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litany_engine.cli.common import add_json, add_workspace

if TYPE_CHECKING:
    import argparse

EXAMPLE = """\
example:
  litany doctor

exit code: 0 when the isolation that is asked for can be had here, else 125
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany doctor` takes."""
    add_workspace(parser)
    add_json(parser, "one object")


def main(args: argparse.Namespace) -> int:
    """Try, and say what was seen."""
    raise NotImplementedError
