"""What each server said of its tools when they were first used here, kept so that a change is noticed.

The attack has a name, rug pull: a server is approved for what it says, and says something else later, to
another model of another day. So the first word counts. It is kept beside the workspace's records, outside
every worktree; a tool of which its server says anything else is suspended until the operator takes the old
word away. A tool that is new is not a changed one: what it may be used for is the grant's to say.
"""

from __future__ import annotations

import json
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

from litany_engine.configuration.regular_file import FileFault, read_regular
from litany_engine.mcp.errors import ServerError
from litany_engine.mcp.listing import Told, read_told
from litany_runtime.limits import MIB

if TYPE_CHECKING:
    from pathlib import Path

    from litany_stubs.words import JSON

FOLDER = "mcp"
"""Under the workspace's root."""

MAX_PINS_BYTES = 256 * MIB
"""What `MAX_TOOLS` of the largest declarations take."""


class Pins:
    """The pinned declarations of one server.

    Args:
        root: the workspace's root folder.
        server: its name.

    Attributes:
        path: the file, for the operator.
    """

    def __init__(self, root: Path, server: str) -> None:
        self._folder = root / FOLDER
        self.path = f"{FOLDER}/{server}.json"
        self._file = root / self.path

    def load(self) -> dict[str, Told]:
        """The declarations by the server's own names; none when it was never used.

        Raises:
            ServerError: the file cannot be read: what it held is not to be guessed.
        """
        try:
            kept = json.loads(read_regular(self._file, MAX_PINS_BYTES))
            return {name: _read(name, each) for name, each in kept.items()}
        except FileNotFoundError:
            return {}
        except (FileFault, OSError, ValueError, AttributeError, RecursionError) as error:
            cause = " ".join(str(error).split())[:200]
            raise ServerError(
                f"{self._file}, which keeps what it said of its tools, cannot be read ({cause}); look at "
                "what the server says now, and delete the file to accept it"
            ) from error

    def save(self, pinned: dict[str, Told]) -> None:
        """Keep declarations, in the place of those that were kept.

        Raises:
            ServerError: they cannot be written.
        """
        text = json.dumps({name: each.said for name, each in sorted(pinned.items())}, indent=1)
        waiting = self._folder / f".{secrets.token_hex(4)}"
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            waiting.write_text(text + "\n", "utf-8")
            waiting.replace(self._file)
        except OSError as error:
            with suppress(OSError):
                waiting.unlink()
            raise ServerError(
                f"what it says of its tools cannot be kept: {self._file}: {error.strerror}"
            ) from error


def changes(before: Told, now: Told | None) -> str:
    """What a server says otherwise than it did, in words; "" when it says the same."""
    if now is None:
        return "its server no longer has it"
    old, new = before.said, now.said
    keys = sorted(key for key in old.keys() | new.keys() if _text(old.get(key)) != _text(new.get(key)))
    if now.fault and not keys:
        return f"its server now says what makes no tool ({now.fault})"
    return f"its server has changed its {' and '.join(keys)}" if keys else ""


def _read(name: str, kept: JSON) -> Told:
    told = read_told(kept)
    if told is None or told.name != name or told.fault:
        raise ValueError(f"what is kept of {name!r} is not what a server says of a tool")
    return told


def _text(value: JSON) -> str:
    """Equal in JSON, where true is not 1."""
    return json.dumps(value, sort_keys=True)
