"""A look at an object before a looked-at name is read on it: one function for each kind of name.

The rewritten tree calls `attribute` for `names.LOOKED_AT` and `names.LOOKED_AT_DUNDERS`, `private` for
private names that libraries use, `init` and `updated` where a read has no node of its own. `read`, `write`
and `delete` are the same rules for names that are known only when the program runs.
"""

from __future__ import annotations

import configparser
import types
from typing import TYPE_CHECKING, Any

from litany_runtime.policy import evaluation, reentry
from litany_runtime.policy.formatting import Formatting
from litany_runtime.policy.names import (
    INNARDS,
    LOOKED_AT,
    LOOKED_AT_DUNDERS,
    LOOKED_AT_WHEN_SET,
    PLAIN_ATTRIBUTES,
    RESERVED_PREFIX,
    REVIEWED_PRIVATE,
    SPECIAL_NAMES,
    STORABLE_DUNDERS,
)
from litany_runtime.policy.ownership import (
    DATA_HOLDERS,
    HIDDEN_TYPES,
    class_dict,
    foreign_names,
    is_open,
    is_own_class,
    is_own_function,
    mro,
    own,
    private,
    super_class,
    visible_type,
)
from litany_runtime.policy.private_names import is_dunder, is_private
from litany_runtime.policy.refusals import refuse

if TYPE_CHECKING:
    from collections.abc import Callable


def attribute(obj: Any, name: str) -> Any:
    """The value of a looked-at attribute, public or dunder.

    Raises:
        RefusedError: not on this object.
    """
    return _looks.get(name, _own_only)(obj, name)


def updated(obj: Any, name: str) -> Any:
    """Return `obj` when a looked-at name may be set on it, or read and set by `obj.name += value`."""
    if type(obj) in own and not isinstance(obj, (str, AttributeError)) and not is_dunder(name):
        return obj
    raise refuse(
        name, "it is changed on an object that is not the program's own", "keep the value under another name"
    )


def init(obj: Any) -> Any:
    """Return `obj` when its `__init__` may be read: not of what must not be made anew."""
    cls = obj if isinstance(obj, type) else type(obj)
    if cls in HIDDEN_TYPES or issubclass(cls, types.ModuleType):
        raise refuse("__init__", "the object cannot be made anew")
    return obj


def class_of(obj: Any) -> Any:
    """What `obj.__class__` gives."""
    return visible_type(type(obj))


# -- the looks -------------------------------------------------------------------------------------


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

    def format(*args: Any, **kwargs: Any) -> str:
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
        type(value) in SCALARS
        or is_own_class(type(value))
        or (isinstance(value, type) and is_own_class(value))
    ):
        return value
    raise refuse(
        name,
        "the object an AttributeError was raised for may be a library's",
        "e.name tells the attribute, str(e) the rest",
    )


SCALARS = frozenset({type(None), bool, int, float, complex, str, bytes})
PLAIN_TYPES = SCALARS | {list, tuple, dict, set, frozenset}


def _look_mro(obj: Any, name: str) -> Any:
    if isinstance(obj, type) and is_own_class(obj) and name not in class_dict(obj):
        return lambda: [visible_type(c) for c in mro(obj)]
    return _own_only(obj, name)


def _look_code(obj: Any, name: str) -> Any:
    return evaluation.names_in(obj) if type(obj) is evaluation.Code else _own_only(obj, name)


def _look_bases(obj: Any, name: str) -> Any:
    if isinstance(obj, type) and is_own_class(obj):
        bases = mro(obj) if name == "__mro__" else obj.__bases__
        return tuple(visible_type(c) for c in bases)
    raise refuse(name, "only a class of the program tells its bases", "name the class")


def _own_only(obj: Any, name: str) -> Any:
    kind = type(obj)
    if kind in own or isinstance(obj, types.ModuleType):  # a view's names were reviewed
        return getattr(obj, name)
    if is_own_class(kind):
        for base in mro(kind):
            if name in class_dict(base):
                if is_own_class(base):
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
                if is_own_class(base):
                    return getattr(obj, name)
                break
    raise refuse(name, LOOKED_AT.get(name, "it leads from an object into the interpreter"))


LOOKED_AT_ON_INSTANCES = frozenset({"parser", "gen", "opener"})
"""Names that programs give their own instances' attributes."""


def _is_foreign_slot(kind: type, name: str) -> bool:
    return any(hasattr(base, name) for base in mro(kind) if not is_own_class(base))


def _look_dict(obj: Any, name: str) -> Any:
    kind = type(obj)
    if is_own_class(kind) or kind in DATA_HOLDERS:
        names: dict[str, Any] = object.__getattribute__(obj, "__dict__")
        if kind not in own and not foreign_names(kind).isdisjoint(names):
            return {k: v for k, v in names.items() if k not in foreign_names(kind) or is_open(kind, k)}
        return names
    if isinstance(obj, type) and is_own_class(obj):
        return types.MappingProxyType({k: v for k, v in class_dict(obj).items() if _may_show(k, v)})
    if is_own_function(obj):
        return obj.__dict__
    raise refuse(name, f"a {kind.__name__} is not the program's own object", "use its public attributes")


def _may_show(name: str, value: object) -> bool:
    """Whether a class's dict shows an entry: not the descriptors that its library bases put there."""
    if is_dunder(name) and name in SPECIAL_NAMES and name not in PLAIN_ATTRIBUTES:
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


def _look_fields(obj: Any, name: str) -> Any:
    """The fields of a dataclass, from its class and to be read only: `dataclasses` believes the dict."""
    for base in mro(obj if isinstance(obj, type) else type(obj)):
        fields = class_dict(base).get(name)
        if is_own_class(base) and type(fields) is dict:
            return types.MappingProxyType(dict(fields))
    raise AttributeError(f"{type(obj).__name__!r} object has no attribute {name!r}")


def _look_setter(obj: Any, name: str) -> Any:
    """`object.__setattr__(self, 'x', v)` in a frozen class, `super().__setattr__('x', v)` in any."""
    raw = getattr(obj, name)
    if isinstance(obj, type):

        def unbound(target: Any, attribute_name: Any, /, *value: Any) -> None:
            check_store(target, attribute_name)
            _check_target(type(target), name)
            raw(target, attribute_name, *value)

        return unbound
    kind = super_class(obj) if type(obj) is super else type(obj)
    _check_target(kind, name)

    def bound(attribute_name: Any, /, *value: Any) -> None:
        check_store(obj, attribute_name)
        raw(attribute_name, *value)

    return bound


def _check_target(kind: type, name: str) -> None:
    if not is_own_class(kind) and kind not in DATA_HOLDERS:
        raise refuse(name, "the object is not the program's own", "assign obj.attribute = value")


_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)


def _look_descriptor(obj: Any, name: str) -> Any:
    """A library's slot reads its attribute of any object: `getattr` for one name, whatever the name."""
    slot = super.__dict__["__self__"].__get__(obj) if type(obj) is super else obj
    if isinstance(slot, _SLOTS) and not is_own_class(slot.__objclass__):
        raise refuse(
            name, "a library's slot reads and sets its attribute of any object", "name the attribute"
        )
    return getattr(obj, name)


def _look_getattr_method(obj: Any, name: str) -> Any:
    """The program's own `__getattr__` only: a library's takes any name."""
    kind = super_class(obj) if type(obj) is super else type(obj)
    holder = obj if isinstance(obj, type) else kind
    for base in mro(holder):
        if name in class_dict(base):
            if is_own_class(base):
                return getattr(obj, name)
            break
    raise refuse(name, "a library's __getattr__ takes any name", "use getattr(obj, name)")


_looks: dict[str, Callable[[Any, str], Any]] = dict.fromkeys(LOOKED_AT, _own_only)
_looks |= {
    "co_names": _look_code,
    "format": _look_format,
    "format_map": _look_format,
    "obj": _look_obj,
    "mro": _look_mro,
    "__mro__": _look_bases,
    "__bases__": _look_bases,
    "__dict__": _look_dict,
    "__annotations__": _look_annotations,
    "__dataclass_fields__": _look_fields,
    "__set_name__": _own_only,
    "__setattr__": _look_setter,
    "__delattr__": _look_setter,
    "__getattr__": _look_getattr_method,
    "__class__": lambda obj, _: visible_type(type(obj)),
    "__init__": lambda obj, _: init(obj).__init__,
    "__get__": _look_descriptor,
    "__set__": _look_descriptor,
    "__delete__": _look_descriptor,
}


# -- names given as strings ------------------------------------------------------------------------


def check_name(name: Any) -> None:
    """Accept exact strings only: a subclass could answer differently the next time."""
    if type(name) is not str:
        raise TypeError(f"attribute name must be string, not '{type(name).__name__}'")


def read(obj: Any, name: Any) -> Any:
    """`getattr(obj, name)` by the rules of the source."""
    check_name(name)
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
        if name not in SPECIAL_NAMES:
            return getattr(private(obj, name), name)
        raise refuse(name, "it leads from an object into the interpreter")
    if name.startswith(RESERVED_PREFIX):
        raise refuse(name, "the prefix is reserved", "choose another name")
    return getattr(obj if name in REVIEWED_PRIVATE else private(obj, name), name)


def check_store(obj: Any, name: Any) -> None:
    """Judge setting or deleting an attribute by the rules of the source."""
    check_name(name)
    if name in INNARDS:
        raise refuse(name, "it leads into the interpreter")
    if is_dunder(name):
        if name not in SPECIAL_NAMES:
            private(obj, name)
        elif name not in STORABLE_DUNDERS:
            raise refuse(name, "it may not be set", "assign ordinary attributes")
        reentry.watch_name(name)
    elif name.startswith(RESERVED_PREFIX):
        raise refuse(name, "the prefix is reserved", "choose another name")
    elif name in LOOKED_AT_WHEN_SET:
        updated(obj, name)
    elif is_private(name) and name not in REVIEWED_PRIVATE:
        private(obj, name)


def write(obj: Any, name: Any, value: Any, /) -> None:
    """`setattr(obj, name, value)` by the rules of the source."""
    check_store(obj, name)
    setattr(obj, name, value)


def delete(obj: Any, name: Any, /) -> None:
    """`delattr(obj, name)` by the rules of the source."""
    check_store(obj, name)
    delattr(obj, name)


formatting = Formatting(read)
"""`str.format` and its kin, reading attributes by these rules."""
