"""`apply_patch`: several edits of several files, all of them or none.

Two phases. First every operation is staged in memory, against the files as they are; whatever is wrong with
any of them ends the call with nothing written. Then the files are written. A fault of the disk in the middle
of that is the one thing that can leave a part, and the message then says which.
"""

from __future__ import annotations

import json
import os
import posixpath
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import trio

from litany_engine.door.calls import Capture, Tool
from litany_engine.tools.builtins.input import WrongInputError, builtin_input
from litany_engine.tools.builtins.patch_grammar import Operation, PatchError, parse_patch
from litany_engine.tools.builtins.patch_match import RUNGS, Applied, apply_hunks
from litany_engine.tools.builtins.worktree_files import (
    FileRefusedError,
    WorktreeFiles,
    owner_of_new_files,
    shown_cwd,
)
from litany_engine.tools.definitions import Traits
from litany_runtime.limits import MIB
from litany_stubs.words import JSON, ToolDeclaration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from litany_engine.door.calls import Context, ToolCall

MAX_TARGET_BYTES = 16 * MIB
"""Size of a file that can be updated: it is held in memory, twice, as text."""

DECLARATION = ToolDeclaration(
    name="apply_patch",
    description=(
        "Edits files in the agent's worktree: the whole patch is applied, or nothing is written. Form:\n"
        "*** Begin Patch\n"
        "*** Add File: <path>\n"
        "+<line>\n"
        "*** Delete File: <path>\n"
        "*** Update File: <path>\n"
        "*** Move to: <new path>            (optional)\n"
        "@@ <a line above the change>       (optional anchor; a bare @@ separates hunks)\n"
        " <line that stays>\n"
        "-<line that goes>\n"
        "+<line that comes>\n"
        "*** End of File                    (optional: the lines above are the file's last)\n"
        "*** End Patch\n"
        "The lines that stay and go must stand in the file, in one place only from the previous hunk on: "
        "give enough context or an anchor. A file may be in one operation only. Paths are relative to the "
        "working directory."
    ),
    input_schema={
        "type": "object",
        "properties": {"input": {"type": "string", "description": "The patch."}},
        "required": ["input"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "status": {"const": "applied"},
            "root": {"type": "string", "description": "The directory that relative paths start from."},
            "files": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "path": {"type": "string"},
                        "op": {"enum": ["add", "delete", "update"]},
                        "moved_to": {"type": "string"},
                        "hunks": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "properties": {
                                    "rung": {
                                        "enum": [name for name, _ in RUNGS],
                                        "description": "How the hunk's lines were matched.",
                                    },
                                    "line": {"type": "integer"},
                                    "matched": {
                                        "type": "array",
                                        "items": {"type": "string"},
                                        "description": "The file's own lines, when not matched exactly.",
                                    },
                                },
                                "required": ["rung", "line"],
                            },
                        },
                    },
                    "required": ["path", "op"],
                },
            },
        },
        "required": ["status", "root", "files"],
    },
)


async def execute(call: ToolCall, context: Context) -> Capture:
    """Apply, in threads: a stop need not wait for the staging, but it waits for the writes.

    To leave those to themselves would let a call end with its effects still to come.
    """
    try:
        given = builtin_input(DECLARATION, call.input)
    except WrongInputError as error:
        return Capture.failed(f"apply_patch: {error}")
    try:
        staged = await trio.to_thread.run_sync(_stage_all, given["input"], context, abandon_on_cancel=True)
        await trio.to_thread.run_sync(_write_all, staged, context)
    except _WriteError as error:
        return Capture.failed(f"apply_patch: {error} (working directory: {_cwd(context)})")
    except (PatchError, FileRefusedError, UnicodeEncodeError) as error:
        note = f"nothing was written; working directory: {_cwd(context)}"
        return Capture.failed(f"apply_patch: {error} ({note})")
    report = _report(staged, _cwd(context))
    return Capture(stdout=json.dumps(report, ensure_ascii=False).encode(), data=report)


def _cwd(context: Context) -> str:
    return shown_cwd(context.workspace / "agents" / context.agent, context.cwd)


def _files(context: Context) -> WorktreeFiles:
    return WorktreeFiles(context.workspace / "agents" / context.agent, context.cwd, context.outside)


@dataclass(frozen=True, slots=True)
class _Staged:
    """An operation that can be written.

    Attributes:
        operation: as the patch says.
        content: what the file will hold; None for a deletion.
        status: permission bits and owner of the file that is changed; None for a new one.
        hunks: where they were applied.
    """

    operation: Operation
    content: bytes | None = None
    status: os.stat_result | None = None
    hunks: tuple[Applied, ...] = ()


class _WriteError(RuntimeError):
    """The disk failed in the second phase; says what was written and what was not."""


# The first phase.


def _stage_all(text: str, context: Context) -> list[_Staged]:
    text.encode()
    operations = parse_patch(text)
    _refuse_files_as_folders(operations)
    with _files(context) as files:
        _refuse_one_file_by_two_paths(files, operations)
        return [_stage(files, operation) for operation in operations]


def _stage(files: WorktreeFiles, operation: Operation) -> _Staged:
    status = files.status(operation.path)
    if operation.op == "add":
        _refuse_existing(status, operation.path, "added")
        return _Staged(operation, "".join(f"{line}\n" for line in operation.lines).encode())
    if status is None:
        raise PatchError(f"{operation.path!r} cannot be {operation.op}d: there is no such file")
    if stat.S_ISDIR(status.st_mode):
        raise PatchError(f"{operation.path!r} cannot be {operation.op}d: it is a folder")
    if operation.op == "delete":
        return _Staged(operation)
    if stat.S_ISLNK(status.st_mode):
        raise PatchError(f"{operation.path!r} is a symbolic link: name the file that it leads to")
    if operation.move_to is not None:
        _refuse_existing(files.status(operation.move_to), operation.move_to, "moved to")
    content, size = files.read(operation.path, MAX_TARGET_BYTES + 1)
    if size > MAX_TARGET_BYTES:
        raise PatchError(
            f"{operation.path!r} has {size} bytes; a file to update has up to {MAX_TARGET_BYTES}"
        )
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise PatchError(
            f"{operation.path!r} is not UTF-8 (byte {error.start}): it cannot be edited as text"
        ) from error
    changed, hunks = apply_hunks(operation, text)
    return _Staged(operation, changed.encode(), status, tuple(hunks))


def _refuse_existing(status: os.stat_result | None, path: str, what: str) -> None:
    if status is None:
        return
    kind = "a symbolic link" if stat.S_ISLNK(status.st_mode) else "there already"
    raise PatchError(f"{path!r} cannot be {what}: it is {kind}")


def _refuse_one_file_by_two_paths(files: WorktreeFiles, operations: list[Operation]) -> None:
    """The parser compares paths as they are written; a folder may be reached through a link, too."""
    seen: dict[tuple[int, int, str], str] = {}
    for operation in operations:
        for path in filter(None, (operation.path, operation.move_to)):
            place = files.place(path)
            if place is not None and (other := seen.setdefault(place, path)) != path:
                raise PatchError(
                    f"line {operation.line}: {path!r} and {other!r} are one file; "
                    "a file may be in one operation only"
                )


def _refuse_files_as_folders(operations: list[Operation]) -> None:
    """A new file under a path that the same patch makes a file."""
    new = {
        posixpath.normpath(each.move_to or each.path): each
        for each in operations
        if each.op == "add" or each.move_to
    }
    for path, operation in new.items():
        above = posixpath.dirname(path)
        while above not in {"", "/"}:
            if above in new:
                raise PatchError(
                    f"line {operation.line}: {path!r} needs a folder {above!r}, which the patch makes a file"
                )
            above = posixpath.dirname(above)


# The second phase.


def _write_all(staged: list[_Staged], context: Context) -> None:
    with _files(context) as files:
        for done, each in enumerate(staged):
            try:
                _write(files, each)
            except (OSError, FileRefusedError) as error:
                cause = error.strerror if isinstance(error, OSError) else str(error)
                written = ", ".join(repr(one.operation.path) for one in staged[:done]) or "nothing"
                left = ", ".join(repr(one.operation.path) for one in staged[done:])
                raise _WriteError(
                    f"writing {each.operation.path!r} failed: {cause}; written before: {written}; not: {left}"
                ) from error


def _write(files: WorktreeFiles, staged: _Staged) -> None:
    operation, content = staged.operation, staged.content
    if content is None:
        with files.parent(operation.path) as (folder, name):
            os.unlink(name, dir_fd=folder)
    elif operation.op == "add":
        with files.parent(operation.path, make=True) as (folder, name):
            _create(folder, name, content, None)
    elif operation.move_to is not None:
        with files.parent(operation.move_to, make=True) as (folder, name):
            _create(folder, name, content, staged.status)
        with files.parent(operation.path) as (folder, name):
            os.unlink(name, dir_fd=folder)
    else:
        with files.parent(operation.path) as (folder, name):
            _replace(folder, name, content, staged.status)


def _replace(folder: int, name: str, content: bytes, like: os.stat_result | None) -> None:
    """Write beside the file, then into its place: a reader sees the old text or the new, never a part."""
    temporary = f".litany-{secrets.token_hex(8)}"
    _create(folder, temporary, content, like)
    try:
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.unlink(temporary, dir_fd=folder)
        raise


def _create(folder: int, name: str, content: bytes, like: os.stat_result | None) -> None:
    """Make a file that is not there yet, whole or not at all; no link that appeared meanwhile is followed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(name, flags, 0o666, dir_fd=folder)
    try:
        with os.fdopen(fd, "wb") as file:
            if (
                owner := owner_of_new_files(folder) if like is None else (like.st_uid, like.st_gid)
            ) is not None:
                with suppress(PermissionError):  # in a shared folder: another user's file becomes ours
                    os.fchown(fd, *owner)
            if like is not None:
                os.fchmod(fd, like.st_mode & 0o777)  # not set-uid: what it runs is the model's text now
            file.write(content)
    except OSError:
        os.unlink(name, dir_fd=folder)
        raise


def _report(staged: list[_Staged], root: str) -> dict[str, JSON]:
    return {"status": "applied", "root": root, "files": [_report_file(each) for each in staged]}


def _report_file(staged: _Staged) -> dict[str, Any]:
    operation = staged.operation
    told: dict[str, Any] = {"path": operation.path, "op": operation.op}
    if operation.move_to is not None:
        told["moved_to"] = operation.move_to
    if operation.op == "update":
        told["hunks"] = [
            {"rung": each.rung, "line": each.line}
            | ({} if each.matched is None else {"matched": list(each.matched)})
            for each in staged.hunks
        ]
    return told


def _paths(arguments: JSON) -> Iterator[str]:
    """The paths that a patch names, for rules about paths."""
    for operation in parse_patch(arguments["input"]):
        yield operation.path
        if operation.move_to is not None:
            yield operation.move_to


APPLY_PATCH = Tool(
    DECLARATION,
    execute,
    traits=Traits(
        concurrency_safe=False,  # two patches of one file are staged from what the other changes
        paths_of=_paths,
        permissions=frozenset({"file_read", "file_write"}),
        category="filesystem",
        destructive=True,
    ),
)
