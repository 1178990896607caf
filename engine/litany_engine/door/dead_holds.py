"""Held calls whose host has ended: they did not run, and their records are made to say so.

A host that is killed while a program waits for the operator can write nothing more. Its question is still on
file, and the lock on it has gone with the process; so whoever opens the workspace next knows what became of
the call, unlike of one that was running.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from litany_engine.door.calls import CallEnd, ToolCall
from litany_engine.door.holds import FOLDER, Holds
from litany_engine.records.record_files import RecordError, encode, output_of, put_once
from litany_runtime.outcome import EXIT_CODES, Outcome
from litany_stubs.words import Refusal

if TYPE_CHECKING:
    from pathlib import Path

    from litany_engine.door.holds import Question


def refuse_dead_holds(root: Path) -> list[Question]:
    """Complete the records of held calls whose host has ended.

    Args:
        root: the workspace's root folder.

    Returns:
        The calls that were refused so; a second time there are none.
    """
    if not (root / FOLDER).is_dir():
        return []
    dead = Holds(root).sweep()
    for each in dead:
        _refuse(root, each)
    return dead


def _refuse(root: Path, question: Question) -> None:
    now = datetime.now(UTC)
    reason = (
        f"{question.name!r} was held for the operator's answer ({question.reason}) when the process that "
        "waited for it ended; it was not run"
    )
    end = CallEnd(
        ToolCall(question.id, question.name, question.input),
        Outcome.REFUSED,
        EXIT_CODES[Outcome.REFUSED],
        started_at=_moment(question.since, now),
        ended_at=now,
        duration_s=(now - _moment(question.since, now)).total_seconds(),
        refusal=Refusal(question.gate, reason),
        agent=question.agent,
        parent=question.parent,
    )
    folder = root / question.record
    if question.record.startswith("steps/") and ".." not in question.record and folder.is_dir():
        try:
            put_once(folder, "output.json", encode(output_of(end)))
        except RecordError:
            return  # settlement says what it can of a record without an end


def _moment(text: str, otherwise: datetime) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return otherwise
