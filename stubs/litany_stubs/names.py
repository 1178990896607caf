"""Which names Python can spell, and how new ones are made.

A tool keeps its name everywhere: in grants, rules, records and `invoke("the-name", {...})`. Where dashes and
dots are all that keeps Python from spelling it, its function is called by the name with underscores in their
place. Two tools must not meet in one name: those that would get no function. For the same reason only ASCII
identifiers are spelt: Python folds look-alikes (`ﬁle` is `file`). A parameter is never renamed.
"""

from __future__ import annotations

import keyword
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def spelt(names: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return what functions are called, and why the other tools have none; both by the tools' names."""
    functions: dict[str, str] = {}
    reasons: dict[str, str] = {}
    wanted: dict[str, list[str]] = {}
    for name in names:
        reason = why_no_function(name)
        if reason is None:
            functions[name] = name
            continue
        reasons[name] = reason
        instead = _with_underscores(name)
        if why_no_function(instead) is None:
            wanted.setdefault(instead, []).append(name)
    for instead, those in wanted.items():
        others = [instead] if instead in functions else []
        if len(those) == 1 and not others:
            functions[those[0]] = instead
            del reasons[those[0]]
            continue
        for name in those:
            other = next(each for each in [*others, *those] if each != name)
            reasons[name] = f"not a Python name, and {instead} could be {other!r} as well"
    return functions, reasons


def _with_underscores(name: str) -> str:
    text = name.replace("-", "_").replace(".", "_")
    return f"tool_{text}" if text[:1].isdigit() else text


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
