"""Completing the records of hosts that died: those with no end, whose writer is gone for certain.

Every process that may write in a step holds a shared lock on it (`records.py`), which the kernel takes away
when the process dies. So a step that can be locked for oneself alone is in nobody's hands, and a call in it
without an end has lost its host. A step in use is passed over, whoever's it is.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from litany_engine.records.recorded import complete_dead
from litany_engine.records.records import step_name, step_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def complete_dead_records(steps: Path) -> list[Path]:
    """Write the missing ends of an agent's dead calls.

    Args:
        steps: the agent's folder of steps.

    Returns:
        The records that were completed; a second time there are none.

    Raises:
        RecordError: a record cannot be written.
    """
    completed = []
    for number in step_numbers(steps):
        tools = steps / step_name(number) / "tools"
        with _alone_in(tools) as alone:
            if alone:
                completed += [folder for folder in _without_end(tools) if complete_dead(folder)]
    return completed


def is_in_use(step: Path) -> bool:
    """Whether a process may still write in a step: else a call in it without an end has lost its host."""
    with _alone_in(step / "tools") as alone:
        return not alone


@contextmanager
def _alone_in(folder: Path) -> Iterator[bool]:
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        yield False  # a step whose host died before it had a place for records
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _without_end(tools: Path) -> Iterator[Path]:
    with os.scandir(tools) as found:
        folders = [tools / each.name for each in found if each.is_dir(follow_symlinks=False)]
    for folder in folders:
        if not (folder / "output.json").exists():
            for half in folder.glob(".*"):  # a file that was being written
                with suppress(OSError):
                    half.unlink()
            yield folder
