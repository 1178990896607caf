"""Library names a program gets another object for: those that read, set or make by a name they are given."""

from __future__ import annotations

import _string  # type: ignore[import-not-found] # typeshed has no stub of it
import dataclasses
import functools
import operator
import types
import typing
from typing import TYPE_CHECKING, Any

from litany_runtime.policy import (
    builtin_names,
    classes,
    copying,
    database,
    doctests,
    guards,
    hooks,
    inspection,
    messages,
    ownership,
    surroundings,
    testing,
    views,
)
from litany_runtime.policy.names import BINDABLE_DUNDERS, INNARDS, LOOKED_AT, RESERVED_PREFIX
from litany_runtime.policy.private_names import is_dunder, is_private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


def _is_plain(name: object) -> bool:
    """Whether a name reads the same with no guard."""
    return type(name) is str and not name.startswith("_") and name not in LOOKED_AT and name not in INNARDS


# -- operator --------------------------------------------------------------------------------------


def attrgetter(*names: Any, **keywords: Any) -> Callable[[Any], Any]:
    """Return a callable that fetches attributes by their names, dots included."""
    if keywords:
        raise TypeError("attrgetter() takes no keyword arguments")
    for name in names:
        if type(name) is not str:
            raise TypeError("attribute name must be a string")
    if names and all(_is_plain(part) for name in names for part in name.split(".")):
        return operator.attrgetter(*names)
    if not names:
        raise TypeError("attrgetter expected 1 argument, got 0")
    paths = [name.split(".") for name in names]

    def one(obj: Any, path: list[str]) -> Any:
        for part in path:
            obj = guards.read(obj, part)
        return obj

    def get(*given: Any, **keywords: Any) -> Any:
        builtin_names.check_call("attrgetter", given, keywords, 1, 1)
        obj = given[0]
        return one(obj, paths[0]) if len(paths) == 1 else tuple(one(obj, path) for path in paths)

    return get


def methodcaller(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """Return a callable that calls a method by its name."""
    if not args:
        raise TypeError("methodcaller needs at least one argument, the method name")
    name, *args = args  # type: ignore[assignment]
    if type(name) is not str:
        raise TypeError("method name must be a string")
    if _is_plain(name):
        return operator.methodcaller(name, *args, **kwargs)

    def call(*given: Any, **keywords: Any) -> Any:
        builtin_names.check_call("methodcaller", given, keywords, 1, 1)
        return guards.read(given[0], name)(*args, **kwargs)

    return call


# -- functools -------------------------------------------------------------------------------------


def update_wrapper(
    wrapper: Any,
    wrapped: Any,
    assigned: Any = functools.WRAPPER_ASSIGNMENTS,
    updated: Any = functools.WRAPPER_UPDATES,
) -> Any:
    """Make a wrapper look like the function it wraps."""
    if not (
        ownership.is_own_function(wrapper)
        or ownership.is_own_class(type(wrapper))
        or isinstance(wrapper, functools.partial)
    ):
        raise TypeError("update_wrapper() changes functions of the program only")
    wanted = [name for name in assigned if type(name) is str and name in functools.WRAPPER_ASSIGNMENTS]
    if len(wanted) != len(list(assigned)) or tuple(updated) not in {(), functools.WRAPPER_UPDATES}:
        raise ValueError("update_wrapper() copies the usual names only (leave out assigned= and updated=)")
    if ownership.is_own_class(type(wrapper)):  # an object of the program may have its own idea of being set
        wanted = [name for name in wanted if name in {"__name__", "__qualname__", "__doc__"}]
        updated = ()
    functools.update_wrapper(wrapper, wrapped, tuple(wanted), ())
    if updated:
        # A wrapped object's dict may hold what its library put there, `__self__` for one.
        copied = copying.instance_dict(wrapped)
        names = {k: v for k, v in copied.items() if type(k) is str and not is_dunder(k)}
        names.pop("__wrapped__", None)
        copying.instance_dict(wrapper).update(names)
    return wrapper


def wraps(
    wrapped: Any, assigned: Any = functools.WRAPPER_ASSIGNMENTS, updated: Any = functools.WRAPPER_UPDATES
) -> Callable[[Any], Any]:
    """Decorate a wrapper to look like the function it wraps."""
    return functools.partial(update_wrapper, wrapped=wrapped, assigned=assigned, updated=updated)


# -- dataclasses -----------------------------------------------------------------------------------


def dataclass(cls: Any = None, /, **options: Any) -> Any:
    """Make a class of the program a dataclass."""

    def decorate(cls: Any) -> Any:
        if not (isinstance(cls, type) and ownership.is_own_class(cls)):
            raise TypeError("dataclass() decorates classes of the program only")
        if cls in ownership.impure:
            classes.check_inherited(cls)

        def adopt(made: Any) -> Any:
            names = ownership.class_dict(made).get("__match_args__", ())
            if any(is_private(name) for name in names):
                # A pattern reads these with no guard; private fields are matched by keyword.
                public = tuple(name for name in names if not is_private(name))
                type.__setattr__(made, "__match_args__", public)
            return made if made is cls else classes.adopt(made)

        return hooks.made_with(lambda: dataclasses.dataclass(**options)(cls), adopt)

    return decorate if cls is None else decorate(cls)


def make_dataclass(
    cls_name: Any, fields: Iterable[Any], *, bases: Any = (), namespace: Any = None, **options: Any
) -> Any:
    """Make a dataclass from names."""
    options.pop("module", None)
    listed = list(fields)
    for item in listed:
        name = item if isinstance(item, str) else item[0]
        if type(name) is not str or name.startswith("_"):
            raise TypeError("make_dataclass() takes public field names only")
    for name in namespace or ():
        if type(name) is not str or name.startswith(RESERVED_PREFIX):
            raise TypeError(f"make_dataclass() cannot define {name}")
        if is_dunder(name) and name not in BINDABLE_DUNDERS:
            raise TypeError(f"make_dataclass() cannot define {name}")
    bases = tuple(bases)
    for base in types.resolve_bases(bases):
        classes.check_base(base)
    return hooks.made_with(
        lambda: dataclasses.make_dataclass(cls_name, listed, bases=bases, namespace=namespace, **options),
        classes.adopt,
    )


# -- string ----------------------------------------------------------------------------------------


class Formatter:
    """`string.Formatter`, whose fields read attributes by the rules of the program's source.

    Stands alone: a subclass of the library's would lead to the original's methods.
    """

    def format(self, format_string: str, /, *args: Any, **kwargs: Any) -> str:
        """Format a string."""
        return self.vformat(format_string, args, kwargs)

    def vformat(self, format_string: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        """Format a string with given arguments."""
        used: set[int | str] = set()
        result, _ = self._expand(format_string, args, kwargs, used, 2, 0)
        self.check_unused_args(used, args, kwargs)
        return result

    def _expand(
        self, text: str, args: Any, kwargs: Any, used: set[int | str], depth: int, auto: int | bool
    ) -> tuple[str, int | bool]:
        if depth < 0:
            raise ValueError("Max string recursion exceeded")
        parts = []
        for literal, field, spec, conversion in self.parse(text):
            if literal:
                parts.append(literal)
            if field is None:
                continue
            if field == "":
                if auto is False:
                    raise ValueError(
                        "cannot switch from manual field specification to automatic field numbering"
                    )
                field, auto = str(auto), auto + 1
            elif field.isdigit():
                if auto:
                    raise ValueError(
                        "cannot switch from manual field specification to automatic field numbering"
                    )
                auto = False
            value, first = self.get_field(field, args, kwargs)
            used.add(first)
            value = self.convert_field(value, conversion)
            spec, auto = self._expand(spec or "", args, kwargs, used, depth - 1, auto)
            parts.append(self.format_field(value, spec))
        return "".join(parts), auto

    def parse(self, format_string: str) -> Iterable[tuple[str, str | None, str | None, str | None]]:
        """Split a format string into literals and fields."""
        return _string.formatter_parser(format_string)  # type: ignore[no-any-return]

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
        """The value a field names, and the argument it starts from."""
        first, rest = _string.formatter_field_name_split(field_name)
        value = self.get_value(first, args, kwargs)
        for is_attribute, name in rest:
            value = guards.read(value, name) if is_attribute else value[name]
        return value, first

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """An argument by its number or name."""
        return args[key] if isinstance(key, int) else kwargs[key]

    def check_unused_args(self, used_args: Any, args: Any, kwargs: Any) -> None:
        """Hook: complain about arguments that no field used."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Format one value."""
        return format(value, format_spec)

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        """Apply `!s`, `!r` or `!a`."""
        if conversion is None:
            return value
        converters: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}
        if conversion not in converters:
            raise ValueError(f"Unknown conversion specifier {conversion!s}")
        return converters[conversion](value)


Formatter.__module__ = "string"

# -- typing ----------------------------------------------------------------------------------------


def get_origin(tp: Any) -> Any:
    """The class a parametrised type was made from."""
    origin = typing.get_origin(tp)
    return ownership.visible_type(origin) if isinstance(origin, type) and issubclass(origin, type) else origin


def get_type_hints(obj: Any, globalns: Any = None, localns: Any = None, include_extras: bool = False) -> Any:
    """The annotations of a class or function, names in text resolved among the program's own."""
    hints = typing.get_type_hints(obj, globalns, localns, include_extras)
    return {
        name: ownership.visible_type(hint) if isinstance(hint, type) and issubclass(hint, type) else hint
        for name, hint in hints.items()
    }


def stand_ins() -> dict[str, Any]:
    """`module.name` → what a program gets under that name."""
    listed = {
        "operator.attrgetter": attrgetter,
        "operator.methodcaller": methodcaller,
        "functools.update_wrapper": update_wrapper,
        "functools.wraps": wraps,
        "dataclasses.dataclass": dataclass,
        "dataclasses.make_dataclass": make_dataclass,
        "abc.ABCMeta": builtin_names.ABCMeta,
        "string.Formatter": Formatter,
        "typing.get_origin": get_origin,
        "typing.get_type_hints": get_type_hints,
        "io.open": builtin_names.open_,
        "sqlite3.connect": database.connect,
        "sqlite3.Connection": database.Connection,
        **inspection.stand_ins(),
        **doctests.stand_ins(),
        **messages.stand_ins(),
        **surroundings.stand_ins(),
        **testing.stand_ins(),
        **views.stand_ins(),
    }
    for path, value in listed.items():
        if isinstance(value, types.FunctionType) and value is not builtin_names.open_:
            value.__module__, _, value.__name__ = path.rpartition(".")
            value.__qualname__ = value.__name__
    return listed
