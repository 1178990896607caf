"""A root with nothing in it but what programs may see.

The zygote's root is a small tmpfs with the interpreter's library mounted read-only under its own names, three
devices, and the folder of all worktrees at a hidden place. A child mounts its own agent's worktree from there
to `/worktree`, a `/tmp` of its own, and lets go of the hidden place: other agents' files are then nowhere,
not merely forbidden.

Trees are taken as descriptors first and attached later (open_tree, move_mount), for two reasons: root can
take what it alone can reach before it gives itself up, and a path may lie beneath the place where the new
root is built. Mounted so, by descriptor, no path is walked twice.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from litany_runtime.confine import identity, kernel, landlock
from litany_runtime.confine.faults import ConfinementError, layer, must
from litany_runtime.confine.plan import Layer

if TYPE_CHECKING:
    from litany_runtime.confine.identity import Identity
    from litany_runtime.confine.plan import ZygotePlan

WORKTREE = "/worktree"
"""Where a program finds its agent's worktree."""

TMP = "/tmp"  # noqa: S108 - the program's own, in a mount namespace of its own
WORKTREES = "/.worktrees"
"""Where the zygote keeps all worktrees; a child lets go of it."""

BEHIND_TMP = "/.behind-tmp"
"""What the zygote's /tmp holds, where packages live in the host's; a child's covers it."""

_MASKS = "/.masks"
MASK_FILE = f"{_MASKS}/file".encode()
"""An empty file, to be mounted over one."""

MASK_FOLDER = f"{_MASKS}/folder".encode()
"""An empty folder, to be mounted over one."""

_ROOT_OPTIONS = b"size=1m,nr_inodes=4096,mode=755"

# No execution anywhere: extension modules are mapped before the root changes.
_PLAIN_FLAGS = kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NODEV | kernel.MOUNT_ATTR_NOEXEC
_SEALED_FLAGS = _PLAIN_FLAGS | kernel.MOUNT_ATTR_RDONLY
_PLAIN = kernel.mount_attributes(_PLAIN_FLAGS)
SEALED = kernel.mount_attributes(_SEALED_FLAGS)
_DEVICE = kernel.mount_attributes(_SEALED_FLAGS & ~kernel.MOUNT_ATTR_NODEV)
TMPFS = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC


class Trees(NamedTuple):
    """Detached trees, by descriptor.

    Attributes:
        read_only: (path, tree) of what programs may read, parents before what lies in them.
        devices: the same of the devices.
        worktrees: all worktrees, or None.
    """

    read_only: list[tuple[str, int]]
    devices: list[tuple[str, int]]
    worktrees: int | None


def take_trees(plan: ZygotePlan, who: Identity) -> Trees:
    """Take everything that the new root will show.

    As real root before giving it up, or as an ordinary user inside a mount namespace of its own.

    Raises:
        ConfinementError: a path is missing, or its file system cannot show root's files as another's.
    """
    for path in plan.read_only:
        if beneath(WORKTREE, str(path)):
            raise ConfinementError(
                Layer.ROOT,
                f"{path} would be hidden by the worktree",
                f"Install it elsewhere than in {WORKTREE}",
            )
    read_only = [(str(path), _take(str(path), SEALED, Layer.ROOT)) for path in sorted(plan.read_only)]
    devices = [(path, _take(path, _DEVICE, Layer.ROOT)) for path, _ in landlock.DEVICES]
    worktrees = None
    if plan.worktrees is not None:
        worktrees = _take(str(plan.worktrees), _PLAIN, Layer.WORKTREE)
        if who.maps_root:
            _map_root(worktrees, plan.worktrees, who)
    return Trees(read_only, devices, worktrees)


def _take(path: str, attributes: bytes, name: Layer) -> int:
    tree = must(
        kernel.open_tree(kernel.AT_FDCWD, os.fsencode(path), kernel.CLONE_TREE), name, f"open_tree of {path}"
    )
    must(_set(tree, attributes), name, f"mount_setattr of {path}")
    return tree


def _set(tree: int, attributes: bytes) -> int:
    return kernel.mount_setattr(tree, b"", kernel.WHOLE_TREE, attributes, kernel.MOUNT_ATTR_BYTES)


def _map_root(tree: int, path: Path, who: Identity) -> None:
    with layer(Layer.USER):
        namespace = identity.user_namespace_for_root(who)
    mapped = _set(tree, kernel.mount_attributes(kernel.MOUNT_ATTR_IDMAP, namespace))
    reason = os.strerror(kernel.last_error())
    os.close(namespace)
    if mapped < 0:
        raise ConfinementError(
            Layer.WORKTREE,
            f"{path} belongs to root, programs never run as root, and its file system cannot map owners"
            f" (mount_setattr failed: {reason}; overlay and network file systems cannot)",
            "Start litany as an ordinary user, or give the folder to one (`chown -R`), or keep the workspace"
            " on ext4, xfs, btrfs or tmpfs",
        )


def build_root(trees: Trees) -> None:
    """Make the new root of this mount namespace and leave the old one for good.

    Raises:
        ConfinementError: a mount was refused.
    """
    # Any existing folder can carry the new root, since all that is needed is held by descriptor; /proc is one
    # that was there a moment ago, for the id maps.
    root = "/proc"
    must(kernel.mount(None, b"/", None, kernel.MS_REC | kernel.MS_PRIVATE, None), Layer.ROOT, "mount")
    must(kernel.mount(b"tmpfs", root.encode(), b"tmpfs", TMPFS, _ROOT_OPTIONS), Layer.ROOT, "mount")
    with layer(Layer.ROOT):
        for path in (TMP, WORKTREE, WORKTREES, f"{_MASKS}/folder"):
            os.makedirs(root + path, 0o755)
        _touch(f"{root}{_MASKS}/file")
        for path, tree in (*trees.read_only, *trees.devices):
            _attach(tree, path, root)
        _hide_other_packages(trees, root)
        if any(beneath(TMP, path) for path, _ in trees.read_only):
            os.mkdir(root + BEHIND_TMP)
            flags = kernel.MS_BIND | kernel.MS_REC
            source, target = f"{root}{TMP}".encode(), f"{root}{BEHIND_TMP}".encode()
            must(kernel.mount(source, target, None, flags, None), Layer.ROOT, "mount")
        if trees.worktrees is not None:
            _attach(trees.worktrees, WORKTREES, root)
        os.chdir(root)
    # Both roots at one place: the old one ends up on top, and is let go.
    must(kernel.pivot_root(b".", b"."), Layer.ROOT, "pivot_root")
    must(kernel.umount2(b".", kernel.MNT_DETACH), Layer.ROOT, "umount2")
    os.chdir("/")
    sealed = kernel.mount_setattr(kernel.AT_FDCWD, b"/", 0, SEALED, kernel.MOUNT_ATTR_BYTES)
    must(sealed, Layer.ROOT, "mount_setattr")


def _attach(tree: int, path: str, root: str) -> None:
    target = root + path
    if not os.path.lexists(target):
        if stat.S_ISDIR(os.fstat(tree).st_mode):
            os.makedirs(target, 0o755)
        else:
            os.makedirs(os.path.dirname(target), 0o755, exist_ok=True)
            _touch(target)
    _put(tree, os.fsencode(target))


def _put(tree: int, path: bytes) -> None:
    moved = kernel.move_mount(tree, b"", kernel.AT_FDCWD, path, kernel.FROM_DESCRIPTOR)
    must(moved, Layer.ROOT, "move_mount")
    os.close(tree)


def _touch(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444))


def _hide_other_packages(trees: Trees, root: str) -> None:
    """Cover a `site-packages` inside the standard library: what is installed there was not asked for."""
    shown = [path for path, _ in trees.read_only]
    empty = f"{root}{_MASKS}/folder".encode()
    for path in shown:
        folder = f"{path}/site-packages"
        if os.path.isdir(root + folder) and not any(beneath(folder, each) for each in shown):
            tree = kernel.open_tree(kernel.AT_FDCWD, empty, kernel.CLONE_TREE)
            _put(must(tree, Layer.ROOT, "open_tree"), os.fsencode(root + folder))


def beneath(folder: str, path: str) -> bool:
    """Whether a path lies in a folder."""
    return f"{path}/".startswith(f"{folder}/")


def check_name(name: str) -> None:
    """Refuse a worktree name that is not one path component.

    Raises:
        ConfinementError: it could lead elsewhere.
    """
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        raise ConfinementError(Layer.WORKTREE, f"{name!r} is not the name of a folder", "")
