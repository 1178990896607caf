"""Which step or record somebody means: from a few words to a folder under `steps`, never outside."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from litany_engine.records.ids import agent_id_fault, call_id_fault, record_name
from litany_engine.records.record_files import RecordError
from litany_engine.records.records import step_name, step_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

SHAPES = "CALL, NNN (or its number), NNN/CALL, AGENT/NNN, AGENT/NNN/CALL, or the path of a step or record"

_ADDRESS = re.compile(
    r"(?:(?P<agent>[^/]+)/)?(?P<step>[0-9]{1,9})(?:/tools)?(?:/(?P<call>[^/]+))?(?:/(?:input|output)\.json.*|/[a-z_]+\.py)?",
    re.ASCII,
)


def find_record(steps: Path, target: str | None = None, agent: str | None = None) -> Path:
    """The folder of the step or record that somebody means.

    Args:
        steps: the workspace's `steps` folder.
        target: one of `SHAPES`; None for the step that was opened last. A bare call id is looked for in all
            steps, the last opened first, and the first find is meant; so is the id that a provider gave.
        agent: whose steps to look at; None for every agent's.

    Raises:
        RecordError: there is nothing of that name; says what was looked for and where.
    """
    recent = _steps(steps, agent)
    if target is None:
        if recent:
            return recent[0]
        whose = f" of agent {agent}" if agent else ""
        raise RecordError(f"no step{whose} in {steps}; a run makes one")
    wanted = _relative(steps, target).removeprefix("steps/").rstrip("/")
    found = next(_matches(recent, wanted, target), None)
    if found is None:
        raise RecordError(f"no step or call {target!r} in {steps}; name one as {SHAPES}")
    return found


def _matches(recent: list[Path], wanted: str, given: str) -> Iterator[Path]:
    if parts := _ADDRESS.fullmatch(wanted):
        owner, number, call = parts["agent"], step_name(int(parts["step"])), parts["call"]
        for step in recent:
            if step.name == number and owner in {None, step.parent.name}:
                if call is None:
                    yield step
                elif call_id_fault(call) is None and (step / "tools" / call).is_dir():
                    yield step / "tools" / call
    for name in (wanted, record_name(given)):
        if call_id_fault(name) is None:
            for step in recent:
                if (step / "tools" / name).is_dir():
                    yield step / "tools" / name


def _relative(steps: Path, target: str) -> str:
    """A path that leads into `steps` from where the reader stands, without the way there; else as it is."""
    try:
        return str(Path(target).resolve().relative_to(steps.resolve()))
    except (ValueError, OSError, RuntimeError):
        return target


def _steps(steps: Path, agent: str | None) -> list[Path]:
    """Steps, the last opened first."""
    try:
        owners = [agent] if agent else [each.name for each in steps.iterdir() if each.is_dir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RecordError(f"cannot read {steps}: {error.strerror}") from error
    found = [
        steps / owner / step_name(number)
        for owner in owners
        if agent_id_fault(owner) is None
        for number in step_numbers(steps / owner)
    ]
    return sorted(found, key=lambda each: (each.stat().st_mtime_ns, each.name), reverse=True)
