"""From JSON Schema to Python's types: never a crash, never a wrong claim, exact where Python can say it."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from litany_stubs.declared import read_stubs
from litany_stubs.module import load_stubs
from litany_stubs.names import is_parameter_name
from litany_stubs.render import render
from litany_stubs.words import ToolDeclaration
from schema_kit import CAPPED, Sampler, json_values, loops, schemas
from stubs_kit import TypedModule, corpus, declared, is_sayable


def validator(schema: Any) -> Any:
    try:
        return jsonschema_rs.validator_for(schema)
    except (ValueError, jsonschema_rs.ReferencingError):
        return None  # not a schema that a door could check


def test_the_corpus_is_large_and_its_names_are_distinct() -> None:
    names = [each.name for each in corpus()]
    assert len(names) == len(set(names)) >= 250


@pytest.mark.parametrize("declaration", corpus(), ids=lambda each: each.name)
def test_every_schema_of_the_corpus_gives_a_module_that_loads(declaration: ToolDeclaration) -> None:
    text = render([declaration])
    assert text == render([declaration])
    text.encode()
    module = load_stubs(text)
    spelt = read_stubs([declaration])[0].no_function is None
    assert hasattr(module, read_stubs([declaration])[0].function) is spelt


@pytest.mark.parametrize("declaration", corpus(), ids=lambda each: each.name)
def test_what_a_schema_accepts_its_types_accept(declaration: ToolDeclaration) -> None:
    check = validator(declaration.input_schema)
    stub = read_stubs([declaration])[0]
    if check is None or stub.no_function is not None:
        return
    module = TypedModule.of(declaration)
    spelt = {each.name for each in stub.parameters}
    sampler = Sampler(declaration.input_schema, declaration.name)
    exact = is_sayable(declaration.input_schema) and declaration.name not in CAPPED
    accepted = refused = 0
    for _ in range(120):
        arguments = sampler.sample({"type": "object", **declaration.input_schema})
        if not isinstance(arguments, dict):
            continue
        if stub.more is None:
            arguments = {key: each for key, each in arguments.items() if key in spelt}
        valid = check.is_valid(arguments)
        taken = module.takes(stub.function, arguments)
        accepted, refused = accepted + valid, refused + (not valid)
        if valid:
            assert taken, f"the schema accepts {arguments!r}"
        elif exact:
            assert not taken, f"the schema refuses {arguments!r}"
    if stub.parameters:
        assert accepted, "no sample fits: this test says nothing"


@pytest.mark.parametrize(
    "declaration", [each for each in corpus() if each.output_schema is not None], ids=lambda each: each.name
)
def test_a_result_type_promises_no_more_than_its_schema(declaration: ToolDeclaration) -> None:
    check = validator(declaration.output_schema)
    assert check is not None
    module = TypedModule.of(declaration)
    stub = read_stubs([declaration])[0]
    sampler = Sampler(declaration.output_schema, declaration.name)
    values = [sampler.sample(declaration.output_schema) for _ in range(120)]
    good = [each for each in values if check.is_valid(each)]
    assert good
    for each in good:
        assert module.fits(each, stub.data), f"the schema lets {each!r} come back"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    value_schema=schemas(["T", "U"]),
    left=schemas(["T", "U"]),
    right=schemas(["T"]),
    seed=st.integers(0, 999),
    value=json_values,
)
def test_types_and_schemas_agree_on_generated_schemas(
    value_schema: Any, left: Any, right: Any, seed: int, value: Any
) -> None:
    root = {
        "type": "object",
        "properties": {"v": value_schema},
        "required": ["v"],
        "$defs": {"T": left if "$ref" not in left else {"type": "array", "items": left}, "U": right},
    }
    if loops(root):
        return
    check = jsonschema_rs.validator_for(root)
    module = TypedModule.of(ToolDeclaration("tool", "", root))
    sampler = Sampler(root, str(seed))
    for each in [value, *(sampler.sample(value_schema) for _ in range(6))]:
        assert module.takes("tool", {"v": each}) is check.is_valid({"v": each}), each


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "items",
                    "anyOf",
                    "allOf",
                    "$ref",
                    "$defs",
                    "enum",
                    "const",
                    "required",
                    "a",
                    "not",
                    "additionalProperties",
                    "patternProperties",
                    "prefixItems",
                    "minItems",
                    "description",
                    "default",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(name=st.text(max_size=8), description=st.text(max_size=30), schema=anything, output=anything)
def test_whatever_stands_in_place_of_a_schema_gives_a_module(
    name: str, description: str, schema: Any, output: Any
) -> None:
    load_stubs(render([ToolDeclaration(name, description, schema, output)]))


def signature(name: str) -> str:
    return read_stubs([declared(name)])[0].signature()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mixed_enum", 'a: Literal["x", True] | float | list[Any] | dict[str, Any] | None'),
        ("maps", "a: dict[str, int] | Unset = UNSET, b: dict[str, list[str]] | Unset = UNSET"),
        ("tuples", "a: tuple[str, int] | list[str | int], b: list[Any]"),
        ("type_lists", "b: float | Unset = UNSET"),
        ("all_of", "b: int, "),
        ("all_of", "c: Literal[2, 3] | Unset = UNSET"),
        ("negation", "a: Any"),
        ("nullable", "a: str | None, "),
        ("ref_encoded", "a: int, b: str | Unset = UNSET"),
        ("ref_siblings", 'a: Literal["a", "b"]'),
        ("ref_siblings_7", "(a: str)"),
        ("open_top", "(name: str, **more: int)"),
        ("more_taken", "**more__: int"),
        ("self_array", "a: SelfArrayA"),
        ("output_tuple", "Result[list[str | int]]"),
        ("any_of_top", "id: int | Unset = UNSET, name: str | Unset = UNSET"),
    ],
)
def test_a_schema_reads_as_one_would_write_it(name: str, expected: str) -> None:
    assert expected in signature(name)


def test_an_optional_property_that_may_not_be_there_is_no_parameter() -> None:
    assert signature("false_property") == "false_property(a: str | Unset = UNSET) -> Result[Any]"


def test_a_schema_that_no_object_fits_gives_no_function() -> None:
    stubs = {each.name: each for each in read_stubs(corpus("odd"))}
    assert stubs["not_an_object"].no_function
    assert stubs["false_required"].no_function
    assert stubs["required_closed"].no_function


def test_a_huge_schema_stays_readable() -> None:
    assert len(render([declared("fan_out_refs")])) < 20_000
    assert len(render([declared("many_definitions")])) < 100_000


def test_constraints_that_no_type_says_stand_in_the_docstring() -> None:
    text = render([declared("bounds"), declared("dependent"), declared("create_refund"), declared("formats")])
    for said in (
        *(
            "At least 1.",
            "At most 10.",
            "A multiple of 3.",
            "Pattern: ^[a-z]+$.",
            "Items differ from one another.",
        ),
        *("Format: uri.", "Media type: image/png."),
    ):
        assert said in text


def test_parameter_names_are_what_a_call_can_say() -> None:
    assert [
        each
        for each in ("class", "self", "_x", "__y", "x-y", "é", "", "print", "_litany_call")
        if is_parameter_name(each)
    ] == [*("self", "_x", "print")]
