"""`litany show`: what a step's records say, as a tree for a reader and as one object for a program.

Text and JSON are two functions that return what the command line prints; `find_record.py` says which folder
is meant. What a program or tool wrote is shown with its control characters escaped: a record must not be
able to move the cursor of whoever reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from litany_engine.configuration.units import show_duration, show_size
from litany_engine.counted import counted
from litany_engine.plain_text import plain
from litany_engine.records.call_counts import is_worth_telling, recorded_summaries, told_calls
from litany_engine.records.dead_records import is_in_use
from litany_engine.records.links import CONTINUED, CONTINUES, load_link
from litany_engine.records.record_files import UNCOMMITTED
from litany_engine.records.recorded import CallNode, RecordedCall, call_tree, iter_calls, load_call
from litany_engine.records.records import step_name
from litany_runtime.outcome import Outcome
from litany_stubs.reply_json import stream_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from litany_engine.door.holds import Question
    from litany_stubs.words import JSON

SHOWN_BYTES = 2048
"""Bytes of a stream, from its head, that the text for one call shows; the record has it whole."""

SHOWN_UNCOMMITTED = 20
"""Files that the text for one call names of those that the commit of its result lacks."""

HOLDS = "holds"
"""The folder of questions, as `door/holds.py` has it, which is not loaded to find that there are none."""

SHOWN_WAIT_S = 0.001
"""Seconds of waiting for a turn that are told."""

MAX_NOTE_CHARS = 160
"""Length of a reason in the tree; the text for the one call has it whole."""


Held = Mapping[Path, "Question"]
"""Records of calls that wait for the operator, and of those that wait with them, each with the question."""


def show_text(folder: Path, option: str = "") -> str:
    """A step's tree of calls; for a record its call's, and what went in and came out.

    Args:
        folder: the step's or the record's.
        option: what a command needs here to find the workspace, for the hints.
    """
    if _is_step(folder):
        nodes = call_tree(iter_calls(folder))
        way = "".join(f"; {words} step {number}" for words, number in _way(folder))
        lines = [f"step {folder.parent.name}/{folder.name}  {_count(nodes)}{way}"]
        return "\n".join([*lines, *_tree(nodes, _held(nodes, folder)), ""])
    node = _node(folder)
    held = _held([node], folder.parent.parent)
    return "\n".join([*_tree([node], held), "", *_details(node, held, option), ""])


def show_json(folder: Path) -> dict[str, JSON]:
    """The same as one object: a step with its tree of `calls`, or one call with its own and its streams."""
    if _is_step(folder):
        nodes = call_tree(iter_calls(folder))
        held = _held(nodes, folder)
        before, after = load_link(folder, CONTINUES), load_link(folder, CONTINUED)
        return {
            "agent": folder.parent.name,
            "step": folder.name,
            "path": str(folder),
            "continues": before and step_name(before.step),
            "continued_in": after and step_name(after.step),
            "calls": [_as_json(node, held) for node in nodes],
        }
    node = _node(folder)
    end = node.call.end
    told = {**_as_json(node, _held([node], folder.parent.parent)), "input": node.call.call.input}
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


def _way(step: Path) -> Iterator[tuple[str, str]]:
    """Where the calls of the same reply are that are not in this step."""
    if before := load_link(step, CONTINUES):
        yield "goes on from", step_name(before.step)
    if after := load_link(step, CONTINUED):
        yield "goes on in", step_name(after.step)


def _held(nodes: Iterable[CallNode], step: Path) -> Held:
    """Which calls wait for the operator: those that a question is about, and running ones that made them."""
    root = step.parents[2]
    if not (root / HOLDS).is_dir():
        return {}
    from litany_engine.door.holds import Holds  # noqa: PLC0415  most workspaces hold nothing

    questions = {root / each.record: each for each in Holds(root).questions()}
    held: dict[Path, Question] = {}

    def look(node: CallNode) -> Question | None:
        below = [question for each in node.calls if (question := look(each))]
        found = questions.get(node.call.path) or next(iter(below if node.call.end is None else ()), None)
        if found is not None:
            held[node.call.path] = found
        return found

    for each in nodes:
        look(each)
    return held


def _count(nodes: list[CallNode]) -> str:
    inner, waiting = 0, list(nodes)
    while waiting:
        calls = waiting.pop().calls
        inner += len(calls)
        waiting += calls
    return f"{counted(len(nodes), 'call')}, {counted(inner, 'inner call')}"


def _tree(nodes: list[CallNode], held: Held) -> list[str]:
    """Rows aligned in columns, each with its branch of the tree before it."""
    rows: list[tuple[str, ...]] = []

    def add(node: CallNode, branch: str, below: str) -> None:
        rows.append((branch + plain(node.call.call.id), *_cells(node, held)))
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


def _of_calls(node: CallNode) -> str:
    """What became of the inner calls of a call, when there is something to be known of them."""
    unrecorded = node.call.end.unrecorded if node.call.end else 0
    calls = recorded_summaries(node.call, (each.call for each in node.calls))
    return told_calls(calls, unrecorded) if is_worth_telling(calls, unrecorded) else ""


def _cells(node: CallNode, held: Held) -> tuple[str, ...]:
    call = node.call
    name = plain(call.call.name) or "?"
    if question := held.get(call.path):
        return (name, "held", "", "", _short(_waits(call, question)))
    if again := _asked_again(call):
        return (name, "held", "", "", again)
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
    waited = f"waited {show_duration(end.waited_s)} for its turn" if end.waited_s >= SHOWN_WAIT_S else ""
    return (
        name,
        outcome,
        show_duration(end.duration_s),
        sizes,
        _short("; ".join(filter(None, (note, waited, _of_calls(node), call.damage)))),
    )


def _waits(call: RecordedCall, question: Question) -> str:
    if question.id == call.call.id:
        return f"{question.gate}: {question.reason}"
    return f"its call {question.id} is held: {question.reason}"


def _asked_again(call: RecordedCall) -> str:
    """Where a call that was parked was asked again; "" for any other."""
    link = load_link(call.path.parents[1], CONTINUED)
    return f"asked again in step {step_name(link.step)}" if link and link.call == call.call.id else ""


def _details(node: CallNode, held: Held, option: str) -> Iterator[str]:
    call = node.call
    yield f"record  {call.path}"
    if call.at:
        yield f"asked   {call.at.isoformat(sep=' ', timespec='milliseconds')}"
    if call.parent:
        yield f"parent  {plain(call.parent)}"
    if call.call.given:
        yield f"given   {_short(call.call.given)}, the id that its issuer gave it"
    if call.damage:
        yield f"damage  {plain(call.damage)}"
    yield from _block("input", _pretty(call.call.input).encode(errors="backslashreplace"))
    if question := held.get(call.path):
        yield f"held: {plain(_waits(call, question))}; `litany holds{option}` shows how to answer"
    if again := _asked_again(call):
        yield f"held: it was {again}, by the same id"
    if call.end is None:
        if is_in_use(call.path.parents[1]):
            yield from () if question else ("running: it has no end yet",)
        else:
            yield f"no end: its host died, and whether it ran is unknown; `litany advance{option}` settles it"
        yield from _block("stdout so far", call.stdout)
        yield from _block("stderr so far", call.stderr)
        return
    if call.end.refusal:
        yield f"refused by the {plain(call.end.refusal.gate)} gate: {plain(call.end.refusal.reason)}"
    if call.end.waited_s >= SHOWN_WAIT_S:
        taken = show_duration(call.end.duration_s)
        yield f"waited  {show_duration(call.end.waited_s)} of its {taken} for its turn: others were running"
    if call.end.reason:
        yield f"reason  {plain(call.end.reason)}"
    if usage := call.end.usage:
        memory = show_size(usage.peak_memory_bytes)
        calls = counted(usage.calls, "call")
        yield f"usage   cpu {show_duration(usage.cpu_s)}, peak memory {memory}, {calls}"
    yield from _uncommitted(call.path)
    if told := _of_calls(node):
        yield f"calls   {plain(told)}"
    if call.end.layers:
        yield f"layers  {plain(', '.join(call.end.layers))}"
    yield from _block("stdout", call.end.stdout)
    yield from _block("stderr", call.end.stderr)
    if call.end.data is not None:
        yield from _block("data", _pretty(call.end.data).encode(errors="backslashreplace"))


def _uncommitted(record: Path) -> Iterator[str]:
    """What the commit of the call's result lacks of the worktree, in lines."""
    try:
        listed = json.loads((record / UNCOMMITTED).read_bytes())
        rows = [(str(each["path"]), str(each["reason"])) for each in listed["left_out"]]
        more = len(rows) - SHOWN_UNCOMMITTED + int(listed["more"])
    except (OSError, ValueError, KeyError, TypeError):
        return
    for path, reason in rows[:SHOWN_UNCOMMITTED]:
        yield f"not committed: {plain(path)}: {plain(reason)}"
    if more > 0:
        yield f"not committed: {more} more; {record / UNCOMMITTED} lists them"


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


def _as_json(node: CallNode, held: Held) -> dict[str, JSON]:
    call, end = node.call, node.call.end
    question = held.get(call.path)
    return {
        "id": call.call.id,
        "given_id": call.call.given_id,
        "name": call.call.name,
        "parent": call.parent,
        "at": call.at.isoformat() if call.at else None,
        "running": end is None and question is None and is_in_use(node.call.path.parents[1]),
        "asked_again_in": _asked_again(call).rpartition(" ")[2] or None,
        "held": question and {"call": question.id, "gate": question.gate, "reason": question.reason},
        "outcome": str(end.outcome) if end else None,
        "exit_code": end.exit_code if end else None,
        "duration_s": end.duration_s if end else None,
        "waited_s": end.waited_s if end else None,
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
        "unread": sorted(call.unread),
        "unrecorded": end.unrecorded if end else 0,
        "damage": call.damage,
        "record": str(call.path),
        "calls": [_as_json(each, held) for each in node.calls],
    }
