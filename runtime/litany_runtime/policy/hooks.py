"""`__init_subclass__`, `__set_name__` and `__del__` of a program's classes.

The interpreter calls the first two while it makes a class, before `classes.adopt` has looked at it: a
program would get hold of a class that is then refused. So each is wrapped where it is defined, and what is
called while a class is made is noted and done once the class was adopted. A class that somebody else makes
(a library, of the program's class) is refused, for nobody adopts it.

`__del__` runs wherever an object dies, as a weak reference's callback does, and any thread: no guard counts
on what another thread could change.
"""

from __future__ import annotations

import functools
import gc
import sys
import threading
from typing import TYPE_CHECKING, Any

from litany_runtime.policy import ownership
from litany_runtime.policy.names import HOOKS
from litany_runtime.policy.refusals import ClassRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

_making = threading.local()

finalizers: list[str] = []
"""Not empty once a class of the program defined `__del__`."""


def made_with(make: Callable[[], Any], adopt: Callable[[Any], Any]) -> Any:
    """Make a class, adopt it, then do what its bases and attributes want to do with it."""
    noted: list[tuple[Any, Callable[[], Any]]] = []
    stack = _making.__dict__.setdefault("stack", [])
    stack.append(noted)
    try:
        made = make()
    finally:
        stack.pop()
    made = adopt(made)
    for owner, call in noted:
        if not ownership.is_own_class(owner):
            raise _made_elsewhere(owner)
        call()
    return made


def _made_elsewhere(owner: Any) -> ClassRefusedError:
    name = ownership.type_name(owner) if isinstance(owner, type) else type(owner).__name__
    return ClassRefusedError(
        f"{name} was made by a library: hooks of its bases cannot run on it (write a class statement)"
    )


def _once_adopted(owner: Any, call: Callable[[], Any]) -> Any:
    if isinstance(owner, type) and ownership.is_own_class(owner):
        return call()
    stack = _making.__dict__.get("stack")
    if stack:
        stack[-1].append((owner, call))
        return None
    raise _made_elsewhere(owner)


def init_subclass(function: Any) -> Any:
    """Decorate the `__init_subclass__` of a class of the program."""
    inner = function.__func__ if type(function) is classmethod else function

    def __init_subclass__(cls: Any, /, **keywords: Any) -> Any:  # noqa: N807 - the method itself
        return _once_adopted(cls, lambda: inner(cls, **keywords))

    return classmethod(_dressed(__init_subclass__, inner))


def set_name(function: Any) -> Any:
    """Decorate the `__set_name__` of a class of the program."""

    def __set_name__(self: Any, owner: Any, name: Any, /) -> Any:  # noqa: N807 - the method itself
        def call() -> Any:
            try:
                return function(self, owner, name)
            except Exception as error:
                _tell(error, self, owner, name)
                raise

        if ownership.is_own_class(owner) if isinstance(owner, type) else False:
            return function(self, owner, name)
        return _once_adopted(owner, call)

    return _dressed(__set_name__, function)


def _tell(error: Exception, attribute: Any, owner: Any, name: Any) -> None:
    """Say of an error what the interpreter says when it calls `__set_name__`."""
    said = (
        f"Error calling __set_name__ on '{type(attribute).__name__}' instance {name!r} in {owner.__name__!r}"
    )
    if sys.version_info < (3, 12):
        raise RuntimeError(said) from error
    error.add_note(said)


def finalizer(function: Any) -> Any:
    """Decorate the `__del__` of a class of the program."""
    finalizers.append("")
    return function


def _dressed(wrapper: Any, function: Any) -> Any:
    if ownership.is_own_function(function):
        functools.update_wrapper(wrapper, function, ("__name__", "__qualname__", "__doc__"), ())
        del wrapper.__wrapped__
    return wrapper


DECORATORS: dict[str, Callable[[Any], Any]] = {
    "__del__": finalizer,
    "__init_subclass__": init_subclass,
    "__set_name__": set_name,
}
"""Special method → what is put around it; beside the guards under the method's name without its
underscores."""

if set(DECORATORS) != HOOKS:
    raise RuntimeError("names.HOOKS and hooks.DECORATORS differ")


def end(namespace: dict[str, Any]) -> None:
    """Let the program's objects die as the interpreter does at its end, when somebody wants to know."""
    if not finalizers:
        return
    for private in (True, False):
        for name in list(namespace):
            if name != "__builtins__" and (name[:1] == "_" and name[1:2] != "_") == private:
                namespace[name] = None
    gc.collect()
