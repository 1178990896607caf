"""What a program reaches: workspace, records, tools, the door, control, the acts, the command line.

The names a host needs are here. Each is imported when it is asked for, so that a command that needs one of
them does not pay for all.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from litany_engine.api import OpenWorkspace, open_workspace
    from litany_engine.asyncio_host import open_workspace as open_workspace_asyncio
    from litany_engine.blocking import open_workspace as open_workspace_blocking
    from litany_engine.door.calls import CallEnd, Capture, Context, Tool, ToolCall
    from litany_engine.door.events import CallHeld, CallReport, CallStarted
    from litany_engine.door.screens import Halt, Rewrite, Withhold
    from litany_engine.tools.definitions import Traits
    from litany_engine.tools.function_tool import ToolContext, tool
    from litany_engine.workspaces.new_workspace import init_workspace
    from litany_stubs.words import ToolDeclaration

__all__ = [
    "CallEnd",
    "CallHeld",
    "CallReport",
    "CallStarted",
    "Capture",
    "Context",
    "Halt",
    "OpenWorkspace",
    "Rewrite",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolDeclaration",
    "Traits",
    "Withhold",
    "init_workspace",
    "open_workspace",
    "open_workspace_asyncio",
    "open_workspace_blocking",
    "tool",
]

_HOMES = {
    "CallEnd": ("door.calls", "CallEnd"),
    "CallHeld": ("door.events", "CallHeld"),
    "CallReport": ("door.events", "CallReport"),
    "CallStarted": ("door.events", "CallStarted"),
    "Capture": ("door.calls", "Capture"),
    "Context": ("door.calls", "Context"),
    "Halt": ("door.screens", "Halt"),
    "OpenWorkspace": ("api", "OpenWorkspace"),
    "Rewrite": ("door.screens", "Rewrite"),
    "Tool": ("door.calls", "Tool"),
    "ToolCall": ("door.calls", "ToolCall"),
    "ToolContext": ("tools.function_tool", "ToolContext"),
    "ToolDeclaration": ("litany_stubs.words", "ToolDeclaration"),
    "Traits": ("tools.definitions", "Traits"),
    "Withhold": ("door.screens", "Withhold"),
    "init_workspace": ("workspaces.new_workspace", "init_workspace"),
    "open_workspace": ("api", "open_workspace"),
    "open_workspace_asyncio": ("asyncio_host", "open_workspace"),
    "open_workspace_blocking": ("blocking", "open_workspace"),
    "tool": ("tools.function_tool", "tool"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _HOMES[name]
    home = module if module.startswith("litany_") else f"{__name__}.{module}"
    value = getattr(import_module(home), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
