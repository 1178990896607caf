"""Where a key stands in a TOML text. The parser gives values without places; a message needs the line.

The text is known to be valid TOML, so a look at line beginnings is enough: table headers, and keys before an
equals sign. A line inside a multi-line string can look like either; then the message names a wrong line, and
the key in it is still right.
"""

from __future__ import annotations

import re

_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_KEY = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"\s*\[\[?\s*({_KEY})\s*\]\]?\s*(?:#.*)?")
_ASSIGNMENT = re.compile(rf"\s*({_KEY})\s*=")


def line_of(text: str, key: tuple[str, ...], entry: int = 0) -> int | None:
    """The line, from 1, of a key or, when it stands inside an inline table, of the nearest key around it.

    Args:
        text: a valid TOML text.
        key: the key's path from the top.
        entry: which of the tables of an array of tables (`[[rules]]`) the key stands in, from 0.
    """
    best, depth = None, 0
    table: tuple[str, ...] = ()
    entries = -1
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.fullmatch(line):
            table = here = _parts(header[1])
            if here == key[:1] and line.lstrip().startswith("[["):
                entries += 1
                if entries == entry:
                    best, depth = number, 1
            if here[:1] == key[:1] and entries not in {-1, entry}:
                table = here = ("",)  # a sibling's
        elif assignment := _ASSIGNMENT.match(line):
            here = table + _parts(assignment[1])
        else:
            continue
        common = here[: len(key)]
        if common == key[: len(common)] and len(common) > depth:
            best, depth = number, len(common)
    return best


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part[1:-1] if part[0] in "\"'" else part for part in re.findall(_PART, dotted))
