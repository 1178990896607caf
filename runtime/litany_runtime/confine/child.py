"""A child's set-up: everything that is its own and not its zygote's.

It is a script, written by the zygote before it forks and run by the child. The child is a fresh fork, in
which every object touched for the first time is a page copied: with ordinary functions the pages were two
thirds of the set-up's time, and a megabyte of every warm child. The lines of a script lie side by side and
are C calls with their arguments in place; running them touches a quarter of the pages
(`benchmarks/confine.py` counts them).

A script also looks whether what it did holds: some lines must fail. A layer that was applied without an error
and yet does not refuse is worse than one that is missing.
"""

from __future__ import annotations

import errno
import functools
import os
import signal
import stat
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from litany_runtime.confine import identity, kernel, mounts, rlimits
from litany_runtime.confine.faults import ConfinementError, explain
from litany_runtime.confine.plan import Isolation, Layer
from litany_runtime.program import FilePolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from litany_runtime.confine.enter import Entered
    from litany_runtime.confine.plan import ChildPlan

SCRIPTS_KEPT = 256
"""Scripts that a zygote keeps, a few KiB each: one for each agent, file policy and set of limits in use."""

_SUCCEED = (0,)


class _Line(NamedTuple):
    """One call of the set-up.

    Attributes:
        call: the call, with its arguments in place; -1 is failure.
        wanted: how it may end: the errnos, 0 for success. A line that does not want 0 must fail.
        layer: the layer that does not hold otherwise.
        tried: what the call does, for the refusal.
    """

    call: Callable[..., int]
    wanted: tuple[int, ...]
    layer: Layer
    tried: str


class Git(Enum):
    """What a worktree has for a `.git`: git makes a file in a linked one, a folder in a main one."""

    ABSENT = "absent"
    FILE = "file"
    FOLDER = "folder"


class Script:
    """The set-up of a child, ready to be run in it.

    Args:
        entered: its zygote.
        child: its plan.
        git: what its worktree has for a `.git`.
    """

    __slots__ = ("_after", "_before", "_landlock_flags", "_layers", "_load_filter", "_rules", "_ruleset")

    def __init__(self, entered: Entered, child: ChildPlan, git: Git) -> None:
        name = None if child.files is FilePolicy.NONE else child.worktree
        here = None if name is None else entered.worktree_path(name)
        full = entered.plan.isolation is Isolation.FULL
        self._layers = entered.layers
        self._before = [
            _Line(kernel.setsid, _SUCCEED, Layer.PLATFORM, "setsid"),
            *(_mounts(entered, child, name, git) if full else ()),
            *(() if here is None else _access(here, child, entered.uid)),
            _Line(partial(kernel.chdir, os.fsencode(here or "/")), _SUCCEED, Layer.WORKTREE, "chdir"),
            *((_own_user_namespace(),) if full else ()),
            *_limits(entered, child),
            *(() if entered.plan.isolation is Isolation.POLICY else _drop(full=full)),
            # Where no pid namespace ends it with its zygote. Last: a change of credentials forgets it.
            _Line(
                partial(kernel.prctl, kernel.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0),
                _SUCCEED,
                Layer.PLATFORM,
                "prctl",
            ),
        ]
        self._ruleset = None
        self._rules: list[tuple[Callable[..., int], bytes]] = []
        self._landlock_flags = 0
        if entered.ruleset is not None:
            attributes = entered.ruleset.attributes
            self._ruleset = partial(kernel.landlock_create_ruleset, attributes, len(attributes), 0)
            self._rules += [_rule(path, rights) for path, rights in entered.ruleset.shared]
            if here is not None:
                self._rules.append(_rule(here, entered.ruleset.worktree[child.files]))
            self._landlock_flags = entered.ruleset.flags
        self._load_filter = None if entered.filters is None else entered.filters.child.load
        self._after = list(_attempts(entered))

    def run(self) -> tuple[str, ...]:
        """Confine this process for good: a fresh fork of the zygote, with one thread and its own descriptors.

        Returns:
            The layers that hold now, by name.

        Raises:
            ConfinementError: one of them does not. The process must exit without running anything.
        """
        last_error = kernel.last_error
        for call, wanted, layer, tried in self._before:
            if (0 if call() >= 0 else last_error()) not in wanted:
                raise _failure(layer, tried, wanted)
        if self._ruleset is not None:
            fd = self._ruleset()
            beneath = kernel.LANDLOCK_RULE_PATH_BENEATH
            for open_path, rights in self._rules:
                at = open_path()
                if at < 0:
                    raise _failure(Layer.LANDLOCK, "opening what a program may reach", _SUCCEED)
                if kernel.landlock_add_rule(fd, beneath, rights + at.to_bytes(4, "little"), 0) < 0:
                    raise _failure(Layer.LANDLOCK, "landlock_add_rule", _SUCCEED)
                kernel.close(at)
            if kernel.landlock_restrict_self(fd, self._landlock_flags) < 0:
                raise _failure(Layer.LANDLOCK, "landlock_restrict_self", _SUCCEED)
            kernel.close(fd)
        if self._load_filter is not None and self._load_filter(os.getpid()) < 0:
            raise _failure(Layer.SECCOMP, "seccomp", _SUCCEED)
        for call, wanted, layer, tried in self._after:
            if (0 if call() >= 0 else last_error()) not in wanted:
                raise _failure(layer, tried, wanted)
        return self._layers


def prepare_child(entered: Entered, child: ChildPlan) -> Script:
    """Write the script of a child: in the zygote, before the fork.

    Raises:
        ConfinementError: the worktree's name is not one, or its `.git` cannot be covered.
    """
    # Looked at every time: it may have come or changed since the last child. The script is kept.
    return _script(entered, child, _look_for_git(entered, child))


@functools.lru_cache(maxsize=SCRIPTS_KEPT)
def _script(entered: Entered, child: ChildPlan, git: Git) -> Script:
    return Script(entered, child, git)


def _look_for_git(entered: Entered, child: ChildPlan) -> Git:
    if entered.plan.isolation is not Isolation.FULL or child.worktree is None:
        return Git.ABSENT
    mounts.check_name(child.worktree)
    try:
        mode = os.lstat(f"{mounts.WORKTREES}/{child.worktree}/.git").st_mode
    except OSError:
        # Not there, or not to be seen: the script finds out, and fails if that is wrong.
        return Git.ABSENT
    if stat.S_ISLNK(mode):
        raise ConfinementError(
            Layer.WORKTREE,
            f"the .git of {child.worktree} is a symbolic link, which no mount can cover",
            "Make it the folder or the file that git makes",
        )
    return Git.FOLDER if stat.S_ISDIR(mode) else Git.FILE


def _rule(path: str, rights: bytes) -> tuple[Callable[..., int], bytes]:
    return partial(kernel.open, os.fsencode(path), os.O_PATH | os.O_CLOEXEC, 0), rights


def confine_child(entered: Entered, child: ChildPlan) -> tuple[str, ...]:
    """Run a child's script in the child; see `Script.run`.

    Fast when `prepare_child` was called with the same arguments before the fork, and right in any case.
    """
    return prepare_child(entered, child).run()


def _mounts(entered: Entered, child: ChildPlan, name: str | None, git: Git) -> Iterator[_Line]:
    """A mount namespace with the worktree and a /tmp of its own, and nothing of anybody else's."""
    yield _Line(partial(kernel.unshare, kernel.CLONE_NEWNS), _SUCCEED, Layer.MOUNT, "unshare")
    if name is not None:
        source = os.fsencode(f"{mounts.WORKTREES}/{name}")
        target = mounts.WORKTREE.encode()
        link = _read_link(source)
        yield _Line(link, (errno.EINVAL,), Layer.WORKTREE, f"looking whether {name} is a folder")
        # The folder of all worktrees is nosuid, nodev and noexec, and so is what is bound from it.
        yield _Line(_bind(source, target), _SUCCEED, Layer.WORKTREE, f"mount of {name}")
        if child.files is FilePolicy.READ:
            sealed = partial(
                kernel.mount_setattr,
                *(kernel.AT_FDCWD, target, kernel.AT_RECURSIVE, mounts.SEALED, kernel.MOUNT_ATTR_BYTES),
            )
            yield _Line(sealed, _SUCCEED, Layer.WORKTREE, f"mount_setattr of {name}")
        yield from _cover_git(f"{mounts.WORKTREE}/.git".encode(), git)
    shown_again = [
        *_show_again([p for p in map(str, entered.plan.read_only) if mounts.beneath(mounts.TMP, p)])
    ]
    # What is put there for the program is not of its own making: it does not count against its files.
    files = child.limits.tmp_files + len(shown_again)
    options = f"size={child.limits.tmp_bytes},nr_inodes={files},mode=700"
    tmp = partial(kernel.mount, b"tmpfs", mounts.TMP.encode(), b"tmpfs", mounts.TMPFS, options.encode())
    yield _Line(tmp, _SUCCEED, Layer.MOUNT, "mount of /tmp")
    yield from shown_again
    if entered.plan.worktrees is not None:
        # Other agents' files are from here on nowhere, not merely forbidden.
        let_go = partial(kernel.umount2, mounts.WORKTREES.encode(), kernel.MNT_DETACH)
        yield _Line(let_go, _SUCCEED, Layer.MOUNT, "umount2 of the worktrees")
        yield _Line(let_go, (errno.EINVAL,), Layer.MOUNT, "looking whether they are gone")


def _show_again(covered: list[str]) -> Iterator[_Line]:
    """Show what the new /tmp covers, by symbolic links from its old place."""
    parents = {str(parent) for path in covered for parent in Path(path).parents}
    for folder in sorted(each for each in parents if each != mounts.TMP and mounts.beneath(mounts.TMP, each)):
        made = partial(kernel.mkdir, os.fsencode(folder), 0o755)
        yield _Line(made, _SUCCEED, Layer.ROOT, f"mkdir {folder}")
    for path in covered:
        behind = mounts.BEHIND_TMP + path.removeprefix(mounts.TMP)
        link = partial(kernel.symlink, os.fsencode(behind), os.fsencode(path))
        yield _Line(link, _SUCCEED, Layer.ROOT, f"symlink {path}")


def _cover_git(path: bytes, git: Git) -> Iterator[_Line]:
    """Cover the worktree's `.git`: hooks and settings there are run by whoever runs git outside.

    A mount point can be neither removed nor renamed, so the program cannot put another in its place.
    """
    wanted = (errno.ENOENT,) if git is Git.ABSENT else (errno.EINVAL,)
    yield _Line(_read_link(path), wanted, Layer.WORKTREE, "looking whether .git is as it was")
    if git is not Git.ABSENT:
        cover = mounts.MASK_FOLDER if git is Git.FOLDER else mounts.MASK_FILE
        yield _Line(_bind(cover, path), _SUCCEED, Layer.WORKTREE, "mount over .git")


def _bind(source: bytes, target: bytes) -> Callable[..., int]:
    return partial(kernel.mount, source, target, None, kernel.MS_BIND | kernel.MS_REC, None)


def _read_link(path: bytes) -> Callable[..., int]:
    """Fails with EINVAL for what is there and no symbolic link."""
    return partial(kernel.readlink, path, kernel.SCRATCH, kernel.SCRATCH_BYTES)


def _access(here: str, child: ChildPlan, uid: int) -> Iterator[_Line]:
    """Refuse early, and in words, what would be a program's baffling PermissionError later."""
    path = os.fsencode(here)
    # In isolation `kernel` the path is the host's, and a symbolic link in its place would be followed.
    yield _Line(_read_link(path), (errno.EINVAL,), Layer.WORKTREE, f"looking whether {here} is a folder")
    need = os.R_OK | os.X_OK | (os.W_OK if child.files is FilePolicy.WRITE else 0)
    access = partial(kernel.access, path, need)
    yield _Line(access, _SUCCEED, Layer.WORKTREE, f"access to {child.worktree} as user {uid}")


def _own_user_namespace() -> _Line:
    """Leave the zygote's: the child's threads count alone, and it has no say in the mounts it stands on.

    Before the limits: the limit on threads at this moment would hold for all children together.
    """
    return _Line(partial(kernel.unshare, kernel.CLONE_NEWUSER), _SUCCEED, Layer.USER, "unshare")


def _limits(entered: Entered, child: ChildPlan) -> Iterator[_Line]:
    for number, value in rlimits.limits_of(child.limits, entered.baseline):
        yield _Line(partial(kernel.setrlimit, number, value), _SUCCEED, Layer.RLIMITS, "setrlimit")


def _drop(*, full: bool) -> Iterator[_Line]:
    """Drop every capability and lock the rules that could give one back."""

    def line(call: Callable[..., int], *arguments: int | bytes) -> _Line:
        return _Line(partial(call, *arguments), _SUCCEED, Layer.CAPABILITIES, "dropping capabilities")

    if full:
        # The bounding set is left as the new user namespace has it: it bounds what an exec may give, exec is
        # refused three times over and may give nothing (no_new_privs), and emptying it is forty calls.
        yield line(kernel.prctl, kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
        yield line(kernel.prctl, kernel.PR_SET_SECUREBITS, identity.SECUREBITS_LOCKED, 0, 0, 0)
    yield line(kernel.capset, identity.CAPABILITY_HEADER, identity.NO_CAPABILITIES)
    # A process that could dump core, or be traced by its own user, would give its memory away.
    yield line(kernel.prctl, kernel.PR_SET_DUMPABLE, 0, 0, 0, 0)


def _attempts(entered: Entered) -> Iterator[_Line]:
    """What must fail once all layers are there; harmless if it should succeed."""
    if entered.ruleset is not None:
        # Every user may list this folder, so only Landlock can say EACCES.
        listing = partial(kernel.open, b"/", os.O_RDONLY | os.O_CLOEXEC, 0)
        yield _Line(listing, (errno.EACCES,), Layer.LANDLOCK, "listing /")
    if entered.filters is not None:
        no = (errno.EPERM,)
        yield _Line(partial(kernel.unshare, 0), no, Layer.SECCOMP, "unshare")
        yield _Line(partial(kernel.socket, 2, 1, 0), no, Layer.SECCOMP, "making a socket")
        yield _Line(partial(kernel.kill, entered.pid, 0), no, Layer.SECCOMP, "signalling the zygote")


def _failure(name: Layer, tried: str, wanted: tuple[int, ...]) -> ConfinementError:
    """The refusal for a line that did not end as it should have."""
    number = kernel.last_error()
    if 0 in wanted:
        return explain(name, OSError(number, os.strerror(number), tried))
    if name is Layer.WORKTREE:
        cause = f"{tried} showed that it is not: it was removed or replaced while the child came up"
        return ConfinementError(name, cause, "Put the folder back and run the program again")
    return ConfinementError(
        name,
        f"{tried} was to be refused ({'or '.join(map(os.strerror, wanted))}) and was not",
        "This is a defect: report it as docs/security.md says",
    )
