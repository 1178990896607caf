"""What the door would permit at this moment: one function, read by the gates and by the stub rendering.

The generated module cannot offer what the door refuses, because both ask here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from litany_engine.tools.registry import Registry, State, ToolsetError, shown_declaration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from litany_engine.door.arguments import ArgumentCheck
    from litany_engine.door.calls import Tool
    from litany_stubs.words import ToolDeclaration

__all__ = ["Toolset", "ToolsetError", "toolset"]


@dataclass(frozen=True, slots=True)
class Toolset:
    """The tools of a workspace, narrowed to what one role is granted.

    Attributes:
        registry: the tools there are, and the state of each.
        grant: the names the role may call; None for every tool, empty for none. The two differ.
        loaded: the deferred tools that the agent has loaded, asked each time; None for none.
    """

    registry: Registry
    grant: frozenset[str] | None = None
    loaded: Callable[[], frozenset[str]] | None = None
    _stubs: dict[object, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def tools(self) -> Mapping[str, Tool]:
        """Every tool there is, by name, whether it may be called or not."""
        return self.registry.tools

    def granted_tool(self, name: str, *, inner: bool) -> Tool | None:
        """The tool of a name, when the role may call it in any state; else None.

        Args:
            name: the tool's name as asked; matched exactly.
            inner: True for a call a program or a tool makes; a composing tool is then not granted.
        """
        tool = self.registry.tools.get(name)
        if tool is None or (self.grant is not None and name not in self.grant):
            return None
        return None if inner and tool.composes else tool

    def state(self, name: str) -> State | None:
        """A tool's state for the agent, to which a deferred tool is active once it has loaded it."""
        state = self.registry.state(name)
        if state is State.DEFERRED and self.loaded is not None and name in self.loaded():
            return State.ACTIVE
        return state

    @property
    def version(self) -> object:
        """What differs whenever something that the agent may call has changed."""
        return self.registry.version, frozenset() if self.loaded is None else self.loaded()

    def permitted(self, name: str, *, inner: bool) -> Tool | None:
        """The tool the door would run for a call of `name` now, or None: there, granted and active."""
        tool = self.granted_tool(name, inner=inner)
        return tool if tool is not None and self.state(name) is State.ACTIVE else None

    def all_permitted(self, *, inner: bool) -> list[Tool]:
        """Every tool that `permitted` would return, in the order of their names."""
        return [
            tool for name in sorted(self.tools) if (tool := self.permitted(name, inner=inner)) is not None
        ]

    def granted(
        self, grant: Iterable[str] | None, loaded: Callable[[], frozenset[str]] | None = None
    ) -> Toolset:
        """The same tools under another grant, and for an agent that has loaded others."""
        return Toolset(self.registry, None if grant is None else frozenset(grant), loaded or self.loaded)

    def check(self, tool: Tool) -> ArgumentCheck:
        """The compiled check of a tool's arguments, built once."""
        return self.registry.check(tool)

    def stubs(self) -> str:
        """The source of `litany_tools` for a program of this role, rendered once until the tools change."""
        version = self.version
        if version not in self._stubs:
            from litany_stubs.render import render  # noqa: PLC0415  a call that runs no program needs none

            self._stubs.clear()
            self._stubs[version] = render(self.declarations())
        return self._stubs[version]

    def declarations(self) -> list[ToolDeclaration]:
        """What a program of this role may call, as it is told of it."""
        return [shown_declaration(tool) for tool in self.all_permitted(inner=True)]


def toolset(tools: Iterable[Tool], grant: Iterable[str] | None = None) -> Toolset:
    """Put tools together.

    Raises:
        ToolsetError: two tools have one name.
    """
    return Toolset(Registry(tools), None if grant is None else frozenset(grant))
