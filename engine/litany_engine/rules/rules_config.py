"""`[[rules]]` of `litany.toml`, read: each entry becomes a rule, or the file is refused with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from litany_engine.configuration.setting_values import one_of, shown
from litany_engine.configuration.toml_lines import line_of
from litany_engine.near import near
from litany_engine.rules.command_patterns import CommandPattern
from litany_engine.rules.paths import PathPattern
from litany_engine.rules.rules import Action, Rule
from litany_engine.tools.definitions import NAMED_TRAITS

if TYPE_CHECKING:
    from pathlib import Path

    from litany_stubs.words import JSON

MAX_RULES = 1000
"""Rules in one file: each call looks at every one."""


class RuleFault(ValueError):  # noqa: N818 - the reader of the file makes the error of it
    """An entry that is no rule.

    Attributes:
        place: file and line.
        key: the key at fault.
    """

    def __init__(self, place: str, key: str, cause: str) -> None:
        super().__init__(f"{place}: {key}: {cause}")


def read_rules(document: JSON, text: str, path: Path) -> tuple[Rule, ...]:
    """Read the entries.

    Args:
        document: the value of `rules`.
        text: the file's text, for lines.
        path: the file.

    Raises:
        RuleFault: an entry is no rule.
    """
    if not isinstance(document, list) or not all(isinstance(each, dict) for each in document):
        raise RuleFault(
            _place(text, path, 0, ()), "rules", "is not a list of tables; write [[rules]] for each rule"
        )
    if len(document) > MAX_RULES:
        raise RuleFault(_place(text, path, 0, ()), "rules", f"has more than {MAX_RULES} entries")
    return tuple(_Entry(entry, index, text, path).rule() for index, entry in enumerate(document))


class _Entry:
    def __init__(self, entry: dict[str, Any], index: int, text: str, path: Path) -> None:
        self.entry = entry
        self.index = index
        self.text = text
        self.path = path

    def rule(self) -> Rule:
        for key in self.entry:
            if key not in KEYS:
                self.fault(key, f"is no key of a rule{near(key, KEYS)}; accepted: {', '.join(KEYS)}")
        if "action" not in self.entry:
            self.fault("action", 'is missing; write "allow", "deny" or "ask"')
        try:
            action = Action(one_of("allow", "deny", "ask")(self.entry["action"]))
        except ValueError as error:
            self.fault("action", str(error))
        return Rule(
            action=action,
            tool=self.words("tool") or "*",
            arguments=self.arguments(),
            command=self.pattern("command", CommandPattern.parse),
            path=self.pattern("path", PathPattern.parse),
            outside=self.outside(),
            traits=self.traits(),
            reason=self.words("reason") or "",
            place=_place(self.text, self.path, self.index, ()),
        )

    def words(self, key: str) -> str | None:
        value = self.entry.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self.fault(key, f"{shown(value)} is not accepted; write a text that is not empty")
        return value

    def pattern(self, key: str, parse: Any) -> Any:
        text = self.words(key)
        if text is None:
            return None
        try:
            return parse(text)
        except ValueError as error:
            self.fault(key, str(error))

    def outside(self) -> bool | None:
        value = self.entry.get("outside")
        if value is not None and not isinstance(value, bool):
            self.fault("outside", f"{shown(value)} is not accepted; write true or false")
        return value

    def traits(self) -> tuple[str, ...]:
        value = self.entry.get("traits", [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            self.fault("traits", f'{shown(value)} is not accepted; write a list, ["destructive"]')
        if "traits" in self.entry and not value:
            self.fault("traits", "is empty, so it asks for nothing; leave it out, or name one")
        for each in value:
            if each not in NAMED_TRAITS:
                self.fault(
                    "traits",
                    f"{shown(each)} is none{near(each, NAMED_TRAITS)}; there are {', '.join(NAMED_TRAITS)}",
                )
        return tuple(value)

    def arguments(self) -> tuple[tuple[str, str], ...]:
        value = self.entry.get("arguments", {})
        if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
            self.fault("arguments", 'is not a table of patterns; write { branch = "release/*" }')
        return tuple(value.items())

    def fault(self, key: str, cause: str) -> NoReturn:
        raise RuleFault(_place(self.text, self.path, self.index, (key,)), f"rules: {key}", cause)


KEYS = ("action", "tool", "arguments", "command", "path", "outside", "traits", "reason")


def _place(text: str, path: Path, index: int, key: tuple[str, ...]) -> str:
    line = line_of(text, ("rules", *key), index)
    return f"{path}:{line}" if line else str(path)
