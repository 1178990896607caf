"""Types that pydantic reads: its models and fields, wherever a host writes them into a hint.

pydantic is no dependency: a host that writes its types into a hint has imported it, and otherwise there is
nothing to read. A hint that needs it is handed to it whole, and msgspec gets a stand-in class in its place.
"""

from __future__ import annotations

import dataclasses
import sys
import typing
from typing import Annotated, Any

import msgspec

from litany_stubs.words import JSON

_OF_PYDANTIC = ("pydantic", "annotated_types")
MAX_TOLD = 5
"""Faults of one value that are told."""


class Parsed:
    """What pydantic made of a value, on its way through msgspec.

    Attributes:
        adapter: reads and describes the type that this class stands for.
        value: what was made.
    """

    adapter: Any = None

    def __init__(self, value: Any) -> None:
        self.value = value


def needs_pydantic(hint: Any) -> bool:
    """Whether only pydantic can tell what a hint says."""
    return "pydantic" in sys.modules and _needs(hint, set())


def stand_in(hint: Any) -> type[Parsed]:
    """A class that stands for a hint where msgspec reads it.

    Raises:
        TypeError: pydantic cannot read it either.
    """
    return type("Parsed", (Parsed,), {"adapter": _adapter(hint)})


def of_field(default: Any) -> bool:
    """Whether a parameter's default is `Field(...)`, and not a value."""
    return _is_of_pydantic(type(default)) and hasattr(default, "is_required")


def schema_of(kind: type) -> dict[str, JSON] | None:
    """The JSON Schema of a stand-in or of a type of pydantic's; None for another type."""
    adapter = kind.adapter if issubclass(kind, Parsed) else _adapter(kind) if _is_of_pydantic(kind) else None
    return None if adapter is None else dict(adapter.json_schema())


def output_schema_of(hint: Any) -> dict[str, JSON] | None:
    """The JSON Schema of what a function returns; None when pydantic has none for it."""
    try:
        return dict(_adapter(hint).json_schema(mode="serialization"))
    except (TypeError, ValueError, RuntimeError):
        return None


def parse(kind: type, value: JSON) -> Any:
    """Make a value of a stand-in or of a type of pydantic's.

    Raises:
        ValueError: it is none; with each fault and its place.
        NotImplementedError: the type is of neither sort.
    """
    if issubclass(kind, Parsed):
        return kind(_parse(kind.adapter, value))
    if _is_of_pydantic(kind):
        return _parse(_adapter(kind), value)
    raise NotImplementedError(f"{kind} is not supported")


def to_json(value: Any) -> JSON:
    """A value of a type of pydantic's as JSON.

    Raises:
        TypeError: it is of another type.
    """
    if not _is_of_pydantic(type(value)):
        raise TypeError(f"a value of type {type(value).__name__} has no JSON form")
    return _adapter(type(value)).dump_python(value, mode="json", by_alias=True)


def hoist(schema: dict[str, JSON], definitions: dict[str, JSON]) -> dict[str, JSON]:
    """Move the definitions inside parts of a schema to those of the whole, where references look for them.

    Two types of one name that are not the same get two names.
    """
    own: dict[str, Any] = {}

    def move(node: JSON) -> JSON:
        if isinstance(node, list):
            return [move(each) for each in node]
        if not isinstance(node, dict):
            return node
        found = {
            key: each if key in {"default", "const", "enum"} else move(each) for key, each in node.items()
        }
        inside = found.pop("$defs", None)
        if not isinstance(inside, dict):
            return found
        renamed = {}
        for name, each in inside.items():
            free = name
            while free in definitions and definitions[free] != each and own.get(free) != each:
                free += "_"
            renamed[name] = free
        for name, each in inside.items():
            own[renamed[name]] = each
            definitions[renamed[name]] = _redirected(each, renamed)
        return _redirected(found, renamed)

    result: dict[str, JSON] = move(schema)
    return result


def _redirected(node: JSON, renamed: dict[str, str]) -> JSON:
    if all(key == value for key, value in renamed.items()):
        return node
    if isinstance(node, list):
        return [_redirected(each, renamed) for each in node]
    if not isinstance(node, dict):
        return node
    found = {key: _redirected(each, renamed) for key, each in node.items()}
    reference = found.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        name = reference.removeprefix("#/$defs/")
        found["$ref"] = f"#/$defs/{renamed.get(name, name)}"
    return found


def _adapter(hint: Any) -> Any:
    import pydantic  # noqa: PLC0415 - only a host that has it gets here

    try:
        return pydantic.TypeAdapter(hint)
    except pydantic.errors.PydanticUserError as error:
        raise TypeError(str(error).split("\n", 1)[0]) from error


def _parse(adapter: Any, value: JSON) -> Any:
    import pydantic  # noqa: PLC0415

    try:
        return adapter.validate_json(msgspec.json.encode(value))
    except pydantic.ValidationError as error:
        faults = [
            f"{''.join(f'[{each!r}]' for each in fault['loc'])}: {fault['msg']}".removeprefix(": ")
            for fault in error.errors(include_url=False, include_context=False, include_input=False)
        ]
        more = f"; and {len(faults) - MAX_TOLD} more" if len(faults) > MAX_TOLD else ""
        raise ValueError("; ".join(faults[:MAX_TOLD]) + more) from None


def _is_of_pydantic(kind: Any) -> bool:
    return isinstance(kind, type) and (
        hasattr(kind, "__pydantic_validator__") or kind.__module__.split(".")[0] == "pydantic"
    )


def _needs(hint: Any, seen: set[int]) -> bool:
    if id(hint) in seen:
        return False
    seen.add(id(hint))
    if _is_of_pydantic(hint):
        return True
    if typing.get_origin(hint) is Annotated:
        said = [type(each).__module__.split(".")[0] in _OF_PYDANTIC for each in hint.__metadata__]
        return any(said) or _needs(hint.__origin__, seen)
    if any(_needs(each, seen) for each in typing.get_args(hint)):
        return True
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or typing.is_typeddict(hint)):
        try:
            inside = typing.get_type_hints(hint, include_extras=True)
        except Exception:  # noqa: BLE001 - whoever reads the hint next says what is wrong with it
            return False
        return any(_needs(each, seen) for each in inside.values())
    return False
