"""Inputs: what a schema lets through, what is said of the rest, and that nobody else can change a call's own copy."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litany_engine.door.arguments import ArgumentCheck, SchemaError, detach, takes
from litany_engine.near import near
from litany_stubs.words import ToolDeclaration

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: str(x) != "-0.0")
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def check(schema: Any) -> ArgumentCheck:
    return ArgumentCheck(ToolDeclaration("t", "", schema))


def containers(value: Any) -> set[int]:
    if isinstance(value, dict):
        return {id(value)}.union(*map(containers, value.values()))
    if isinstance(value, list):
        return {id(value)}.union(*map(containers, value))
    return set()


@given(st.dictionaries(st.text(), json_values, max_size=5))
def test_a_copy_equals_what_was_given_and_shares_no_container_with_it(value: dict[str, Any]) -> None:
    copy, fault = detach(value)
    assert fault == ""
    assert copy == value
    assert json.dumps(copy) == json.dumps(value)
    assert not containers(copy) & containers(value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": iter([])}, ["input.a", "iterator"]),
        ({"a": [0, float("nan")]}, ["input.a[1]", "nan"]),
        ({"a": float("inf")}, ["input.a", "inf"]),
        ({"a": -0.0}, ["input.a", "pass 0"]),
        ({1: "a"}, ["key 1"]),
        ({"a": b"x"}, ["input.a", "bytes"]),
        ({"a": 2**64}, ["input.a", "64 bits"]),
        ({"a": "\ud800"}, ["input.a", "surrogate"]),
        ({"a": object()}, ["input.a", "object"]),
    ],
)
def test_what_json_has_not_is_named_by_its_path(value: Any, words: list[str]) -> None:
    copy, fault = detach(value)
    assert copy is None
    for word in words:
        assert word in fault


def test_a_cycle_and_a_tower_are_refused_without_harm() -> None:
    cycle: dict[str, Any] = {}
    cycle["a"] = cycle
    assert "contains itself" in detach(cycle)[1]
    tower: Any = 0
    for _ in range(100_000):
        tower = [tower]
    assert "deeper than 64" in detach({"a": tower})[1]


@given(st.dictionaries(st.sampled_from(["path", "limit", "pth", "x"]), json_values, max_size=4))
def test_every_refusal_names_the_tool_and_what_it_takes(arguments: dict[str, Any]) -> None:
    schema = {
        "type": "object",
        "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["path"],
        "additionalProperties": False,
    }
    fault = check(schema).fault(arguments)
    limit = arguments.get("limit", 0)
    whole = (isinstance(limit, int) and not isinstance(limit, bool)) or (
        isinstance(limit, float) and limit.is_integer()
    )
    accepted = isinstance(arguments.get("path"), str) and whole and not arguments.keys() - {"path", "limit"}
    assert (fault is None) == accepted
    if fault is not None:
        assert fault.startswith("t: ")
        assert fault.endswith("t takes: path (string, required), limit (integer, optional).")


@pytest.mark.parametrize(
    ("schema", "arguments", "words"),
    [
        ({"properties": {"a": {"type": "object", "required": ["b"]}}}, {"a": {}}, ["'a.b' is missing"]),
        ({"properties": {"a": {"items": {"type": "integer"}}}}, {"a": [1, "x"]}, ["'a[1]'", "integer"]),
        ({"properties": {"a": {"enum": ["x", "y"]}}}, {"a": "z"}, ["'a'", 'one of "x", "y"']),
        (
            {"properties": {"a": {"pattern": "^x", "description": "Begins with x."}}},
            {"a": "y"},
            ["Begins with x"],
        ),
        ({"properties": {"a": {"maxLength": 2}}}, {"a": "xyz"}, ["'a'", "longer than 2"]),
        ({"minProperties": 2}, {"a": 1}, ["2"]),
        (False, {}, ["t: "]),
    ],
)
def test_a_fault_is_told_with_its_path(schema: Any, arguments: Any, words: list[str]) -> None:
    if schema is False:
        schema = {"not": {}}
    fault = check(schema).fault(arguments)
    assert fault is not None
    for word in words:
        assert word in fault


def test_many_faults_are_told_in_few_words() -> None:
    schema = {"required": [f"a{k}" for k in range(100)]}
    fault = check(schema).fault({})
    assert fault is not None
    assert "and 95 more" in fault
    assert len(fault) < 500


def test_a_huge_wrong_value_is_not_shown_whole() -> None:
    fault = check({"properties": {"a": {"type": "integer"}}}).fault({"a": "x" * 1_000_000})
    assert fault is not None
    assert len(fault) < 1000


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objekt"},
        {"properties": {"a": {"$ref": "http://example.com/schema"}}},
        {"properties": {"a": {"$ref": "file:///etc/passwd"}}},
        {"properties": {"a": {"$ref": "#/$defs/none"}}},
        {"properties": {"a": {"pattern": "("}}},
    ],
)
def test_a_schema_that_is_none_or_points_elsewhere_does_not_load(schema: Any) -> None:
    with pytest.raises(SchemaError, match="'t'"):
        check(schema)


def test_a_schema_may_refer_to_itself() -> None:
    tree = {
        "$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}, "type": "object"}},
        "$ref": "#/$defs/n",
    }
    assert check(tree).fault({"next": {"next": {}}}) is None
    assert check(tree).fault({"next": {"next": 5}}) is not None


def test_a_pattern_that_would_run_for_ever_does_not() -> None:
    evil = check({"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}})
    assert evil.fault({"a": "a" * 5000 + "!"}) is not None


def test_near_names_are_offered_and_far_ones_are_not() -> None:
    assert near("read_fil", ["read_file", "bash"]) == " (did you mean 'read_file'?)"
    assert near("xyzzy", ["read_file", "bash"]) == ""


def test_a_signature_reads_any_schema_that_validates() -> None:
    schemas: list[dict[str, Any]] = [
        {},
        {"properties": {}},
        {"properties": {"a": True, "b": {"type": ["string", "null"]}}},
    ]
    for schema in schemas:
        assert takes(ToolDeclaration("t", "", schema)).startswith("t takes")
