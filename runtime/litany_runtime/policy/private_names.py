"""Which private attribute names library objects carry, read from the library's own code.

A name counts when a class has it in its dict or a function uses it as an attribute (of whatever: the code
does not tell, so the answer errs on the safe side). Names used only as globals do not count: views have none.
"""

from __future__ import annotations

import dis
import gc
import sys
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_class_dict = type.__dict__["__dict__"].__get__

_SHIFT = 1 if sys.version_info >= (3, 12) else 0
_SHIFTS = {
    dis.opmap[name]: shift
    for name, shift in {
        "LOAD_ATTR": _SHIFT,
        "LOAD_METHOD": 0,
        "STORE_ATTR": 0,
        "DELETE_ATTR": 0,
        "LOAD_SUPER_ATTR": 2,
    }.items()
    if name in dis.opmap
}
"""Instructions that name an attribute → how far their argument is shifted to make room for flags."""
_EXTENDED = dis.opmap["EXTENDED_ARG"]

UNREACHED = (
    "RestrictedPython",
    "_ctypes",
    "_frozen_importlib",
    "ast_serialize",
    "ctypes",
    "dis",
    "gettext",
    "importlib",
    "inspect",
    "linecache",
    "litany_runtime.policy",
    "opcode",
    "signal",
    "site",
    "socket",
    "ssl",
    "subprocess",
    "sysconfig",
    "tokenize",
    "zipimport",
)
"""Modules none of whose objects a program meets; a private name of theirs is nobody's."""


def is_private(name: str) -> bool:
    """One leading underscore, or a mangled name; not a dunder."""
    return name[:1] == "_" and not is_dunder(name)


def is_dunder(name: str) -> bool:
    """Two underscores on either side."""
    return len(name) > 4 and name[:2] == "__" and name[-2:] == "__"


def in_code(code: CodeType) -> set[str]:
    """The private names that a code object, or one inside it, uses as attributes."""
    found: set[str] = set()
    private = {index for index, name in enumerate(code.co_names) if is_private(name)}
    if private:
        extended = 0
        instructions = code.co_code
        for at in range(0, len(instructions), 2):
            operation, argument = instructions[at], instructions[at + 1]
            if operation == _EXTENDED:
                extended = (extended | argument) << 8
                continue
            shift = _SHIFTS.get(operation)
            if shift is not None and (index := (extended | argument) >> shift) in private:
                found.add(code.co_names[index])
            extended = 0
    for constant in code.co_consts:
        if type(constant) is CodeType:
            found |= in_code(constant)
    return found


NATIVE = {("zoneinfo", "ZoneInfo"): frozenset({"_weak_cache"})}
"""Module and name of a class of C → private names that its C code reads on its subclasses."""


def in_class(cls: type) -> set[str]:
    """The private names in one class's dict and in the code of its functions."""
    found = set(NATIVE.get((cls.__module__, cls.__qualname__), ()))
    found |= {name for name in _class_dict(cls) if type(name) is str and is_private(name)}
    for function in _functions(cls):
        found |= in_code(function.__code__)
    return found


def _functions(cls: type) -> Iterator[FunctionType]:
    for value in _class_dict(cls).values():
        candidates: tuple[Any, ...] = (value,)
        if isinstance(value, (staticmethod, classmethod)):
            candidates = (value.__func__,)
        elif isinstance(value, property):
            candidates = (value.fget, value.fset, value.fdel)
        for function in candidates:
            if type(function) is FunctionType:
                yield function


def carriers() -> dict[str, set[str]]:
    """Every private name of what is loaded → the modules that carry it."""
    found = {name: {module} for (module, _), names in NATIVE.items() for name in names}
    for thing in gc.get_objects():
        if type(thing) is FunctionType:
            names = in_code(thing.__code__)
        elif issubclass(type(thing), type):
            names = {name for name in _class_dict(thing) if type(name) is str and is_private(name)}
        else:
            continue
        module = thing.__module__
        if names and isinstance(module, str) and not is_unreached(module):
            for name in names:
                found.setdefault(name, set()).add(module)
    return found


def is_unreached(module: str) -> bool:
    """Whether no program meets an object of this module."""
    return any(module == each or module.startswith((each + ".", each + "_")) for each in UNREACHED)
