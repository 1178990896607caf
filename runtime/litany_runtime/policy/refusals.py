"""The exceptions by which a guard refuses while a program runs."""

from __future__ import annotations

from litany_runtime.policy.names import ATTRIBUTE_HINTS, GENERAL_ATTRIBUTE_HINT


class RefusedError(AttributeError):
    """A guard refused a name; an AttributeError, for that is how a program meets it."""


class ClassRefusedError(TypeError):
    """A class statement was refused; a TypeError, for that is how a program meets it."""


class RefusedTextError(SyntaxError):
    """Text that a program evaluates was refused; a SyntaxError, for that is how a program meets it."""


for _error, _name in (
    (RefusedTextError, "SyntaxError"),
    (RefusedError, "AttributeError"),
    (ClassRefusedError, "TypeError"),
):
    _error.__name__ = _error.__qualname__ = _name
    _error.__module__ = "builtins"


def refuse(name: str, why: str, hint: str = "") -> RefusedError:
    """The exception for a refused name; the caller raises it."""
    hint = hint or ATTRIBUTE_HINTS.get(name, GENERAL_ATTRIBUTE_HINT)
    return RefusedError(f"{name} is refused here: {why} ({hint})")
