"""The language policy: what a program may say, and what it finds when it says it."""

from litany_runtime.policy.execution import NotReviewedError, execute, namespace, prepare
from litany_runtime.policy.hooks import end
from litany_runtime.policy.source import check, compile_program
from litany_runtime.policy.state import Prepared
from litany_runtime.policy.violations import PolicyError, Violation

__all__ = [
    "NotReviewedError",
    "PolicyError",
    "Prepared",
    "Violation",
    "check",
    "compile_program",
    "end",
    "execute",
    "namespace",
    "prepare",
]
