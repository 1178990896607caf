"""`litany run` from outside: what it prints where, how it ends, what it leaves."""

from __future__ import annotations

import json
import os
import pty
import pwd
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil
import pygit2
import pytest

from cli_kit import COMMAND, LIKE_ANYBODY, environment, litany, start
from litany_engine.plain_text import PlainStream
from litany_engine.workspaces.new_workspace import init_workspace

ROOT = Path(__file__).parents[2]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace with one agent, `a`."""
    return init_workspace(tmp_path / "ws", agent="a").root


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def run(place: Path, state: Path) -> Run:
    return partial(litany, "run", cwd=place, state=state)


def last_line(stderr: str) -> str:
    return stderr.splitlines()[-1]


def test_a_run_prints_what_the_program_prints_and_one_line_at_the_end(run: Run, place: Path) -> None:
    done = run(
        "-",
        stdin="import sys, litany_tools\nprint('out')\nprint('err', file=sys.stderr)\nlitany_tools.bash(command='true')",
    )
    assert (done.returncode, done.stdout) == (0, "out\n")
    assert done.stderr.startswith("err\n")
    assert re.fullmatch(
        rf"litany: completed \(exit 0\) in [0-9.]+ m?s, 1 call, record {place}/steps/a/001/tools/call_1",
        last_line(done.stderr),
    )


def test_a_program_file_is_run_and_named_in_its_traceback(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(
        "# coding: latin-1\nprint('é')\nraise ValueError('why')\n", encoding="latin-1"
    )
    done = run(str(tmp_path / "p.py"))
    assert (done.returncode, done.stdout) == (1, "é\n")
    assert "raise ValueError('why')" in done.stderr
    assert "failed (exit 1)" in last_line(done.stderr)


def test_json_is_one_object_and_nothing_else_on_stdout(run: Run, place: Path) -> None:
    program = "import sys, litany_tools\nprint('out')\nlitany_tools.bash(command='exit 3')\nlitany_tools.invoke('no')\nsys.exit(5)"
    done = run("-", "--json", stdin=program)
    assert done.returncode == 5
    told = json.loads(done.stdout)
    assert set(told) == {
        *("outcome", "exit_code", "stdout", "stderr", "calls", "usage", "record", "duration_s", "waited_s")
    }
    assert told["waited_s"] > told["duration_s"] > 0
    assert [(call.get("why"), call.get("unread")) for call in told["calls"]] == [
        (None, True),
        ("not granted", True),
    ]
    assert (told["outcome"], told["exit_code"], told["stdout"], told["stderr"]) == ("failed", 5, "out\n", "")
    assert [(call["id"], call["name"], call["outcome"], call["exit_code"]) for call in told["calls"]] == [
        ("call_1-1", "bash", "failed", 3),
        ("call_1-2", "no", "refused", 126),
    ]
    assert all(call["duration_s"] > 0 for call in told["calls"])
    assert told["usage"]["calls"] == 2
    assert told["record"] == str(place / "steps/a/001/tools/call_1")
    assert done.stderr == ""


def test_a_refused_program_is_told_why_and_exits_126(run: Run, place: Path) -> None:
    done = run("-", stdin="x = 1\nimport socket\n")
    assert (done.returncode, done.stdout) == (126, "")
    assert "policy" in done.stderr
    assert "<stdin>:2:8: " in done.stderr
    (place / "bad.py").write_text("x = 1\nimport socket\n")
    named = run("bad.py")
    assert "bad.py:2:8: " in named.stderr
    assert "program.py" not in named.stderr
    told = json.loads(run("-", "--json", stdin="import socket").stdout)
    assert told["refusal"]["gate"] == "policy"


def test_a_deadline_is_kept_and_nothing_is_left_running(place: Path, state: Path) -> None:
    with start("run", "--deadline", "4s", "-", cwd=place, state=state) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"print('begun', flush=True)\nwhile True: pass")
        process.stdin.close()
        assert process.stdout.readline() == b"begun\n"
        began = time.monotonic()
        children = psutil.Process(process.pid).children(recursive=True)
        assert children
        assert process.wait(20) == 124
        took = time.monotonic() - began
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []
    output = json.loads((place / "steps/a/001/tools/call_1/output.json").read_text())
    assert (output["outcome"], output["stdout"]) == ("timed_out", "begun\n")
    assert took < 8  # the call's own clock is in its record; this one has a process to end, too


@pytest.mark.parametrize("deadline", ["5", "soon", "0s", ""])
def test_a_deadline_that_is_none_is_one_line_and_nothing_runs(run: Run, place: Path, deadline: str) -> None:
    done = run("--deadline", deadline, "-", stdin="print(1)")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("; see `litany run --help`\n")
    assert done.stderr.startswith(f'litany: --deadline: "{deadline}" is ')
    assert 'such as "500ms", "30s"' in done.stderr
    assert done.stderr.count("\n") == 1
    assert list((place / "steps/a").iterdir()) == []


def test_a_deadline_may_have_spaces(run: Run) -> None:
    assert run("--deadline", "30 s", "-", stdin="print(1)").stdout == "1\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_a_program_which_cleans_up(place: Path, state: Path, number: int) -> None:
    with start("run", "-", cwd=place, state=state) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(
            b"import time\ntry:\n    print('begun', flush=True)\n    time.sleep(100)\nfinally:\n    print('cleaned')"
        )
        process.stdin.close()
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(number)
        assert process.wait(10) == 143
        assert process.stdout.read() == b"cleaned\n"
        assert "stopped (exit 143)" in last_line(process.stderr.read().decode())
    output = json.loads((place / "steps/a/001/tools/call_1/output.json").read_text())
    assert output["reason"] == f"stopped by {signal.Signals(number).name}"


def test_litany_stop_ends_a_program_of_another_terminal(place: Path, state: Path) -> None:
    with start("run", "-", cwd=place, state=state) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"import time\nprint('begun', flush=True)\ntime.sleep(100)")
        process.stdin.close()
        assert process.stdout.readline() == b"begun\n"
        done = litany("stop", "call_1", cwd=place, state=state)
        assert (done.returncode, done.stdout) == (0, "stopped: call_1\n")
        assert process.wait(10) == 143
    output = json.loads((place / "steps/a/001/tools/call_1/output.json").read_text())
    assert output["reason"] == "stopped by `litany stop`"


def test_litany_stop_does_not_take_what_it_may_not_see_for_nothing(place: Path, state: Path) -> None:
    with start("run", "-", cwd=place, state=state) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"import time\nprint('begun', flush=True)\ntime.sleep(100)")
        process.stdin.close()
        assert process.stdout.readline() == b"begun\n"
        (place / "running").chmod(0)
        done = subprocess.run(
            [sys.executable, "-c", LIKE_ANYBODY, *COMMAND[1:], "stop"],
            check=False, capture_output=True, text=True, cwd=place, env=environment(state), timeout=60,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (125, "")
        assert f"{place}/running: cannot be read" in done.stderr
        assert process.poll() is None


def test_memory_is_bounded_as_asked(run: Run) -> None:
    program = (
        "try:\n    x = bytearray(200 << 20)\n    print('had it')\nexcept MemoryError:\n    print('refused')\n"
    )
    assert run("-", "--memory", "64 MiB", stdin=program).stdout == "refused\n"
    assert run("-", "--memory", "512 MiB", stdin=program).stdout == "had it\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("import sys\nsys.exit(3)\n", "t.py:2: SystemExit: 3"),
        ("raise ValueError('why')\n", "t.py:1: ValueError: why"),
        ("def (:\n", "t.py:1: invalid syntax"),
        ("", "t.py: no tool in it"),
        (None, "t.py: not a regular file"),
    ],
)
def test_a_file_of_tools_that_makes_none_is_one_line_and_nothing_runs(
    run: Run, place: Path, content: str | None, said: str
) -> None:
    if content is None:
        os.mkfifo(place / "t.py")
    else:
        (place / "t.py").write_text(content)
    done = run("-", "--tools", "t.py", stdin="print('ran')")
    assert (done.returncode, done.stdout) == (2 if content is None else 125, "")
    assert re.fullmatch(rf"litany: [^\n]*{said}[^\n]*\n", done.stderr)
    assert not (place / "steps/a/001").exists()


def test_waiting_for_a_program_that_comes_through_a_pipe_ends_at_ctrl_c(place: Path, state: Path) -> None:
    pipe = place / "program"
    os.mkfifo(pipe)
    with start("run", str(pipe), cwd=place, state=state) as process, pipe.open("wb"):
        process.send_signal(signal.SIGINT)  # the pipe opened, so it has come so far as to read
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (143, b"", b"")
    with start("run", str(pipe), cwd=place, state=state) as process:
        pipe.write_text("print('through a pipe')")
        assert process.communicate(timeout=20)[0] == b"through a pipe\n"


def test_tools_of_a_file_are_there_for_the_run(run: Run, place: Path) -> None:
    (place / "t.py").write_text(
        "from litany_engine import tool\n@tool\ndef double(number: int) -> int:\n    'Twice.'\n    return 2 * number\n"
    )
    program = "import litany_tools\nprint(litany_tools.double(number=21).data)"
    assert run("-", "--tools", "t.py", stdin=program).stdout == "42\n"
    assert run("-", stdin=program).stdout == "None\n"  # refused: it was there for one run


def test_a_worktree_that_may_not_be_written_says_what_would_let_it(place: Path, state: Path) -> None:
    (place / "agents/a").chmod(0o555)
    done = subprocess.run(
        [sys.executable, "-c", LIKE_ANYBODY, *COMMAND[1:], "run", "-"],
        check=False, input=b"print(1)", capture_output=True, cwd=place, env=environment(state), timeout=60,
    )  # fmt: skip
    (place / "agents/a").chmod(0o755)
    assert done.returncode == 125
    assert b"EACCES" in done.stderr
    assert b"chmod -R u+rwX" in done.stderr


def test_two_agents_are_told_apart_and_one_must_be_named(run: Run, place: Path) -> None:
    from litany_engine.workspaces.workspace import open_workspace_at

    open_workspace_at(place).add_agent("b")
    done = run("-", stdin="print(1)")
    assert done.returncode == 125
    assert "a, b" in done.stderr
    assert run("-", "--agent", "b", stdin="open('f', 'w').write('x')").returncode == 0
    assert (place / "agents/b/f").exists()
    assert not (place / "agents/a/f").exists()


# -- outside a workspace --------------------------------------------------------------------------------------

LIST = "import os\nprint(sorted(name for name in os.listdir('.') if name != '.git'))\nopen('kept', 'w').write('changed')\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with one tracked file, `kept`, and one that is not."""
    folder = tmp_path / "repository"
    repository = pygit2.init_repository(folder)
    (folder / "kept").write_text("as it was")
    (folder / "secret").write_text("not tracked")
    (folder / "sub").mkdir()
    (folder / "sub" / "inner").write_text("deeper")
    repository.index.add_all(["kept", "sub/inner"])
    repository.index.write()
    return folder


@pytest.mark.parametrize("home", ["", "relative", "."])
def test_a_home_that_is_none_is_not_the_current_folder(tmp_path: Path, home: str) -> None:
    script = "from litany_engine.workspaces.new_workspace import _home; print(_home())"
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=True, capture_output=True, text=True, cwd=tmp_path, env=environment(tmp_path) | {"HOME": home},
    )  # fmt: skip
    assert done.stdout.strip() == pwd.getpwuid(os.getuid()).pw_dir


def test_a_state_folder_that_cannot_be_written_says_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = litany("run", "-", cwd=tmp_path, state=tmp_path / "file", stdin="print(1)")
    assert done.returncode == 125
    assert "set XDG_STATE_HOME" in done.stderr


@pytest.mark.parametrize("command", [["run", "-"], ["doctor"]])
def test_a_name_in_a_grant_that_no_tool_has_is_warned_of(
    run: Run, place: Path, state: Path, command: list[str]
) -> None:
    (place / "litany.toml").write_text('[roles.default]\ngrant = ["python", "read_fil", "salute"]\n')
    (place / "t.py").write_text(NOISY.replace("sync(n", "salute(n", 1))
    done = litany(*command, cwd=place, state=state, stdin="print(1)")
    assert (
        "[roles.default] grants 'read_fil', which no tool here is called (did you mean 'read_file'?)"
        in done.stderr
    )
    assert "grants 'salute'" in done.stderr
    assert "'python'" not in done.stderr
    assert "grants 'salute'" not in run("-", "--tools", "t.py", stdin="print(1)").stderr


@pytest.mark.parametrize(("key", "word"), [("suspended", "suspends"), ("deferred", "defers")])
def test_a_name_that_no_tool_has_is_warned_of_without_any_role(
    run: Run, place: Path, key: str, word: str
) -> None:
    (place / "litany.toml").write_text(f'[tools]\n{key} = ["bsh"]\n')
    assert f"[tools] {word} 'bsh', which no tool here is called" in run("-", stdin="print(1)").stderr


@pytest.mark.parametrize("damage", [["rm", "-r", "steps"], ["rm", "repo.git/HEAD"], ["rm", "-r", "repo.git"]])
def test_in_a_damaged_workspace_nothing_runs_and_no_other_is_made(
    run: Run, place: Path, state: Path, damage: list[str]
) -> None:
    subprocess.run(damage, check=True, cwd=place)
    done = run("-", stdin="print('ran')", cwd=place / "agents/a")
    assert (done.returncode, done.stdout) == (125, "")
    assert re.fullmatch(rf"litany: {place} is a damaged workspace: .* is missing \(.*\)\n", done.stderr)
    assert not state.exists()


@pytest.mark.parametrize("part", ["repo.git", "steps", "litany.toml", "agents", "inbox"])
def test_a_part_that_this_user_may_not_read_is_one_line_and_nothing_runs(
    place: Path, state: Path, part: str
) -> None:
    (place / part).chmod(0)
    done = subprocess.run(
        [sys.executable, "-c", LIKE_ANYBODY, *COMMAND[1:], "run", "-"],
        check=False,
        input="print('ran')",
        capture_output=True,
        text=True,
        cwd=place,
        env=environment(state),
    )
    (place / part).chmod(0o700)
    if part == "inbox":  # a program needs none
        assert (done.returncode, done.stdout) == (0, "ran\n")
        return
    assert (done.returncode, done.stdout) == (125, ""), done.stderr
    assert done.stderr.startswith("litany: ")
    assert "internal" not in done.stderr
    assert str(place) in done.stderr
    assert part in done.stderr
    assert "Permission denied" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not state.exists()


@pytest.mark.parametrize("part", ["running", "agents", "steps", "inbox", "litany.toml", "repo.git"])
def test_a_file_or_folder_in_the_place_of_the_other_is_one_line(run: Run, place: Path, part: str) -> None:
    whole = place / part
    was_file = whole.is_file()
    subprocess.run(["rm", "-rf", whole], check=True)
    whole.mkdir() if was_file else whole.touch()
    done = run("-", stdin="print('ran')")
    if part == "inbox":  # a program needs none
        assert (done.returncode, done.stdout) == (0, "ran\n")
        return
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr.startswith("litany: ")
    assert done.stderr.count("\n") == 1
    assert "internal" not in done.stderr
    assert part in done.stderr


def test_outside_a_workspace_a_new_one_is_made_and_its_place_is_told(state: Path, tmp_path: Path) -> None:
    done = litany("run", "-", cwd=tmp_path, state=state, stdin=LIST)
    assert done.returncode == 0
    assert done.stdout == "[]\n"
    first = done.stderr.splitlines()[0]
    (made,) = (state / "litany" / "workspaces").iterdir()
    assert f"{made} with no files ({tmp_path} is in no git repository: name a folder with --files)" in first
    assert litany("show", "--workspace", str(made), cwd=tmp_path, state=state).stdout.count("call_1") == 1


def test_a_run_in_a_repository_has_a_copy_of_its_tracked_files(repository: Path, state: Path) -> None:
    done = litany("run", "-", cwd=repository, state=state, stdin=LIST)
    assert done.stdout == "['kept', 'sub']\n"
    assert "2 files that git tracks" in done.stderr
    assert (repository / "kept").read_text() == "as it was"
    assert litany("run", "-", cwd=repository / "sub", state=state, stdin=LIST).stdout == "['inner']\n"


def test_files_are_copied_from_a_folder_or_not_at_all_when_asked(
    repository: Path, state: Path, tmp_path: Path
) -> None:
    done = litany("run", "-", "--files", str(repository), cwd=tmp_path, state=state, stdin=LIST)
    assert done.stdout == "['kept', 'secret', 'sub']\n"
    one = litany("run", "-", "--files", str(repository / "sub"), cwd=tmp_path, state=state, stdin=LIST)
    assert "with 1 file of" in one.stderr
    (repository / "empty").mkdir()
    none = litany("run", "-", cwd=repository / "empty", state=state, stdin=LIST)
    assert f"no files (git tracks none in {repository}/empty: name a folder" in none.stderr
    assert litany("run", "-", "--no-files", cwd=repository, state=state, stdin=LIST).stdout == "[]\n"
    missing = litany("run", "-", "--files", "none", cwd=tmp_path, state=state, stdin=LIST)
    assert missing.returncode == 2
    assert "none" in missing.stderr


INSIDE = {"to-file": "kept", "to-folder": "sub", "dangling": "nothing-here", "sub/up": "../kept"}
INSIDE |= {"sub/sub/sub/top": "../../../sub"}


def links(tmp_path: Path, repository: Path) -> dict[str, str]:
    """Make links that stay inside the repository and links that do not; those that do not, by name."""
    (tmp_path / "outside").write_text("outside")
    outside = {"absolute": str(tmp_path / "outside"), "out": "../outside", "sub/out": "../../outside"}
    outside |= {"own": str(repository / "kept"), "chained": "to-folder/../../outside"}
    outside |= {"and-back": "../repository/kept", "elsewhere": "sub/sub/sub/top/../../outside"}
    (repository / "sub/sub/sub").mkdir(parents=True)
    for name, target in (INSIDE | outside).items():
        (repository / name).symlink_to(target)
    return outside


READ_LINKS = (
    "import os\n"
    "for name in ('to-file', 'to-folder/inner', 'sub/up'):\n    print(open(name).read())\n"
    "print(sorted(os.listdir('.')), sorted(os.listdir('sub')))\n"
)


@pytest.mark.parametrize("how", ["tracked", "folder"])
def test_links_that_stay_inside_are_copied_and_those_that_lead_out_are_named(
    repository: Path, state: Path, tmp_path: Path, how: str
) -> None:
    outside = links(tmp_path, repository)
    index = pygit2.Repository(repository).index
    index.add_all([*INSIDE, *outside])
    index.write()
    where = repository if how == "tracked" else tmp_path
    named = () if how == "tracked" else ("--files", str(repository))
    done = litany("run", "-", *named, cwd=where, state=state, stdin=READ_LINKS)
    assert done.stdout.splitlines()[:3] == ["as it was", "deeper", "as it was"], done.stderr
    for name in ("to-file", "to-folder", "dangling", "up"):
        assert f"'{name}'" in done.stdout
    said = done.stderr.splitlines()[0]
    for name in outside:
        assert name in said.partition("left out")[2]
    assert "'absolute'" not in done.stdout
    assert "'out'" not in done.stdout


# -- readers of the output ------------------------------------------------------------------------------------


def test_a_reader_that_does_not_read_holds_up_no_deadline(place: Path, state: Path) -> None:
    with start("run", "--deadline", "1s", "-", cwd=place, state=state) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"while True: print('x' * 1000)")
        process.stdin.close()
        output = place / "steps/a/001/tools/call_1/output.json"
        until = time.monotonic() + 20
        while not output.exists():
            assert time.monotonic() < until
            time.sleep(0.02)
        assert (
            json.loads(output.read_text())["duration_s"] < 10
        )  # not for ever, which is what it would take if it waited
        process.stdout.close()
        process.wait(10)


def test_a_reader_that_leaves_stops_the_program(place: Path, state: Path) -> None:
    with start("run", "-", cwd=place, state=state) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"while True: print('x' * 1000)")
        process.stdin.close()
        process.stdout.read(10)
        process.stdout.close()
        assert process.wait(20) == 141
        assert process.stderr is not None
        assert process.stderr.read() == b""
    output = json.loads((place / "steps/a/001/tools/call_1/output.json").read_text())
    assert (output["outcome"], output["reason"]) == ("stopped", "nobody reads its output any more")


FULL = Path("/dev/full")


@pytest.mark.parametrize(
    ("arguments", "program"),
    [
        (["run", "-"], "for k in range(10**6): print(k)"),
        (["run", "-"], "print(1)"),
        (["run", "--json", "-"], "print(1)"),
        (["stubs"], ""),
        (["show"], ""),
        (["invoke"], '{"name": "bash", "input": {"command": "echo here"}}'),
        (["tool", "bash"], '{"command": "echo here"}'),
        (["check", "-"], "import socket"),
        (["doctor"], ""),
    ],
)
def test_an_output_that_cannot_be_written_is_one_line_and_a_fault(
    run: Run, place: Path, state: Path, arguments: list[str], program: str
) -> None:
    run("-", stdin="print(1)")  # something to show
    with FULL.open("wb") as full, start(*arguments, cwd=place, state=state, stdout=full) as process:
        _, said = process.communicate(program.encode(), timeout=60)
    assert process.returncode == 125
    assert said.startswith(b"litany: the output cannot be written: No space left on device")
    assert said.count(b"\n") == 1


@pytest.mark.parametrize("arguments", [["stubs"], ["show", "--json"], ["describe"]])
def test_a_reader_that_has_left_ends_a_command_quietly(
    run: Run, place: Path, state: Path, arguments: list[str]
) -> None:
    run("-", stdin="print(1)")
    reading, writing = os.pipe()
    os.close(reading)
    with start(*arguments, cwd=place, state=state, stdout=writing) as process:
        os.close(writing)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (141, b"")


def test_a_closed_stdout_takes_nothing_of_anybody(place: Path, state: Path) -> None:
    script = f"{' '.join(COMMAND)} run - >&- 2>said"
    done = subprocess.run(
        ["sh", "-c", script], check=False, input=b"print(1)", cwd=place, env=environment(state), timeout=60
    )
    assert done.returncode == 0
    assert "completed (exit 0)" in (place / "said").read_text()


NOISY = """\
import os, subprocess, sys
from litany_engine import tool
print("at import")
@tool
def sync(n: int) -> int:
    'Print in a thread.'
    print("from sync")
    subprocess.run(["echo", "from a process"], check=True)
    os.write(1, b"from descriptor 1\\n")
    return n
@tool
async def asynchronous(n: int) -> int:
    'Print in a task.'
    print("from async")
    return n
"""


@pytest.mark.parametrize("json_wanted", [False, True])
def test_what_tools_print_is_on_stderr_and_stdout_is_the_programs(
    run: Run, place: Path, json_wanted: bool
) -> None:
    (place / "t.py").write_text(NOISY)
    program = "import litany_tools\nprint(litany_tools.sync(n=1).data, litany_tools.asynchronous(n=2).data)\n"
    done = run("--tools", "t.py", *(["--json"] if json_wanted else []), "-", stdin=program)
    stdout = json.loads(done.stdout)["stdout"] if json_wanted else done.stdout
    assert stdout == "1 2\n"
    for said in ("at import", "from sync", "from async", "from a process", "from descriptor 1"):
        assert said in done.stderr
    one = litany("tool", "sync", "--tools", "t.py", "-i", '{"n": 3}', cwd=place, state=place.parent / "state")
    block = '{"name": "sync", "input": {"n": 3}}'
    same = litany("invoke", "--tools", "t.py", cwd=place, state=place.parent / "state", stdin=block)
    assert (same.returncode, same.stdout) == (0, "Exit code: 0\n3")
    assert one.stdout.strip() == "3"
    assert "from a process" in one.stderr


def test_letters_that_the_terminal_cannot_show_are_escapes(run: Run, place: Path, state: Path) -> None:
    run("-", stdin="print('h\u00e9 \u2713')")
    ascii_only = partial(litany, cwd=place, state=state, env={"PYTHONIOENCODING": "ascii"})
    shown = ascii_only("show", "call_1")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "h\\xe9 \\u2713" in shown.stdout
    assert json.loads(ascii_only("show", "call_1", "--json").stdout)["stdout"] == "h\u00e9 \u2713\n"


def test_a_folder_that_is_gone_is_said(place: Path, state: Path, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    for command in ("show", "run x.py", "init", "doctor"):
        done = subprocess.run(
            ["sh", "-c", f"rmdir ../gone; exec {' '.join(COMMAND)} {command}"],
            check=False, capture_output=True, text=True, cwd=tmp_path / "gone", env=environment(state), timeout=60,
        )  # fmt: skip
        (tmp_path / "gone").mkdir()
        assert done.returncode == 125
        assert done.stderr == "litany: the current folder is gone; go to another one (cd) and try again\n"


def test_a_file_that_may_not_be_read_is_a_line_with_its_name(run: Run, place: Path, state: Path) -> None:
    run("-", stdin="print(1)")
    (place / "steps/a/001").chmod(0)
    done = subprocess.run(
        [sys.executable, "-c", LIKE_ANYBODY, *COMMAND[1:], "show", "1"],
        check=False, capture_output=True, text=True, cwd=place, env=environment(state), timeout=60,
    )  # fmt: skip
    (place / "steps/a/001").chmod(0o700)
    assert done.returncode == 125
    assert "internal error" not in done.stderr
    assert "Permission denied" in done.stderr
    assert f"{place}/steps/a/001" in done.stderr


def test_on_a_terminal_a_live_line_shows_calls_in_flight_and_leaves_no_trace(
    place: Path, state: Path
) -> None:
    ours, theirs = pty.openpty()
    program = b"import litany_tools\nprint('begun', flush=True)\nlitany_tools.bash(command='while [ ! -e go ]; do sleep 0.01; done')"
    with start("run", "-", cwd=place, state=state, stderr=theirs) as process:
        os.close(theirs)
        assert process.stdin is not None
        process.stdin.write(program)
        process.stdin.close()
        shown = b""
        until = time.monotonic() + 20
        while b"in flight: 1 bash" not in shown:
            assert time.monotonic() < until, shown
            if select.select([ours], [], [], 0.1)[0]:
                shown += os.read(ours, 65536)
        (place / "agents/a/go").touch()
        assert process.wait(10) == 0
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not chunk:
                break
            shown += chunk
    os.close(ours)
    rest = shown.rpartition(b"\r\x1b[K")[2]
    assert rest.startswith(b"litany: completed")


def on_a_terminal(place: Path, state: Path, program: str, *arguments: str) -> bytes:
    """What a terminal gets on stdout of a run."""
    ours, theirs = pty.openpty()
    with start("run", *arguments, "-", cwd=place, state=state, stdout=theirs) as process:
        os.close(theirs)
        assert process.stdin is not None
        process.stdin.write(program.encode())
        process.stdin.close()
        shown = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not chunk:
                break
            shown += chunk
        assert process.wait(60) == 0
    os.close(ours)
    return shown.replace(b"\r\n", b"\n")  # what a terminal makes of a line break


ACTING = "import sys\nsys.stdout.write('a\\x1b]0;mine\\x07b\\x1b[2J\\r\\x9b1mc\\u202ed\\té\\n')\n"


def test_a_programs_control_characters_do_nothing_to_a_terminal(place: Path, state: Path) -> None:
    shown = on_a_terminal(place, state, ACTING)
    assert shown.decode() == "a\\x1b]0;mine\\x07b\\x1b[2J\\r\\x9b1mc\\u202ed\té\n"


def test_what_a_program_prints_is_shown_as_it_is_when_asked_for_or_in_a_pipe(
    place: Path, state: Path, run: Run
) -> None:
    raw = "a\x1b]0;mine\x07b\x1b[2J\r\x9b1mc\u202ed\té\n"
    assert on_a_terminal(place, state, ACTING, "--raw").decode() == raw
    assert run("-", stdin=ACTING).stdout == raw


def test_a_character_in_two_pieces_is_one_on_a_terminal() -> None:
    stream = PlainStream()
    assert stream.feed("é".encode()[:1]) + stream.feed("é\n".encode()[1:]) == "é\n".encode()
    assert stream.feed(b"\xff\xc3") + stream.feed(b"", last=True) == b"\\xff\\xc3"


# -- the examples ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("example", "words"),
    [
        ("line_counts", ["folder", "engine", "runtime", "stubs", "all"]),
        ("join_and_branch", ["NEWS.md: exit code 1", "# Changelog", "refused by the schema gate"]),
        ("async_fan_out", ["answers: [0, 1, 2, 3, 4]"]),
        (
            "patch_after_reading",
            ["before: ['buy milk', 'write the program', 'call Ann']", "'write the program (done)'"],
        ),
    ],
)
def test_each_example_runs_as_it_is(state: Path, tmp_path: Path, example: str, words: list[str]) -> None:
    files = tmp_path / "files"
    for wing in ("engine", "runtime", "stubs"):
        shutil.copytree(ROOT / wing, files / wing, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "CHANGELOG.md", files)
    source = ROOT / "examples" / f"{example}.py"
    done = litany("run", str(source), "--files", str(files), cwd=tmp_path, state=state)
    assert done.returncode == 0, done.stderr
    for word in words:
        assert word in done.stdout
    (made,) = (state / "litany" / "workspaces").iterdir()
    shown = litany("show", "--json", "--workspace", str(made), cwd=tmp_path, state=state)
    (program,) = json.loads(shown.stdout)["calls"]
    calls = int(re.search(r"m?s, (\d+) calls?,", done.stderr)[1])  # type: ignore[index]
    assert len(program["calls"]) == calls > 0
    record = next(made.glob("steps/*/001/tools/call_1"))
    assert (record / "program.py").read_bytes() == source.read_bytes()
    assert {"input.json", "program.py", "litany_tools.py", "output.json"} == {
        path.name for path in record.iterdir()
    }


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("host", ["ordering ten", "completed, 6 calls"]),
        ("asyncio_host", ["{'pear': 2.25}", "the program was ended"]),
        ("agent", ["toolu_1: 'Exit code: 0\\n3 letters", "toolu_2: ", "the last window: finished"]),
        ("demo", ["all", "call_1-1 ", "read_file"]),
    ],
)
def test_each_host_and_the_demo_run_as_they_are(
    state: Path, tmp_path: Path, script: str, words: list[str]
) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / f"{script}.py")],
        check=False,
        capture_output=True,
        cwd=tmp_path,
        env=os.environ | {"XDG_STATE_HOME": str(state)},
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    for word in words:
        assert word in done.stdout


# -- finding what ran


def test_a_run_outside_a_workspace_is_found_again(tmp_path: Path, state: Path) -> None:
    for text in ("one", "two"):
        litany("run", "-", "--no-files", cwd=tmp_path, state=state, stdin=f"print('{text}')")
    for arguments in (["show"], ["show", "--last"], ["show", "call_1"]):
        shown = litany(*arguments, cwd=tmp_path, state=state)
        assert (shown.returncode, "python" in shown.stdout) == (0, True)
        assert "the last run outside of any" in shown.stderr
    assert "two" in litany("show", "call_1", cwd=tmp_path, state=state).stdout
    first, second = litany("runs", cwd=tmp_path, state=state).stdout.splitlines()
    assert "completed  python" in first
    assert first != second
    listed = json.loads(litany("runs", "--json", "-n", "1", cwd=tmp_path, state=state).stdout)
    assert [each["outcome"] for each in listed] == ["completed"]
    show = shlex.split(listed[0]["show"])[1:]
    assert litany(*show, cwd=tmp_path, state=state).returncode == 0


def test_runs_of_a_workspace_are_its_steps(run: Run, place: Path, state: Path) -> None:
    run("-", stdin="raise SystemExit(3)")
    listed = litany("runs", cwd=place, state=state)
    assert (listed.returncode, "failed     python" in listed.stdout) == (0, True)
    assert "litany show a/001\n" in listed.stdout
    nothing = litany("show", "--last", cwd=place, state=state)
    assert (nothing.returncode, nothing.stdout) == (125, "")
    assert "nothing ran outside a workspace" in nothing.stderr


@pytest.mark.parametrize(
    ("folder", "mode"), [("", 0o555), ("new", 0o555), ("a/b", 0o555), ("", 0), ("a/b", 0)]
)
def test_a_workspace_where_one_may_not_write_is_named_by_its_own_name(
    tmp_path: Path, state: Path, folder: str, mode: int
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(mode)
    done = subprocess.run(
        [sys.executable, "-c", LIKE_ANYBODY, "-m", "litany_engine", "init", str(closed / folder)],
        check=False, capture_output=True, text=True, cwd=tmp_path, env=environment(state), timeout=60,
    )  # fmt: skip
    closed.chmod(0o755)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (125, "", 1)
    assert (
        f"cannot make a workspace in {closed / folder}: Permission denied; you may not write" in done.stderr
    )
    assert ".litany" not in done.stderr
    assert list(closed.iterdir()) == []


# -- check, describe, replay ----------------------------------------------------------------------------------


def test_check_says_what_is_wrong_without_running_anything(place: Path, state: Path) -> None:
    check = partial(litany, "check", "-", cwd=place, state=state)
    assert check(stdin="print(1)\n").returncode == 0
    done = check(stdin="open('made', 'w')\nimport socket\n")
    assert done.returncode == 126
    assert done.stdout.startswith("<stdin>:2:")
    (finding,) = json.loads(check("--json", stdin="x = 1\nimport socket").stdout)
    assert (finding["file"], finding["line"]) == ("<stdin>", 2)
    assert set(finding) == {"file", "line", "column", "rule", "message", "hint"}
    assert not (place / "agents/a/made").exists()
    assert list((place / "steps/a").iterdir()) == []


def test_describe_fits_its_budget(place: Path, state: Path) -> None:
    describe = partial(litany, "describe", cwd=place, state=state)
    assert "read_file(" in describe().stdout
    assert len(describe("--budget", "400").stdout) <= 400
    assert describe("--budget", "5").returncode == 2


def test_replay_of_a_program_that_gave_up_a_call_has_it_given_up_again(place: Path, state: Path) -> None:
    program = (
        "import asyncio\nfrom litany_tools import aio\ntry:\n    async with asyncio.timeout(0.3):\n"
        "        print(await aio.bash(command='sleep 60'))\nexcept TimeoutError:\n    print('gave up')\n"
    )
    assert litany("run", "-", cwd=place, state=state, stdin=program).stdout == "gave up\n"
    same = litany("replay", "call_1", cwd=place, state=state)
    assert (same.returncode, same.stdout) == (0, "gave up\n"), same.stderr


def test_replay_of_an_unchanged_program_is_the_same_and_of_a_changed_one_names_the_call(
    run: Run, place: Path, state: Path, tmp_path: Path
) -> None:
    run(
        "-",
        stdin="import litany_tools\nfor k in range(3):\n    print(litany_tools.bash(command=f'echo {k} $RANDOM').stdout)\nopen('made', 'w')",
    )
    (place / "agents/a/made").unlink()
    replay = partial(litany, "replay", "call_1", cwd=place, state=state)
    same = replay()
    assert same.returncode == 0
    assert "the same calls (3)" in same.stderr
    assert same.stdout == json.loads((place / "steps/a/001/tools/call_1/output.json").read_text())["stdout"]
    assert not (place / "agents/a/made").exists()
    (tmp_path / "changed.py").write_text(
        "import litany_tools\nfor k in (0, 7):\n    litany_tools.bash(command=f'echo {k} $RANDOM')\n"
    )
    changed = replay(str(tmp_path / "changed.py"))
    assert changed.returncode == 1
    assert "call 2 differs" in changed.stderr
    assert len(list((place / "steps/a").iterdir())) == 1
    assert [path.name for path in place.iterdir() if path.name.startswith(".replay")] == []


def test_stubs_written_to_a_folder_call_the_real_door_from_outside(
    place: Path, state: Path, tmp_path: Path
) -> None:
    done = litany("stubs", "-o", str(tmp_path / "lib"), cwd=place, state=state)
    assert str(tmp_path / "lib" / "litany_tools.py") in done.stderr
    variables = done.stdout.strip()  # for a shell
    assert variables.startswith("export ")
    program = "import litany_tools; print(litany_tools.bash(command='echo here').stdout)"
    outside = subprocess.run(
        ["sh", "-c", f'{variables}; exec {sys.executable} -c "{program}"'],
        check=False,
        capture_output=True,
        cwd=tmp_path,
        text=True,
        timeout=60,
    )
    assert outside.stdout == "here\n\n", outside.stderr
    assert (place / "steps/a/001/tools/call_1/output.json").exists()


# -- doctor ---------------------------------------------------------------------------------------------------


def test_doctor_tells_each_layer_it_tried_and_whether_programs_can_run(
    run: Run, place: Path, state: Path
) -> None:
    doctor = partial(litany, "doctor", cwd=place, state=state)
    told = json.loads(doctor("--json").stdout)
    assert {"layer", "held", "tried", "seen", "remedy"} <= set(told["layers"][0])
    assert told["isolation"] == "full"
    done = doctor()
    assert done.returncode == (0 if told["held"] else 125)
    for row in told["layers"]:
        assert row["layer"] in done.stdout
    # What it says is what a run finds.
    assert (run("-", stdin="print(1)").returncode == 0) == told["held"]


def test_doctor_names_the_modules_that_widen_the_language_layer(place: Path, state: Path) -> None:
    (place / "litany.toml").write_text('modules = ["colorsys"]\n')
    done = litany("doctor", cwd=place, state=state)
    assert "colorsys" in done.stdout


def test_doctor_finds_out_which_modules_programs_cannot_import(place: Path, state: Path, run: Run) -> None:
    (place / "litany.toml").write_text('modules = ["nosuch", "colorsys"]\n')
    done = litany("doctor", cwd=place, state=state)
    assert done.returncode == 125
    assert "nosuch cannot be imported by programs here, so none is run" in done.stdout
    assert "colorsys cannot" not in done.stdout
    told = json.loads(litany("doctor", "--json", cwd=place, state=state).stdout)
    assert (told["held"], [*told["module_faults"]]) == (False, ["nosuch"])
    assert run("-", stdin="print(1)").returncode == 125  # as doctor says


def test_a_run_warns_first_and_its_last_line_tells_of_calls_and_of_the_time_waited(
    run: Run, tmp_path: Path
) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text(
        "import time\nfrom litany_engine import tool\ntime.sleep(1)\n"
        '@tool\ndef slow() -> str:\n    """Says nothing."""\n    return \'\'\n'
    )
    done = run("-", "--tools", str(slow), stdin=UNSEEN)
    assert (done.returncode, done.stdout) == (0, "done\n")
    warned = [line for line in done.stderr.splitlines() if "warning: " in line]
    assert warned == [
        "litany: warning: <stdin>:3:1: no tool bsh is granted (did you mean bash?): its call will be refused",
        "litany: warning: <stdin>:4:1: apply_patch() got an unexpected keyword argument 'patch'; it takes input",
    ]
    told = last_line(done.stderr)
    assert (
        "4 calls, 2 refused (bsh: not granted; apply_patch: 'patch' is not known); "
        "3 failed results never looked at (bsh; apply_patch; bash: exit code 3), record "
    ) in told
    seconds = re.search(r"completed \(exit 0\) in ([0-9.]+) s,", told)
    assert seconds is not None
    assert float(seconds[1]) > 1  # the door's own time does not hold what happens before it


UNSEEN = """
import litany_tools as t
t.bsh(command="ls")
t.apply_patch(patch="x")
t.bash(command="exit 3")
if not t.bash(command="exit 4").ok:
    print("done")
"""
