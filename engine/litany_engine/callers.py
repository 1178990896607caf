"""Who calls, and in whose name.

Pure data, made by whoever issues a call from what it knows of the agent, never from a model's input.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from litany_engine.calls import CallSummary
    from litany_engine.records import Step
    from litany_engine.toolset import Toolset


@dataclass(slots=True)
class Parent:
    """A call that others are made in the name of.

    Attributes:
        id: its id.
        deadline: its deadline on trio's clock; no inner call outlives it.
        lives: False from its end on; then nothing may be done in its name.
        calls: its ended inner calls.
    """

    id: str
    deadline: float = math.inf
    lives: bool = True
    calls: list[CallSummary] = field(default_factory=list)


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
    """

    workspace: Path
    agent: str
    role: str
    cwd: Path
    toolset: Toolset
    step: Step
    parent: Parent | None = None
