"""What a tool may answer: how much, and of which shape.

How much is the same for functions, processes and connected servers, and for a router that answers for them. A
program's own output is bounded by its limits.

Programs read `data` by the types that the output schema says, so data of another shape is told where it came
from and not where it is stumbled over. The call is a fault: it ran, and the tool's author can mend it.
"""

from __future__ import annotations

from dataclasses import replace
from types import NoneType, UnionType
from typing import TYPE_CHECKING, get_args

import msgspec

from litany_engine.door.schemas import compile_schema
from litany_runtime.limits import MIB
from litany_runtime.outcome import Outcome, Usage
from litany_runtime.output import MARKER_BYTES, Kept
from litany_stubs.words import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from litany_engine.door.calls import Capture
    from litany_engine.door.prepared import Prepared
    from litany_stubs.words import JSON


MAX_OUTPUT_BYTES = 64 * MIB
"""Bytes kept of each stream: above what the wire lets through to a program, which gets a result whole or is
told that it cannot; below what hurts the host. A process has a limit of its own (`tools/processes.py`)."""

MAX_DATA_BYTES = 64 * MIB
"""Encoded size of structured data; it cannot be cut, so more of it is a fault."""

MAX_FAULT_CHARS = 500
"""Characters of a fault that are told: a validator shows the wrong value, and values may be large."""


_FIELDS: dict[str, type | UnionType] = {
    "stdout": bytes,
    "stderr": bytes,
    "exit_code": int,
    "outcome": Outcome | None,
    "usage": Usage | None,
    "reason": str,
    "refusal": Refusal | None,
    "layers": tuple,
}
"""What the fields of a capture are; `data` is looked at where it is written down."""


class AnswerSchemaError(ValueError):
    """An output schema that no validator accepts."""


class AnswerCheck:
    """A compiled output schema.

    Attributes:
        schema: what it was made of.

    Raises:
        AnswerSchemaError: it is not a JSON Schema, or names a document elsewhere.
    """

    def __init__(self, schema: Mapping[str, JSON]) -> None:
        self.schema = schema
        try:
            self._validator = compile_schema(schema)
        except ValueError as error:
            raise AnswerSchemaError(str(error)) from error

    def fault(self, value: JSON) -> str:
        """Where the value is not what the schema accepts, and why; or ""."""
        if self._validator.is_valid(value):
            return ""
        first = next(iter(self._validator.iter_errors(value)))
        return f"${''.join(f'[{each!r}]' for each in first.instance_path)}: {first.message}"


def misshapen(capture: Capture) -> str:
    """Which field of a capture is not of its type, or ""; what a tool returns has seen no type checker."""
    for name, kind in _FIELDS.items():
        value = getattr(capture, name)
        if not isinstance(value, kind) or isinstance(value, bool):
            kinds = " or ".join("None" if each is NoneType else each.__name__ for each in _kinds(kind))
            return f"{name} is {type(value).__name__}, not {kinds}"
    if not -(2**31) <= capture.exit_code < 2**32:
        return f"exit_code is {capture.exit_code:.3g}, which no process has"
    return ""


def kept(prepared: Prepared, capture: Capture) -> Capture:
    """A result whose streams lack their middle where they were too long; a program has limits of its own."""
    most = MAX_OUTPUT_BYTES + MARKER_BYTES  # what was cut before has its marker in it
    if prepared.tool.composes or (len(capture.stdout) <= most and len(capture.stderr) <= most):
        return capture
    return replace(capture, stdout=_cut(capture.stdout), stderr=_cut(capture.stderr))


def answered(prepared: Prepared, capture: Capture) -> Capture:
    """A result of the size and shape that it may have, or the fault that it has not."""
    fault = _size_fault(capture.data) or _shape_fault(prepared, capture)
    if not fault:
        return capture
    where = f" ({prepared.tool.place})" if prepared.tool.place else ""
    reason = (
        f"tool {prepared.tool.declaration.name!r} ran to its end, but its data {fault}. What the call did "
        f"stands; mend the tool{where}"
    )
    return replace(capture, data=None, outcome=Outcome.FAULTED, reason=reason)


def _kinds(kind: type | UnionType) -> tuple[type, ...]:
    return get_args(kind) if isinstance(kind, UnionType) else (kind,)


def _cut(stream: bytes) -> bytes:
    bounded = Kept(MAX_OUTPUT_BYTES)
    bounded.add(stream)
    return bounded.bytes()


def _size_fault(data: JSON) -> str:
    if data is None or isinstance(data, bool | int | float):
        return ""
    try:
        size = len(msgspec.json.encode(data))
    except (TypeError, ValueError, RecursionError):
        return ""  # whoever writes it down says what about it is not JSON's
    return "" if size <= MAX_DATA_BYTES else f"has {size} bytes as JSON, and an answer holds {MAX_DATA_BYTES}"


def _shape_fault(prepared: Prepared, capture: Capture) -> str:
    """No data is none to judge, and what failed promises nothing."""
    tool = prepared.tool
    schema = tool.declaration.output_schema
    if schema is None or capture.data is None or capture.exit_code != 0 or capture.outcome is not None:
        return ""
    try:
        fault = prepared.toolset.registry.answer_check(tool).fault(capture.data)
    except AnswerSchemaError as error:
        fault = f"the schema itself is none: {error}"
    return fault and f"is not what its output schema promises: {fault[:MAX_FAULT_CHARS]}"
