"""Start a command where another user can read an interpreter that lies below a private home.

`readable_python.py UID PATHS COMMAND…`, started by root: in a mount namespace of its own, each folder above a path of
PATHS (JSON) that others may not pass is replaced by an empty one with nothing in it but those paths, at the same
place. Then it becomes user UID (0: stays root) and runs the command. The host sees none of it.
"""

from __future__ import annotations

import ctypes
import json
import os
import stat
import sys
import tempfile
from pathlib import Path

CLONE_NEWNS = 0x20000
MS_BIND, MS_REC, MS_PRIVATE, MNT_DETACH = 0x1000, 0x4000, 0x40000, 2


def private_folders(paths: list[Path]) -> list[Path]:
    """The topmost folders on the way to these paths that other users may not pass."""
    found = set()
    for path in _whole_way(paths):
        found |= {each for each in reversed(path.parents) if not _others_may(each, stat.S_IXOTH)}
    return sorted(each for each in found if not found & set(each.parents))


def unreadable(paths: list[Path]) -> list[Path]:
    """Those of these paths that other users could not read even if they could get there."""
    wanted = {True: stat.S_IXOTH | stat.S_IROTH, False: stat.S_IROTH}
    return [each for each in paths if not _others_may(each, wanted[each.is_dir()])]


def _others_may(path: Path, bits: int) -> bool:
    return path.stat().st_mode & bits == bits


def _whole_way(paths: list[Path]) -> list[Path]:
    """The paths, the symbolic links on the way to them, and what these lead to."""
    found: set[Path] = set()
    for path in paths:
        found |= {path, path.resolve(), *_links(path)}
    return sorted(found)


def _links(path: Path) -> list[Path]:
    """The symbolic links on the way to a path, itself included."""
    for each in (*reversed(path.parents), path):
        if each.is_symlink():
            return [
                each,
                *_links(Path(os.path.normpath(each.parent / each.readlink() / path.relative_to(each)))),
            ]
    return []


def show(paths: list[Path]) -> None:
    """Make the paths reachable for every user, in a mount namespace of this process.

    Raises:
        OSError: the kernel gives no mount namespace.
    """
    libc = ctypes.CDLL(None, use_errno=True)

    def must(result: int) -> None:
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def mount(
        source: Path | None, target: Path, kind: str | None, flags: int, data: str | None = None
    ) -> None:
        given = [None if each is None else os.fsencode(each) for each in (source, target, kind)]
        must(libc.mount(*given, ctypes.c_ulong(flags), None if data is None else data.encode()))

    def bind(source: Path, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.mkdir(exist_ok=True) if source.is_dir() else target.touch()
        mount(source, target, None, MS_BIND | MS_REC)

    way, folders = _whole_way(paths), private_folders(paths)
    must(libc.unshare(CLONE_NEWNS))
    mount(None, Path("/"), None, MS_REC | MS_PRIVATE)
    for folder in folders:
        inside = [each for each in way if folder in each.parents]
        links = {each: each.readlink() for each in inside if each.is_symlink()}
        real = {each for each in inside if each.resolve() == each}
        outermost = [each for each in real if not real & set(each.parents)]
        holder = Path(tempfile.mkdtemp(prefix="litany-test-"))
        mount(None, holder, "tmpfs", 0)  # what is made to mount over stays off the disk
        held = {each: holder / str(number) for number, each in enumerate(outermost)}
        for each, hold in held.items():
            bind(each, hold)
        mount(None, folder, "tmpfs", 0, "mode=755")
        for each, hold in held.items():
            bind(hold, each)
        for link, target in links.items():
            link.parent.mkdir(parents=True, exist_ok=True)
            if not link.is_symlink():  # else it lies below a path that is shown whole
                link.symlink_to(target)
        must(libc.umount2(os.fsencode(holder), MNT_DETACH))
        holder.rmdir()


def main() -> None:
    user = int(sys.argv[1])
    os.umask(0o022)
    show([Path(each) for each in json.loads(sys.argv[2])])
    if user:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    os.execvp(sys.argv[3], sys.argv[3:])


if __name__ == "__main__":
    main()
