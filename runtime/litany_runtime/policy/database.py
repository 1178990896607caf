"""`sqlite3` with its files in the worktree.

SQL opens files of its own accord (`ATTACH`, `VACUUM INTO`), which no audit event announces. So every
connection of a program is of the class below, which sets an authorizer, and the audit hook lets no other
code open a database: not the library's own class, reached behind this one through `super()`.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from litany_runtime.policy.files import FileRules

OK, DENY, ATTACH = 0, 1, 24
"""SQLite's own numbers for an authorizer's answers and for the action it is asked about."""

rules: list[FileRules] = []
"""Where this process's program may read and write; set once, in the child."""


class Connection(sqlite3.Connection):
    """A connection to a database in the worktree."""

    def __init__(self, database: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(database, *args, **kwargs)
        self.set_authorizer(_authorize)


Connection.__module__ = "sqlite3"
OPENER = Connection.__init__.__code__


def connect(database: Any, *args: Any, factory: Any = Connection, **kwargs: Any) -> sqlite3.Connection:
    """Open a database in the worktree, or ':memory:'."""
    if not (isinstance(factory, type) and issubclass(factory, Connection)):
        raise TypeError("connect() takes a subclass of sqlite3.Connection as factory")
    return factory(database, *args, **kwargs)


def _authorize(action: int, first: str | None, *_: Any) -> int:
    if action != ATTACH:
        return OK
    try:
        if first is None:  # an expression, whose value is not known yet
            return DENY
        check_name(first)
    except OSError:
        return DENY
    return OK


def check_name(name: str) -> None:
    """Allow opening a database by its name.

    Raises:
        PermissionError: its file is outside the worktree.
    """
    path, read_only = name, False
    if name.startswith("file:"):
        path, _, query = name[5:].partition("?")
        path = unquote(path.partition("#")[0])
        if path.startswith("/"):
            path = "/" + path.lstrip("/")
        parameters = query.split("&")
        read_only = "mode=ro" in parameters or "immutable=1" in parameters
        if "mode=memory" in parameters:
            return
    if path in {"", ":memory:"}:
        return
    if read_only:
        rules[0].read(path)
    else:
        rules[0].write(path)
