"""`sqlite3` with its files in the worktree, and without the SQL that leads into memory.

SQL opens files of its own accord (`ATTACH`, `VACUUM INTO`), which no audit event announces. So every
connection of a program is of the class below, which sets an authorizer, and the audit hook lets no other
code open a database: not the library's own class, reached behind this one through `super()`.

The authorizer also lists the functions, pragmas and virtual tables that a program may name. SQLite has some
that take or give native pointers, map files into memory, or let a program write what SQLite believes of
itself.
"""

from __future__ import annotations

import functools
import sqlite3
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from litany_runtime.policy.amending import Busy, amend
from litany_runtime.policy.files import exact_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from litany_runtime.policy.files import FileRules

OK, DENY, PRAGMA, ATTACH, CREATE_VTABLE, FUNCTION = 0, 1, 19, 24, 29, 31
"""SQLite's own numbers for an authorizer's answers and for the actions it is asked about."""

rules: list[FileRules] = []
"""Where this process's program may read and write; set once, in the child."""


_busy = Busy()
"""Connections that are calling the program back."""

URI_AT = 6
"""Where `uri` stands among a connection's arguments after the database's name."""

FUNCTIONS = frozenset(
    """
    -> ->> abs acos acosh asin asinh atan atan2 atanh avg bm25 ceil ceiling changes char coalesce concat
    concat_ws cos cosh count cume_dist current_date current_time current_timestamp date datetime degrees
    dense_rank exp first_value floor format glob group_concat hex highlight ifnull if iif instr json
    json_array json_array_length json_error_position json_extract json_group_array json_group_object
    json_insert json_object json_patch json_pretty json_quote json_remove json_replace json_set json_type
    json_valid jsonb jsonb_array jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert
    jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set julianday lag last_insert_rowid
    last_value lead length like likelihood likely ln log log10 log2 lower ltrim match max median min mod
    nth_value ntile nullif octet_length percent_rank percentile percentile_cont percentile_disc pi pow
    power printf quote radians random randomblob rank replace round row_number rtrim sign sin sinh
    snippet soundex sqlite_source_id sqlite_version sqrt strftime string_agg substr substring subtype sum
    tan tanh time timediff total total_changes trim trunc typeof unhex unicode unistr unistr_quote
    unixepoch unlikely upper zeroblob
    """.split()
)
"""SQLite's own functions that compute, and nothing else."""

PRAGMAS = frozenset(
    """
    analysis_limit application_id auto_vacuum automatic_index busy_timeout cache_size cache_spill
    case_sensitive_like checkpoint_fullfsync collation_list compile_options count_changes data_version
    database_list default_cache_size defer_foreign_keys empty_result_callbacks encoding foreign_key_check
    foreign_key_list foreign_keys freelist_count full_column_names fullfsync function_list
    ignore_check_constraints incremental_vacuum index_info index_list index_xinfo integrity_check
    journal_mode journal_size_limit legacy_alter_table legacy_file_format locking_mode max_page_count
    module_list optimize page_count page_size pragma_list query_only quick_check read_uncommitted
    recursive_triggers reverse_unordered_selects schema_version secure_delete short_column_names
    shrink_memory synchronous table_info table_list table_xinfo temp_store user_version
    wal_autocheckpoint wal_checkpoint
    """.split()
)
"""Settings and questions that stay within the database. Not `writable_schema`, `mmap_size` (a mapped file
that shrinks is a SIGBUS), `cell_size_check` or `trusted_schema`; not those that name folders."""

READ_ONLY_PRAGMAS = frozenset({"mmap_size", "writable_schema", "cell_size_check", "trusted_schema"})
"""Settings that a program may read but not set."""

TABLES = frozenset({"fts5", "fts5vocab", "json_each", "json_tree", "rtree", "rtree_i32"})
"""Kinds of virtual tables. `fts5` does what `fts3` and `fts4` do, whose tokenizers are native pointers."""


def _builtin_functions() -> frozenset[str]:
    connection = sqlite3.connect(":memory:")
    try:
        return frozenset(
            row[0].lower() for row in connection.execute("select name from pragma_function_list")
        )
    finally:
        connection.close()


UNLISTED_FUNCTIONS = _builtin_functions() - FUNCTIONS
"""SQLite's functions that no program may call, nor name its own after: they are told apart by arguments."""


class Connection(sqlite3.Connection):
    """A connection to a database in the worktree."""

    def __init__(self, database: Any, *args: Any, **kwargs: Any) -> None:
        _busy.check(self)
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


def _authorize(uri: bool, action: int, first: str | None, second: str | None = None, *_: Any) -> int:
    if action == FUNCTION:
        return DENY if (second or "").lower() in UNLISTED_FUNCTIONS else OK
    if action == PRAGMA:
        name = (first or "").lower()
        return OK if name in PRAGMAS or (name in READ_ONLY_PRAGMAS and second is None) else DENY
    if action == CREATE_VTABLE:
        return OK if (second or "").lower() in TABLES else DENY
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


# -- what calls back -------------------------------------------------------------------------------

CALLING = "execute executemany executescript fetchone fetchmany fetchall"
CHANGING = """
    close create_aggregate create_collation create_function create_window_function deserialize
    set_progress_handler set_trace_callback
"""


def mend() -> None:
    """Refuse to end or change a connection while it calls what is the program's.

    Once, in the zygote, before anything is sealed.
    """
    cursors: Any = sqlite3.Cursor
    connection_of = cursors.__dict__["connection"].__get__

    def calling(method: Callable[..., Any]) -> Callable[..., Any]:
        def called(self: Any, /, *args: Any, **kwargs: Any) -> Any:
            connection = connection_of(self)
            _busy.enter(connection)
            try:
                return method(self, *args, **kwargs)
            finally:
                _busy.leave(connection)

        return called

    own = cursors.__dict__
    begin = own["__init__"]

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        if connection_of(self) is not None:
            raise sqlite3.ProgrammingError("a cursor is initialised once (make another)")
        begin(self, *args, **kwargs)

    guards = {name: calling(own[name]) for name in [*CALLING.split(), "__next__"]}
    amend(cursors, guards | {"__init__": init})
    connections: Any = _connections()
    own = connections.__dict__
    amend(connections, _busy.guards(connections, CALLING + " commit rollback __exit__ blobopen", CHANGING))
    backup = own["backup"]

    def backup_(self: Any, target: Any, /, **kwargs: Any) -> None:
        _busy.check(target)
        for each in (self, target):
            _busy.enter(each)
        try:
            backup(self, target, **kwargs)
        finally:
            for each in (self, target):
                _busy.leave(each)

    amend(connections, {"backup": backup_})
    for cls, name in ((connections, "row_factory"), (connections, "text_factory"), (cursors, "row_factory")):
        member: Any = cls.__dict__[name]
        amend(cls, {name: property(member.__get__, member.__set__)})  # deleted, it is a null pointer


def _connections() -> type:
    return Connection.__mro__[1]
