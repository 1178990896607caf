"""What ties the steps of one reply together: a held call is asked again in a step of its own.

    steps/<agent>/003/continued.json    {"step": 4, "call": "toolu_1"}: that call was asked again there
    steps/<agent>/004/continues.json    {"step": 3, "call": "toolu_1"}: where it was asked before

A reader follows them; nothing is decided by them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litany_engine.records.record_files import encode, put_once, read_whole

if TYPE_CHECKING:
    from pathlib import Path

CONTINUES = "continues.json"
CONTINUED = "continued.json"


@dataclass(frozen=True, slots=True)
class Link:
    """Another step of the same reply.

    Attributes:
        step: its number.
        call: the id of the call that was held, as its record has it.
    """

    step: int
    call: str


def link_steps(before: Path, after: Path, call: str) -> None:
    """Say of two steps that the second goes on with the reply of the first, from a call that was held.

    Raises:
        RecordError: it cannot be written.
    """
    put_once(after, CONTINUES, encode({"step": int(before.name), "call": call}))
    put_once(before, CONTINUED, encode({"step": int(after.name), "call": call}))


def load_link(step: Path, name: str) -> Link | None:
    """A step's link; None when it has none, or none that can be read."""
    try:
        found = json.loads(read_whole(step / name))
        return Link(int(found["step"]), str(found["call"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
