"""What a refusal by the language policy looks like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """One thing a program may not say.

    Attributes:
        line: 1 for the first line; 0 when the fault has no place (an unknown encoding).
        column: 1 for the first character of the line; 0 when the fault has no place.
        rule: the rule's name, as in `docs/language.md`.
        message: what was found and why it is refused.
        hint: what to write instead.
    """

    line: int
    column: int
    rule: str
    message: str
    hint: str


class PolicyError(Exception):
    """A program was refused before it ran.

    Attributes:
        violations: every violation found, in the order of their places; never empty.
        filename: the name of the program.
    """

    def __init__(self, violations: Sequence[Violation], filename: str = "program.py") -> None:
        self.violations = tuple(violations)
        self.filename = filename
        super().__init__(describe(self.violations, filename))


def describe(violations: Sequence[Violation], filename: str) -> str:
    """One line for each violation: `file:line:col: rule: message (hint)`."""
    return "\n".join(f"{filename}:{v.line}:{v.column}: {v.rule}: {v.message} ({v.hint})" for v in violations)
