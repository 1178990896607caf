from __future__ import annotations

import dataclasses
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litany_engine.configuration.config import (
    LIMIT_FIELDS,
    MAX_CONFIG_BYTES,
    Config,
    ConfigError,
    ControlConfig,
    Role,
    load_config,
    parse_config,
)
from litany_engine.configuration.settings import SETTINGS, default_toml
from litany_engine.mcp.server_config import ServerConfig
from litany_runtime.limits import Limits
from litany_runtime.program import FilePolicy


@pytest.fixture
def file(tmp_path: Path) -> Any:
    return tmp_path / "litany.toml"


def read(file: Path, text: str) -> Any:
    return parse_config(text, file)


def complaint(file: Path, text: str) -> Any:
    with pytest.raises(ConfigError) as caught:
        parse_config(text, file)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 600
    assert message.startswith(str(file))
    return message.removeprefix(str(file))


def uncommented() -> Any:
    """The default file with every `# key = value` line live."""
    lines = default_toml().splitlines()
    return "\n".join(line.removeprefix("# ") if line.startswith("# ") else line for line in lines)


def test_the_file_that_init_writes_changes_nothing(file: Path) -> None:
    assert read(file, default_toml()) == Config()


def test_the_defaults_it_shows_are_the_defaults_that_hold(file: Path) -> None:
    without = tuple(f"{each.key} =" for each in SETTINGS if each.default is None)
    live = [
        line for line in uncommented().splitlines() if not line.startswith((*without, "[[rules]]", "tool = "))
    ]
    text = "\n".join(live).replace('deadline = "30s"', "")
    config = read(file, text.replace("[mcp.search]", '[mcp.search]\ncommand = ["x"]'))
    assert dataclasses.replace(config, roles={}, mcp={}) == Config()
    assert config.mcp == {"search": ServerConfig("search", ("x",))}
    assert config.roles == {"default": Role()}


def test_every_setting_and_example_it_shows_is_accepted(file: Path) -> None:
    config = read(file, uncommented())
    assert config.control == ControlConfig((str(file.parent / "control.py"),), 30.0)
    assert "bash" in config.role("default").grant


def test_every_setting_stands_in_the_file_with_its_meaning() -> None:
    document = tomllib.loads(uncommented())
    for each in SETTINGS:
        table = document
        name = "search" if each.table == "mcp.NAME" else "default"
        for part in filter(None, each.table.replace("NAME", name).split(".")):
            table = table[part]
            table = table[0] if isinstance(table, list) else table
        assert each.key in table
        assert len(each.meaning) > 15


def test_every_limit_of_a_program_can_be_set(file: Path) -> None:
    keys = {each.key for each in SETTINGS if each.table == "limits"}
    assert keys == set(LIMIT_FIELDS)
    assert set(LIMIT_FIELDS.values()) == {each.name for each in dataclasses.fields(Limits)}


def test_each_default_limit_in_the_table_is_the_programs_own() -> None:
    for each in SETTINGS:
        if each.table == "limits":
            value = each.read(tomllib.loads(f"x = {each.default}")["x"])
            assert value == getattr(Limits(), LIMIT_FIELDS[each.key]), each.key


def test_settings_are_read(file: Path) -> None:
    config = read(
        file,
        """
        isolation = "kernel"
        durability = "call"
        modules = ["numpy", "a.b"]
        deadline = {maximum = "1h", default = "5m"}
        output.head = "0 B"
        output.tail = "4 KiB"
        [limits]
        memory = "512 MiB"
        cpu = "1m"
        calls = 0
        grace = "0s"
        [tools]
        descriptors = ["tools", "/opt/tools/x.json"]
        [control]
        command = ["control", "--strict"]
        deadline = "500ms"
        [roles.reader]
        grant = ["read_file"]
        files = "read"
        [roles.mute]
        grant = []
        files = "none"
        deadline = "30s"
        [roles.free]
        """,
    )
    assert (config.isolation, config.durability, config.modules) == ("kernel", "call", ("numpy", "a.b"))
    assert (config.maximum_deadline_s, config.default_deadline_s) == (3600, 300)
    assert (config.output_head_bytes, config.output_tail_bytes) == (0, 4096)
    assert config.limits == Limits(memory_bytes=512 * 2**20, cpu_s=60, calls=0, grace_s=0.0)
    assert config.descriptors == (file.parent / "tools", file.parent.__class__("/opt/tools/x.json"))
    assert config.control == ControlConfig(("control", "--strict"), 0.5)
    assert config.role("reader") == Role(("read_file",), FilePolicy.READ)
    assert config.role("mute") == Role((), FilePolicy.NONE, 30.0)


def test_an_absent_grant_and_an_empty_one_differ(file: Path) -> None:
    config = read(file, "[roles.free]\n[roles.mute]\ngrant = []")
    assert config.role("free").grant is None
    assert config.role("mute").grant == ()


def test_an_undeclared_role_is_refused_and_not_taken_for_a_free_one(file: Path) -> None:
    config = read(file, "[roles.reader]\ngrant = []")
    with pytest.raises(ConfigError, match=r"wizard is not declared.*declared: default, reader"):
        config.role("wizard")
    assert config.role("default") == Role()


def test_a_maximum_below_the_default_deadline_lowers_it(file: Path) -> None:
    assert read(file, '[deadline]\nmaximum = "10s"').default_deadline_s == 10


MISTAKES = [
    ('isolation = "none"', 1, "isolation", '"full" or "kernel"'),
    ('isolation = "policy"', 1, "isolation", "policy alone does not confine"),
    ("isolation = 3", 1, "isolation", '"full" or "kernel"'),
    ('isolatoin = "full"', 1, "isolatoin", "did you mean 'isolation'?"),
    ('\ndurability = "always"', 2, "durability", '"none" or "call"'),
    ('modules = "numpy"', 1, "modules", "list of module names"),
    ('modules = ["os;"]', 1, "modules", "list of module names"),
    ("[deadline]\nmaximum = 30", 2, "deadline.maximum", "30 has no unit"),
    ('[deadline]\n\ndefault = "1d"', 3, "deadline.default", '"30s"'),
    ('[deadline]\ndefault = "0s"', 2, "deadline.default", "no time at all"),
    ('[deadline]\ndefault = "1h"', 2, "deadline.default", "longer than the maximum, 600 s"),
    ('deadline.default = "1h"', 1, "deadline.default", "longer than the maximum"),
    ('[limits]\nmemory = "5 XB"', 2, "limits.memory", '"256 MiB"'),
    ('[limits]\nmemory = "0 B"', 2, "limits.memory", "more than zero"),
    ("[limits]\nmemory_bytes = 5", 2, "limits.memory_bytes", "did you mean 'memory'?"),
    ("[limits]\nthreads = 0", 2, "limits.threads", "1 or more"),
    ("[limits]\nthreads = true", 2, "limits.threads", "whole number"),
    ("[limits]\ncalls = 1.5", 2, "limits.calls", "0 or more"),
    ("[limits]\ncalls = 9999999999999999999", 2, "limits.calls", "0 or more"),
    ('[limits]\ncpu = "1.5s"', 2, "limits.cpu", "whole number of seconds"),
    ("limits = 3", 1, "limits", "write [limits]"),
    ("[[limits]]\nmemory = 1", 1, "limits", "write [limits]"),
    ('[output]\nhead = "-1 B"', 2, "output.head", '"4096 B"'),
    ('[transcript]\nignore = "x"', 2, "transcript.ignore", "list of path patterns"),
    ('[transcript]\nignore = ["/etc"]', 2, "transcript.ignore", 'such as "etc"'),
    ('[transcript]\nignore = ["a**"]', 2, "transcript.ignore", "'**' stands as a name of its own"),
    ('[transcript]\nignore = ["../x"]', 2, "transcript.ignore", "no '.' and no '..'"),
    ('[tools]\ndescriptors = "tools"', 2, "tools.descriptors", "list of paths"),
    ('[tools]\ndescriptors = ["a", "a"]', 2, "tools.descriptors", "twice"),
    ('[tools]\ndescriptors = ["a\\u0000"]', 2, "tools.descriptors", "list of paths"),
    ('[control]\ncommand = "control.py -x"', 2, "control.command", "list of a program and its arguments"),
    ("[control]\ncommand = []", 2, "control.command", "list of a program"),
    ('[control]\ncommand = [""]', 2, "control.command", "list of a program"),
    ('[control]\ndeadline = "1s"', 1, "control", "no command"),
    ("[roles.reader]\ngrant = [1]", 2, "roles.reader.grant", "list of tool names"),
    ('[roles.reader]\ngrant = "bash"', 2, "roles.reader.grant", "list of tool names"),
    ('[roles.reader]\nfiles = "all"', 2, "roles.reader.files", '"none" or "read" or "write"'),
    ("[roles.reader]\ngrants = []", 2, "roles.reader.grants", "did you mean 'grant'?"),
    ('[roles."a b"]', 1, "roles.'a b'", "no name for a role"),
    ("roles = { reader = { grant = 1 } }", 1, "roles.reader.grant", "list of tool names"),
    ("roles.reader = 1", 1, "roles.reader", "write [roles.reader]"),
    ("[rule]\ndeny = []", 1, "rule", "accepted here"),
    ("[rules]\ndeny = []", 1, "rules", "[[rules]]"),
]


@pytest.mark.parametrize(("text", "line", "key", "accepted"), MISTAKES)
def test_a_mistake_is_one_line_with_its_place_its_key_and_what_is_accepted(
    file: Path, text: str, line: int, key: str, accepted: str
) -> None:
    message = complaint(file, text)
    assert message.startswith(f":{line}: {key}: ")
    assert accepted in message


@pytest.mark.parametrize(
    ("text", "line"), [("x = ", None), ("\n\n[limits\n", 3), ("a = 1\na = 2\n", 2), ('x = "\\q"', 1)]
)
def test_what_is_not_toml_is_said_with_its_line(file: Path, text: str, line: int) -> None:
    message = complaint(file, text)
    assert "not TOML" in message
    if line:
        assert message.startswith(f":{line}: ")


def test_a_file_nested_without_end_is_refused(file: Path) -> None:
    assert "nested too deeply" in complaint(file, "x = " + "[" * 100_000)


def test_a_number_without_end_is_refused(file: Path) -> None:
    complaint(file, "x = " + "9" * 10_000)


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        (
            "[tools]\nsuspended = []\n[tools]\ndeferred = []",
            3,
            "[tools] is there already; write what is under it",
        ),
        ("[roles.a]\n[roles.a]", 2, "[roles.a] is there already"),
        (
            '[budgets]\nunmatched = "ask"',
            2,
            "no setting of [budgets] (it belongs before the file's first table)",
        ),
        ('[deadline]\npatience = "3s"', 2, "no setting of [deadline] (it belongs under [hold])"),
        ('patience = "3s"', 1, "no setting by itself (it belongs under [hold])"),
    ],
)
def test_what_was_appended_in_the_wrong_place_is_told_the_right_one(
    file: Path, text: str, line: int, told: str
) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(file)
    assert str(caught.value).startswith(f"{file}:{line}: ")
    assert told in str(caught.value)


def test_an_empty_file_is_all_defaults(file: Path) -> None:
    file.touch()
    assert load_config(file) == Config()


def test_a_file_that_was_taken_away_is_not_taken_for_no_rules(file: Path) -> None:
    with pytest.raises(ConfigError, match=f"{file}: is missing; the operator's rules and control"):
        load_config(file)


def unreadable(file: Path, make: Any) -> Any:
    make()
    with pytest.raises(ConfigError) as caught:
        load_config(file)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_that_is_not_text_is_refused_with_the_line(file: Path) -> None:
    message = unreadable(file, lambda: file.write_bytes(b'isolation = "full"\n# \xff\n'))
    assert message == f"{file}:2: not UTF-8 text"


def test_a_file_too_large_to_be_a_configuration_is_refused(file: Path) -> None:
    assert "larger than 1024 KiB" in unreadable(file, lambda: file.write_bytes(b"#" * (MAX_CONFIG_BYTES + 1)))


def test_a_folder_or_pipe_in_place_of_the_file_is_refused_at_once(file: Path) -> None:
    assert "not a regular file" in unreadable(file, lambda: os.mkfifo(file))
    file.unlink()
    unreadable(file, file.mkdir)


def test_a_byte_order_mark_is_tolerated(file: Path) -> None:
    file.write_bytes(b'\xef\xbb\xbfisolation = "kernel"\n')
    assert load_config(file).isolation == "kernel"


TOML_VALUES = st.one_of(
    st.booleans().map(lambda value: str(value).lower()),
    st.integers(-5, 2**65).map(str),
    st.sampled_from(
        [
            '"30s"',
            '"64 KiB"',
            '"full"',
            '""',
            "[]",
            '["a"]',
            "[[]]",
            "{}",
            "{a=1}",
            "nan",
            "1979-05-27",
            "'\\'",
        ]
    ),
)
KEYS = st.sampled_from(
    [f"{each.table}.{each.key}".strip(".") for each in SETTINGS] + ["limits", "roles", "x", "roles.a", "''"]
)


@settings(max_examples=300)
@given(st.lists(st.tuples(KEYS, TOML_VALUES), max_size=4, unique_by=lambda each: each[0]))
def test_any_file_is_a_configuration_or_one_clear_line(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    file = tmp_path_factory.getbasetemp() / "litany.toml"
    text = "\n".join(f"{key} = {value}" for key, value in pairs)
    try:
        config = parse_config(text, file)
    except ConfigError:
        complaint(file, text)
    else:
        assert config.default_deadline_s <= config.maximum_deadline_s


def test_a_link_that_leads_nowhere_is_told_as_one(file: Path) -> None:
    file.symlink_to("moved.toml")
    with pytest.raises(ConfigError, match=f"{file}: is a link that leads nowhere"):
        load_config(file)
