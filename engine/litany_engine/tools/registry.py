"""The tools that there are, and the state of each.

| state | callable | shown to programs | found by search |
|---|---|---|---|
| active | yes | yes | by `search(..., active=True)` |
| deferred | by agents that have loaded it | to these | yes: a search tool may load it for an agent |
| suspended | no | no | no |

A registry changes while programs run, so whoever looked something up earlier looks again: a tool that was
replaced is another tool, and what was admitted for the one is not run by the other.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from litany_engine.door.answers import AnswerCheck
from litany_engine.door.arguments import ArgumentCheck
from litany_engine.door.calls import Tool
from litany_engine.tools.tool_name import check_tool_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from litany_stubs.words import JSON, ToolDeclaration


class ToolsetError(ValueError):
    """Tools that cannot stand together: two with one name, or a schema that is no schema."""


class State(StrEnum):
    """Whether a tool may be called at this moment."""

    ACTIVE = "active"
    DEFERRED = "deferred"
    SUSPENDED = "suspended"


EXACT_NAME, PART_OF_NAME, DESCRIPTION, ARGUMENT = 12, 8, 5, 3
"""What a search term is worth, by where it is found."""

MIN_TERM_CHARS = 3

SEARCH_TOOLS = "search_tools"
"""The name of the tool that finds and loads deferred ones (`search_tools.py`)."""

# fmt: off
COMMON_TERMS = frozenset({
    "tool", "tools", "mcp", "the", "and", "for", "use", "list", "read", "create", "update", "get", "find",
    "delete", "search", "litany",
})
# fmt: on
"""Terms that describe every tool, and so none."""


class Registry:
    """The tools of a workspace.

    Attributes:
        tools: every tool by name; a view that follows changes.
        version: counts changes, so that what was rendered can tell whether it still holds.
    """

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self._states: dict[str, State] = {}
        self._reasons: dict[str, str] = {}
        self._checks: dict[str, ArgumentCheck] = {}
        self._answer_checks: dict[str, AnswerCheck] = {}
        self.tools: Mapping[str, Tool] = MappingProxyType(self._tools)
        self.version = 0
        for tool in tools:
            self.register(tool)

    def register(self, tool: Tool, state: State = State.ACTIVE) -> None:
        """Add a tool.

        Raises:
            ToolsetError: its name is taken, or is none.
            TypeError: it is no tool.
        """
        if not isinstance(tool, Tool):
            put = (
                "put @tool (from litany_engine) above the function"
                if callable(tool)
                else "declare it with @tool"
            )
            raise TypeError(f"{tool!r} is no tool; {put}")
        name = tool.declaration.name
        if name in self._tools:
            places = " and ".join(each.place or "built in" for each in (self._tools[name], tool))
            raise ToolsetError(
                f"two tools are named {name!r} ({places}); a name belongs to one tool: rename one of them"
            )
        if tool.traits.provenance is None:
            try:
                check_tool_name(name)
            except ValueError as error:
                raise ToolsetError(str(error)) from None
        self._put(tool, state)

    def replace(self, tool: Tool) -> None:
        """Put another version of a tool in the place of the one with its name; its state stays.

        Raises:
            ToolsetError: there is none of that name.
        """
        self._known(tool.declaration.name)
        self._put(tool, self._states[tool.declaration.name])

    def unregister(self, name: str) -> bool:
        """Remove a tool; whether there was one."""
        self._checks.pop(name, None)
        self._answer_checks.pop(name, None)
        self._states.pop(name, None)
        self._reasons.pop(name, None)
        self.version += 1
        return self._tools.pop(name, None) is not None

    def set_state(self, state: State, *names: str, reason: str = "") -> None:
        """Put tools into a state, for a reason that whoever is refused one of them is told.

        Raises:
            ToolsetError: there is none of that name; nothing is changed.
        """
        for name in names:
            self._known(name)
        for name in names:
            self._states[name] = state
            self._reasons[name] = reason
        self.version += 1

    def state(self, name: str) -> State | None:
        """A tool's state; None when there is no such tool."""
        return self._states.get(name)

    def reason(self, name: str) -> str:
        """Why a tool is in its state; "" when nobody said."""
        return self._reasons.get(name, "")

    def check(self, tool: Tool) -> ArgumentCheck:
        """The compiled check of a tool's arguments, built once for each version of it."""
        name = tool.declaration.name
        found = self._checks.get(name)
        if found is None or found.declaration is not tool.declaration:
            found = ArgumentCheck(tool.declaration)
            if self._tools.get(name) is tool:
                self._checks[name] = found
        return found

    def answer_check(self, tool: Tool) -> AnswerCheck:
        """The compiled check of a tool's structured answers, of one that has an output schema.

        Raises:
            AnswerSchemaError: that is none.
        """
        name, schema = tool.declaration.name, tool.declaration.output_schema
        assert schema is not None
        found = self._answer_checks.get(name)
        if found is None or found.schema is not schema:
            found = self._answer_checks[name] = AnswerCheck(schema)
        return found

    def search(self, query: str, *, active: bool = False) -> list[tuple[Tool, int]]:
        """Find tools by words.

        Args:
            query: words; short ones and those that describe every tool are passed over.
            active: look through the active tools, instead of the deferred ones.

        Returns:
            Tools and their scores, the best first, then by name; only those that a word was found in.
        """
        terms = {
            term
            for term in query.casefold().split()
            if len(term) >= MIN_TERM_CHARS and term not in COMMON_TERMS
        }
        wanted = State.ACTIVE if active else State.DEFERRED
        scored = [
            (tool, score)
            for name, tool in self._tools.items()
            if self._states[name] is wanted and (score := sum(_score(term, tool) for term in terms))
        ]
        return sorted(scored, key=lambda each: (-each[1], each[0].declaration.name))

    def _put(self, tool: Tool, state: State) -> None:
        name = tool.declaration.name
        self._checks.pop(name, None)
        self._tools[name] = tool
        self._states[name] = state
        self.version += 1

    def _known(self, name: str) -> None:
        if name not in self._tools:
            raise ToolsetError(
                f"there is no tool {name!r}; there are {', '.join(sorted(self._tools)) or 'none'}"
            )


def shown_declaration(tool: Tool) -> ToolDeclaration:
    """A tool as models and programs are told of it."""
    shown, narrower = tool.declaration, tool.traits.model_schema
    if narrower is not None:
        shown = replace(shown, input_schema=narrower)
    return replace(shown, one_at_a_time=True) if tool.traits.runs_one_at_a_time else shown


def _score(term: str, tool: Tool) -> int:
    shown = shown_declaration(tool)
    name = shown.name.casefold()
    score = EXACT_NAME if term == name else PART_OF_NAME if term in name else 0
    score += DESCRIPTION if term in shown.description.casefold() else 0
    return score + (
        ARGUMENT if any(term in each.casefold() for each in _arguments(shown.input_schema)) else 0
    )


def _arguments(schema: JSON, depth: int = 0) -> Iterator[str]:
    """Names of arguments, those in alternatives too."""
    if not hasattr(schema, "get") or depth > 8:
        return
    properties = schema.get("properties")
    if hasattr(properties, "keys"):
        yield from properties
    for key in ("anyOf", "oneOf", "allOf"):
        alternatives = schema.get(key)
        for each in alternatives if isinstance(alternatives, list) else ():
            yield from _arguments(each, depth + 1)
