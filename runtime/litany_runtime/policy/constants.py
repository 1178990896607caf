"""Where the guards live: in the constants of a program's code, where no name leads.

A guard that is a name (a builtin, say) can be replaced by whoever can change the dict it is looked up in,
and `exec(text, {"__builtins__": mine})` gives that dict. So the rewritten tree says `PLACE.private(…)`,
with a bytes constant for the guards' object, and the object takes that constant's place in the compiled
code.

The object also tells the program's code from the library's: it is the last constant of each code object of
the program, whatever globals that code runs with, and nothing else has it.
"""

from __future__ import annotations

import ast
import os
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

GUARDS = ModuleType("guards")
"""The guards and the folded names, by their names.

An exact module: reading an attribute of one is quickest.
"""

PLACE = b"the guards' place: " + os.urandom(16)
"""Stands for the guards in a syntax tree, which holds plain constants only. No program can know it."""


def provide(guards: Mapping[str, Any]) -> None:
    """Put guards, or folded names, into the object."""
    GUARDS.__dict__.update(guards)


def guard(name: str, at: ast.AST) -> ast.Attribute:
    """The expression that gives a guard."""
    place = ast.copy_location(ast.Constant(PLACE), at)
    return ast.copy_location(ast.Attribute(place, name, ast.Load()), at)


def equip(code: CodeType) -> CodeType:
    """Put the guards where their place is, in code and all code inside it, and mark it as the program's."""
    constants: list[Any] = []
    for constant in code.co_consts:
        kind = type(constant)
        if kind is CodeType:
            constants.append(equip(constant))
        elif kind is bytes and constant == PLACE:
            constants.append(GUARDS)
        else:
            constants.append(constant)
    return code.replace(co_consts=(*constants, GUARDS))


CO_OPTIMIZED = 0x1
"""`inspect.CO_OPTIMIZED`: a function's code, whose variables are no dict."""

MODULE_CODE = "<module>"
"""What code is called that is no function's and no class's; no class can be called so."""


def is_class_body(code: CodeType) -> bool:
    """Whether code is the body of a class statement of the program's."""
    return is_programs(code) and not code.co_flags & CO_OPTIMIZED and code.co_name != MODULE_CODE


def is_programs(code: CodeType) -> bool:
    """Whether code was compiled from a program's text."""
    constants = code.co_consts
    return bool(constants) and constants[-1] is GUARDS
