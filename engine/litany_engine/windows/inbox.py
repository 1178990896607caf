"""An agent's inbox: messages that wait for it, `inbox/<agent>/<when>-<token>-<sender>.md`.

Anybody may deposit, at any moment; a deposit appears whole. Whoever drives the agent delivers them, oldest
first, when its last reply is answered: a message in between would never be taken by a provider.
"""

from __future__ import annotations

import re
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litany_engine.records.record_files import flush
from litany_engine.windows.entries import Side, TranscriptError, origin_fault

if TYPE_CHECKING:
    from pathlib import Path

_NAME = re.compile(r"[0-9]{20}-[0-9a-f]{12}-(.+)\.md", re.ASCII)


@dataclass(frozen=True, slots=True)
class Deposit:
    """A message that waits.

    Attributes:
        path: its file.
        sender: who sent it: an agent's id, or a name.
    """

    path: Path
    sender: str

    @property
    def name(self) -> str:
        """What tells it from every other deposit."""
        return self.path.name


def deposit(inbox: Path, sender: str, text: str) -> Deposit:
    """Put a message into an inbox.

    Raises:
        TranscriptError: the sender cannot stand in a name.
        OSError: it cannot be written.
    """
    if fault := origin_fault(sender, Side.USER):
        raise TranscriptError(fault)
    path = inbox / f"{time.time_ns():020d}-{secrets.token_hex(6)}-{sender}.md"
    temporary = inbox / f".{path.name}"
    temporary.write_text(text, encoding="utf-8", errors="replace")
    flush(temporary)
    temporary.rename(path)
    flush(inbox)
    return Deposit(path, sender)


def deposits(inbox: Path) -> list[Deposit]:
    """The messages that wait, oldest first."""
    found = ((each, _NAME.fullmatch(each.name)) for each in sorted(inbox.iterdir()))
    return [Deposit(path, name[1]) for path, name in found if name and not origin_fault(name[1], Side.USER)]
