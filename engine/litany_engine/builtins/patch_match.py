"""Where the hunks of an update stand in a file, and the file with them applied. Pure: text in, text out.

A model copies lines almost rightly: a tab became spaces, a quote became a typographic one. So each hunk is
looked for on a ladder of ever looser readings, and a looser one is tried only when nothing matched on those
above. On whatever rung, the place must be the only one from where the last hunk ended: a guess between two
is a wrong edit.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litany_engine.builtins.patch_grammar import ANCHOR, PatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from litany_engine.builtins.patch_grammar import Hunk, Operation

_LOOKALIKES = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
)
"""Dashes and quotes as typographers have them; NFKC below sees to the spaces."""


def _plain(line: str) -> str:
    return unicodedata.normalize("NFKC", line.translate(_LOOKALIKES)).strip()


RUNGS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("exact", str),
    ("trailing whitespace ignored", str.rstrip),
    ("surrounding whitespace ignored", str.strip),
    ("typography ignored", _plain),
)
"""How lines are read, strictest first."""


@dataclass(frozen=True, slots=True)
class Applied:
    """Where a hunk was applied.

    Attributes:
        rung: how its lines were read.
        line: the line of the file, as it was, at which it begins; counted from 1.
        matched: the lines of the file that stood there, when they were not read exactly.
    """

    rung: str
    line: int
    matched: tuple[str, ...] | None = None


def apply_hunks(operation: Operation, text: str) -> tuple[str, list[Applied]]:
    """Apply the hunks of an update.

    Args:
        operation: the update.
        text: the file. Whether its last line ends in a newline stays as it is, and so do its line endings
            when all of them are CR LF.

    Returns:
        The new text, and where each hunk was applied.

    Raises:
        PatchError: a hunk or an anchor has no place, or more than one.
    """
    newline = "\r\n" if "\r\n" in text and text.count("\r\n") == text.count("\n") else "\n"
    lines = text.split(newline)
    ends_in_newline = lines[-1] == ""
    if ends_in_newline:
        lines.pop()
    result: list[str] = []
    applied: list[Applied] = []
    cursor = 0
    for number, hunk in enumerate(operation.hunks, 1):
        place = _Place(lines, cursor, f"{operation.path!r}, hunk {number} (line {hunk.line} of the patch)")
        rung, at = place.find(hunk)
        result += lines[cursor:at]
        cursor = at
        for sign, content in hunk.body:
            if sign == "+":
                result.append(content.removesuffix("\r") if newline == "\r\n" else content)
                continue
            if sign == " ":
                result.append(lines[cursor])  # the file's own reading of it
            cursor += 1
        name = RUNGS[rung][0]
        applied.append(Applied(name, at + 1, tuple(lines[at:cursor]) if rung else None))
    result += lines[cursor:]
    return newline.join(result) + (newline if ends_in_newline and result else ""), applied


class _Place:
    """The search for the place of one hunk."""

    def __init__(self, lines: Sequence[str], cursor: int, who: str) -> None:
        self._lines = lines
        self._cursor = cursor
        self._who = who

    def find(self, hunk: Hunk) -> tuple[int, int]:
        """The rung and the line (from 0) of a hunk."""
        rung = 0
        for anchor in hunk.anchors:
            rung, at = self._one([anchor], f"the anchor {anchor!r}", "make it longer, or put one before it")
            self._cursor = at + 1
        old = hunk.old
        if not old:
            return rung, len(self._lines) if hunk.at_end else self._cursor
        advice = f"add an anchor ({ANCHOR} and a line above it) or more lines of context"
        return self._one(old, f"the lines {_shown(old)}", advice, at_end=hunk.at_end)

    def _one(self, wanted: list[str], what: str, advice: str, *, at_end: bool = False) -> tuple[int, int]:
        for rung, (name, read) in enumerate(RUNGS):
            found = self._all(wanted, read, self._cursor, at_end=at_end)
            if len(found) == 1:
                return rung, found[0]
            if found:
                raise PatchError(
                    f"{self._who}: {what} match in {len(found)} places from line {self._cursor + 1} on "
                    f"({name}): {advice}"
                )
        raise PatchError(f"{self._who}: {what} {self._why_not_found(wanted, at_end=at_end)}")

    def _why_not_found(self, wanted: list[str], *, at_end: bool) -> str:
        if at_end and (elsewhere := self._anywhere(wanted, self._cursor)):
            return f"are not the last of the file: they stand at line {elsewhere}"
        if before := self._anywhere(wanted, 0):
            return (
                f"stand at line {before}, before the end of the previous hunk or anchor: "
                "hunks go in the order of the file"
            )
        return f"are not in the file from line {self._cursor + 1} on; read the file again"

    def _anywhere(self, wanted: list[str], start: int) -> int | None:
        for _, read in RUNGS:
            if found := self._all(wanted, read, start):
                return found[0] + 1
        return None

    def _all(
        self, wanted: list[str], read: Callable[[str], str], start: int, *, at_end: bool = False
    ) -> list[int]:
        lines = [read(each) for each in self._lines[start:]]
        wanted = [read(each) for each in wanted]
        last = len(lines) - len(wanted)
        places = range(max(last, 0), last + 1) if at_end else range(last + 1)
        first = wanted[0]
        return [start + at for at in places if lines[at] == first and lines[at : at + len(wanted)] == wanted]


def _shown(lines: list[str]) -> str:
    first = repr(lines[0] if len(lines[0]) <= 80 else f"{lines[0][:80]}…")
    return first if len(lines) == 1 else f"{first} and the {len(lines) - 1} after"
