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
import struct
import threading
from typing import TYPE_CHECKING, NamedTuple

from litany_runtime.confine.faults import layer
from litany_runtime.confine.plan import Layer
from litany_runtime.limits import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

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
_LARGEST = 2**63 - 1

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
        counts_threads: whether children have a user namespace of their own.
    """

    address_bytes: int
    data_bytes: int
    ceilings: dict[int, int]
    counts_threads: bool


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


def measure(statm: int | None, *, counts_threads: bool) -> Baseline:
    """What this process maps now, and close the counters; without them, a guess for a small interpreter."""
    address, data = 512 * MIB, 64 * MIB
    if statm is not None:
        fields = os.pread(statm, 256, 0).split()
        os.close(statm)
        address, data = int(fields[0]) * _PAGE, int(fields[5]) * _PAGE
    hard = {number: resource.getrlimit(number)[1] for number in _COUNTED}
    ceilings = {
        number: _LARGEST if value == resource.RLIM_INFINITY else value for number, value in hard.items()
    }
    return Baseline(address, data, ceilings, counts_threads)


def limits_of(limits: Limits, baseline: Baseline) -> Iterator[tuple[int, bytes]]:
    """The rlimits of a child, as pairs of number and struct rlimit; it cannot raise them again.

    The number of threads is set for a child in a user namespace of its own, where it is counted alone: the
    kernel counts by user and namespace, and all children of a zygote are one user. Without namespaces the
    count would be of everything that the user runs, so it is not set.
    """
    memory = limits.memory_bytes
    yield _packed(resource.RLIMIT_DATA, baseline.data_bytes + memory, baseline)
    yield _packed(resource.RLIMIT_AS, baseline.address_bytes + memory + ADDRESS_MARGIN_BYTES, baseline)
    # A second between the signal that says why and the one that cannot be ignored.
    yield _packed(resource.RLIMIT_CPU, limits.cpu_s, baseline, margin=1)
    yield _packed(resource.RLIMIT_NOFILE, limits.open_files, baseline)
    yield _packed(resource.RLIMIT_FSIZE, limits.file_bytes, baseline)
    if baseline.counts_threads:
        yield _packed(resource.RLIMIT_NPROC, limits.threads, baseline)


def _packed(number: int, value: int, baseline: Baseline, margin: int = 0) -> tuple[int, bytes]:
    hard = min(value + margin, baseline.ceilings[number])
    return number, struct.pack("=QQ", min(value, hard), hard)


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
    if number == signal.SIGKILL and usage.peak_memory_bytes >= limits.memory_bytes:
        used, memory = in_words(usage.peak_memory_bytes), in_words(limits.memory_bytes)
        return f"SIGKILL: from outside the program, which held {used} (memory limit {memory})"
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return f"{name}: {KNOWN_OF_SIGNALS.get(number) or UNRAISED}"


KNOWN_OF_SIGNALS: dict[int, str] = {
    signal.SIGSEGV: "an invalid access to memory by the interpreter or native code; the kernel does not tell "
    f"a fault there from C calls nested deeper than the stack ({STACK_BYTES // MIB} MiB)",
    signal.SIGBUS: "an access to memory with nothing behind it, by the interpreter or native code",
    signal.SIGABRT: "the interpreter or a native library found its own state broken and gave up; what it "
    "said is at the end of stderr",
    signal.SIGFPE: "an arithmetic fault in the interpreter or native code",
    signal.SIGILL: "an instruction that the processor does not have, in the interpreter or native code",
    signal.SIGTRAP: "a breakpoint or a trap in the interpreter or native code",
    signal.SIGSYS: "a system call that seccomp refuses with death: one of another architecture",
    signal.SIGKILL: "from outside the program; neither its processor time nor its memory had reached a limit",
}
"""What a signal alone tells of a death, and no more: a crash has many causes, and a wrong one sends its
reader to the wrong limit."""

UNRAISED = "sent to the program; no limit of its own sends it"


def in_words(size: int) -> str:
    """A size as a person writes it: `256 MiB`, `1.5 MiB`, `512 KiB`."""
    for unit, name in ((1024 * MIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size} bytes"
