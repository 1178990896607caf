"""The types of a stub and the schema gate of the door are two readings of one schema, and agree."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from litany_engine.door.arguments import ArgumentCheck, SchemaError
from litany_engine.door.nullable import accept_null
from litany_stubs.declared import read_stubs
from litany_stubs.words import ToolDeclaration
from schema_kit import CAPPED, Sampler, json_values, loops, schemas
from stubs_kit import TypedModule, corpus, is_sayable

Kind = jsonschema_rs.ValidationErrorKind

BOUNDS = frozenset(
    {
        *("nullable", "allOf", "oneOf"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"),
        *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
    }
)
"""Keywords that narrow a type without changing what kind of type it is, or unite and intersect types."""

OF_TYPE = (Kind.Type, Kind.Enum, Kind.Constant, Kind.Required, Kind.AdditionalProperties, Kind.FalseSchema)


def the_gate(declaration: ToolDeclaration) -> ArgumentCheck | None:
    try:
        return ArgumentCheck(declaration)
    except SchemaError:
        return None  # the door declares no such tool


def is_of_type(error: Any) -> bool:
    """Whether a fault is one that a type says: every way out of it is closed by one."""
    kind = error.kind
    if isinstance(kind, Kind.AnyOf | Kind.OneOfNotValid):
        return all(any(map(is_of_type, branch)) for branch in kind.context)
    return isinstance(kind, OF_TYPE)


GATED = [
    each for each in corpus() if the_gate(each) is not None and read_stubs([each])[0].no_function is None
]
TOLD = [
    each
    for each in GATED
    if is_sayable(each.input_schema, BOUNDS)
    and each.name not in CAPPED
    # "One of these two parameters" is nothing that a signature can say.
    and {"anyOf", "oneOf", "allOf"}.isdisjoint(each.input_schema)
]


def test_most_of_the_corpus_is_judged() -> None:
    assert len(GATED) > 220
    assert len(TOLD) > 150


def inputs(declaration: ToolDeclaration, seed: str, count: int) -> list[dict[str, Any]]:
    """Inputs near a schema, without names that the stub's signature does not have."""
    stub = read_stubs([declaration])[0]
    spelt = {each.name for each in stub.parameters}
    sampler = Sampler(declaration.input_schema, seed)
    found = [sampler.sample({"type": "object", **declaration.input_schema}) for _ in range(count)]
    found = [each for each in found if isinstance(each, dict)]
    if stub.more is None:
        found = [{key: value for key, value in each.items() if key in spelt} for each in found]
    # Null in every place at the top: a sample seldom has it there.
    listed = sorted(spelt & declaration.input_schema.get("properties", {}).keys())
    return found + [{**each, key: None} for each in found[:20] for key in listed]


@pytest.mark.parametrize("declaration", GATED, ids=lambda each: each.name)
def test_what_the_gate_lets_through_the_signature_takes(declaration: ToolDeclaration) -> None:
    gate, module = the_gate(declaration), TypedModule.of(declaration)
    assert gate is not None
    for arguments in inputs(declaration, declaration.name, 60):
        if gate.fault(arguments) is None:
            assert module.takes(declaration.name, arguments), f"the gate accepts {arguments!r}"


@pytest.mark.parametrize("declaration", TOLD, ids=lambda each: each.name)
def test_what_the_signature_takes_the_gate_refuses_for_no_reason_of_types(
    declaration: ToolDeclaration,
) -> None:
    gate, module = the_gate(declaration), TypedModule.of(declaration)
    assert gate is not None
    taken = 0
    for arguments in inputs(declaration, f"{declaration.name} again", 60):
        if module.takes(declaration.name, arguments):
            taken += 1
            faults = [each for each in gate._validator.iter_errors(arguments) if is_of_type(each)]
            assert faults == [], f"the types take {arguments!r}"
    assert taken


ONE_PARAMETER = "v"


def with_nullable(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas of which some, inside and out, say `nullable`, and some stand in an `allOf` or `oneOf`."""

    def mark(schema: Any, bits: int) -> Any:
        if isinstance(schema, list):
            return [mark(each, bits >> (n + 1)) for n, each in enumerate(schema)]
        if not isinstance(schema, dict):
            return schema
        marked = {
            key: {name: mark(each, bits >> 2) for name, each in value.items()}
            if key == "properties"
            else mark(value, bits >> 1)
            for key, value in schema.items()
        }
        if bits & 8:
            marked = {"allOf": [marked]}
        elif bits & 16:
            marked = {"oneOf": [marked]}
        return {**marked, "nullable": True} if bits & 1 else marked

    return st.builds(mark, inner, st.integers(0, 2**12 - 1))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    schema=with_nullable(schemas(["T", "U"])),
    left=with_nullable(schemas(["T", "U"])),
    right=with_nullable(schemas(["T"])),
    seed=st.integers(0, 999),
    value=json_values,
)
def test_types_and_gate_agree_wherever_a_schema_says_nullable(
    schema: Any, left: Any, right: Any, seed: int, value: Any
) -> None:
    root = {
        "type": "object",
        "properties": {ONE_PARAMETER: schema},
        "required": [ONE_PARAMETER],
        "$defs": {"T": {"type": "array", "items": left}, "U": right},
    }
    if loops(root):
        return
    declaration = ToolDeclaration("tool", "", root)
    gate, module = ArgumentCheck(declaration), TypedModule.of(declaration)
    sampler = Sampler(root, str(seed))
    for each in [value, None, *(sampler.sample(schema) for _ in range(6))]:
        fault = gate.fault({ONE_PARAMETER: each})
        assert module.takes("tool", {ONE_PARAMETER: each}) is (fault is None), fault


def accepts(schema: Any, value: Any) -> bool:
    return bool(jsonschema_rs.validator_for(accept_null(schema)).is_valid(value))


@pytest.mark.parametrize(
    ("schema", "accepted", "refused"),
    [
        ({"type": "string"}, [], [None]),
        ({"type": "string", "nullable": True}, [None, "a"], [1]),
        ({"type": "string", "nullable": "true"}, ["a"], [None]),
        ({"type": ["string", "integer"], "nullable": True}, [None, 1], [[]]),
        ({"type": "string", "enum": ["p"], "nullable": True}, [None, "p"], ["q"]),
        ({"const": 0, "nullable": True}, [None, 0], [1, False]),
        ({"allOf": [{"type": "integer"}, {"minimum": 3}], "nullable": True}, [None, 3], [2, "a"]),
        ({"anyOf": [{"type": "integer"}], "nullable": True}, [None, 3], ["a"]),
        ({"oneOf": [{"type": "integer"}, {}], "nullable": True}, [None, "a"], [1]),
        ({"not": {"type": ["null", "string"]}, "nullable": True}, [None, 1], ["a"]),
        ({"$ref": "#/$defs/A", "nullable": True, "$defs": {"A": {"type": "string"}}}, [None, "a"], [1]),
        (
            {"properties": {"nullable": True, "enum": {"type": "string", "nullable": True}}},
            [{"nullable": 1}, {"enum": None}],
            [{"enum": 1}],
        ),
        ({"default": {"nullable": True}, "enum": [{"nullable": True}]}, [{"nullable": True}], [None]),
    ],
)
def test_nullable_adds_null_and_nothing_else(schema: Any, accepted: list[Any], refused: list[Any]) -> None:
    before = repr(schema)
    assert [each for each in accepted if not accepts(schema, each)] == []
    assert [each for each in refused if accepts(schema, each)] == []
    assert repr(schema) == before


def test_up_to_draft_7_nothing_beside_a_reference_counts() -> None:
    schema: dict[str, Any] = {"properties": {"a": {"$ref": "#/definitions/A", "nullable": True}}}
    schema["definitions"] = {"A": {"type": "string"}}
    assert accepts(schema, {"a": None})
    assert not accepts(schema | {"$schema": "http://json-schema.org/draft-07/schema#"}, {"a": None})


@pytest.mark.parametrize("keyword", ["oneOf", "allOf"])
def test_a_reference_into_what_has_moved_still_leads_there(keyword: str) -> None:
    inner = {"nullable": True, "oneOf": [{"type": "integer"}]}
    outer = {"nullable": True, keyword: [{"properties": {"a/b": inner}}]}
    reference = f"#/properties/a/{keyword}/0/properties/a~1b/oneOf/0"
    schema = {"properties": {"a": outer, "default": {"$ref": reference}}}
    assert accepts(schema, {"a": {"a/b": None}})
    assert accepts(schema, {"a": None, "default": 1})
    assert not accepts(schema, {"default": None})
    assert not accepts(schema, {"default": "text"})


def test_a_refusal_says_that_null_is_accepted() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "nullable": True}}}
    fault = ArgumentCheck(ToolDeclaration("t", "", schema)).fault({"a": 1})
    assert fault is not None
    assert '1 is not of types "null", "string"' in fault
    assert "a (string or null, optional)" in fault


def test_a_schema_far_too_deep_is_no_crash() -> None:
    schema: Any = {"nullable": True, "type": "string"}
    for _ in range(5000):
        schema = {"items": schema}
    assert accept_null(schema)["items"]
