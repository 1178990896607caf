"""What a tool may be called."""

from __future__ import annotations

import re

MAX_NAME_CHARS = 64
"""What every model provider accepts."""

_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_.-]{{0,{MAX_NAME_CHARS - 1}}}")


def check_tool_name(name: object) -> str:
    """Return the name of a tool that is declared here, or say what is wrong with it.

    Letters, digits, `_`, `-` and `.`, as servers and providers use them; a name need not be one that Python
    can spell (`invoke` reaches those). No leading `-` or `.`: a name stands on command lines, too.
    Tools of connected servers keep the names they have.

    Raises:
        ValueError: with what is accepted.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"tool name {name!r}: a name has 1 to {MAX_NAME_CHARS} letters, digits, '_', '-' or '.', "
            "and begins with none of the last two"
        )
    return name
