"""The words that every wing shares: what a tool declares, and what a call comes back as.

This module is on the path of the confined child, so it imports next to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_WHY_CHARS = 500
"""Characters of Python's own words on a call; its longest message names a few parameters."""

JSON = Any
"""A value of JSON's domain: None, bool, int, float (finite), str, list of them, dict from str to them."""


@dataclass(frozen=True, slots=True)
class ToolDeclaration:
    """What a tool says of itself; the executor behind it is the engine's.

    Attributes:
        name: the tool's name, exact and case-sensitive.
        description: what the model reads; may be empty.
        input_schema: JSON Schema (draft 7 or 2020-12) of the call's input, always an object at the top.
        output_schema: JSON Schema of the structured result (`data`), or None when there is none.
        one_at_a_time: its calls never run side by side, whoever makes them.
    """

    name: str
    description: str = ""
    input_schema: Mapping[str, JSON] = field(default_factory=lambda: {"type": "object"})
    output_schema: Mapping[str, JSON] | None = None
    one_at_a_time: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call was not run.

    Attributes:
        gate: the gate that refused (`grant`, `schema`, `control`, `depth`, …).
        reason: cause and legal shape, in words that a model can act on at once.
    """

    gate: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What the door answers to one call: whole streams, never the model's shortened envelope.

    Attributes:
        outcome: one of the closed set of outcomes (`completed`, `failed`, `refused`, …).
        exit_code: the tool's exit code, or the outcome's own (126 refused, 124 timed out, …).
        stdout: the tool's output bytes.
        stderr: the tool's diagnostic bytes.
        data: structured output, or None.
        refusal: set when `outcome` is `refused`.
        number: which call of its program it answers, from 1; 0 where calls are not numbered.
        duration_s: seconds from the call's reaching the door to its end.
        waited_s: seconds of these that it waited for its turn, since other calls were running.
    """

    outcome: str
    exit_code: int
    stdout: bytes = b""
    stderr: bytes = b""
    data: JSON = None
    refusal: Refusal | None = None
    number: int = 0
    duration_s: float = 0.0
    waited_s: float = 0.0


UNPLACED = "(arguments without a place)"
"""The key under which a call's input holds what the tool's signature has no place for; no tool takes it."""


def unplaced(why: str, values: Sequence[Any]) -> dict[str, Any]:
    """Return the part of a call's input that makes the door refuse it, with what has no place in it."""
    return {UNPLACED: {"why": why, "values": list(values)}}


def unplaced_fault(arguments: JSON) -> str:
    """Return why arguments of an input have no place, in Python's own words; "" when all have one."""
    held = arguments.get(UNPLACED) if isinstance(arguments, dict) else None
    why = held.get("why") if isinstance(held, dict) else None
    return why[:MAX_WHY_CHARS] if isinstance(why, str) else ""


class DoorError(RuntimeError):
    """The door cannot be reached: no answer will come. A failing tool is a `Result`, never this."""

    __module__ = "litany_tools"  # where a program has it from, and what its tracebacks say


class Door(Protocol):
    """What a stub module calls. The child's wire, `litany invoke` and the door in memory implement it."""

    def call(self, name: str, arguments: Mapping[str, JSON]) -> Reply:
        """Make one call and wait for its reply; safe from any thread.

        Raises:
            DoorError: the door cannot be reached.
        """

    async def call_async(self, name: str, arguments: Mapping[str, JSON]) -> Reply:
        """Make one call under asyncio; calls awaited together are in flight together.

        Raises:
            DoorError: the door cannot be reached.
        """
