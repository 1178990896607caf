"""Programs from end to end: a text goes in, runs confined, calls tools through the door, and what it printed comes out."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from litany_engine import open_workspace_blocking, tool
from litany_engine.blocking import BlockingWorkspace
from litany_engine.door.calls import CallEnd, Capture
from litany_engine.records.show import show_text
from litany_engine.workspaces.new_workspace import init_workspace
from litany_runtime.outcome import Outcome

CONFIG = """
[roles.default]
grant = ["python", "read_file", "apply_patch", "bash", "give", "ask"]

[roles.reader]
grant = ["python", "read_file"]
files = "read"
"""


@tool
def give(text: str) -> Capture:
    """Bytes that are no UTF-8, and the text."""
    return Capture(stdout=b"\xff" + text.encode(), stderr=b"note\n", data={"length": len(text)})


@tool
def ask(number: int) -> int:
    """One more."""
    return number + 1


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingWorkspace]:
    root = tmp_path_factory.mktemp("programs") / "ws"
    workspace = init_workspace(root, agent="first")
    (root / "litany.toml").write_text(CONFIG)
    with open_workspace_blocking(workspace.root, tools=[give, ask]) as opened:
        yield opened


class Agent:
    """One agent of the workspace, its files and its records."""

    def __init__(self, ws: BlockingWorkspace, name: str, role: str) -> None:
        self.ws = ws
        self.id = name
        self.worktree = ws.workspace.add_agent(name, role=role).worktree

    def run(self, program: str, **more: Any) -> CallEnd:
        return self.ws.python(program, agent=self.id, **more)

    def record(self, end: CallEnd, call: str | None = None, file: str = "output.json") -> Any:
        assert end.record is not None
        text = (end.record.parent / (call or end.call.id) / file).read_text()
        return json.loads(text) if file.endswith(".json") else text


counter = iter(range(1000))


@pytest.fixture
def agent(ws: BlockingWorkspace) -> Agent:
    return Agent(ws, f"agent{next(counter)}", "default")


@pytest.fixture
def reader(ws: BlockingWorkspace) -> Agent:
    return Agent(ws, f"reader{next(counter)}", "reader")


def printed(end: CallEnd) -> str:
    assert end.outcome is Outcome.COMPLETED, (end.outcome, end.reason, end.refusal, end.stderr.decode())
    return end.stdout.decode()


# -- what comes out, what is on disk --------------------------------------------------------------------------


def test_a_program_prints_and_its_record_says_what_ran(agent: Agent) -> None:
    end = agent.run("import sys\nprint('out')\nprint('err', file=sys.stderr)\n")
    assert (printed(end), end.stderr, end.exit_code) == ("out\n", b"err\n", 0)
    assert agent.record(end, file="program.py") == end.call.input["program"]
    assert "def read_file(" in agent.record(end, file="litany_tools.py")
    assert agent.record(end, file="input.json")["name"] == "python"
    output = agent.record(end)
    assert (output["outcome"], output["exit_code"], output["stdout"], output["stderr"]) == (
        "completed",
        0,
        "out\n",
        "err\n",
    )


def test_output_is_relayed_as_it_is_printed(agent: Agent) -> None:
    seen: list[tuple[str, bytes]] = []
    first = threading.Event()

    def see(stream: str, chunk: bytes) -> None:
        seen.append((stream, chunk))
        if b"one" in chunk:
            first.set()

    # It ends only once the host has seen what it printed before.
    program = "import litany_tools\nprint('one', flush=True)\nlitany_tools.bash(command='while [ ! -e go ]; do sleep 0.01; done')\nprint('two')"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(agent.run, program, on_output=see, deadline=30)
        assert first.wait(30)
        (agent.worktree / "go").touch()
        assert printed(running.result()) == "one\ntwo\n"
    assert b"".join(chunk for stream, chunk in seen if stream == "stdout") == b"one\ntwo\n"


def test_inner_calls_have_ids_in_order_and_records_of_their_own(agent: Agent) -> None:
    end = agent.run("import litany_tools\nfor k in range(5): print(litany_tools.ask(number=k).data)")
    assert printed(end).split() == ["1", "2", "3", "4", "5"]
    assert [call.id for call in end.calls] == [f"{end.call.id}-{k}" for k in range(1, 6)]
    for k in range(1, 6):
        assert agent.record(end, f"{end.call.id}-{k}", "input.json")["input"] == {"number": k - 1}
        assert agent.record(end, f"{end.call.id}-{k}")["data"] == k
    assert end.usage is not None
    assert end.usage.calls == 5


def test_a_tools_streams_reach_the_program_apart_and_whole(agent: Agent) -> None:
    end = agent.run(
        "import litany_tools\n"
        "result = litany_tools.give(text='é' * 100_000)\n"
        "print(len(result.stdout_bytes), result.stdout_bytes[:1], result.stderr.strip(), result.data['length'])\n"
    )
    assert printed(end) == "200001 b'\\xff' note 100000\n"


def test_top_level_await_and_the_main_guard_work_and_stdin_is_empty(agent: Agent) -> None:
    end = agent.run(
        "import asyncio, sys\n"
        "from litany_tools import aio\n"
        "results = await asyncio.gather(*(aio.ask(number=k) for k in range(3)))\n"
        "print([result.data for result in results], repr(sys.stdin.read()))\n"
        "if __name__ == '__main__':\n    print('main')\n"
    )
    assert printed(end) == "[1, 2, 3] ''\nmain\n"


def test_a_program_and_a_tool_see_the_same_files(agent: Agent) -> None:
    end = agent.run(
        "import litany_tools\n"
        "open('made.txt', 'w').write('by the program')\n"
        "print(litany_tools.read_file(path='made.txt').stdout)\n"
        "litany_tools.bash(command='echo by bash > made.txt').check()\n"
        "print(open('made.txt').read())\n"
    )
    assert printed(end) == "by the program\nby bash\n\n"
    assert (agent.worktree / "made.txt").read_text() == "by bash\n"


# -- refusals -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "gate", "words"),
    [
        ("invoke('bash', {'command': 'true'})", "grant", ["'bash'", "reader", "Granted: read_file"]),
        ("invoke('no_such_tool')", "grant", ["'no_such_tool'", "Granted: read_file"]),
        ("invoke('python', {'program': 'print(1)'})", "depth", ["do not nest"]),
        ("invoke('read_file', {'pth': 'x'})", "schema", ["did you mean 'path'", "path (string, required)"]),
        ("invoke('read_file', {'path': 5})", "schema", ["'path'", "string"]),
    ],
)
def test_a_refused_call_is_a_value_that_says_what_is_accepted_and_the_program_goes_on(
    reader: Agent, call: str, gate: str, words: list[str]
) -> None:
    end = reader.run(
        "import litany_tools\n"
        f"result = litany_tools.{call}\n"
        "print(result.ok, result.exit_code, result.refusal.gate)\nprint(result.refusal.reason)\n"
    )
    first, reason = printed(end).split("\n", 1)
    assert first == f"False 126 {gate}"
    for word in words:
        assert word in reason
    assert agent_gate(reader, end) == gate


def agent_gate(agent: Agent, end: CallEnd) -> Any:
    return agent.record(end, f"{end.call.id}-1")["refusal"]["gate"]


def test_what_is_not_granted_is_not_in_the_module(reader: Agent) -> None:
    end = reader.run(
        "import litany_tools\nprint(hasattr(litany_tools, 'bash'), hasattr(litany_tools, 'read_file'))"
    )
    assert printed(end) == "False True\n"


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("x = 1\nimport socket\n", 2),
        ("x = ().__class__.__subclasses__()\n", 1),
        ("\n\ny = 1 +\n", 3),
    ],
)
def test_what_the_policy_refuses_is_refused_with_its_line_before_anything_runs(
    agent: Agent, program: str, line: int
) -> None:
    end = agent.run(f"print('begun')\n{program}")
    assert (end.outcome, end.exit_code, end.stdout) == (Outcome.REFUSED, 126, b"")
    assert end.refusal is not None
    assert end.refusal.gate == "policy"
    assert str(line + 1) in end.refusal.reason


READS_ALL = """
import os
for path in {paths!r}:
    try:
        print(path, open(path).read())
    except OSError as error:
        print(path, type(error).__name__)
    try:
        print(path, os.listdir(path))
    except (OSError, AttributeError) as error:
        print(path, type(error).__name__)
"""


@pytest.mark.parametrize("by", ["its path", "a way up", "a link"])
def test_nothing_of_another_agent_or_of_the_host_comes_out_of_a_program(
    ws: BlockingWorkspace, tmp_path: Path, by: str
) -> None:
    spy, other = (Agent(ws, f"{kind}{next(counter)}", "default") for kind in ("spy", "other"))
    secrets = {place: f"secret-{place}-{uuid4().hex}" for place in ("file", "record", "host", "own")}
    (other.worktree / "file.txt").write_text(secrets["file"])
    recorded = other.run(f"print({secrets['record']!r})")
    assert recorded.record is not None
    (tmp_path / "host.txt").write_text(secrets["host"])
    (spy.worktree / "own.txt").write_text(secrets["own"])
    root = ws.workspace.root
    wanted = [
        other.worktree / "file.txt",
        *(recorded.record / name for name in ("input.json", "output.json", "program.py")),
        tmp_path / "host.txt",
        root / "litany.toml",
        root / "repo.git/HEAD",
        Path("/etc/passwd"),
        Path("/proc/self/environ"),
    ]
    wanted += list(dict.fromkeys(parent for each in wanted for parent in each.parents))
    if by == "a link":
        for number, each in enumerate(wanted):
            (spy.worktree / f"link{number}").symlink_to(each)
        paths = [f"link{number}" for number in range(len(wanted))]
    else:
        paths = [os.path.relpath(each, spy.worktree) if by == "a way up" else str(each) for each in wanted]
    end = spy.run(READS_ALL.format(paths=[*paths, "own.txt"]))
    assert end.outcome is Outcome.COMPLETED, end
    out = (end.stdout + end.stderr).decode()
    assert secrets.pop("own") in out, "it does not read at all"
    for secret in (*secrets.values(), CONFIG.strip().splitlines()[0], "refs/heads", "root:x:", "PATH="):
        assert secret not in out
    for name in ("repo.git", other.id, "host.txt"):  # what a listing would show
        assert f"'{name}'" not in out


def test_a_program_finds_nothing_of_the_hosts_environment(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "secret")
    end = agent.run(
        "import os\nprint(dict(os.environ), os.getenv('SECRET_OF_THE_HOST'), 'HOME' in os.environ)\n"
        "print(os.environ.get('SECRET_OF_THE_HOST', 'default'))"
    )
    assert end.stdout == b"{} None False\ndefault\n"


def test_a_role_that_may_only_read_cannot_write(reader: Agent) -> None:
    (reader.worktree / "there.txt").write_text("there")
    end = reader.run(
        "print(open('there.txt').read())\ntry:\n    open('new', 'w')\nexcept OSError as e:\n    print(type(e).__name__)"
    )
    assert printed(end).split("\n")[0] == "there"
    assert not (reader.worktree / "new").exists()


# -- ends -----------------------------------------------------------------------------------------------------


def test_a_program_that_raises_shows_its_own_lines_and_no_frame_of_ours(agent: Agent) -> None:
    end = agent.run("print('before')\ndef f():\n    raise ValueError('why')\nf()\n")
    assert (end.outcome, end.exit_code, end.stdout) == (Outcome.FAILED, 1, b"before\n")
    text = end.stderr.decode()
    assert "ValueError: why" in text
    assert "raise ValueError('why')" in text
    assert text.count("  File ") == 2
    assert "litany" not in text


@pytest.mark.parametrize("code", [0, 3, 124])
def test_an_exit_code_is_passed_on_and_the_outcome_tells_it_from_ours(agent: Agent, code: int) -> None:
    end = agent.run(f"import sys\nsys.exit({code})")
    assert (end.outcome, end.exit_code) == (Outcome.FAILED if code else Outcome.COMPLETED, code)


def test_a_deadline_ends_a_program_and_not_before_its_time_and_keeps_its_output(agent: Agent) -> None:
    end = agent.run("print('begun', flush=True)\nwhile True: pass", deadline="1s")
    assert (end.outcome, end.exit_code, end.stdout) == (Outcome.TIMED_OUT, 124, b"begun\n")
    assert end.duration_s >= 1.0


def test_a_call_in_flight_at_the_deadline_is_cancelled_and_recorded(agent: Agent) -> None:
    end = agent.run("import litany_tools\nlitany_tools.bash(command='echo begun; sleep 50')", deadline=1)
    assert end.outcome is Outcome.TIMED_OUT
    inner = agent.record(end, f"{end.call.id}-1")
    assert (inner["outcome"], inner["stdout"]) == ("timed_out", "begun\n")


def test_a_stopped_program_keeps_what_it_printed_and_runs_its_finally(agent: Agent) -> None:
    seen = threading.Event()
    program = (
        "n = 0\ntry:\n    print('begun', flush=True)\n    while True:\n        n += 1\n"
        "finally:\n    print('cleaned')\n"
    )
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(agent.run, program, on_output=lambda *_: seen.set())
        assert seen.wait(30)
        stopped = agent.ws.stop(agent.id)
        end = running.result()
    assert stopped == (end.call.id,)
    assert (end.outcome, end.exit_code, end.stdout) == (Outcome.STOPPED, 143, b"begun\ncleaned\n")


def test_a_program_larger_than_its_limit_is_refused(agent: Agent) -> None:
    end = agent.run("#" * (2 << 20))
    assert (end.outcome, end.exit_code) == (Outcome.REFUSED, 126)


def test_two_agents_run_twenty_programs_each_at_once_and_no_record_is_lost_or_shared(
    ws: BlockingWorkspace,
) -> None:
    agents = [Agent(ws, f"busy{next(counter)}", "default") for _ in range(2)]
    program = "import litany_tools\nprint(sum(litany_tools.ask(number=k).data for k in range(5)))"
    with ThreadPoolExecutor(8) as pool:
        ends = list(pool.map(lambda k: agents[k % 2].run(program), range(40)))
    assert [printed(end) for end in ends] == ["15\n"] * 40
    assert len({end.record for end in ends}) == 40
    for each in agents:
        records = list((ws.workspace.root / "steps" / each.id).glob("*/tools/*/output.json"))
        assert len(records) == 20 * 6
        ids = [json.loads((path.parent / "input.json").read_text())["id"] for path in records]
        assert len(set(ids)) == len(ids)


def test_a_programs_record_names_the_layers_that_held(ws: BlockingWorkspace) -> None:
    end = ws.python("print(1)", agent="first")
    assert end.record is not None
    told = json.loads((end.record / "output.json").read_text())["layers"]
    assert {"language policy", "seccomp", "private root"} <= set(told)
    assert "layers  language policy, " in show_text(end.record)
