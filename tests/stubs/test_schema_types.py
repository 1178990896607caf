"""From JSON Schema to Python's types: never a crash, never a wrong claim, exact where Python can say it."""

from __future__ import annotations

import random
from typing import Any
from urllib.parse import unquote

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from litany_stubs.declared import read_stubs
from litany_stubs.module import load_stubs
from litany_stubs.names import is_parameter_name
from litany_stubs.render import render
from litany_stubs.words import ToolDeclaration
from stubs_kit import TypedModule, corpus, declared, is_sayable

POOL: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    2,
    -7,
    0.5,
    "",
    "a",
    "open",
    "closed",
    "x-y",
    [],
    ["a"],
    [1],
    [None],
]
POOL += [[["a"]], [True, "b"], {}, {"a": 1}, {"k": "v"}, {"k": {"k": []}}, [{"a": 1}], 10**15]


PATTERNED = ["abc", "AB-1", "1700000000.000001", "12:30", "USD/EUR", "10.00", "0755", "DE", "K=v", "pd"]
FORMATTED = ["a", "2024-05-01T10:00:00Z", "2024-05-01", "https://example.org/", "a@example.org"]
FORMATTED += ["123e4567-e89b-12d3-a456-426614174000", "192.0.2.1", "example.org", "aGVsbG8="]

CAPPED = {"many_alternatives", "fan_out_refs", "many_definitions", "deep_objects", "deep_arrays"}
"""Schemas that are too large to be told apart to the last: their types are wider on purpose."""


class Sampler:
    """Makes values near a schema: sometimes what it asks for, sometimes not; the validator says which."""

    def __init__(self, root: Any, seed: str) -> None:
        self.root = root
        self.random = random.Random(seed)
        self.noise = 0.0

    def sample(self, schema: Any) -> Any:
        self.noise = self.random.choice([0.0, 0.0, 0.05, 0.3])
        return self.value(schema)

    def value(self, schema: Any, depth: int = 0) -> Any:
        if depth > 80 or not isinstance(schema, dict) or self.random.random() < self.noise:
            return self.random.choice(POOL)
        if isinstance(schema.get("$ref"), str):
            return self.value(self.target(schema["$ref"]), depth + 1)
        if "const" in schema:
            return schema["const"]
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return self.random.choice(schema["enum"])
        found: Any = None
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list) and schema[key]:
                part = self.random.choice(schema[key])
                if isinstance(part, dict) and part.keys() == {"required"}:
                    needed = [*schema.get("required", []), *part["required"]]
                    return self.object({**schema, "required": needed}, depth)
                found = self.value(part, depth + 1)
                if not isinstance(found, dict) or "type" not in schema:
                    return found
        kind = schema.get("type")
        if isinstance(kind, list) and kind:
            kind = self.random.choice(kind)
        if kind == "object" or "properties" in schema or "allOf" in schema:
            return {**self.object(schema, depth), **(found or {})}
        if kind == "array":
            return self.array(schema, depth)
        if kind == "string" and "pattern" in schema:
            return self.random.choice(PATTERNED)
        if kind == "string" and "format" in schema:
            return self.random.choice(FORMATTED)
        text = "abcdefghij"[: schema["minLength"] if isinstance(schema.get("minLength"), int) else 1] or "a"
        number = self.random.choice([0, 1, 3, 5, 30])
        plain = {"string": text, "integer": number, "boolean": True, "null": None}
        return plain.get(str(kind), self.random.choice([number, 0.5]) if kind == "number" else "a")

    def array(self, schema: dict[str, Any], depth: int) -> Any:
        items = schema.get("items", {})
        if isinstance(schema.get("prefixItems"), list):
            items = schema["prefixItems"]
        if isinstance(items, list):
            return [self.value(each, depth + 1) for each in items]
        least = schema.get("minItems", 0) if isinstance(schema.get("minItems"), int) else 0
        length = self.random.choice([0, 1, 1, 2] if depth < 6 else [0, 1])
        return [self.value(items, depth + 1) for _ in range(max(length, min(least, 5)))]

    def object(self, schema: dict[str, Any], depth: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for part in schema["allOf"] if isinstance(schema.get("allOf"), list) else []:
            if isinstance(each := self.value(part, depth + 1), dict):
                found |= each
        listed: Any = schema.get("properties") if isinstance(schema.get("properties"), dict) else {}
        required: Any = schema.get("required") if isinstance(schema.get("required"), list) else []
        chance = (0.4 if len(listed) < 30 else 0.05) / (1 + depth / 3)
        for key, each in listed.items():
            if self.random.random() < (1 - self.noise / 3 if key in required else chance):
                found[key] = self.value(each, depth + 1)
        extra = schema.get("additionalProperties", True)
        if not listed and "allOf" not in schema and extra is not False and depth < 8:
            for key in ("k1", "k2")[: self.random.choice([0, 1, 2])]:
                found[key] = self.value(extra, depth + 1)
        return found

    def target(self, reference: str) -> Any:
        if reference == "#point":
            return self.root["$defs"]["p"]
        place = self.root
        for part in unquote(reference).removeprefix("#").split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            place = place[int(key)] if isinstance(place, list) else place.get(key, {})
        return place


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
    assert hasattr(module, declaration.name) is spelt or not declaration.name.isidentifier()


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
        taken = module.takes(declaration.name, arguments)
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


def schemas(leaf_names: list[str]) -> st.SearchStrategy[Any]:
    scalar = st.sampled_from(
        [{"type": each} for each in ("string", "integer", "number", "boolean", "null")]
        + [
            {"enum": ["a", "b", 1]},
            {"enum": [True, None]},
            {"const": "open"},
            {"type": ["string", "null"]},
            {},
        ]
        + [{"$ref": f"#/$defs/{each}"} for each in leaf_names]
    )

    def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        names = st.sampled_from(["a", "b", "c", "class", "x-y", "list"])
        return st.one_of(
            st.builds(lambda items: {"type": "array", "items": items}, inner),
            st.builds(lambda value: {"type": "object", "additionalProperties": value}, inner),
            st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1, max_size=3)),
            st.builds(
                lambda properties, required: {
                    "type": "object",
                    "properties": properties,
                    "required": [each for each in properties if each in required],
                },
                st.dictionaries(names, inner, min_size=1, max_size=3),
                st.sets(names),
            ),
        )

    return st.recursive(scalar, deeper, max_leaves=8)


json_values = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 2, 0.5, "", "a", "b", "open"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "b", "class", "list"]), inner, max_size=3)
    ),
    max_leaves=6,
)


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
    if _loops(root):
        return
    check = jsonschema_rs.validator_for(root)
    module = TypedModule.of(ToolDeclaration("tool", "", root))
    sampler = Sampler(root, str(seed))
    for each in [value, *(sampler.sample(value_schema) for _ in range(6))]:
        assert module.takes("tool", {"v": each}) is check.is_valid({"v": each}), each


def _loops(root: dict[str, Any]) -> bool:
    """Whether a definition refers to itself with no step down, which has no meaning to a validator."""

    def direct(schema: Any, seen: tuple[str, ...]) -> bool:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return name in seen or direct(root["$defs"][name], (*seen, name))
        return any(direct(each, seen) for each in schema.get("anyOf", []))

    return any(direct(each, (name,)) for name, each in root["$defs"].items())


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
        ("ref_siblings_7", "(*, a: str)"),
        ("open_top", "(*, name: str, **more: int)"),
        ("more_taken", "**more__: int"),
        ("self_array", "a: SelfArrayA"),
        ("output_tuple", "Result[list[str | int]]"),
        ("any_of_top", "id: int | Unset = UNSET, name: str | Unset = UNSET"),
    ],
)
def test_a_schema_reads_as_one_would_write_it(name: str, expected: str) -> None:
    assert expected in signature(name)


def test_an_optional_property_that_may_not_be_there_is_no_parameter() -> None:
    assert signature("false_property") == "false_property(*, a: str | Unset = UNSET) -> Result[Any]"


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
