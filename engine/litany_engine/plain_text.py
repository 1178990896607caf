"""Text of others on a terminal: what a model, a tool or a control wrote must not move somebody's cursor."""

from __future__ import annotations

_INDENT = "    "


def plain(text: str, *, tabs: bool = False) -> str:
    """A text without a character that does something to a terminal; those are written as escapes."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or (tabs and each == "\t") else each.encode("unicode_escape").decode()
        for each in text
    )


def plain_lines(text: str) -> str:
    """The same for a text of several lines; all but the first are indented, so that none passes for ours."""
    return f"\n{_INDENT}".join(plain(line, tabs=True) for line in text.splitlines())
