"""The tools that every workspace has."""

from __future__ import annotations

from litany_engine.tools.builtins.apply_patch import APPLY_PATCH
from litany_engine.tools.builtins.bash import BASH
from litany_engine.tools.builtins.read_file import READ_FILE
from litany_engine.tools.builtins.read_tool_output import READ_TOOL_OUTPUT

__all__ = ["APPLY_PATCH", "BASH", "BUILTIN_TOOLS", "READ_FILE", "READ_TOOL_OUTPUT"]

BUILTIN_TOOLS = (APPLY_PATCH, BASH, READ_FILE, READ_TOOL_OUTPUT)
"""All of them but `python`, which needs a workspace to run its programs in."""
