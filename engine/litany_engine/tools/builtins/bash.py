"""`bash`: a command line in a shell, as the agent's user, in the agent's directory.

Not confined, and that is its purpose: a role that is granted `bash` may do on this machine whatever the user
who runs litany may. Who wants less leaves it out of the grant. A program of an agent that has it reaches as
far through it, by the same gates.
"""

from __future__ import annotations

import shutil
from functools import cache
from typing import TYPE_CHECKING

from litany_engine.door.calls import Capture, Tool
from litany_engine.tools.builtins.input import WrongInputError, builtin_input
from litany_engine.tools.definitions import Traits
from litany_engine.tools.tool_process import run_tool_process
from litany_stubs.words import ToolDeclaration

if TYPE_CHECKING:
    from litany_engine.door.calls import Context, ToolCall

DECLARATION = ToolDeclaration(
    name="bash",
    description=(
        "Runs a command line in a shell on the local machine (`bash -c`, or `sh -c` where there is no bash). "
        "Not interactive: stdin is empty, nothing can be typed. "
        "It starts in the working directory. Every call is a new shell: variables, `cd` and functions end "
        "with it, and so does everything that it started in the background, which the result then names. "
        "It has no time limit of its own: put `timeout 60` before a command that may hang."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "command": {"type": "string", "minLength": 1, "description": "The command line."},
        },
        "required": ["command"],
        "additionalProperties": False,
    },
)


async def execute(call: ToolCall, context: Context) -> Capture:
    """Run the command line."""
    try:
        given = builtin_input(DECLARATION, call.input)
    except WrongInputError as error:
        return Capture.failed(f"bash: {error}")
    return await run_tool_process([_shell(), "-c", given["command"]], context)


@cache
def _shell() -> str:
    return shutil.which("bash") or "/bin/sh"


BASH = Tool(
    DECLARATION,
    execute,
    traits=Traits(
        command_argument="command",
        permissions=frozenset({"shell_execute"}),
        category="shell",
        destructive=True,
    ),
)
