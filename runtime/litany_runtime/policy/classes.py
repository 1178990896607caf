"""The program's classes: what `class` statements and the library's class makers may make.

`__build_class__` is a builtin of the program, so every class statement passes here. The syntax rules have
seen the body; what they cannot see is the value of a base and of `__match_args__`.
"""

from __future__ import annotations

import asyncio
import builtins
import io
import types
import typing
from typing import TYPE_CHECKING, Any

from litany_runtime.policy import constants, copying, ownership, private_names
from litany_runtime.policy.names import INNARDS, LOOKED_AT, PLAIN_ATTRIBUTES, RESERVED_PREFIX
from litany_runtime.policy.refusals import ClassRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

_build_class = builtins.__build_class__

FORBIDDEN_BASES = frozenset({types.ModuleType, super, io.FileIO, asyncio.SelectorEventLoop})
"""Classes whose subclasses would answer for the guards' own objects."""


def build_class(body: Callable[..., Any], name: str, /, *bases: Any, **keywords: Any) -> Any:
    """What a class statement calls, and a program that took it from its builtins."""
    if (
        type(name) is not str
        or type(body) is not types.FunctionType
        or not constants.is_class_body(body.__code__)
    ):
        raise ClassRefusedError("a class is made by a class statement (write one)")
    if bases:
        for base in bases:
            check_substitute(base)
        real = types.resolve_bases(bases)
        for base in real:
            check_base(base)
        check_body(body.__code__, real)
    if "metaclass" in keywords:
        raise ClassRefusedError(
            "metaclass= is not available (inherit from abc.ABC, or use a class decorator)"
        )
    return adopt(_build_class(body, name, *bases, **keywords))


def check_substitute(base: Any) -> None:
    """Refuse an object in place of a base that the program could let name other bases the next time."""
    if isinstance(base, type) or base is typing.NamedTuple or base is typing.TypedDict:
        return
    if "__mro_entries__" in copying.instance_dict(base) or ownership.is_own_class(type(base)):
        raise ClassRefusedError(
            f"a {type(base).__name__} object cannot be a base class (inherit from a class)"
        )


def _no_class(base: Any) -> ClassRefusedError:
    return ClassRefusedError(f"a {type(base).__name__} object cannot be a base class (inherit from a class)")


def check_base(base: Any) -> None:
    """Refuse a base whose subclass would be no ordinary class of the program."""
    if not (isinstance(base, type) or base is ownership.facades.get(type)):
        raise ClassRefusedError(
            f"a {type(base).__name__} object cannot be a base class (inherit from a class)"
        )
    if base is ownership.facades.get(type) or (isinstance(base, type) and issubclass(base, type)):
        raise ClassRefusedError("a metaclass cannot be defined (use a class decorator)")
    if base in FORBIDDEN_BASES or base in ownership.HIDDEN_TYPES:
        raise ClassRefusedError(f"{base.__name__} cannot be a base class (keep one as an attribute instead)")


def check_body(code: types.CodeType, bases: tuple[Any, ...]) -> None:
    """Refuse a class body that binds a private name of a library base: it would steer the base's methods."""
    names = [name for name in code.co_names if private_names.is_private(name)]
    if not names:
        return
    for base in bases:
        if isinstance(base, type) and base not in ownership.own:
            for name in names:
                if name in ownership.foreign_names(base) and not ownership.is_open(base, name):
                    raise ClassRefusedError(
                        f"{name} is private to {base.__name__}, a base of this class (choose another name)"
                    )


def adopt(cls: Any) -> Any:
    """Record a class as the program's own, once its `__match_args__` was looked at."""
    if not isinstance(cls, type):
        return cls
    if issubclass(cls, type):
        raise ClassRefusedError("a metaclass cannot be defined (use a class decorator)")
    names = ownership.class_dict(cls)
    if "__match_args__" in names:
        check_match_args(names["__match_args__"])
    for name, value in names.items():
        if private_names.is_dunder(name) and type(value) is types.MemberDescriptorType:
            raise ClassRefusedError(f"__slots__ may not name {name} (choose another name)")
    pure = True
    for base in ownership.mro(cls)[1:]:
        if base is object or base in ownership.own:
            continue
        if base in ownership.impure or _has_private_names(base):
            pure = False
            break
    if not pure:
        check_inherited(cls)
    (ownership.own if pure else ownership.impure).add(cls)
    return cls


CLASS_PRIVATE = frozenset({"_abc_impl", "_is_protocol", "_is_runtime_protocol"})
"""Private names that abstract and generic classes keep on the class; their instances have none."""


def check_inherited(cls: type) -> None:
    """Refuse private names of a library base that come from beside the class's body.

    A base of the program's own, an annotation that becomes a dataclass's field, a slot: each would steer the
    library base's methods, or read what they keep.
    """
    foreign = ownership.foreign_names(cls)
    for sole in ownership.SOLE_BASES:
        if issubclass(cls, sole) and (extra := foreign - ownership.foreign_names(sole) - CLASS_PRIVATE):
            raise ClassRefusedError(
                f"{cls.__name__} cannot inherit from {sole.__name__} and from a class with {min(extra)} "
                "(keep one of them as an attribute)"
            )
    for base in ownership.mro(cls):
        if base is not cls and not ownership.is_own_class(base):
            continue
        names = ownership.class_dict(base)
        written = {*names.get("__annotations__", ()), *names.get("__dataclass_fields__", ())}
        if base is not cls:
            ownership.mix(base, foreign)
            written |= {name for name in names if name not in ownership.foreign_names(base)}
        for name in sorted(written & foreign):
            if not ownership.is_open(cls, name):
                raise ClassRefusedError(
                    f"{name} of {base.__name__} is private to a library base of {cls.__name__} "
                    "(choose another name)"
                )


_looked: dict[type, bool] = {}


def _has_private_names(base: type) -> bool:
    known = _looked.get(base)
    if known is None:
        names = ownership.class_dict(base)
        known = _looked[base] = bool(private_names.in_class(base)) or any(
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
            raise ClassRefusedError(f"__match_args__ may not name {name} (name public attributes)")
        if private_names.is_dunder(name) and name not in PLAIN_ATTRIBUTES:
            raise ClassRefusedError(f"__match_args__ may not name {name} (name public attributes)")
        if private_names.is_private(name):
            raise ClassRefusedError(
                f"__match_args__ may not name {name}, which is private (name public attributes)"
            )
