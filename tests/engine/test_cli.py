"""The command line from outside: what is printed where, and with which exit code."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import cli_kit
from litany_engine.cli import COMMANDS
from litany_engine.workspaces.new_workspace import init_workspace

Litany = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace with one agent, `a`, that has a file."""
    workspace = init_workspace(tmp_path / "ws", agent="a")
    (workspace.agent().worktree / "a.txt").write_text("one\ntwo\n")
    return workspace.root


@pytest.fixture
def litany(tmp_path: Path, place: Path) -> Litany:
    return partial(cli_kit.litany, cwd=place, state=tmp_path / "state")


def block(name: str, arguments: Any = None, **more: Any) -> str:
    return json.dumps({"name": name, **({} if arguments is None else {"input": arguments}), **more})


def steps(place: Path) -> list[str]:
    return sorted(path.name for path in (place / "steps" / "a").iterdir())


# -- help ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_teaches_with_an_example(litany: Litany, command: str) -> None:
    done = litany(command, "--help")
    assert done.returncode == 0
    assert "example:" in done.stdout
    assert f"litany {command}" in done.stdout.split("example:")[1]


def test_the_help_names_every_command(litany: Litany) -> None:
    done = litany("--help")
    assert done.returncode == 0
    for command, line in COMMANDS.items():
        assert command in done.stdout
        assert line.split(",")[0].split(":")[0] in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rnu"], "'rnu' (did you mean 'run'?); see `litany --help`"),
        (["-x"], "see `litany --help`"),
        (["run"], "PROGRAM.py|-; see `litany run --help`"),
        (
            ["run", "-", "--dedline", "5s"],
            "--dedline 5s (did you mean '--deadline'?); see `litany run --help`",
        ),
        (["run", "-", "--deadline", "soon"], "see `litany run --help`"),
        (["run", "-", "--memory", "much"], "see `litany run --help`"),
        (["run", "gone.py"], "gone.py: cannot be read: No such file or directory; see `litany run --help`"),
        (["run", "."], "Is a directory; see `litany run --help`"),
        (["check", "gone.py"], "see `litany check --help`"),
        (["run", "-", "--tools", "gone.py"], "see `litany run --help`"),
        (["replay", "call_1", "--deadline", "1"], "see `litany replay --help`"),
        (["answer", "call_1", "perhaps"], "see `litany answer --help`"),
        (["answer", "call_1", "refuse", "--remember"], "see `litany answer --help`"),
        (["describe", "--budget", "many"], "see `litany describe --help`"),
        (["describe", "--budget", "1"], "see `litany describe --help`"),
        (["show", "--last", "--workspace", "."], "see `litany show --help`"),
        (["runs", "--limit", "0"], "see `litany runs --help`"),
    ],
)
def test_a_command_line_that_is_not_understood_is_one_line_and_exits_2(
    litany: Litany, place: Path, arguments: list[str], said: str
) -> None:
    done = litany(*arguments, cwd=place)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.endswith(f"{said}\n")


def test_without_a_command_the_help_is_shown(litany: Litany) -> None:
    done = litany()
    assert (done.returncode, "commands:" in done.stderr) == (2, True)


def test_the_version_is_printed(litany: Litany) -> None:
    assert litany("--version").stdout.startswith("litany 0.")


# -- invoke --------------------------------------------------------------------------------------------------


def test_invoke_prints_the_envelope_and_exits_as_the_tool(litany: Litany) -> None:
    done = litany("invoke", stdin=block("bash", {"command": "echo out; echo err >&2; exit 7"}))
    assert (done.returncode, done.stdout) == (7, "Exit code: 7\nout\n--- stderr ---\nerr\n")


def test_invoke_json_prints_one_object_with_split_streams(litany: Litany) -> None:
    done = litany("invoke", "--json", stdin=block("bash", {"command": "printf '\\377'; echo err >&2"}))
    told = json.loads(done.stdout)
    assert told["outcome"] == "completed"
    assert (told["stdout_encoding"], told["stdout"]) == ("base64", "/w==")
    assert told["stderr"] == "err\n"


def test_invoke_gives_output_whole(litany: Litany) -> None:
    done = litany("invoke", stdin=block("bash", {"command": "head -c 100000 /dev/zero | tr '\\0' x"}))
    assert done.stdout == "Exit code: 0\n" + "x" * 100_000


def test_a_block_without_an_input_asks_with_an_empty_one(litany: Litany, place: Path) -> None:
    done = litany("invoke", stdin=block("read_file"))
    assert (done.returncode, "'path' is missing" in done.stdout) == (126, True)
    (step,) = steps(place)
    assert json.loads((place / f"steps/a/{step}/tools/call_1/input.json").read_text())["input"] == {}


def test_a_call_commits_nothing(litany: Litany, place: Path) -> None:
    def refs() -> str:
        command = ["git", "-C", str(place / "repo.git"), "for-each-ref"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    before = refs()
    assert litany("invoke", stdin=block("bash", {"command": "echo more > b.txt"})).returncode == 0
    assert (place / "agents/a/b.txt").exists()
    assert refs() == before


@pytest.mark.parametrize(
    ("name", "arguments", "gate"),
    [("nothing", {}, "grant"), ("read_file", {"pth": "a"}, "schema"), ("read_file", [], "schema")],
)
def test_a_refused_call_exits_126_with_the_reason_and_a_record(
    litany: Litany, place: Path, name: str, arguments: Any, gate: str
) -> None:
    done = litany("invoke", stdin=block(name, arguments))
    assert done.returncode == 126
    assert not done.stdout.startswith("Exit code")
    (step,) = steps(place)
    (record,) = (place / "steps" / "a" / step / "tools").iterdir()
    assert json.loads((record / "output.json").read_text())["refusal"]["gate"] == gate


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[]",
        '"x"',
        "{}",
        '{"name": 5}',
        '{"name": "bash", "more": 1}',
        '{"name": "bash", "id": 5}',
        "[" * 100_000,
    ],
)
def test_a_block_of_another_shape_is_one_line_that_says_the_shape(
    litany: Litany, place: Path, text: str
) -> None:
    done = litany("invoke", stdin=text)
    assert done.returncode == 126
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert '"name": text' in done.stderr
    assert steps(place) == []


def test_a_block_that_is_not_utf8_is_one_line(litany: Litany) -> None:
    done = litany("invoke", stdin=b'{"name": "\xff"}')
    assert done.returncode == 126
    assert done.stderr.count("\n") == 1


def test_an_empty_id_is_refused_and_leaves_nothing(litany: Litany, place: Path) -> None:
    done = litany("invoke", stdin=block("read_file", {"path": "a.txt"}, id=""))
    assert done.returncode == 126
    (step,) = steps(place)
    assert list((place / "steps" / "a" / step / "tools").iterdir()) == []


def test_any_text_is_an_id_that_the_record_can_be_found_by(litany: Litany, place: Path) -> None:
    done = litany("invoke", stdin=block("read_file", {"path": "a.txt"}, id="../call|1"))
    assert done.returncode == 0
    shown = json.loads(litany("show", "../call|1", "--json").stdout)
    assert shown["given_id"] == "../call|1"
    assert Path(shown["record"]).parent == place / "steps/a/001/tools"


def invoke_from_bash(call: str) -> str:
    return block("bash", {"command": f"echo '{call}' | {sys.executable} -m litany_engine invoke"})


def test_a_call_from_inside_a_tools_process_is_an_inner_call_of_that_tool(
    litany: Litany, place: Path
) -> None:
    done = litany("invoke", stdin=invoke_from_bash(block("read_file", {"path": "a.txt"})))
    assert "two" in done.stdout
    assert sorted(path.name for path in (place / "steps/a/001/tools").iterdir()) == ["call_1", "call_1-1"]
    inner = json.loads((place / "steps/a/001/tools/call_1-1/input.json").read_text())
    assert inner["parent"] == "call_1"


def test_a_tools_process_cannot_take_another_calls_id(litany: Litany, place: Path) -> None:
    done = litany("invoke", stdin=invoke_from_bash(block("read_file", {"path": "a.txt"}, id="call_1")))
    assert "'call_1-k'" in done.stdout
    assert sorted(path.name for path in (place / "steps/a/001/tools").iterdir()) == ["call_1"]


def test_a_tools_process_may_not_start_a_program(litany: Litany, place: Path) -> None:
    done = litany("invoke", stdin=invoke_from_bash(block("python", {"program": "print(1)"})))
    assert "programs do not nest" in done.stdout
    inner = json.loads((place / "steps/a/001/tools/call_1-1/output.json").read_text())
    assert inner["refusal"]["gate"] == "depth"


@pytest.mark.parametrize("command", ["run x.py", "stop"])
def test_what_is_the_operators_is_refused_inside_a_call(litany: Litany, command: str) -> None:
    run = f"{sys.executable} -m litany_engine {command}"
    done = litany("invoke", stdin=block("bash", {"command": run}))
    assert done.returncode == 126
    assert "inside tool call 'call_1'" in done.stdout


def test_the_right_to_make_calls_ends_with_the_call_in_other_processes_too(
    litany: Litany, place: Path
) -> None:
    litany("invoke", stdin=block("read_file", {"path": "a.txt"}))
    late = {"LITANY_CONV_REPO": str(place), "LITANY_CONV_BRANCH": "a", "LITANY_TOOL_ID": "call_1"}
    done = litany("invoke", "--json", stdin=block("read_file", {"path": "a.txt"}), env=late)
    assert json.loads(done.stdout)["refusal"]["gate"] == "authority"


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"LITANY_TOOL_ID": "call_9"}, "call_9"),
        ({"LITANY_CONV_BRANCH": "b"}, "no agent b"),
        ({"LITANY_CONV_REPO": "/nowhere"}, "/nowhere"),
    ],
)
def test_an_environment_that_names_what_is_not_there_is_one_line(
    litany: Litany, place: Path, changed: dict[str, str], word: str
) -> None:
    who = {"LITANY_CONV_REPO": str(place), "LITANY_CONV_BRANCH": "a", "LITANY_TOOL_ID": "call_1"}
    done = litany("invoke", stdin=block("read_file", {"path": "a.txt"}), env=who | changed)
    assert done.returncode == 125
    assert word in done.stderr
    assert done.stderr.count("\n") == 1


# -- tool, stubs, show ---------------------------------------------------------------------------------------


def test_tool_gives_a_tools_own_streams_and_exit_code(litany: Litany) -> None:
    done = litany("tool", "bash", stdin='{"command": "echo out; echo err >&2; exit 4"}')
    assert (done.returncode, done.stdout, done.stderr) == (4, "out\n", "err\n")
    done = litany("tool", "read_file", "--input", '{"path": "a.txt", "limit": 1}')
    assert (done.returncode, done.stdout) == (0, "one\n")


def test_tool_goes_through_the_door(litany: Litany, place: Path) -> None:
    (place / "litany.toml").write_text('[roles.default]\ngrant = ["read_file"]\n')
    done = litany("tool", "bash", "--input", '{"command": "touch made"}')
    assert done.returncode == 126
    assert "grant" in done.stderr
    assert not (place / "agents/a/made").exists()


def test_tool_lists_and_describes_what_is_granted(litany: Litany, place: Path) -> None:
    (place / "litany.toml").write_text('[roles.default]\ngrant = ["read_file", "python"]\n')
    assert [line.split()[0] for line in litany("tool").stdout.splitlines()] == ["python", "read_file"]
    assert json.loads(litany("tool", "read_file", "--describe").stdout)["input_schema"]["required"] == [
        "path"
    ]
    assert litany("tool", "bash", "--describe").returncode == 126


def test_stubs_prints_what_a_program_may_call_and_no_more(litany: Litany, place: Path) -> None:
    (place / "litany.toml").write_text('[roles.default]\ngrant = ["read_file", "python"]\n')
    text = litany("stubs").stdout
    compile(text, "litany_tools.py", "exec")
    assert "def read_file(" in text
    assert "def bash(" not in text
    assert "def python(" not in text


def test_show_names_the_calls_of_a_step(litany: Litany) -> None:
    litany("invoke", stdin=invoke_from_bash(block("read_file", {"path": "a.txt"})))
    text = litany("show").stdout
    assert "call_1 " in text
    assert "call_1-1" in text
    told = json.loads(litany("show", "--json").stdout)
    assert told["calls"][0]["calls"][0]["name"] == "read_file"


def test_a_refusal_is_a_line_of_its_own(litany: Litany) -> None:
    done = litany("invoke", stdin=block("nothing"))
    assert done.returncode == 126
    assert done.stdout.endswith(".\n")
    assert done.stdout.count("\n") == 1


# -- bad input everywhere ------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["invoke"], ["tool", "bash"], ["show"], ["stop"], ["holds"]])
def test_outside_a_workspace_a_command_says_how_to_name_one(
    litany: Litany, tmp_path: Path, command: list[str]
) -> None:
    done = litany(*command, stdin=block("bash", {"command": "true"}), cwd=tmp_path)
    assert done.returncode == 125
    assert "litany init" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "command", [["invoke"], ["tool"], ["show"], ["stop"], ["run", "-"], ["check", "-"], ["stubs"], ["doctor"]]
)
def test_a_folder_that_is_no_workspace_is_one_line(
    litany: Litany, tmp_path: Path, command: list[str]
) -> None:
    done = litany(*command, "--workspace", str(tmp_path), stdin=block("bash", {"command": "true"}))
    assert done.returncode == 125
    assert str(tmp_path) in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_broken_configuration_is_one_line_with_its_place_and_nothing_runs(
    litany: Litany, place: Path
) -> None:
    (place / "litany.toml").write_text("[deadline]\nmaximum = 5\n")
    for command in (["invoke"], ["run", "-"], ["tool"]):
        done = litany(*command, stdin=block("bash", {"command": "touch made"}))
        assert done.returncode == 125
        assert "litany.toml:2" in done.stderr
        assert done.stderr.count("\n") == 1
    assert steps(place) == []


def test_a_descriptor_that_is_not_json_is_one_line(litany: Litany, place: Path) -> None:
    (place / "tools").mkdir()
    (place / "tools" / "x.json").write_text("{nonsense")
    (place / "litany.toml").write_text('[tools]\ndescriptors = ["tools"]\n')
    done = litany("invoke", stdin=block("bash", {"command": "true"}))
    assert done.returncode == 125
    assert "x.json" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_control_that_crashes_lets_nothing_run(litany: Litany, place: Path) -> None:
    (place / "litany.toml").write_text('[control]\ncommand = ["sh", "-c", "echo broken >&2; exit 3"]\n')
    done = litany("invoke", stdin=block("bash", {"command": "touch made"}))
    assert done.returncode == 125
    assert "broken" in done.stdout
    assert not (place / "agents/a/made").exists()


CONTROL = """
import json, sys
asked = json.load(sys.stdin)
verdict = "pass" if asked["name"] == sys.argv[2] else sys.argv[1]
reason = {} if verdict == "pass" else {"reason": "no\\x1b[2J\\x9b31m\\rthanks\\nlitany: completed (exit 0)"}
print(json.dumps({"verdict": verdict} | reason))
"""


@pytest.mark.parametrize(
    ("command", "stdin"),
    [
        (["tool", "bash"], '{"command": "true"}'),
        (["run", "-"], "print('ran')"),
        (["run", "-"], "import litany_tools; litany_tools.bash(command='true')"),
    ],
)
def test_what_a_control_says_moves_no_cursor_and_passes_for_no_line_of_ours(
    litany: Litany, place: Path, command: list[str], stdin: str
) -> None:
    (place / "control.py").write_text(CONTROL)
    holds = "litany_tools" in stdin
    words = [sys.executable, "control.py", "hold" if holds else "refuse", "python" if holds else "nothing"]
    (place / "litany.toml").write_text(
        f"[control]\ncommand = {json.dumps(words)}\n[hold]\npatience = '100ms'\n"
    )
    done = litany(*command, stdin=stdin)
    assert "thanks" in done.stderr
    text = done.stdout + done.stderr
    assert all(each.isprintable() or each in "\n\t" for each in text), ascii(text)
    assert not [line for line in text.splitlines() if line == "litany: completed (exit 0)"]


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (b"x = '\xff'\n", 126, ["p.py:1", "UTF-8"]),
        (b"#" * (2 << 20), 126, ["p.py", "larger"]),
        (None, 2, ["p.py", "No such file"]),
    ],
)
def test_a_program_that_cannot_be_read_is_one_line_and_leaves_nothing(
    litany: Litany, place: Path, tmp_path: Path, content: bytes | None, code: int, words: list[str]
) -> None:
    if content is not None:
        (tmp_path / "p.py").write_bytes(content)
    for cwd in (place, tmp_path):
        done = litany("run", str(tmp_path / "p.py"), cwd=cwd)
        assert done.returncode == code
        assert done.stderr.count("\n") == 1
        for word in words:
            assert word in done.stderr
    assert steps(place) == []
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    ("option", "word"),
    [
        (["--deadline", "soon"], "soon"),
        (["--deadline", "5"], "unit"),
        (["--memory", "much"], "much"),
        (["--agent", "b"], "no agent b"),
        (["--tools", "nothing.py"], "nothing.py"),
        (["--files", "."], "--files"),
    ],
)
def test_an_option_that_makes_no_sense_is_one_line(
    litany: Litany, place: Path, option: list[str], word: str
) -> None:
    done = litany("run", "-", *option, stdin="print(1)")
    assert done.returncode == (125 if "--agent" in option else 2)
    assert word in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\n", ["no tool"]),
        ("x = 1\nraise ValueError('why')\n", ["t.py:2", "ValueError: why"]),
        ("def f(:\n", ["t.py:1"]),
        ("from litany_engine import tool\n@tool\ndef bash(command: str): ...\n", ["two tools", "'bash'"]),
        ("from litany_engine import tool\n@tool\ndef f(*args): ...\n", ["t.py:2", "*args"]),
    ],
)
def test_a_file_of_tools_that_gives_none_is_one_line(
    litany: Litany, place: Path, text: str, words: list[str]
) -> None:
    (place / "t.py").write_text(text)
    done = litany("run", "-", "--tools", "t.py", stdin="print(1)")
    assert done.returncode == 125
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr


def test_init_says_what_is_where_and_leaves_files_alone(litany: Litany, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "kept").write_text("kept")
    done = litany("init", "new", cwd=tmp_path)
    assert done.returncode == 0
    assert str(tmp_path / "new") in done.stdout
    assert (tmp_path / "new" / "kept").read_text() == "kept"
    again = litany("init", "new", cwd=tmp_path)
    assert again.returncode == 125
    assert "already" in again.stderr


# -- stop ----------------------------------------------------------------------------------------------------


def test_stop_ends_a_call_of_another_process_and_waits_for_its_record(
    litany: Litany, place: Path, tmp_path: Path
) -> None:
    with cli_kit.start("invoke", cwd=place, state=tmp_path / "state") as running:
        assert running.stdin is not None
        running.stdin.write(block("bash", {"command": "echo begun; touch begun; sleep 100"}).encode())
        running.stdin.close()
        while not (place / "agents/a/begun").exists():
            assert running.poll() is None
            time.sleep(0.01)
        other = litany("stop", "b")
        assert "nothing to stop" in other.stdout
        done = litany("stop", "a")
        assert (done.returncode, done.stdout) == (0, "stopped: call_1\n")
        record = json.loads((place / "steps/a/001/tools/call_1/output.json").read_text())
        assert (record["outcome"], record["stdout"]) == ("stopped", "begun\n")
        assert running.wait(10) == 143


def test_a_signal_is_a_stop(place: Path, tmp_path: Path) -> None:
    with cli_kit.start("invoke", cwd=place, state=tmp_path / "state") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(block("bash", {"command": "echo begun; touch begun; sleep 100"}).encode())
        running.stdin.close()
        while not (place / "agents/a/begun").exists():
            assert running.poll() is None
            time.sleep(0.01)
        running.terminate()
        assert running.wait(10) == 143
        assert b"begun" in running.stdout.read()
    assert json.loads((place / "steps/a/001/tools/call_1/output.json").read_text())["outcome"] == "stopped"


def test_show_into_a_closed_pipe_is_quiet(litany: Litany, place: Path, tmp_path: Path) -> None:
    litany("tool", "bash", "--input", '{"command": "seq 100000"}')
    command = f"{sys.executable} -m litany_engine show call_1 --json | head -c 10"
    done = subprocess.run(
        ["sh", "-c", command], cwd=place, env=cli_kit.environment(tmp_path), capture_output=True, check=True
    )
    assert done.stderr == b""
