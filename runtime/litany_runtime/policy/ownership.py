"""Whose object it is: the program's, or a library's.

A program may do as it likes with its own classes and their instances, one leading underscore included.
Everything else is foreign: its public names are open, its private ones closed.

A class of the program is **pure** when no library class among its bases has private names or looked-at
names of its own; the rewritten tree asks `type(x) in own` and is done. The instances of its other classes,
and the classes themselves, come to `private` below.

Types are tested with `type(x)`, never `x.__class__`, and no method of the program's objects is called: either
could answer for itself.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import enum
import io
import queue
import threading
import traceback
import types
from typing import Any

from litany_runtime.policy import constants, private_names
from litany_runtime.policy.names import REVIEWED_PRIVATE
from litany_runtime.policy.refusals import refuse

own: set[type] = set()
"""The program's pure classes; the rewritten tree holds this very set."""

impure: set[type] = set()
"""The program's other classes: a library class among their bases has private names of its own."""

_program_globals: list[dict[str, Any]] = [{}]
"""The globals of the program; before there is one, of nobody."""

mro = type.__dict__["__mro__"].__get__
class_dict = type.__dict__["__dict__"].__get__
super_class = super.__dict__["__self_class__"].__get__

_QUEUE_HOOKS = frozenset({"_init", "_put", "_get", "_qsize"})

OPEN_PRIVATE: dict[type, frozenset[str]] = {
    enum.Enum: frozenset(
        {"_value_", "_name_", "_missing_", "_generate_next_value_", "_ignore_", "_order_", "_sort_order_"}
    ),
    tuple: frozenset({"_replace", "_asdict", "_fields", "_make", "_field_defaults"}),
    ast.AST: frozenset({"_fields", "_attributes"}),
    queue.Queue: _QUEUE_HOOKS,
    asyncio.Queue: _QUEUE_HOOKS,
    argparse.HelpFormatter: frozenset(
        {
            "_split_lines",
            "_fill_text",
            "_get_help_string",
            "_format_action",
            "_format_action_invocation",
            "_format_args",
            "_format_usage",
            "_metavar_formatter",
            "_get_default_metavar_for_optional",
            "_get_default_metavar_for_positional",
        }
    ),
}
"""Private names that a library documents, or that programs override by custom: base class → names."""

OPEN_TO_SUBCLASSES: dict[type, frozenset[str]] = {
    threading.Thread: frozenset({"_target", "_args", "_kwargs"}),
}
"""Private names that hold what whoever made the object gave it, and that a subclass's own methods use: base
class → names. On objects of the library's own classes, which the library made for itself, they stay
closed."""

DATA_HOLDERS = (types.SimpleNamespace, argparse.Namespace, threading.local)
"""Library classes whose instances are nothing but what the program put into them."""

SOLE_BASES = (*DATA_HOLDERS, traceback.TracebackException, ast.AST)
"""Library classes that compare, show or set whatever an object's dict holds: a class of the program that
inherits from one has no other library class with private names among its bases."""

HIDDEN_TYPES = frozenset({io.FileIO, types.FrameType, types.CodeType, types.CellType})
"""Types whose constructors take descriptors, openers or code; a program may hold instances, not the type."""


facades: dict[type, Any] = {}
"""Types a program sees another object for."""

metaclasses: dict[Any, type] = {}
"""What a program sees for a metaclass → the metaclass."""


def begin(globals_of_program: dict[str, Any]) -> None:
    """Start a program: its functions are those with these globals."""
    _program_globals[:] = [globals_of_program]


def program_globals() -> dict[str, Any]:
    """The globals of the program."""
    return _program_globals[0]


type_name = type.__dict__["__name__"].__get__


def is_own_class(cls: type) -> bool:
    """Whether the program defined this class."""
    return cls in own or cls in impure


def is_own_function(value: object) -> bool:
    """Whether the program defined this function, or a library did from the program's names."""
    if type(value) is not types.FunctionType or not _program_globals:  # none before a program begins
        return False
    return value.__globals__ is _program_globals[0] or constants.is_programs(value.__code__)


_foreign_names: dict[type, frozenset[str]] = {}


def foreign_names(cls: type) -> frozenset[str]:
    """The private names that a library class defines or touches, its bases' included."""
    known = _foreign_names.get(cls)
    if known is None:
        found: set[str] = set()
        for base in mro(cls):
            if base not in own and base not in impure:
                found |= private_names.in_class(base)
        known = _foreign_names[cls] = frozenset(found - REVIEWED_PRIVATE)
    return known


mixed: dict[type, frozenset[str]] = {}
"""Classes of the program that are a base of one with library bases → those bases' private names: set on the
class, they would steer the library's methods in the subclass."""


def mix(cls: type, names: frozenset[str]) -> None:
    """Note that a class of the program is a base of one whose library bases have these private names."""
    mixed[cls] = mixed.get(cls, frozenset()) | names


def private(obj: Any, name: str) -> Any:
    """Return `obj` when the program may use its private attribute `name`.

    Raises:
        RefusedError: the name is a library's.
    """
    kind = type(obj)
    if kind in own:
        return obj
    if kind is super:
        kind = super_class(obj)
    if is_own_class(kind):
        return _unless_foreign(obj, name, kind)
    if kind in DATA_HOLDERS or is_open(kind, name) or is_own_function(obj):
        return obj
    if issubclass(kind, types.ModuleType) and kind is not types.ModuleType and name not in vars(obj):
        return obj  # a view says itself what it does not have, and what to write instead
    if isinstance(obj, type):
        if is_own_class(obj):
            if kind is not type and name in foreign_names(kind):  # its metaclass is a library's
                raise refuse(name, f"it is private to the class of {obj.__name__}")
            if name in mixed.get(obj, ()) and not is_open(obj, name) and name not in foreign_names(obj):
                raise refuse(name, f"it is private to a library base of a subclass of {obj.__name__}")
            return _unless_foreign(obj, name, obj)
        if is_open(obj, name):
            return obj
        raise refuse(name, f"it is private to {obj.__name__}, which is not a class of the program")
    raise refuse(name, f"it is private to {kind.__name__}, whose objects are not the program's own")


def _unless_foreign(obj: Any, name: str, cls: type) -> Any:
    if cls in own or name not in foreign_names(cls) or is_open(cls, name):
        return obj
    raise refuse(
        name, f"it is private to a base class of {cls.__name__}", "choose another name for your own attribute"
    )


def is_open(cls: type, name: str) -> bool:
    """Whether a private name of a class is one that its library opens to everybody, or to its subclasses."""
    if any(name in names and base in mro(cls) for base, names in OPEN_PRIVATE.items()):
        return True
    return is_own_class(cls) and is_open_to_subclasses(cls, name)


def is_open_to_subclasses(cls: type, name: str) -> bool:
    """Whether a subclass of a library class may use a private name, which holds what it gave itself."""
    return any(name in names and base in mro(cls) for base, names in OPEN_TO_SUBCLASSES.items())


def visible_type(kind: type) -> Any:
    """The type a program sees for a real one: `type` for every metaclass, no hidden types.

    Raises:
        RefusedError: a hidden type.
    """
    if kind in HIDDEN_TYPES:
        raise refuse(
            "type",
            f"the type of a {kind.__name__} object is not available",
            "use isinstance() with a class of io or types",
        )
    if issubclass(kind, type):
        return facades.get(kind, facades[type])
    if issubclass(kind, types.ModuleType):
        return types.ModuleType
    return facades.get(kind, kind)
