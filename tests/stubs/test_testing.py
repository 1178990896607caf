"""The door in memory: a program tested with pytest alone."""

from __future__ import annotations

import linecache
import os
import subprocess
import sys
from pathlib import Path

import pytest

from litany_runtime.policy import PolicyError, check
from litany_stubs import client, testing
from litany_stubs.render import write_stubs
from litany_stubs.testing import Call, FakeDoor, failure, late, output, refusal, unreachable
from litany_stubs.words import DoorError, Reply
from stubs_kit import declared

COUNT = """
import litany_tools
print(len(litany_tools.read_file(path="notes.txt").check().stdout.splitlines()))
"""


def test_a_program_runs_against_prepared_answers(fake_door: FakeDoor) -> None:
    fake_door.answers("read_file", "one\ntwo\n")
    assert fake_door.run(COUNT) == ("2\n", "", 0)
    assert fake_door.calls == [("read_file", {"path": "notes.txt"})]


def test_answers_come_in_turn_and_the_last_stays(fake_door: FakeDoor) -> None:
    fake_door.answers(
        "t", "first", failure("second", exit_code=3), b"\xff", {"a": 1}, lambda given: given["x"]
    )
    found = [client.invoke("t", {"x": "last"}) for _ in range(6)]
    assert [each.stdout_bytes for each in found] == [b"first", b"", b"\xff", b"", b"last", b"last"]
    assert (found[1].exit_code, found[1].stderr) == (3, "second")
    assert found[3].data == {"a": 1}
    assert fake_door.calls_of("t") == [{"x": "last"}] * 6


def test_every_kind_of_end_can_be_played(fake_door: FakeDoor) -> None:
    fake_door.answers(
        "t", refusal("no", gate="control"), Reply("timed_out", 124), output(b"o", stderr="e"), unreachable()
    )
    assert client.invoke("t").refusal is not None
    assert client.invoke("t").outcome == "timed_out"
    assert (client.invoke("t").stdout, client.invoke) == ("o", client.invoke)
    with pytest.raises(DoorError, match="cannot be reached"):
        client.invoke("t")


def test_a_tool_without_an_answer_is_refused_as_the_door_would(fake_door: FakeDoor) -> None:
    fake_door.answers("known", "")
    refused = client.invoke("unknown").refusal
    assert refused is not None
    assert refused.gate == "grant"
    assert "known" in refused.reason
    assert fake_door.calls == [Call("unknown", {})]


def test_a_late_answer_comes_late(fake_door: FakeDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    fake_door.answers("t", late("done", 1.5))
    assert client.invoke("t").stdout == "done"
    assert slept == [1.5]


def test_what_the_program_sent_cannot_be_changed_afterwards(fake_door: FakeDoor) -> None:
    fake_door.answers("t", "")
    given: dict[str, object] = {"a": [{"b": 1}]}
    client.invoke("t", given)
    given["a"] = None
    assert fake_door.calls_of("t") == [{"a": [{"b": 1}]}]


def test_declared_tools_have_their_signatures() -> None:
    door = FakeDoor([declared("add")]).answers("add", '{"sum": 3}')
    assert door.run("import litany_tools as t\nprint(t.add(a=1, b=2).data['sum'])").stdout == "3\n"
    ran = door.run("import litany_tools as t\nprint(t.add(a=1).refusal)\nt.add(a=1).check()")
    assert "gate='schema', reason=\"add: argument 'b' is missing. It takes: a, b.\"" in ran.stdout
    assert ran.exit_code == 1
    assert ran.stderr.splitlines()[0] == "Traceback (most recent call last):"
    assert ran.stderr.splitlines()[1] == '  File "program.py", line 3, in <module>'
    assert "refused by schema" in ran.stderr


def test_a_program_may_await_at_its_top_level(fake_door: FakeDoor) -> None:
    fake_door.answers("t", "x")
    program = "from litany_tools import aio\nprint((await aio.t(k=1)).stdout)"
    assert fake_door.run(program).stdout == "x\n"


@pytest.mark.parametrize(
    ("program", "exit_code", "stderr"),
    [
        ("raise SystemExit", 0, ""),
        ("raise SystemExit(4)", 4, ""),
        ("import sys; sys.exit('why')", 1, "why\n"),
    ],
)
def test_a_program_may_exit(fake_door: FakeDoor, program: str, exit_code: int, stderr: str) -> None:
    assert fake_door.run(program) == ("", stderr, exit_code)


def test_a_traceback_shows_the_programs_lines_and_no_frame_of_this_package(fake_door: FakeDoor) -> None:
    fake_door.answers("t", failure("no"))
    program = (
        "import litany_tools\ndef f():\n    litany_tools.t().check()\n"
        "try:\n    f()\nexcept litany_tools.ToolError as error:\n    raise ValueError('why') from error"
    )
    ran = fake_door.run(program)
    assert ran.exit_code == 1
    lines = [line.strip() for line in ran.stderr.splitlines() if not set(line) <= set(" ^~")]
    assert lines[:5] == [
        "Traceback (most recent call last):",
        'File "program.py", line 5, in <module>',
        "f()",
        'File "program.py", line 3, in f',
        "litany_tools.t().check()",
    ]
    assert lines[-3:] == [
        'File "program.py", line 7, in <module>',
        "raise ValueError('why') from error",
        "ValueError: why",
    ]
    assert str(Path(testing.__file__).parent) not in ran.stderr
    assert "program.py" not in linecache.cache


def test_a_program_runs_with_the_stubs_that_were_written(fake_door: FakeDoor, tmp_path: Path) -> None:
    written = write_stubs([declared("add")], tmp_path)
    fake_door.answers("add", {"sum": 3}).answers("other", "").with_stubs(written)
    assert fake_door.run("import litany_tools as t\nprint(t.add(a=1, b=2).data['sum'])").stdout == "3\n"
    said = fake_door.run("import litany_tools as t\nprint(t.add(a=1).stderr, t.other().stderr)").stdout
    assert "argument 'b' is missing. It takes: a, b." in said
    assert "no tool other is granted; this door answers: add" in said
    assert "cannot import name 'other'" in fake_door.run("from litany_tools import other").stderr


def test_the_name_of_a_file_is_not_taken_for_a_program(fake_door: FakeDoor) -> None:
    with pytest.raises(ValueError, match=r"Path\('program\.py'\)"):
        fake_door.run("program.py")


def test_a_run_leaves_nothing_behind(fake_door: FakeDoor) -> None:
    other = FakeDoor().answers("t", "other")
    before = sys.modules.get("litany_tools")
    other.run("import litany_tools\nlitany_tools.t()")
    assert sys.modules.get("litany_tools") is before
    fake_door.answers("t", "mine")
    assert client.invoke("t").stdout == "mine"


def test_the_fixture_comes_with_the_package_and_needs_nothing_else(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "testing" / "test_release_notes.py"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(example)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_the_fixture_gives_the_door_back(tmp_path: Path) -> None:
    (tmp_path / "test_two.py").write_text(
        "from litany_stubs import client\n"
        "def test_first(fake_door):\n"
        "    assert client.bind(fake_door) is fake_door\n"
        "def test_second():\n"
        "    assert client.bind(None) is None\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_plugin_that_every_pytest_run_imports_is_light() -> None:
    code = "import sys, pytest; before = set(sys.modules); import litany_stubs.pytest_plugin; "
    code += "print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['litany_stubs', 'litany_stubs.pytest_plugin']"


FORBIDDEN = "import litany_tools\nimport subprocess\nprint((lambda: 0).__code__)\n"


def test_a_door_with_the_policy_refuses_what_a_run_refuses_and_runs_the_rest(fake_door: FakeDoor) -> None:
    fake_door.answers("echo", "")
    assert fake_door.run("import string\nprint(string.Formatter()._x)").exit_code == 1
    fake_door.with_policy()
    ran = fake_door.run(FORBIDDEN)
    assert (ran.stdout, ran.exit_code, fake_door.calls) == ("", 126, [])
    verdict = check(FORBIDDEN.encode())
    assert ran.stderr == f"refused by the policy gate: {PolicyError(verdict)}\n"
    assert {each.line for each in verdict} == {2, 3}
    assert fake_door.run("import litany_tools\nprint(litany_tools.echo(n=1).ok)").stdout == "True\n"
    assert fake_door.run("x = (").exit_code == 126


def test_a_door_with_the_policy_takes_the_operators_modules(fake_door: FakeDoor) -> None:
    program = "import subprocess\n"
    assert fake_door.with_policy().run(program).exit_code == 126
    assert fake_door.with_policy(["pytest"]).run("import pytest\n").exit_code == 0
