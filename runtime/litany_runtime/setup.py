"""What an operator decides for all programs of one supervisor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from litany_runtime.confine import Isolation

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Setup:
    """What an operator decides for all programs of one supervisor.

    Attributes:
        worktree_root: the folder whose direct subfolders are the agents' worktrees; None when no program has
            files.
        isolation: the layers that must hold, or nothing runs.
        modules: packages that programs may import beyond the standard ones; each widens the language layer.
        warm: children kept waiting for each kind of program that has run; 0 forks on demand.
        language_layer: False switches the policy off. For tests of the kernel layer alone; no command and no
            file sets it.
    """

    worktree_root: Path | None = None
    isolation: Isolation = Isolation.FULL
    modules: tuple[str, ...] = ()
    warm: int = 1
    language_layer: bool = True
