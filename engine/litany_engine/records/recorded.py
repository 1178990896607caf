"""Reading records back: one call, the calls of a step, the tree of a program's calls; and settling dead ones.

A reader takes what it finds: a call may be in flight, its host may have died between any two writes, a disk
may have lost half a file. None of that raises; a missing end says it, or `RecordedCall.damage`.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import msgspec

from litany_engine.door.calls import CallEnd, ToolCall
from litany_engine.records.ids import inner_id
from litany_engine.records.journal import printed_so_far, remove_journal
from litany_engine.records.record_files import FILES, RecordError, encode, output_of, put_once, read_whole
from litany_runtime.outcome import EXIT_CODES, Outcome, Usage
from litany_stubs.reply_json import decode_stream
from litany_stubs.words import JSON, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_T = TypeVar("_T")

HOST_DIED = "the host died, whether it ran is unknown"
HOST_DIED_WHILE = "the host died while it ran; what it did stands"
HOST_DIED_BEFORE = "the host died before the call was written down: it did not run"


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call as its record tells it.

    Attributes:
        call: the call as asked; its name is empty and its input None when `input.json` says neither.
        parent: the id of the call whose program or tool made it, None for an outer call.
        at: when it reached the door, or None.
        end: how it ended, or None: it is in flight, or its host died.
        path: the record's folder.
        damage: what of the record cannot be read and why, or "".
        stdout: of a call without an end: what it has printed so far.
        stderr: the same for the other stream.
        unread: ids of its inner calls that failed and whose results its program did not look at.
    """

    call: ToolCall
    parent: str | None
    at: datetime | None
    end: CallEnd | None
    path: Path
    damage: str = ""
    stdout: bytes = b""
    stderr: bytes = b""
    unread: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CallNode:
    """A call and the calls it made.

    Attributes:
        call: the call.
        calls: its inner calls, in the order of their ids.
    """

    call: RecordedCall
    calls: tuple[CallNode, ...]


class _Input(msgspec.Struct):
    name: str
    input: JSON
    at: datetime
    parent: str | None = None
    given_id: str = ""


class _Output(msgspec.Struct):
    outcome: Outcome
    exit_code: int
    stdout: str
    stderr: str
    started_at: datetime
    ended_at: datetime
    stdout_encoding: str = "utf-8"
    stderr_encoding: str = "utf-8"
    duration_s: float = 0.0
    waited_s: float = 0.0
    data: JSON = None
    refusal: Refusal | None = None
    reason: str = ""
    usage: Usage | None = None
    layers: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    unrecorded: int = 0
    apart: dict[str, str] = msgspec.field(default_factory=dict)


def load_call(folder: Path) -> RecordedCall:
    """Read one record.

    Args:
        folder: the record's folder.

    Returns:
        What is there; nothing about the content raises.

    Raises:
        RecordError: there is no such folder.
    """
    if not folder.is_dir():
        raise RecordError(f"there is no record {folder}")
    asked, damage = _read(folder / "input.json", _Input)
    call = (
        ToolCall(folder.name, asked.name, asked.input, asked.given_id)
        if asked
        else ToolCall(folder.name, "", None)
    )
    output, more = _read(folder / "output.json", _Output)
    end = None
    if output is not None:
        try:
            apart = _apart(folder, output.apart)
            _finite(output.duration_s, output.waited_s, output.usage.cpu_s if output.usage else 0.0)
            end = CallEnd(
                call=call,
                outcome=output.outcome,
                exit_code=output.exit_code,
                stdout=apart.get("stdout", decode_stream(output.stdout, output.stdout_encoding)),
                stderr=apart.get("stderr", decode_stream(output.stderr, output.stderr_encoding)),
                data=json.loads(apart["data"]) if "data" in apart else output.data,
                refusal=output.refusal,
                reason=output.reason,
                started_at=output.started_at,
                ended_at=output.ended_at,
                duration_s=output.duration_s,
                waited_s=output.waited_s,
                usage=output.usage,
                layers=output.layers,
                unrecorded=output.unrecorded,
                record=folder,
            )
        except (ValueError, RecursionError) as error:
            more = f"output.json: {error}"
    so_far = printed_so_far(folder) if output is None else {}
    return RecordedCall(
        call=call,
        parent=asked.parent if asked else None,
        at=asked.at if asked else None,
        end=end,
        path=folder,
        damage="; ".join(filter(None, (damage, more))),
        unread=frozenset(output.unread) if output else frozenset(),
        **so_far,
    )


def iter_calls(step: Path) -> Iterator[RecordedCall]:
    """The calls of a step's folder, in the order of their ids (numbers in them compared as numbers)."""
    try:
        folders = [each for each in (step / "tools").iterdir() if not each.name.startswith(".")]
    except FileNotFoundError:
        return
    except OSError as error:
        raise RecordError(f"cannot read the records in {step / 'tools'}: {error.strerror}") from error
    for folder in sorted(folders, key=lambda each: natural(each.name)):
        if folder.is_dir():
            yield load_call(folder)


def inner_calls(record: Path) -> Iterator[RecordedCall]:
    """The calls that a call made itself, in the order of their ids; read one at a time."""
    return (each for each in iter_calls(record.parent.parent) if _parent(each) == record.name)


def call_tree(calls: Iterable[RecordedCall]) -> list[CallNode]:
    """Arrange calls under the calls that made them, oldest outer call first.

    The parent is the one that `input.json` names; of a call whose input cannot be read, the one that its id
    names. A call whose parent is not among `calls`, or whose parents go in a circle, stands at the top:
    whatever a damaged record says, every call is shown once.
    """
    known = {each.call.id: each for each in calls}
    parents = {call_id: _parent(each) for call_id, each in known.items()}
    children: dict[str, list[RecordedCall]] = {}
    top = []
    for call_id, each in known.items():
        parent = parents[call_id]
        if parent in known and not _descends(parents, parent, call_id):
            children.setdefault(parent, []).append(each)
        else:
            top.append(each)

    def node(call: RecordedCall) -> CallNode:
        return CallNode(call, tuple(map(node, children.get(call.call.id, ()))))

    return [node(each) for each in sorted(top, key=lambda each: (each.at is None, each.at or _NEVER))]


def complete_dead(folder: Path) -> bool:
    """Write the missing half of a record whose host died.

    Call it under the executor's lock: a call that is alive has no end either.

    Args:
        folder: the record's folder.

    Returns:
        Whether an end was missing and is now there. A second time changes nothing.

    Raises:
        RecordError: the folder is missing or cannot be written.
    """
    recorded = load_call(folder)
    if (folder / "output.json").exists():
        return False
    now = datetime.now(UTC)
    end = CallEnd(
        call=recorded.call,
        outcome=Outcome.FAULTED,
        exit_code=EXIT_CODES[Outcome.FAULTED],
        started_at=recorded.at or now,
        ended_at=now,
        duration_s=0.0,
        reason=_why_dead(recorded),
        stdout=recorded.stdout,
        stderr=recorded.stderr,
    )
    written = put_once(folder, "output.json", encode(output_of(end)))
    remove_journal(folder)
    return written


def _why_dead(recorded: RecordedCall) -> str:
    """What is known of a call whose host died: a call that left a trace of its own has begun."""
    folder = recorded.path
    if not (folder / "input.json").exists():
        return HOST_DIED_BEFORE
    first_inner = folder.with_name(inner_id(folder.name, 1))
    begun = recorded.stdout or recorded.stderr or (folder / "program.py").exists() or first_inner.exists()
    return HOST_DIED_WHILE if begun else HOST_DIED


def natural(text: str) -> list[tuple[bool, int, str]]:
    """A sort key that compares the numbers in a text as numbers: `T-2` before `T-10`."""
    return [
        (part.isdigit(), int(part) if part.isdigit() else 0, part) for part in _DIGITS.split(text) if part
    ]


_DIGITS = re.compile(r"([0-9]+)", re.ASCII)
_NEVER = datetime.max.replace(tzinfo=UTC)


def _parent(call: RecordedCall) -> str | None:
    return call.parent if call.at else call.call.id.rpartition("-")[0] or None


def _descends(parents: dict[str, str | None], start: str | None, ancestor: str) -> bool:
    """Whether `ancestor` is `start` or above it; also when a circle above `start` would hide it."""
    seen: set[str] = set()
    while start in parents:
        if start == ancestor or start in seen:
            return True
        seen.add(start)
        start = parents[start]
    return False


def _apart(folder: Path, digests: dict[str, str]) -> dict[str, bytes]:
    """The parts of an output that stand in files of their own.

    Raises:
        ValueError: one of them is missing, or not what was written.
    """
    found = {}
    for name, digest in digests.items():
        if name not in FILES:
            raise ValueError(f"{name!r} is no part of an output")
        try:
            found[name] = read_whole(folder / FILES[name])
        except OSError as error:
            raise ValueError(f"{FILES[name]}: {error.strerror}") from error
        if hashlib.sha256(found[name]).hexdigest() != digest:
            raise ValueError(f"{FILES[name]}: it is not what was written")
    return found


def _read(path: Path, shape: type[_T]) -> tuple[_T | None, str]:
    """The content of a JSON file, or what is wrong with it; a missing file is neither."""
    try:
        # json rather than msgspec: it reads the escaped lone surrogates that `encode` may write.
        return msgspec.convert(json.loads(read_whole(path)), shape), ""
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return None, f"{path.name}: {error.strerror}"
    except (ValueError, RecursionError) as error:
        return None, f"{path.name}: {error}"


def _finite(*times: float) -> None:
    """Refuse a time that no clock has shown; JSON's `1e999` is one to Python."""
    for each in times:
        if not math.isfinite(each):
            raise ValueError(f"a time of {each} s")
