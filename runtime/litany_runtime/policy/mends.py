"""Changes to the library itself, made once in the zygote, before anything is sealed.

A stand-in is not enough where the library's own code uses the dangerous function, or where a subclass would
find the original behind the stand-in. Each change here names the way it closes.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import builtins
import collections
import contextlib
import dataclasses
import enum
import functools
import importlib
import logging
import pprint
import sys
import tarfile
import tempfile
import types
import typing
from typing import TYPE_CHECKING, Any

from litany_runtime.policy import copying, evaluation, guards, inspection, loops, messages, ownership, testing
from litany_runtime.policy.names import (
    BINDABLE_DUNDERS,
    INNARDS,
    LOOKED_AT,
    PLAIN_ATTRIBUTES,
    RESERVED_PREFIX,
)
from litany_runtime.policy.private_names import is_dunder, is_private
from litany_runtime.policy.refusals import RefusedError, refuse

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType


def mend(program_builtins: dict[str, Any]) -> frozenset[CodeType]:
    """Apply every change. Once per process.

    Args:
        program_builtins: the builtins that annotations in text may use.

    Returns:
        The code of the library functions that may run code made from text.
    """
    for module in (argparse, ast, pprint, tarfile, tempfile):
        _mend_attribute_functions(module)
    _mend_dataclass_reads()
    copying.mend()
    inspection.mend()
    _mend_redirections()
    _mend_cached_properties()
    _mend_dataclass_fields()
    _mend_enum_from_names()
    _mend_enum_members()
    _mend_format_methods()
    _mend_event_loops()
    loops.mend()
    messages.mend()
    testing.mend()
    evaluate = _mend_annotations(program_builtins)
    evaluators: list[Callable[..., Any]] = [
        collections.namedtuple,  # noqa: PYI024 - the function itself
        _any(importlib)._bootstrap._call_with_frames_removed,
        evaluate,
    ]
    _any(dataclasses).exec = _run_for_dataclasses
    return frozenset(function.__code__ for function in evaluators)


def _any(thing: Any) -> Any:
    """The library's private parts have no declared types."""
    return thing


def _mend_attribute_functions(module: Any) -> None:
    """Some modules get and set attributes whose names the program chooses (`dest=`, `_fields`, `OPEN_METH`).

    A module's globals come before the builtins, so the names mean these functions there from now on.
    """
    missing = object()

    def is_judged(obj: Any, name: str) -> bool:
        guards.check_name(name)
        if is_dunder(name):
            return name not in PLAIN_ATTRIBUTES
        return name in INNARDS or name in LOOKED_AT or (is_private(name) and not is_modules(obj, name))

    def is_modules(obj: Any, name: str) -> bool:
        """Whether a private name is the module's own, on an object of a class of the module's."""
        return any(
            base.__module__ == module.__name__ and name in ownership.foreign_names(base)
            for base in ownership.mro(type(obj))
            if not ownership.is_own_class(base)
        )

    def read(obj: Any, name: str, default: Any = missing, /) -> Any:
        try:
            return guards.read(obj, name) if is_judged(obj, name) else builtins.getattr(obj, name)
        except AttributeError:
            if default is missing:
                raise
            return default

    def write(obj: Any, name: str, value: Any, /) -> None:
        if is_judged(obj, name) or is_dunder(name):
            guards.check_store(obj, name)
        builtins.setattr(obj, name, value)

    def delete(obj: Any, name: str, /) -> None:
        if is_judged(obj, name) or is_dunder(name):
            guards.check_store(obj, name)
        builtins.delattr(obj, name)

    module.getattr, module.setattr, module.delattr = read, write, delete


KEPT_ON_CLASSES = frozenset({"__dataclass_fields__", "__dataclass_params__"})
"""What `dataclasses` keeps on the classes it made; an instance's own attribute must not answer for it."""


def _mend_dataclass_reads() -> None:
    """`replace` and `asdict` read the attributes that an object's fields name, whoever made the fields."""

    def read(obj: Any, name: str, *default: Any) -> Any:
        guards.check_name(name)
        if name in KEPT_ON_CLASSES:
            return builtins.getattr(obj if isinstance(obj, type) else type(obj), name, *default)
        if is_private(name) or name in INNARDS or name in LOOKED_AT:
            try:
                return guards.read(obj, name)
            except RefusedError:
                raise
            except AttributeError:
                if not default:
                    raise
                return default[0]
        return builtins.getattr(obj, name, *default)

    _any(dataclasses).getattr = read


def _mend_redirections() -> None:
    """`redirect_stdout` sets the attribute of `sys` that its `_stream` names, whoever defined that."""
    library = _any(contextlib)

    def read(obj: Any, name: str, *default: Any) -> Any:
        _check_stream(obj, name)
        return builtins.getattr(obj, name, *default)

    def write(obj: Any, name: str, value: Any, /) -> None:
        _check_stream(obj, name)
        builtins.setattr(obj, name, value)

    library.getattr, library.setattr = read, write


def _check_stream(obj: Any, name: Any) -> None:
    if obj is sys and (type(name) is not str or name not in {"stdout", "stderr"}):
        raise refuse(str(name), "a redirection is for a stream", "use redirect_stdout or redirect_stderr")


def _mend_cached_properties() -> None:
    """A cached property reads and writes an instance's dict at a name that anybody may set (`attrname`)."""
    cls = _any(functools).cached_property
    original = cls.__get__

    def get(self: Any, instance: Any, owner: Any = None) -> Any:
        if instance is not None:
            name = self.attrname
            guards.check_name(name) if name is not None else None
            if not any(ownership.class_dict(c).get(name) is self for c in ownership.mro(type(instance))):
                raise TypeError("a cached_property is read on objects of the class that defines it")
        return original(self, instance, owner)

    cls.__get__ = get


def _mend_dataclass_fields() -> None:
    """`dataclass` writes field names into source text; `fields(C)[0].name = …` would write code there."""
    slot: Any = dataclasses.Field.__dict__["name"]

    class Field(dataclasses.Field[Any]):
        __slots__ = ()

        @property
        def name(self) -> Any:
            """The field's name."""
            return slot.__get__(self)

        @name.setter
        def name(self, value: Any) -> None:
            if value is not None and not (
                type(value) is str
                and value.isidentifier()
                and not is_dunder(value)
                and value not in INNARDS
                and not value.startswith(RESERVED_PREFIX)
            ):
                raise ValueError("a field's name is an identifier of the program's own")
            if getattr(self, "name", None) is not None and is_private(str(value)):
                raise ValueError("a field cannot be given a private name later (name it so in its class)")
            slot.__set__(self, value)

    Field.__module__, Field.__qualname__ = "dataclasses", "Field"
    _any(dataclasses).Field = Field


def _mend_enum_from_names() -> None:
    """`Enum("E", {...})` makes a class whose special names no syntax rule has seen."""
    create = _any(enum.EnumMeta)._create_

    def _create_(cls: Any, class_name: Any, names: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(names, str):
            names = [(name, names[name]) for name in names] if isinstance(names, dict) else list(names)
            for item in names:
                name = item if isinstance(item, str) else item[0]
                if type(name) is not str or (
                    name.startswith("__") and name not in BINDABLE_DUNDERS - {"__match_args__"}
                ):
                    raise ValueError(
                        f"an Enum made from names cannot define {name!r} (write a class statement)"
                    )
        elif "__" in names:
            raise ValueError("an Enum made from names cannot define special names (write a class statement)")
        return create(cls, class_name, names, *args, **kwargs)

    _any(enum.EnumMeta)._create_ = _create_


def _mend_enum_members() -> None:
    """A member is named, and made anew with `__init__`, whatever object the class's `__new__` returned."""
    find = _any(enum.EnumMeta)._find_new_

    def _find_new_(cls: Any, *args: Any) -> Any:
        new, *rest = find(*args)
        if _is_a_librarys_new(new):
            return (new, *rest)

        def new_member(enum_class: Any, *values: Any, **kwargs: Any) -> Any:
            member = new(enum_class, *values, **kwargs)
            if type(member) is not enum_class:
                raise TypeError(
                    f"__new__ of {enum_class.__name__} must return a member (object.__new__(cls))"
                )
            return member

        new_member.__name__ = "__new__"
        return (new_member, *rest)

    _any(enum.EnumMeta)._find_new_ = classmethod(_find_new_)


def _run_for_dataclasses(text: str, globals: Any, names: dict[str, Any]) -> None:
    """`dataclass` makes functions from text, in the globals of the module that the class names.

    The interpreter would add the library's builtins to a dict that has none. And a class may name any module.
    """
    code: Any = compile(text, "<string>", "exec", dont_inherit=True)
    if globals is not ownership.program_globals():
        globals = {}
    evaluation.run_in(exec, code, globals, names)


def _is_a_librarys_new(function: Any) -> bool:
    if type(function) is types.BuiltinFunctionType:
        return function.__name__ == "__new__" and isinstance(function.__self__, type)
    return (
        type(function) is types.FunctionType
        and function.__name__ == "__new__"
        and not ownership.is_own_function(function)
    )


def _mend_format_methods() -> None:
    """Library methods that call `str.format` with a text the program gave."""

    def format(self: Any, /, *args: Any, **kwargs: Any) -> str:
        return guards.formatting.format(str(self.data), args, kwargs)

    def format_map(self: Any, mapping: Any) -> str:
        return guards.formatting.format_map(str(self.data), mapping)

    _any(collections.UserString).format = format
    _any(collections.UserString).format_map = format_map

    def values(style: Any, record: Any) -> dict[str, Any]:
        """A record's attributes. The original hands the dict itself to `defaults.__or__`, of any object."""
        found = record.__dict__ if type(record) is logging.LogRecord else guards.attribute(record, "__dict__")
        return {**(style._defaults or {}), **found}

    def _format(self: Any, record: Any) -> str:
        return guards.formatting.format(str(self._fmt), (), values(self, record))

    _any(logging.StrFormatStyle)._format = _format
    _any(logging.PercentStyle)._format = lambda self, record: self._fmt % values(self, record)
    _any(logging.StringTemplateStyle)._format = lambda self, record: self._tpl.substitute(
        values(self, record)
    )


LOOP_METHODS = """
    connect_accepted_socket connect_read_pipe connect_write_pipe create_connection create_datagram_endpoint
    create_server
    create_unix_connection create_unix_server getaddrinfo getnameinfo sendfile sock_accept sock_connect
    sock_recv
    sock_recv_into sock_recvfrom sock_recvfrom_into sock_sendall sock_sendfile sock_sendto start_tls
    subprocess_exec
    subprocess_shell
""".split()
"""What an event loop does with sockets, pipes and processes."""


def _mend_event_loops() -> None:
    """An event loop takes any object with a `fileno()` for a pipe, the wire's number among them."""

    async def refused(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise PermissionError("a program has no network, pipes or processes (call a tool from litany_tools)")

    for cls in asyncio.SelectorEventLoop.__mro__:
        for name in LOOP_METHODS:
            if name in vars(cls):
                setattr(cls, name, refused)


def _mend_annotations(program_builtins: dict[str, Any]) -> Callable[..., Any]:
    """`get_type_hints` and `singledispatch` evaluate annotations given as text.

    Such a text may name types, their attributes and parameters, from the program's names; what its code names
    is judged like the program's source.
    """

    def evaluate(code: CodeType, globals: Any = None, locals: Any = None) -> Any:
        for name in code.co_names:
            if name.startswith("_") or name in INNARDS or name in LOOKED_AT:
                raise refuse(name, "an annotation in text names types", "write the annotation without quotes")
        if any(isinstance(constant, type(code)) for constant in code.co_consts):
            raise refuse("annotation", "an annotation in text names types", "write it without quotes")
        scope = dict(ownership.program_globals())
        for names in (globals, locals):
            if names is not None and "__spec__" not in names:
                scope.update(names)
        scope["__builtins__"] = program_builtins
        return builtins.eval(code, scope)  # noqa: S307 - judged above

    _any(typing).eval = evaluate
    return evaluate
