"""The grammar of ids: the id of an agent, and of a call's record, is one path component.

An agent's id is its descent: a root is `<time>-<short>`, an agent it starts appends `-<time>-<short>`. The id
of a call is whatever its provider gave it, any text at all; where that cannot be the name of a record,
`record_name` makes one of it. The k-th inner call of call `T` is `T-k`. Ids name folders and git references,
and they are compared as they stand, so there is one spelling of each.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import UTC, datetime

MAX_ID_CHARS = 200
"""Longest id, in characters: leaves a file name (255 bytes) room for a suffix."""

MAX_KEPT_CHARS = 60
"""Characters of an id's start that are kept in its record's name, when it cannot be that itself."""

_CALL_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:=+@-]*", re.ASCII)
_AGENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*", re.ASCII)
_INNER_INDEX = re.compile(r"[1-9][0-9]*", re.ASCII)
_INNER_LIKE = re.compile(r"-[1-9][0-9]*$", re.ASCII)
_DIGEST_CHARS = 24
_NAMED = re.compile(rf"\.[0-9a-f]{{{_DIGEST_CHARS}}}$", re.ASCII)
_NOT_KEPT = re.compile(r"[^A-Za-z0-9_.:=+@-]+", re.ASCII)

CALL_ID_SHAPE = (
    f"1 to {MAX_ID_CHARS} ASCII letters, digits or _ . : = + @ -, the first a letter, a digit or _"
)
AGENT_ID_SHAPE = f"1 to {MAX_ID_CHARS} ASCII letters, digits or _ . -, the first a letter or a digit"


def call_id_fault(call_id: object) -> str | None:
    """Say what is wrong with a call id that was offered from outside.

    Args:
        call_id: the id as it came; anything at all.

    Returns:
        The cause and the legal shape, or None when the id is well formed. Whether it is free is not
        looked at: only the creation of its record folder can tell.
    """
    if not isinstance(call_id, str):
        return f"a call id is text, not {type(call_id).__name__}; use {CALL_ID_SHAPE}"
    if len(call_id) > MAX_ID_CHARS or not _CALL_ID.fullmatch(call_id):
        return f"{_shown(call_id)} is no call id; use {CALL_ID_SHAPE}"
    return None


def record_name(given: str) -> str:
    """The name of an outer call's record, whatever text its issuer gave it as an id; the same each time.

    An id that can be a name is its own. One that cannot (other signs, too long, an inner call's form
    or of a name that was made here) keeps its start, for the reader, and a digest tells it from all others.
    """
    if call_id_fault(given) is None and not _INNER_LIKE.search(given) and not _NAMED.search(given):
        return given
    digest = hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
    kept = _NOT_KEPT.sub("_", given[:MAX_KEPT_CHARS])
    return f"{'' if kept[:1].isalnum() else '_'}{kept}.{digest}"


def agent_id_fault(agent: object) -> str | None:
    """Say what is wrong with an agent id, or None: a branch and a folder must be able to carry it."""
    if not isinstance(agent, str):
        return f"an agent id is text, not {type(agent).__name__}; use {AGENT_ID_SHAPE}"
    if len(agent) > MAX_ID_CHARS or not _AGENT_ID.fullmatch(agent):
        return f"{_shown(agent)} is no agent id; use {AGENT_ID_SHAPE}"
    if ".." in agent or agent.endswith((".", ".lock")):
        return (
            f"{_shown(agent)} is no agent id: git allows no '..', no last '.' and no last '.lock' in a branch"
        )
    return None


def mint_agent_id(parent: str | None = None) -> str:
    """A new agent id: the time and six random letters, after the parent's id when it has one."""
    own = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    return own if parent is None else f"{parent}-{own}"


def in_tree(agent: str, root: str) -> bool:
    """Whether an agent is `root` or was started by it, or by one that was: an id shows the descent."""
    return f"{agent}-".startswith(f"{root}-")


def inner_id(parent: str, k: int) -> str:
    """The id of the k-th inner call of `parent`, k from 1."""
    return f"{parent}-{k}"


def inner_index(parent: str, call_id: str) -> int | None:
    """The k of an inner call of `parent`, or None when `call_id` does not have that form."""
    head, _, tail = call_id.rpartition("-")
    return int(tail) if head == parent and _INNER_INDEX.fullmatch(tail) else None


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 60 else text[:57] + "...")
