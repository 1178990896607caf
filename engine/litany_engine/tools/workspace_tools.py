"""The tools of a workspace: the built-in ones, and those its operator declared by descriptors."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from litany_engine.door.calls import Tool
    from litany_engine.workspaces.workspace import Workspace


def workspace_tools(workspace: Workspace) -> list[Tool]:
    """Every tool that is there without anybody's Python, `python` itself excepted.

    Raises:
        DescriptorError: a descriptor makes no tool.
    """
    from litany_engine.tools.builtins import BUILTIN_TOOLS  # noqa: PLC0415

    tools = list(BUILTIN_TOOLS)
    if workspace.config.descriptors:
        from litany_engine.tools.external import load_external_tools  # noqa: PLC0415  most workspaces have none

        tools += load_external_tools(workspace.config.descriptors)
    return tools
