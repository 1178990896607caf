"""A call, decoded once: what is reviewed is a frozen copy, what runs is a private one, and both say the same.

The control and the screens see the frozen copy: what is approved is what runs. An argument that was left out
is in neither: whether and how a default applies is the tool's own business. Rules and traits judge an input
in which the schema's defaults are filled in (`judged`), because that is what the tool says it will do without
the argument; that input is sent nowhere.

A preparation belongs to one version of one tool; when the tool is replaced while an operator thinks about the
call, the call is not run by the new one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from litany_engine.door.calls import ToolCall

if TYPE_CHECKING:
    from collections.abc import Mapping

    from litany_engine.door.calls import Tool
    from litany_engine.tools.toolset import Toolset
    from litany_stubs.words import JSON


class FrozenError(TypeError):
    """What was reviewed is not changed afterwards."""


def _refuse(*_: object, **__: object) -> NoReturn:
    raise FrozenError("a call's input is not changed: a verdict passes, refuses or holds")


class FrozenObject(dict[str, Any]):
    """A JSON object that does not change; still a dict, so that every encoder takes it."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


class FrozenArray(list[Any]):
    """A JSON array that does not change."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse


def freeze(value: JSON) -> JSON:
    """A deeply frozen copy of a JSON value."""
    if isinstance(value, dict):
        return FrozenObject({key: freeze(each) for key, each in value.items()})
    if isinstance(value, list):
        return FrozenArray([freeze(each) for each in value])
    return value


def thaw(value: JSON) -> JSON:
    """A private copy of a JSON value, frozen or not."""
    if isinstance(value, dict):
        return {key: thaw(each) if isinstance(each, (dict, list)) else each for key, each in value.items()}
    if isinstance(value, list):
        return [thaw(each) if isinstance(each, (dict, list)) else each for each in value]
    return value


class Prepared:
    """A call that the schema gate has let through.

    Args:
        tool: the version of the tool that it was prepared for.
        toolset: where that was found.
        call: the call as asked; nobody outside of the door holds it.
    """

    __slots__ = ("_judged", "_review", "call", "tool", "toolset")

    def __init__(self, tool: Tool, toolset: Toolset, call: ToolCall) -> None:
        self.tool = tool
        self.toolset = toolset
        self.call = call
        self._review: ToolCall | None = None
        self._judged: JSON = None

    @property
    def judged(self) -> JSON:
        """The input that rules and traits go by: frozen, the schema's defaults where nothing was given."""
        if self._judged is None:
            self._judged = freeze(fill(self.call.input, self.tool.declaration.input_schema))
        return self._judged

    @property
    def review(self) -> ToolCall:
        """What is shown to the control and to screens; made when it is asked for."""
        if self._review is None:
            call = self.call
            self._review = ToolCall(call.id, call.name, freeze(call.input), call.given)
        return self._review

    def private(self) -> ToolCall:
        """What is given to an executor: its own, for each attempt."""
        call = self.call
        return ToolCall(call.id, call.name, thaw(call.input), call.given)

    def stands(self, *, inner: bool) -> bool:
        """Whether the tool is still the one that the call was prepared for, and may still be called."""
        return self.toolset.permitted(self.call.name, inner=inner) is self.tool


def fill(value: JSON, schema: Mapping[str, JSON]) -> JSON:
    """Fill in the defaults of a schema's properties, those inside objects that are there too.

    Returns:
        The value itself when there is nothing to fill in.
    """
    properties = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(properties, dict):
        return value
    filled = value
    for name, each in properties.items():
        if not isinstance(each, dict):
            continue
        if name in value:
            inner = fill(value[name], each)
            if inner is not value[name]:
                filled = {**filled, name: inner}
        elif "default" in each:
            filled = {**filled, name: thaw(each["default"])}
    return filled
