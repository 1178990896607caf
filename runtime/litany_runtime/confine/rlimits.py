"""The limits that the kernel counts for one process, and what a death says about them.

| limit | rlimit | what the program sees |
|---|---|---|
| memory_bytes | DATA, and AS with a margin | MemoryError |
| cpu_s | CPU | SIGXCPU, a second later SIGKILL |
| threads | NPROC, counted in the child's own user namespace | RuntimeError: can't start new thread |
| open_files | NOFILE | OSError EMFILE |
| file_bytes | FSIZE | OSError EFBIG (Python ignores SIGXFSZ) |

Counted from what the forked child already maps, so that the interpreter and the packages are no part of it.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import threading
from typing import TYPE_CHECKING, NamedTuple

from litany_runtime.confine.faults import layer
from litany_runtime.confine.plan import Layer
from litany_runtime.limits import KIB, MIB

if TYPE_CHECKING:
    from litany_runtime.limits import Limits
    from litany_runtime.outcome import Usage

THREAD_STACK_BYTES = 2 * MIB
"""Stack of a thread that a program starts; 64 of them fit twice into the default memory. glibc's 8 MiB would
let 64 threads fail at 30. CPython's own recursion limit ends a thread well before 2 MiB."""

STACK_BYTES = 8 * MIB
"""Stack of the main thread: what CPython is built and tested for."""

ADDRESS_MARGIN_BYTES = 64 * MIB
"""What a program may map beyond its memory: files, reservations. Nothing else bounds shared memory."""

_PAGE = resource.getpagesize()
_M_ARENA_MAX = -8

_NONE_OF = ("RLIMIT_CORE", "RLIMIT_MSGQUEUE", "RLIMIT_MEMLOCK", "RLIMIT_RTPRIO", "RLIMIT_NICE")

_COUNTED = (
    resource.RLIMIT_DATA,
    resource.RLIMIT_AS,
    resource.RLIMIT_CPU,
    resource.RLIMIT_NOFILE,
    resource.RLIMIT_FSIZE,
    resource.RLIMIT_NPROC,
)


class Baseline(NamedTuple):
    """What a child has before its program does anything.

    Attributes:
        address_bytes: all that it maps.
        data_bytes: what of it is private and writable, and the stack.
        ceilings: the hard limits that the zygote itself was given, by number; no child can have more.
    """

    address_bytes: int
    data_bytes: int
    ceilings: dict[int, int]


def prepare() -> None:
    """In the zygote: set what is the same for all, and make the memory of threads predictable."""
    with layer(Layer.RLIMITS):
        for name in _NONE_OF:
            if (number := getattr(resource, name, None)) is not None:
                resource.setrlimit(number, (0, 0))
        hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
        stack = STACK_BYTES if hard == resource.RLIM_INFINITY else min(STACK_BYTES, hard)
        resource.setrlimit(resource.RLIMIT_STACK, (stack, stack))
    threading.stack_size(THREAD_STACK_BYTES)
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        # One arena: each further one reserves 64 MiB of address space, and the interpreter lock keeps threads
        # from contending for it.
        mallopt(_M_ARENA_MAX, 1)


def open_statm() -> int | None:
    """This process's memory counters; to be opened while there is a /proc, to be read later."""
    try:
        return os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def measure(statm: int | None) -> Baseline:
    """What this process maps now, and close the counters; without them, a guess for a small interpreter."""
    address, data = 512 * MIB, 64 * MIB
    if statm is not None:
        fields = os.pread(statm, 256, 0).split()
        os.close(statm)
        address, data = int(fields[0]) * _PAGE, int(fields[5]) * _PAGE
    ceilings = {number: resource.getrlimit(number)[1] for number in _COUNTED}
    return Baseline(
        address, data, {number: hard for number, hard in ceilings.items() if hard != resource.RLIM_INFINITY}
    )


def apply(limits: Limits, baseline: Baseline) -> None:
    """Set the limits on this process, hard and soft: it cannot raise them again.

    Raises:
        ConfinementError: the kernel refused one.
    """
    memory = limits.memory_bytes
    with layer(Layer.RLIMITS):
        _set(resource.RLIMIT_DATA, baseline.data_bytes + memory, baseline)
        _set(resource.RLIMIT_AS, baseline.address_bytes + memory + ADDRESS_MARGIN_BYTES, baseline)
        # A second between the signal that says why and the one that cannot be ignored.
        _set(resource.RLIMIT_CPU, limits.cpu_s, baseline, margin=1)
        _set(resource.RLIMIT_NOFILE, limits.open_files, baseline)
        _set(resource.RLIMIT_FSIZE, limits.file_bytes, baseline)


def limit_threads(limits: Limits, baseline: Baseline) -> None:
    """Set the number of threads of a child that is about to enter a user namespace of its own.

    There it is counted alone. The kernel counts by user and namespace, and all children of a zygote are one
    user; without namespaces the count would be of everything that the user runs, so it is not set there.

    Raises:
        ConfinementError: the kernel refused it.
    """
    with layer(Layer.RLIMITS):
        _set(resource.RLIMIT_NPROC, limits.threads, baseline)


def _set(number: int, value: int, baseline: Baseline, margin: int = 0) -> None:
    hard = value + margin
    ceiling = baseline.ceilings.get(number)
    if ceiling is not None and hard > ceiling:
        hard = ceiling
        value = min(value, hard)
    resource.setrlimit(number, (value, hard))


def explain_death(status: int, usage: Usage, limits: Limits) -> str:
    """What ended a child that did not exit by itself, in words.

    Args:
        status: its wait status, as `os.wait4` gives it.
        usage: what it used, from the same call.
        limits: what it ran under.

    Returns:
        "" when it exited by itself; else the limit (`cpu limit 600 s`) or the signal.
    """
    if not os.WIFSIGNALED(status):
        return ""
    number = os.WTERMSIG(status)
    if number == signal.SIGXCPU or (number == signal.SIGKILL and usage.cpu_s >= limits.cpu_s):
        return f"cpu limit {limits.cpu_s} s"
    if number == signal.SIGXFSZ:
        return f"file size limit {in_words(limits.file_bytes)}"
    if number == signal.SIGSYS:
        return "seccomp: a system call of another architecture"
    if number == signal.SIGSEGV:
        return f"SIGSEGV: the interpreter crashed, most likely out of stack ({in_words(STACK_BYTES)})"
    if number == signal.SIGBUS:
        return "SIGBUS: a mapped file lost its pages, most likely to a full /tmp"
    if number == signal.SIGABRT:
        memory = in_words(limits.memory_bytes)
        return f"SIGABRT: the interpreter gave up, most likely at the memory limit {memory}"
    if number == signal.SIGKILL and usage.peak_memory_bytes >= limits.memory_bytes:
        return f"memory limit {in_words(limits.memory_bytes)}"
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def in_words(size: int) -> str:
    """A size as a person writes it: `256 MiB`, `1.5 MiB`, `512 KiB`."""
    for unit, name in ((1024 * MIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size} bytes"
