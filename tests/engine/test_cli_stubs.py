"""The stubs at the command line: checked before a run, replayed after it, used where no sandbox is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import cli_kit
from litany_engine.workspaces.new_workspace import init_workspace

Litany = Callable[..., "subprocess.CompletedProcess[str]"]

TOOLS = {
    "word_count": {
        "name": "word_count",
        "description": "Count the words of a text.",
        "command": [
            sys.executable,
            "-c",
            "import json, sys; t = json.load(sys.stdin)['text']; print(len(t.split()))",
        ],
        "input_schema": {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "unit": {"type": "string", "enum": ["words", "lines"], "nullable": True},
            },
            "required": ["text"],
            "additionalProperties": False,
        },
        "output_schema": {"type": "integer"},
    },
    "nothing": {
        "name": "nothing",
        "description": "Find nothing.",
        "command": [sys.executable, "-c", "print('null')"],
        "input_schema": {"type": "object"},
        "output_schema": {"type": "integer", "nullable": True},
    },
    "raw-bytes": {
        "name": "raw-bytes",
        "description": "Bytes that are no text.",
        "command": [sys.executable, "-c", r"import sys; sys.stdout.buffer.write(b'\xff\x00'); sys.exit(3)"],
        "input_schema": {"type": "object"},
    },
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace with one agent, `a`, and tools of its own."""
    root = init_workspace(tmp_path / "ws", agent="a").root
    (root / "tools").mkdir()
    for name, descriptor in TOOLS.items():
        (root / "tools" / f"{name}.json").write_text(json.dumps(descriptor))
    (root / "litany.toml").write_text(
        '[tools]\ndescriptors = ["tools"]\n'
        '[roles.default]\ngrant = ["python", "read_file", "word_count", "raw-bytes", "nothing"]\n'
    )
    (root / "agents/a/a.txt").write_text("one two\n")
    return root


@pytest.fixture
def litany(place: Path, tmp_path: Path) -> Litany:
    return partial(cli_kit.litany, cwd=place, state=tmp_path / "state")


def steps(place: Path) -> list[Path]:
    return list((place / "steps" / "a").iterdir())


# -- check ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "column", "said"),
    [
        ("t.word_count(text=5)", 14, "word_count, argument text: Expected `str`"),
        ("t.word_count(text='a', unit='pages')", 24, "word_count, argument unit:"),
        ("t.word_count()", 1, "parameter `text`"),
        ("t.word_count(text='a', txt='b')", 24, "word_count, argument txt:"),
        ("t.word_cuont(text='a')", 1, "`word_cuont`; did you mean word_count?"),
        ("t.bash(command='true')", 1, "`bash`; the tools are: nothing, raw_bytes, read_file, word_count"),
    ],
)
def test_check_names_the_tool_and_the_parameter_with_line_and_column_and_runs_nothing(
    litany: Litany, place: Path, call: str, column: int, said: str
) -> None:
    program = f"import litany_tools as t\n\n{call}\n"
    done = litany("check", "-", stdin=program)
    assert done.returncode == 126
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"<stdin>:3:{column}: tools: ")
    assert said in line
    (finding,) = json.loads(litany("check", "--json", "-", stdin=program).stdout)
    assert (finding["line"], finding["column"], finding["rule"]) == (3, column, "tools")
    assert steps(place) == []


def test_check_lets_a_right_program_through(litany: Litany) -> None:
    program = "import litany_tools as t\nn = t.word_count(text='a', unit=None).data\nt.invoke('raw-bytes')\nprint(n + 1)\n"
    done = litany("check", "-", stdin=program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    ran = litany("run", "-", stdin=program)
    assert (ran.returncode, ran.stdout) == (0, "2\n"), ran.stderr


def test_a_tool_may_answer_null_where_its_output_is_nullable(litany: Litany) -> None:
    ran = litany("run", "-", stdin="import litany_tools\nprint(litany_tools.nothing().check().data)")
    assert (ran.returncode, ran.stdout) == (0, "None\n"), ran.stderr


# -- describe -------------------------------------------------------------------------------------------------


def test_describe_tells_what_is_granted_and_a_budget_is_kept(litany: Litany) -> None:
    text = litany("describe").stdout
    assert 'word_count(text: str, unit: Literal["words", "lines"] | None = ...)' in text
    assert "Count the words of a text." in text
    assert "raw-bytes" in text
    assert "bash" not in text
    short = litany("describe", "--budget", "300").stdout
    assert len(short) <= 300
    assert "search(" in short


# -- replay ---------------------------------------------------------------------------------------------------

PROGRAM = """\
import asyncio, sys
import litany_tools
from litany_tools import aio
counts = await asyncio.gather(*(aio.word_count(text="x " * n) for n in range(5)))
print([each.data for each in counts])
raw = litany_tools.invoke("raw-bytes", {"n": 1.0})
print(raw.stdout_bytes, raw.exit_code, raw.outcome)
print(litany_tools.invoke("bash", {"command": "true"}).refusal)
print(litany_tools.read_file(path="a.txt").stdout, file=sys.stderr)
sys.exit(3)
"""


def test_a_replay_prints_the_same_without_any_tool(litany: Litany, place: Path) -> None:
    ran = litany("run", "-", stdin=PROGRAM)
    assert ran.returncode == 3
    assert ran.stdout.startswith("[0, 1, 2, 3, 4]\nb'\\xff\\x00' 3 failed\n")
    for each in (place / "tools").iterdir():
        each.write_text(each.read_text().replace("print(", "exit(").replace("write", "tell"))
    (place / "agents/a/a.txt").write_text("changed since\n")
    again = litany("replay", "call_1")
    assert (again.returncode, again.stdout) == (0, ran.stdout), again.stderr
    assert "one two" in again.stderr
    assert "the same calls (8), the same end, the same output" in again.stderr
    assert len(steps(place)) == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("range(5)", "range(1, 6)", r'call \d differs: the program asked for word_count\(.*"x x x x x "'),
        ("1.0", "2", r"call 6 differs: .*raw-bytes.*; they differ at input\.n: 1\.0 recorded, 2 asked"),
        ('"a.txt"', '"b.txt"', r'they differ at input\.path: "a\.txt" recorded, "b\.txt" asked'),
        ("sys.exit(3)", "litany_tools.read_file(path='a.txt')", "call 9 differs: .*holds no further call"),
        (
            "print(litany_tools.read_file(path",
            "print(dict(path",
            r'ended without call 8: read_file\(\{"path": "a\.txt"\}\)',
        ),
    ],
)
def test_a_replay_of_a_changed_program_names_the_first_call_that_differs(
    litany: Litany, tmp_path: Path, old: str, new: str, said: str
) -> None:
    litany("run", "-", stdin=PROGRAM)
    assert old in PROGRAM
    (tmp_path / "changed.py").write_text(PROGRAM.replace(old, new))
    changed = litany("replay", "call_1", str(tmp_path / "changed.py"))
    assert changed.returncode == 1
    assert re.search(said, changed.stderr), changed.stderr


# -- outside the sandbox --------------------------------------------------------------------------------------


def exported(litany: Litany, folder: Path) -> dict[str, str]:
    """Write the stubs; the variables that the command tells the user to set."""
    done = litany("stubs", "-o", str(folder))
    (line,) = done.stdout.splitlines()  # for `eval "$(…)"`: what else there is to say is on stderr
    export = line.removeprefix("export ")
    return dict(each.split("=", 1) for each in export.split(" "))


def outside(folder: Path, variables: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env=cli_kit.environment(folder) | variables,
        timeout=120,
    )


def test_written_stubs_make_gated_and_recorded_calls_of_a_real_workspace(
    litany: Litany, place: Path, tmp_path: Path
) -> None:
    (tmp_path / "p.py").write_text(
        "import asyncio, litany_tools\n"
        "from litany_tools import aio\n"
        "async def main():\n"
        "    return await asyncio.gather(*(aio.word_count(text='x ' * n) for n in range(3)))\n"
        "print([each.data for each in asyncio.run(main())])\n"
        "raw = litany_tools.invoke('raw-bytes')\n"
        "print(raw.stdout_bytes, raw.exit_code, raw.outcome)\n"
        "print(litany_tools.invoke('bash', {'command': 'touch made'}).refusal.gate)\n"
        "print(litany_tools.read_file(path='a.txt').stdout.strip())\n"
    )
    done = outside(tmp_path, exported(litany, tmp_path / "lib"), "p.py")
    assert done.stdout.splitlines() == ["[0, 1, 2]", r"b'\xff\x00' 3 failed", "grant", "one two"], done.stderr
    records = [json.loads(each.read_text()) for each in place.glob("steps/a/*/tools/*/output.json")]
    assert sorted(each["outcome"] for each in records) == ["completed"] * 4 + ["failed", "refused"]
    assert not (place / "agents/a/made").exists()


def test_written_stubs_are_tested_with_the_fixture_and_pytest_alone(litany: Litany, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import litany_tools\n"
        "from litany_stubs.testing import failure\n"
        "def test_it(fake_door):\n"
        "    fake_door.answers('word_count', '7', failure('no', exit_code=4))\n"
        "    assert litany_tools.word_count(text='a').data == 7\n"
        "    assert litany_tools.word_count(text='a').exit_code == 4\n"
        "    assert litany_tools.fan_out(litany_tools.read_file, [{'path': 'b'}])[0].refusal.gate == 'grant'\n"
        "    assert fake_door.calls_of('word_count') == [{'text': 'a'}] * 2\n"
    )
    variables = {"PYTHONPATH": exported(litany, tmp_path / "lib")["PYTHONPATH"]}
    done = outside(tmp_path, variables, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    assert "1 passed" in done.stdout, done.stdout


def test_written_stubs_without_a_workspace_say_what_to_do(litany: Litany, tmp_path: Path) -> None:
    variables = {"PYTHONPATH": exported(litany, tmp_path / "lib")["PYTHONPATH"]}
    done = outside(tmp_path, variables, "-c", "import litany_tools\nlitany_tools.word_count(text='a')")
    assert done.returncode == 1
    assert "fake_door" in done.stderr
    assert "litany stubs" in done.stderr


def test_a_type_checker_reads_the_written_stubs(litany: Litany, tmp_path: Path) -> None:
    exported(litany, tmp_path / "lib")
    (tmp_path / "lib" / "p.py").write_text("import litany_tools\nlitany_tools.word_count(text=5)\n")
    checker: Any = Path(sys.executable).with_name("ty")
    done = outside(
        tmp_path / "lib",
        {},
        "-c",
        f"import subprocess\nsubprocess.run([{str(checker)!r}, 'check', 'p.py', '--python', {sys.prefix!r}])",
    )
    assert "p.py:2:25" in done.stdout


def test_the_program_of_the_testing_example_runs_with_its_real_tools_too(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "testing"
    repository = tmp_path / "repository"
    git = ["git", "-c", "user.name=n", "-c", "user.email=n@example.org", "-C", str(repository)]
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    for title in ("Begin", "Add search", "Fix a crash", "Add export"):
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", title], check=True)
        if title == "Begin":
            subprocess.run([*git, "tag", "v1.2"], check=True)
    done = cli_kit.litany(
        *("run", "--json", "--tools", str(example / "tools.py"), str(example / "release_notes.py")),
        cwd=repository,
        state=tmp_path / "state",
    )
    told = json.loads(done.stdout)
    assert (told["stdout"], told["stderr"], told["exit_code"]) == ("2 features, 1 fixes\n", "", 0)
    (notes,) = (tmp_path / "state").glob("litany/**/agents/*/NOTES.md")
    assert notes.read_text() == "## New\n- Add export\n- Add search\n\n## Fixed\n- Fix a crash\n"


# -- tools of a file, and no workspace ------------------------------------------------------------------------

SALUTE = """\
from litany_engine import tool
@tool
def salute(name: str) -> str:
    'Greet somebody.'
    return f"hello {name}"
"""


@pytest.fixture
def outside_any(tmp_path: Path) -> Litany:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "tools.py").write_text(SALUTE)
    (folder / "p.py").write_text("import litany_tools\nprint(litany_tools.salute(name='Ann').stdout)\n")
    (folder / "wrong.py").write_text("import litany_tools\nprint(litany_tools.salute(nam='Ann').stdout)\n")
    return partial(cli_kit.litany, cwd=folder, state=tmp_path / "state")


def test_the_tools_of_a_file_are_there_for_every_command_that_tells_of_tools(
    litany: Litany, place: Path, tmp_path: Path
) -> None:
    (place / "litany.toml").write_text("")
    (tmp_path / "t.py").write_text(SALUTE)
    tools = ("--tools", str(tmp_path / "t.py"))
    right, wrong = (
        f"import litany_tools\nprint(litany_tools.salute({n}='Ann').stdout)\n" for n in ("name", "nam")
    )
    assert litany("check", *tools, "-", stdin=right).returncode == 0
    assert "salute" in litany("check", *tools, "-", stdin=wrong).stdout
    assert "salute" in litany("check", "-", stdin=right).stdout
    assert "def salute(" in litany("stubs", *tools).stdout
    assert "salute(name: str)" in litany("describe", *tools).stdout
    assert "Greet somebody" in litany("tool", *tools).stdout
    done = litany("tool", "salute", *tools, "--input", '{"name": "Bo"}')
    assert (done.returncode, done.stdout.strip()) == (0, "hello Bo")
    assert "salute" not in litany("describe").stdout


def test_outside_a_workspace_the_policy_is_checked_and_what_was_not_is_said(outside_any: Litany) -> None:
    done = outside_any("check", "p.py")
    assert (done.returncode, done.stdout) == (0, "")
    assert "its calls of tools were not checked" in done.stderr
    refused = outside_any("check", "-", stdin="import socket\n")
    assert (refused.returncode, refused.stderr) == (126, "")
    silent = outside_any("check", "-", stdin="print(1)\n")
    assert (silent.returncode, silent.stderr) == (0, "")
    checked = outside_any("check", "--tools", "tools.py", "p.py")
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
    assert outside_any("check", "--tools", "tools.py", "wrong.py").returncode == 126


def test_outside_a_workspace_the_built_in_tools_are_told_of(outside_any: Litany, tmp_path: Path) -> None:
    assert "def bash(" in outside_any("stubs").stdout
    assert "bash(command: str" in outside_any("describe").stdout
    assert "salute(" in outside_any("describe", "--tools", "tools.py").stdout
    assert "bash" in outside_any("tool").stdout
    wrote = outside_any("stubs", "-o", "lib")
    assert wrote.stdout == f"export PYTHONPATH={tmp_path}/outside/lib\n"
    named = outside_any("describe", "--agent", "a")
    assert (named.returncode, named.stdout) == (2, "")
    assert "--agent a" in named.stderr
    assert not (tmp_path / "state").exists()
