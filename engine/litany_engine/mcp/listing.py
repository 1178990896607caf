"""From what a server says of a tool to a tool of a workspace, or to the reason why it makes none.

What a server says of itself is a stranger's word. Its hints may raise requirements: a tool is taken for one
that changes things, cannot be undone and bears no company, unless the operator trusts the server's hints and
the hints say otherwise.

What is wrong with one tool harms no other: a tool that is listed in a way that cannot be read, or with a
schema by which no call could be checked, is known by its name and suspended with the cause.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from litany_engine.door.answers import AnswerCheck, AnswerSchemaError
from litany_engine.door.arguments import ArgumentCheck
from litany_engine.door.calls import Executor, Tool
from litany_engine.mcp.errors import ServerError
from litany_engine.mcp.reading import brief, shown
from litany_engine.mcp.wrapped import unwrapped_schema
from litany_engine.tools.definitions import Provenance, Traits
from litany_engine.tools.tool_name import check_tool_name
from litany_runtime.limits import KIB
from litany_stubs.words import ToolDeclaration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litany_engine.mcp.server_config import ServerConfig
    from litany_stubs.words import JSON

MAX_TOOLS = 1000
"""Tools of one server: each is told to a model, or searched among."""
MAX_DECLARATION_BYTES = 256 * KIB
"""Encoded size of what a server says of one tool: far above any that a model could use."""


HINTS = ("title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
"""What is kept of a tool's annotations."""

MAX_NAME_SHOWN = 128
"""Characters of the longest name by which a tool that cannot be offered is known all the same."""


class UselessToolError(ValueError):
    """What a server says of a tool makes none; the message is the cause."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a server says of one tool.

    Attributes:
        name: the server's own name of it.
        said: the parts of it that anybody goes by, under the protocol's names; null is unsaid.
        fault: why it makes no tool, as far as reading it shows; "" for one that could.
    """

    name: str
    said: dict[str, JSON] = field(default_factory=dict)
    fault: str = ""

    @property
    def description(self) -> str:
        """What the tool is for, in the server's words."""
        return str(self.said.get("description") or self.said.get("title") or "")

    @property
    def hints(self) -> dict[str, JSON]:
        """Its annotations."""
        found: dict[str, JSON] = self.said.get("annotations") or {}
        return found


def read_told(item: JSON) -> Told | None:
    """Read one item of a server's list; None for one that has no name to be known by."""
    if not isinstance(item, dict) or not isinstance(item.get("name"), str) or not item["name"]:
        return None
    name: str = item["name"]
    kinds: tuple[tuple[str, type, str], ...] = (
        ("title", str, "a text"),
        ("description", str, "a text"),
        ("inputSchema", dict, "an object"),
        ("outputSchema", dict, "an object"),
        ("annotations", dict, "an object"),
    )
    said: dict[str, JSON] = {"name": name}
    for key, kind, words in kinds:
        value = item.get(key)
        if value is None:
            continue
        if not isinstance(value, kind):
            return Told(name, said, f"its `{key}` is {shown(value)}, not {words}")
        said[key] = value
    if "inputSchema" not in said:
        return Told(name, said, f"its `inputSchema` is {'null' if 'inputSchema' in item else 'missing'}")
    if "annotations" in said:
        said["annotations"] = {
            key: value
            for key in HINTS
            if (value := said["annotations"].get(key)) is not None
            and isinstance(value, str if key == "title" else bool)
        }
    return Told(name, said)


def by_name(items: Sequence[JSON]) -> tuple[dict[str, Told], list[str]]:
    """The tools of a list by the server's own names, and what is wrong with items that have no name."""
    found: dict[str, Told] = {}
    nameless: list[str] = []
    for number, item in enumerate(items, 1):
        told = read_told(item)
        if told is None:
            what = (
                f"has the `name` {shown(item.get('name'))}" if isinstance(item, dict) else f"is {shown(item)}"
            )
            nameless.append(f"tool {number} of its list {what}")
        elif told.name in found:
            found[told.name] = Told(told.name, told.said, "its server lists two tools of this name")
        else:
            found[told.name] = told
    return found, nameless


def chosen(config: ServerConfig, told: dict[str, Told]) -> dict[str, Told]:
    """The tools of a server that the operator wants, by the server's own names.

    Raises:
        ServerError: there are too many, or one that the operator names is not there.
    """
    found = {name: each for name, each in told.items() if config.tools is None or name in config.tools}
    if len(found) > MAX_TOOLS:
        raise ServerError(
            f"it lists {len(found)} tools, and {MAX_TOOLS} are the most; name those that you want: "
            f"tools = [...] in [mcp.{config.name}]"
        )
    if missing := sorted(set(config.tools or ()) - found.keys()):
        names = ", ".join(sorted(told)[:20]) or "none"
        raise ServerError(
            f"it has no tool {missing[0]!r}, which [mcp.{config.name}] tools names; it has {names}"
        )
    return found


def make_tool(config: ServerConfig, told: Told, execute: Executor) -> Tool:
    """A tool of a workspace.

    Args:
        config: what the operator says of the server.
        told: what the server says of the tool.
        execute: what calls it.

    Raises:
        UselessToolError: it makes none.
    """
    if told.fault:
        raise UselessToolError(told.fault)
    _check_size(told)
    try:
        declaration = ToolDeclaration(
            name=check_tool_name(config.prefix + told.name),
            description=told.description,
            input_schema=_of_an_object(told.said["inputSchema"]),
            output_schema=told.said.get("outputSchema"),
        )
        ArgumentCheck(declaration)
        if declaration.output_schema is not None:
            AnswerCheck(declaration.output_schema)
            declaration = unwrapped_schema(declaration)
    except UselessToolError:
        raise
    except (ValueError, TypeError, OverflowError, AnswerSchemaError, RecursionError) as error:
        cause = " ".join(str(error).split()).removeprefix(f"tool {config.prefix + told.name!r}: ")
        raise UselessToolError(cause) from error
    return Tool(
        declaration,
        execute,
        deadline_s=None if config.timeout_s is None else lambda _: config.timeout_s,
        traits=_traits(config, told),
        place=_place(config),
    )


def placeholder(config: ServerConfig, told: Told, execute: Executor) -> Tool | None:
    """What stands for a tool that cannot be offered, so that a call of it is told why.

    None when its name could not be shown.
    """
    name = config.prefix + told.name
    if len(name) > MAX_NAME_SHOWN or not name.isprintable():
        return None
    traits = Traits(destructive=True, provenance=Provenance(config.name))
    return Tool(ToolDeclaration(name), execute, traits=traits, place=_place(config))


def _check_size(told: Told) -> None:
    """Fail for a tool of which too much is said, or what no JSON can say.

    Raises:
        UselessToolError: with the cause.
    """
    try:
        size = len(msgspec.json.encode(told.said))
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise UselessToolError(f"what its server says of it is no JSON: {brief(error)}") from error
    if size > MAX_DECLARATION_BYTES:
        raise UselessToolError(
            f"what its server says of it has {size} bytes, and {MAX_DECLARATION_BYTES} are read"
        )


def _place(config: ServerConfig) -> str:
    return f"server {config.name!r}"


def _of_an_object(schema: dict[str, Any]) -> dict[str, Any]:
    """An input schema that says what every input is: an object.

    Raises:
        UselessToolError: it says that the input is something else.
    """
    kind = schema.get("type")
    if kind is None:  # `{}` and the like: what the server takes is an object all the same
        return {"type": "object", **{key: value for key, value in schema.items() if key != "type"}}
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise UselessToolError(f"its input schema is not of an object: its `type` is {shown(kind)}")
    return schema


def _traits(config: ServerConfig, told: Told) -> Traits:
    hints, trusted = told.hints, config.trust_hints
    read_only = trusted and hints.get("readOnlyHint") is True
    harmless = read_only or (trusted and hints.get("destructiveHint") is False)
    closed = trusted and hints.get("openWorldHint") is False
    return Traits(
        read_only=read_only,
        destructive=not harmless,
        concurrency_safe=True if read_only else None,
        permissions=frozenset() if closed else frozenset({"network_access"}),
        category="custom" if closed else "network",
        provenance=Provenance(config.name, trusted),
    )
