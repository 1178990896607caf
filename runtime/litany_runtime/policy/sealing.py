"""Library classes that nobody can change.

Attribute stores are left alone for speed, so `pathlib.Path.exists = mine` would reach the class that the
runtime itself may use in the same process. The interpreter has a flag for classes whose attributes cannot be
set (`Py_TPFLAGSIMMUTABLETYPE`, the one that protects `int` and `str`), but no Python-level way to give it to
a class that exists. Setting it costs one word of memory per class, once, in the zygote, and nothing
afterwards; the alternative, a guard on every attribute store, would cost every program.

The word is found, not assumed: its value must equal `cls.__flags__`, and the result is proven on a class
of our own before any other is touched.
"""

from __future__ import annotations

import ctypes
import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

IMMUTABLE = 1 << 8
"""`Py_TPFLAGS_IMMUTABLETYPE`."""

_HEAP = 1 << 9
_WORDS = 64
"""How far into a type object the flags are looked for, in machine words; they stand in the 22nd."""

_ABSTRACT = 1 << 20
_VERSION_TAG = 1 << 19


class SealError(RuntimeError):
    """Classes cannot be sealed on this interpreter."""


class _Probe:
    attribute = 1


def _find_offset() -> int:
    size = ctypes.sizeof(ctypes.c_ulong)
    for word in range(_WORDS):
        at = ctypes.c_ulong.from_address(id(_Probe) + word * size)
        if at.value != _Probe.__flags__:
            continue
        before = at.value
        at.value = before | IMMUTABLE
        sealed = _Probe.__flags__ == before | IMMUTABLE and not _can_change(_Probe)
        at.value = before
        if sealed and _can_change(_Probe):
            return word * size
    raise SealError("no way was found to seal library classes on this interpreter")


_offset: list[int] = []


def offset() -> int:
    """Where a type object keeps its flags, in bytes.

    Raises:
        SealError: not where it is expected.
    """
    if not _offset:
        _offset.append(_find_offset())
    return _offset[0]


def _can_change(cls: type) -> bool:
    try:
        cls.attribute = 1  # type: ignore[attr-defined]
    except TypeError:
        return False
    return True


class Sealer:
    """Seals classes; make one in the zygote, before the first fork.

    Raises:
        SealError: the interpreter's classes have no flag where one is expected.
    """

    def __init__(self) -> None:
        self._offset = offset()

    def seal(self, classes: Iterable[type]) -> int:
        """Seal classes made by Python code; returns how many were open before."""
        count = 0
        for cls in classes:
            flags = cls.__flags__
            if flags & _HEAP and not flags & IMMUTABLE:
                at = ctypes.c_ulong.from_address(id(cls) + self._offset)
                at.value |= IMMUTABLE
                count += 1
        return count

    def seal_everything(self, keep_open: frozenset[type] = frozenset()) -> int:
        """Seal every class there is, but for some."""
        return self.seal([c for c in gc.get_objects() if issubclass(type(c), type) and c not in keep_open])
