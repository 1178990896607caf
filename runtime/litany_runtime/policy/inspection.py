"""`inspect` for programs: what a function takes, and what an object of the program's has.

The library reads whatever attribute it likes, for anybody. Members are read here by the rules of the
source, and a library function's signature shows its defaults only where they are plain data: some functions
keep a dangerous one there (`_unlink=os.unlink`).
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NoReturn

from litany_runtime.policy import guards, ownership

if TYPE_CHECKING:
    from collections.abc import Callable

_original: Callable[..., inspect.Signature] = inspect._signature_from_function  # type: ignore[attr-defined]


def _signature(cls: Any, func: Any, **options: Any) -> inspect.Signature:
    """What every way to a function's signature comes to.

    Args:
        cls: the kind of signature; a class of the program's is given what may be seen only.
        func: the function itself, after all wrappers.
        options: the library's own.
    """
    made = _original(inspect.Signature, func, **options)
    if not ownership.is_own_function(func):
        made = inspect.Signature([_shown(parameter) for parameter in made.parameters.values()])
    if cls is inspect.Signature:
        return made
    return cls(list(made.parameters.values()), return_annotation=made.return_annotation)  # type: ignore[no-any-return]


def _shown(parameter: inspect.Parameter) -> inspect.Parameter:
    """A library's parameter as a program sees it."""
    empty = inspect.Parameter.empty
    default = parameter.default
    plain = default is empty or type(default) in guards.PLAIN_TYPES - {list, dict, set}
    if plain and type(default) in {tuple, frozenset}:
        plain = all(type(item) in guards.SCALARS for item in default)
    return parameter.replace(default=default if plain else ..., annotation=empty)


def getmembers(object: Any, predicate: Any = None) -> list[tuple[str, Any]]:
    """Return the attributes of an object that a program may read, sorted by their names."""
    found = []
    for name in sorted({name for name in dir(object) if type(name) is str} - SETTERS):
        try:
            value = guards.read(object, name)
        except AttributeError:
            continue
        if not predicate or predicate(value):
            found.append((name, value))
    return found


SETTERS = frozenset({"__setattr__", "__delattr__"})
"""Read by the rules of the source, they are functions of the runtime's and no members."""


def getmro(cls: Any) -> Any:
    """Return a class's bases in the order of method resolution; of a class of the program's."""
    return guards.attribute(cls, "__mro__")


def _no_text(text: Any, *_: Any) -> NoReturn:
    """Stands for `eval` in the library, which would run what an annotation or a docstring says."""
    raise NameError("inspect evaluates no text here (use typing.get_type_hints(obj))")


def mend() -> None:
    """Make the library's own functions ask here. Before anything is sealed."""
    library: Any = inspect
    library._signature_from_function = _signature
    library.eval = _no_text


def stand_ins() -> dict[str, Any]:
    """`module.name` → what a program gets under that name."""
    return {"inspect.getmembers": getmembers, "inspect.getmro": getmro}
