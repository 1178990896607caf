"""`litany.toml`, read: what the operator decided for a workspace.

Every mistake in the file is one line: where (file and line), which key, what is wrong, what is accepted. A
file that is not understood whole is not used at all: a misspelt limit must not become the default.
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from litany_engine.configuration.regular_file import FileFault, read_regular
from litany_engine.configuration.settings import SETTINGS, Setting
from litany_engine.configuration.toml_lines import line_of
from litany_engine.door.budget_limits import Budgets
from litany_engine.mcp.server_config import SERVER_NAME, SERVER_NAME_SHAPE, ServerConfig
from litany_engine.near import near
from litany_engine.records.records import Durability
from litany_engine.rules.paths import PathPattern
from litany_engine.rules.rules import Action, Rule, Rules
from litany_engine.rules.rules_config import RuleFault, read_rules
from litany_runtime.limits import KIB, MIB, LimitError, Limits
from litany_runtime.program import FilePolicy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from litany_stubs.words import JSON

MAX_CONFIG_BYTES = 1024 * KIB
"""Largest file that is read: a configuration is written by hand, and a device file has no end."""

DEFAULT_ROLE = "default"
"""The role of an agent that was given none; it exists without being written down."""

MAXIMUM_DEADLINE_S = 600.0
DEFAULT_DEADLINE_S = 120.0
"""Seconds: enough for a build or a test run, and a program that nobody watches still ends."""

_ROLE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
ROLE_SHAPE = "1 to 64 ASCII letters, digits, _ or -"


class ConfigError(ValueError):
    """`litany.toml` is not usable; the message is one line: file, line, key, cause, what is accepted."""


@dataclass(frozen=True, slots=True)
class Role:
    """What agents of one role may do.

    Attributes:
        grant: names of the tools they may call; None: every tool; empty: none.
        files: what their programs may do in the worktree.
        deadline_s: seconds that no call of theirs runs beyond.
    """

    grant: tuple[str, ...] | None = None
    files: FilePolicy = FilePolicy.WRITE
    deadline_s: float = math.inf


@dataclass(frozen=True, slots=True)
class ControlConfig:
    """The operator's adjudicator.

    Attributes:
        command: the program and its arguments.
        deadline_s: seconds it may take to answer.
    """

    command: tuple[str, ...]
    deadline_s: float = 30.0


@dataclass(frozen=True, slots=True)
class HoldConfig:
    """What happens while a call waits for the operator.

    Attributes:
        patience_s: seconds until silence becomes a refusal.
        pause_clock: whether the deadlines of a program stand still meanwhile.
    """

    patience_s: float = 600.0
    pause_clock: bool = False


@dataclass(frozen=True, slots=True)
class Config:
    """A workspace's configuration.

    Attributes:
        isolation: `full` or `kernel`.
        durability: when records reach the device.
        modules: what programs may import besides the curated standard library.
        maximum_deadline_s: seconds that no call runs beyond.
        default_deadline_s: seconds for a call that asks for none.
        limits: what one program may use.
        output_head_bytes: what the model sees from the start of each stream.
        output_tail_bytes: what it sees from the end.
        records_bytes: what the records may take on disk.
        worktree_bytes: what an agent's worktree may take on disk.
        worktree_files: how many files and folders it may hold.
        keep_days: days for which records are kept.
        ignore: patterns of files that are not committed with an agent's results.
        descriptors: files and folders of tool descriptors, absolute.
        deferred: names of tools that are found by a search alone.
        suspended: names of tools that may not be called for now.
        control: the adjudicator, or None.
        rules: the operator's rules.
        budgets: what may be used in all.
        hold: what happens while a call waits for the operator.
        concurrency: inner calls of one agent at once.
        roles: by name; ask `role`, which knows the default one.
        mcp: the servers whose tools are offered, by name.
    """

    isolation: Literal["full", "kernel"] = "full"
    durability: Durability = "none"
    modules: tuple[str, ...] = ()
    maximum_deadline_s: float = MAXIMUM_DEADLINE_S
    default_deadline_s: float = DEFAULT_DEADLINE_S
    limits: Limits = field(default_factory=Limits)
    output_head_bytes: int = 2048
    output_tail_bytes: int = 2048
    records_bytes: int = 4 * 1024 * MIB
    worktree_bytes: int = 2 * 1024 * MIB
    worktree_files: int = 100_000
    keep_days: int = 30
    ignore: tuple[PathPattern, ...] = ()
    descriptors: tuple[Path, ...] = ()
    deferred: tuple[str, ...] = ()
    suspended: tuple[str, ...] = ()
    control: ControlConfig | None = None
    rules: Rules = field(default_factory=Rules)
    budgets: Budgets = field(default_factory=Budgets)
    hold: HoldConfig = field(default_factory=HoldConfig)
    concurrency: int = 8
    roles: Mapping[str, Role] = field(default_factory=lambda: MappingProxyType({}))
    mcp: Mapping[str, ServerConfig] = field(default_factory=lambda: MappingProxyType({}))

    def command_files(self, root: Path) -> tuple[Path, ...]:
        """The files that the control and the servers consist of, as far as their commands name them.

        Args:
            root: the folder in which they start.
        """
        commands = [each.command for each in (self.control, *self.mcp.values()) if each is not None]
        named = [each for command in commands for each in command if "\0" not in each]
        return tuple(path for each in named if (path := root / each).is_file())

    def role(self, name: str) -> Role:
        """The role of that name.

        Raises:
            ConfigError: it is not declared; lists those that are. An unknown role is never taken for one that
                may do everything.
        """
        found = self.roles.get(name)
        if found is None and name == DEFAULT_ROLE:
            return Role()
        if found is None:
            declared = ", ".join(sorted({DEFAULT_ROLE, *self.roles}))
            raise ConfigError(f"role {name} is not declared in litany.toml; declared: {declared}")
        return found


def load_config(path: Path) -> Config:
    """Read a workspace's `litany.toml`: relative paths in it start at its folder.

    A file that is not there is an error, for its rules and its control would be gone with it; an empty one is
    all defaults.

    Raises:
        ConfigError: it is missing, cannot be read or is not understood.
    """
    try:
        text = _read(path)
    except FileNotFoundError as error:
        what = "is a link that leads nowhere" if os.path.lexists(path) else "is missing"
        raise ConfigError(
            f"{path}: {what}; the operator's rules and control may have been in it: restore it, or, for the "
            "defaults and no control, make an empty file in its place"
        ) from error
    except FileFault as error:
        raise ConfigError(f"{path}: {error}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text") from error
    return parse_config(text, path)


def parse_config(text: str, path: Path) -> Config:
    """Understand the text of a `litany.toml`.

    Args:
        text: the file's content.
        path: where it came from: for messages, and for the paths in it.

    Raises:
        ConfigError: it is not understood.
    """
    try:
        document = tomllib.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{path}: not read: it is nested too deeply") from error
    except ValueError as error:
        raise ConfigError(_syntax_message(path, error)) from error
    return _Reader(text, path).config(document)


class _Reader:
    """Checks one document against the table of settings."""

    def __init__(self, text: str, path: Path) -> None:
        self.text = text
        self.path = path

    def config(self, document: dict[str, JSON]) -> Config:
        tables = sorted({each.table.split(".")[0] for each in SETTINGS if each.table})
        top = self.read(document, "", (), more=tables)
        deadline, limits, output, disk, transcript, tools, control, hold, budgets = (
            self.read(self.table(document, name), name, (name,)) for name in _TABLES
        )
        unmatched = Action(top.pop("unmatched", "allow"))
        return Config(
            **top,
            **self.deadline(deadline),
            **{f"output_{key}_bytes": value for key, value in output.items()},
            **{_DISK_FIELDS[key]: value for key, value in disk.items()},
            **transcript,
            limits=self.limits(limits),
            descriptors=tuple(self.path.parent / each for each in tools.get("descriptors", ())),
            deferred=tools.get("deferred", ()),
            suspended=tools.get("suspended", ()),
            control=self.control(control),
            rules=Rules(self.rules(document), unmatched),
            budgets=Budgets(**budgets),
            hold=HoldConfig(**{_HOLD_FIELDS[key]: value for key, value in hold.items()}),
            roles=self.roles(self.table(document, "roles")),
            mcp=self.servers(self.table(document, "mcp")),
        )

    def deadline(self, given: dict[str, Any]) -> dict[str, Any]:
        maximum = given.get("maximum", MAXIMUM_DEADLINE_S)
        default = given.get("default", min(DEFAULT_DEADLINE_S, maximum))
        if default > maximum:
            raise self.error(
                ("deadline", "default"),
                f"{default:g} s is longer than the maximum, {maximum:g} s; write a default that is not",
            )
        return {"maximum_deadline_s": maximum, "default_deadline_s": default}

    def limits(self, given: dict[str, Any]) -> Limits:
        try:
            return Limits(**{LIMIT_FIELDS[key]: value for key, value in given.items()})
        except LimitError as error:  # the settings' own readers should have refused it, with the line
            raise self.error(("limits",), str(error)) from error

    def control(self, given: dict[str, Any]) -> ControlConfig | None:
        if not given:
            return None
        if "command" not in given:
            raise self.error(
                ("control",), "has no command; write the program to ask and its arguments as a list"
            )
        command = self.command(given["command"])
        return ControlConfig(command, *([given["deadline"]] if "deadline" in given else []))

    def rules(self, document: dict[str, JSON]) -> tuple[Rule, ...]:
        try:
            return read_rules(document.get("rules", []), self.text, self.path)
        except RuleFault as fault:
            raise ConfigError(str(fault)) from fault

    def roles(self, document: dict[str, JSON]) -> Mapping[str, Role]:
        roles = {}
        for name in document:
            if not _ROLE_NAME.fullmatch(name):
                raise self.error(("roles", name), f"is no name for a role; use {ROLE_SHAPE}")
            given = self.read(self.table(document, name, ("roles",)), "roles.NAME", ("roles", name))
            files = FilePolicy(given.get("files", "write"))
            roles[name] = Role(given.get("grant"), files, given.get("deadline", math.inf))
        return MappingProxyType(roles)

    def servers(self, document: dict[str, JSON]) -> Mapping[str, ServerConfig]:
        servers = {}
        for name in document:
            if not SERVER_NAME.fullmatch(name):
                raise self.error(("mcp", name), f"is no name for a server; use {SERVER_NAME_SHAPE}")
            given = self.read(self.table(document, name, ("mcp",)), "mcp.NAME", ("mcp", name))
            if "command" not in given:
                raise self.error(
                    ("mcp", name), "has no command; write the server's program and its arguments as a list"
                )
            servers[name] = ServerConfig(
                name,
                self.command(given["command"]),
                env=given.get("env", ()),
                tools=given.get("tools"),
                timeout_s=given.get("timeout"),
                trust_hints=given.get("trust_hints", False),
            )
        return MappingProxyType(servers)

    def command(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        program, *arguments = argv
        return (str(self.path.parent / program) if "/" in program else program, *arguments)

    def table(self, document: dict[str, JSON], name: str, above: tuple[str, ...] = ()) -> dict[str, JSON]:
        value = document.get(name, {})
        if not isinstance(value, dict):
            raise self.error(
                (*above, name), f"is not a table; write [{'.'.join((*above, name))}] and its keys below"
            )
        return value

    def read(
        self, document: dict[str, JSON], table: str, above: tuple[str, ...], more: list[str] | None = None
    ) -> dict[str, Any]:
        settings: dict[str, Setting] = {each.key: each for each in SETTINGS if each.table == table}
        read = {}
        for key, value in document.items():
            if key in (more or ()):
                continue
            if key not in settings:
                accepted = [*settings, *(more or ())]
                hint = _misplaced(key, table) or near(key, accepted)
                raise self.error((*above, key), f"is no setting{hint}; accepted here: {', '.join(accepted)}")
            try:
                read[key] = settings[key].read(value)
            except ValueError as error:
                raise self.error((*above, key), str(error)) from error
        return read

    def error(self, key: tuple[str, ...], cause: str) -> ConfigError:
        line = line_of(self.text, key)
        where = f"{self.path}:{line}" if line else str(self.path)
        return ConfigError(f"{where}: {'.'.join(_shown_key(each) for each in key)}: {cause}")


_TABLES = ("deadline", "limits", "output", "disk", "transcript", "tools", "control", "hold", "budgets")
"""The tables that are read by themselves; the others have names or more than one of a kind in them."""

_DISK_FIELDS = {
    "records": "records_bytes",
    "worktree": "worktree_bytes",
    "worktree_files": "worktree_files",
    "keep_days": "keep_days",
}
_HOLD_FIELDS = {"patience": "patience_s", "pause_clock": "pause_clock"}

LIMIT_FIELDS = {each.removesuffix("_bytes").removesuffix("_s"): each for each in Limits.__dataclass_fields__}
"""From a key of [limits] to the field of `Limits`: the value has the unit, so the key does not repeat it."""


def _shown_key(key: str) -> str:
    text = key if re.fullmatch(r"[A-Za-z0-9_-]+", key, re.ASCII) else ascii(key)
    return text if len(text) <= 60 else text[:57] + "..."


def _read(path: Path) -> str:
    content = read_regular(path, MAX_CONFIG_BYTES)
    return content.decode("utf-8-sig" if content.startswith(b"\xef\xbb\xbf") else "utf-8")


def _syntax_message(path: Path, error: ValueError) -> str:
    found = re.search(r"\(at line (\d+), column (\d+)\)$", str(error))
    if found is None:
        return f"{path}: not TOML: {error}"
    cause = str(error)[: found.start()].strip()
    if re.match(r"Cannot declare \(.*\) twice", cause):
        table = ".".join(re.findall(r"'([^']*)'", cause))
        cause = f"[{table}] is there already; write what is under it under the first one"
    return f"{path}:{found[1]}: not TOML: {cause} (column {found[2]})"


def _misplaced(key: str, table: str) -> str:
    """Where a setting belongs that stands under another table: TOML has no end of one but the next."""
    homes = [each.table for each in SETTINGS if each.key == key and each.table != table]
    if not homes:
        return ""
    where = f"under [{homes[0]}]" if homes[0] else "before the file's first table"
    return f" of [{table}] (it belongs {where})" if table else f" by itself (it belongs {where})"
