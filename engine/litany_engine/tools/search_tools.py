"""`search_tools`: finds deferred tools by words and loads the best, for agents with many tools.

An operator with hundreds of tools defers most of them: they cost a model nothing until it looks for them.
This tool is there once something is deferred (`workspace_tools.py`), in the registry that it searches.

What it loads may be called from the next call on, by the agent that searched and by no other (`loaded.py`),
within the grant: nothing becomes callable that a role is not granted, nor is the model told of such a tool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from litany_engine.door.calls import Capture, Tool
from litany_engine.tools.registry import SEARCH_TOOLS, shown_declaration
from litany_stubs.words import ToolDeclaration

if TYPE_CHECKING:
    from litany_engine.door.calls import Context, ToolCall
    from litany_engine.tools.loaded import LoadedTools
    from litany_engine.tools.registry import Registry

LOADED_AT_ONCE = 5
"""Tools that one search loads: enough to choose from, few enough to read."""

MAX_TOLD_CHARS = 100
"""Characters of a description in the answer; the tool itself has it whole."""

DECLARATION = ToolDeclaration(
    name=SEARCH_TOOLS,
    description=(
        "Finds tools that are not loaded, by words from their names, descriptions and arguments, and loads "
        f"the best {LOADED_AT_ONCE}."
    ),
    input_schema={
        "type": "object",
        "properties": {"query": {"type": "string", "minLength": 3, "description": "Words to look for."}},
        "required": ["query"],
        "additionalProperties": False,
    },
)


def search_tools(
    registry: Registry, loaded: LoadedTools, grant: Callable[[str], Iterable[str] | None] | None = None
) -> Tool:
    """The tool.

    Args:
        registry: what it searches.
        loaded: where it writes down what it loads.
        grant: the names that an agent is granted, None for all; asked at each call. Without it every agent of
            the registry is granted everything.
    """

    async def execute(call: ToolCall, context: Context) -> Capture:
        granted = None if grant is None else grant(context.agent)
        allowed = None if granted is None else frozenset(granted)
        has = loaded.of(context.agent)
        found = [
            shown_declaration(tool)
            for tool, _ in registry.search(call.input["query"])
            if (allowed is None or tool.declaration.name in allowed) and tool.declaration.name not in has
        ]
        best, rest = found[:LOADED_AT_ONCE], found[LOADED_AT_ONCE:]
        loaded.load(context.agent, [each.name for each in best])
        lines = [f"{each.name}: {each.description[:MAX_TOLD_CHARS]}" for each in best]
        text = "\n".join(["Loaded:", *lines] if best else ["No tool that is not loaded has these words."])
        if rest:
            text += f"\nAlso found, and not loaded: {', '.join(each.name for each in rest)}"
        data = {"loaded": [each.name for each in best], "found": [each.name for each in rest]}
        return Capture(stdout=f"{text}\n".encode(), data=data)

    return Tool(DECLARATION, execute)
