"""A stop at every phase of a program's life: the right end, the output kept, the records whole, nothing running.

What is left is looked for from the host: a program has no environment to mark, so the warm child that it
became must be gone from the process table; a tool's process has the workspace in its environment, and a
number in its command line that no other process has.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
import trio
import trio.testing

from litany_engine import open_workspace, tool
from litany_engine.api import OpenWorkspace
from litany_engine.door.calls import CallEnd
from litany_engine.workspaces.workspace import Workspace
from litany_runtime.outcome import Outcome
from runtime_kit import processes_below
from tool_kit import processes_with, unique_sleep, wait_until
from window_kit import AGENT, answered_in, assert_well_formed, make_workspace, results_in, use

GRACE_S = 0.4
BUSY_MACHINE_S = 10.0
"""What a loaded machine is given beyond a promised time; `docs/deadlines-and-stops.md` has measured figures."""

CONFIG = f'[limits]\ngrace = "{int(GRACE_S * 1000)}ms"\n'
CALL_TOOLS = "import litany_tools\nprint('on', flush=True)\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "w", CONFIG)


@dataclass
class Host:
    """A host with a program running in it, as a test sees it.

    Attributes:
        workspace: what is on disk.
        ws: it, opened.
        output: what the program has printed so far.
    """

    workspace: Workspace
    ws: OpenWorkspace
    output: dict[str, bytes] = field(default_factory=lambda: {"stdout": b"", "stderr": b""})
    end: CallEnd | None = None

    async def run(self, program: str) -> None:
        def take(stream: str, data: bytes) -> None:
            self.output[stream] += data

        self.end = await self.ws.python(program, on_output=take)

    def printed(self, text: bytes) -> Callable[[], bool]:
        return lambda: text in self.output["stdout"]

    def in_flight(self, call: str) -> Callable[[], bool]:
        return lambda: any(each.name == call for each in self.ws.running())


def stop_program(
    workspace: Workspace,
    program: str,
    when: Callable[[Host], Callable[[], bool]],
    then: Callable[[Host], Awaitable[Any]] | None = None,
    tools: Any = (),
) -> CallEnd:
    """Run a program, stop it at a moment, and see that nothing of it is left."""

    async def main() -> CallEnd:
        async with open_workspace(workspace, tools=tools) as ws:
            await ws.python("pass")
            before = await warm(ws)
            host = Host(workspace, ws)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(host.run, program)
                await wait_until(when(host), 30)
                began = trio.current_time()
                await (ws.stop() if then is None else then(host))
                assert trio.current_time() - began < GRACE_S + BUSY_MACHINE_S
                assert ws.running() == ()  # the stop comes back when everything has ended
            assert host.end is not None
            # One of the children that were warm became the program, and it is gone.
            assert before - {each.pid for each in processes_below()}
            assert tool_processes(workspace) == []
            assert_records_are_whole(workspace)
            assert (await ws.python("print('next')")).stdout == b"next\n"
            return host.end

    return trio.run(main)


async def warm(ws: OpenWorkspace) -> set[int]:
    """The zygote and the children that wait, once they do."""
    assert ws._supervisor is not None
    setup = ws._supervisor._setup
    waiting = ws._supervisor._warm
    await wait_until(lambda: sum(len(each) for each in waiting.values()) == setup.warm)
    return {each.pid for each in processes_below()}


def tool_processes(workspace: Workspace) -> list[int]:
    """The processes on this machine that have the workspace in their environment."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if str(workspace.root) in process.environ().get("LITANY_CONV_REPO", ""):
                found.append(process.pid)
    return found


def assert_records_are_whole(workspace: Workspace) -> None:
    for folder in (workspace.root / "steps").glob("*/*/tools/*"):
        for name in ("input.json", "output.json"):
            json.loads((folder / name).read_text())
        assert [each.name for each in folder.iterdir() if each.name.startswith(".")] == []


def outcome_of(workspace: Workspace, call_id: str) -> str:
    (found,) = (workspace.root / "steps").glob(f"*/*/tools/{call_id}/output.json")
    outcome: str = json.loads(found.read_text())["outcome"]
    return outcome


@dataclass(frozen=True)
class Phase:
    """One row of the matrix.

    Attributes:
        program: what runs.
        when: when it is stopped.
        stdout: what is kept of its output, its beginning.
        inner: how its one call ended, when it makes one.
    """

    program: str
    when: Callable[[Host], Callable[[], bool]]
    stdout: bytes = b"on\n"
    inner: str | None = None


def printed_on(host: Host) -> Callable[[], bool]:
    return host.printed(b"on\n")


def has_begun(host: Host) -> Callable[[], bool]:
    """Its text is in the record, so it is on its way to a child."""
    return lambda: any((host.workspace.root / "steps").glob("*/002/tools/*/litany_tools.py"))


PHASES = {
    "as it starts": Phase("print('on')\nwhile True: pass", has_begun, stdout=b""),
    "while it is compiled": Phase(f"[{'1,' * 150_000}]\nwhile True: pass", has_begun, stdout=b""),
    "in a tight loop": Phase("print('on', flush=True)\nwhile True: pass", printed_on),
    "in c code": Phase("print('on', flush=True)\nsum(range(10**12))", printed_on),
    "asleep": Phase("import time\nprint('on', flush=True)\ntime.sleep(1000)", printed_on),
    "with its output unflushed": Phase(
        CALL_TOOLS + "print('kept')\nlitany_tools.hang()",
        lambda host: host.in_flight("hang"),
        b"on\nkept\n",
        "stopped",
    ),
    "in its cleaning up": Phase(
        "try:\n    print('on', flush=True)\n    while True: pass\nfinally:\n    print('cleaned')",
        printed_on,
        b"on\ncleaned\n",
    ),
    "when it will not end": Phase(
        "print('on', flush=True)\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass",
        printed_on,
    ),
    "in a flood of output": Phase("while True: print('on')", printed_on),
    "in an async tool": Phase(
        CALL_TOOLS + "litany_tools.hang()", lambda host: host.in_flight("hang"), inner="stopped"
    ),
    "in a tool that looks at nothing": Phase(
        CALL_TOOLS + "litany_tools.block()", lambda host: host.in_flight("block"), inner="stopped"
    ),
    "in a tool's process": Phase(
        CALL_TOOLS + "litany_tools.bash(command='sleep 1000')",
        lambda host: lambda: bool(tool_processes(host.workspace)),
        inner="stopped",
    ),
    "with calls in flight side by side": Phase(
        CALL_TOOLS + "import threading\n"
        "for _ in range(3): threading.Thread(target=litany_tools.hang).start()\nlitany_tools.hang()",
        lambda host: lambda: sum(each.name == "hang" for each in host.ws.running()) == 4,
    ),
}


@pytest.mark.parametrize("phase", PHASES.values(), ids=PHASES.keys())
def test_a_stop_ends_a_program(workspace: Workspace, phase: Phase) -> None:
    release = threading.Event()

    @tool
    async def hang() -> str:
        """Never answers."""
        await trio.sleep_forever()
        raise AssertionError

    @tool
    def block() -> str:
        """Waits in a thread, and looks at nothing."""
        release.wait(60)
        return "late"

    try:
        end = stop_program(workspace, phase.program, phase.when, tools=[hang, block])
    finally:
        release.set()
    assert (end.outcome, end.exit_code, end.reason) == (Outcome.STOPPED, 143, "the stop flag was raised")
    assert end.stdout.startswith(phase.stdout)
    if not phase.stdout:
        assert end.stdout in {b"", b"on\n"}  # it may have come as far as its first line
    assert outcome_of(workspace, "call_2") == "stopped"
    if phase.inner is not None:
        assert outcome_of(workspace, "call_2-1") == phase.inner


def test_a_stop_before_there_is_a_child_runs_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go_on = trio.Event(), trio.Event()
    programs = OpenWorkspace._programs

    async def late(self: OpenWorkspace) -> Any:
        asked.set()
        await go_on.wait()
        return await programs(self)

    monkeypatch.setattr(OpenWorkspace, "_programs", late)

    async def main() -> CallEnd:
        async with open_workspace(workspace) as ws:
            host = Host(workspace, ws)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(host.run, "print('ran')")
                await asked.wait()
                nursery.start_soon(ws.stop)
                await trio.testing.wait_all_tasks_blocked()
                go_on.set()
            assert host.end is not None
            return host.end

    end = trio.run(main)
    assert (end.outcome, end.stdout) == (Outcome.STOPPED, b"")


def test_two_stops_of_one_program_are_one(workspace: Workspace) -> None:
    async def twice(host: Host) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(host.ws.stop)
            nursery.start_soon(host.ws.stop, AGENT)
        assert await host.ws.stop() == ()

    program = "try:\n    print('on', flush=True)\n    while True: pass\nfinally:\n    print('cleaned')"
    end = stop_program(workspace, program, printed_on, twice)
    assert (end.outcome, end.stdout) == (Outcome.STOPPED, b"on\ncleaned\n")


def test_a_stop_just_after_the_end_changes_nothing(workspace: Workspace) -> None:
    async def main() -> tuple[CallEnd, tuple[str, ...], str]:
        async with open_workspace(workspace) as ws:
            end = await ws.python("print('done')")
            assert end.record is not None
            before = (end.record / "output.json").read_text()
            return end, await ws.stop(AGENT), before

    end, stopped, before = trio.run(main)
    assert end.record is not None
    assert (end.outcome, stopped) == (Outcome.COMPLETED, ())
    assert (end.record / "output.json").read_text() == before


def test_the_deadline_comes_first_when_it_has_passed_before_the_stop(workspace: Workspace) -> None:
    """First cause wins: the stop finds a program that is being ended already."""

    async def main() -> CallEnd:
        async with open_workspace(workspace) as ws:
            await ws.python("pass")
            host = Host(workspace, ws)

            async def run() -> None:
                program = (
                    "try:\n    print('on', flush=True)\n    while True: pass\nfinally:\n    print('late')"
                )
                host.end = await ws.python(program, deadline=0.3)

            async with trio.open_nursery() as nursery:
                nursery.start_soon(run)
                await trio.sleep(0.31)
                await ws.stop()
            assert host.end is not None
            return host.end

    assert trio.run(main).outcome is Outcome.TIMED_OUT


def test_a_stop_while_the_control_is_asked_about_an_inner_call(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "w", CONFIG + '[control]\ncommand = ["./control.py"]\n')
    control = workspace.root / "control.py"
    control.write_text(
        '#!/bin/sh\nif grep -q \'"name": "read_file"\'; then touch asked; exec sleep 1000; fi\n'
        'echo \'{"verdict": "pass"}\'\n'
    )
    control.chmod(0o755)
    program = CALL_TOOLS + "litany_tools.read_file(path='x')"
    end = stop_program(workspace, program, lambda host: (host.workspace.root / "asked").exists)
    assert (end.outcome, end.stdout) == (Outcome.STOPPED, b"on\n")
    assert outcome_of(workspace, "call_2-1") == "stopped"


# Processes that do not want to end.

HARD = {
    "a daemon": "(setsid sh -c 'sleep {token}' &) ; wait; sleep {token}",
    "two forks deep, in a session of its own": "python3 -c '{daemon}' ; sleep {token}",
    "deaf to SIGTERM": 'trap "" TERM; sleep {token}; sleep {token}',
    "with its environment cleared": "env -i setsid sleep {token} & sleep {token}",
    "that fills its pipe": "sleep {token} & yes",
    "that leaves its pipe to another": "sleep {token} & echo started; exec sleep {token}",
    "stopped in its tracks": "sleep {token} & kill -STOP $!; sleep {token}",
}
DAEMON = (
    "import os, signal, time\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    '    if os.fork() == 0: os.execvp("sleep", ["sleep", "{token}"])\n'
)


@pytest.mark.parametrize("command", HARD.values(), ids=HARD.keys())
@pytest.mark.parametrize("inner", [False, True], ids=["of its own", "of a program"])
def test_a_stop_ends_a_tool_s_process_and_all_that_came_of_it(
    workspace: Workspace, command: str, inner: bool
) -> None:
    token = unique_sleep()
    line = command.format(token=token, daemon=DAEMON.format(token=token))

    async def main() -> CallEnd:
        async with open_workspace(workspace) as ws:
            host = Host(workspace, ws)

            async def run() -> None:
                if inner:
                    await host.run(CALL_TOOLS + f"litany_tools.bash(command={line!r})")
                else:
                    host.end = await ws.invoke("bash", {"command": line})

            async with trio.open_nursery() as nursery:
                nursery.start_soon(run)
                await wait_until(lambda: any("sleep" in cmd for cmd in command_lines(token)), 30)
                await ws.stop()
            assert processes_with(token) == []
            assert tool_processes(workspace) == []
            assert host.end is not None
            return host.end

    end = trio.run(main)
    assert end.outcome is Outcome.STOPPED
    assert_records_are_whole(workspace)


def command_lines(token: str) -> list[list[str]]:
    found = []
    for pid in processes_with(token):
        with suppress(psutil.Error):
            found.append(psutil.Process(pid).cmdline()[:1])
    return found


def test_a_program_past_its_deadline_takes_its_tool_s_processes_with_it(workspace: Workspace) -> None:
    token = unique_sleep()
    line = HARD["two forks deep, in a session of its own"].format(
        token=token, daemon=DAEMON.format(token=token)
    )

    async def main() -> CallEnd:
        async with open_workspace(workspace) as ws:
            await ws.python("pass")
            program = CALL_TOOLS + f"litany_tools.bash(command={line!r})"
            return await ws.python(program, deadline=1.0)

    end = trio.run(main)
    assert (end.outcome, end.stdout) == (Outcome.TIMED_OUT, b"on\n")
    assert processes_with(token) == []
    assert tool_processes(workspace) == []


# Windows that run programs.


def test_stopping_a_parent_ends_the_programs_of_its_children(workspace: Workspace) -> None:
    children = [workspace.add_agent(f"{AGENT}-{n}-x").id for n in (1, 2)]
    program = CALL_TOOLS + "litany_tools.bash(command='sleep 1000')"

    async def main() -> tuple[str, ...]:
        async with open_workspace(workspace) as ws:
            async with trio.open_nursery() as nursery:
                for each in children:
                    nursery.start_soon(
                        ws.window, each, [use("p", "python", program=program), use("q", "python")]
                    )
                await wait_until(lambda: len(tool_processes(workspace)) >= 2, 30)
                stopped = await ws.stop(AGENT)
            assert tool_processes(workspace) == []
            return stopped

    assert sorted(trio.run(main)) == ["p", "p", "q", "q"]
    for each in children:
        assert answered_in(workspace, each) == ["p", "q"]
        (_, _, text), _ = results_in(workspace, each)
        assert text.startswith("Exit code: 143\non\n")
        assert_well_formed(workspace, each)


# The clock.


def test_a_jump_of_the_wall_clock_moves_no_deadline(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time
    jumps = iter(range(10**6))

    def jumping() -> float:
        return real() + (3600 if next(jumps) % 2 else -3600)

    async def main() -> tuple[CallEnd, CallEnd]:
        async with open_workspace(workspace) as ws:
            await ws.python("pass")
            monkeypatch.setattr(time, "time", jumping)
            within = await ws.python("import time\ntime.sleep(0.2)\nprint('done')", deadline=60)
            past = await ws.python("while True: pass", deadline=0.3)
            return within, past

    within, past = trio.run(main)
    assert (within.outcome, within.stdout) == (Outcome.COMPLETED, b"done\n")
    assert past.outcome is Outcome.TIMED_OUT
    assert 0.3 <= past.duration_s < 0.3 + BUSY_MACHINE_S
