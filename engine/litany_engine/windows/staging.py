"""What an agent changed in its worktree, as a git tree: the part of a commit that is not the transcript's.

The worktree is in the hands of the agent, so nothing in it is believed. Its `.git` is never followed: the
repository is opened by its own administration folder. A file that git cannot hold is left out and named: an
answer must not be lost because a program made a folder that git takes for a repository.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pygit2

MAX_STAGED_FILE_BYTES = 64 * 1024 * 1024
"""Largest file that is committed: what a program may write by default. A larger one stays in the worktree
alone, since every version of it would stay in the repository for good."""

MESSAGES = "messages"
"""The transcript's folder, which is committed from what was committed before and never from the worktree."""

MAX_NOTES = 20
"""Files named in a commit that were left out of it; a folder of thousands would bury the rest."""


class Staged:
    """The worktree of an agent, staged in its index.

    Attributes:
        notes: what was left out, and why.
    """

    def __init__(self, administration: Path, worktree: Path) -> None:
        import pygit2  # noqa: PLC0415 - see git.py

        self._worktree = worktree
        self._repository = pygit2.Repository(str(administration), pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
        self.notes: list[str] = []
        try:
            self._index = self._repository.index
        except pygit2.GitError:  # somebody damaged it; without it everything is looked at once more
            (administration / "index").unlink(missing_ok=True)
            self._index = self._repository.index

    def tree(self) -> pygit2.Oid:
        """Stage what changed; only files whose size or times changed are read.

        Returns:
            The id of the tree. When the worktree cannot be looked at, that of what was staged before.
        """
        import pygit2  # noqa: PLC0415 - see git.py

        flags = pygit2.enums.DiffOption
        try:
            changes = self._index.diff_to_workdir(
                flags=flags.INCLUDE_UNTRACKED
                | flags.RECURSE_UNTRACKED_DIRS
                | flags.INCLUDE_TYPECHANGE
                | flags.SKIP_BINARY_CHECK
            )
            deltas = [(each.status, os.fsdecode(each.new_file.raw_path)) for each in changes.deltas]
        except (pygit2.GitError, OSError) as error:
            self.notes.append(f"the worktree could not be looked at: {error}")
            deltas = []
        for status, path in deltas:
            if path == MESSAGES or path.startswith(f"{MESSAGES}/"):
                continue
            try:
                if status == pygit2.enums.DeltaStatus.DELETED:
                    self._index.remove(path)
                else:
                    self._add(path)
            except (pygit2.GitError, OSError, ValueError) as error:
                self.notes.append(f"{path!a}: {error}")
        if len(self.notes) > MAX_NOTES:
            self.notes[MAX_NOTES:] = [f"and {len(self.notes) - MAX_NOTES} more"]
        tree: pygit2.Oid = self._index.write_tree()
        return tree

    def keep(self, entry: str) -> None:
        """Take the worktree's copy of an entry into the index: git there then shows it as committed.

        By its path and not by its blob, so that its times are in the index and it need not be read again.
        """
        import pygit2  # noqa: PLC0415 - see git.py

        with suppress(pygit2.GitError, OSError):  # the index is a cache: the next staging makes it again
            self._index.add(f"{MESSAGES}/{entry}")
        with suppress(pygit2.GitError, OSError):
            self._index.write()

    def free(self) -> None:
        """Let go of what the repository holds open."""
        self._repository.free()

    def _add(self, path: str) -> None:
        if path.endswith("/"):
            raise ValueError("a repository of its own; its history is there")
        size = (self._worktree / path).lstat().st_size
        if size > MAX_STAGED_FILE_BYTES:
            raise ValueError(f"{size} bytes; files over {MAX_STAGED_FILE_BYTES} bytes are not committed")
        self._index.add(path)
