"""The program's classes: what `class` statements and the library's class makers may make.

`__build_class__` is a builtin of the program, so every class statement passes here. The syntax rules have
seen the body; what they cannot see is the value of a base and of `__match_args__`.
"""

from __future__ import annotations

import abc
import asyncio
import builtins
import io
import types
import typing
from typing import TYPE_CHECKING, Any

from litany_runtime.policy import constants, copying, hooks, ownership, private_names, reentry
from litany_runtime.policy.names import (
    BINDABLE_DUNDERS,
    CLASS_BODY_NAMES,
    HOOKS,
    INNARDS,
    LOOKED_AT,
    METHODS_REFUSED,
    PLAIN_ATTRIBUTES,
    RESERVED_PREFIX,
    SPECIAL_NAMES,
)
from litany_runtime.policy.refusals import ClassRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

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
        check_body(body.__code__.co_names, real)
        check_mixture(name, [c for base in real if isinstance(base, type) for c in ownership.mro(base)])
    if "metaclass" in keywords:
        keywords["metaclass"] = metaclass_of(keywords["metaclass"])
    return hooks.made_with(lambda: _build_class(body, name, *bases, **keywords), adopt)


def metaclass_of(given: Any) -> type:
    """The metaclass that a program names; its own are refused."""
    for facade, metaclass in ownership.metaclasses.items():
        if facade is given:
            return metaclass
    raise ClassRefusedError(
        "metaclass= takes abc.ABCMeta or type here (use a class decorator, or __init_subclass__)"
    )


def make_class(metaclass: type, arguments: tuple[Any, ...], keywords: dict[str, Any], module: Any) -> Any:
    """What `type(name, bases, namespace)` calls: a class under the rules of a class statement.

    Args:
        metaclass: `type`, or the metaclass whose facade was called.
        arguments: the name, the bases, the namespace.
        keywords: for `__init_subclass__`.
        module: the `__name__` of the caller's globals.
    """
    if len(arguments) != 3:
        raise TypeError("type() takes 1 or 3 arguments")
    name, bases, namespace = arguments
    for number, (value, kind) in enumerate(zip(arguments, (str, tuple, dict), strict=True), 1):
        if not issubclass(type(value), kind):
            raise TypeError(
                f"type.__new__() argument {number} must be {kind.__name__}, not {type(value).__name__}"
            )
    if "metaclass" in keywords:
        raise ClassRefusedError("type() takes no metaclass here (write a class statement)")
    name, bases, names = str.__add__("", name), tuple(tuple.__iter__(bases)), dict(namespace)
    for base in bases:
        if not isinstance(base, type):
            raise TypeError("type() takes classes as bases (write a class statement)")
        check_base(base)
        kind_of_base: type = type(base)
        if kind_of_base is not type and abc.ABCMeta not in ownership.mro(kind_of_base):
            raise ClassRefusedError(f"a subclass of {base.__name__} is made by a class statement (write one)")
    check_namespace(names, module)
    check_body(names, bases)
    check_mixture(name, [c for base in bases for c in ownership.mro(base)])
    for hook in HOOKS & names.keys():
        names[hook] = hooks.DECORATORS[hook](names[hook])
    names.setdefault("__module__", module)
    return hooks.made_with(lambda: metaclass(name, bases, names, **keywords), adopt)


def check_namespace(names: dict[Any, Any], module: Any) -> None:
    """Refuse what a class statement could not have bound."""
    for name, value in names.items():
        if type(name) is not str:
            raise ClassRefusedError(f"a class's names are plain strings, not {type(name).__name__} objects")
        if name.startswith(RESERVED_PREFIX):
            raise ClassRefusedError(f"{name} begins with {RESERVED_PREFIX}, which is reserved")
        if name == "__module__":
            if type(value) is not str or value != module:
                raise ClassRefusedError("__module__ is the program's own (leave it out)")
        elif name in {"__qualname__", "__annotations__"}:
            if type(value) is not (str if name == "__qualname__" else dict):
                raise ClassRefusedError(f"{name} has a plain value (leave it out)")
        elif (
            private_names.is_dunder(name)
            and name in SPECIAL_NAMES
            and name not in BINDABLE_DUNDERS | CLASS_BODY_NAMES
            and not (name in HOOKS and _is_method(value))
        ):
            raise ClassRefusedError(
                f"{name} may not be defined here ({METHODS_REFUSED.get(name, 'choose another name')})"
            )


def _is_method(value: Any) -> bool:
    """Whether a hook is a function of the program's."""
    if type(value) is classmethod:
        value = value.__func__
    return ownership.is_own_function(value)


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
    if not isinstance(base, type):
        raise ClassRefusedError(
            f"a {type(base).__name__} object cannot be a base class (inherit from a class)"
        )
    if any(base is facade for facade in ownership.metaclasses) or issubclass(base, type):
        raise ClassRefusedError("a metaclass cannot be defined (use a class decorator)")
    if base in FORBIDDEN_BASES or base in ownership.HIDDEN_TYPES:
        raise ClassRefusedError(f"{base.__name__} cannot be a base class (keep one as an attribute instead)")


def check_body(written: Iterable[str], bases: tuple[Any, ...]) -> None:
    """Refuse a class body that binds a private name of a library base: it would steer the base's methods."""
    names = [name for name in written if private_names.is_private(name)]
    if not names:
        return
    for base in bases:
        if isinstance(base, type) and base not in ownership.own:
            for name in names:
                if (
                    name in ownership.foreign_names(base)
                    and not ownership.is_open(base, name)
                    and not ownership.is_open_to_subclasses(base, name)
                ):
                    raise ClassRefusedError(
                        f"{name} is private to {base.__name__}, a base of this class (choose another name)"
                    )


def check_mixture(name: str, bases: list[type]) -> None:
    """Refuse, before a class is made, what its bases bring against each other.

    Making a class may run the program's code with an object of it (an enum's members are such), and a class
    that was seen cannot be refused any more.

    Args:
        name: the class to be.
        bases: its bases, and theirs.
    """
    foreign: set[str] = set()
    for base in bases:
        if not ownership.is_own_class(base):
            foreign |= ownership.foreign_names(base)
    if not foreign:
        return
    for sole in ownership.SOLE_BASES:
        if sole in bases and (extra := foreign - ownership.foreign_names(sole) - CLASS_PRIVATE):
            raise _two_bases(name, sole, extra)
    for base in bases:
        if ownership.is_own_class(base):
            _check_base_of(name, base, foreign, bases)


def _two_bases(name: str, sole: type, extra: Collection[str]) -> ClassRefusedError:
    return ClassRefusedError(
        f"{name} cannot inherit from {sole.__name__} and from a class with {min(extra)} "
        "(keep one of them as an attribute)"
    )


def _check_base_of(name: str, base: type, foreign: Collection[str], bases: Collection[type]) -> None:
    """Refuse private names of library bases in a base of the program's."""
    names = ownership.class_dict(base)
    written = {*names.get("__annotations__", ()), *names.get("__dataclass_fields__", ())}
    written |= {each for each in names if each not in ownership.foreign_names(base)}
    for each in sorted(each for each in written if type(each) is str and each in foreign):
        if not any(ownership.is_open(b, each) or ownership.is_open_to_subclasses(b, each) for b in bases):
            raise ClassRefusedError(
                f"{each} of {base.__name__} is private to a library base of {name} (choose another name)"
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
        if (
            private_names.is_dunder(name)
            and name in SPECIAL_NAMES
            and type(value) is types.MemberDescriptorType
        ):
            raise ClassRefusedError(f"__slots__ may not name {name} (choose another name)")
    reentry.watch_class(cls)
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
            raise _two_bases(cls.__name__, sole, extra)
    for base in ownership.mro(cls):
        if base is not cls and not ownership.is_own_class(base):
            continue
        names = ownership.class_dict(base)
        written = {*names.get("__annotations__", ()), *names.get("__dataclass_fields__", ())}
        written |= {name for name, value in names.items() if type(value) is types.MemberDescriptorType}
        if base is not cls:
            ownership.mix(base, foreign)
            written |= {name for name in names if name not in ownership.foreign_names(base)}
        for name in sorted(written & foreign):
            if not (ownership.is_open(cls, name) or ownership.is_open_to_subclasses(cls, name)):
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
