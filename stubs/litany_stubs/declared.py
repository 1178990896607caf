"""A declaration as the module will offer it: which function, which parameters, which types.

A signature has one list of parameters and a schema may have alternatives, so alternatives are laid over one
another: a parameter is required when all of them require it, and takes what any of them takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litany_stubs.constraints import describe
from litany_stubs.literals import tidy
from litany_stubs.names import OWN_NAMES, Names, camel, is_parameter_name, spelt
from litany_stubs.python_types import Definition, TypeWriter, union
from litany_stubs.schema import Document
from litany_stubs.shapes import ANYTHING, OBJECT, Node, ObjectShape, intersect

if TYPE_CHECKING:
    from litany_stubs.words import ToolDeclaration

ONE_AT_A_TIME = "Calls run one at a time, in fan_out too, which then gains nothing."
"""What is said of a tool whose calls never run side by side."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool's function.

    Attributes:
        name: as in the schema.
        type: its Python type, without `Unset`.
        required: whether a call must give it.
        about: description, default and constraints, as sentences.
    """

    name: str
    type: str
    required: bool
    about: str

    def declared(self) -> str:
        """Return it as a signature says it."""
        return f"{self.name}: {self.type}" if self.required else f"{self.name}: {self.type} | Unset = UNSET"


@dataclass(frozen=True, slots=True)
class Stub:
    """One tool as the module offers it.

    Attributes:
        name: the tool's exact name.
        function: what its function is called; the exact name where Python can spell it.
        description: the tool's own words, tidied; a sentence when there are none.
        parameters: required ones first.
        unspelt: parameters whose names Python cannot say, with what is said of them.
        more: the type of arguments of other names, or None when there are none.
        more_name: what those are called in the signature.
        lax: the schema accepts arguments of other names, without saying so.
        data: the type of `Result.data`.
        data_about: what is said of it.
        parses: whether the tool declares an output schema.
        no_function: why it has no function, or None when it has one.
        definitions: the named types it needs.
    """

    name: str
    function: str
    description: str
    parameters: tuple[Parameter, ...]
    unspelt: tuple[Parameter, ...]
    more: str | None
    more_name: str
    lax: bool
    data: str
    data_about: str
    parses: bool
    no_function: str | None
    definitions: tuple[Definition, ...]

    def signature(self) -> str:
        """Return `name(path: str) -> Result[Any]` on one line."""
        return f"{self.function}({', '.join(self.declared())}) -> Result[{self.data}]"

    def declared(self) -> list[str]:
        """Return the parts between the parentheses of the signature."""
        parts = [each.declared() for each in self.parameters]
        if self.more is not None:
            parts.append(f"**{self.more_name}: {self.more}")
        return parts


def read_stubs(declarations: Sequence[ToolDeclaration]) -> list[Stub]:
    """Return the tools of a toolset as the module offers them, in the order of their names."""
    by_name = {each.name: each for each in declarations}
    functions, reasons = spelt(sorted(by_name))
    names = Names(OWN_NAMES | by_name.keys() | set(functions.values()))
    return [
        _read(by_name[name], names, functions.get(name, name), reasons.get(name)) for name in sorted(by_name)
    ]


def _read(declaration: ToolDeclaration, names: Names, function: str, no_function: str | None) -> Stub:
    base = camel(declaration.name) or "Tool"
    document = Document(declaration.input_schema)
    root = document.node(declaration.input_schema)
    writer = TypeWriter(document, names, base, is_input=True)
    alternatives = intersect(document.shape(root), OBJECT).objects
    readable = [
        (found, properties) for found in alternatives if (properties := writer.properties(found)) is not None
    ]
    parameters = _parameters(document, writer, base, readable)
    sayable = [each for each in parameters if is_parameter_name(each.name)]
    unspelt = [each for each in parameters if not is_parameter_name(each.name)]
    more = None
    if any(found.open_explicitly for found, _ in readable):
        extras = [found.extra for found, _ in readable if found.extra is not None]
        more = union([writer.write_union(extras, f"{base}Value"), *(each.type for each in unspelt)])
    if no_function is None and not readable:
        no_function = "its schema accepts no arguments at all"
    if no_function is None and more is None and any(each.required for each in unspelt):
        no_function = "it requires a parameter that is not a Python name"
    data, about, defined = _read_output(declaration, names, base)
    more_name = "more"
    while any(each.name == more_name for each in sayable):
        more_name += "_"
    return Stub(
        name=declaration.name,
        function=function,
        description=_description(declaration),
        parameters=tuple(sorted(sayable, key=lambda each: not each.required)),
        unspelt=tuple(unspelt),
        more=more,
        more_name=more_name,
        lax=more is None and any(found.extra is not None for found, _ in readable),
        data=data,
        data_about=about,
        parses=declaration.output_schema is not None,
        no_function=no_function,
        definitions=(*writer.definitions, *defined),
    )


def _description(declaration: ToolDeclaration) -> str:
    text = tidy(declaration.description) or "The tool says nothing of itself."
    return f"{text}\n\n{ONE_AT_A_TIME}" if declaration.one_at_a_time else text


def _parameters(
    document: Document,
    writer: TypeWriter,
    base: str,
    alternatives: list[tuple[ObjectShape, Mapping[str, Node]]],
) -> list[Parameter]:
    """Read the parameters: a signature has one list of them, so alternatives are laid over one another."""
    found = []
    for name in dict.fromkeys(name for _, properties in alternatives for name in properties):
        nodes = [
            properties.get(name, shape.extra)
            for shape, properties in alternatives
            if name in properties or shape.open_explicitly
        ]
        kinds = [each for each in dict.fromkeys(nodes) if each is not None]
        about: list[str] = []
        for each in kinds:
            about += [line for line in describe(document.schemas(each)) if line not in about]
        found.append(
            Parameter(
                name=name,
                type=writer.write_union(kinds, base + (camel(name) or "Value")),
                required=all(name in shape.required for shape, _ in alternatives),
                about=" ".join(about),
            )
        )
    return found


def _read_output(declaration: ToolDeclaration, names: Names, base: str) -> tuple[str, str, list[Definition]]:
    if declaration.output_schema is None:
        return "Any", "", []
    document = Document(declaration.output_schema)
    writer = TypeWriter(document, names, base, is_input=False)
    node = document.node(declaration.output_schema)
    data = "Any" if node == ANYTHING else writer.write(node, f"{base}Data")
    return data, " ".join(describe(document.schemas(node))), writer.definitions
