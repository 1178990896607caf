"""What the rewritten tree and the guarded builtins call: a look at the object before a name is used on it.

Whose object is it? A program may do as it likes with its own classes and their instances, one leading
underscore included. Everything else is a library's (foreign): its public names are open, its private ones
closed, and a few public names (`names.LOOKED_AT`) depend on the object.

A class of the program is **pure** when no library class among its bases has private names or looked-at
names that matter; the rewritten tree asks `type(x) in own` and is done. The instances of its other classes,
and the classes themselves, come here.

Every guard tests types with `type(x)` and names with `type(name) is str`: a subclass of either could answer
for itself. No guard calls a method of the program's objects.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import configparser
import enum
import io
import queue
import threading
import types
from typing import TYPE_CHECKING, Any

from litany_runtime.policy.formatting import Formatting
from litany_runtime.policy.names import (
    ATTRIBUTE_HINTS,
    GENERAL_ATTRIBUTE_HINT,
    INNARDS,
    LOOKED_AT,
    LOOKED_AT_DUNDERS,
    PLAIN_ATTRIBUTES,
    REVIEWED_PRIVATE,
    RESERVED_PREFIX,
    STORABLE_DUNDERS,
)

if TYPE_CHECKING:
    from collections.abc import Callable

own: set[type] = set()
"""The program's pure classes; the rewritten tree holds this very set."""

impure: set[type] = set()
"""The program's other classes: a library class among their bases has private names of its own."""

_program_globals: list[dict[str, Any]] = []
"""The globals of the program, to tell its functions from the library's."""

mro = type.__dict__["__mro__"].__get__
class_dict = type.__dict__["__dict__"].__get__
_instance_dict = object.__getattribute__
_super_class = super.__dict__["__self_class__"].__get__

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

DATA_HOLDERS = (types.SimpleNamespace, argparse.Namespace, threading.local)
"""Library classes whose instances are nothing but what the program put into them."""

HIDDEN_TYPES = frozenset({io.FileIO, types.FrameType, types.CodeType, types.CellType})
"""Types whose constructors take descriptors, openers or code; a program may hold instances, not the type."""


class Refused(AttributeError):
    """A guard refused a name; an AttributeError, for that is how a program meets it."""


Refused.__name__ = Refused.__qualname__ = "AttributeError"
Refused.__module__ = "builtins"


def refuse(name: str, why: str, hint: str = "") -> Refused:
    """The exception for a refused name; the caller raises it."""
    return Refused(
        f"{name} is refused here: {why} ({hint or ATTRIBUTE_HINTS.get(name, GENERAL_ATTRIBUTE_HINT)})"
    )


# -- whose object ---------------------------------------------------------------------------------------------


def begin(globals_of_program: dict[str, Any]) -> None:
    """Start a program: its functions are those with these globals."""
    _program_globals[:] = [globals_of_program]


def program_globals() -> dict[str, Any]:
    """The globals of the program."""
    return _program_globals[0]


def is_own_class(cls: type) -> bool:
    """Whether the program defined this class."""
    return cls in own or cls in impure


def is_own_function(value: object) -> bool:
    """Whether the program defined this function."""
    return type(value) is types.FunctionType and value.__globals__ is _program_globals[0]


_foreign_names: dict[type, frozenset[str]] = {}


def foreign_names(cls: type) -> frozenset[str]:
    """The private names that a library class defines or touches, its bases' included."""
    known = _foreign_names.get(cls)
    if known is None:
        found: set[str] = set()
        for base in mro(cls):
            if base not in own and base not in impure:
                found |= private_names(base)
        known = _foreign_names[cls] = frozenset(found - REVIEWED_PRIVATE)
    return known


def private_names(cls: type) -> set[str]:
    """The private names in one class's dict and in the code of its functions."""
    names = class_dict(cls)
    found = {n for n in names if is_private(n)}
    for value in names.values():
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__  # noqa: PLW2901
        for function in (value.fget, value.fset, value.fdel) if type(value) is property else (value,):
            if type(function) is types.FunctionType:
                found |= private_names_in_code(function.__code__)
    return found


def private_names_in_code(code: types.CodeType) -> set[str]:
    """The private names that a code object, or one inside it, uses as attributes or globals."""
    found = {n for n in code.co_names if is_private(n)}
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            found |= private_names_in_code(constant)
    return found


def is_private(name: str) -> bool:
    """One leading underscore, or a mangled name; not a dunder."""
    return name[:1] == "_" and not is_dunder(name)


def is_dunder(name: str) -> bool:
    """Two underscores on either side."""
    return len(name) > 4 and name[:2] == "__" and name[-2:] == "__"


# -- guards of the rewritten tree -------------------------------------------------------------------------------


def private(obj: Any, name: str) -> Any:
    """Return `obj` when the program may use its private attribute `name`."""
    kind = type(obj)
    if kind in own:
        return obj
    if kind is super:
        kind = _super_class(obj)
    if kind in impure:
        if name not in foreign_names(kind) or is_open(kind, name):
            return obj
        raise refuse(
            name,
            f"it is private to a base class of {kind.__name__}",
            "choose another name for your own attribute",
        )
    if kind in DATA_HOLDERS or is_open(kind, name) or is_own_function(obj):
        return obj
    if isinstance(obj, type):
        if obj in own or is_open(obj, name):
            return obj
        if obj in impure:
            if name not in foreign_names(obj):
                return obj
            raise refuse(
                name,
                f"it is private to a base class of {obj.__name__}",
                "choose another name for your own attribute",
            )
        raise refuse(name, f"it is private to {obj.__name__}, which is not a class of the program")
    raise refuse(name, f"it is private to {kind.__name__}, whose objects are not the program's own")


def is_open(cls: type, name: str) -> bool:
    return any(name in names and base in mro(cls) for base, names in OPEN_PRIVATE.items())


def updated(obj: Any, name: str) -> Any:
    """Return `obj` when `obj.name += value` may read a looked-at attribute unseen."""
    if type(obj) in own and not isinstance(obj, (str, AttributeError)) and not is_dunder(name):
        return obj
    raise refuse(
        name,
        "its augmented assignment reads it unseen",
        "write obj.x = obj.x + value on an object of your own",
    )


def init(obj: Any) -> Any:
    """Return `obj` when its `__init__` may be read."""
    if type(obj) in HIDDEN_TYPES or (isinstance(obj, type) and obj in HIDDEN_TYPES):
        raise refuse("__init__", "the object cannot be made anew")
    return obj


def attribute(obj: Any, name: str) -> Any:
    """The value of a looked-at attribute, public or dunder."""
    return _looks.get(name, _look_dunder_unknown)(obj, name)


def _look_dunder_unknown(obj: Any, name: str) -> Any:
    raise refuse(name, "it leads from an object into the interpreter")


_BOUND = type("".format)
_UNBOUND = {str.format: "format", str.format_map: "format_map"}


def _look_format(obj: Any, name: str) -> Any:
    """A string's own method is replaced, by whatever way it is reached; any other `format` is left alone."""
    value = getattr(obj, name)
    kind = type(value)
    if kind is _BOUND and isinstance(value.__self__, str):
        method = formatting.format if value.__name__ == "format" else formatting.format_map
        return _bind(method, str.__add__("", value.__self__))
    if kind is _METHOD and value in _UNBOUND:
        return _unbound_format if _UNBOUND[value] == "format" else _unbound_format_map
    return value


_METHOD = type(str.format)


def _bind(method: Callable[..., str], text: str) -> Callable[..., str]:
    if method.__name__ == "format_map":

        def format_map(mapping: Any, /) -> str:
            return method(text, mapping)

        return format_map

    def format(*args: Any, **kwargs: Any) -> str:  # noqa: A001 - the program sees this name
        return method(text, args, kwargs)

    return format


def _unbound_format(self: str, /, *args: Any, **kwargs: Any) -> str:
    if not isinstance(self, str):
        raise TypeError(f"descriptor 'format' requires a 'str' object but received a {type(self).__name__!r}")
    return formatting.format(str.__add__("", self), args, kwargs)


def _unbound_format_map(self: str, mapping: Any, /) -> str:
    if not isinstance(self, str):
        raise TypeError(
            f"descriptor 'format_map' requires a 'str' object but received a {type(self).__name__!r}"
        )
    return formatting.format_map(str.__add__("", self), mapping)


def _look_obj(obj: Any, name: str) -> Any:
    """Most objects' `obj` is their own affair; an AttributeError's may be a library's innermost."""
    value = getattr(obj, name)
    kind = type(obj)
    if (kind in own and not isinstance(obj, AttributeError)) or kind is memoryview:
        return value
    if (
        type(value) in PLAIN_TYPES
        or is_own_class(type(value))
        or (isinstance(value, type) and is_own_class(value))
    ):
        return value
    raise refuse(
        name,
        "the object an AttributeError was raised for may be a library's",
        "e.name tells the attribute, str(e) the rest",
    )


PLAIN_TYPES = frozenset(
    {type(None), bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset}
)


def _look_mro(obj: Any, name: str) -> Any:
    if isinstance(obj, type):
        return [visible_type(c) for c in mro(obj)] if is_own_class(obj) else _own_only(obj, name)
    return _own_only(obj, name)


def _look_bases(obj: Any, name: str) -> Any:
    if isinstance(obj, type) and is_own_class(obj):
        bases = mro(obj) if name == "__mro__" else obj.__bases__
        return tuple(visible_type(c) for c in bases)
    raise refuse(name, "only a class of the program tells its bases", "name the class")


def _own_only(obj: Any, name: str) -> Any:
    kind = type(obj)
    if kind in own:
        return getattr(obj, name)
    if kind in impure:
        for base in mro(kind):
            if name in class_dict(base):
                if base in own or base in impure:
                    return getattr(obj, name)
                break
        else:
            if name in LOOKED_AT_ON_INSTANCES and not _is_foreign_slot(kind, name):
                return getattr(obj, name)
    if kind in DATA_HOLDERS or kind is configparser.SectionProxy:
        return getattr(obj, name)
    if isinstance(obj, type) and is_own_class(obj):
        for base in mro(obj):
            if name in class_dict(base):
                if base in own or base in impure:
                    return getattr(obj, name)
                break
    raise refuse(name, LOOKED_AT.get(name, "it leads from an object into the interpreter"))


LOOKED_AT_ON_INSTANCES = frozenset({"parser", "gen", "opener"})
"""Names that programs give their own instances' attributes."""


def _is_foreign_slot(kind: type, name: str) -> bool:
    return any(hasattr(base, name) for base in mro(kind) if base not in own and base not in impure)


def _look_dict(obj: Any, name: str) -> Any:
    kind = type(obj)
    if kind in own or kind in impure or kind in DATA_HOLDERS:
        if kind in impure and foreign_names(kind):
            return {k: v for k, v in obj.__dict__.items() if k not in foreign_names(kind)}
        return _instance_dict(obj, "__dict__")
    if isinstance(obj, type) and is_own_class(obj):
        return types.MappingProxyType({k: v for k, v in class_dict(obj).items() if _may_show(k, v)})
    if is_own_function(obj):
        return obj.__dict__
    raise refuse(name, f"a {kind.__name__} is not the program's own object", "use its public attributes")


def _may_show(name: str, value: object) -> bool:
    """Whether a class's dict shows an entry: not the descriptors that its library bases put there."""
    if is_dunder(name) and name not in PLAIN_ATTRIBUTES:
        return False
    kind = type(value)
    return kind in PLAIN_TYPES or kind in _DESCRIPTORS or is_own_class(kind) or isinstance(value, type)


_DESCRIPTORS = frozenset({types.FunctionType, staticmethod, classmethod, property})


def _look_annotations(obj: Any, name: str) -> Any:
    if is_own_function(obj) or (isinstance(obj, type) and is_own_class(obj)):
        return dict(getattr(obj, name))
    raise refuse(
        name,
        "only functions and classes of the program tell their annotations",
        "use typing.get_type_hints(obj)",
    )


def _look_setter(obj: Any, name: str) -> Any:
    """`object.__setattr__(self, 'x', v)` in a frozen class, `super().__setattr__('x', v)` in any."""
    if isinstance(obj, type):
        raw = getattr(obj, name)
        check = _check_store if name == "__setattr__" else _check_delete

        def unbound(target: Any, attribute_name: Any, /, *value: Any) -> None:
            check(target, attribute_name)
            if isinstance(target, type):
                raise refuse(name, "it would change a class", "assign Class.attribute = value")
            raw(target, attribute_name, *value)

        return unbound
    raw = getattr(obj, name)
    target_type = _super_class(obj) if type(obj) is super else type(obj)
    if not is_own_class(target_type) and target_type not in DATA_HOLDERS:
        raise refuse(name, "the object is not the program's own", "assign obj.attribute = value")

    def bound(attribute_name: Any, /, *value: Any) -> None:
        _check_name(attribute_name)
        if is_dunder(attribute_name) and attribute_name not in STORABLE_DUNDERS:
            raise refuse(attribute_name, "it may not be set")
        if (
            is_private(attribute_name)
            and target_type in impure
            and attribute_name in foreign_names(target_type)
        ):
            raise refuse(
                attribute_name,
                f"it is private to a base class of {target_type.__name__}",
                "choose another name",
            )
        raw(attribute_name, *value)

    return bound


def _look_getattr_method(obj: Any, name: str) -> Any:
    """The program's own `__getattr__` only: a library's takes any name."""
    kind = _super_class(obj) if type(obj) is super else type(obj)
    holder = obj if isinstance(obj, type) else kind
    for base in mro(holder):
        if name in class_dict(base):
            if is_own_class(base):
                return getattr(obj, name)
            break
    raise refuse(name, "a library's __getattr__ takes any name", "use getattr(obj, name)")


_looks: dict[str, Callable[[Any, str], Any]] = {name: _own_only for name in LOOKED_AT}
_looks |= {
    "format": _look_format,
    "format_map": _look_format,
    "obj": _look_obj,
    "mro": _look_mro,
    "__mro__": _look_bases,
    "__bases__": _look_bases,
    "__dict__": _look_dict,
    "__annotations__": _look_annotations,
    "__setattr__": _look_setter,
    "__delattr__": _look_setter,
    "__getattr__": _look_getattr_method,
    "__class__": lambda obj, _: visible_type(type(obj)),
    "__init__": lambda obj, _: init(obj).__init__,
}


def class_of(obj: Any) -> Any:
    """What `obj.__class__` gives."""
    return visible_type(type(obj))


facades: dict[type, Any] = {}
"""Types a program sees another object for; `builtin_names.py` fills it."""


def visible_type(kind: type) -> Any:
    """The type a program sees for a real one: `type` for every metaclass, no hidden types."""
    if kind in HIDDEN_TYPES:
        raise refuse(
            "type",
            f"the type of a {kind.__name__} object is not available",
            "use isinstance() with a class of io or types",
        )
    if issubclass(kind, type):
        return facades[type]
    return facades.get(kind, kind)


# -- names given as strings -------------------------------------------------------------------------------------


def _check_name(name: Any) -> None:
    if type(name) is not str:
        raise TypeError(f"attribute name must be string, not '{type(name).__name__}'")


def read(obj: Any, name: Any) -> Any:
    """`getattr(obj, name)` by the rules of the source."""
    if type(name) is not str:
        raise TypeError(f"attribute name must be string, not '{type(name).__name__}'")
    if name[:1] != "_":
        if name in LOOKED_AT:
            return attribute(obj, name)
        if name in INNARDS:
            raise refuse(name, "it leads into the interpreter")
        return getattr(obj, name)
    if is_dunder(name):
        if name in PLAIN_ATTRIBUTES:
            return getattr(obj, name)
        if name in LOOKED_AT_DUNDERS:
            return attribute(obj, name)
        raise refuse(name, "it leads from an object into the interpreter")
    if name.startswith(RESERVED_PREFIX):
        raise refuse(name, "the prefix is reserved", "choose another name")
    return getattr(obj if name in REVIEWED_PRIVATE else private(obj, name), name)


def _check_store(obj: Any, name: Any) -> None:
    _check_name(name)
    if name in INNARDS:
        raise refuse(name, "it leads into the interpreter")
    if is_dunder(name):
        if name not in STORABLE_DUNDERS:
            raise refuse(name, "it may not be set", "assign ordinary attributes")
    elif name.startswith(RESERVED_PREFIX):
        raise refuse(name, "the prefix is reserved", "choose another name")
    elif is_private(name) and name not in REVIEWED_PRIVATE:
        private(obj, name)


_check_delete = _check_store


def read_for_library(obj: Any, name: Any) -> Any:
    """`getattr` for library code that takes the name from the program; its own private names stay readable."""
    _check_name(name)
    if name in INNARDS or name in LOOKED_AT or (is_dunder(name) and name not in PLAIN_ATTRIBUTES):
        return read(obj, name)
    return getattr(obj, name)


def write_for_library(obj: Any, name: Any, value: Any, /) -> None:
    """`setattr` for library code that takes the name from the program."""
    _check_name(name)
    if name in INNARDS or is_dunder(name):
        _check_store(obj, name)
    setattr(obj, name, value)


def delete_for_library(obj: Any, name: Any, /) -> None:
    """`delattr` for library code that takes the name from the program."""
    _check_name(name)
    if name in INNARDS or is_dunder(name):
        _check_store(obj, name)
    delattr(obj, name)


def write(obj: Any, name: Any, value: Any, /) -> None:
    """`setattr(obj, name, value)` by the rules of the source."""
    _check_store(obj, name)
    setattr(obj, name, value)


def delete(obj: Any, name: Any, /) -> None:
    """`delattr(obj, name)` by the rules of the source."""
    _check_delete(obj, name)
    delattr(obj, name)


formatting = Formatting(read)
