"""Where the hunks of an update stand in a file, and the file with them applied. Pure: text in, text out.

A model copies lines almost rightly: a tab became spaces, a quote became a typographic one. So each hunk is
looked for on a ladder of ever looser readings, and a looser one is tried only when nothing matched on those
above. On whatever rung, the place must be the only one from where the last hunk ended: a guess between two
is a wrong edit.
"""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litany_engine.tools.builtins.patch_grammar import ANCHOR, PatchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from litany_engine.tools.builtins.patch_grammar import Hunk, Operation

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
    readings = _Readings(lines)
    result: list[str] = []
    applied: list[Applied] = []
    cursor = 0
    for number, hunk in enumerate(operation.hunks, 1):
        place = _Place(readings, cursor, f"{operation.path!r}, hunk {number} (line {hunk.line} of the patch)")
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


class _Readings:
    """The lines of a file as each rung reads them, made when first needed and once."""

    def __init__(self, lines: list[str]) -> None:
        self._by_rung: list[list[str]] = [lines]

    def __getitem__(self, rung: int) -> list[str]:
        while len(self._by_rung) <= rung:
            read = RUNGS[len(self._by_rung)][1]
            self._by_rung.append([read(line) for line in self._by_rung[0]])
        return self._by_rung[rung]


class _Place:
    """The search for the place of one hunk."""

    def __init__(self, readings: _Readings, cursor: int, who: str) -> None:
        self._readings = readings
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
            return rung, len(self._readings[0]) if hunk.at_end else self._cursor
        advice = f"add an anchor ({ANCHOR} and a line above it) or more lines of context"
        return self._one(old, _shown(old), advice, at_end=hunk.at_end)

    def _one(self, wanted: list[str], what: str, advice: str, *, at_end: bool = False) -> tuple[int, int]:
        for rung, (name, _) in enumerate(RUNGS):
            found = self._all(wanted, rung, self._cursor, at_end=at_end)
            if len(found) == 1:
                return rung, found[0]
            if found:
                raise PatchError(
                    f"{self._who}: {what}: {len(found)} places match from line {self._cursor + 1} on "
                    f"({name}); {advice}"
                )
        raise PatchError(f"{self._who}: {what}: {self._why_not_found(wanted, at_end=at_end)}")

    def _why_not_found(self, wanted: list[str], *, at_end: bool) -> str:
        if at_end and (elsewhere := self._anywhere(wanted, self._cursor)):
            return f"not at the end of the file, but at line {elsewhere}"
        if before := self._anywhere(wanted, 0):
            return (
                f"only at line {before}, before the end of the previous hunk or anchor; "
                "hunks go in the order of the file"
            )
        return f"not in the file from line {self._cursor + 1} on; read the file again"

    def _anywhere(self, wanted: list[str], start: int) -> int | None:
        for rung in range(len(RUNGS)):
            if found := self._all(wanted, rung, start):
                return found[0] + 1
        return None

    def _all(self, wanted: list[str], rung: int, start: int, *, at_end: bool = False) -> list[int]:
        lines = self._readings[rung]
        wanted = [RUNGS[rung][1](each) for each in wanted]
        last = len(lines) - len(wanted)
        at = max(start, last) if at_end else start
        found = []
        with suppress(ValueError):  # that is how `index` says that there is no more
            while at <= last:
                at = lines.index(wanted[0], at, last + 1)
                if lines[at : at + len(wanted)] == wanted:
                    found.append(at)
                at += 1
        return found


def _shown(lines: list[str]) -> str:
    first = repr(lines[0] if len(lines[0]) <= 80 else f"{lines[0][:80]}…")
    return f"the line {first}" if len(lines) == 1 else f"the line {first} and the {len(lines) - 1} after it"
