"""The operator's rules: ordered allow, deny and ask, by tool, argument, command line and path.

    [[rules]]
    action = "deny"
    tool = "bash"
    command = "git push ** --force **"
    reason = "history is shared"

How a call is judged:

1. Every deny rule is looked at first, wherever it stands: one that applies, or that may apply to what cannot
   be told for certain, refuses. Nothing outranks it, an operator's earlier answer neither.
2. Else the first allow or ask rule that applies decides. An allow rule applies to what is certain only. A
   command line is judged command by command: one that asks makes the call ask, and the call is allowed when
   every command is.
3. Else `unmatched` decides.

Where a rule has several conditions, all must hold. A rule that cannot be read is a mistake in `litany.toml`,
found when it is loaded: a deny rule that is skipped would deny nothing, in silence.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from litany_engine.rules.command_line import CommandLine, decompose
from litany_engine.rules.globs import glob
from litany_engine.rules.paths import Place, locate

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from litany_engine.door.calls import Tool
    from litany_engine.rules.command_patterns import CommandPattern
    from litany_engine.rules.paths import PathPattern
    from litany_engine.rules.shell_reader import Command
    from litany_stubs.words import JSON


class Action(StrEnum):
    """What a rule decides."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


class RulesError(ValueError):
    """A rule that can never apply to the tool it names; the message says where it stands and why."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; a condition that is None always holds.

    Attributes:
        action: what it decides.
        tool: a glob over tool names.
        arguments: globs over arguments, by their dotted path in the input.
        command: a pattern over the commands of a command line.
        path: a pattern over where the call's paths lead.
        outside: whether the call's paths lead out of the agent's worktree.
        traits: what the tool says of the call; each must hold.
        reason: for whoever is refused or asked.
        place: where it stands, `litany.toml:12`.
    """

    action: Action
    tool: str = "*"
    arguments: tuple[tuple[str, str], ...] = ()
    command: CommandPattern | None = None
    path: PathPattern | None = None
    outside: bool | None = None
    traits: tuple[str, ...] = ()
    reason: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the rules decide of one call.

    Attributes:
        action: the decision.
        rule: the rule that made it; None when no rule applied.
        doubt: why what the call does could not be told for certain; "" when it could.
    """

    action: Action
    rule: Rule | None = None
    doubt: str = ""


class Subject:
    """A call as the rules see it; what is asked for is worked out once, and only then.

    Args:
        tool: the tool that is called.
        arguments: the checked input, with the schema's default where an argument was left out; not changed.
        cwd: the agent's working directory.
        root: the agent's worktree.
    """

    def __init__(self, tool: Tool, arguments: JSON, cwd: Path, root: Path) -> None:
        self.tool = tool
        self.arguments = arguments
        self._cwd = cwd
        self._root = root

    @cached_property
    def line(self) -> CommandLine | None:
        """The command line that the call runs, taken apart; None when the tool takes none."""
        name = self.tool.traits.command_argument
        if name is None:
            return None
        given = self.arguments.get(name, "")
        return decompose(given) if isinstance(given, str) else CommandLine(doubt="it is no text", opaque=True)

    @cached_property
    def places(self) -> tuple[Place | None, ...]:
        """Where the call's paths lead, None for one that cannot be told."""
        paths = self.tool.traits.paths(self.arguments)
        return (None,) if paths is None else tuple(locate(each, self._cwd, self._root) for each in paths)

    @property
    def outside(self) -> tuple[str, ...]:
        """The real paths of the call that lead out of the worktree, of those that can be told."""
        found = {f"/{'/'.join(each.absolute)}" for each in self.places if each and each.inside is None}
        return tuple(sorted(found))


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a workspace, in the order of the file.

    Attributes:
        rules: the rules.
        unmatched: what becomes of a call that no rule applies to.
    """

    rules: tuple[Rule, ...] = ()
    unmatched: Action = Action.ALLOW

    def __bool__(self) -> bool:
        return bool(self.rules) or self.unmatched is not Action.ALLOW

    def judge(self, subject: Subject) -> Ruling:
        """Judge one call."""
        about = [rule for rule in self.rules if glob(rule.tool, subject.tool.declaration.name)]
        for rule in about:
            if rule.action is Action.DENY and _may_apply(rule, subject):
                return Ruling(Action.DENY, rule, _doubt(rule, subject))
        line = subject.line
        if line is None or line.opaque or not line.commands:
            return self._first(about, subject, None)
        rulings = [self._first(about, subject, command) for command in line.commands]
        return max(rulings, key=lambda each: _WEIGHT[each.action])

    def check(self, tools: Iterable[Tool]) -> None:
        """Look for rules that name a tool and ask of it what it does not have.

        Raises:
            RulesError: there is one; it would never apply.
        """
        for tool in tools:
            name, traits = tool.declaration.name, tool.traits
            for rule in self.rules:
                if rule.tool != name:
                    continue
                if rule.command is not None and traits.command_argument is None:
                    raise RulesError(
                        f"{rule.place}: rules: command: {name} takes no command line; name a tool that does"
                    )
                if missing := [each for each in rule.traits if not traits.may_have(each)]:
                    raise RulesError(
                        f"{rule.place}: rules: traits: {name} is never {missing[0]}, as it says "
                        "of itself; name a tool that is, or leave `tool` out"
                    )
                if (rule.path is not None or rule.outside is not None) and not traits.has_paths:
                    raise RulesError(
                        f"{rule.place}: rules: path: {name} has no argument that is a path; write a "
                        "condition on `arguments`, or name a tool that takes paths"
                    )

    def _first(self, about: list[Rule], subject: Subject, command: Command | None) -> Ruling:
        for rule in about:
            if rule.action is Action.ASK and _may_apply(rule, subject, command):
                return Ruling(Action.ASK, rule, _doubt(rule, subject))
            if rule.action is Action.ALLOW and _surely_applies(rule, subject, command):
                return Ruling(Action.ALLOW, rule)
        return Ruling(self.unmatched, None, subject.line.doubt if subject.line else "")


_WEIGHT = {Action.ALLOW: 0, Action.ASK: 1, Action.DENY: 2}


def _surely_applies(rule: Rule, subject: Subject, command: Command | None) -> bool:
    if not all(subject.tool.traits.has(each, subject.arguments) for each in rule.traits):
        return False
    if rule.command is not None and (
        subject.line is None or subject.line.doubt or command is None or not rule.command.matches(command)
    ):
        return False
    if rule.path is not None or rule.outside is not None:
        places = subject.places
        if not places or not all(each is not None and _is_there(rule, each) for each in places):
            return False
    return _arguments_match(rule, subject.arguments)


def _may_apply(rule: Rule, subject: Subject, command: Command | None = None) -> bool:
    if any(subject.tool.traits.has(each, subject.arguments) is False for each in rule.traits):
        return False
    line = subject.line
    if rule.command is not None:
        if line is None:
            return False
        # Of one command is asked whether it may be meant, and of what it might run: that is the whole line's.
        part = line if command is None else CommandLine((command,), line.perhaps, opaque=line.opaque)
        if not rule.command.may_match(part):
            return False
    if rule.path is not None or rule.outside is not None:
        places = subject.places
        if not any(each is None or _is_there(rule, each) for each in places):
            return False
    return _arguments_match(rule, subject.arguments)


def _is_there(rule: Rule, place: Place) -> bool:
    if rule.outside is not None and rule.outside != (place.inside is None):
        return False
    return rule.path is None or rule.path.matches(place)


def _arguments_match(rule: Rule, arguments: JSON) -> bool:
    return all(_argument_matches(arguments, name, pattern) for name, pattern in rule.arguments)


def _argument_matches(arguments: JSON, name: str, pattern: str) -> bool:
    found: Any = arguments
    if isinstance(arguments, dict) and name in arguments:
        found = arguments[name]
    else:
        for part in name.split("."):
            if not isinstance(found, dict) or part not in found:
                return False
            found = found[part]
    return glob(pattern, found if isinstance(found, str) else json.dumps(found, ensure_ascii=False))


def _doubt(rule: Rule, subject: Subject) -> str:
    if rule.command is not None and subject.line is not None and subject.line.doubt:
        return subject.line.doubt
    if (rule.path is not None or rule.outside is not None) and None in subject.places:
        return "where its path leads cannot be told"
    untold = [each for each in rule.traits if subject.tool.traits.has(each, subject.arguments) is None]
    return f"whether it is {untold[0]} cannot be told" if untold else ""
