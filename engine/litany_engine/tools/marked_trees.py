"""The mark of a process tree, and the last resort for one whose keeper was itself killed.

What cleared its environment is not found by the mark; the spawner finds it (`keeper.py`).
"""

from __future__ import annotations

from contextlib import suppress

MARKED_LOOKS = 50
"""Looks over the process table for what is left of a lost tree: one finds it, unless it forks meanwhile."""
TREE_VARIABLE = "LITANY_PROCESS_TREE"
"""In each tool's environment: one token for each tree it is in, outermost first, joined by colons."""


def end_marked(token: str) -> int:
    """SIGKILL every process whose environment says that it belongs to a tree; how many there were."""
    import psutil  # noqa: PLC0415 - rarely needed, slow to import

    found: set[psutil.Process] = set()
    for _ in range(MARKED_LOOKS):
        marked = set()
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if token in process.environ().get(TREE_VARIABLE, "").split(":"):
                    process.kill()
                    marked.add(process)
        found |= marked
        if not marked:  # else one of them may have started another behind our back
            break
    return len(found)
