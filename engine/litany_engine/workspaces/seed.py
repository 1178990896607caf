"""The files that a workspace made for one run begins with: a copy, so that no run changes the user's own."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from litany_engine.counted import counted

MAX_FILES = 20_000
MAX_BYTES = 512 * 1024 * 1024
"""What is copied without being asked: a large project, in a second or two. For more there is `--files`."""


MAX_NAMES = 10
"""Names of what was left out that are told."""


class SeedError(RuntimeError):
    """Files cannot be copied into a new workspace; names the file and the cause."""


@dataclass(slots=True)
class Copied:
    """What a copy has, and what it has not.

    Attributes:
        files: how many files and links it has.
        left_out: links that lead out of the folder, and what is neither file nor link; by their names in it.
    """

    files: int = 0
    left_out: list[str] = field(default_factory=list)

    def told(self) -> str:
        """What was left out, in words; "" when nothing was."""
        if not self.left_out:
            return ""
        names = ", ".join(self.left_out[:MAX_NAMES]) + (", …" if len(self.left_out) > MAX_NAMES else "")
        return f" (left out, since they lead out of it or are no files: {names})"


def tracked_files(folder: Path, worktree: Path) -> str:
    """Copy what git tracks under a folder, as it is on disk; a folder outside any repository has nothing.

    Returns:
        What was copied, in words.

    Raises:
        SeedError: a file cannot be copied.
    """
    import pygit2  # noqa: PLC0415  most runs are in a workspace

    found = pygit2.discover_repository(str(folder))
    repository = None if found is None else pygit2.Repository(found)
    if repository is None or repository.workdir is None:
        return f"no files ({folder} is in no git repository: name a folder with --files)"
    root = Path(repository.workdir).resolve()
    below = folder.resolve().relative_to(root)
    prefix = "" if below == Path() else f"{below}/"
    names = [entry.path.removeprefix(prefix) for entry in repository.index if entry.path.startswith(prefix)]
    paths = [root / below / name for name in names]
    size = sum(path.lstat().st_size for path in paths if path.is_file() and not path.is_symlink())
    if len(paths) > MAX_FILES or size > MAX_BYTES:
        return f"no files ({folder} tracks {len(paths)}, {size >> 20} MiB: name a folder with --files)"
    copied = Copied()
    for name in names:
        if os.path.lexists(root / below / name):  # what was deleted and not yet committed is not there
            _copy(root / below, worktree, name, copied)
    if not copied.files and not copied.left_out:
        return f"no files (git tracks none in {folder}: name a folder with --files)"
    return f"a copy of the {counted(copied.files, 'file')} that git tracks in {folder}{copied.told()}"


def copy_folder(folder: Path, worktree: Path) -> Copied:
    """Copy a folder's files and the links that stay inside it, `.git` excepted.

    Raises:
        SeedError: it is no folder, or a file cannot be copied.
    """
    if not folder.is_dir():
        raise SeedError(f"{folder} is not a folder; --files names the folder whose files the run starts with")
    copied = Copied()
    for current, folders, names in os.walk(folder):
        links = [name for name in folders if Path(current, name).is_symlink()]
        folders[:] = [name for name in folders if name != ".git" and name not in links]
        for name in [*names, *links]:
            if name != ".git":
                _copy(folder, worktree, str(Path(current, name).relative_to(folder)), copied)
    return copied


def _copy(folder: Path, worktree: Path, name: str, copied: Copied) -> None:
    source, target = folder / name, worktree / name
    if not (_stays_inside(folder, source) if source.is_symlink() else source.is_file()):
        if source.is_symlink() or not source.is_dir():  # a folder that git tracks is another repository
            copied.left_out.append(name)
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target, follow_symlinks=False)
    except OSError as error:
        raise SeedError(f"{source} cannot be copied into the new workspace: {error.strerror}") from error
    copied.files += 1


def _stays_inside(folder: Path, link: Path) -> bool:
    """Whether a link is relative and leads into the folder, as it is written and as it is followed."""
    target = link.readlink()
    if target.is_absolute():
        return False
    # Neither alone is enough: `../<this folder>/a` comes back to a folder whose copy has another name, and a
    # path through another link leads elsewhere than it reads.
    written = os.path.normpath(link.parent.relative_to(folder) / target)
    followed = Path(os.path.realpath(link))
    return written.split("/")[0] != ".." and followed.is_relative_to(os.path.realpath(folder))
