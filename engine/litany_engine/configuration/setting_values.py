"""Readers of the values in `litany.toml`: each takes a TOML value and returns what the engine uses.

A reader raises `ValueError` with what is wrong and what is accepted; it knows neither file nor key, which the
caller adds.
"""
# ruff: noqa: TRY004 - a value of the wrong type is one more mistake in the file; callers catch one exception

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from litany_engine.configuration.units import UnitError, parse_deadline, parse_size
from litany_engine.rules.paths import PathPattern

if TYPE_CHECKING:
    from collections.abc import Callable

    from litany_stubs.words import JSON

_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*", re.ASCII)


def one_of(*words: str) -> Callable[[JSON], str]:
    """A reader of one of these words."""
    accepted = " or ".join(f'"{each}"' for each in words)

    def read(value: JSON) -> str:
        if value not in words:
            raise ValueError(f"{shown(value)} is not accepted; write {accepted}")
        return str(value)

    return read


def isolation(value: JSON) -> str:
    """Read the isolation; leaving confinement to the language policy is not something a file can ask for."""
    if value == "policy":
        raise ValueError(
            '"policy" is not accepted: the language policy alone does not confine; write "full" or "kernel"'
        )
    return one_of("full", "kernel")(value)


def patterns(value: JSON) -> tuple[PathPattern, ...]:
    """Read a list of path patterns over the agent's worktree."""
    found = tuple(map(PathPattern.parse, texts("path patterns")(value)))
    if absolute := next((each for each in found if each.absolute), None):
        path = "/" + "/".join(absolute.names)
        raise ValueError(f'"{path}" begins with a slash; write it from the worktree on, such as "{path[1:]}"')
    return found


def texts(what: str, accepts: Callable[[str], bool] = bool) -> Callable[[JSON], tuple[str, ...]]:
    """A reader of a list of texts, none of them twice."""

    def read(value: JSON) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise ValueError(f'{shown(value)} is not a list; write a list of {what}, such as ["a", "b"]')
        for each in value:
            if not isinstance(each, str) or "\0" in each or not accepts(each):
                raise ValueError(f"{shown(each)} in the list is not accepted; write a list of {what}")
        if len(set(value)) < len(value):
            twice = next(each for each in value if value.count(each) > 1)
            raise ValueError(f"{shown(twice)} stands twice in the list")
        return tuple(value)

    return read


def boolean(value: JSON) -> bool:
    """Read true or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{shown(value)} is not accepted; write true or false")
    return value


def module_name(text: str) -> bool:
    """Whether a text can stand after `import`."""
    return bool(_MODULE.fullmatch(text))


def argv(value: JSON) -> tuple[str, ...]:
    """Read a program and its arguments; a shell line is refused, since nothing here would split it."""
    if isinstance(value, str):
        raise ValueError(f"{shown(value)} is one text; write a list of a program and its arguments")
    words = value if isinstance(value, list) else [None]
    if not words or not all(isinstance(each, str) and "\0" not in each for each in words) or not words[0]:
        raise ValueError(f"{shown(value)} is no command; write a list of a program and its arguments")
    return tuple(words)


def duration(value: JSON) -> float:
    """Read a duration above zero, in seconds."""
    return parse_deadline(value)


def whole_seconds(value: JSON) -> int:
    """Read a duration of whole seconds above zero."""
    seconds = duration(value)
    if seconds != int(seconds):
        raise UnitError(f"{shown(value)} is not accepted; write a whole number of seconds")
    return int(seconds)


def size(value: JSON) -> int:
    """Read a size above zero, in bytes."""
    number = parse_size(value)
    if number <= 0:
        raise UnitError(f"{shown(value)} is nothing at all; write more than zero")
    return number


def count(least: int) -> Callable[[JSON], int]:
    """A reader of a whole number from `least` on."""

    def read(value: JSON) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**53:
            raise ValueError(f"{shown(value)} is not accepted; write a whole number, {least} or more")
        return value

    return read


def shown(value: JSON) -> str:
    """A value as TOML would write it, shortened, on one line."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    if isinstance(value, str):
        text = f'"{value}"' if value.isprintable() else ascii(value)
    return text if len(text) <= 80 else text[:77] + "..."
