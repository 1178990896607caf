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

from litany_runtime.confine import identity, kernel
from litany_runtime.confine.faults import ConfinementError, layer
from litany_runtime.confine.plan import Layer
from litany_runtime.limits import MIB
from litany_runtime.program import FilePolicy

if TYPE_CHECKING:
    from litany_runtime.confine.identity import Identity
    from litany_runtime.confine.plan import ZygotePlan
    from litany_runtime.limits import Limits

WORKTREE = "/worktree"
"""Where a program finds its agent's worktree."""

TMP = "/tmp"  # noqa: S108 - the program's own, in a mount namespace of its own
_WORKTREES = "/.worktrees"
_MASKS = "/.masks"
_ROOT_BYTES = 1 * MIB
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")

# No execution anywhere: extension modules are mapped before the root changes.
_PLAIN_FLAGS = kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NODEV | kernel.MOUNT_ATTR_NOEXEC
_SEALED_FLAGS = _PLAIN_FLAGS | kernel.MOUNT_ATTR_RDONLY
_PLAIN = kernel.mount_attributes(_PLAIN_FLAGS)
_SEALED = kernel.mount_attributes(_SEALED_FLAGS)
_DEVICE = kernel.mount_attributes(_SEALED_FLAGS & ~kernel.MOUNT_ATTR_NODEV)
_TMPFS_FLAGS = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC


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
    with layer(Layer.ROOT):
        read_only = [(str(path), _take(str(path), _SEALED)) for path in sorted(plan.read_only)]
        devices = [(path, _take(path, _DEVICE)) for path in _DEVICES]
    worktrees = None
    if plan.worktrees is not None:
        with layer(Layer.WORKTREE):
            worktrees = _take(str(plan.worktrees), _PLAIN)
        if who.maps_root:
            _map_root(worktrees, plan.worktrees, who)
    return Trees(read_only, devices, worktrees)


def _take(path: str, attributes: bytes) -> int:
    try:
        tree = kernel.clone_tree(os.fsencode(path))
        kernel.set_tree(tree, attributes)
    except OSError as error:
        error.filename = f"{error.filename} of {path}"
        raise
    return tree


def _map_root(tree: int, path: Path, who: Identity) -> None:
    with layer(Layer.USER):
        namespace = identity.user_namespace_for_root(who)
    try:
        kernel.set_tree(tree, kernel.mount_attributes(0, namespace))
    except OSError as error:
        raise ConfinementError(
            Layer.WORKTREE,
            f"{path} belongs to root, programs never run as root, and its file system cannot map owners"
            f" (mount_setattr failed: {error.strerror}; overlay and network file systems cannot)",
            "Start litany as an ordinary user, or give the folder to one (`chown -R`), or keep the workspace"
            " on ext4, xfs, btrfs or tmpfs",
        ) from error
    finally:
        os.close(namespace)


def build_root(trees: Trees) -> None:
    """Make the new root of this mount namespace and leave the old one for good."""
    # Any existing folder can carry the new root, since all that is needed is held by descriptor; /proc is one
    # that was there a moment ago, for the id maps.
    root = "/proc"
    with layer(Layer.ROOT):
        kernel.mount(None, b"/", None, kernel.MS_REC | kernel.MS_PRIVATE, None)
        options = f"size={_ROOT_BYTES},nr_inodes=4096,mode=755".encode()
        kernel.mount(b"tmpfs", root.encode(), b"tmpfs", _TMPFS_FLAGS, options)
        for path in (TMP, WORKTREE, _WORKTREES, f"{_MASKS}/folder"):
            os.makedirs(root + path, 0o755)
        _touch(f"{root}{_MASKS}/file")
        for path, tree in (*trees.read_only, *trees.devices):
            _attach(tree, path, root)
        _hide_other_packages(trees, root)
        if trees.worktrees is not None:
            _attach(trees.worktrees, _WORKTREES, root)
        os.chdir(root)
        # Both roots at one place: the old one ends up on top, and is let go.
        kernel.pivot_root(b".", b".")
        kernel.unmount(b".")
        os.chdir("/")
        kernel.set_mount(b"/", _SEALED)


def _attach(tree: int, path: str, root: str) -> None:
    target = root + path
    if not os.path.lexists(target):
        if stat.S_ISDIR(os.fstat(tree).st_mode):
            os.makedirs(target, 0o755)
        else:
            os.makedirs(os.path.dirname(target), 0o755, exist_ok=True)
            _touch(target)
    kernel.attach_tree(tree, os.fsencode(target))
    os.close(tree)


def _touch(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444))


def _hide_other_packages(trees: Trees, root: str) -> None:
    """Cover a `site-packages` inside the standard library: what is installed there was not asked for."""
    shown = [path for path, _ in trees.read_only]
    for path in shown:
        folder = f"{path}/site-packages"
        if os.path.isdir(root + folder) and not any(f"{each}/".startswith(f"{folder}/") for each in shown):
            mask = kernel.clone_tree(f"{root}{_MASKS}/folder".encode())
            kernel.attach_tree(mask, os.fsencode(root + folder))
            os.close(mask)


def furnish_child(worktree: str | None, files: FilePolicy, limits: Limits) -> None:
    """Give this child, in a new mount namespace, its worktree and its /tmp, and nothing of anybody else's.

    Args:
        worktree: name of its folder among the worktrees, or None.
        files: what it may do there.
        limits: for the size of /tmp.

    Raises:
        ConfinementError: a mount was refused, or the name is no folder's.
    """
    with layer(Layer.MOUNT):
        kernel.unshare(kernel.CLONE_NEWNS)
    if worktree is not None and files is not FilePolicy.NONE:
        _mount_worktree(worktree, files)
    with layer(Layer.MOUNT):
        options = f"size={limits.tmp_bytes},nr_inodes={limits.tmp_files},mode=700".encode()
        kernel.mount(b"tmpfs", TMP.encode(), b"tmpfs", _TMPFS_FLAGS, options)
        if not hidden_is_gone():
            kernel.unmount(_WORKTREES.encode())


def hidden_is_gone() -> bool:
    """Whether nothing is mounted where the zygote keeps all worktrees."""
    return os.stat(_WORKTREES).st_dev == os.stat("/").st_dev


def _mount_worktree(name: str, files: FilePolicy) -> None:
    check_name(name)
    with layer(Layer.WORKTREE):
        tree = kernel.clone_tree(os.fsencode(f"{_WORKTREES}/{name}"))
        if not stat.S_ISDIR(os.fstat(tree).st_mode):
            raise ConfinementError(Layer.WORKTREE, f"{name} is not a folder", "")
        kernel.set_tree(tree, _SEALED if files is FilePolicy.READ else _PLAIN)
        kernel.attach_tree(tree, WORKTREE.encode())
        os.close(tree)
        _mask_git()


def _mask_git() -> None:
    """Cover the worktree's `.git`: hooks and configuration there are run by whoever runs git outside.

    A mount point can be neither removed nor renamed, so the program cannot put another in its place.
    """
    git = f"{WORKTREE}/.git"
    try:
        mode = os.lstat(git).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(mode):
        raise ConfinementError(Layer.WORKTREE, "its .git is a symbolic link, which no mount can cover", "")
    mask = kernel.clone_tree(f"{_MASKS}/{'folder' if stat.S_ISDIR(mode) else 'file'}".encode())
    kernel.attach_tree(mask, git.encode())
    os.close(mask)


def check_name(name: str) -> None:
    """Refuse a worktree name that is not one path component.

    Raises:
        ConfinementError: it could lead elsewhere.
    """
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        raise ConfinementError(Layer.WORKTREE, f"{name!r} is not the name of a folder", "")
