"""The gates, as data: each a small function from what is asked to pass, refuse or hold, in the table's order.

| gate | refuses | record |
|---|---|---|
| id | an id of the wrong form, or one that is taken | none: there is no folder to put it in |
| authority | a call made in the name of a call that has ended | yes |
| depth | a program's (or a tool's) call of a tool that runs programs | yes |
| grant | a name that the agent's role is not granted, or that does not exist | yes |
| schema | an input that the tool's schema does not accept | yes |
| control | what the operator's adjudicator refuses or holds | yes |

Then the executor runs. A gate never changes the input, and no gate looks at what a later one decides: an
ungranted call never consults the control. A refusal names the gate, the cause and the legal shape, and never
a way that would put the work somewhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from litany_engine.arguments import near
from litany_engine.ids import call_id_fault, inner_index
from litany_stubs.words import Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from litany_engine.calls import ToolCall
    from litany_engine.toolset import Toolset

MAX_NAMES = 40
"""Names listed in a refusal; more would bury the cause."""


@dataclass(frozen=True, slots=True)
class Hold:
    """The operator's control wants to be asked again before this call runs.

    Attributes:
        reason: for the operator, in the control's words.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Admission:
    """What the gates look at.

    Attributes:
        call: the call as asked, under the id it was given.
        parent: the id of the call it belongs to; None for an outer call.
        parent_lives: False once the parent has ended.
        id_fault: why the offered id could not be claimed, or "".
        input_fault: why the input is not JSON's, or "".
        role: the caller's role, as refusals name it.
        toolset: the caller's tools and grant.
        consult: asks the operator's control; None when there is none.
    """

    call: ToolCall
    parent: str | None
    parent_lives: bool
    id_fault: str
    input_fault: str
    role: str
    toolset: Toolset
    consult: Callable[[], Awaitable[Verdict]] | None = None


Verdict = Refusal | Hold | None
"""A gate's answer; None passes the call on."""


class Gate(NamedTuple):
    """One row of the table.

    Attributes:
        name: as a refusal and a record name it.
        judge: the rule; the control's is awaited, the others answer at once.
    """

    name: str
    judge: Callable[[Admission], Verdict | Awaitable[Verdict]]


def id_form_fault(offered: str, parent: str | None) -> str:
    """Why an offered id cannot stand, or "". Whether it is free, only the making of its record can tell.

    An inner id is its parent's with `-k`, so that a record can name no other call's program.
    """
    if fault := call_id_fault(offered):
        return fault
    if parent is None or inner_index(parent, offered) is not None:
        return ""
    return (
        f"an id offered for a call inside {parent!r} is {parent + '-k'!r} with k = 1, 2, …, not {offered!r}"
    )


def judge_id(asked: Admission) -> Verdict:
    """The id was claimed, or says why it could not be."""
    if not asked.id_fault:
        return None
    return Refusal("id", f"{asked.id_fault}. Leave the id out and the door mints one.")


def judge_authority(asked: Admission) -> Verdict:
    """A call's right to make calls ends with it."""
    if asked.parent_lives:
        return None
    return Refusal(
        "authority",
        f"call {asked.parent!r} has ended, and its right to make calls with it; nothing was run.",
    )


def judge_depth(asked: Admission) -> Verdict:
    """A tool that runs programs is called by the model alone: programs do not nest."""
    tool = asked.toolset.tools.get(asked.call.name)
    if tool is None or not tool.composes or asked.parent is None:
        return None
    return Refusal(
        "depth",
        f"{asked.call.name!r} runs programs, and programs do not nest: make the other program's calls here. "
        f"{_names(asked)}",
    )


def judge_grant(asked: Admission) -> Verdict:
    """An unknown name and an ungranted one are refused alike: neither may be called."""
    name = asked.call.name
    if asked.toolset.permitted(name, inner=asked.parent is not None) is not None:
        return None
    known = (tool.declaration.name for tool in asked.toolset.all_permitted(inner=asked.parent is not None))
    shown = repr(name if len(name) <= 128 else name[:128] + "…")
    return Refusal(
        "grant", f"{shown} is not granted to role {asked.role!r}{near(name[:128], known)}. {_names(asked)}"
    )


def judge_schema(asked: Admission) -> Verdict:
    """The input is what the tool's schema accepts."""
    tool = asked.toolset.tools[asked.call.name]
    fault = asked.input_fault or asked.toolset.check(tool).fault(asked.call.input)
    return None if fault is None else Refusal("schema", fault)


def judge_control(asked: Admission) -> Verdict | Awaitable[Verdict]:
    """The operator's adjudicator has the last word."""
    return None if asked.consult is None else asked.consult()


GATES = (
    Gate("id", judge_id),
    Gate("authority", judge_authority),
    Gate("depth", judge_depth),
    Gate("grant", judge_grant),
    Gate("schema", judge_schema),
    Gate("control", judge_control),
)


def _names(asked: Admission) -> str:
    names = [tool.declaration.name for tool in asked.toolset.all_permitted(inner=asked.parent is not None)]
    if not names:
        return f"Role {asked.role!r} is granted no tool."
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"Granted: {', '.join(names[:MAX_NAMES])}{more}."
