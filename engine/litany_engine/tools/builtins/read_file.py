"""`read_file`: lines of a file, byte for byte, with a note that says which lines they are.

The note is there because a model that cannot see which part it got guesses the next range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from litany_engine.door.calls import Capture, Tool
from litany_engine.tools.builtins.input import WrongInputError, builtin_input
from litany_engine.tools.builtins.worktree_files import FileRefusedError, WorktreeFiles, shown_cwd
from litany_engine.tools.definitions import Traits
from litany_runtime.limits import MIB
from litany_stubs.words import ToolDeclaration

if TYPE_CHECKING:
    from litany_engine.door.calls import Context, ToolCall

MAX_FILE_BYTES = 1 * MIB
"""Size of the whole file, not of the part asked for: larger files are data, for a program or a command."""

DECLARATION = ToolDeclaration(
    name="read_file",
    description=(
        "Reads lines of a file in the agent's worktree. The output is the bytes of the lines as they are; "
        "a note on stderr says which lines they are, how many the file has and where to read on. "
        f"The file may have up to {MAX_FILE_BYTES} bytes."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "description": "The file, relative to the working directory, or absolute in the worktree.",
            },
            "offset": {
                "type": "integer",
                "minimum": 1,
                "default": 1,
                "description": "The first line to read; lines count from 1.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "description": "How many lines to read; to the end of the file when left out.",
            },
        },
        "required": ["path"],
        "additionalProperties": False,
    },
)


async def execute(call: ToolCall, context: Context) -> Capture:
    """Read, in a thread: a file system may take its time, and a stop must not wait for it."""
    try:
        given = builtin_input(DECLARATION, call.input)
    except WrongInputError as error:
        return Capture.failed(f"read_file: {error}")
    return await trio.to_thread.run_sync(
        _read, given["path"], given.get("offset", 1), given.get("limit"), context, abandon_on_cancel=True
    )


def _read(path: str, offset: int, limit: int | None, context: Context) -> Capture:
    worktree = context.workspace / "agents" / context.agent
    cwd = shown_cwd(worktree, context.cwd)
    try:
        with WorktreeFiles(worktree, context.cwd, context.outside) as files:
            content, size = files.read(path, MAX_FILE_BYTES + 1)
    except FileRefusedError as error:
        return Capture.failed(f"read_file: {error} (working directory: {cwd})")
    if size > MAX_FILE_BYTES:
        return Capture.failed(
            f"read_file: {path!r} has {size} bytes, and read_file takes files of up to {MAX_FILE_BYTES} "
            f"(working directory: {cwd})"
        )
    lines = _lines(content)
    chosen = lines[offset - 1 : None if limit is None else offset - 1 + limit]
    last = offset - 1 + len(chosen)
    note = f"{len(chosen)} of {len(lines)} lines from line {offset} of {path!r} in {cwd}"
    if last < len(lines):
        note += f"; next offset: {last + 1}"
    return Capture(stdout=b"".join(chosen), stderr=f"{note}\n".encode("utf-8", "backslashreplace"))


def _lines(content: bytes) -> list[bytes]:
    """Lines with their newlines; only a newline ends a line, and an empty file has none."""
    lines = [line + b"\n" for line in content.split(b"\n")]
    if lines[-1] == b"\n":
        lines.pop()
    else:
        lines[-1] = lines[-1][:-1]
    return lines


READ_FILE = Tool(
    DECLARATION,
    execute,
    traits=Traits(
        path_argument="path",
        permissions=frozenset({"file_read"}),
        category="filesystem",
        read_only=True,
        concurrency_safe=True,
    ),
)
