"""What tests of schemas share: values near a schema, schemas of every shape that Python's types can say."""

from __future__ import annotations

import random
from typing import Any
from urllib.parse import unquote

from hypothesis import strategies as st

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


def loops(root: dict[str, Any]) -> bool:
    """Whether a definition refers to itself with no step down, which has no meaning to a validator."""

    def direct(schema: Any, seen: tuple[str, ...]) -> bool:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return name in seen or direct(root["$defs"][name], (*seen, name))
        return any(direct(each, seen) for each in schema.get("anyOf", []))

    return any(direct(each, (name,)) for name, each in root["$defs"].items())
