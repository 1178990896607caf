"""`bash`: a fresh shell for each call, and what is not there for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from litany_engine.door.calls import Capture
from litany_engine.tools.builtins import BASH, BUILTIN_TOOLS
from litany_engine.tools.builtins import bash as bash_module
from litany_runtime.outcome import Outcome
from tool_kit import context_in, processes_with, run_tool, unique_sleep, worktree_in


def bash(workspace: Path, command: Any, **more: Any) -> Capture:
    return run_tool(BASH, {"command": command, **more}, context_in(workspace))


def test_a_command_line_is_run_in_the_agents_directory(tmp_path: Path) -> None:
    capture = bash(tmp_path, "pwd; echo err >&2; exit 5")
    assert capture.stdout.decode().strip() == str(worktree_in(tmp_path))
    assert (capture.stderr, capture.exit_code, capture.outcome) == (b"err\n", 5, None)


def test_it_is_a_bash_where_there_is_one(tmp_path: Path) -> None:
    assert bash(tmp_path, "a=(x y); [[ ${a[1]} == y ]] && echo arrays").stdout == b"arrays\n"


def test_without_a_bash_it_is_the_systems_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    bash_module._shell.cache_clear()
    try:
        assert bash(tmp_path, "echo $0").stdout == b"/bin/sh\n"
    finally:
        monkeypatch.undo()
        bash_module._shell.cache_clear()


def test_nothing_can_be_typed(tmp_path: Path) -> None:
    assert bash(tmp_path, "cat; read x || echo end").stdout == b"end\n"


def test_nothing_of_the_shell_outlives_the_call(tmp_path: Path) -> None:
    token = unique_sleep()
    bash(tmp_path, f"export A=1; cd /; sleep {token} & disown")
    assert bash(tmp_path, "echo ${A-none}; pwd").stdout.decode().split() == [
        "none",
        str(worktree_in(tmp_path)),
    ]
    assert processes_with(token) == []


def test_what_a_signal_ends_is_killed(tmp_path: Path) -> None:
    capture = bash(tmp_path, "kill -KILL $$")
    assert (capture.outcome, capture.exit_code) == (Outcome.KILLED, 137)


def test_the_environment_is_a_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret")
    monkeypatch.setenv("BASH_ENV", "/nothing")
    seen = bash(tmp_path, "env").stdout.decode()
    assert "LITANY_TOOL_ID=call_1\n" in seen
    assert "MY_TOKEN" not in seen
    assert "BASH_ENV" not in seen


@pytest.mark.parametrize(
    "given", [{}, {"command": 7}, {"command": ""}, {"command": "true", "timeout": 5}, []]
)
def test_another_input_is_declined(given: Any, tmp_path: Path) -> None:
    capture = run_tool(BASH, given, context_in(tmp_path))
    assert capture.exit_code == 1
    assert capture.stderr.startswith(b"bash: invalid input JSON: ")


def test_the_definition_states_what_models_get_wrong() -> None:
    description = BASH.declaration.description
    for fact in (
        "local machine",
        "Not interactive",
        "working directory",
        "Every call is a new shell",
        "timeout 60",
    ):
        assert fact in description


def test_every_builtin_is_declared_once() -> None:
    names = [each.declaration.name for each in BUILTIN_TOOLS]
    assert names == ["apply_patch", "bash", "read_file", "read_tool_output"]
    assert not any(each.composes for each in BUILTIN_TOOLS)


def test_what_it_left_running_is_named(tmp_path: Path) -> None:
    token = unique_sleep()
    capture = bash(tmp_path, f"sleep {token} & sleep 0.3; echo started; printf err >&2")
    assert (capture.stdout, capture.exit_code) == (b"started\n", 0)
    note = f"err\n[ended with the call, which leaves nothing running: sleep {token}]\n"
    assert capture.stderr.decode() == note
    assert processes_with(token) == []


def test_of_many_processes_left_running_some_are_named_and_all_counted(tmp_path: Path) -> None:
    token = unique_sleep()
    started = f"for i in 1 2 3 4 5 6 7; do setsid sh -c 'exec sleep {token}' & done; sleep 0.5"
    stderr = bash(tmp_path, started).stderr.decode()
    assert stderr.count(f"sleep {token}") == 5
    assert stderr.endswith(" and 2 more]\n")


def test_a_name_that_acts_on_a_terminal_is_escaped(tmp_path: Path) -> None:
    token = unique_sleep()
    stderr = bash(tmp_path, f"bash -c $'exec -a \"\\e[2J\" sleep {token}' & sleep 0.5").stderr
    assert b"\x1b" not in stderr
    assert rf"\x1b[2J {token}".encode() in stderr


def test_who_leaves_nothing_running_is_told_of_nothing(tmp_path: Path) -> None:
    assert bash(tmp_path, "sleep 0.1 & wait; echo x | cat").stderr == b""
