"""Which names Python can spell, and how new ones are made.

A tool or parameter is never renamed: a name that a program cannot write as it stands is reached by
`invoke("the-name", {...})`. Only ASCII identifiers are spelt: Python folds look-alikes (`ﬁle` is `file`),
and two tools must not meet in one name.
"""

from __future__ import annotations

import keyword
import re

OWN_NAMES = frozenset(
    {
        *("UNSET", "DoorError", "Result", "ToolError", "Unset", "aio", "fan_out", "invoke", "search"),
        *("TYPE_CHECKING", "Any", "Literal", "Never", "NotRequired", "TypeAlias", "TypedDict", "annotations"),
        *("bool", "dict", "float", "int", "list", "object", "str", "tuple"),
    }
)
"""Names that the generated module gives a meaning of its own; a tool of such a name gets no function."""

INSPECTING = frozenset(
    {
        *("tb_frame", "tb_next", "f_back", "f_builtins", "f_code", "f_globals", "f_locals", "f_trace", "mro"),
        *("co_code", "gi_frame", "gi_code", "gi_yieldfrom", "cr_await", "cr_frame", "cr_code", "cr_origin"),
        *("ag_await", "ag_frame", "ag_code"),
    }
)
"""Attribute names that the language policy refuses on any object, so that no program could say them."""

INTERNAL_PREFIX = "_litany_"
"""What the generated module calls its own helpers; a parameter of such a name would hide one."""

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD = re.compile(r"[A-Za-z0-9]+")


def why_no_function(name: str) -> str | None:
    """Return why a tool of this name gets no function, or None when it gets one."""
    if not _IDENTIFIER.fullmatch(name):
        return "not a Python name"
    if keyword.iskeyword(name):
        return "a Python keyword"
    if name.startswith("_"):
        return "starts with an underscore, which a program may not say of a module"
    if name in OWN_NAMES:
        return "a name of this module's own"
    if name in INSPECTING:
        return "a name that a program may not say"
    return None


def is_parameter_name(name: str) -> bool:
    """Whether a call can say `name=...` anywhere: two leading underscores are mangled in a class."""
    return (
        _IDENTIFIER.fullmatch(name) is not None
        and not keyword.iskeyword(name)
        and not name.startswith(("__", INTERNAL_PREFIX))
    )


def camel(text: str) -> str:
    """Return the words of `text` as one CamelCase word; empty when it has none in ASCII."""
    return "".join(word[0].upper() + word[1:] for word in _WORD.findall(text))


class Names:
    """Hands out each name once."""

    def __init__(self, taken: frozenset[str]) -> None:
        """Start with names that are given away.

        Args:
            taken: names never handed out.
        """
        self._taken = set(taken)

    def new(self, wanted: str) -> str:
        """Return `wanted`, or `wanted2`, `wanted3`, … when it is taken."""
        base = wanted[:80] or "Value"
        if base[0].isdigit():
            base = f"T{base}"
        name, count = base, 2
        while name in self._taken or keyword.iskeyword(name):
            name, count = f"{base}{count}", count + 1
        self._taken.add(name)
        return name
