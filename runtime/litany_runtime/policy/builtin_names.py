"""The builtins of a program: CPython's own, but for those that take a name or make a class or code."""

from __future__ import annotations

import abc
import builtins
import sys
import types
from typing import TYPE_CHECKING, Any, NoReturn

from litany_runtime.policy import attributes, classes, constants, evaluation, groups, guards, hooks, ownership
from litany_runtime.policy.refusals import RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence

PLAIN_BUILTINS = """
    abs aiter all anext any ascii bin bool bytearray bytes callable chr classmethod complex delattr dict dir
    divmod
    enumerate filter float format frozenset getattr hasattr hash hex id input int isinstance issubclass iter
    len list
    map max memoryview min next object oct open ord pow print property range repr reversed round set setattr
    slice
    sorted staticmethod str sum super tuple type vars zip
    True False None Ellipsis NotImplemented __debug__
""".split()
"""Every builtin a program has but exceptions; `guarded` replaces some."""

_missing = object()


class _TypeOfTypes(type):
    """Makes classes by the rules of a class statement, and is still the type of classes for `isinstance`."""

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        if len(args) == 1 and not keywords and cls is type_:
            return ownership.visible_type(type(args[0]))
        frame = sys._getframe(1)
        programs = constants.is_programs(frame.f_code)
        names = frame.f_globals if programs else ownership.program_globals()
        module = names.get("__name__", "builtins")
        if type(module) is not str:
            raise TypeError("__name__ is no string")
        return classes.make_class(ownership.metaclasses[cls], args, keywords, module)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, ownership.metaclasses[cls])

    def __subclasscheck__(cls, subclass: Any) -> bool:
        if any(subclass is facade for facade in ownership.metaclasses):
            subclass = ownership.metaclasses[subclass]
        return issubclass(subclass, ownership.metaclasses[cls])

    def __getitem__(cls, item: Any) -> types.GenericAlias:
        return types.GenericAlias(cls, item)

    def __repr__(cls) -> str:
        name = cls.__name__ if cls is type_ else f"{cls.__module__}.{cls.__name__}"
        return f"<class '{name}'>"


class type_(metaclass=_TypeOfTypes):  # noqa: N801 - the program sees it as `type`
    """type(object) -> the object's type; type(name, bases, dict) -> a new class."""


type_.__name__ = type_.__qualname__ = "type"
type_.__module__ = "builtins"
ownership.facades[type] = type_
ownership.metaclasses[type_] = type


class ABCMeta(metaclass=_TypeOfTypes):
    """The type of abstract classes."""


ABCMeta.__module__, ABCMeta.__qualname__ = "abc", "ABCMeta"
ownership.facades[abc.ABCMeta] = ABCMeta
ownership.metaclasses[ABCMeta] = abc.ABCMeta


def check_call(function: str, given: Sequence[Any], keywords: Any, least: int, most: int) -> None:
    """Raise what a builtin written in C says of a wrong number of arguments, or of keywords."""
    if keywords:
        raise TypeError(f"{function}() takes no keyword arguments")
    count = (
        len(given) if _missing not in map(_is_missing, given) else [*map(_is_missing, given)].index(_missing)
    )
    if not least <= count <= most:
        bound = least if count < least else most
        kind = "" if least == most else "at least " if count < least else "at most "
        raise TypeError(f"{function} expected {kind}{bound} argument{'s' * (bound != 1)}, got {count}")


def _is_missing(value: Any) -> Any:
    """The mark itself or nothing: an object of the program is not asked whether it is equal."""
    return _missing if value is _missing else None


def getattr_(
    obj: Any = _missing, name: Any = _missing, default: Any = _missing, /, *more: Any, **keywords: Any
) -> Any:
    """getattr(object, name[, default]) -> value."""
    if name is _missing or more or keywords:
        check_call("getattr", (obj, name, default, *more), keywords, 2, 3)
    if default is _missing:
        return guards.read(obj, name)
    try:
        return guards.read(obj, name)
    except RefusedError:
        raise
    except AttributeError:
        return default


def setattr_(
    obj: Any = _missing, name: Any = _missing, value: Any = _missing, /, *more: Any, **keywords: Any
) -> None:
    """setattr(object, name, value) sets an attribute."""
    if value is _missing or more or keywords:
        check_call("setattr", (obj, name, value, *more), keywords, 3, 3)
    guards.write(obj, name, value)


def delattr_(obj: Any = _missing, name: Any = _missing, /, *more: Any, **keywords: Any) -> None:
    """delattr(object, name) deletes an attribute."""
    if name is _missing or more or keywords:
        check_call("delattr", (obj, name, *more), keywords, 2, 2)
    guards.delete(obj, name)


def vars_(obj: Any = _missing, /, *more: Any, **keywords: Any) -> Any:
    """vars(object) -> the object's own attributes."""
    if more or keywords:
        check_call("vars", (obj, *more), keywords, 0, 1)
    if obj is _missing:
        return evaluation.local_names(sys._getframe(1))
    try:
        object.__getattribute__(obj, "__dict__")
    except AttributeError:
        raise TypeError("vars() argument must have __dict__ attribute") from None
    return guards.attribute(obj, "__dict__")


def exit_(code: Any = None) -> NoReturn:
    """Exit the program."""
    sys.exit(code)


def open_(
    file: Any,
    mode: Any = "r",
    buffering: Any = -1,
    encoding: Any = None,
    errors: Any = None,
    newline: Any = None,
    closefd: Any = True,
    opener: Any = None,
) -> Any:
    """Open a file of the worktree and return a stream."""
    if opener is not None:
        raise ValueError("open() takes no opener here (open the path itself)")
    return builtins.open(file, mode, buffering, encoding, errors, newline, closefd)


def guarded() -> dict[str, Any]:
    """The builtins that differ from CPython's."""
    own = {
        "getattr": getattr_,
        "setattr": setattr_,
        "delattr": delattr_,
        "vars": vars_,
        "type": type_,
        "open": open_,
        "exit": exit_,
        "quit": exit_,
        "eval": evaluation.eval_,
        "exec": evaluation.exec_,
        "compile": evaluation.compile_,
        "globals": evaluation.globals_,
        "locals": evaluation.locals_,
        "__build_class__": classes.build_class,
    }
    for name, value in own.items():
        if name != "__build_class__" and isinstance(value, types.FunctionType):
            value.__name__ = value.__qualname__ = name
            value.__module__ = "builtins"
    return own


def program_builtins() -> dict[str, Any]:
    """A program's builtins without `__import__`, which knows its tools."""
    names = {name: getattr(builtins, name) for name in PLAIN_BUILTINS}
    names |= {
        name: value
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    }
    names |= guarded()
    constants.provide(
        {
            attributes.ATTRIBUTE: guards.attribute,
            attributes.PRIVATE: ownership.private,
            attributes.UPDATED: guards.updated,
            attributes.INIT: guards.init,
            attributes.TYPE: type,
            attributes.OWN: ownership.own,
            attributes.CLASS: guards.class_of,
            groups.STAR: groups.Star,
            groups.EVERYTHING: BaseException,
            **{name.strip("_"): decorator for name, decorator in hooks.DECORATORS.items()},
        }
    )
    names["__name__"] = "builtins"
    return names
