"""The program's classes: what `class` statements and the library's class makers may make.

`__build_class__` is a builtin of the program, so every class statement passes here. The syntax rules have
seen the body; what they cannot see is the value of a base and of `__match_args__`.
"""

from __future__ import annotations

import builtins
import io
import types
from typing import TYPE_CHECKING, Any

from litany_runtime.policy import guards
from litany_runtime.policy.names import INNARDS, LOOKED_AT, PLAIN_ATTRIBUTES, RESERVED_PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable

_build_class = builtins.__build_class__

FORBIDDEN_BASES = frozenset({types.ModuleType, super, io.FileIO})
"""Classes whose subclasses would answer for the guards' own objects."""


class ClassRefused(TypeError):
    """A class statement was refused; a TypeError, for that is how a program meets it."""


ClassRefused.__name__ = ClassRefused.__qualname__ = "TypeError"
ClassRefused.__module__ = "builtins"


def build_class(body: Callable[..., Any], name: str, /, *bases: Any, **keywords: Any) -> Any:
    """What a class statement calls."""
    if bases:
        for base in bases:
            check_base(base)
        check_body(body.__code__, bases)
    if "metaclass" in keywords:
        raise ClassRefused("metaclass= is not available (inherit from abc.ABC, or use a class decorator)")
    return adopt(_build_class(body, name, *bases, **keywords))


def check_base(base: Any) -> None:
    if isinstance(base, type):
        if issubclass(base, type):
            raise ClassRefused("a metaclass cannot be defined (use a class decorator)")
        if base in FORBIDDEN_BASES or base in guards.HIDDEN_TYPES:
            raise ClassRefused(f"{base.__name__} cannot be a base class (keep one as an attribute instead)")
    elif base is guards.facades.get(type):
        raise ClassRefused("a metaclass cannot be defined (use a class decorator)")


def check_body(code: types.CodeType, bases: tuple[Any, ...]) -> None:
    """Refuse a class body that binds a private name of a library base: it would steer the base's methods."""
    names = [name for name in code.co_names if guards.is_private(name)]
    if not names:
        return
    for base in bases:
        if isinstance(base, type) and base not in guards.own:
            for name in names:
                if name in guards.foreign_names(base) and not guards.is_open(base, name):
                    raise ClassRefused(
                        f"{name} is private to {base.__name__}, a base of this class (choose another name)"
                    )


def adopt(cls: Any) -> Any:
    """Record a class as the program's own, once its `__match_args__` was looked at."""
    if not isinstance(cls, type):
        return cls
    names = guards.class_dict(cls)
    if "__match_args__" in names:
        check_match_args(names["__match_args__"])
    pure = True
    for base in guards.mro(cls)[1:]:
        if base is object or base in guards.own:
            continue
        if base in guards.impure or _has_private_names(base):
            pure = False
            break
    (guards.own if pure else guards.impure).add(cls)
    return cls


_looked: dict[type, bool] = {}


def _has_private_names(base: type) -> bool:
    known = _looked.get(base)
    if known is None:
        names = guards.class_dict(base)
        known = _looked[base] = bool(guards.private_names(base)) or any(
            n in names for n in LOOKED_AT if n not in _STRING_METHODS
        )
    return known


_STRING_METHODS = frozenset({"format", "format_map"})


def check_match_args(value: Any) -> None:
    """A class pattern reads these attributes with no guard: exact strings, public names only."""
    if type(value) is not tuple:
        return  # the interpreter raises TypeError when a pattern uses it
    for name in value:
        if type(name) is not str:
            continue
        if name in INNARDS or name in LOOKED_AT or name.startswith(RESERVED_PREFIX):
            raise ClassRefused(f"__match_args__ may not name {name} (name public attributes)")
        if guards.is_dunder(name) and name not in PLAIN_ATTRIBUTES:
            raise ClassRefused(f"__match_args__ may not name {name} (name public attributes)")
        if guards.is_private(name):
            raise ClassRefused(
                f"__match_args__ may not name {name}, which is private (name public attributes)"
            )
