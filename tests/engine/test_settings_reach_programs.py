"""What `litany.toml` says reaches the programs that run: each setting is seen to make a difference."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import trio

from cli_kit import COMMAND
from confine_kit import start_as
from litany_engine import open_workspace_blocking, tool
from litany_engine.blocking import BlockingWorkspace
from litany_engine.configuration.config import LIMIT_FIELDS
from litany_engine.door.calls import CallEnd
from litany_engine.tools.definitions import Traits
from litany_engine.workspaces.new_workspace import init_workspace
from litany_runtime.outcome import Outcome


@tool
def echo(text: str) -> str:
    """The text."""
    return text


CALL = "import litany_tools\n"
TOO_MUCH: dict[str, tuple[str, str]] = {
    # setting: a value for it, and a program that says "done" under the default and not under that value
    "memory": ('"48 MiB"', "len(bytearray(100 * 2**20))"),
    "cpu": ('"1s"', "import time\nwhile time.process_time() < 2: pass"),
    "threads": (
        "2",
        "import threading, time\nfor _ in range(4): threading.Thread(target=time.sleep, args=(0.2,)).start()",
    ),
    "open_files": ("16", "files = [open(f'f{n}', 'w') for n in range(30)]"),
    "file": ('"1 MiB"', "open('big', 'wb').write(bytes(2 * 2**20))"),
    "tmp": ('"1 MiB"', "open('/tmp/big', 'wb').write(bytes(2 * 2**20))"),
    "tmp_files": ("4", "for n in range(9): open(f'/tmp/{n}', 'w')"),
    "source": ('"64 B"', "#" * 100),
    "calls": ("2", CALL + "for _ in range(3): litany_tools.echo(text='').check()"),
    "value": ('"1 KiB"', CALL + "litany_tools.echo(text='x' * 2000).check()"),
    "total_value": (
        '"2 KiB"',
        CALL + "for _ in range(8): litany_tools.echo(text='x' * 500).check()",
    ),
}


@pytest.fixture(scope="module")
def by_default(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingWorkspace]:
    root = init_workspace(tmp_path_factory.mktemp("default") / "ws", agent="a").root
    with open_workspace_blocking(root, tools=[echo]) as ws:
        yield ws


def run_under(tmp_path: Path, config: str, program: str) -> CallEnd:
    root = init_workspace(tmp_path / "ws", agent="a").root
    (root / "litany.toml").write_text(config)
    with open_workspace_blocking(root, tools=[echo]) as ws:
        return ws.python(program)


@pytest.mark.parametrize("setting", TOO_MUCH)
def test_a_limit_of_the_workspace_holds_for_its_programs(
    by_default: BlockingWorkspace, tmp_path: Path, setting: str
) -> None:
    value, work = TOO_MUCH[setting]
    program = f"{work}\nprint('done')"
    end = by_default.python(program)
    assert (end.outcome, end.stdout) == (Outcome.COMPLETED, b"done\n"), end.stderr.decode() + end.reason
    end = run_under(tmp_path, f"[limits]\n{setting} = {value}\n", program)
    assert end.outcome is not Outcome.COMPLETED
    assert end.outcome is not Outcome.FAULTED, end.reason
    assert b"done" not in end.stdout


def test_the_output_kept_is_as_much_as_the_workspace_says(
    by_default: BlockingWorkspace, tmp_path: Path
) -> None:
    program = "print('x' * 10_000)"
    assert len(by_default.python(program).stdout) == 10_001
    end = run_under(tmp_path, '[limits]\noutput = "1 KiB"\n', program)
    assert 1000 < len(end.stdout) < 1500


@pytest.mark.parametrize(("grace", "printed"), [("50ms", b"begun\n"), ("60s", b"begun\ncleaned up\n")])
def test_the_grace_is_as_long_as_the_workspace_says(tmp_path: Path, grace: str, printed: bytes) -> None:
    program = (  # begun where it cleans up: the stop comes as soon as it has said so
        "import time\ntry:\n    print('begun', flush=True)\n    time.sleep(60)\n"
        "finally:\n    time.sleep(2.5)\n    print('cleaned up')"
    )
    root = init_workspace(tmp_path / "ws", agent="a").root
    (root / "litany.toml").write_text(f'[limits]\ngrace = "{grace}"\n')
    begun = threading.Event()
    with open_workspace_blocking(root) as ws, ThreadPoolExecutor(1) as pool:
        end = pool.submit(lambda: ws.python(program, on_output=lambda *_: begun.set()))
        assert begun.wait(30)
        ws.stop()
        assert (end.result().outcome, end.result().stdout) == (Outcome.STOPPED, printed)


@pytest.mark.parametrize(("pending", "at_once"), [(None, 4), (1, 1)])
def test_as_many_calls_are_in_flight_at_once_as_the_workspace_says(
    tmp_path: Path, pending: int | None, at_once: int
) -> None:
    here: list[int] = []
    most: list[int] = []

    @tool(traits=Traits(concurrency_safe=True))
    async def wait() -> None:
        here.append(1)
        most.append(len(here))
        with trio.move_on_after(5):
            while len(most) < 4 and at_once > 1:  # noqa: ASYNC110 - until the others have come
                await trio.sleep(0.01)
        here.pop()

    program = (
        "import asyncio, litany_tools\nawait asyncio.gather(*[litany_tools.aio.wait() for _ in range(4)])"
    )
    root = init_workspace(tmp_path / "ws", agent="a").root
    if pending is not None:
        (root / "litany.toml").write_text(f"[limits]\npending_calls = {pending}\n")
    with open_workspace_blocking(root, tools=[wait]) as ws:
        end = ws.python(program)
    assert end.outcome is Outcome.COMPLETED, end.stderr
    assert (len(most), max(most)) == (4, at_once)


def test_every_limit_is_seen_to_reach_a_program() -> None:
    assert {*TOO_MUCH, "output", "grace", "pending_calls"} == set(LIMIT_FIELDS)


def test_a_deadline_of_a_role_holds_for_each_call_of_its_agents_and_lengthens_none(tmp_path: Path) -> None:
    root = init_workspace(tmp_path / "ws", agent="a").root
    (root / "litany.toml").write_text(
        '[deadline]\nmaximum = "30s"\ndefault = "25s"\n[roles.default]\ndeadline = "300ms"\n'
        '[roles.slow]\ndeadline = "1h"\n'
    )
    with open_workspace_blocking(root) as ws:
        ws.python("pass")  # so that a program's start is no part of what follows
        for end in (
            ws.python("while True: pass"),
            ws.python("while True: pass", deadline="20s"),
            ws.invoke("bash", {"command": "sleep 60"}, deadline="20s"),
        ):
            assert (end.outcome, end.exit_code) == (Outcome.TIMED_OUT, 124)
            assert 0.3 <= end.duration_s < 20


def test_a_module_is_there_when_the_workspace_names_it(by_default: BlockingWorkspace, tmp_path: Path) -> None:
    program = "import quopri\nprint(quopri.encodestring(b'='))"
    end = by_default.python(program)
    assert end.refusal is not None
    assert "quopri" in end.refusal.reason
    end = run_under(tmp_path, 'modules = ["quopri"]\n', program)
    assert (end.outcome, end.stdout) == (Outcome.COMPLETED, b"b'=3D'\n"), end.stderr.decode()


def test_the_isolation_is_the_one_that_the_workspace_names(
    by_default: BlockingWorkspace, tmp_path: Path
) -> None:
    full = by_default.python("print(1)")
    assert full.record is not None
    assert json.loads((full.record / "output.json").read_text())["layers"] == list(full.layers)
    assert "private root" in full.layers
    # Without files: when the tests run as root, no other user reaches theirs, and programs do not run as root.
    workspace = init_workspace(tmp_path / "kernel")
    (workspace.root / "litany.toml").write_text('isolation = "kernel"\n[roles.default]\nfiles = "none"\n')
    first, identity = start_as(None)
    done = subprocess.run(
        [*first, *COMMAND, "run", "--workspace", str(workspace.root), "-"],
        input=b"print(1)",
        capture_output=True,
        check=False,
        **identity,
    )
    assert done.stdout == b"1\n", done.stderr
    (output,) = (workspace.root / "steps").glob("*/001/tools/*/output.json")
    layers = json.loads(output.read_text())["layers"]
    assert "private root" not in layers
    assert "seccomp" in layers
