"""`str.format` without its attribute walk.

A replacement field may say `{0.name[key].other}`: C code that reads attributes for whoever wrote the text
(CVE-2023-41039). Most format strings have no such field, and then the real method does the work. One that
has is formatted here, each attribute read by the same rules as in the program's source.
"""

from __future__ import annotations

import _string  # type: ignore[import-not-found] # typeshed has no stub of it
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MAX_NESTING = 2
"""Replacement fields inside a format spec; the interpreter's own limit."""


def attribute_names(text: str, depth: int = MAX_NESTING) -> list[str]:
    """The attribute names that a format string reads; empty for nearly every string.

    A text that is no valid format string has none: formatting it raises before anything is read.
    """
    if "." not in text:
        return []
    found: list[str] = []
    try:
        for _, field, spec, _ in _string.formatter_parser(text):
            if field and "." in field:
                _, rest = _string.formatter_field_name_split(field)
                found.extend(name for is_attribute, name in rest if is_attribute)
            if spec and "{" in spec and depth:
                found.extend(attribute_names(spec, depth - 1))
    except ValueError:
        return found
    return found


class Formatting:
    """Formats with a given attribute reader; one object, no state between calls.

    Args:
        read: `read(obj, name)` returns an attribute or refuses.
    """

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[Any, str], Any]) -> None:
        self._read = read

    def format(self, text: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        """What `text.format(*args, **kwargs)` returns; `text` must be an exact str."""
        if not attribute_names(text):
            return text.format(*args, **kwargs)
        return self._expand(text, args, kwargs, _Counter(), MAX_NESTING)

    def format_map(self, text: str, mapping: Mapping[str, Any]) -> str:
        """What `text.format_map(mapping)` returns."""
        if not attribute_names(text):
            return text.format_map(mapping)
        return self._expand(text, (), mapping, _Counter(), MAX_NESTING)

    def _expand(
        self, text: str, args: Sequence[Any], kwargs: Mapping[str, Any], counter: _Counter, depth: int
    ) -> str:
        if depth < 0:
            raise ValueError("Max string recursion exceeded")
        parts: list[str] = []
        for literal, field, spec, conversion in _string.formatter_parser(text):
            parts.append(literal)
            if field is None:
                continue
            value = self.field(field, args, kwargs, counter)
            if conversion:
                value = convert(value, conversion)
            if spec and "{" in spec:
                spec = self._expand(spec, args, kwargs, counter, depth - 1)
            parts.append(format(value, spec or ""))
        return "".join(parts)

    def field(
        self, field: str, args: Sequence[Any], kwargs: Mapping[str, Any], counter: _Counter | None = None
    ) -> Any:
        """The value that one replacement field names."""
        first, rest = _string.formatter_field_name_split(field)
        if counter is not None:
            first = counter.resolve(first)
        if isinstance(first, int):
            if first >= len(args):
                raise IndexError(f"Replacement index {first} out of range for positional args tuple")
            value = args[first]
        else:
            value = kwargs[first]
        for is_attribute, name in rest:
            value = self._read(value, name) if is_attribute else value[name]
        return value


class _Counter:
    """Numbers the fields that carry none, and refuses a mixture."""

    __slots__ = ("_next",)

    def __init__(self) -> None:
        self._next: int | None = 0

    def resolve(self, first: str | int) -> str | int:
        if first == "":
            if self._next is None:
                raise ValueError("cannot switch from manual field specification to automatic field numbering")
            self._next += 1
            return self._next - 1
        if isinstance(first, int):
            if self._next:
                raise ValueError("cannot switch from automatic field numbering to manual field specification")
            self._next = None
        return first


def convert(value: object, conversion: str) -> str:
    """Apply `!s`, `!r` or `!a`."""
    if conversion == "s":
        return str(value)
    if conversion == "r":
        return repr(value)
    if conversion == "a":
        return ascii(value)
    raise ValueError(f"Unknown conversion specifier {conversion!r}")
