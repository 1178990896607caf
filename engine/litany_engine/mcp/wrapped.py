"""Results that a server wraps, because structured content had to be an object: `{"result": [1, 2]}`.

The frameworks of servers do so for a function that returns a list, a number or a text, and say it in the
output schema: an object whose one property is `result`. What the function returned is what a program wants,
so that is the data, and its schema is the one that a stub shows. A schema of any other shape is left alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from litany_engine.door.answers import AnswerCheck, AnswerSchemaError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from litany_stubs.words import JSON, ToolDeclaration

KEY = "result"

_CARRIED = ("$defs", "definitions", "$schema")
"""What the parts of a schema may refer to, wherever they stand."""


def unwrapped_schema(declaration: ToolDeclaration) -> ToolDeclaration:
    """A declaration whose output schema is that of what is wrapped; the same one when nothing is."""
    schema = declaration.output_schema
    if schema is None or not is_wrapped(schema):
        return declaration
    inner: Any = schema["properties"][KEY]
    found = {**{key: schema[key] for key in _CARRIED if key in schema}, **inner}
    try:
        AnswerCheck(found)
    except AnswerSchemaError:
        return declaration
    return replace(declaration, output_schema=found)


def is_wrapped(schema: Mapping[str, JSON]) -> bool:
    """Whether an output schema is that of a wrapped result."""
    properties = schema.get("properties")
    return (
        schema.get("type") == "object"
        and isinstance(properties, dict)
        and properties.keys() == {KEY}
        and isinstance(properties[KEY], dict)
        and not ({"anyOf", "oneOf", "allOf", "not", "if", "patternProperties"} & schema.keys())
        and not isinstance(schema.get("additionalProperties"), dict)
        and not _refers_elsewhere(properties[KEY])
        and not _refers_elsewhere([schema[key] for key in _CARRIED if key in schema])
    )


def _refers_elsewhere(schema: JSON) -> bool:
    """Whether a part refers to a place that it would no longer find."""
    left = [schema]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            reference = node.get("$ref")
            if isinstance(reference, str) and not reference.startswith(("#/$defs/", "#/definitions/")):
                return True
            left.extend(node.values())
        elif isinstance(node, list):
            left.extend(node)
    return False
