"""What a schema says beyond its type, in words: description, default, limits, format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SHOWN_CHARS = 120
"""Characters of one value (a default, a pattern, an example) that are shown."""


def describe(schemas: Iterable[Any]) -> list[str]:
    """Return sentences on what the schemas of one place say, each once, the description first."""
    descriptions: dict[str, None] = {}
    rules: dict[str, None] = {}
    for schema in schemas:
        if not isinstance(schema, Mapping):
            continue
        for keyword in ("description", "title"):
            text = schema.get(keyword)
            if isinstance(text, str) and text.strip():
                if not descriptions:
                    descriptions[_sentence(text)] = None
                break
        rules.update(dict.fromkeys(_rules(schema)))
    return [*descriptions, *rules]


def _rules(schema: Mapping[str, Any]) -> list[str]:
    found = []
    for keyword, say in _SAYINGS.items():
        if keyword in schema:
            text = say(schema[keyword])
            if text:
                found.append(f"{text}.")
    return found


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text[-1] in ".!?:;)" else f"{text}."


def show(value: Any) -> str:
    """Return a value as short JSON."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = f"<{type(value).__name__}>"
    return text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 3]}..."


def _number(words: str) -> Callable[[Any], str]:
    return lambda value: f"{words} {value}" if _is_number(value) else ""


def _flag(words: str) -> Callable[[Any], str]:
    return lambda value: words if value is True else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _text(words: str) -> Callable[[Any], str]:
    return lambda value: f"{words} {value[:SHOWN_CHARS]}" if isinstance(value, str) and value else ""


def _enum(values: Any) -> str:
    # Words and whole numbers stand in the type; what no Literal can say stands here.
    if not isinstance(values, (list, tuple)) or all(_in_literal(each) for each in values):
        return ""
    shown = ", ".join(show(each) for each in values[:10])
    return f"One of {shown}{' and others' if len(values) > 10 else ''}"


def _in_literal(value: Any) -> bool:
    return value is None or isinstance(value, (str, int))


def _const(value: Any) -> str:
    return "" if _in_literal(value) else f"Always {show(value)}"


def _examples(values: Any) -> str:
    if not isinstance(values, (list, tuple)) or not values:
        return ""
    return "Examples: " + ", ".join(show(each) for each in values[:3])


def _needs(value: Any) -> str:
    if not isinstance(value, Mapping):
        return ""
    said = [
        f"{key} needs {', '.join(map(str, needed))}"
        for key, needed in value.items()
        if isinstance(needed, (list, tuple)) and needed
    ]
    return "; ".join(said[:5])


def _choice(words: str) -> Callable[[Any], str]:
    """Alternatives that differ in what they require say so; others are seen in the type."""

    def say(parts: Any) -> str:
        if not isinstance(parts, (list, tuple)):
            return ""
        sets = [
            [each for each in part["required"] if isinstance(each, str)]
            for part in parts
            if isinstance(part, Mapping)
            and isinstance(part.get("required"), (list, tuple))
            and part["required"]
        ]
        if len(sets) != len(parts) or len(sets) < 2:
            return ""
        shown = "; or ".join(", ".join(each) for each in sets[:6])
        return f"{words}: {shown}"

    return say


_SAYINGS: Mapping[str, Callable[[Any], str]] = {
    "default": lambda value: f"Default: {show(value)}",
    "enum": _enum,
    "const": _const,
    "format": _text("Format:"),
    "contentEncoding": _text("Encoding:"),
    "contentMediaType": _text("Media type:"),
    "pattern": _text("Pattern:"),
    "minimum": _number("At least"),
    "exclusiveMinimum": _number("Above"),
    "maximum": _number("At most"),
    "exclusiveMaximum": _number("Below"),
    "multipleOf": _number("A multiple of"),
    "minLength": _number("Characters, at least"),
    "maxLength": _number("Characters, at most"),
    "minItems": _number("Items, at least"),
    "maxItems": _number("Items, at most"),
    "uniqueItems": _flag("Items differ from one another"),
    "contains": lambda value: f"Some item fits {show(value)}" if isinstance(value, Mapping) else "",
    "minProperties": _number("Keys, at least"),
    "maxProperties": _number("Keys, at most"),
    "propertyNames": lambda value: f"Keys fit {show(value)}" if isinstance(value, Mapping) else "",
    "patternProperties": lambda value: (
        f"Keys by pattern: {', '.join(map(show, value))}" if isinstance(value, Mapping) else ""
    ),
    "dependentRequired": _needs,
    "dependencies": _needs,
    "anyOf": _choice("At least one of these must be given"),
    "oneOf": _choice("Exactly one of these must be given"),
    "not": lambda value: f"Not {show(value)}" if isinstance(value, Mapping) else "",
    "if": lambda value: f"Further rules when it fits {show(value)}" if isinstance(value, Mapping) else "",
    "examples": _examples,
    "example": lambda value: f"Example: {show(value)}",
    "deprecated": _flag("Deprecated"),
    "readOnly": _flag("Read-only"),
}
