"""When a layer cannot be had: which one, why most likely, and what to do about it.

The attempt that failed decides, always; what is read here from /proc only words the cause.
"""

from __future__ import annotations

import errno
import os
import sys

from litany_runtime.confine import kernel
from litany_runtime.confine.plan import Layer

OPT_DOWN = 'set `isolation = "kernel"` in litany.toml to run with Landlock and seccomp alone'
"""What to set when namespaces cannot be had and Landlock and seccomp are enough."""

NAMESPACES = (Layer.USER, Layer.MOUNT, Layer.PID, Layer.NET, Layer.IPC, Layer.UTS, Layer.CGROUP, Layer.ROOT)
"""The layers that only isolation `full` needs."""


class ConfinementError(RuntimeError):
    """A layer that the isolation asks for cannot be had, so no program is run.

    Attributes:
        layer: the layer's name.
        cause: what was tried, what was seen, and the likely reason.
        remedy: what the operator can do.
    """

    def __init__(self, layer: str, cause: str, remedy: str) -> None:
        super().__init__(f"no {layer}: {cause}. {remedy}." if remedy else f"no {layer}: {cause}.")
        self.layer = layer
        self.cause = cause
        self.remedy = remedy


def must(result: int, name: Layer, tried: str) -> int:
    """The result of a call of `kernel`, if it succeeded.

    Raises:
        ConfinementError: it failed; so the layer cannot be had.
    """
    if result < 0:
        number = kernel.last_error()
        raise explain(name, OSError(number, os.strerror(number), tried))
    return result


class layer:  # noqa: N801 - reads as the statement it is: `with layer(Layer.MOUNT):`
    """Turn an OSError of the block into a ConfinementError of this layer."""

    __slots__ = ("_name",)

    def __init__(self, name: Layer) -> None:
        self._name = name

    def __enter__(self) -> None:
        """Nothing to do before the block."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Name the layer, if the block failed."""
        if isinstance(error, OSError):
            raise explain(self._name, error) from error


def explain(name: Layer, error: OSError) -> ConfinementError:
    """The refusal for a failed attempt, with the likely cause on this machine."""
    tried = str(error.filename or "the attempt")
    seen = f"{tried} failed with {errno.errorcode.get(error.errno or 0, 'an error')} ({error.strerror})"
    if name in NAMESPACES:
        reason, remedy = _why_no_namespace(error.errno)
    elif name is Layer.LANDLOCK:
        reason = (
            "this kernel has no Landlock (Linux 6.2 or newer has what is needed) or has it switched off"
            if error.errno in {errno.ENOSYS, errno.EOPNOTSUPP}
            else "a container's seccomp profile may refuse it"
        )
        remedy = (
            "Boot with `landlock` in the kernel's `lsm=` list; in a container, allow the landlock_* calls"
        )
    elif name is Layer.SECCOMP:
        reason = "the kernel lacks CONFIG_SECCOMP_FILTER or an outer filter refuses a second one"
        remedy = "Use a kernel with seccomp filters; there is no opt-down"
    elif name in {Layer.IDENTITY, Layer.CAPABILITIES} and error.errno == errno.EPERM:
        reason = "this is a root without the rights that giving up root takes"
        remedy = "Start litany as an ordinary user"
    elif name is Layer.WORKTREE and error.errno in {errno.EACCES, errno.EROFS}:
        reason = "programs run as that user, never as root, and it may not read and write there"
        remedy = (
            "Let it: `chmod -R u+rwX` if the folder is that user's, else `chown -R` to the ordinary user who "
            'is to run litany. For programs that only read, `files = "read"` in the role'
        )
    else:
        reason, remedy = "", ""
    return ConfinementError(name, f"{seen}; {reason}" if reason else seen, remedy)


def _why_no_namespace(number: int | None) -> tuple[str, str]:
    """Likely cause and remedy for a namespace, or a mount in one, that was refused."""
    if _read("/proc/sys/user/max_user_namespaces") == "0":
        cause = "user.max_user_namespaces is 0"
        remedy = "Set it: `sysctl user.max_user_namespaces=15000`"
    elif _read("/proc/sys/kernel/unprivileged_userns_clone") == "0":
        cause = "kernel.unprivileged_userns_clone is 0"
        remedy = "Set it: `sysctl kernel.unprivileged_userns_clone=1`"
    elif _read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        setting = "kernel.apparmor_restrict_unprivileged_userns"
        cause = f"Ubuntu's AppArmor rule takes the privileges from user namespaces ({setting} is 1)"
        remedy = f"Give {sys.executable} an AppArmor profile with `userns,`, or `sysctl {setting}=0`"
    elif in_container():
        cause = "the container's seccomp profile most likely refuses it, as Docker's default one does"
        remedy = "Start the container with a profile that allows unshare, mount and pivot_root"
    elif number in {errno.ENOSYS, errno.EINVAL}:
        cause = "this kernel is too old (Linux 5.12 or newer is needed) or built without it"
        remedy = "Use a newer kernel"
    else:
        cause = "an outer sandbox or security module most likely refuses it"
        remedy = "Allow it there"
    return cause, f"{remedy}, or {OPT_DOWN}"


def in_container() -> bool:
    """Whether this looks like the inside of a container; for wording, never for deciding."""
    return any(map(os.path.exists, ("/.dockerenv", "/run/.containerenv"))) or "container" in os.environ


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""
