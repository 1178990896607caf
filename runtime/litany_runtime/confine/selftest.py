"""A look, from inside and before anything of the program is read, at whether the layers hold.

A handful of attempts that must fail, each harmless if it should succeed. A layer that was applied without an
error and yet does not refuse is worse than one that is missing.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from litany_runtime.confine import kernel, mounts
from litany_runtime.confine.faults import ConfinementError
from litany_runtime.confine.plan import Isolation, Layer

if TYPE_CHECKING:
    from collections.abc import Callable

    from litany_runtime.confine.enter import Entered


def check(entered: Entered) -> None:
    """Try what each applied layer must refuse.

    Raises:
        ConfinementError: an attempt was not refused, or not by the layer it should be.
    """
    if entered.ruleset is not None:
        # The folder itself is readable by everybody, so only Landlock can say EACCES.
        _must_fail(Layer.LANDLOCK, "listing /", errno.EACCES, lambda: os.open("/", os.O_RDONLY))
    if entered.filters is not None:
        _must_fail(Layer.SECCOMP, "unshare", errno.EPERM, lambda: kernel.unshare(0))
        _must_fail(Layer.SECCOMP, "socket", errno.EPERM, lambda: kernel.socket(2, 1, 0))
        _must_fail(Layer.SECCOMP, "kill of its parent", errno.EPERM, lambda: os.kill(os.getppid(), 0))
    if entered.plan.isolation is Isolation.FULL:
        _must_fail(Layer.ROOT, "looking at /proc", errno.ENOENT, lambda: os.stat("/proc"))
        if not mounts.hidden_is_gone():
            raise _broken(Layer.MOUNT, "the worktrees of other agents are still there")


def _must_fail(layer: Layer, what: str, number: int, attempt: Callable[[], object]) -> None:
    try:
        attempt()
    except OSError as error:
        if error.errno == number:
            return
        raise _broken(layer, f"{what} failed with {errno.errorcode.get(error.errno or 0)}") from error
    raise _broken(layer, f"{what} was not refused")


def _broken(layer: Layer, seen: str) -> ConfinementError:
    return ConfinementError(
        layer, f"applied, but {seen}", "This is a defect: report it as docs/security.md says"
    )
