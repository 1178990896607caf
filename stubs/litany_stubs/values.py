"""Which Python values are JSON's, and where one is not.

The door speaks JSON's domain only. A program's mistake (a set, a NaN, a path object) is found here, before a
call is made or counted, and is named by its place in the arguments. The wire checks again on both sides; this
check is for the message, not for safety.

Decisions:
- a tuple is an array, as in `json`; so is a named tuple;
- subclasses of str, int, float, dict and list (an `IntEnum`, an `OrderedDict`) are taken by value;
- an integer beyond 64 bits is refused: the wire and most readers of JSON cannot carry it;
- text with a lone surrogate is refused: it has no UTF-8;
- nothing is ever converted silently in a way that loses something (`{1: "a"}` is refused, not `{"1": "a"}`).
"""

from __future__ import annotations

from math import isfinite
from typing import Any

MAX_NESTING = 64
"""Levels of containers in one value, the outermost counted; the wire's own limit (DESIGN: "nesting ≤ 64")."""

MIN_INTEGER = -(2**63)
MAX_INTEGER = 2**64 - 1
"""The range of msgpack's integers."""

_PLAIN = frozenset({bool, type(None)})
_SUGGESTIONS = {
    "set": "pass a list",
    "frozenset": "pass a list",
    "bytes": "decode it to text, or encode it with base64",
    "bytearray": "decode it to text, or encode it with base64",
    "Unset": "leave the key out",
    "datetime": "pass its isoformat()",
    "date": "pass its isoformat()",
    "Decimal": "pass a float, or its str()",
    "UUID": "pass its str()",
    "complex": "pass its parts",
    "generator": "pass a list",
    "range": "pass a list",
    "dict_keys": "pass a list",
    "dict_values": "pass a list",
    "map": "pass a list",
    "coroutine": "await it first",
    "Result": "pass its stdout or data",
}


def to_json_value(value: Any, place: str) -> Any:
    """Return `value` in JSON's domain with exact types, or say what is not JSON and where.

    Args:
        value: what the program gave; it is never changed. A part of it may be shared with the answer.
        place: how to name the outermost value in a message.

    Raises:
        TypeError: a value of a type that JSON has not, or a key that is no string.
        ValueError: a NaN or an infinity, an integer beyond 64 bits, text without UTF-8, too deep or cyclic.
    """
    return _convert(value, place, [])


def _convert(value: Any, place: str, above: list[Any]) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, str):
        return _text(value, place)
    if isinstance(value, int):
        return _integer(value, place)
    if isinstance(value, float):
        return _number(value, place)
    if isinstance(value, dict):
        _enter(value, place, above)
        answer = {_key(key, place): _convert(each, _member(place, key), above) for key, each in value.items()}
        above.pop()
        return answer
    if isinstance(value, (list, tuple)):
        _enter(value, place, above)
        items = _items(value, place, above)
        above.pop()
        return items
    hint = _SUGGESTIONS.get(kind.__name__, "pass text, numbers, booleans, None, lists or dicts of these")
    raise TypeError(f"{place} is of type {kind.__name__}, which JSON has not: {hint}")


def _items(value: list[Any] | tuple[Any, ...], place: str, above: list[Any]) -> list[Any]:
    # A long list of numbers or words is checked at C's speed; only what needs a look gets one.
    kinds = set(map(type, value))
    if (
        (kinds <= {int, bool, type(None)} and (not value or int not in kinds or _all_small(value)))
        or (kinds == {float} and all(map(isfinite, value)))
        or (kinds == {str} and all(map(str.isascii, value)))
    ):
        return value if type(value) is list else list(value)
    return [_convert(each, f"{place}[{index}]", above) for index, each in enumerate(value)]


def _all_small(value: list[Any] | tuple[Any, ...]) -> bool:
    numbers = [each for each in value if each is not None]
    return bool(min(numbers) >= MIN_INTEGER and max(numbers) <= MAX_INTEGER)


def _enter(value: Any, place: str, above: list[Any]) -> None:
    if len(above) >= MAX_NESTING:
        if any(value is each for each in above):
            raise ValueError(f"{_shorten(place)} contains itself, and JSON cannot say that")
        raise ValueError(
            f"{_shorten(place)} lies deeper than {MAX_NESTING} levels of lists and dicts: flatten the value"
        )
    above.append(value)


def _key(key: Any, place: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{place} has the key {_brief(key)} of type {type(key).__name__}: use str(key)")
    return _text(key, f"a key of {place}")


def _text(value: str, place: str) -> str:
    plain = value if type(value) is str else str.__str__(value)
    if not plain.isascii():
        try:
            plain.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{place} has a lone surrogate at character {error.start}, which has no UTF-8: bytes that "
                "were no text were decoded; decode them with errors='replace'"
            ) from None
    return plain


def _integer(value: int, place: str) -> int:
    plain = value if type(value) is int else int.__int__(value)
    if not MIN_INTEGER <= plain <= MAX_INTEGER:
        raise ValueError(f"{place} is an integer beyond 64 bits: pass it as text")
    return plain


def _number(value: float, place: str) -> float:
    plain = value if type(value) is float else float.__float__(value)
    if not isfinite(plain):
        raise ValueError(f"{place} is {plain}, which JSON has not: pass None, text or a finite number")
    return plain


def _member(place: str, key: Any) -> str:
    if type(key) is str and key.isidentifier() and len(key) <= 100:
        return f"{place}.{key}"
    return f"{place}[{_brief(key)}]"


def _brief(value: Any) -> str:
    # Only plain values are shown: a repr of the program's own object would run the program's code.
    if type(value) in {str, int, float, bool, type(None)}:
        text = (
            repr(value[:80] if type(value) is str else value) if type(value) is not int else _brief_int(value)
        )
    else:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 100 else text[:97] + "..."


def _brief_int(value: int) -> str:
    return repr(value) if value.bit_length() <= 256 else "<a large integer>"


def _shorten(place: str) -> str:
    return place if len(place) <= 120 else f"{place[:60]}...{place[-57:]}"
