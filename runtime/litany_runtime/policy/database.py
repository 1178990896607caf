"""`sqlite3` with its files in the worktree.

SQL opens files of its own accord (`ATTACH`, `VACUUM INTO`), which no audit event announces. So every
connection of a program is of the class below, which sets an authorizer, and the audit hook lets no other
code open a database: not the library's own class, reached behind this one through `super()`.
"""

from __future__ import annotations

import functools
import sqlite3
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from litany_runtime.policy.files import exact_path

if TYPE_CHECKING:
    from litany_runtime.policy.files import FileRules

OK, DENY, PRAGMA, ATTACH = 0, 1, 19, 24
"""SQLite's own numbers for an authorizer's answers and for the actions it is asked about."""

rules: list[FileRules] = []
"""Where this process's program may read and write; set once, in the child."""


URI_AT = 6
"""Where `uri` stands among a connection's arguments after the database's name."""

REFUSED_PRAGMAS = frozenset({"temp_store_directory", "data_store_directory"})
"""Settings that name folders of their own."""


class Connection(sqlite3.Connection):
    """A connection to a database in the worktree."""

    def __init__(self, database: Any, *args: Any, **kwargs: Any) -> None:
        uri = bool(kwargs["uri"] if "uri" in kwargs else len(args) > URI_AT and args[URI_AT])
        name = exact_path(database)
        if name is None:
            rules[0].read(database)  # no path at all: refused there
        else:
            check_name(name, uri=uri)
        super().__init__(database, *args, **kwargs)
        self.set_authorizer(functools.partial(_authorize, uri))


Connection.__module__ = "sqlite3"
OPENER = Connection.__init__.__code__


def connect(database: Any, *args: Any, factory: Any = Connection, **kwargs: Any) -> sqlite3.Connection:
    """Open a database in the worktree, or ':memory:'."""
    if not (isinstance(factory, type) and issubclass(factory, Connection)):
        raise TypeError("connect() takes a subclass of sqlite3.Connection as factory")
    return factory(database, *args, **kwargs)


def _authorize(uri: bool, action: int, first: str | None, *_: Any) -> int:
    if action == PRAGMA:
        return DENY if first in REFUSED_PRAGMAS else OK
    if action != ATTACH:
        return OK
    try:
        if first is None:  # an expression, whose value is not known yet
            return DENY
        check_name(first, uri=uri)
    except OSError:
        return DENY
    return OK


def check_name(name: str, *, uri: bool) -> None:
    """Allow opening a database by its name.

    Args:
        name: a path, ':memory:', or a URI.
        uri: whether SQLite takes `file:…` for a URI here.

    Raises:
        PermissionError: its file is outside the worktree.
    """
    path, read_only = name, False
    if uri and name.startswith("file:"):
        path, _, query = name[len("file:") :].partition("?")
        path = unquote(path.partition("#")[0])
        parameters = query.partition("#")[0].split("&")
        if path.startswith("//"):  # file://authority/path
            path = "/" + path[2:].partition("/")[2]
        if "\0" in path or any(p.startswith("vfs=") for p in parameters):
            raise PermissionError(f"the database {name!r} cannot be judged (name its file plainly)")
        if "mode=memory" in parameters:
            return
        read_only = "mode=ro" in parameters or "immutable=1" in parameters
    if path in {"", ":memory:"}:
        return
    if read_only:
        rules[0].read(path)
    else:
        rules[0].write(path)
