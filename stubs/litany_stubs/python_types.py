"""Shapes as Python types: what an editor, a type checker and a model read.

Two directions, because a claim about an argument and a claim about a result are honest in different ways.
An argument's type must take whatever the schema accepts; a result's type must promise no more than the
schema does (an array is a list there, never a tuple). A type is written in place while it is short and gets
a name when it is long, has properties of its own, or contains itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litany_stubs.constraints import describe
from litany_stubs.literals import can_say, comment, quote
from litany_stubs.names import OWN_NAMES, Names, camel, is_parameter_name
from litany_stubs.schema import Document
from litany_stubs.shapes import ANYTHING, EVERYTHING, Node, ObjectShape, Shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from litany_stubs.shapes import ArrayShape

INLINE_CHARS = 100
"""Length up to which a type is written in place; about one line of the module."""

MAX_NESTING = 30
"""Types inside types that are written; what lies deeper is `Any`."""

MAX_DEFINITIONS = 200
"""Named types of one tool; an object beyond them is `dict[str, Any]`: a huge schema stays readable."""


MAX_WEIGHT = 2000
"""Keys of a named type, those of the types in it counted as often as they stand there. Thirty definitions
that use one another thrice each would keep a type checker busy for ever; one that weighs more is a plain
`dict[str, Any]`. The largest of a real server (a deployment, a document) weighs some hundreds."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Definition:
    """A named type of the generated module.

    Attributes:
        name: its name.
        text: the lines that define it for a type checker.
        is_dict: whether its values are dicts; at run time the name is then `dict`, else `object`.
    """

    name: str
    text: str
    is_dict: bool


class TypeWriter:
    """Writes the types of one schema and collects the definitions they need."""

    def __init__(self, document: Document, names: Names, base: str, *, is_input: bool) -> None:
        """Start with no definitions.

        Args:
            document: the schema.
            names: where names of definitions come from.
            base: what the names of this schema's definitions begin with.
            is_input: whether the types are of arguments; else of results.
        """
        self.definitions: list[Definition] = []
        self._document = document
        self._names = names
        self._base = base
        self._is_input = is_input
        self._written: dict[Node, str] = {}
        self._open: dict[Node, str | None] = {}
        self._used_while_open: set[str] = set()
        self._weights: dict[str, int] = {}

    def write(self, node: Node, hint: str) -> str:
        """Return the type of a node; `hint` names it when it needs a name and the schema gives none."""
        named = camel(self._document.name_of(node))
        node = self._document.same(node)
        if node in self._written:
            return self._written[node]
        hint = self._base + named if named else hint
        if node in self._open:
            pending = self._open[node] or self._names.new(hint)
            self._open[node] = pending
            self._used_while_open.add(pending)
            return pending
        if len(self._open) >= MAX_NESTING:
            return "Any"
        shape = self._document.shape(node)
        self._open[node] = None
        text = self._write_shape(shape, node, hint)
        name = self._open.pop(node)
        if name is not None and text == "Any":
            # A type that is nothing but itself.
            self._define_alias(name, text)
        elif name not in (None, text) or (
            name is None and len(text) > INLINE_CHARS and not text.isidentifier()
        ):
            text = self._define_alias(name or self._names.new(hint), text)
        self._written[node] = text
        return text

    def write_union(self, nodes: Iterable[Node], hint: str) -> str:
        """Return the type of whatever fits one of the nodes at the least."""
        return union([self.write(each, hint) for each in nodes])

    def _define_alias(self, name: str, text: str) -> str:
        self._weights[name] = self._weigh(text)
        self.definitions.append(Definition(name, f"{name}: TypeAlias = {quote(text)}", is_dict=False))
        return name

    def _weigh(self, text: str) -> int:
        return sum(self._weights.get(each, 0) for each in _NAME.findall(text))

    def _write_shape(self, shape: Shape, node: Node, hint: str) -> str:
        if shape == EVERYTHING:
            return "Any"
        literals: list[str] = []
        parts: list[str] = []
        if shape.strings is None or not all(map(can_say, shape.strings)):
            parts.append("str")
        else:
            literals += map(quote, shape.strings)
        if isinstance(shape.numbers, str):
            parts.append(shape.numbers)
        else:
            literals += map(str, shape.numbers)
        if len(shape.booleans) == 2:
            parts.append("bool")
        else:
            literals += map(str, shape.booleans)
        if literals:
            parts.insert(0, f"Literal[{', '.join(literals)}]")
        parts += [self._write_array(each, hint) for each in shape.arrays]
        alone = not parts and not shape.null and len(shape.objects) == 1
        parts += [self._write_object(each, node if alone else None, hint) for each in shape.objects]
        if shape.null:
            parts.append("None")
        return union(parts)

    def _write_array(self, array: ArrayShape, hint: str) -> str:
        prefix = [self.write(each, f"{hint}Item") for each in array.prefix]
        if not array.fixed:
            return f"list[{union([*prefix, self.write(array.rest, f'{hint}Item')])}]"
        either = f"list[{union(prefix)}]"
        if not self._is_input or "Never" in prefix:
            return either
        return f"tuple[{', '.join(prefix)}] | {either}"

    def _write_object(self, found: ObjectShape, node: Node | None, hint: str) -> str:
        properties = self.properties(found)
        if properties is None:
            return "Never"
        if not properties or not all(map(can_say, properties)) or len(self.definitions) >= MAX_DEFINITIONS:
            if properties:
                return "dict[str, Any]"
            extra = "Never" if found.extra is None else self.write(found.extra, f"{hint}Value")
            return f"dict[str, {extra}]"
        others = self._is_input and found.open_explicitly and found.extra is not None
        name = self._names.new(hint)
        if node is not None and not others:
            self._open[node] = name
        types = {key: self.write(each, hint + (camel(key) or "Value")) for key, each in properties.items()}
        weight = sum(1 + self._weigh(each) for each in types.values())
        if weight > MAX_WEIGHT:
            if name in self._used_while_open:
                return self._define_alias(name, "dict[str, Any]")
            return "dict[str, Any]"
        self._weights[name] = weight
        text = self._define_dict(name, node, found.required, types, properties)
        self.definitions.append(Definition(name, text, is_dict=True))
        if not others or found.extra is None:
            return name
        # No TypedDict can say that keys of other names may be there too.
        return f"{name} | dict[str, {union([*types.values(), self.write(found.extra, f'{hint}Value')])}]"

    def properties(self, found: ObjectShape) -> Mapping[str, Node] | None:
        """Return the properties that may be there, or None when one that must be there cannot."""
        properties = dict(found.properties)
        for key in sorted(found.required - properties.keys()):
            properties[key] = ANYTHING if found.extra is None else found.extra
        for key, each in list(properties.items()):
            if self._document.shape(each).is_empty():
                if key in found.required:
                    return None
                del properties[key]
        return properties

    def _define_dict(
        self,
        name: str,
        node: Node | None,
        required: frozenset[str],
        types: Mapping[str, str],
        properties: Mapping[str, Node],
    ) -> str:
        about = comment(" ".join(describe(self._document.schemas(node)))) if node else ""
        # In a class body a key hides the type of its name, and keywords cannot stand there at all.
        as_class = all(
            is_parameter_name(key) and key not in OWN_NAMES and not key[0].isupper() for key in types
        )
        lines = [f"# {about}"] if about else []
        lines.append(
            f"class {name}(TypedDict):" if as_class else f'{name} = TypedDict(\n    "{name}",\n    {{'
        )
        indent = "    " if as_class else "        "
        for key, written in types.items():
            said = comment(" ".join(describe(self._document.schemas(properties[key]))))
            if said:
                lines.append(f"{indent}# {said}")
            kind = written if key in required else f"NotRequired[{written}]"
            lines.append(f"{indent}{key}: {kind}" if as_class else f"{indent}{quote(key)}: {quote(kind)},")
        if not as_class:
            lines.append("    },\n)")
        return "\n".join(lines)


def union(parts: Iterable[str]) -> str:
    """Return the union of types, each once; `Any` swallows the others, `Never` vanishes beside them."""
    found: dict[str, None] = {}
    for part in parts:
        found.update(dict.fromkeys(_members(part)))
    found.pop("Never", None)
    if "Any" in found:
        return "Any"
    if "float" in found:
        found.pop("int", None)
    for widest, kind in (("list[Any]", "list["), ("dict[str, Any]", "dict[")):
        if widest in found:
            found = {each: None for each in found if each == widest or not each.startswith(kind)}
    if "None" in found:
        del found["None"]
        found["None"] = None
    return " | ".join(found) or "Never"


def _members(text: str) -> list[str]:
    """Split a union at its top level."""
    members, depth, start, quoted, index = [], 0, 0, False, 0
    while index < len(text):
        char = text[index]
        if quoted:
            if char == "\\":
                index += 1
            elif char == '"':
                quoted = False
        elif char == '"':
            quoted = True
        elif char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
        elif depth == 0 and text.startswith(" | ", index):
            members.append(text[start:index])
            start = index + 3
            index += 2
        index += 1
    return [*members, text[start:]]
