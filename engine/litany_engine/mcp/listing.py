"""From what a server says of a tool to a tool of a workspace, or to the reason why it makes none.

What a server says of itself is a stranger's word. Its hints may raise requirements: a tool is taken for one
that changes things, cannot be undone and bears no company, unless the operator trusts the server's hints and
the hints say otherwise. A schema that none could check a call by is refused by the tool's name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from litany_engine.door.answers import AnswerCheck, AnswerSchemaError
from litany_engine.door.arguments import ArgumentCheck, SchemaError
from litany_engine.door.calls import Executor, Tool
from litany_engine.mcp.errors import ServerError
from litany_engine.tools.definitions import Provenance, Traits
from litany_engine.tools.tool_name import check_tool_name
from litany_runtime.limits import KIB
from litany_stubs.words import ToolDeclaration

if TYPE_CHECKING:
    from collections.abc import Sequence

    import mcp_types

    from litany_engine.mcp.server_config import ServerConfig

MAX_TOOLS = 1000
"""Tools of one server: each is told to a model, or searched among."""
MAX_DECLARATION_BYTES = 256 * KIB
"""Encoded size of what a server says of one tool: far above any that a model could use."""


def chosen(config: ServerConfig, told: Sequence[mcp_types.Tool]) -> dict[str, mcp_types.Tool]:
    """The tools of a server that the operator wants, by the server's own names.

    Raises:
        ServerError: two have one name, there are too many, or one that the operator names is not there.
    """
    found: dict[str, mcp_types.Tool] = {}
    for each in told:
        if config.tools is not None and each.name not in config.tools:
            continue
        if each.name in found:
            raise ServerError(f"it lists two tools named {each.name!r}")
        found[each.name] = each
    if len(found) > MAX_TOOLS:
        raise ServerError(
            f"it lists {len(found)} tools, and {MAX_TOOLS} are the most; name those that you want: "
            f"tools = [...] in [mcp.{config.name}]"
        )
    if missing := sorted(set(config.tools or ()) - found.keys()):
        names = ", ".join(sorted(each.name for each in told)[:20]) or "none"
        raise ServerError(
            f"it has no tool {missing[0]!r}, which [mcp.{config.name}] tools names; it has {names}"
        )
    return found


def make_tool(config: ServerConfig, told: mcp_types.Tool, execute: Executor) -> Tool:
    """A tool of a workspace.

    Args:
        config: what the operator says of the server.
        told: what the server says of the tool.
        execute: what calls it.

    Raises:
        ServerError: it makes none.
    """
    size = len(told.model_dump_json().encode())
    if size > MAX_DECLARATION_BYTES:
        raise _useless(
            config, told, f"what it says of it has {size} bytes, and {MAX_DECLARATION_BYTES} are read"
        )
    try:
        declaration = ToolDeclaration(
            name=check_tool_name(config.prefix + told.name),
            description=told.description or told.title or "",
            input_schema=told.input_schema,
            output_schema=told.output_schema,
        )
        if told.input_schema.get("type") != "object":
            raise SchemaError("its input schema is not of an object")
        ArgumentCheck(declaration)
        if declaration.output_schema is not None:
            AnswerCheck(declaration.output_schema)
    except (ValueError, AnswerSchemaError, RecursionError) as error:
        raise _useless(config, told, " ".join(str(error).split())) from error
    return Tool(
        declaration,
        execute,
        deadline_s=None if config.timeout_s is None else lambda _: config.timeout_s,
        traits=_traits(config, told),
        place=f"server {config.name!r}",
    )


def _traits(config: ServerConfig, told: mcp_types.Tool) -> Traits:
    hints, trusted = told.annotations, config.trust_hints
    read_only = trusted and hints is not None and hints.read_only_hint is True
    harmless = read_only or (trusted and hints is not None and hints.destructive_hint is False)
    closed = trusted and hints is not None and hints.open_world_hint is False
    return Traits(
        read_only=read_only,
        destructive=not harmless,
        permissions=frozenset() if closed else frozenset({"network_access"}),
        category="custom" if closed else "network",
        provenance=Provenance(config.name, trusted),
    )


def _useless(config: ServerConfig, told: mcp_types.Tool, cause: str) -> ServerError:
    return ServerError(
        f"its tool {told.name[:100]!r} cannot be offered: {cause}. To use the others, name them: "
        f"tools = [...] in [mcp.{config.name}]"
    )
