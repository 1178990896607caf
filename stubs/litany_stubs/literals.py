"""Text of any kind as Python source: a hostile description is a string, never code.

Whatever cannot be seen on a page (control characters, bidirectional overrides, zero-width characters, lone
surrogates) is written as an escape, so that what a reader sees is what the file says.
"""

from __future__ import annotations

import re
import textwrap

WIDTH = 100
"""Columns that generated text is wrapped at."""

_CLOSING = re.compile(r'"{3,}|"+\Z')
"""Quotes that would end a docstring: three in a row, or any that its own closing ones follow."""


def can_say(text: str) -> bool:
    """Whether text may stand in a type: type checkers cannot store a lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def quote(text: str) -> str:
    """Return text as a double-quoted string literal on one line."""
    out = []
    for char in text:
        if char in '"\\':
            out.append(f"\\{char}")
        elif char == "\n":
            out.append("\\n")
        else:
            out.append(char if char.isprintable() else _escape(char))
    return f'"{"".join(out)}"'


def docstring(text: str, indent: str) -> str:
    """Return text as a triple-quoted literal whose lines stand at `indent`.

    A lone surrogate is shown as its escape: Python 3.13 cannot keep one in a docstring.
    """
    text = text.encode("utf-8", "backslashreplace").decode()
    escaped = "".join(
        f"\\{char}" if char == "\\" else char if char == "\n" or char.isprintable() else _escape(char)
        for char in tidy(text)
    )
    escaped = _CLOSING.sub(lambda match: '\\"' * len(match[0]), escaped)
    lines = escaped.split("\n")
    body = "\n".join([lines[0], *(f"{indent}{line}" if line else "" for line in lines[1:])])
    return f'"""{body}"""' if len(lines) == 1 else f'"""{body}\n{indent}"""'


def comment(text: str) -> str:
    """Return text as what may follow `# ` on one line."""
    return visible(" ".join(text.split()))


def visible(line: str) -> str:
    """Return one line with its spaces as they are, and what cannot be seen as escapes."""
    return "".join(char if char.isprintable() else _escape(char) for char in line)


def tidy(text: str) -> str:
    """Return text with plain line ends, no tabs and no spaces at the ends of lines."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4).split("\n")
    return textwrap.dedent("\n".join(line.rstrip() for line in lines)).strip()


def wrap(text: str, first: str, rest: str) -> list[str]:
    """Return text in lines of at most `WIDTH` columns that begin with `first` and then `rest`."""
    return textwrap.wrap(
        " ".join(text.split()),
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first.rstrip()]


def _escape(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
