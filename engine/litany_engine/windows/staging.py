"""What an agent's worktree holds, as a git tree: the part of a commit that is not the transcript's.

The worktree is in the hands of the agent, so nothing in it decides what is committed: neither a `.gitignore`
nor a `.gitattributes` nor a folder that looks like a repository. Its `.git` is never followed: the repository
is opened by its own administration folder. The operator's ignore patterns alone leave files out, and what git
cannot hold is left out too. Each is listed: an answer must not be lost because of a file, and no file may be
hidden.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litany_engine.rules.paths import Place

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pygit2

    from litany_engine.rules.paths import PathPattern
    from litany_stubs.words import JSON

MAX_STAGED_FILE_BYTES = 64 * 1024 * 1024
"""Largest file that is committed: what a program may write by default. A larger one stays in the worktree
alone, since every version of it would stay in the repository for good."""

MESSAGES = "messages"
"""The transcript's folder, which is committed from what was committed before and never from the worktree."""

MAX_NOTES = 20
"""Files named in a commit's message that were left out of it; a folder of thousands would bury the rest."""

MAX_LISTED = 1000
"""Files listed in a record that were left out of its commit."""

MAX_REASON_CHARS = 200
"""Length of a reason; libgit2's name the whole path."""

MAX_PATH_BYTES = 4000
"""Longest path that is looked at, in bytes from the worktree on; Linux takes 4095 with the worktree's own."""

_ATTRIBUTES = (
    b"# Files are committed as they are, whatever a .gitattributes says.\n* -text -ident -filter -eol\n"
)
"""The repository's own attributes, which git places above those in a worktree (gitattributes(5))."""

LIBGIT2_DEPTH = 90
"""Folders in one another from which on every file is looked at; libgit2's diff gives up at a hundred
(FILESYSTEM_MAX_DEPTH in its iterator.c)."""

_OWN = (".git", MESSAGES)
"""What litany itself keeps in a worktree."""

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or folder of the worktree that is not in the commit.

    Attributes:
        path: from the worktree on; of a folder all that is in it is left out.
        reason: why.
    """

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path!a}: {self.reason}"


class Staged:
    """The worktree of an agent, staged in its index.

    Args:
        administration: the worktree's folder in the repository.
        worktree: the worktree.
        ignore: the operator's patterns of what is not committed.

    Attributes:
        left_out: what is not in the commit, sorted by path.
    """

    def __init__(self, administration: Path, worktree: Path, ignore: Sequence[PathPattern] = ()) -> None:
        import pygit2  # noqa: PLC0415 - see git.py

        _commit_files_as_they_are(administration.parents[1])
        self._worktree = worktree
        self._ignore = ignore
        self._repository = pygit2.Repository(str(administration), pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
        self.left_out: list[LeftOut] = []
        try:
            self._index = self._repository.index
        except pygit2.GitError:  # a damaged index is made anew: everything is looked at once more
            (administration / "index").unlink(missing_ok=True)
            self._index = self._repository.index

    def tree(self) -> pygit2.Oid:
        """Stage what changed; only files whose size or times changed are read.

        Returns:
            The id of the tree. When the worktree cannot be looked at, that of what was staged before.
        """
        import pygit2  # noqa: PLC0415 - see git.py

        present = _Walk(self._worktree, self._ignore)
        self.left_out += present.left_out
        try:
            gone, changed = self._changes(present)
        except (pygit2.GitError, OSError) as error:
            self.left_out.append(LeftOut("./", f"the worktree could not be looked at: {error}"))
            gone, changed = [], []
        for path in gone:
            with suppress(OSError):  # it is not in the index
                self._index.remove(path)
        for path in changed:
            try:
                self._add(path)
            except (pygit2.GitError, OSError, ValueError) as error:
                self.left_out.append(LeftOut(path, str(error)[:MAX_REASON_CHARS]))
        self.left_out.sort(key=lambda each: each.path)
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

    def _changes(self, present: _Walk) -> tuple[list[str], list[str]]:
        """What of the index is not to be committed any more, and what is new or may have changed."""
        import pygit2  # noqa: PLC0415 - see git.py

        files = set(present.files)
        gone: list[str] = []
        if present.is_beyond_libgit2 or self._ignore:
            staged = (each.path for each in self._index)
            gone = [each for each in staged if each not in files and not _is_transcript(each)]
        if present.is_beyond_libgit2:
            return gone, present.files
        flags = pygit2.enums.DiffOption
        diff = self._index.diff_to_workdir(
            flags=flags.INCLUDE_UNTRACKED
            | flags.RECURSE_UNTRACKED_DIRS
            | flags.INCLUDE_IGNORED
            | flags.RECURSE_IGNORED_DIRS
            | flags.INCLUDE_TYPECHANGE
            | flags.SKIP_BINARY_CHECK
        )
        changed = []
        for each in diff.deltas:
            path = os.fsdecode(each.new_file.raw_path)
            if _is_transcript(path):
                continue
            if path in files:
                changed.append(path)
            elif path.endswith(
                "/"
            ):  # what libgit2 takes for a repository, and is a folder with files all the same
                changed += [each for each in present.files if each.startswith(path)]
            elif each.status == pygit2.enums.DeltaStatus.DELETED:
                gone.append(path)
        return gone, changed

    def _add(self, path: str) -> None:
        size = (self._worktree / path).lstat().st_size
        if size > MAX_STAGED_FILE_BYTES:
            raise ValueError(f"{size} bytes; files over {MAX_STAGED_FILE_BYTES} bytes are not committed")
        self._index.add(path)


class _Walk:
    """The names in a worktree, found without following a link.

    Attributes:
        files: every file and link that is to be committed, from the worktree on. left_out: what git cannot
        hold, and what the operator leaves out. is_beyond_libgit2: whether a folder lies deeper than its diff
        looks, or a path is longer than it takes.
    """

    def __init__(self, worktree: Path, ignore: Sequence[PathPattern]) -> None:
        self.files: list[str] = []
        self.left_out: list[LeftOut] = []
        self.is_beyond_libgit2 = False
        self._root = os.fspath(worktree)
        self._ignore = ignore
        waiting = [""]
        while waiting:
            waiting += self._look(waiting.pop())

    def _look(self, folder: str) -> list[str]:
        """Take in what is in one folder, and return the folders in it; a folder's name ends with a slash."""
        if folder.count("/") > LIBGIT2_DEPTH:
            self.is_beyond_libgit2 = True
        folders: list[str] = []
        try:
            with os.scandir(f"{self._root}/{folder}") as entries:
                for each in entries:
                    path = folder + each.name
                    if path in _OWN:
                        continue
                    if reason := self._reason_against(each, path):
                        self.left_out.append(LeftOut(path, reason))
                    elif each.is_dir(follow_symlinks=False):
                        folders.append(f"{path}/")
                    else:
                        self.files.append(path)
        except OSError as error:
            self.left_out.append(LeftOut(folder or "./", f"cannot be listed: {error.strerror}"))
        return folders

    def _reason_against(self, entry: os.DirEntry[str], path: str) -> str:
        """Why an entry is left out; "" when it is not."""
        if entry.name.casefold() == ".git":
            return "git holds nothing of that name"
        if len(os.fsencode(path)) > MAX_PATH_BYTES:
            self.is_beyond_libgit2 = True
            return f"a path of more than {MAX_PATH_BYTES} bytes"
        if self._ignore:
            names = tuple(path.split("/"))
            if any(each.matches(Place(names, names)) for each in self._ignore):
                return "[transcript] ignore"
        if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False) or entry.is_symlink():
            return ""
        kind = stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode)
        return f"{_KINDS.get(kind, 'of an unknown kind')}, not a file"


def as_json(left_out: Sequence[LeftOut]) -> dict[str, JSON]:
    """The list for a record: at most `MAX_LISTED` rows, and how many more there are."""
    rows: list[JSON] = [{"path": each.path, "reason": each.reason} for each in left_out[:MAX_LISTED]]
    return {"left_out": rows, "more": max(0, len(left_out) - MAX_LISTED)}


def _is_transcript(path: str) -> bool:
    return path == MESSAGES or path.startswith(f"{MESSAGES}/")


def _commit_files_as_they_are(repository: Path) -> None:
    """Have the repository's own attributes convert nothing: no line ends, no keywords, no filters."""
    attributes = repository / "info" / "attributes"
    with suppress(OSError):
        if attributes.read_bytes() == _ATTRIBUTES:
            return
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_bytes(_ATTRIBUTES)
