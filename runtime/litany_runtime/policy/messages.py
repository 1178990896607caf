"""`email` for programs: its objects set attributes, make classes and hand out types by what they are given.

- A policy's `clone(**changes)` sets whatever attribute it is told, `__class__` too.
- A header registry makes a class out of any two classes, past the rules for class statements.
- A content manager shows each class of an object's bases to the mapping it looks them up in.
"""

from __future__ import annotations

import email._policybase
import email.contentmanager
import email.headerregistry
import email.utils
from typing import Any

from litany_runtime.policy import ownership


def _check_changes(changes: dict[str, Any]) -> None:
    for name in changes:
        if type(name) is not str or name.startswith("_"):
            raise TypeError(f"{name!r} is no setting of an email policy (name a documented one)")


def make_msgid(idstring: Any = None, domain: Any = None) -> str:
    """Return a text for a Message-ID; the domain is 'localhost' unless one is given."""
    return email.utils.make_msgid(idstring, domain or "localhost")


def mend() -> None:
    """Change the classes that would do more than was reviewed. Before anything is sealed."""
    policy: Any = email._policybase._PolicyBase
    clone, init = policy.clone, policy.__init__

    def checked_clone(self: Any, **changes: Any) -> Any:
        _check_changes(changes)
        _check_changes(self.__dict__)
        return clone(self, **changes)

    def checked_init(self: Any, **changes: Any) -> None:
        _check_changes(changes)
        init(self, **changes)

    policy.clone, policy.__init__ = checked_clone, checked_init
    checked_clone.__name__, checked_init.__name__ = "clone", "__init__"

    registry: Any = email.headerregistry.HeaderRegistry
    make = registry.__getitem__
    known = frozenset(value for value in vars(email.headerregistry).values() if isinstance(value, type))

    def checked_make(self: Any, name: Any) -> Any:
        kinds = {self.base_class, self.registry.get(name.lower(), self.default_class)}
        if type(self) is not registry or type(self.registry) is not dict or not kinds <= known:
            raise TypeError("a header is of one of email's own classes here (subclass str for your own)")
        return make(self, name)

    registry.__getitem__ = checked_make
    checked_make.__name__ = "__getitem__"

    manager: Any = email.contentmanager.ContentManager
    find = manager._find_set_handler

    def checked_find(self: Any, message: Any, obj: Any) -> Any:
        if any(ownership.visible_type(cls) is not cls for cls in ownership.mro(type(obj))):
            raise TypeError(f"a {type(obj).__name__} object cannot be a message's content")
        return find(self, message, obj)

    manager._find_set_handler = checked_find


def stand_ins() -> dict[str, Any]:
    """`module.name` → what a program gets under that name."""
    return {"email.utils.make_msgid": make_msgid}
