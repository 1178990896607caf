"""The reading of a command line: a mistake in it is one line, like every other error."""

from __future__ import annotations

import argparse
import re
from typing import NoReturn

from litany_engine.cli.common import UsageError
from litany_engine.near import near


class Parser(argparse.ArgumentParser):
    """A parser that raises what it has to say instead of printing its usage and leaving."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and what may have been meant."""
        known = [option for option in self._option_string_actions if option.startswith("--")]
        unknown = re.search(r"(?:unrecognized arguments|no such option): (--[a-z-]+)", message)
        raise UsageError(message + (near(unknown[1], known) if unknown else ""))
