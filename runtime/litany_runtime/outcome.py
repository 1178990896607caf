"""How a program or a call ended: one closed set, everywhere.

| outcome | exit code | meaning |
|---|---|---|
| completed | 0 | ended by itself with 0 |
| failed | as given | raised (1) or exited non-zero; the outcome, not the number, tells it apart |
| timed_out | 124 | the deadline passed |
| faulted | 125 | the harness failed, not the program |
| refused | 126 | not started: policy, grant, schema, control, budget or depth |
| stopped | 143 | the stop flag was raised |
| killed | 128 + signal | the kernel or a limit ended it |
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """The closed set of ends."""

    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    FAULTED = "faulted"
    REFUSED = "refused"
    STOPPED = "stopped"
    KILLED = "killed"


EXIT_CODES = {
    Outcome.COMPLETED: 0,
    Outcome.TIMED_OUT: 124,
    Outcome.FAULTED: 125,
    Outcome.REFUSED: 126,
    Outcome.STOPPED: 143,
}
"""The exit codes that an outcome fixes; `failed` and `killed` carry their own."""


DEADLINE_PASSED = "the deadline passed"
STOP_RAISED = "the stop flag was raised"
"""The reasons of `timed_out` and `stopped`, where there is no more to say."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a program used, as the kernel and the supervisor saw it, never as the child claims.

    Attributes:
        cpu_s: user and system time of the child, in seconds.
        peak_memory_bytes: the child's largest resident set.
        calls: inner calls that reached the supervisor, refused ones too.
    """

    cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    calls: int = 0
