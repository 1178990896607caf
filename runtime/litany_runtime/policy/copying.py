"""`copy` and `deepcopy`, whose protocol would run what the program put where a class's methods belong.

Copying asks an object how to make it anew and does as it is told: call this, set those attributes there.
The library asks the object itself, so an attribute named `__reduce_ex__` in an instance's dict answers in
place of the class, and a `__new__` that returns some other object has that object's attributes set. Here
the class is asked, state is set on an object of the same class only, and by the rules of the source.
"""

from __future__ import annotations

import builtins
import collections
import copy
from typing import TYPE_CHECKING, Any

from litany_runtime.policy import guards, ownership
from litany_runtime.policy.names import PLAIN_ATTRIBUTES, SPECIAL_NAMES, STORABLE_DUNDERS
from litany_runtime.policy.private_names import is_dunder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_missing = object()
REDUCERS = frozenset({"__reduce__", "__reduce_ex__"})
STEERING = REDUCERS | frozenset(
    """
    __class__ __dict__ __getattribute__ __getnewargs__ __getnewargs_ex__ __getstate__ __init__ __new__
    __setattr__ __setstate__ __slots__
    """.split()
)
"""Names that the protocol looks for and that only a class may answer to."""

HARMLESS = (
    STORABLE_DUNDERS
    | PLAIN_ATTRIBUTES
    | {"__orig_class__", "__annotations__", "__type_params__", "__objclass__", "__dataclass_fields__"}
) - STEERING
"""Dunder names that an object of the program may carry; the last few are the library's own doing."""


def instance_dict(obj: Any) -> dict[Any, Any]:
    """An object's own dict, or an empty one; no code of the object's class runs."""
    try:
        found = object.__getattribute__(obj, "__dict__")
    except (AttributeError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def check_keys(kind: type, names: Iterable[Any]) -> None:
    """Refuse attribute names that would answer for a class.

    Args:
        kind: the type of the object that has the attributes. The program's own has what the program gave it;
            a library's has dunder names of its library's too.
        names: the names.

    Raises:
        TypeError: there is one.
    """
    programs = ownership.is_own_class(kind) or kind in ownership.DATA_HOLDERS
    for name in names:
        if type(name) is not str:
            raise TypeError(f"an object with an attribute named by a {type(name).__name__} cannot be copied")
        if is_dunder(name) and (name in SPECIAL_NAMES - HARMLESS if programs else name in STEERING):
            raise TypeError(
                f"an object with an attribute named {name} cannot be copied (choose another name for it)"
            )


def _getattr(obj: Any, name: str, default: Any = _missing, /) -> Any:
    """What `copy` reads attributes with: how to reduce an object is its class's to say."""
    if name in REDUCERS and not isinstance(obj, type):
        check_keys(type(obj), instance_dict(obj))
        method = builtins.getattr(type(obj), name)
        return lambda *protocol: method(obj, *protocol)
    if default is _missing:
        return builtins.getattr(obj, name)
    return builtins.getattr(obj, name, default)


def _own_method(kind: type, name: str) -> bool:
    """Whether a method of a class is the program's."""
    for base in ownership.mro(kind):
        if name in ownership.class_dict(base):
            return ownership.is_own_class(base)
    return False


def _check_state(x: Any, y: Any, state: Any) -> None:
    """Refuse to set on `y` what the program could not set itself."""
    kind = type(x)
    if type(y) is not kind and ownership.is_own_class(kind):
        raise TypeError(
            f"the copy of a {kind.__name__} is a {type(y).__name__}: its state cannot be set "
            "(let __new__ return an object of its own class, or define __copy__)"
        )
    parts = state if type(state) is tuple else (state,)
    for part in parts:
        if isinstance(part, dict):
            check_keys(kind, part)
            if _own_method(kind, "__getstate__"):
                for name in part:
                    guards.check_store(y, name)


def _reconstruct(
    x: Any,
    memo: dict[int, Any] | None,
    func: Callable[..., Any],
    args: Any,
    state: Any = None,
    listiter: Any = None,
    dictiter: Any = None,
    *,
    deepcopy: Callable[..., Any] = copy.deepcopy,
) -> Any:
    """What `copy` makes an object anew with."""
    deep = memo is not None
    y = func(*((deepcopy(arg, memo) for arg in args) if deep else args))
    if memo is not None:
        memo[id(x)] = y
    if state is not None:
        _check_state(x, y, state)
        if deep and type(state) is dict and type(x) not in ownership.own:
            # Item by item: the memo is the program's to read, and a library object's dict is not.
            state = {name: deepcopy(value, memo) for name, value in state.items()}
        elif deep:
            state = deepcopy(state, memo)
        _set_state(y, state)
    for item in listiter or ():
        y.append(deepcopy(item, memo) if deep else item)
    for key, value in dictiter or ():
        if deep:
            y[deepcopy(key, memo)] = deepcopy(value, memo)
        else:
            y[key] = value
    return y


def _set_state(y: Any, state: Any) -> None:
    kind = type(y)
    if hasattr(kind, "__setstate__"):
        if _own_method(kind, "__setstate__") and kind not in ownership.own and isinstance(state, dict):
            closed = ownership.foreign_names(kind)
            state = {k: v for k, v in state.items() if k not in closed or ownership.is_open(kind, k)}
        kind.__setstate__(y, state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    if state is not None:
        check_keys(kind, state)
        instance_dict(y).update(state)
    for name, value in (slots or {}).items():
        object.__setattr__(y, name, value)


def mend() -> None:
    """Make the library copy so. Before anything is sealed."""
    library: Any = copy
    library.getattr = _getattr
    library._reconstruct = _reconstruct
    for cls in (collections.UserDict, collections.UserList):
        _mend_copy_method(cls)


def _mend_copy_method(cls: Any) -> None:
    original = cls.__copy__

    def copied(self: Any) -> Any:
        """A shallow copy; the original would fill the dict of whatever the class's `__new__` returned."""
        check_keys(type(self), instance_dict(self))
        if _own_method(type(self), "__new__"):
            raise TypeError(
                f"a {type(self).__name__} with a __new__ of its own cannot be copied (define __copy__)"
            )
        return original(self)

    cls.__copy__ = copied
