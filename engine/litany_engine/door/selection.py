"""Which of the calls in flight a stop means: an agent's with its descendants', one call, or all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litany_engine.records.ids import in_tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from litany_engine.door.in_flight import Running


class StopError(ValueError):
    """What was to be stopped is not clear, or cannot be reached; the message says what to do."""


def selected(running: Iterable[Running], selector: str | None) -> list[Running]:
    """The calls that a selector names; of a tree only the outermost, which end their inner calls.

    Args:
        running: the calls in flight.
        selector: an agent (its descendants are covered), a call's id, or a call's record
            (`steps/<agent>/<NNN>/tools/<id>`); None for everything.

    Raises:
        StopError: the id names calls of several agents or steps.
    """
    all_of_them = list(running)
    if selector is None:
        return _outermost(all_of_them)
    tree = [each for each in all_of_them if in_tree(each.caller.agent, selector)]
    if tree:
        return _outermost(tree)
    named = [each for each in all_of_them if each.is_named(selector)]
    if len(named) > 1:
        records = ", ".join(
            str(each.record.path.relative_to(each.caller.workspace)) for each in named if each.record
        )
        raise StopError(f"{selector!r} names several calls; give the record of the one you mean: {records}")
    return named


def _outermost(chosen: list[Running]) -> list[Running]:
    ids = {(each.caller.agent, each.call.id) for each in chosen}
    return [
        each
        for each in chosen
        if each.caller.parent is None or (each.caller.agent, each.caller.parent.id) not in ids
    ]
