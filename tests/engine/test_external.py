"""External programs as tools: the descriptor, and the contract on stdin, stdout and the environment."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import trio

from door_kit import make_place
from litany_engine.door.calls import CallEnd, Capture, Tool, ToolCall
from litany_engine.door.door import Door
from litany_engine.tools.environment import tool_environment
from litany_engine.tools.external import DescriptorError, load_external_tool, load_external_tools
from litany_engine.tools.toolset import toolset
from litany_runtime.outcome import Outcome
from tool_kit import AGENT, context_in, processes_with, run_tool, unique_sleep, wait_until, worktree_in


def script(folder: Path, body: str, name: str = "tool.sh") -> Path:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return file


def describe(folder: Path, name: str = "it", **fields: Any) -> Path:
    file = folder / f"{name}.json"
    file.write_text(json.dumps({"name": name, "command": ["./tool.sh"], **fields}))
    return file


def load(folder: Path, body: str, **fields: Any) -> Tool:
    script(folder, body)
    return load_external_tool(describe(folder, **fields))


def call(folder: Path, body: str, given: Any = None, **fields: Any) -> Capture:
    return run_tool(load(folder, body, **fields), given or {}, context_in(folder))


def test_the_input_is_one_json_object_on_stdin(tmp_path: Path) -> None:
    capture = call(tmp_path, "cat", {"text": "é\n", "n": 1})
    assert json.loads(capture.stdout) == {"text": "é\n", "n": 1}
    assert capture.data is None


def test_streams_and_exit_code_are_the_programs(tmp_path: Path) -> None:
    capture = call(tmp_path, "echo out; echo err >&2; exit 4")
    assert (capture.stdout, capture.stderr, capture.exit_code) == (b"out\n", b"err\n", 4)
    assert capture.outcome is None
    assert capture.usage is not None


def test_output_that_is_no_utf8_passes_through(tmp_path: Path) -> None:
    assert call(tmp_path, r"printf '\377\376'").stdout == b"\xff\xfe"


def test_a_program_need_not_read_its_input(tmp_path: Path) -> None:
    assert call(tmp_path, "echo ran", {"text": "x" * 1_000_000}).stdout == b"ran\n"


def test_it_is_told_who_calls_and_gets_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    monkeypatch.setenv("LC_TIME", "C")
    names = dict(
        line.split("=", 1) for line in call(tmp_path, "env").stdout.decode().splitlines() if "=" in line
    )
    assert names["LITANY_CONV_REPO"] == str(tmp_path)
    assert names["LITANY_CONV_BRANCH"] == AGENT
    assert names["LITANY_TOOL_ID"] == "call_1"
    assert names["LC_TIME"] == "C"
    assert "SOME_API_KEY" not in names


def test_a_variable_that_the_descriptor_names_is_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "needed")
    assert call(tmp_path, "printf %s $SOME_API_KEY", environment=["SOME_API_KEY"]).stdout == b"needed"


def test_who_calls_is_never_taken_from_the_host() -> None:
    host = {"LITANY_CONV_BRANCH": "forged", "PATH": "/bin", "AWS_SECRET": "x", "HOME": "/h"}
    made = tool_environment(Path("/w"), "a", "c", passed=["LITANY_CONV_BRANCH"], host=host)
    assert made == {
        "PATH": "/bin",
        "HOME": "/h",
        "LITANY_CONV_REPO": "/w",
        "LITANY_CONV_BRANCH": "a",
        "LITANY_TOOL_ID": "c",
    }


def test_it_runs_in_the_agents_directory(tmp_path: Path) -> None:
    assert call(tmp_path, "pwd").stdout.decode().strip() == str(worktree_in(tmp_path))


def test_a_vanished_directory_is_a_fault_that_names_it(tmp_path: Path) -> None:
    tool = load(tmp_path, "echo ran")
    capture = run_tool(tool, {}, context_in(tmp_path, cwd=tmp_path / "gone"))
    assert capture.outcome is Outcome.FAULTED
    assert str(tmp_path / "gone") in capture.reason


def test_a_program_that_vanished_is_a_fault_that_names_it(tmp_path: Path) -> None:
    tool = load(tmp_path, "echo ran")
    (tmp_path / "tool.sh").unlink()
    capture = run_tool(tool, {}, context_in(tmp_path))
    assert capture.outcome is Outcome.FAULTED
    assert "tool.sh" in capture.reason


def test_a_death_by_signal_is_killed_with_its_name(tmp_path: Path) -> None:
    capture = call(tmp_path, "echo kept; kill -SEGV $$")
    assert (capture.outcome, capture.exit_code, capture.stdout) == (Outcome.KILLED, 139, b"kept\n")
    assert "signal 11 (Segmentation fault)" in capture.reason


@pytest.mark.parametrize(("deadline_s", "outcome"), [(0.0, Outcome.TIMED_OUT), (1000.0, Outcome.STOPPED)])
def test_a_cancelled_program_keeps_its_output_and_says_which_it_was(
    deadline_s: float, outcome: Outcome, tmp_path: Path
) -> None:
    token = unique_sleep()
    tool = load(tmp_path, f"echo kept; sleep {token}")

    async def main() -> Capture:
        captures = []
        context = context_in(tmp_path, deadline=trio.current_time() + deadline_s)
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:

                async def body() -> None:
                    captures.append(await tool.execute(ToolCall("call_1", "it", {}), context))

                nursery.start_soon(body)
                await wait_until(lambda: processes_with(token))
                scope.cancel()
        return captures[0]

    capture = trio.run(main)
    assert (capture.outcome, capture.stdout) == (outcome, b"kept\n")
    assert capture.reason
    assert processes_with(token) == []


def test_a_timeout_is_the_calls_own_deadline(tmp_path: Path) -> None:
    tool = load(tmp_path, "true", timeout="1m30s")
    assert tool.deadline_s is not None
    assert tool.deadline_s({}) == 90
    assert load(tmp_path, "true").deadline_s is None


# Structured output.

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def test_with_an_output_schema_stdout_becomes_data(tmp_path: Path) -> None:
    capture = call(tmp_path, """echo '{"n": 3}'""", output_schema=SCHEMA)
    assert (capture.data, capture.stdout, capture.exit_code) == ({"n": 3}, b'{"n": 3}\n', 0)


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        ("three", "stdout is not JSON"),
        ("", "stdout is not JSON"),
        ("NaN", "stdout is not JSON"),
        ('{"n": 1} {"n": 2}', "stdout is not JSON"),
        ('{"n": "three"}', "$['n']"),
        ("{}", '"n" is a required property'),
        ('{"n": 99999999999999999999999}', "64 bits"),
        ("[" * 100 + "]" * 100, "64 levels"),
    ],
)
def test_output_that_is_not_what_was_promised_is_a_failed_call(
    printed: str, message: str, tmp_path: Path
) -> None:
    capture = call(tmp_path, f"printf note >&2\ncat <<'X'\n{printed}\nX", output_schema=SCHEMA)
    assert capture.exit_code == 1
    assert capture.data is None
    assert capture.stdout.decode().strip() == printed  # what it did print is still there to be read
    lines = capture.stderr.decode().splitlines()
    assert lines[0] == "note"
    assert "not what its output_schema promises" in lines[1]
    assert message in lines[1]


def test_the_output_of_a_program_that_failed_is_not_judged(tmp_path: Path) -> None:
    capture = call(tmp_path, "echo three; exit 2", output_schema=SCHEMA)
    assert (capture.exit_code, capture.stderr) == (2, b"")


# Descriptors.


def test_a_descriptor_is_the_declaration(tmp_path: Path) -> None:
    tool = load(tmp_path, "true", description="Does it.", input_schema=SCHEMA, output_schema=SCHEMA)
    declaration = tool.declaration
    assert (declaration.name, declaration.description) == ("it", "Does it.")
    assert (declaration.input_schema, declaration.output_schema) == (SCHEMA, SCHEMA)


def test_a_program_without_a_slash_is_looked_up(tmp_path: Path) -> None:
    tool = load_external_tool(describe(tmp_path, command=["echo", "hello"]))
    assert run_tool(tool, {}, context_in(tmp_path)).stdout == b"hello\n"


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    script(tmp_path, "true")
    for name in ("b", "a"):
        describe(tmp_path, name)
    (tmp_path / "notes.txt").write_text("not a descriptor")
    assert [each.declaration.name for each in load_external_tools([tmp_path])] == ["a", "b"]


def test_two_descriptors_of_one_name_are_refused_by_both_places(tmp_path: Path) -> None:
    script(tmp_path, "true")
    describe(tmp_path, "a")
    (tmp_path / "b.json").write_text('{"name": "a", "command": ["true"]}')
    with pytest.raises(DescriptorError, match=r"b\.json: field 'name': 'a' is already the tool of .*a\.json"):
        load_external_tools([tmp_path])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"", "is not JSON"),
        (b'{"input_schema": {"a": ' + b"[" * 100_000, "is not JSON"),
        (b"[]", "Expected `object`, got `array`"),
        (b"{}", "missing required field `name`"),
        (b'{"name": "a"}', "missing required field `command`"),
        (b'{"name": "a", "command": []}', "$.command"),
        (b'{"name": "a", "command": "true"}', "Expected `array`, got `str` - at `$.command`"),
        (
            b'{"name": "a", "command": ["true"], "more": 1}',
            "unknown field `more`; a descriptor has the fields",
        ),
        (b'{"name": "a b", "command": ["true"]}', "tool name 'a b'"),
        (b'{"name": "a", "command": ["no-such-program-here"]}', "no program 'no-such-program-here' on PATH"),
        (b'{"name": "a", "command": ["./missing"]}', "missing is not there; a path with a slash starts at"),
        (b'{"name": "a", "command": ["./plain"]}', "plain is not executable: chmod +x "),
        (b'{"name": "a", "command": ["./"]}', "is no file"),
        (b'{"name": "a", "command": ["true"], "input_schema": {"type": 7}}', "input_schema"),
        (b'{"name": "a", "command": ["true"], "output_schema": {"type": 7}}', "field 'output_schema'"),
        (b'{"name": "a", "command": ["true"], "output_schema": {"$ref": "http://h/s"}}', "another document"),
        (b'{"name": "a", "command": ["true"], "timeout": "soon"}', "field 'timeout'"),
        (b'{"name": "a", "command": ["true"], "timeout": "0s"}', "field 'timeout': \"0s\" is no time at all"),
        (b'{"name": "a", "command": ["true"], "timeout": 30}', "Expected `str"),
        (b'{"name": "a", "command": ["true"]}' + b" " * 1024 * 1024, "is larger than 1024 KiB"),
    ],
)
def test_a_descriptor_that_makes_no_tool_is_one_clear_line(
    content: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / "plain").write_text("no program")
    file = tmp_path / "tool.json"
    file.write_bytes(content)
    with pytest.raises(DescriptorError) as caught:
        load_external_tool(file)
    text = str(caught.value)
    assert text.startswith(f"{file}: ")
    assert message in text
    assert "\n" not in text


def test_a_missing_descriptor_is_named(tmp_path: Path) -> None:
    with pytest.raises(DescriptorError, match=r"gone\.json: there is no such file or folder; .*litany\.toml"):
        load_external_tools([tmp_path / "gone.json"])


def test_a_pipe_among_descriptors_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "tool.json")
    for paths in ([tmp_path], [tmp_path / "tool.json"]):
        with pytest.raises(DescriptorError, match=r"tool\.json: is not a regular file"):
            load_external_tools(paths)


def test_a_descriptor_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(DescriptorError, match="is a folder"):
        load_external_tool(tmp_path)


def test_a_descriptor_says_what_gates_and_the_schedule_go_by(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("#!/bin/sh\n")
    (tmp_path / "run").chmod(0o755)
    descriptor = {
        "name": "t",
        "command": ["./run"],
        "input_schema": {"type": "object", "properties": {"line": {"type": "string"}}},
        "command_argument": "line",
        "concurrency_safe": True,
        "permissions": ["shell_execute"],
        "category": "shell",
    }
    (tmp_path / "t.json").write_text(json.dumps(descriptor))
    traits = load_external_tool(tmp_path / "t.json").traits
    assert (traits.command_argument, traits.is_concurrency_safe({}), traits.category) == (
        "line",
        True,
        "shell",
    )
    for wrong in ({"command_argument": "lime"}, {"permissions": ["fly"]}, {"category": "magic"}):
        (tmp_path / "t.json").write_text(json.dumps({**descriptor, **wrong}))
        with pytest.raises(DescriptorError, match=r"t\.json: .*(lime|fly|magic)"):
            load_external_tool(tmp_path / "t.json")


def test_a_failure_that_may_not_happen_again_is_tried_again_as_often_as_the_descriptor_says(
    tmp_path: Path,
) -> None:
    place = make_place(tmp_path)
    place.toolset = toolset([load(tmp_path, "echo x >> tries; exit 75", max_retries=1)])

    async def main() -> CallEnd:
        return await Door().invoke("it", {}, place.caller())

    end = trio.run(main)
    assert (end.outcome, end.exit_code) == (Outcome.FAILED, 75)
    assert (tmp_path / "tries").read_text() == "x\nx\n"


def test_any_other_failure_is_not_tried_again(tmp_path: Path) -> None:
    assert not call(tmp_path, "exit 74").retryable
    assert call(tmp_path, "exit 75").retryable


def test_a_descriptor_that_wants_too_many_tries_makes_no_tool(tmp_path: Path) -> None:
    with pytest.raises(DescriptorError, match="max_retries"):
        load(tmp_path, "exit 0", max_retries=11)
