"""What a model is offered: its tools, `python` first, which tells of all that a program may call in turn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from litany_engine.tools.registry import shown_declaration

if TYPE_CHECKING:
    from litany_engine.door.calls import Tool
    from litany_engine.tools.toolset import Toolset
    from litany_stubs.words import ToolDeclaration

DESCRIBE_BUDGET_CHARS = 16_000
"""The most that is told of `litany_tools` in the description of `python`: it is in every turn of a model."""


def offered_tools(toolset: Toolset) -> list[Tool]:
    """The tools that a model may call, those that run programs first."""
    return sorted(toolset.all_permitted(inner=False), key=lambda tool: not tool.composes)


def offered_declaration(
    tool: Tool, toolset: Toolset, budget_chars: int = DESCRIBE_BUDGET_CHARS
) -> ToolDeclaration:
    """A tool as a model is told of it.

    Args:
        tool: the tool.
        toolset: what the door permits the model's agent.
        budget_chars: the most that a tool which runs programs tells of the others.
    """
    shown = shown_declaration(tool)
    if not tool.composes:
        return shown
    from litany_stubs.describe import describe  # noqa: PLC0415 - most calls offer nothing

    told = describe(toolset.declarations(), budget_chars)
    return replace(shown, description=f"{shown.description}\n\n{told}")
