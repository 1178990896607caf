"""Which Python values are JSON's, what becomes of those that are not, and where one has no place in it.

The door speaks JSON's domain only. A value of a type that JSON has not is converted where there is one
obvious meaning, the same for everybody and with nothing lost (`_meaning`): a path is its text and a date its
ISO 8601 text. For all others the program has to say what it means: the message names the value by its place
in the arguments, and the way. The wire checks again on both sides; this check is for the message, not for
safety.

Decisions:
- a tuple is an array, as in `json`; so is a named tuple;
- subclasses of str, int, float, dict and list (an `IntEnum`, an `OrderedDict`) are taken by value;
- a set becomes a sorted array, so that one set is one call, in a replay too;
- bytes, a Decimal, a duration have two or more meanings (text or base64, float or text, seconds or text);
- an iterator is not used up behind the program's back;
- an integer beyond 64 bits is refused: the wire and most readers of JSON cannot carry it;
- text with a lone surrogate is refused: it has no UTF-8;
- nothing is ever converted silently in a way that loses something (`{1: "a"}` is refused, not `{"1": "a"}`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import ItemsView, KeysView, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from enum import Enum
from math import isfinite
from typing import Any

MAX_NESTING = 64
"""Levels of containers in one value, the outermost counted; the wire's own limit (DESIGN: "nesting ≤ 64")."""

MIN_INTEGER = -(2**63)
MAX_INTEGER = 2**64 - 1
"""The range of msgpack's integers."""

_PLAIN = frozenset({bool, type(None)})
_SUGGESTIONS = {
    "bytes": "decode it to text, or encode it with base64",
    "bytearray": "decode it to text, or encode it with base64",
    "memoryview": "decode its bytes to text, or encode them with base64",
    "Unset": "leave the key out",
    "Decimal": "pass float(...) for a number, or str(...) for its exact digits",
    "Fraction": "pass float(...) for a number, or str(...) for its exact value",
    "timedelta": "pass its total_seconds(), or the text that the tool takes",
    "Timedelta": "pass its total_seconds(), or the text that the tool takes",
    "complex": "pass its parts",
    "generator": "pass list(...) of it",
    "map": "pass list(...) of it",
    "filter": "pass list(...) of it",
    "zip": "pass list(...) of it",
    "DataFrame": "pass its to_dict('records')",
    "Series": "pass its tolist()",
    "SimpleNamespace": "pass vars(...) of it",
    "coroutine": "await it first",
    "Result": "pass its stdout or data",
    "type": "pass its __name__",
    "function": "call it first",
    "method": "call it first",
}
_NO_HINT = "pass text, numbers, booleans, None, lists or dicts of these"

_AS_TEXT = (
    ("uuid", "UUID"),
    ("ipaddress", "_IPAddressBase"),
    ("collections", "UserString"),
)
_WITH_ISO_FORMAT = (("datetime", "date"), ("datetime", "time"))  # a datetime is a date
_OF_NUMPY = (("numpy", "generic"), ("numpy", "ndarray"))
_LIKE_A_LIST = (AbstractSet, Sequence, ValuesView)

_NONE: Any = object()


def to_json_value(value: Any, place: str) -> Any:
    """Return `value` in JSON's domain with exact types, or say what is not JSON and where.

    Args:
        value: what the program gave; it is never changed. A part of it may be shared with the answer.
        place: how to name the outermost value in a message.

    Raises:
        TypeError: a value of a type that has no one meaning in JSON, or a key that is no string.
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
    meaning = value if isinstance(value, (dict, list, tuple)) else _meaning(value)
    if meaning is _NONE:
        hint = _SUGGESTIONS.get(kind.__name__, _NO_HINT)
        raise TypeError(f"{place} is of type {kind.__name__}, which JSON has not: {hint}")
    if not isinstance(meaning, (dict, list, tuple)):
        return _convert(meaning, place, above)
    _enter(value, place, above)
    found: Any
    if isinstance(meaning, dict):
        found = {
            _key(key, place): _convert(each, _member(place, key), above) for key, each in meaning.items()
        }
    else:
        found = _items(meaning, place, above)
    above.pop()
    return _sorted(found) if _is_set(value) else found


def _meaning(value: Any) -> Any:
    """What a value of a type that JSON has not obviously means, nearer to JSON; `_NONE` for all others."""
    if isinstance(value, Enum):
        return value.value
    if hasattr(type(value), "__fspath__"):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    if _is_any(value, _WITH_ISO_FORMAT):
        text = value.isoformat()
        return text if isinstance(text, str) else _NONE
    if _is_any(value, _AS_TEXT):
        return str(value)
    if _is_any(value, _OF_NUMPY):
        plain = value.tolist()  # of a scalar, the Python value
        return _NONE if type(plain) is type(value) else plain
    if isinstance(value, _LIKE_A_LIST) and not isinstance(value, (bytes, bytearray, memoryview)):
        return list(value)
    return _fields(value)


def _fields(value: Any) -> Any:
    """The fields of a dataclass's instance, by name; `_NONE` for all others."""
    dataclasses = sys.modules.get("dataclasses")
    fields = getattr(type(value), "__dataclass_fields__", None)
    # A program's class may say anything of itself: only true fields with ordinary names are asked for.
    if (
        dataclasses is None
        or type(fields) is not dict
        or not all(type(each) is dataclasses.Field and each.name[:2] != "__" for each in fields.values())
    ):
        return _NONE
    return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}


def _is_set(value: Any) -> bool:
    return isinstance(value, AbstractSet) and not isinstance(value, (KeysView, ItemsView))


def _is_any(value: Any, kinds: tuple[tuple[str, str], ...]) -> bool:
    """Whether a value is of one of the classes, each by its module and name; what is not loaded has none."""
    for module, name in kinds:
        kind = getattr(sys.modules.get(module), name, None)
        if isinstance(kind, type) and isinstance(value, kind):
            return True
    return False


def _sorted(items: list[Any]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:  # of several kinds, or with None: any order will do that is always the same
        return sorted(items, key=lambda each: (type(each).__name__, str(each)))


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
    if isinstance(key, Enum) and isinstance(key.value, str):
        key = key.value
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
