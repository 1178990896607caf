"""Text of others on a terminal: what a model, a tool or a control wrote must not move somebody's cursor."""

from __future__ import annotations

import codecs

_INDENT = "    "


class PlainStream:
    """Bytes of others on their way to a terminal: what would do something to it becomes an escape.

    Line breaks and tabs stay. What is not UTF-8 is shown as escapes, too.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def feed(self, data: bytes, *, last: bool = False) -> bytes:
        """Take the next bytes; a character that is not whole yet is kept until it is, or until the last."""
        text = self._decoder.decode(data, last).replace("\r\n", "\n")
        return "\n".join(plain(line, tabs=True) for line in text.split("\n")).encode()


def plain_output(data: bytes) -> bytes:
    """The whole of a stream for a terminal."""
    return PlainStream().feed(data, last=True)


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
