"""Methods of C types, exchanged in place.

A subclass or a stand-in does not close a way that leads through a C type: `super()` leads behind it, and C
code makes objects of the type itself. So the method is exchanged on the type, where every call meets it. The
interpreter forbids that for types of C with one flag, which is taken away for the moment of the exchange.
"""

from __future__ import annotations

import ctypes
import gc
import types
from typing import TYPE_CHECKING, Any

from litany_runtime.policy import sealing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_parts: dict[type, tuple[ctypes.c_ulong, dict[str, Any]]] = {}


def _parts_of(cls: type) -> tuple[ctypes.c_ulong, dict[str, Any]]:
    """A C type's word of flags, and its dict. Found in the zygote: a child's audit hook refuses to look."""
    if cls not in _parts:
        word = ctypes.c_ulong.from_address(id(cls) + sealing.offset())
        names = gc.get_referents(cls.__dict__)[0]
        if word.value != cls.__flags__ or type(names) is not dict or names.keys() != cls.__dict__.keys():
            raise sealing.SealError(f"the parts of {cls.__name__} are not where they are expected")
        _parts[cls] = word, names
    return _parts[cls]


def amend(cls: type, methods: Mapping[str, Any]) -> None:
    """Put these in place of a C type's own attributes of the same names.

    Raises:
        SealError: this interpreter keeps its types otherwise.
    """
    word, names = _parts_of(cls)
    sealed = word.value & sealing.IMMUTABLE
    word.value &= ~sealing.IMMUTABLE
    try:
        for name, value in methods.items():
            if isinstance(value, types.FunctionType):
                value.__name__, value.__qualname__ = name, f"{cls.__name__}.{name}"
                value.__module__ = cls.__module__
                value.__doc__ = getattr(names.get(name), "__doc__", None)
            names[name] = value  # some versions keep the dict of a type of C where a store does not look
            type.__setattr__(cls, name, value)  # and this lets the interpreter know
    finally:
        word.value |= sealed  # and no other flag: the interpreter has changed its own meanwhile
    if stuck := [name for name, value in methods.items() if cls.__dict__.get(name) is not value]:
        raise sealing.SealError(f"{cls.__name__}.{stuck[0]} cannot be exchanged on this interpreter")


_later: dict[str, list[tuple[type, dict[str, Any]]]] = {}
_armed: set[str] = set()


def amend_when(trigger: str, cls: type, methods: dict[str, Any]) -> None:
    """Exchange methods once `arm(trigger)` is called, in a child whose program needs it.

    What costs time in ordinary programs is left alone in them: these ways need a class of the program with
    special methods that C code calls back.
    """
    _parts_of(cls)
    _later.setdefault(trigger, []).append((cls, methods))


def arm(trigger: str) -> None:
    """Exchange what waits for a trigger; doing it twice changes nothing."""
    if trigger in _armed:
        return
    _armed.add(trigger)
    for cls, methods in _later.get(trigger, ()):
        amend(cls, methods)


class Busy:
    """Objects of C types that are inside a method which runs code of the program.

    C code holds pointers into an object while it calls back. So a method that frees what such a pointer leads
    to is refused on an object that is inside one, from whatever thread: the outer method's next step would
    read freed memory.
    """

    def __init__(self) -> None:
        self._inside: dict[int, int] = {}

    def is_inside(self, obj: object) -> bool:
        """Whether a method of an object is calling back."""
        return id(obj) in self._inside

    def check(self, obj: object) -> None:
        """Refuse to change an object that is inside a method.

        Raises:
            RuntimeError: it is.
        """
        if id(obj) in self._inside:
            raise RuntimeError(f"the {type(obj).__name__} is changed by what its own running method called")

    def enter(self, obj: object) -> None:
        """Note that a method of an object may call back from here on."""
        self._inside[id(obj)] = self._inside.get(id(obj), 0) + 1

    def leave(self, obj: object) -> None:
        """Note that it does not any more."""
        count = self._inside[id(obj)] - 1
        if count:
            self._inside[id(obj)] = count
        else:
            del self._inside[id(obj)]

    def calling(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method that calls back."""

        def called(self_: Any, /, *args: Any, **kwargs: Any) -> Any:
            self.enter(self_)
            try:
                return method(self_, *args, **kwargs)
            finally:
                self.leave(self_)

        return called

    def changing(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method that frees what pointers lead to, and may call back."""

        def changed(self_: Any, /, *args: Any, **kwargs: Any) -> Any:
            self.check(self_)
            self.enter(self_)
            try:
                return method(self_, *args, **kwargs)
            finally:
                self.leave(self_)

        return changed

    def guards(self, cls: type, calling: str = "", changing: str = "") -> dict[str, Any]:
        """Guarded versions of a type's methods, by name, of those it has itself."""
        own = cls.__dict__
        made = {name: self.calling(own[name]) for name in calling.split() if name in own}
        return made | {name: self.changing(own[name]) for name in changing.split() if name in own}
