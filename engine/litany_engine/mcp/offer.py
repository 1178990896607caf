"""What a client of ours is offered, and what it is answered: from the words of the door to those of MCP.

The schemas of the two agree, but for the root: MCP has an object there, in what a tool takes and gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types

from litany_engine.records.envelope import model_text
from litany_engine.tools.offered import offered_declaration, offered_tools
from litany_runtime.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from litany_engine.configuration.config import Config
    from litany_engine.door.calls import CallEnd, Tool
    from litany_engine.tools.definitions import Traits
    from litany_engine.tools.toolset import Toolset
    from litany_stubs.words import JSON, ToolDeclaration


def offered(toolset: Toolset, only: Collection[str], budget_chars: int) -> list[mcp_types.Tool]:
    """The tools that a client may call, `python` first.

    Args:
        toolset: what the door permits the agent.
        only: names to offer, of those; empty for all.
        budget_chars: the most that the description of `python` says of the others.
    """
    return [
        _described(tool, toolset, budget_chars)
        for tool in offered_tools(toolset)
        if not only or tool.declaration.name in only
    ]


def _described(tool: Tool, toolset: Toolset, budget_chars: int) -> mcp_types.Tool:
    shown = offered_declaration(tool, toolset, budget_chars)
    return mcp_types.Tool(
        name=shown.name,
        description=shown.description,
        input_schema={"type": "object", **shown.input_schema},
        output_schema=_output_schema(shown),
        annotations=_annotations(tool.traits),
    )


def _output_schema(declaration: ToolDeclaration) -> dict[str, Any] | None:
    """The output schema where MCP has one; data of any other shape is not structured content there."""
    schema: Mapping[str, JSON] | None = declaration.output_schema
    return dict(schema) if schema is not None and schema.get("type") == "object" else None


def _annotations(traits: Traits) -> mcp_types.ToolAnnotations:
    """What a tool says of itself, as hints.

    What it does not say, or says only of an input, is left unsaid: to a client, such a tool may do harm.
    """
    believed = traits.provenance is None or traits.provenance.trusted
    return mcp_types.ToolAnnotations(
        read_only_hint=True if believed and traits.read_only is True else None,
        destructive_hint=True if traits.destructive is True else None,
        open_world_hint=True if "network_access" in traits.permissions else None,
    )


def answered(end: CallEnd, config: Config) -> mcp_types.CallToolResult:
    """How a call ended, as a client is told: the envelope, bounded as a window bounds it, and the data."""
    text = model_text(end, head_bytes=config.output_head_bytes, tail_bytes=config.output_tail_bytes)
    return mcp_types.CallToolResult(
        content=[mcp_types.TextContent(text=text)],
        structured_content=end.data if isinstance(end.data, dict) else None,
        is_error=end.outcome is not Outcome.COMPLETED,
    )


def not_offered(name: str, only: Collection[str]) -> mcp_types.CallToolResult:
    """The answer to a call of a tool that the operator does not offer here."""
    text = f"{name!r} is not offered here; offered: {', '.join(sorted(only))}."
    return mcp_types.CallToolResult(content=[mcp_types.TextContent(text=text)], is_error=True)
