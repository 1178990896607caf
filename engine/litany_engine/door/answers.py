"""Is this structured answer what its tool promised: the check of output schemas.

Programs read `data` by the types that the output schema says, so data of another shape is told where it came
from and not where it is stumbled over. The call is a fault: it ran, and the tool's author can mend it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from litany_engine.door.nullable import accept_null
from litany_runtime.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from litany_engine.door.calls import Capture
    from litany_engine.door.prepared import Prepared
    from litany_stubs.words import JSON


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


def keeps_promise(prepared: Prepared, capture: Capture) -> Capture:
    """A result as its tool promised it, or the fault that it is not.

    No data is none to judge, and what failed promises nothing.
    """
    tool = prepared.tool
    schema = tool.declaration.output_schema
    if schema is None or capture.data is None or capture.exit_code != 0 or capture.outcome is not None:
        return capture
    try:
        fault = prepared.toolset.registry.answer_check(tool).fault(capture.data)
    except AnswerSchemaError as error:
        fault = f"the schema itself is none: {error}"
    if not fault:
        return capture
    where = f" ({tool.place})" if tool.place else ""
    reason = (
        f"tool {tool.declaration.name!r} ran to its end, but its data is not what its output schema "
        f"promises: {fault[:MAX_FAULT_CHARS]}. What the call did stands; mend the tool{where}"
    )
    return replace(capture, data=None, outcome=Outcome.FAULTED, reason=reason)


MAX_FAULT_CHARS = 500
"""Characters of a fault that are told: a validator shows the wrong value, and values may be large."""


def _refuse_to_fetch(uri: str) -> NoReturn:
    raise ValueError(f"a schema may not refer to another document ({uri}); put the definition under $defs")
