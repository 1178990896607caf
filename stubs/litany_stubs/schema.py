"""A JSON Schema as the values it accepts, kind by kind.

JSON Schema is a conjunction of keywords, each of which speaks of one kind of value only (`properties` says
nothing of a string). So a schema is read as a *shape*: for each of JSON's kinds, what is accepted of it.
`allOf` and sibling keywords intersect shapes, `anyOf` and `oneOf` unite them, and both are exact per kind.
The parts of arrays and objects are left as *nodes* (sets of schemas that all must hold) and are read when
they are asked for, which is what makes recursive schemas finite: there are only so many sets of the schemas
in one document.

Where a schema says more than a shape can (`not`, `if`, `pattern`, `minimum`), the shape is wider, never
narrower: everything that the schema accepts is in it. Nothing in a schema makes this module raise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from litany_stubs.shapes import (
    ANYTHING,
    EVERYTHING,
    KINDS,
    NOTHING,
    ArrayShape,
    Node,
    ObjectShape,
    Shape,
    intersect,
    of_values,
    unite,
)

MAX_DEPTH = 40
"""Schemas inside schemas (references followed) that are read; what lies deeper is any value."""

_SAYS_NOTHING = frozenset(
    {
        "description",
        "title",
        "default",
        "examples",
        "example",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
    }
)


class Document:
    """One tool's schema: resolves references, numbers the schemas in it, and reads nodes into shapes."""

    def __init__(self, root: Any) -> None:
        """Take a schema; nothing is read before it is asked for.

        Args:
            root: the schema: a mapping, a boolean, or whatever stands in its place.
        """
        self.root = root
        self._numbers: dict[int, int] = {}
        self._schemas: list[Any] = []
        self._united: dict[int, Any] = {}
        self._shapes: dict[int, Shape] = {}
        self._reading: set[int] = set()
        self._anchors: dict[str, Any] | None = None
        declared = root.get("$schema") if isinstance(root, Mapping) else None
        # Up to draft 7 the keywords beside a `$ref` are ignored.
        self._lonely_ref = isinstance(declared, str) and any(
            f"draft-0{number}" in declared for number in (3, 4, 6, 7)
        )

    def node(self, schema: Any) -> Node:
        """Return the node of one schema of this document."""
        if schema is True or (isinstance(schema, Mapping) and not schema):
            return ANYTHING
        key = id(schema)
        if key not in self._numbers:
            self._numbers[key] = len(self._schemas)
            self._schemas.append(schema)  # kept, so that its id stays its own
        return (self._numbers[key],)

    def schemas(self, node: Node) -> list[Any]:
        """Return the schemas of a node, references followed, for what they say to a reader."""
        found = []
        for number in node:
            schema = self._schemas[number]
            for _ in range(MAX_DEPTH):
                found.append(schema)
                reference = _reference(schema)
                if reference is None:
                    break
                schema = self._resolve(reference)
        return found

    def name_of(self, node: Node) -> str:
        """Return the name that the document gives a node's definition (`$defs/Name`), or ""."""
        if len(node) != 1:
            return ""
        schema = self._schemas[node[0]]
        for _ in range(MAX_DEPTH):
            reference = _reference(schema)
            if reference is None:
                break
            name = reference.rstrip("/").rpartition("/")[2]
            if name not in {"", "#"}:
                return unquote(name)
            schema = self._resolve(reference)
        return ""

    def same(self, node: Node) -> Node:
        """Follow a node that is one bare reference, so that all references to a definition are one node."""
        for _ in range(MAX_DEPTH):
            if len(node) != 1:
                break
            schema = self._schemas[node[0]]
            reference = _reference(schema)
            if reference is None or (not self._lonely_ref and set(schema) - {"$ref", *_SAYS_NOTHING}):
                break
            node = self.node(self._resolve(reference))
        return node

    def shape(self, node: Node, depth: int = 0) -> Shape:
        """Return what all schemas of a node accept together."""
        answer = EVERYTHING
        for number in node:
            answer = intersect(answer, self._shape_of(number, depth))
        return answer

    def _shape_of(self, number: int, depth: int) -> Shape:
        if number in self._shapes:
            return self._shapes[number]
        if number in self._reading or depth > MAX_DEPTH:
            return EVERYTHING  # a schema that is its own part without a step down says nothing
        self._reading.add(number)
        try:
            shape = self._read(self._schemas[number], depth)
        finally:
            self._reading.discard(number)
        self._shapes[number] = shape
        return shape

    def _read(self, schema: Any, depth: int) -> Shape:
        if schema is False:
            return NOTHING
        if not isinstance(schema, Mapping):
            return EVERYTHING
        reference = _reference(schema)
        if reference is not None:
            target = self.shape(self.node(self._resolve(reference)), depth + 1)
            if self._lonely_ref:
                return target
        else:
            target = EVERYTHING
        shape = intersect(self._own(schema), target)
        for keyword in ("anyOf", "oneOf"):
            parts = schema.get(keyword)
            if isinstance(parts, (list, tuple)) and parts:
                united = NOTHING
                for part in parts:
                    united = unite(united, self.shape(self.node(part), depth + 1))
                shape = intersect(shape, united)
        parts = schema.get("allOf")
        if isinstance(parts, (list, tuple)):
            for part in parts:
                shape = intersect(shape, self.shape(self.node(part), depth + 1))
        if schema.get("nullable") is True:
            shape = replace(shape, null=True)
        return shape

    def _own(self, schema: Mapping[str, Any]) -> Shape:
        """Read the keywords that speak of the value itself."""
        shape = replace(EVERYTHING, arrays=(self._array(schema),), objects=self._object(schema))
        kinds = schema.get("type")
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if (
            isinstance(kinds, (list, tuple))
            and kinds
            and all(each in KINDS for each in kinds if isinstance(each, str))
        ):
            allowed = NOTHING
            for each in kinds:
                # Draft 3 allowed schemas in the list of types; they are of no known kind.
                allowed = unite(allowed, KINDS[each] if isinstance(each, str) else EVERYTHING)
            shape = intersect(shape, allowed)
        if isinstance(schema.get("enum"), (list, tuple)):
            shape = intersect(shape, of_values(schema["enum"]))
        if "const" in schema:
            shape = intersect(shape, of_values([schema["const"]]))
        return shape

    def _array(self, schema: Mapping[str, Any]) -> ArrayShape:
        items = schema.get("items", True)
        prefix = schema.get("prefixItems")
        if isinstance(items, (list, tuple)):  # up to 2019-09
            prefix, items = items, schema.get("additionalItems", True)
        if not isinstance(prefix, (list, tuple)):
            prefix = ()
        least, most = schema.get("minItems"), schema.get("maxItems")
        closed = items is False or (_is_int(most) and most == len(prefix))
        return ArrayShape(
            prefix=tuple(self.node(each) for each in prefix),
            rest=self.node(items),
            fixed=bool(prefix) and closed and isinstance(least, int) and least >= len(prefix),
        )

    def _object(self, schema: Mapping[str, Any]) -> tuple[ObjectShape, ...]:
        listed = schema.get("properties")
        properties = {
            key: self.node(each)
            for key, each in (listed.items() if isinstance(listed, Mapping) else ())
            if isinstance(key, str)
        }
        required = schema.get("required")
        if not isinstance(required, (list, tuple)):
            required = ()
        names = frozenset(each for each in required if isinstance(each, str))
        extra: Node | None = ANYTHING
        said = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        explicitly = said is True or isinstance(said, Mapping)
        patterns = schema.get("patternProperties")
        if isinstance(patterns, Mapping) and patterns:
            explicitly = True
            kinds = list(patterns.values())
            if said is not False:
                kinds.append(True if said is None else said)
            # A name may match any of the patterns or none: its value fits one of these schemas at the least.
            extra = self._either(patterns, kinds)
        elif said is False and ("additionalProperties" in schema or not _combines(schema)):
            extra = None
        elif isinstance(said, Mapping) and "additionalProperties" in schema:
            extra = self.node(said)
        shape = ObjectShape(properties, names, extra, explicitly)
        return () if extra is None and not names <= properties.keys() else (shape,)

    def _either(self, patterns: Mapping[str, Any], kinds: list[Any]) -> Node:
        if any(each is True or each == {} for each in kinds):
            return ANYTHING
        if len(kinds) == 1:
            return self.node(kinds[0])
        if id(patterns) not in self._united:
            self._united[id(patterns)] = {"anyOf": kinds}
        return self.node(self._united[id(patterns)])

    def _resolve(self, reference: str) -> Any:
        """Return what a reference inside the document points at; True (anything) for all others."""
        if not reference.startswith("#"):
            return True
        pointer = unquote(reference[1:])
        if pointer == "":
            return self.root
        if not pointer.startswith("/"):
            return self._anchor(pointer)
        place = self.root
        for part in pointer[1:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(place, Mapping) and key in place:
                place = place[key]
            elif isinstance(place, (list, tuple)) and key.isdecimal() and int(key) < len(place):
                place = place[int(key)]
            else:
                return True
        return place

    def _anchor(self, name: str) -> Any:
        if self._anchors is None:
            self._anchors = {}
            left, seen = [self.root], set()
            while left:
                place = left.pop()
                if id(place) in seen:
                    continue
                seen.add(id(place))
                if isinstance(place, Mapping):
                    for keyword in ("$anchor", "$dynamicAnchor"):
                        if isinstance(place.get(keyword), str):
                            self._anchors.setdefault(place[keyword], place)
                    left.extend(place.values())
                elif isinstance(place, (list, tuple)):
                    left.extend(place)
        return self._anchors.get(name, True)


def _reference(schema: Any) -> str | None:
    if not isinstance(schema, Mapping):
        return None
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if isinstance(schema.get(keyword), str):
            found: str = schema[keyword]
            return found
    return None


def _combines(schema: Mapping[str, Any]) -> bool:
    return any(each in schema for each in ("allOf", "anyOf", "oneOf", "$ref", "if"))


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
