"""Which deferred tools an agent has loaded: for that agent alone, for good, in every process there.

    loaded/<agent>.jsonl      names of tools, one a line, added by a search

A name that is no tool here, or no deferred one, is passed over: the registry decides what there is, the grant
who may call it.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from litany_engine.records.ids import agent_id_fault
from litany_engine.records.record_files import RecordError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FOLDER = "loaded"
"""Under the workspace's root."""

_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


class LoadedTools:
    """The loaded tools of the agents of one workspace.

    Args:
        root: the workspace's root folder.
    """

    def __init__(self, root: Path) -> None:
        self._folder = root / FOLDER
        self._read: dict[str, tuple[tuple[int, int, int], frozenset[str]]] = {}

    def of(self, agent: str) -> frozenset[str]:
        """The names that an agent has loaded, as the file says now."""
        try:
            found = self._path(agent).lstat()
        except OSError:
            return frozenset()
        as_read = (found.st_ino, found.st_size, found.st_mtime_ns)
        known = self._read.get(agent)
        if known is None or known[0] != as_read:
            known = self._read[agent] = (as_read, frozenset(_names(self._path(agent))))
        return known[1]

    def load(self, agent: str, names: Iterable[str]) -> None:
        """Add names to what an agent has loaded.

        Raises:
            RecordError: it cannot be written down; nothing is loaded.
        """
        new = [name for name in names if name not in self.of(agent)]
        if not new:
            return
        path = self._path(agent)
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            file = os.open(path, _APPEND, 0o600)
            try:  # one write: two processes that add lines do not cut each other's
                os.write(file, "".join(f"{json.dumps(name)}\n" for name in new).encode())
            finally:
                os.close(file)
        except OSError as error:
            raise RecordError(f"cannot write down what is loaded in {path}: {error.strerror}") from error

    def _path(self, agent: str) -> Path:
        if fault := agent_id_fault(agent):
            raise RecordError(fault)
        return self._folder / f"{agent}.jsonl"


def _names(path: Path) -> Iterable[str]:
    """The names in a file; a line that cannot be read loads nothing."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return
    for line in lines:
        try:
            name = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(name, str):
            yield name
