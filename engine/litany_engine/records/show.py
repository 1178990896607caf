"""`litany show`: what a step's records say, as a tree for a reader and as one object for a program.

Text and JSON are two functions that return what the command line prints; `find_record.py` says which folder
is meant. What a program or tool wrote is shown with its control characters escaped: a record must not be
able to move the cursor of whoever reads it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from litany_engine.configuration.units import show_duration, show_size
from litany_engine.counted import counted
from litany_engine.plain_text import plain
from litany_engine.records.dead_records import is_in_use
from litany_engine.records.recorded import CallNode, RecordedCall, call_tree, iter_calls, load_call
from litany_runtime.outcome import Outcome
from litany_stubs.reply_json import stream_fields

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from litany_stubs.words import JSON

SHOWN_BYTES = 2048
"""Bytes of a stream, from its head, that the text for one call shows; the record has it whole."""

MAX_NOTE_CHARS = 160
"""Length of a reason in the tree; the text for the one call has it whole."""


def show_text(folder: Path) -> str:
    """A step's tree of calls; for a record its call's, and what went in and came out."""
    if _is_step(folder):
        nodes = call_tree(iter_calls(folder))
        lines = [f"step {folder.parent.name}/{folder.name}  {_count(nodes)}"]
        return "\n".join([*lines, *_tree(nodes), ""])
    node = _node(folder)
    return "\n".join([*_tree([node]), "", *_details(node.call), ""])


def show_json(folder: Path) -> dict[str, JSON]:
    """The same as one object: a step with its tree of `calls`, or one call with its own and its streams."""
    if _is_step(folder):
        calls = [_as_json(node) for node in call_tree(iter_calls(folder))]
        return {"agent": folder.parent.name, "step": folder.name, "path": str(folder), "calls": calls}
    node = _node(folder)
    end = node.call.end
    told = {**_as_json(node), "input": node.call.call.input}
    if end is not None:
        told |= {
            **stream_fields("stdout", end.stdout),
            **stream_fields("stderr", end.stderr),
            "data": end.data,
        }
    return told


def _is_step(folder: Path) -> bool:
    return folder.parent.name != "tools"


def _node(record: Path) -> CallNode:
    """A record's call with the calls it made, which are its siblings on disk."""
    call = load_call(record)
    waiting = call_tree(iter_calls(record.parent.parent))
    while waiting:
        node = waiting.pop()
        if node.call.path.name == record.name:
            return node
        waiting += node.calls
    return CallNode(call, ())


def _count(nodes: list[CallNode]) -> str:
    inner, waiting = 0, list(nodes)
    while waiting:
        calls = waiting.pop().calls
        inner += len(calls)
        waiting += calls
    return f"{counted(len(nodes), 'call')}, {counted(inner, 'inner call')}"


def _tree(nodes: list[CallNode]) -> list[str]:
    """Rows aligned in columns, each with its branch of the tree before it."""
    rows: list[tuple[str, ...]] = []

    def add(node: CallNode, branch: str, below: str) -> None:
        rows.append((branch + plain(node.call.call.id), *_cells(node.call)))
        for each in node.calls:
            last = each is node.calls[-1]
            add(each, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "))

    for node in nodes:
        add(node, "", "")
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(5)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), *row[5:]]).rstrip()
        for row in rows
    ]


def _cells(call: RecordedCall) -> tuple[str, ...]:
    name = plain(call.call.name) or "?"
    if call.end is None:
        state = "damaged" if call.damage else "running" if is_in_use(call.path.parents[1]) else "host died"
        return (name, state, "", "", _short(call.damage))
    end = call.end
    outcome = f"{end.outcome} {end.exit_code}" if end.outcome is not Outcome.COMPLETED else str(end.outcome)
    streams = ((end.stdout, ""), (end.stderr, " err"))
    sizes = " + ".join(show_size(len(each)) + label for each, label in streams if each)
    if not sizes and end.outcome is not Outcome.REFUSED:  # of a call that did not run, silence says nothing
        sizes = "silent"
    note = f"{end.refusal.gate}: {end.refusal.reason}" if end.refusal else end.reason
    return (
        name,
        outcome,
        show_duration(end.duration_s),
        sizes,
        _short("; ".join(filter(None, (note, call.damage)))),
    )


def _details(call: RecordedCall) -> Iterator[str]:
    yield f"record  {call.path}"
    if call.at:
        yield f"asked   {call.at.isoformat(sep=' ', timespec='milliseconds')}"
    if call.parent:
        yield f"parent  {plain(call.parent)}"
    if call.damage:
        yield f"damage  {plain(call.damage)}"
    yield from _block("input", _pretty(call.call.input).encode(errors="backslashreplace"))
    if call.end is None:
        if is_in_use(call.path.parents[1]):
            yield "running: it has no end yet"
        else:
            yield "no end: its host died, and whether it ran is unknown; `litany advance` settles it"
        yield from _block("stdout so far", call.stdout)
        yield from _block("stderr so far", call.stderr)
        return
    if call.end.refusal:
        yield f"refused by the {plain(call.end.refusal.gate)} gate: {plain(call.end.refusal.reason)}"
    if call.end.reason:
        yield f"reason  {plain(call.end.reason)}"
    if usage := call.end.usage:
        memory = show_size(usage.peak_memory_bytes)
        calls = counted(usage.calls, "call")
        yield f"usage   cpu {show_duration(usage.cpu_s)}, peak memory {memory}, {calls}"
    if call.end.layers:
        yield f"layers  {plain(', '.join(call.end.layers))}"
    yield from _block("stdout", call.end.stdout)
    yield from _block("stderr", call.end.stderr)
    if call.end.data is not None:
        yield from _block("data", _pretty(call.end.data).encode(errors="backslashreplace"))


def _block(title: str, content: bytes) -> Iterator[str]:
    if not content:
        return
    cut = len(content) > SHOWN_BYTES
    shown = content[:SHOWN_BYTES].decode(errors="replace")
    yield (
        f"--- {title}, {show_size(len(content))}"
        + (f", the first {show_size(SHOWN_BYTES)}" if cut else "")
        + " ---"
    )
    yield from (plain(line, tabs=True) for line in shown.splitlines())


def _short(note: str) -> str:
    text = plain(" ".join(note.split()))
    return text if len(text) <= MAX_NOTE_CHARS else text[: MAX_NOTE_CHARS - 1] + "…"


def _pretty(value: JSON) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _as_json(node: CallNode) -> dict[str, JSON]:
    call, end = node.call, node.call.end
    return {
        "id": call.call.id,
        "name": call.call.name,
        "parent": call.parent,
        "at": call.at.isoformat() if call.at else None,
        "running": end is None and is_in_use(node.call.path.parents[1]),
        "outcome": str(end.outcome) if end else None,
        "exit_code": end.exit_code if end else None,
        "duration_s": end.duration_s if end else None,
        "sizes": {"stdout": len(end.stdout), "stderr": len(end.stderr)} if end else None,
        "refusal": {"gate": end.refusal.gate, "reason": end.refusal.reason} if end and end.refusal else None,
        "reason": end.reason if end else "",
        "usage": {
            "cpu_s": end.usage.cpu_s,
            "peak_memory_bytes": end.usage.peak_memory_bytes,
            "calls": end.usage.calls,
        }
        if end and end.usage
        else None,
        "layers": list(end.layers) if end else [],
        "damage": call.damage,
        "record": str(call.path),
        "calls": [_as_json(each) for each in node.calls],
    }
