"""What a function's signature says about the JSON it takes and gives: hints and docstring to JSON Schema.

msgspec knows how a Python type reads as JSON Schema and how JSON becomes that type, so both come from one
struct whose fields are the function's parameters. A parameter with a default may be left out of a call; then
it is left out of the function's call too, and the default is the function's own object.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Union

import docstring_parser
import msgspec

from litany_engine.door.answers import AnswerCheck
from litany_engine.door.calls import Capture
from litany_engine.tools.pydantic_types import (
    Parsed,
    hoist,
    needs_pydantic,
    of_field,
    output_schema_of,
    parse,
    schema_of,
    stand_in,
    to_json,
)
from litany_stubs.values import to_json_value
from litany_stubs.words import JSON

_REFERENCE = "#/$defs/{name}"


class ToolDefinitionError(TypeError):
    """A function that cannot be a tool; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A function's signature as a tool's.

    Attributes:
        input: one field for each parameter that a call may name.
        parameters: the names of those.
        context_parameter: the parameter that gets the call's context, if the function has one.
        description: the docstring's text, without its sections.
        input_schema: JSON Schema of a call's input.
        output_schema: JSON Schema of what it returns, or None when the return hint says no such thing.
        returns: what its return hint promises.
        given_defaults: defaults that stand in a `Field(...)`, which Python itself would pass as they are.
    """

    input: type[msgspec.Struct]
    parameters: tuple[str, ...]
    context_parameter: str | None
    description: str
    input_schema: dict[str, JSON]
    output_schema: dict[str, JSON] | None
    returns: Returns
    given_defaults: Mapping[str, Any]

    def arguments(self, given: JSON) -> dict[str, Any]:
        """Turn a call's input into the function's arguments.

        Raises:
            msgspec.ValidationError: it is not what the hints say.
            RecursionError: it is nested too deep to look at.
        """
        try:
            converted = msgspec.convert(given, self.input, dec_hook=_from_json)
        except msgspec.ValidationError:
            # JSON has one kind of number, and JSON Schema takes 5.0 for an integer; Python's hints do not.
            converted = msgspec.convert(_whole_numbers(given), self.input, dec_hook=_from_json)
        values = ((name, getattr(converted, name)) for name in self.parameters)
        found = {
            name: value.value if isinstance(value, Parsed) else value
            for name, value in values
            if value is not msgspec.UNSET
        }
        for name in self.given_defaults.keys() - found.keys():
            found[name] = self.given_defaults[name].get_default(call_default_factory=True)
        return found


def read_signature(function: Callable[..., Any], name: str, context_type: type) -> Signature:
    """Read a function's signature as a tool's.

    Args:
        function: the function.
        name: the tool's name, for messages.
        context_type: the type of the parameter that is not the model's.

    Raises:
        ToolDefinitionError: naming the parameter and what to change.
    """
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except Exception as error:
        raise ToolDefinitionError(
            f"tool {name!r}: its type hints cannot be read ({error}); "
            "the types they name must be importable from the function's module"
        ) from error
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    defaults: dict[str, Any] = {}
    fields_of_defaults: dict[str, Any] = {}
    context_parameter = None
    for parameter in inspect.signature(function).parameters.values():
        each = parameter.name
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
            raise ToolDefinitionError(
                f"tool {name!r}: a call names each argument, so {stars}{each} cannot be one: write them out"
            )
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise ToolDefinitionError(
                f"tool {name!r}: a call names each argument, so {each!r} cannot be positional: drop the '/'"
            )
        if hints.get(each) is context_type or (each == "context" and each not in hints):
            context_parameter = each
            continue
        if each not in hints:
            if each in {"self", "cls"} and parameter.kind is not parameter.KEYWORD_ONLY:
                raise ToolDefinitionError(_unbound(function, name, each))
            raise ToolDefinitionError(
                f"tool {name!r}: parameter {each!r} needs a type hint (Any takes all of JSON)"
            )
        default = parameter.default
        if of_field(default):
            hints[each] = Annotated[hints[each], default]
            if default.is_required():
                default = parameter.empty
            else:
                fields_of_defaults[each] = default
                default = default.get_default(call_default_factory=True)
        if needs_pydantic(hints[each]):
            hints[each] = _stand_in(hints[each], name, each)
        _check_hint(hints[each], name, each)
        if default is parameter.empty:
            fields.append((each, hints[each]))
        else:
            defaults[each] = default
            optional: Any = Union[hints[each], msgspec.UnsetType]  # noqa: UP007 - `|` is not for every hint
            fields.append((each, optional, msgspec.UNSET))
    struct = msgspec.defstruct("Input", fields, kw_only=True, forbid_unknown_fields=True)
    docs = docstring_parser.parse(inspect.getdoc(function) or "")
    described = {each.arg_name: each.description or "" for each in docs.params}
    return Signature(
        input=struct,
        parameters=tuple(field[0] for field in fields),
        context_parameter=context_parameter,
        description=_description(docs),
        input_schema=_input_schema(struct, hints, described, defaults),
        output_schema=_output_schema(hints.get("return", Any)),
        returns=Returns.of(hints.get("return", Any)),
        given_defaults=fields_of_defaults,
    )


@dataclass(frozen=True, slots=True)
class Returns:
    """What a return hint promises, of what is no `Capture`.

    Attributes:
        hint: the hint, for messages.
        anything: it promises nothing that could be checked.
        text: text may be returned, as stdout.
        octets: bytes may be returned, as stdout.
        nothing: None may be returned.
        check: the check of what else may be returned, as JSON; None when nothing else may.
        reads: the type as which that JSON has to be readable; None when msgspec is not who reads it.
    """

    hint: str
    anything: bool
    text: bool
    octets: bool
    nothing: bool
    check: AnswerCheck | None
    reads: Any

    @classmethod
    def of(cls, hint: Any) -> Returns:
        """Read a return hint."""
        members = {each for each in map(_bare, _members(hint)) if isinstance(each, Hashable)}
        others = tuple(each for each in _members(hint) if not _is_plain(_bare(each)))
        schema = _schema_of_returns(Union[others]) if others else None  # noqa: UP007 - of a tuple
        return cls(
            hint=hint.__name__ if type(hint) is type else str(hint).replace("typing.", ""),
            anything=bool(members & {Any, object}) or (bool(others) and schema is None),
            text=str in members,
            octets=bytes in members,
            nothing=bool(members & {None, types.NoneType}),
            check=None if schema is None else AnswerCheck(schema),
            reads=None if schema is None or needs_pydantic(hint) else Union[others],  # noqa: UP007 - of a tuple
        )

    def fault(self, returned: Any, data: JSON) -> str:
        """What is wrong with what was returned, or ""; `data` is the same as JSON."""
        if (
            self.anything
            or (returned is None and self.nothing)
            or (self.text and isinstance(returned, str))
            or (self.octets and isinstance(returned, bytes))
        ):
            return ""
        kind = type(returned).__name__
        what = f"what it returned, of type {kind}, is not what its return hint promises, {self.hint}"
        if self.check is None:
            return what
        why = self.check.fault(data)
        if not why and self.reads is not None:  # no schema says all of a date's format
            with suppress(TypeError, NotImplementedError):
                try:
                    msgspec.convert(_whole_numbers(data), self.reads, dec_hook=_from_json)
                except msgspec.ValidationError as error:
                    why = str(error)
        return f"{what}: {why}" if why else ""


def _members(hint: Any) -> tuple[Any, ...]:
    union = typing.get_origin(_bare(hint)) in {Union, types.UnionType}
    return typing.get_args(_bare(hint)) if union else (hint,)


def _is_plain(hint: Any) -> bool:
    return isinstance(hint, Hashable) and hint in {Any, object, str, bytes, Capture, None, types.NoneType}


def _stand_in(hint: Any, name: str, parameter: str) -> type[Parsed]:
    try:
        return stand_in(hint)
    except TypeError as error:
        raise ToolDefinitionError(
            f"tool {name!r}: parameter {parameter!r} has a type that pydantic cannot read: {error}"
        ) from error


def _unbound(function: Callable[..., Any], name: str, first: str) -> str:
    owner, _, method = getattr(function, "__qualname__", name).rpartition(".")
    owner = owner.rpartition(".")[2]
    if not owner or owner == "<locals>":
        return f"tool {name!r}: parameter {first!r} needs a type hint (Any takes all of JSON)"
    bound = f"{owner}.{method}" if first == "cls" else f"{owner.lower()}.{method}"
    whose = "its class" if first == "cls" else f"an object of {owner}, `{owner.lower()} = {owner}(...)`"
    return (
        f"tool {name!r}: {owner}.{method} is a method, and a call has no {first!r} to give it: leave @tool "
        f"off the method, and make the tool of the method bound to {whose}: tools=[tool({bound})]"
    )


def as_json(value: Any, place: str) -> JSON:
    """A value in JSON's domain: dataclasses, structs, enums, dates, paths and the like are converted.

    Raises:
        TypeError: a type that JSON has no form for, with its place.
        ValueError: a value that JSON has not (NaN, an integer beyond 64 bits), with its place.
        RecursionError: too deep, or it contains itself.
    """
    return to_json_value(msgspec.to_builtins(value, enc_hook=_to_json), place)


def _check_hint(hint: Any, name: str, parameter: str) -> None:
    """Fail for one parameter by its name: the schema of all of them together would not say which."""
    try:
        msgspec.json.schema_components([hint], ref_template=_REFERENCE, schema_hook=_path_schema)
    except (TypeError, NotImplementedError) as error:
        cause = str(error).rsplit("\n", 1)[-1]
        raise ToolDefinitionError(
            f"tool {name!r}: parameter {parameter!r} has a type that no JSON stands for: {cause or hint}"
        ) from error


def _whole_numbers(value: JSON) -> JSON:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole_numbers(each) for each in value]
    if isinstance(value, dict):
        return {key: _whole_numbers(each) for key, each in value.items()}
    return value


def _path_schema(kind: type) -> dict[str, Any]:
    if kind is Path:
        return {"type": "string"}
    if (schema := schema_of(kind)) is not None:
        return schema
    raise NotImplementedError(f"{kind} is not supported")


def _from_json(kind: type, value: Any) -> Any:
    if kind is Path and isinstance(value, str):
        return Path(value)
    return parse(kind, value)


def _to_json(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return to_json(value)


def _input_schema(
    struct: type[msgspec.Struct],
    hints: Mapping[str, Any],
    described: Mapping[str, str],
    defaults: Mapping[str, Any],
) -> dict[str, JSON]:
    (reference,), definitions = msgspec.json.schema_components(
        [struct], ref_template=_REFERENCE, schema_hook=_path_schema
    )
    own = definitions.pop(reference["$ref"].rsplit("/", 1)[1])
    properties = {}
    own = hoist(own, definitions)
    for name, given in own.get("properties", {}).items():
        words = [each for each in getattr(hints[name], "__metadata__", ()) if isinstance(each, str)]
        schema = _with_description(given, (*words, described.get(name, "")))
        if name in defaults:
            schema = _with_default(schema, defaults[name], name)
        properties[name] = schema
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(own.get("required", ())),
        "additionalProperties": False,
    }
    return {**schema, "$defs": definitions} if definitions else schema


def _with_description(schema: dict[str, JSON], texts: tuple[str, ...]) -> dict[str, JSON]:
    text = next(filter(None, (schema.get("description"), *texts)), None)
    if text is None:
        return schema
    if "$ref" in schema:  # in draft 7 whatever stands beside a reference is ignored
        return {"allOf": [schema], "description": text}
    return {**schema, "description": text}


def _with_default(schema: dict[str, JSON], default: Any, name: str) -> dict[str, JSON]:
    """Show a default that a call could as well have sent; `None` for "not given" is no such thing."""
    if default is None and not _takes_null(schema):
        return schema
    with suppress(TypeError, ValueError, RecursionError):  # what JSON cannot say is the function's own affair
        return {**schema, "default": as_json(default, name)}
    return schema


def _takes_null(schema: Mapping[str, JSON]) -> bool:
    kinds = schema.get("type", "null" if not schema.keys() - {"description"} else ())
    return "null" in kinds or any(_takes_null(each) for each in schema.get("anyOf", ()))


def _output_schema(returns: Any) -> dict[str, JSON] | None:
    union = typing.get_origin(returns) in {Union, types.UnionType}
    members = [_bare(each) for each in (typing.get_args(returns) if union else (returns,))]
    if any(isinstance(each, Hashable) and each in _NO_DATA for each in members):
        return None
    if all(each in {None, types.NoneType} for each in members if isinstance(each, Hashable)):
        return None
    return _schema_of_returns(returns)


def _schema_of_returns(returns: Any) -> dict[str, JSON] | None:
    """JSON Schema of what is returned; None for a hint for people, of which no JSON is known."""
    if needs_pydantic(returns):
        return output_schema_of(returns)
    try:
        (schema,), definitions = msgspec.json.schema_components(
            [returns], ref_template=_REFERENCE, schema_hook=_path_schema
        )
    except (TypeError, NotImplementedError):
        return None
    definitions = {name: hoist(each, definitions) for name, each in list(definitions.items())}
    return {**schema, "$defs": definitions} if definitions else dict(schema)


_NO_DATA = frozenset({Any, str, bytes, object, Capture})
"""Return hints that promise no structured output: text is stdout, and a capture says what it is itself."""


def _bare(hint: Any) -> Any:
    return typing.get_args(hint)[0] if typing.get_origin(hint) is Annotated else hint


def _description(docs: docstring_parser.Docstring) -> str:
    parts = [docs.short_description, docs.long_description]
    if docs.returns is not None and docs.returns.description:
        parts.append(f"Returns: {docs.returns.description}")
    return "\n\n".join(filter(None, parts))
