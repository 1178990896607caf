"""Durations and sizes as an operator writes them: a number and a unit, `"30s"`, `"256 MiB"`.

A bare number is refused: nobody should have to guess whether 30 meant seconds. Units are taken as people and
other tools write them: `64M`, `64MB` and `64 MiB` are one size, in powers of 1024, as `docker --memory` and
systemd read them; `5m` and `5 minutes` are one duration.
"""

from __future__ import annotations

import math
import re

DURATION_SHAPE = 'a duration with its unit, such as "500ms", "30s", "5m" or "1h30m"'
SIZE_SHAPE = 'a size with its unit, such as "4096 B", "64K", "256 MiB" or "1 GB" (powers of 1024)'

_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_BYTES = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}

_NUMBER = r"[0-9]{1,15}(?:\.[0-9]{1,6})?"
_UNITS = ("h(?:(?:ou)?rs?)?", "m(?:in(?:ute)?s?)?", "s(?:ec(?:ond)?s?)?", "(?:ms|msecs?|milliseconds?)")
DURATION_PATTERN = "^ *" + "".join(rf"(?:({_NUMBER}) *{unit} *)?" for unit in _UNITS) + "$"
"""The form of a duration, for a JSON Schema too: what a schema lets through is what is read here. An empty
text has this form, so whoever uses it asks for a digit besides."""

_DURATION = re.compile(DURATION_PATTERN, re.ASCII)
_SIZE = re.compile(rf"({_NUMBER})\s*(?:([KMGT])(?:i?B)?|B|bytes?)", re.ASCII | re.IGNORECASE)


class UnitError(ValueError):
    """A text that is no duration or size; the message shows it and says what is accepted."""


def parse_duration(text: object) -> float:
    """Read a duration.

    Args:
        text: hours, minutes, seconds and milliseconds in that order, each with its unit, none twice.

    Returns:
        Seconds.

    Raises:
        UnitError: anything else.
    """
    found = _DURATION.fullmatch(text) if isinstance(text, str) else None
    if found is None or not any(found.groups()):
        raise UnitError(_complaint(text, DURATION_SHAPE))
    parts = zip(found.groups(), _SECONDS.values(), strict=True)
    return math.fsum(float(number) * seconds for number, seconds in parts if number)


def parse_deadline(text: object) -> float:
    """Read a duration above zero: a deadline of no time at all is a slip.

    Returns:
        Seconds.

    Raises:
        UnitError: it is no duration, or none.
    """
    seconds = parse_duration(text)
    if seconds <= 0:
        raise UnitError(f"{_shown(text)} is no time at all; write {DURATION_SHAPE}")
    return seconds


def time_to_run(given: object) -> float:
    """How long something may take, as a host says it.

    Args:
        given: seconds above zero, or a duration with its unit.

    Raises:
        UnitError: it is neither.
    """
    seconds = parse_duration(given) if isinstance(given, str) else given
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
        raise UnitError(f"{given!r} is no time to run; give seconds above zero, or {DURATION_SHAPE}")
    return seconds


def parse_size(text: object) -> int:
    """Read a size.

    Args:
        text: a number and B, K, M, G or T, in either case; `M`, `MB` and `MiB` are 1024 * 1024 bytes.

    Returns:
        Bytes.

    Raises:
        UnitError: anything else, and a size that is no whole number of bytes.
    """
    found = _SIZE.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None:
        raise UnitError(_complaint(text, SIZE_SHAPE))
    unit = 1024 ** _POWERS[(found[2] or "").lower()]
    size = float(found[1]) * unit if "." in found[1] else int(found[1]) * unit
    if size != int(size):
        raise UnitError(f"{_shown(text)} is no whole number of bytes")
    return int(size)


def show_size(size: int) -> str:
    """A size for a reader: exact below 1 KiB, else with one decimal where it needs one."""
    for unit in ("GiB", "MiB", "KiB"):
        if size >= _BYTES[unit]:
            return f"{size / _BYTES[unit]:.1f}".removesuffix(".0") + f" {unit}"
    return f"{size} B"


def show_duration(seconds: float) -> str:
    """A duration for a reader: three significant digits, in the unit that suits them."""
    if seconds < 0.0009995:
        return f"{seconds * 1e6:.3g} µs"
    if seconds < 0.9995:
        return f"{seconds * 1e3:.3g} ms"
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _complaint(text: object, shape: str) -> str:
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        return f"{text} has no unit; write {shape}"
    return f"{_shown(text)} is not {shape}"


def _shown(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
