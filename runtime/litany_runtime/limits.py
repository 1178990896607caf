"""The limits of one program: each has a name, a unit, a default and a reason for the default."""

from __future__ import annotations

from dataclasses import dataclass, fields

KIB = 1024
MIB = 1024 * KIB


class LimitError(ValueError):
    """A limit that no program could run under, or that is no whole number."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may use. Every field is checked when the object is made.

    Attributes:
        memory_bytes: what the program may allocate beyond what a warm child already maps.
        cpu_s: processor seconds (user and system) before the kernel ends it.
        threads: threads alive at once, the main one included.
        open_files: file descriptors at once.
        file_bytes: size of any one file it writes.
        tmp_bytes: size of its private /tmp, which is the host's memory.
        tmp_files: files and folders in it.
        output_bytes: bytes kept of each stream; half from the head, half from the tail, the middle is
            counted and dropped.
        source_bytes: size of the program text.
        calls: inner calls in all, refused ones counted.
        pending_calls: inner calls awaiting their answer at once.
        value_bytes: encoded size of one call's input, and of one reply.
        total_value_bytes: encoded size of all inputs and replies together.
        grace_s: seconds between the soft interrupt and SIGKILL.
    """

    memory_bytes: int = 256 * MIB
    cpu_s: int = 600
    threads: int = 64
    open_files: int = 256
    file_bytes: int = 64 * MIB
    tmp_bytes: int = 64 * MIB
    tmp_files: int = 4096
    output_bytes: int = 1 * MIB
    source_bytes: int = 1 * MIB
    calls: int = 10_000
    pending_calls: int = 256
    value_bytes: int = 16 * MIB
    total_value_bytes: int = 256 * MIB
    grace_s: float = 2.0

    def __post_init__(self) -> None:
        """Refuse what no program could run under."""
        for each in fields(self):
            value = getattr(self, each.name)
            wanted = (int, float) if each.name.endswith("grace_s") else (int,)
            if isinstance(value, bool) or not isinstance(value, wanted):
                raise LimitError(f"limit {each.name} must be a number, not {value!r}")
            if not 0 < value < 2**53 and not (each.name in {"calls", "grace_s"} and value == 0):
                raise LimitError(f"limit {each.name} must be above zero, not {value!r}")
