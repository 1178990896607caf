"""External programs as tools: a JSON descriptor says what a program takes, stdin and stdout carry the call.

    {
      "name": "word_count",
      "description": "Counts the words of a text.",
      "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
      "output_schema": {"type": "object", "properties": {"words": {"type": "integer"}}},
      "command": ["./word_count.py"],
      "timeout": "30s",
      "environment": ["DICTIONARY_KEY"]
    }

The contract: the input, one JSON object, on stdin; output on stdout, diagnostics on stderr; exit code 0 is
success, 75 (EX_TEMPFAIL) a failure that may not happen again, which `max_retries` lets litany try
again; the working directory is the agent's; LITANY_CONV_REPO, LITANY_CONV_BRANCH and LITANY_TOOL_ID say
who calls. With an `output_schema` stdout is JSON, and is the call's structured data.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from litany_engine.configuration.regular_file import FileFault, read_regular
from litany_engine.configuration.setting_values import duration
from litany_engine.configuration.units import UnitError
from litany_engine.door.answers import AnswerCheck, AnswerSchemaError
from litany_engine.door.arguments import ArgumentCheck, SchemaError
from litany_engine.door.calls import Capture, Context, Executor, Tool, ToolCall
from litany_engine.tools.definitions import Traits
from litany_engine.tools.tool_name import check_tool_name
from litany_engine.tools.tool_process import run_tool_process
from litany_runtime.limits import MIB
from litany_stubs.values import to_json_value
from litany_stubs.words import JSON, ToolDeclaration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_DESCRIPTOR_BYTES = 1 * MIB
"""Size of a descriptor: far above any schema a model could use, far below what would hurt to read."""


class DescriptorError(ValueError):
    """A descriptor that makes no tool: one line with the file, the cause and what is accepted."""


class _Descriptor(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    command: Annotated[list[str], msgspec.Meta(min_length=1)]
    description: str = ""
    input_schema: dict[str, JSON] = msgspec.field(default_factory=lambda: {"type": "object"})
    output_schema: dict[str, JSON] | None = None
    timeout: str | None = None
    environment: list[str] = msgspec.field(default_factory=list)
    model_schema: dict[str, JSON] | None = None
    hint: str = ""
    command_argument: str | None = None
    path_argument: str | None = None
    escape_argument: str | None = None
    permissions: list[str] = msgspec.field(default_factory=list)
    category: str = "custom"
    terminal: bool = False
    read_only: bool = False
    destructive: bool = False
    concurrency_safe: bool | None = None
    barrier: bool = False
    max_retries: int = 0


_TRAITS = (
    *("model_schema", "hint", "command_argument", "path_argument", "escape_argument", "category"),
    *("terminal", "read_only", "destructive", "concurrency_safe", "barrier", "max_retries"),
)
"""Fields of a descriptor that a tool's traits take as they are."""


def load_external_tools(paths: Iterable[Path]) -> list[Tool]:
    """Read descriptors.

    Args:
        paths: descriptor files, and folders whose `*.json` files are descriptors.

    Returns:
        The tools, those of one folder in the order of their file names.

    Raises:
        DescriptorError: a file that makes no tool, or two that make one name.
    """
    tools: list[Tool] = []
    found: dict[str, Path] = {}
    for path in _files(paths):
        tool = load_external_tool(path)
        name = tool.declaration.name
        if name in found:
            raise DescriptorError(f"{path}: field 'name': {name!r} is already the tool of {found[name]}")
        found[name] = path
        tools.append(tool)
    return tools


def started_files(paths: Iterable[Path]) -> list[Path]:
    """The files that descriptors' commands name: the program beside the descriptor, others by a whole path.

    Args:
        paths: as for `load_external_tools`, which says what is wrong with one.
    """
    found: list[Path] = []
    for path in _files(paths):
        with suppress(DescriptorError):
            program, *arguments = _read(path).command
            named = [
                path.parent.absolute() / program if "/" in program else Path(program),
                *map(Path, arguments),
            ]
            found += [
                each for each in named if each.is_absolute() and "\0" not in str(each) and each.is_file()
            ]
    return found


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(path.glob("*.json"))
        else:
            yield path


def load_external_tool(path: Path) -> Tool:
    """Read one descriptor.

    Raises:
        DescriptorError: the file cannot be read, or makes no tool.
    """
    descriptor = _read(path)
    try:
        declaration = ToolDeclaration(
            name=check_tool_name(descriptor.name),
            description=descriptor.description,
            input_schema=descriptor.input_schema,
            output_schema=descriptor.output_schema,
        )
        ArgumentCheck(declaration)
        check = None if descriptor.output_schema is None else _OutputCheck(descriptor.output_schema)
        timeout_s = None if descriptor.timeout is None else duration(descriptor.timeout)
        argv = _find(descriptor.command, path.parent)
        traits = _traits(descriptor)
    except UnitError as error:
        raise DescriptorError(f"{path}: field 'timeout': {error}") from error
    except (ValueError, SchemaError) as error:
        raise DescriptorError(f"{path}: {error}") from error
    return Tool(
        declaration,
        _executor(declaration.name, argv, tuple(descriptor.environment), check),
        deadline_s=None if timeout_s is None else lambda _: timeout_s,
        traits=traits,
        place=str(path),
    )


def _traits(descriptor: _Descriptor) -> Traits:
    known = descriptor.input_schema.get("properties", {})
    for field in ("command_argument", "path_argument", "escape_argument"):
        named = getattr(descriptor, field)
        if named is not None and named not in known:
            raise ValueError(f"field {field!r}: the input schema has no property {named!r}")
    given = {field: getattr(descriptor, field) for field in _TRAITS}
    return Traits(permissions=frozenset(descriptor.permissions), **given)


def _read(path: Path) -> _Descriptor:
    try:
        text = read_regular(path, MAX_DESCRIPTOR_BYTES)
    except FileNotFoundError as error:
        raise DescriptorError(
            f"{path}: there is no such file or folder; [tools] descriptors in litany.toml names it"
        ) from error
    except FileFault as error:
        raise DescriptorError(f"{path}: {error}") from error
    try:
        return msgspec.json.decode(text, type=_Descriptor)
    except msgspec.ValidationError as error:
        known = ", ".join(_Descriptor.__struct_fields__)
        raise DescriptorError(f"{path}: {error}; a descriptor has the fields {known}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DescriptorError(f"{path}: is not JSON: {error}") from error


def _find(command: list[str], folder: Path) -> list[str]:
    """The command with its program made absolute: beside the descriptor when it has a slash, else on PATH."""
    program, *arguments = command
    if "/" in program:
        place = os.path.normpath(folder.absolute() / program)
        if not Path(place).is_file():
            what = "is no file" if os.path.lexists(place) else "is not there"
            raise ValueError(
                f"field 'command': {place} {what}; a path with a slash starts at the descriptor's folder"
            )
        if not os.access(place, os.X_OK):
            raise ValueError(f"field 'command': {place} is not executable: chmod +x {place}")
        return [place, *arguments]
    found = shutil.which(program)
    if found is None:
        raise ValueError(
            f"field 'command': there is no program {program!r} on PATH "
            "(a program beside the descriptor is written with './')"
        )
    return [found, *arguments]


def _executor(name: str, argv: list[str], passed: tuple[str, ...], check: _OutputCheck | None) -> Executor:
    async def execute(call: ToolCall, context: Context) -> Capture:
        given = json.dumps(call.input, ensure_ascii=False).encode()
        capture = await run_tool_process(argv, context, stdin=given, passed=passed)
        if capture.exit_code == os.EX_TEMPFAIL and capture.outcome is None:
            return replace(capture, retryable=True)
        if check is None or capture.outcome is not None or capture.exit_code != 0:
            return capture
        try:
            return replace(capture, data=check.read(capture.stdout))
        except ValueError as error:
            note = f"{name}: exited with 0, but its output is not what its output_schema promises: {error}"
            return replace(capture, exit_code=1, stderr=_with_line(capture.stderr, note))

    return execute


def _with_line(stream: bytes, line: str) -> bytes:
    separator = b"\n" if stream and not stream.endswith(b"\n") else b""
    return stream + separator + line.encode("utf-8", "backslashreplace") + b"\n"


class _OutputCheck:
    """Reads a tool's stdout as the JSON that its output schema promises."""

    def __init__(self, schema: dict[str, JSON]) -> None:
        try:
            self._check = AnswerCheck(schema)
        except AnswerSchemaError as error:
            raise SchemaError(f"field 'output_schema': {error}") from error

    def read(self, stdout: bytes) -> JSON:
        """The value on stdout.

        Raises:
            ValueError: it is no JSON, or not what the schema accepts; what and where.
        """
        try:
            value = to_json_value(msgspec.json.decode(stdout), "$")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ValueError(f"stdout is not JSON ({error})") from error
        if fault := self._check.fault(value):
            raise ValueError(fault)
        return value
