"""The way of a call, as data: the gates it passes, in this order, and what happens to it behind them.

A gate is a small function from what is asked to pass, refuse or hold. It never changes the input, and looks
at nothing that a later gate decides: an ungranted call never consults the control, a refused one costs no
budget. A refusal names the gate, the cause and the legal shape, and never a way that would put the work
somewhere else. A hold is for the operator: a call of the model parks its window, a call of a program waits in
its program, and only a written answer lets it go on, through the gates that are left.

Absent and empty differ everywhere: no grant is every tool, an empty one is none; no budget is no limit, a
budget of 0 is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from litany_engine.configuration.units import show_size
from litany_engine.door.prepared import Prepared
from litany_engine.near import near
from litany_engine.records.ids import call_id_fault, inner_index
from litany_engine.rules.rules import Action, Subject
from litany_engine.tools.registry import SEARCH_TOOLS, State
from litany_stubs.names import spelt
from litany_stubs.words import Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from litany_engine.door.budgets import Reservation
    from litany_engine.door.callers import Caller
    from litany_engine.door.calls import ToolCall
    from litany_engine.records.disk_use import DiskUse
    from litany_engine.rules.rules import Rules, Ruling

MAX_NAMES = 40
"""Names listed in a refusal; more would bury the cause."""


@dataclass(frozen=True, slots=True)
class Hold:
    """A call waits for the operator before it runs.

    Attributes:
        reason: for the operator.
        coverable: an answer that the operator gave for good covers it.
        gate: which gate holds it; set by whoever takes the call through them.
    """

    reason: str
    coverable: bool = False
    gate: str = ""


class ControlFault(RuntimeError):  # noqa: N818
    """The operator's control gave no verdict: nothing runs, the call is faulted. Silence is not consent."""


@dataclass(slots=True)
class Admission:
    """What the gates look at.

    Attributes:
        call: the call as asked; its input is None when it is not JSON's.
        caller: who makes it.
        id_fault: why it could not have its id, or "".
        input_fault: where its input is not JSON's, or "".
        rules: the operator's rules.
        consult: asks the operator's control; None when there is none.
        disk: what records take on disk, and may; None when nobody counts.
        reserve: takes what the call costs from the budgets (`Accounts.reserve`); None when there are none.
        prepared: the call, decoded; made by the schema gate, for those after it.
        reservation: what the budget gate has taken.
        outside: real paths out of the agent's worktree that the operator lets this call reach, by an
            answer or by an allow rule that says `outside = true`.
    """

    call: ToolCall
    caller: Caller
    id_fault: str = ""
    input_fault: str = ""
    rules: Rules | None = None
    consult: Callable[[ToolCall, Caller], Awaitable[Verdict]] | None = None
    reserve: Callable[..., Refusal | Reservation] | None = None
    disk: DiskUse | None = None
    prepared: Prepared | None = None
    reservation: Reservation | None = None
    outside: tuple[str, ...] = ()

    @property
    def inner(self) -> bool:
        """Whether a program or a tool makes the call, and not the model."""
        return self.caller.parent is not None


Verdict = Refusal | Hold | None
"""A gate's answer; None passes the call on."""


class Gate(NamedTuple):
    """One row of the table.

    Attributes:
        name: as a refusal and a record name it.
        judge: the rule; the control's is awaited, the others answer at once.
        refuses: what it refuses or holds.
        why: why it stands where it stands.
    """

    name: str
    judge: Callable[[Admission], Verdict | Awaitable[Verdict]]
    refuses: str
    why: str


class Stage(NamedTuple):
    """What happens to a call behind the gates.

    Attributes:
        name: what it is called.
        does: what it does.
        why: why it stands where it stands.
    """

    name: str
    does: str
    why: str


def id_form_fault(offered: str, parent: str | None) -> str:
    """Why an offered id cannot stand, or "". Whether it is free, only the making of its record can tell.

    An outer call's may be any text: `record_name` makes a name of it. An inner id is its parent's with `-k`,
    so that a record can name no other call's program.
    """
    if parent is None and isinstance(offered, str) and offered:
        return ""
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
    parent = asked.caller.parent
    if parent is None or parent.lives:
        return None
    return ended_refusal(parent.id)


def ended_refusal(parent: str) -> Refusal:
    """What a call is told that is made in the name of a call that has ended."""
    return Refusal(
        "authority", f"call {parent!r} has ended, and its right to make calls with it; nothing was run."
    )


def judge_depth(asked: Admission) -> Verdict:
    """A tool that runs programs is called by the model alone: programs do not nest."""
    tool = asked.caller.toolset.tools.get(asked.call.name)
    if tool is None or not tool.composes or not asked.inner:
        return None
    return Refusal(
        "depth",
        f"{asked.call.name!r} runs programs, and programs do not nest: make the other program's calls here. "
        f"{_names(asked)}",
    )


def judge_grant(asked: Admission) -> Verdict:
    """An unknown name and an ungranted one are refused alike: neither may be called."""
    name = asked.call.name
    if asked.caller.toolset.granted_tool(name, inner=asked.inner) is not None:
        return None
    known = {tool.declaration.name for tool in asked.caller.toolset.all_permitted(inner=asked.inner)}
    if asked.inner:  # a program writes the names of functions
        known |= set(spelt(sorted(known))[0].values())
    shown = repr(name if len(name) <= 128 else name[:128] + "…")
    role = asked.caller.role
    guess = near(name[:128], sorted(known - {name}))
    return Refusal("grant", f"{shown} is not granted to role {role!r}{guess}. {_names(asked)}")


def judge_availability(asked: Admission) -> Verdict:
    """A tool may be there and granted, and not callable at this moment."""
    name = asked.call.name
    registry, state = asked.caller.toolset.registry, asked.caller.toolset.state(name)
    if state is State.ACTIVE:
        return None
    how = "is not loaded" if state is State.DEFERRED else "is suspended for now"
    if reason := registry.reason(name):
        how += f": {reason}"
    elif state is State.DEFERRED and asked.caller.toolset.permitted(SEARCH_TOOLS, inner=asked.inner):
        how += f"; {SEARCH_TOOLS} finds it by words and loads it"
    return Refusal("availability", f"{name!r} {how}. {_names(asked)}")


def judge_schema(asked: Admission) -> Verdict:
    """The input is what the tool's schema accepts; here it is decoded, once."""
    call, toolset = asked.call, asked.caller.toolset
    tool = toolset.tools[call.name]
    fault = asked.input_fault or toolset.check(tool).fault(call.input)
    if fault is not None:
        hint = tool.traits.hint
        return Refusal("schema", f"{fault} {hint}" if hint else fault)
    asked.prepared = Prepared(tool, toolset, call)
    return None


def subject_of(asked: Admission) -> Subject:
    """A prepared call as the rules see it."""
    prepared, caller = asked.prepared, asked.caller
    assert prepared is not None
    return Subject(prepared.tool, prepared.judged, caller.cwd, caller.workspace / "agents" / caller.agent)


def judge_rules(asked: Admission) -> Verdict:
    """The operator's rules: deny wins, ask holds."""
    prepared = asked.prepared
    assert prepared is not None  # the schema gate has let it through
    traits = prepared.tool.traits
    escapes = traits.escape_argument is not None and traits.asks_to_escape(prepared.judged)
    if not asked.rules and not escapes:
        return None
    action, ruling = Action.ALLOW, None
    if asked.rules:
        subject = subject_of(asked)
        ruling = asked.rules.judge(subject)
        action = ruling.action
        if action is Action.ALLOW and ruling.rule is not None and ruling.rule.outside:
            asked.outside = subject.outside
    name = asked.call.name
    if action is Action.DENY:
        return Refusal("rules", f"{name!r} is denied by a rule of the operator{_because(ruling)}.")
    if escapes:
        return Hold(f"{name!r} asks to leave its confinement")
    if action is Action.ASK:
        return Hold(f"a rule asks about {name!r}{_because(ruling)}", coverable=True)
    return None


def judge_control(asked: Admission) -> Verdict | Awaitable[Verdict]:
    """The operator's adjudicator; every fault of its fails closed."""
    if asked.consult is None:
        return None
    assert asked.prepared is not None
    return asked.consult(asked.prepared.review, asked.caller)


def judge_budget(asked: Admission) -> Verdict:
    """What the call costs is written down before it runs."""
    if asked.disk is not None and asked.disk.is_full():
        return Refusal("budget", _no_room(asked.disk))
    if asked.reserve is None:
        return None
    assert asked.prepared is not None
    taken = asked.reserve(asked.prepared.call, asked.caller)
    if isinstance(taken, Refusal):
        return taken
    asked.reservation = taken
    return None


# One row a gate, as a table is read; `docs/front-door.md` is made of it.
# fmt: off
GATES = (
    Gate("id", judge_id,
         "an id that is taken, and inside a call one that is not `<call>-<k>`",
         "first: without an id there is no folder to leave a record in; this refusal alone leaves none"),
    Gate("authority", judge_authority,
         "a call made in the name of a call that has ended",
         "before anything is told of what could be called: a dead call's right is none at all"),
    Gate("depth", judge_depth,
         "a program's or a tool's call of a tool that runs programs",
         "before the grant, so that it holds however wide the grant is"),
    Gate("grant", judge_grant,
         "a name that the agent's role is not granted, or that no tool has",
         "before all that asks or costs: what does not exist for a role is nobody's question"),
    Gate("availability", judge_availability,
         "a tool that is deferred or suspended",
         "behind the grant: only of its own tools is a role told in which state they are"),
    Gate("schema", judge_schema,
         "an input that the tool's schema does not accept, or that is not JSON's",
         "here the input is decoded, once; what follows sees that value, frozen"),
    Gate("rules", judge_rules,
         "what a deny rule may apply to; holds what an ask rule may apply to, or asks to be unconfined",
         "the operator's written word, before the question to the operator's program"),
    Gate("control", judge_control,
         "what the operator's control refuses; holds what it holds; its faults let nothing run",
         "the last that may say no by its own judgement; it sees what will run, under the id of its record"),
    Gate("budget", judge_budget,
         "a call that a budget has not enough left for; every call once records fill their part of the disk",
         "behind all that may refuse, so that only what runs is paid for; before it runs, so that no crash "
         "makes it free"),
)

STAGES = (
    Stage("executor", "runs a private copy of the input, in its turn, under its deadline; a failure that the "
          "tool calls retryable is tried again, each time paid for",
          "a call prepared for one version of a tool is not run by another"),
    Stage("screens", "look at the whole result: pass, rewrite, withhold, halt; one that raises withholds",
          "before the record and before anything is cut: what a screen takes out is nowhere"),
    Stage("record", "`output.json`, before the answer is given",
          "last: an answer that nobody could look up afterwards is not given"),
)
# fmt: on


def _no_room(disk: DiskUse) -> str:
    assert disk.limit is not None
    return (
        f"the records of this workspace take {show_size(disk.used())} on disk, and may take "
        f"{show_size(disk.limit)} ([disk] records in litany.toml). Nothing is run until the operator has "
        "made room (`litany prune`) or allows more."
    )


def _because(ruling: Ruling | None) -> str:
    if ruling is None or ruling.rule is None:
        return " (no rule covers it)" + (f": {ruling.doubt}" if ruling and ruling.doubt else "")
    place = ruling.rule.place.rpartition("/")[2]
    where = f" ({place})" if place else ""
    doubt = f"; it could not be told for certain what the call does: {ruling.doubt}" if ruling.doubt else ""
    return f"{where}{': ' if ruling.rule.reason else ''}{ruling.rule.reason}{doubt}"


def _names(asked: Admission) -> str:
    names = [tool.declaration.name for tool in asked.caller.toolset.all_permitted(inner=asked.inner)]
    if not names:
        return f"Role {asked.caller.role!r} is granted no tool."
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"Granted: {', '.join(names[:MAX_NAMES])}{more}."
