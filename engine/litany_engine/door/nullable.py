"""`nullable: true` in JSON Schema's own words.

OpenAPI 3.0 says with it that null is accepted as well, and servers made from OpenAPI documents carry it into
their tools' schemas. To a validator of JSON Schema it says nothing, so a tool whose stub takes `str | None`
would have its null refused. The schema is rewritten before it is compiled.

Where a keyword can name null itself (`type`, `enum`, `anyOf`) it does, so that refusals still say what is
accepted; the other keywords that could refuse null move into an `anyOf` beside it, and references into what
has moved are led there. Keywords that speak of one kind of value only (`properties`, `minLength`) stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Callable

_OF_EVERY_KIND = (
    *(
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "const",
    ),
)
"""Keywords that null may fail and that cannot name it."""

_VALUES = frozenset({"enum", "const", "default", "example", "examples"})
"""Keywords whose values are data, in which `nullable` is a word like any other."""

_BY_NAME = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
"""Keywords that hold schemas by names, of which `nullable` may be one."""

_NULL = {"type": "null"}

MAX_DEPTH = 200
"""Levels of a schema that are read. A value that a call may hold is 64 levels deep; a level of it is seldom
more than two or three of its schema."""

_Place = tuple[str, ...]


def accept_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that accepts what `schema` does, and null wherever it says `nullable: true`.

    Args:
        schema: a whole document; it is left as it is.

    Returns:
        The same object when it never says so.
    """
    if not _mentions(schema):
        return schema
    declared = schema.get("$schema")
    # Up to draft 7 nothing beside a `$ref` counts, `nullable` as little as the rest.
    lonely_ref = isinstance(declared, str) and any(f"draft-0{number}" in declared for number in (3, 4, 6, 7))
    moved: set[_Place] = set()

    def name_null(found: dict[str, Any], place: _Place) -> None:
        if found.get("nullable") is True and not (lonely_ref and "$ref" in found):
            moved.update((*place, key) for key in _name_null(found))

    def redirect(found: dict[str, Any], _: _Place) -> None:
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = found.get(keyword)
            if isinstance(reference, str) and reference.startswith("#/"):
                found[keyword] = _redirected(reference, moved)

    rewritten = _copy(schema, name_null)
    return dict(_copy(rewritten, redirect) if moved else rewritten)


def _mentions(schema: Any) -> bool:
    left = [schema]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            if node.get("nullable") is True:
                return True
            left.extend(node.values())
        elif isinstance(node, list | tuple):
            left.extend(node)
    return False


def _copy(
    node: Any,
    change: Callable[[dict[str, Any], _Place], None],
    place: _Place = (),
    *,
    are_names: bool = False,
) -> Any:
    """Copy a document, and change each schema in the copy after those inside it.

    Args:
        node: a schema, or a list or mapping of schemas.
        change: gets a schema and its place as it was.
        place: where in the document this is.
        are_names: whether the keys of this mapping are names that somebody chose, and no keywords.
    """
    if len(place) > MAX_DEPTH:
        return node
    if isinstance(node, list | tuple):
        return [_copy(each, change, (*place, str(n))) for n, each in enumerate(node)]
    if not isinstance(node, dict):
        return node
    found = {
        key: each
        if key in _VALUES and not are_names
        else _copy(each, change, (*place, str(key)), are_names=key in _BY_NAME and not are_names)
        for key, each in node.items()
    }
    if not are_names:
        change(found, place)
    return found


def _name_null(schema: dict[str, Any]) -> list[str]:
    """Make a schema accept null; return the keywords that have moved."""
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if isinstance(kinds, list) and "null" not in kinds:
        schema["type"] = [*kinds, "null"]
    values = schema.get("enum")
    if isinstance(values, list | tuple) and None not in values:
        schema["enum"] = [*values, None]
    rest = {key: schema.pop(key) for key in _OF_EVERY_KIND if key in schema}
    if rest.keys() == {"anyOf"} and isinstance(rest["anyOf"], list):
        schema["anyOf"] = [*rest["anyOf"], _NULL]
        return []
    if rest:
        schema["anyOf"] = [_NULL, rest]
    return list(rest)


def _redirected(reference: str, moved: set[_Place]) -> str:
    """A reference to where its target is now."""
    parts = reference[2:].split("/")
    names = tuple(unquote(each).replace("~1", "/").replace("~0", "~") for each in parts)
    # From the innermost on, so that the places further out are still where they were.
    for length in range(len(names), 0, -1):
        if names[:length] in moved:
            parts[length - 1 : length - 1] = ["anyOf", "1"]
    return "#/" + "/".join(parts)
