"""The input of a built-in tool, checked by its own schema.

The door's schema gate says the same before the call. A built-in looks again because it can be run without a
door, and then its input is whatever somebody typed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from litany_engine.door.arguments import ArgumentCheck

if TYPE_CHECKING:
    from litany_stubs.words import JSON, ToolDeclaration

_checks: dict[str, ArgumentCheck] = {}


class WrongInputError(ValueError):
    """An input that the tool does not take; the message says what it takes."""


def builtin_input(declaration: ToolDeclaration, given: JSON) -> dict[str, Any]:
    """Return the input when the tool's schema accepts it.

    Raises:
        WrongInputError: what is wrong and what the tool takes.
    """
    check = _checks.get(declaration.name)
    if check is None:
        check = _checks[declaration.name] = ArgumentCheck(declaration)
    fault = check.fault(given)
    if fault is not None:
        raise WrongInputError(f"invalid input JSON: {fault}")
    # JSON has one kind of number: 5.0 is a whole one, and Python's ranges take it only as 5.
    return {
        key: int(value) if isinstance(value, float) and value.is_integer() else value
        for key, value in given.items()
    }
