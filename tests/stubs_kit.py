"""What tests of the stubs share: the corpus, and Python's types as a judge of values, apart from any type checker."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ForwardRef, Literal, Never, NotRequired, Union, get_args, get_origin, is_typeddict

from litany_stubs.render import render
from litany_stubs.words import ToolDeclaration

SCHEMAS = Path(__file__).parent / "stubs" / "schemas"


def corpus(group: str = "*") -> list[ToolDeclaration]:
    """The declarations of the corpus: as `tools/list` of a server would answer."""
    return [
        ToolDeclaration(each["name"], each["description"], each["inputSchema"], each.get("outputSchema"))
        for file in sorted(SCHEMAS.glob(f"{group}.json"))
        for each in json.loads(file.read_text(encoding="utf-8"))
    ]


def declared(name: str) -> ToolDeclaration:
    """One declaration of the corpus."""
    return next(each for each in corpus() if each.name == name)


@dataclass
class TypedModule:
    """A generated module executed with its types, as a type checker sees it."""

    space: dict[str, Any]

    @classmethod
    def of(cls, *declarations: ToolDeclaration) -> TypedModule:
        text = render(declarations).replace("from typing import TYPE_CHECKING", "TYPE_CHECKING = True")
        space: dict[str, Any] = {"__name__": "litany_tools"}
        exec(compile(text, "<typed>", "exec"), space)
        for name, each in space.items():
            if isinstance(each, str) and f"{name}: TypeAlias" in text:
                space[name] = ForwardRef(each)
        return cls(space)

    def takes(self, tool: str, arguments: dict[str, Any]) -> bool:
        """Whether a call with these arguments would type-check."""
        tools = (each for each in self.space.values() if hasattr(each, "__litany__"))
        function = next(each for each in tools if tool in (each.__litany__.name, each.__name__)).__wrapped__
        hints = dict(function.__annotations__)
        hints.pop("return")
        code = function.__code__
        names = code.co_varnames[: code.co_argcount]
        more = code.co_varnames[code.co_argcount] if code.co_flags & 0x08 else None
        required = names[: len(names) - len(function.__defaults__ or ())]
        if any(each not in arguments for each in required):
            return False
        for key, value in arguments.items():
            if key in names:
                if not self.fits(value, hints[key]):
                    return False
            elif more is None or not self.fits(value, hints[more]):
                return False
        return True

    def fits(self, value: Any, kind: Any) -> bool:
        """Whether a JSON value is of a type; keys that a typed dict does not list are let through."""
        while isinstance(kind, ForwardRef | str):
            kind = eval(kind if isinstance(kind, str) else kind.__forward_arg__, self.space)
        if kind is Any:
            return True
        if kind is Never or isinstance(kind, type(self.space["UNSET"])) or kind is self.space["Unset"]:
            return False
        if kind is None or kind is type(None):
            return value is None
        if kind in (bool, str):
            return type(value) is kind
        if kind is int:
            return type(value) is int
        if kind is float:
            return type(value) in (int, float)
        if is_typeddict(kind):
            return self._fits_dict(value, kind)
        origin, inner = get_origin(kind), get_args(kind)
        if origin is Literal:
            return any(type(each) is type(value) and each == value for each in inner)
        if origin is list:
            return isinstance(value, list) and all(self.fits(each, inner[0]) for each in value)
        if origin is tuple:
            return (
                isinstance(value, list)
                and len(value) == len(inner)
                and all(self.fits(each, want) for each, want in zip(value, inner, strict=True))
            )
        if origin is dict:
            return isinstance(value, dict) and all(self.fits(each, inner[1]) for each in value.values())
        if origin is Union or origin is type(int | str):
            return any(self.fits(value, each) for each in inner)
        if origin is NotRequired:
            return self.fits(value, inner[0])
        raise AssertionError(f"the judge does not know {kind!r}")

    def _fits_dict(self, value: Any, kind: Any) -> bool:
        if not isinstance(value, dict):
            return False
        for key, hint in kind.__annotations__.items():
            want = eval(hint.__forward_arg__, self.space) if isinstance(hint, ForwardRef) else hint
            if key in value:
                if not self.fits(value[key], want):
                    return False
            elif get_origin(want) is not NotRequired:
                return False
        return True


SAYABLE = frozenset(
    {
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "const",
        "anyOf",
        "additionalProperties",
        "$ref",
        "$defs",
    }
    | {"description", "title", "default", "$schema", "examples", "definitions", "deprecated"}
)
"""Keywords that Python's types can say wholly."""


def is_sayable(schema: Any, beyond: frozenset[str] = frozenset()) -> bool:
    """Whether Python's types can say all that a schema says, keywords `beyond` them left aside."""
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict) or not schema.keys() <= SAYABLE | beyond:
        return False
    # 1 and 1.0 are one number to JSON and two types to Python; a fraction, an array or an object is no Literal.
    constants = [*schema.get("enum", []), *([schema["const"]] if "const" in schema else [])]
    if not all(each is None or isinstance(each, (str, int)) for each in constants):
        return False
    if "anyOf" in schema and not {"type", "properties"}.isdisjoint(schema):
        return False
    parts = [*schema.get("anyOf", []), *schema.get("properties", {}).values()]
    parts += [*schema.get("$defs", {}).values(), *schema.get("definitions", {}).values()]
    parts += [schema[key] for key in ("items",) if key in schema]
    if schema.get("additionalProperties") and schema.get("properties"):
        return False
    if isinstance(schema.get("additionalProperties"), dict):
        parts.append(schema["additionalProperties"])
    parts += schema.get("allOf", []) + schema.get("oneOf", [])
    return all(is_sayable(each, beyond) for each in parts)


def load(module_text: str, folder: Path, name: str) -> Path:
    """Write a generated module where a type checker finds it."""
    target = folder / f"{name}.py"
    target.write_text(module_text, encoding="utf-8")
    return target
