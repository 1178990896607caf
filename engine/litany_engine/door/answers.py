"""What a tool may answer: how much, and of which shape.

How much is the same for functions, processes and connected servers, and for a router that answers for them. A
program's own output is bounded by its limits.

Programs read `data` by the types that the output schema says, so data of another shape is told where it came
from and not where it is stumbled over. The call is a fault: it ran, and the tool's author can mend it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from litany_engine.door.nullable import accept_null
from litany_runtime.limits import MIB
from litany_runtime.outcome import Outcome
from litany_runtime.output import MARKER_BYTES, Kept

if TYPE_CHECKING:
    from collections.abc import Mapping

    from litany_engine.door.calls import Capture
    from litany_engine.door.prepared import Prepared
    from litany_stubs.words import JSON


MAX_OUTPUT_BYTES = 10 * MIB
"""Bytes kept of each stream: far above what a person or model reads, far below what hurts."""

MAX_DATA_BYTES = 10 * MIB
"""Encoded size of structured data; it cannot be cut, so more of it is a fault."""


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
        import jsonschema_rs  # noqa: PLC0415 - most tools have no output schema

        self.schema = schema
        try:
            self._validator: Any = jsonschema_rs.validator_for(
                accept_null(dict(schema)), retriever=_refuse_to_fetch
            )
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            raise AnswerSchemaError(str(error).splitlines()[0]) from error

    def fault(self, value: JSON) -> str:
        """Where the value is not what the schema accepts, and why; or ""."""
        if self._validator.is_valid(value):
            return ""
        first = next(iter(self._validator.iter_errors(value)))
        return f"${''.join(f'[{each!r}]' for each in first.instance_path)}: {first.message}"


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


def _cut(stream: bytes) -> bytes:
    kept = Kept(MAX_OUTPUT_BYTES)
    kept.add(stream)
    return kept.bytes()


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


MAX_FAULT_CHARS = 500
"""Characters of a fault that are told: a validator shows the wrong value, and values may be large."""


def _refuse_to_fetch(uri: str) -> NoReturn:
    raise ValueError(f"a schema may not refer to another document ({uri}); put the definition under $defs")
