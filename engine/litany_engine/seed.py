"""The files that a workspace made for one run begins with: a copy, so that no run changes the user's own."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

MAX_FILES = 20_000
MAX_BYTES = 512 * 1024 * 1024
"""What is copied without being asked: a large project, in a second or two. For more there is `--files`."""


class SeedError(RuntimeError):
    """Files cannot be copied into a new workspace; names the file and the cause."""


def tracked_files(folder: Path, worktree: Path) -> str:
    """Copy what git tracks under a folder, as it is on disk; a folder outside any repository has nothing.

    Returns:
        What was copied, in words, or "" when there was nothing to copy.

    Raises:
        SeedError: a file cannot be copied.
    """
    import pygit2  # noqa: PLC0415  most runs are in a workspace

    found = pygit2.discover_repository(str(folder))
    if found is None:
        return ""
    repository = pygit2.Repository(found)
    if repository.workdir is None:
        return ""
    root = Path(repository.workdir).resolve()
    below = folder.resolve().relative_to(root)
    prefix = "" if below == Path() else f"{below}/"
    names = [entry.path for entry in repository.index if entry.path.startswith(prefix)]
    paths = [root / name for name in names]
    size = sum(path.lstat().st_size for path in paths if path.is_file() and not path.is_symlink())
    if len(paths) > MAX_FILES or size > MAX_BYTES:
        return f"no files ({folder} tracks {len(paths)}, {size >> 20} MiB: name a folder with --files)"
    copied = sum(
        _copy(path, worktree / name.removeprefix(prefix)) for path, name in zip(paths, names, strict=True)
    )
    return f"a copy of the {copied} files that git tracks in {folder}" if copied else ""


def copy_folder(folder: Path, worktree: Path) -> int:
    """Copy a folder's regular files, `.git` excepted; links and devices are left out.

    Returns:
        How many files were copied.

    Raises:
        SeedError: it is no folder, or a file cannot be copied.
    """
    if not folder.is_dir():
        raise SeedError(f"{folder} is not a folder; --files names the folder whose files the run starts with")
    copied = 0
    for current, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = Path(current, name)
            if name != ".git":
                copied += _copy(path, worktree / path.relative_to(folder))
    return copied


def _copy(source: Path, target: Path) -> bool:
    if source.is_symlink() or not source.is_file():
        return False
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    except OSError as error:
        raise SeedError(f"{source} cannot be copied into the new workspace: {error.strerror}") from error
    return True
