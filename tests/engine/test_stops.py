"""A stop at every phase of a program's life: the right end, the output kept, the records whole, nothing running.

What is left is looked for from the host; `stop_kit.py` says how.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import trio
import trio.testing

from cli_kit import start
from litany_engine import open_workspace, tool
from litany_engine.door.calls import CallEnd, Capture, Context, Tool, ToolCall
from litany_engine.programs import Programs
from litany_engine.records.recorded import HOST_DIED, HOST_DIED_WHILE
from litany_engine.tools import in_process
from litany_engine.windows.inbox import deposit
from litany_engine.windows.settlement import DIED_WHILE, NOT_RUN_DIED, NOT_RUN_STOPPED
from litany_engine.windows.window import Answers, WindowEnd
from litany_engine.workspaces.workspace import Workspace
from litany_runtime.outcome import Outcome
from litany_stubs.words import ToolDeclaration
from stop_kit import (
    BUSY_MACHINE_S,
    CALL_TOOLS,
    CONFIG,
    PHASES,
    Host,
    Phase,
    assert_records_are_whole,
    living_in,
    outcome_of,
    phase_tools,
    pid_namespaces,
    printed_on,
    stop_program,
    tool_processes,
)
from tool_kit import processes_with, unique_sleep, wait_until
from window_kit import (
    AGENT,
    answered_in,
    assert_well_formed,
    host_process,
    make_workspace,
    results_in,
    use,
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "w", CONFIG)


@pytest.mark.parametrize("phase", PHASES.values(), ids=PHASES.keys())
def test_a_stop_ends_a_program(workspace: Workspace, phase: Phase) -> None:
    release = threading.Event()
    try:
        end = stop_program(workspace, phase.program, phase.when, tools=phase_tools(release))
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
    supervisor = Programs.supervisor

    async def late(self: Programs) -> Any:
        asked.set()
        await go_on.wait()
        return await supervisor(self)

    monkeypatch.setattr(Programs, "supervisor", late)

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


@pytest.mark.parametrize("wait", range(0, 60, 6))
def test_a_stop_at_the_moment_of_the_end_is_before_it_or_after_it_and_the_record_says_which(
    workspace: Workspace, wait: int
) -> None:
    """From the last thing that the program prints on, at one checkpoint after another."""

    async def main() -> CallEnd:
        async with open_workspace(workspace) as ws:
            await ws.python("pass")
            printed = trio.Event()
            ends: list[CallEnd] = []

            async def run() -> None:
                ends.append(await ws.python("print('done', flush=True)", on_output=lambda *_: printed.set()))

            async with trio.open_nursery() as nursery:
                nursery.start_soon(run)
                await printed.wait()
                for _ in range(wait):
                    await trio.lowlevel.checkpoint()
                await ws.stop()
            return ends[0]

    end = trio.run(main)
    assert end.outcome in {Outcome.COMPLETED, Outcome.STOPPED}
    assert end.stdout == b"done\n"
    assert outcome_of(workspace, "call_2") == end.outcome
    assert_records_are_whole(workspace)


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


def test_a_stop_ends_a_tool_that_called_a_tool_that_runs_a_process(workspace: Workspace) -> None:
    token = unique_sleep()

    async def relay(call: ToolCall, context: Context) -> Capture:
        assert context.invoke is not None
        end = await context.invoke(call.input["name"], call.input["input"])
        return Capture(stdout=end.stdout, exit_code=end.exit_code)

    command = HARD["two forks deep, in a session of its own"].format(
        token=token, daemon=DAEMON.format(token=token)
    )
    inner = {"name": "relay", "input": {"name": "bash", "input": {"command": command}}}
    end = stop_program(
        workspace,
        CALL_TOOLS + f"litany_tools.invoke('relay', {inner!r})",
        lambda _: lambda: any("sleep" in each for each in command_lines(token)),
        tools=[Tool(ToolDeclaration("relay"), relay)],
    )
    assert end.outcome is Outcome.STOPPED
    assert processes_with(token) == []
    for call in ("call_2-1", "call_2-1-1", "call_2-1-1-1"):
        assert outcome_of(workspace, call) == "stopped"


@pytest.mark.parametrize("kind", ["block", "shield"])
@pytest.mark.parametrize("cause", [Outcome.STOPPED, Outcome.TIMED_OUT])
def test_a_tool_that_does_not_end_is_left_behind_and_its_late_answer_is_nobody_s(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, kind: str, cause: Outcome
) -> None:
    monkeypatch.setattr(in_process, "GRACE_S", 0.05)
    release, late = threading.Event(), threading.Event()

    @tool
    def block() -> str:
        """Waits in a thread, and looks at nothing."""
        release.wait(60)
        late.set()
        return "late"

    @tool
    async def shield() -> str:
        """Does not let itself be cancelled."""
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(release.wait, 60)
        late.set()
        return "late"

    async def main() -> tuple[Answers, list[str]]:
        given: list[Answers] = []
        async with open_workspace(workspace, tools=[block, shield]) as ws:
            await ws.python("pass")

            async def run() -> None:
                deadline = {"deadline": 1.0} if cause is Outcome.TIMED_OUT else {}
                program = CALL_TOOLS + f"print(litany_tools.{kind}().stdout)"
                given.append(await ws.window(AGENT, [use("p", "python", program=program, **deadline)]))

            async with trio.open_nursery() as nursery:
                nursery.start_soon(run)
                if cause is Outcome.STOPPED:
                    await wait_until(lambda: any(each.name == kind for each in ws.running()), 30)
                    await ws.stop(AGENT)
            before = everything_said(workspace)
            release.set()
            await wait_until(late.is_set)
            for _ in range(20):
                await trio.lowlevel.checkpoint()
            return given[0], before

    try:
        answers, before = trio.run(main)
    finally:
        release.set()
    assert everything_said(workspace) == before
    assert [outcome_of(workspace, each) for each in ("p", "p-1")] == [cause, cause]
    (record,) = (workspace.root / "steps").glob("*/*/tools/p-1/output.json")
    end = json.loads(record.read_text())
    assert (end["stdout"], "left behind" in end["stderr"]) == ("", True)
    assert answers.ends[0].stdout in {b"on\n", b"on\n\n"}  # it may have been told of its call's end first
    assert_well_formed(workspace)


def everything_said(workspace: Workspace) -> list[str]:
    """All that is in records and in the transcript."""
    files = sorted((workspace.root / "steps").glob("*/*/tools/*/*"))
    return [*(f"{each}: {each.read_text()}" for each in files), *map(str, results_in(workspace))]


# Signals to the host.


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_command_ends_the_program_and_its_calls(
    workspace: Workspace, tmp_path: Path, number: int
) -> None:
    token = unique_sleep()
    program = CALL_TOOLS + f"litany_tools.bash(command='setsid sleep {token} & sleep {token}')"
    with start("run", "-", "--workspace", str(workspace.root), cwd=tmp_path, state=tmp_path) as process:
        assert process.stdin is not None
        process.stdin.write(program.encode())
        process.stdin.close()
        trio.run(wait_until, lambda: command_lines(token).count(["sleep"]) == 2, 30)
        spaces = pid_namespaces(below(process.pid))
        process.send_signal(number)
        assert process.wait(30) == 143
        assert process.stdout is not None
        assert process.stdout.read() == b"on\n"
    assert processes_with(token) == []
    assert tool_processes(workspace) == []
    assert living_in(spaces) == set()
    assert [outcome_of(workspace, each) for each in ("call_1", "call_1-1")] == ["stopped", "stopped"]
    assert_records_are_whole(workspace)


WINDOW_HOST = """
import signal, sys, trio
from litany_engine import open_workspace
from window_kit import AGENT, make_tools, use
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell ignores for what is in the background

async def main():
    async with open_workspace(sys.argv[1], tools=make_tools()) as ws:
        await ws.window(AGENT, [use("p", "python", program=sys.argv[2]), use("q", "say", text="x")])

trio.run(main)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_a_host_of_one_s_own_leaves_nothing_running_and_nothing_unsaid(
    workspace: Workspace, number: int
) -> None:
    """Python makes an exception of SIGINT, which unwinds; of the others a host dies at once unless it asks."""
    token = unique_sleep()
    program = (
        f"{CALL_TOOLS}litany_tools.say(text='well')\nlitany_tools.nothing()\n"
        f"litany_tools.bash(command='setsid sleep {token} & sleep {token}')"
    )
    with host_process(WINDOW_HOST, str(workspace.root), program) as process:
        trio.run(wait_until, lambda: command_lines(token).count(["sleep"]) == 2, 30)
        spaces = pid_namespaces(below(process.pid))
        process.send_signal(number)
        assert process.wait(30) != 0
    trio.run(wait_until, lambda: not processes_with(token) and not tool_processes(workspace))
    trio.run(wait_until, lambda: not living_in(spaces))

    async def advance() -> None:
        async with open_workspace(workspace) as ws:
            await ws.advance(AGENT)

    trio.run(advance)
    (_, _, first), (_, _, second) = results_in(workspace)
    if number == signal.SIGINT:
        assert first.startswith("Exit code: 143\non\n")
        assert second == NOT_RUN_STOPPED
    else:
        assert second == NOT_RUN_DIED
        assert first.splitlines() == [
            DIED_WHILE,
            "Of the calls it made, 2 calls had ended:",
            '  p-1 say {"text": "well"}: completed',
            "  p-2 nothing {}: refused by the grant gate",
            "1 call of its had no end, and how far each came is unknown:",
            f'  p-3 bash {{"command": "setsid sleep {token} & sleep {token}"}}',
            "What it had printed:",
            "on",
        ]
        for call, reason, printed in (("p", HOST_DIED_WHILE, "on\n"), ("p-3", HOST_DIED, "")):
            (record,) = (workspace.root / "steps").glob(f"*/*/tools/{call}/output.json")
            recorded = json.loads(record.read_text())
            assert (recorded["reason"], recorded["stdout"]) == (reason, printed)
            assert not list(record.parent.glob("so_far*"))
    assert answered_in(workspace) == ["p", "q"]
    assert_records_are_whole(workspace)
    assert_well_formed(workspace)


INTERRUPTED_HOST = """
import signal, sys, trio
from litany_engine import open_workspace
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell ignores for what is in the background

async def main():
    async with open_workspace(sys.argv[1]) as ws:
        try:
            await ws.python(sys.argv[2])
        finally:
            print([each.name for each in ws.running()], flush=True)

try:
    trio.run(main)
except KeyboardInterrupt:
    sys.exit(9)
"""


def test_an_interrupted_host_gets_its_interrupt_once_the_program_is_ended_and_recorded(
    workspace: Workspace,
) -> None:
    program = (
        CALL_TOOLS + "try:\n    litany_tools.bash(command='touch ../../begun; sleep 1000')\n"
        "finally:\n    print('cleaned')"
    )
    with host_process(INTERRUPTED_HOST, str(workspace.root), program) as process:
        trio.run(wait_until, (workspace.root / "begun").exists, 30)
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        assert process.stdout.read() == b"[]\n"
        assert process.wait(30) == 9
    (record,) = (workspace.root / "steps").glob("*/*/tools/call_1/output.json")
    end = json.loads(record.read_text())
    assert (end["outcome"], end["stdout"]) == ("stopped", "on\ncleaned\n")
    assert outcome_of(workspace, "call_1-1") == "stopped"
    assert tool_processes(workspace) == []


def below(pid: int) -> set[int]:
    return {each.pid for each in psutil.Process(pid).children(recursive=True)}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_advance_stops_the_window_that_it_goes_on_with(tmp_path: Path, number: int) -> None:
    workspace = make_workspace(tmp_path / "w", CONFIG + '[control]\ncommand = ["./control.sh"]\n')
    workspace.add_agent("b")
    control = workspace.root / "control.sh"
    control.write_text(
        '#!/bin/sh\nif [ -e go ]; then echo \'{"verdict": "pass"}\'\n'
        'else echo \'{"verdict": "hold", "reason": "look"}\'\nfi\n'
    )
    control.chmod(0o755)
    token = unique_sleep()

    async def hold() -> Answers:
        async with open_workspace(workspace) as ws:
            return await ws.window(AGENT, [use("a", "bash", command=f"sleep {token}"), use("b", "bash")])

    assert trio.run(hold).end is WindowEnd.HELD
    (workspace.root / "go").touch()
    deposit(workspace.inbox("b"), "user", "are you there?")
    with start("advance", "--workspace", str(workspace.root), cwd=tmp_path, state=tmp_path) as process:
        trio.run(wait_until, lambda: ["sleep"] in command_lines(token), 30)
        process.send_signal(number)
        assert process.wait(30) == 143
        assert process.stderr is not None
        assert b"stopped; what was not said above is as it was" in process.stderr.read()
    assert processes_with(token) == []
    (_, _, first), (_, _, second) = results_in(workspace)
    assert first.startswith("Exit code: 143\n")
    assert second == NOT_RUN_STOPPED
    assert len([*workspace.inbox("b").glob("*.md")]) == 1, "it went on with the next agent"


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


def test_a_stopped_family_stays_asleep_whoever_of_it_returns(workspace: Workspace) -> None:
    """A parent's program has started a child, whose program has started another; each runs a process."""
    child = workspace.add_agent(f"{AGENT}-1-x").id
    grandchild = workspace.add_agent(f"{child}-1-y").id
    family = [AGENT, child, grandchild]
    token = unique_sleep()

    async def main() -> None:
        async with open_workspace(workspace, tools=[]) as ws:
            async with trio.open_nursery() as nursery:
                started: dict[str, Answers] = {}

                async def run(agent: str) -> None:
                    program = CALL_TOOLS + f"litany_tools.bash(command='sleep {token}')"
                    calls = [use("p", "python", program=program), use("q", "bash", command="touch made")]
                    started[agent] = await ws.window(agent, calls)
                    if agent != AGENT:  # as a host that dispatches does, when the child returns
                        deposit(
                            workspace.inbox(agent.rpartition("-")[0].rpartition("-")[0]), agent, "I returned"
                        )

                for each in family:
                    nursery.start_soon(run, each)
                await wait_until(lambda: command_lines(token).count(["sleep"]) == len(family), 30)
                spaces = pid_namespaces(await warm_below())
                await ws.stop(AGENT)
                assert ws.running() == ()
                assert processes_with(token) == []
            assert [each.end for each in started.values()] == [WindowEnd.STOPPED] * 3
            for each in family:
                done = await ws.advance(each)
                assert (done.due, done.delivered) == (False, 0 if each == grandchild else 1)
                assert not (await ws.advance(each)).due
                assert not (workspace.worktree(each) / "made").exists()
            deposit(workspace.inbox(AGENT), "user", "go on")
            assert (await ws.advance(AGENT)).due
            assert not (await ws.advance(child)).due
        assert living_in(spaces) == set()

    async def warm_below() -> set[int]:
        await trio.lowlevel.checkpoint()
        return below(os.getpid())

    trio.run(main)
    for each in family:
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
