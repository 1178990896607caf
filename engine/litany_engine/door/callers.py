"""Who calls, and in whose name.

Pure data, made by whoever issues a call from what it knows of the agent, never from a model's input.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from litany_engine.door.budgets import Account
    from litany_engine.door.calls import CallSummary
    from litany_engine.door.schedule import Schedule
    from litany_engine.records.records import Step
    from litany_engine.tools.toolset import Toolset
    from litany_runtime.deadline import Deadline


@dataclass(slots=True)
class Parent:
    """A call that others are made in the name of.

    Attributes:
        id: its id.
        lives: False from its end on; then nothing may be done in its name.
        calls: its ended inner calls.
        account: what its inner calls use of the budgets of a program; made when one asks for it.
        refused: its inner calls that were refused.
        unrecorded: of those, the ones beyond what is recorded of them.
        schedule: the order in which its inner calls run; made with the first.
        clocks: the deadlines of this call and of those it belongs to.
        halt: stops the outermost of them, with a reason.
    """

    id: str
    lives: bool = True
    calls: list[CallSummary] = field(default_factory=list)
    account: Account | None = None
    refused: int = 0
    unrecorded: int = 0
    schedule: Schedule | None = None
    clocks: tuple[Deadline, ...] = ()
    halt: Callable[[str], None] | None = None

    def ends_at(self) -> float:
        """Its deadline as things stand; no inner call outlives it."""
        return min((clock.at for clock in self.clocks), default=math.inf)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    Attributes:
        workspace: the workspace's root folder.
        agent: the agent's id.
        role: its role's name.
        cwd: its working directory.
        toolset: its tools and grant.
        step: the step its records go to.
        parent: the call this one belongs to; None for an outer call.
        deadline_s: seconds that no outer call of the agent's runs beyond.
    """

    workspace: Path
    agent: str
    role: str
    cwd: Path
    toolset: Toolset
    step: Step
    parent: Parent | None = None
    deadline_s: float = math.inf
