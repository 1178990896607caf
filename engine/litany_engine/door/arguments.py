"""Is this input what the tool takes, and if not, what would be: the text of the schema gate.

The schema is compiled once. A call that passes costs well under a microsecond; only a refusal pays for words.
References are never fetched: a schema that names another machine is a schema that does not load.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import msgspec

from litany_engine.door.schemas import compile_schema
from litany_engine.near import near
from litany_runtime.limits import KIB, MIB
from litany_stubs.values import to_json_value
from litany_stubs.words import unplaced_fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from litany_stubs.words import JSON, ToolDeclaration

MAX_FAULTS = 5
"""Faults told at once: enough to mend a call in one go, few enough to read."""

MAX_SHOWN = 80
"""Characters of a wrong value shown back; the caller knows the rest."""

MAX_INPUT_BYTES = 16 * MIB
"""Encoded size of one call's input: what the wire lets through from a program, for every other caller."""

_SMALL = 2**53
_SHORT = 64 * KIB
_FEW = 64


class SchemaError(ValueError):
    """A tool's schema that no validator accepts."""


class ArgumentCheck:
    """The compiled input schema of one tool.

    Attributes:
        declaration: whose it is.

    Raises:
        SchemaError: the schema is not a JSON Schema, or names a document elsewhere.
    """

    def __init__(self, declaration: ToolDeclaration) -> None:
        self.declaration = declaration
        try:
            self._validator = compile_schema(declaration.input_schema)
        except ValueError as error:
            raise SchemaError(f"tool {declaration.name!r}: input_schema: {error}") from error

    def fault(self, arguments: JSON) -> str | None:
        """None when the arguments are accepted, else what is wrong and what the tool takes."""
        if fault := unplaced_fault(arguments):
            return f"{fault.rstrip('.?')}. {takes(self.declaration)}"
        if isinstance(arguments, dict) and self._validator.is_valid(arguments):
            return None
        name = self.declaration.name
        if not isinstance(arguments, dict):
            faults = [f"the input must be a JSON object, not {_kind(arguments)}"]
        else:
            properties = self.declaration.input_schema.get("properties", {})
            faults = list(_faults(self._validator.iter_errors(arguments), arguments, properties))
        told = "; ".join(faults[:MAX_FAULTS])
        if len(faults) > MAX_FAULTS:
            told += f"; and {len(faults) - MAX_FAULTS} more"
        return f"{name}: {told}. {takes(self.declaration)}"


def detach(arguments: object) -> tuple[JSON, str]:
    """Copy an input so that nobody else can change it.

    Returns:
        The copy and ""; or None and what in it is not JSON's, by its path.
    """
    if (
        type(arguments) is dict
        and len(arguments) <= _FEW
        and all(map(_is_plain, arguments, arguments.values()))
    ):
        return dict(arguments), ""
    try:
        text = msgspec.json.encode(to_json_value(arguments, "input"))
        if len(text) > MAX_INPUT_BYTES:
            return None, f"input has {len(text)} bytes, and a call takes up to {MAX_INPUT_BYTES}"
        value = msgspec.json.decode(text)
    except (TypeError, ValueError) as error:
        return None, str(error)
    if b"-0.0" in text and (place := _negative_zero(value, "input")):
        return None, f"{place} is -0.0, which readers of JSON take for different numbers: pass 0"
    return value, ""


def _negative_zero(value: JSON, place: str) -> str:
    """Where a negative zero is, or ""."""
    if isinstance(value, float):
        return place if value == 0 and math.copysign(1, value) < 0 else ""
    if isinstance(value, dict):
        inside = [(each, f"{place}.{key}") for key, each in value.items()]
    else:
        inside = [(each, f"{place}[{n}]") for n, each in enumerate(value)] if isinstance(value, list) else []
    return next(filter(None, (_negative_zero(each, where) for each, where in inside)), "")


def _is_plain(key: object, value: object) -> bool:
    """Whether a member needs no look: most inputs are a few words and numbers."""
    return (
        type(key) is str
        and key.isascii()
        and (
            (type(value) is str and len(value) < _SHORT and value.isascii())
            or type(value) is bool
            or value is None
            or (type(value) is int and -_SMALL < value < _SMALL)
        )
    )


def takes(declaration: ToolDeclaration) -> str:
    """One line that says what a tool takes: each argument, its type, and whether it is required."""
    properties = declaration.input_schema.get("properties")
    required = set(declaration.input_schema.get("required") or ())
    if not isinstance(properties, dict) or not properties:
        return (
            f"{declaration.name} takes a JSON object."
            if required
            else f"{declaration.name} takes no named arguments."
        )
    names = sorted(properties, key=lambda name: name not in required)  # the order of its stub's signature
    parts = [
        f"{name} ({_type_of(properties[name])}, {'required' if name in required else 'optional'})"
        for name in names
    ]
    return f"{declaration.name} takes: {', '.join(parts)}."


def _faults(errors: Iterable[Any], arguments: Mapping[str, JSON], properties: Any) -> Iterable[str]:
    known = properties if isinstance(properties, dict) else {}
    for error in errors:
        kind = error.kind
        path = _path(error.instance_path)
        if isinstance(kind, jsonschema_rs.ValidationErrorKind.Required):
            missing = f"{path}.{kind.property}" if path else str(kind.property)
            yield f"argument {missing!r} is missing"
        elif isinstance(
            kind,
            jsonschema_rs.ValidationErrorKind.AdditionalProperties
            | jsonschema_rs.ValidationErrorKind.UnevaluatedProperties,
        ):
            for extra in kind.unexpected:
                where = f"{path}.{extra}" if path else extra
                hint = "" if path else near(extra, (name for name in known if name not in arguments))
                yield f"argument {where!r} is not known{hint}"
        else:
            meant = _description(known, error.instance_path) if _is_terse(kind) else ""
            told = (
                f"{json.dumps(error.instance)[:MAX_SHOWN]} is not: {meant}" if meant else _clip(error.message)
            )
            yield f"argument {path!r}: {told}" if path else told


def _is_terse(kind: Any) -> bool:
    """Whether the validator's own words name a rule (`anyOf`, a pattern) instead of what is meant."""
    kinds = jsonschema_rs.ValidationErrorKind
    return isinstance(kind, kinds.Pattern | kinds.AnyOf | kinds.OneOfNotValid | kinds.OneOfMultipleValid)


def _description(known: Mapping[str, Any], path: list[str | int]) -> str:
    """What the schema says of a top-level argument, when the fault is that argument itself."""
    schema = known.get(str(path[0])) if len(path) == 1 else None
    return str(schema.get("description", "")).strip().rstrip(".") if isinstance(schema, dict) else ""


def _path(parts: Iterable[str | int]) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _type_of(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "any"
    if "enum" in schema:
        return "one of " + _clip(", ".join(json.dumps(each) for each in schema["enum"]))
    kinds = schema.get("type", "any")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if schema.get("nullable") is True and not {"any", "null"}.intersection(kinds):
        kinds = [*kinds, "null"]
    return " or ".join(map(str, kinds))


def _kind(value: JSON) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "an array"}
    return names.get(type(value), f"a {type(value).__name__}")


def _clip(text: str) -> str:
    return text if len(text) <= 2 * MAX_SHOWN else f"{text[:MAX_SHOWN]} … {text[-MAX_SHOWN:]}"
