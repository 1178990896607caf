"""What the door would permit at this moment: one function, read by the gates and by the stub rendering.

The generated module cannot offer what the door refuses, because both ask here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from litany_engine.arguments import ArgumentCheck

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from litany_engine.calls import Tool
    from litany_stubs.words import ToolDeclaration


class ToolsetError(ValueError):
    """Tools that cannot stand together: two with one name, or a schema that is no schema."""


@dataclass(frozen=True, slots=True)
class Toolset:
    """The tools of a workspace, narrowed to what one role is granted.

    Attributes:
        tools: every tool there is, by name.
        grant: the names the role may call; None for every tool, empty for none. The two differ.
    """

    tools: Mapping[str, Tool]
    grant: frozenset[str] | None = None
    _checks: dict[str, ArgumentCheck] = field(default_factory=dict, repr=False, compare=False)
    _stubs: list[str] = field(default_factory=list, repr=False, compare=False)

    def permitted(self, name: str, *, inner: bool) -> Tool | None:
        """The tool the door would run for a call of `name`, or None.

        Args:
            name: the tool's name as asked; matched exactly.
            inner: True for a call a program or a tool makes; a composing tool is then not permitted.
        """
        tool = self.tools.get(name)
        if tool is None or (self.grant is not None and name not in self.grant):
            return None
        return None if inner and tool.composes else tool

    def all_permitted(self, *, inner: bool) -> list[Tool]:
        """Every tool that `permitted` would return, in the order of their names."""
        return [
            tool for name in sorted(self.tools) if (tool := self.permitted(name, inner=inner)) is not None
        ]

    def granted(self, grant: Iterable[str] | None) -> Toolset:
        """The same tools under another grant; the compiled schemas are shared."""
        narrowed = None if grant is None else frozenset(grant)
        return Toolset(self.tools, narrowed, self._checks)

    def check(self, tool: Tool) -> ArgumentCheck:
        """The compiled check of a tool's arguments, built once."""
        name = tool.declaration.name
        found = self._checks.get(name)
        if found is None:
            found = self._checks[name] = ArgumentCheck(tool.declaration)
        return found

    def stubs(self) -> str:
        """The source of `litany_tools` for a program of this role, rendered once."""
        if not self._stubs:
            from litany_stubs.render import render  # noqa: PLC0415  a call that runs no program needs none

            self._stubs.append(render(self.declarations()))
        return self._stubs[0]

    def declarations(self) -> list[ToolDeclaration]:
        """What a program of this role may call."""
        return [tool.declaration for tool in self.all_permitted(inner=True)]


def toolset(tools: Iterable[Tool], grant: Iterable[str] | None = None) -> Toolset:
    """Put tools together.

    Raises:
        ToolsetError: two tools have one name.
    """
    by_name: dict[str, Any] = {}
    for tool in tools:
        name = tool.declaration.name
        if name in by_name:
            raise ToolsetError(
                f"two tools are named {name!r}; a name belongs to one tool: rename one of them"
            )
        by_name[name] = tool
    return Toolset(MappingProxyType(by_name), None if grant is None else frozenset(grant))
