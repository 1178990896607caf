"""A process is run to its end, and nothing of it stays: seen from the process table, not from what it says."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import psutil
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from litany_engine.tools import keeper, marked_trees, processes
from litany_engine.tools import spawner as spawning
from litany_engine.tools.processes import ProcessEnd, ProcessError, run_process
from tool_kit import processes_with, unique_sleep, wait_until

ENV = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
HERE = Path("/")
END_BOUND_S = 30.0
"""How long a test waits for what should end by itself: far above what a busy machine needs for any of it."""


def spawner() -> spawning.Spawner:
    assert spawning._spawner is not None
    return spawning._spawner


def run(*argv: str, **options: Any) -> ProcessEnd:
    async def main() -> ProcessEnd:
        with trio.move_on_after(END_BOUND_S) as bound:  # it returns what it has, instead of being cancelled
            end = await run_process(argv, **{"env": ENV, "cwd": HERE, **options})
        assert not bound.cancel_called, f"{argv} did not end by itself"
        return end

    return trio.run(main)


def sh(script: str, **options: Any) -> ProcessEnd:
    return run("sh", "-c", script, **options)


def sh_until_cancelled(script: str, token: str, count: int = 1, **options: Any) -> tuple[ProcessEnd, float]:
    """Run a script, cancel it once `count` processes with the token live; the end and the seconds it took."""

    async def main() -> tuple[ProcessEnd, float]:
        ends: list[ProcessEnd] = []
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:

                async def body() -> None:
                    ends.append(
                        await run_process(["sh", "-c", script], **{"env": ENV, "cwd": HERE, **options})
                    )

                nursery.start_soon(body)
                await wait_until(lambda: len(processes_with(token)) >= count)
                began = trio.current_time()
                scope.cancel()
        return ends[0], trio.current_time() - began

    return trio.run(main)


def test_the_streams_stay_apart_and_the_exit_code_is_the_programs_own() -> None:
    end = sh("echo out; echo err >&2; exit 7")
    assert (end.stdout, end.stderr, end.exit_code, end.signal) == (b"out\n", b"err\n", 7, None)
    assert not end.cancelled
    assert end.survivors == 0


def test_a_death_by_signal_is_told_as_128_and_the_signal() -> None:
    end = sh("kill -SEGV $$")
    assert (end.exit_code, end.signal) == (128 + signal.SIGSEGV, signal.SIGSEGV)


def test_stdin_reaches_the_program_whole() -> None:
    data = os.urandom(3_000_000)
    assert run("cat", stdin=data, max_output_bytes=4_000_000).stdout == data


def test_without_input_stdin_is_empty() -> None:
    assert run("cat").stdout == b""


def test_a_program_that_never_reads_its_input_blocks_nobody() -> None:
    assert sh("echo done", stdin=b"x" * 5_000_000).stdout == b"done\n"


def test_a_program_that_closes_its_input_early_has_not_failed() -> None:
    assert sh("head -c 1; exec 0<&-; echo; sleep 0.1", stdin=b"x" * 5_000_000).exit_code == 0


def test_both_streams_can_be_flooded_at_once() -> None:
    script = "head -c 3000000 /dev/zero >&2 & head -c 3000000 /dev/zero; wait"
    end = sh(script)
    assert (len(end.stdout), len(end.stderr)) == (3_000_000, 3_000_000)


def test_output_over_the_limit_keeps_its_head_and_tail_and_says_what_is_missing() -> None:
    end = sh("printf aaaa; head -c 100000 /dev/zero; printf zzzz", max_output_bytes=1000)
    assert end.stdout.startswith(b"aaaa")
    assert end.stdout.endswith(b"zzzz")
    assert end.stdout_dropped == 100_008 - 1000
    assert str(end.stdout_dropped).encode() in end.stdout
    assert end.stderr_dropped == 0


def test_output_is_relayed_as_it_comes() -> None:
    seen: list[tuple[str, bytes]] = []
    sh("echo a; echo b >&2", output=lambda stream, data: seen.append((stream, data)))
    assert sorted(seen) == [("stderr", b"b\n"), ("stdout", b"a\n")]


def test_the_environment_is_the_given_one_and_a_token() -> None:
    end = run("env", env={"PATH": ENV["PATH"], "ONLY": "this"})
    names = {line.split("=")[0] for line in end.stdout.decode().splitlines()}
    assert names == {"PATH", "ONLY", marked_trees.TREE_VARIABLE}


def test_a_nested_run_is_marked_with_the_outer_token_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(marked_trees.TREE_VARIABLE, "outer")
    end = sh(f"printf %s ${marked_trees.TREE_VARIABLE}")
    assert end.stdout.startswith(b"outer:")


def test_the_program_is_found_on_the_given_path(tmp_path: Path) -> None:
    program = tmp_path / "only-here"
    program.write_text("#!/bin/sh\necho found\n")
    program.chmod(0o755)
    assert run("only-here", env={"PATH": f"{tmp_path}:{ENV['PATH']}"}).stdout == b"found\n"
    with pytest.raises(ProcessError, match="cannot start 'only-here': No such file"):
        run("only-here")


def test_it_runs_in_the_given_directory(tmp_path: Path) -> None:
    assert run("pwd", cwd=tmp_path).stdout.decode().strip() == str(tmp_path.resolve())


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProcessError, match=r"cannot start 'true' in .*gone.*No such file"):
        run("true", cwd=tmp_path / "gone")


@pytest.mark.parametrize("content", [b"\x7fELF nonsense", b"plain text"])
def test_what_is_no_program_is_told(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(ProcessError, match=r"Permission denied.*chmod"):
        run(str(file))
    file.chmod(0o755)
    with pytest.raises(ProcessError, match=r"Exec format error.*begins with the line"):
        run(str(file))


def test_a_program_whose_file_is_still_being_written_is_tried_again(tmp_path: Path) -> None:
    file = tmp_path / "tool"
    file.write_text("#!/bin/sh\necho ran\n")
    file.chmod(0o755)
    writer = os.open(file, os.O_WRONLY)

    async def main() -> bytes:
        async with trio.open_nursery() as nursery:
            ends: list[ProcessEnd] = []

            async def body() -> None:
                ends.append(await run_process([str(file)], env=ENV, cwd=HERE))

            nursery.start_soon(body)
            await trio.sleep(0.03)
            os.close(writer)
        return ends[0].stdout

    assert trio.run(main) == b"ran\n"


@pytest.mark.parametrize(("argv", "message"), [((), "the command is empty"), (("a\0b",), "NUL")])
def test_a_command_that_cannot_be_said_is_refused(argv: tuple[str, ...], message: str) -> None:
    with pytest.raises(ProcessError, match=message):
        run(*argv)


def test_no_descriptor_of_the_host_is_inherited(tmp_path: Path) -> None:
    with (tmp_path / "secret").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        listed = run(sys.executable, "-c", "import os; print(sorted(os.listdir('/proc/self/fd')))")
    assert listed.stdout.decode().strip() == "['0', '1', '2', '3']"  # 3 is the listing itself


def test_signals_that_the_host_ignores_are_not_ignored_by_the_program() -> None:
    assert signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN  # Python's own habit
    end = run("sh", "-c", "grep SigIgn /proc/self/status")
    the_c_librarys_own = 1 << 31 | 1 << 32  # 32 and 33, which glibc sees to itself
    assert int(end.stdout.split()[1], 16) & ~the_c_librarys_own == 0


def open_descriptors() -> list[str]:
    return sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208


def test_a_run_leaves_no_descriptor_and_no_process_behind() -> None:
    run("true")  # the spawner is there from now on
    before = open_descriptors()
    for _ in range(5):
        run("true")
        with pytest.raises(ProcessError):
            run("/no/such/program")
    assert open_descriptors() == before


def test_a_spawner_that_cannot_be_started_is_told_and_leaves_no_descriptor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run("true")
    before = open_descriptors()

    def too_many(*_: object, **_how: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    for name in ("posix_spawn", "pidfd_open"):
        with monkeypatch.context() as patch:
            patch.setattr(spawning, "_spawner", None)
            patch.setattr(os, name, too_many)
            with pytest.raises(ProcessError, match="cannot start a process: Too many open files"):
                run("true")
        assert open_descriptors() == before


def test_pipes_that_cannot_be_had_are_told_and_leave_no_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    run("true")
    before, made = open_descriptors(), iter(range(10))
    pipe2 = os.pipe2

    def one_alone(flags: int) -> tuple[int, int]:
        if next(made):
            raise OSError(errno.EMFILE, "Too many open files")
        return pipe2(flags)

    with monkeypatch.context() as patch:
        patch.setattr(os, "pipe2", one_alone)
        with pytest.raises(ProcessError, match="cannot start a process: Too many open files"):
            run("true")
    assert open_descriptors() == before


def test_a_host_that_ends_lets_go_of_its_spawner_which_ends(tmp_path: Path) -> None:
    """Seen from the process table, and by a Python that tells of each socket that nobody closed."""
    script = (
        "import os, sys, trio\nfrom pathlib import Path\nfrom litany_engine.tools.processes import run_process\n"
        "trio.run(lambda: run_process(['true'], env=dict(os.environ), cwd=Path('/')))\n"
        "from litany_engine.tools import spawner\nprint(spawner._spawner.pid)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "always::ResourceWarning", "-c", script],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    trio.run(wait_until, lambda: not psutil.pid_exists(int(done.stdout)))


def test_usage_counts_the_whole_tree() -> None:
    busy = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"
    end = sh(f"({busy}) & ({busy}); wait")
    assert end.usage.cpu_s > 0.01
    assert end.usage.peak_memory_bytes > 0


# What is left behind.


def test_a_background_process_that_holds_the_pipe_ends_with_the_command() -> None:
    token = unique_sleep()
    end = sh(f"echo out; sleep {token} &")
    assert (end.stdout, end.exit_code) == (b"out\n", 0)
    assert processes_with(token) == []


@pytest.mark.parametrize(
    "escape",
    [
        pytest.param("setsid sleep {0} &", id="own-session"),
        pytest.param("(setsid sh -c 'sleep {0} & sleep {0}' &)", id="double-fork"),
        pytest.param("(env -i setsid sleep {0} &)", id="no-environment"),
        pytest.param("(nohup setsid sleep {0} >/dev/null 2>&1 &)", id="daemon-without-our-pipes"),
        pytest.param("(exec -a innocent sleep {0} 2>/dev/null || sleep {0}) &", id="another-name"),
        pytest.param("sh -c 'kill -STOP $$; sleep {0}' & sleep {0} &", id="stopped"),
    ],
)
def test_what_left_the_group_is_found_and_ended(escape: str) -> None:
    token = unique_sleep()
    end = sh(f"{escape.format(token)}\nsleep 0.05; echo out")
    assert end.exit_code == 0
    assert processes_with(token) == []
    assert end.survivors == 0


def test_a_pipe_that_a_stranger_holds_delays_nobody() -> None:
    token = unique_sleep()

    async def main() -> tuple[ProcessEnd, int]:
        ends: list[ProcessEnd] = []
        async with trio.open_nursery() as nursery:

            async def body() -> None:
                ends.append(await run_process(["sh", "-c", f"echo out; sleep {token}"], env=ENV, cwd=HERE))

            nursery.start_soon(body)
            await wait_until(lambda: processes_with(f"echo out; sleep {token}"))
            (shell,) = processes_with(f"echo out; sleep {token}")
            held = os.open(f"/proc/{shell}/fd/1", os.O_WRONLY)
            os.kill(shell, signal.SIGTERM)
        return ends[0], held

    end, held = trio.run(main)
    os.close(held)
    assert (end.stdout, end.signal) == (b"out\n", signal.SIGTERM)


def test_what_is_still_in_the_pipe_at_the_end_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    async def too_late(*_: object) -> None:
        await trio.sleep_forever()

    monkeypatch.setattr(processes, "collect", too_late)
    end = sh("head -c 60000 /dev/zero; printf end; printf err >&2")
    assert end.stdout == bytes(60000) + b"end"
    assert end.stderr == b"err"


def test_a_background_process_that_ignores_sigterm_is_killed_after_the_grace() -> None:
    token = unique_sleep()
    end = sh(f"(trap '' TERM; sleep {token}; sleep {token}) & sleep 0.05; echo out", grace_s=0.1)
    assert end.stdout == b"out\n"
    assert processes_with(token) == []


def test_a_stopped_process_is_woken_to_see_that_it_shall_end() -> None:
    token = unique_sleep()
    end, took = sh_until_cancelled(f"sleep {token} & kill -STOP $!; wait", token, grace_s=4.0)
    assert end.cancelled
    assert took < 3.0
    assert processes_with(token) == []


# Cancellation.


def test_a_cancelled_run_returns_what_was_printed() -> None:
    token = unique_sleep()
    end, took = sh_until_cancelled(f"echo kept; echo this >&2; sleep {token}", token)
    assert (end.stdout, end.stderr) == (b"kept\n", b"this\n")
    assert end.cancelled
    assert end.signal == signal.SIGTERM
    assert processes_with(token) == []
    assert took < 1.0  # far below the grace: it did not ignore SIGTERM


def test_a_process_may_say_something_when_it_is_told_to_end() -> None:
    token = unique_sleep()
    script = f"trap 'echo goodbye; exit 9' TERM; sleep {token} & wait"
    end, _ = sh_until_cancelled(script, token)
    assert (end.stdout, end.exit_code, end.cancelled) == (b"goodbye\n", 9, True)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("trap '' TERM; echo kept; sleep {0}; sleep {0}", id="ignores-sigterm"),
        pytest.param("echo kept; (trap '' TERM; setsid sleep {0} & sleep {0}) & wait", id="child-ignores"),
        pytest.param("trap '' TERM; echo kept; while :; do sleep {0} & wait; done", id="starts-again"),
    ],
)
def test_what_ignores_sigterm_is_killed_after_the_grace(script: str) -> None:
    token = unique_sleep()
    end, took = sh_until_cancelled(script.format(token), token, grace_s=0.2)
    assert end.stdout == b"kept\n"
    assert end.cancelled
    assert processes_with(token) == []
    assert took >= 0.2 or end.signal == signal.SIGTERM


def test_a_tree_that_escaped_every_way_is_ended_by_a_stop() -> None:
    token = unique_sleep()
    script = (
        f"(env -i setsid sh -c 'trap \"\" TERM; sleep {token}; sleep {token}' &)\n"
        f"(setsid setsid sleep {token} &)\nsleep {token}"
    )
    end, _ = sh_until_cancelled(script, token, count=4, grace_s=0.2)
    assert end.cancelled
    assert processes_with(token) == []


def test_a_flood_is_cut_and_its_head_is_kept() -> None:
    async def main() -> ProcessEnd:
        with trio.move_on_after(0.3):
            return await run_process(["yes"], env=ENV, cwd=HERE, max_output_bytes=10_000)
        raise AssertionError("unreachable")

    end = trio.run(main)
    assert end.cancelled
    assert end.stdout.startswith(b"y\ny\n")
    assert end.stdout_dropped > 0
    assert len(end.stdout) < 10_100


def test_a_fork_storm_is_ended() -> None:
    token = unique_sleep()
    storm = f"for i in 1 2 3 4 5 6 7 8; do (trap '' TERM; while :; do sleep {token} & done) & sleep 0.01; done; wait"
    script = (
        f"ulimit -u 400 2>/dev/null; {storm}"
        if os.geteuid()
        else storm.replace("while :; do", "for j in 1 2 3 4 5 6 7 8; do")
    )
    end, _ = sh_until_cancelled(script, token, count=20, grace_s=0.1)
    assert end.cancelled
    assert processes_with(token) == []


A_RING = """
import os, signal, sys
folder, count = sys.argv[1], 5
pipes = [os.pipe() for _ in range(count)]
for number in range(count):
    if os.fork() == 0:
        mine, next_one = pipes[number][0], pipes[(number + 1) % count][1]
        for fd in {fd for pipe in pipes for fd in pipe} - {mine, next_one}:
            os.close(fd)
        os.close(os.open(f"{folder}/ready-{number}", os.O_CREAT))
        os.read(mine, 1)
        os.close(os.open(f"{folder}/acted", os.O_CREAT))
        os._exit(0)
for fd in [fd for pipe in pipes for fd in pipe]:
    os.close(fd)
while True:
    signal.pause()
"""
"""Each of 5 processes waits for the death of its neighbour, and acts upon it."""


def test_of_a_tree_that_is_killed_nobody_acts_upon_the_death_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a process could start another for each one that dies, for ever."""
    send = keeper._send

    def send_slowly(process: tuple[int, int], *numbers: int) -> None:
        send(process, *numbers)
        if signal.SIGKILL in numbers:
            time.sleep(0.1)  # time to act, for whoever still can

    monkeypatch.setattr(keeper, "_send", send_slowly)
    with subprocess.Popen([sys.executable, "-c", A_RING, str(tmp_path)]) as ring:
        try:
            trio.run(wait_until, lambda: len(list(tmp_path.glob("ready-*"))) == 5)
            keeper._kill_all(ring.pid)
            below = psutil.Process(ring.pid).children
            trio.run(wait_until, lambda: not [each for each in below() if alive(each)])
        finally:
            ring.kill()
    assert not (tmp_path / "acted").exists()


def test_nothing_starts_when_the_scope_is_cancelled_already(tmp_path: Path) -> None:
    async def main() -> bool:
        with trio.CancelScope() as scope:
            scope.cancel()
            await run_process(["touch", str(tmp_path / "made")], env=ENV, cwd=HERE)
        return scope.cancelled_caught

    assert trio.run(main)
    assert not (tmp_path / "made").exists()


def test_the_callers_next_wait_is_cancelled_as_ever() -> None:
    async def main() -> list[str]:
        seen = []
        with trio.move_on_after(0.05):
            end = await run_process(["sleep", "50"], env=ENV, cwd=HERE)
            seen.append(f"cancelled={end.cancelled}")
            await trio.lowlevel.checkpoint()
            seen.append("went on")
        return seen

    assert trio.run(main) == ["cancelled=True"]


def test_a_program_that_ended_by_itself_is_not_called_cancelled() -> None:
    token = unique_sleep()

    async def main() -> ProcessEnd:
        ends: list[ProcessEnd] = []
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:

                async def body() -> None:
                    script = f"(trap '' TERM; sleep {token}; sleep {token}) & sleep 0.05; echo out"
                    ends.append(await run_process(["sh", "-c", script], env=ENV, cwd=HERE, grace_s=0.5))

                nursery.start_soon(body)
                await wait_until(lambda: processes_with(token))
                await trio.sleep(0.2)  # the shell is gone, what it left is in its grace
                scope.cancel()
        return ends[0]

    end = trio.run(main)
    assert (end.exit_code, end.cancelled, end.stdout) == (0, False, b"out\n")
    assert processes_with(token) == []


# When the watchers themselves are hit.


def test_a_process_that_kills_its_keeper_is_a_fault_that_leaves_nothing() -> None:
    token = unique_sleep()
    with pytest.raises(ProcessError, match="the process that watched over it was ended") as caught:
        sh(f"echo kept; (env -i setsid sleep {token} &) ; sleep 0.05; kill -KILL $PPID; sleep {token}")
    assert caught.value.stdout == b"kept\n"
    trio.run(wait_until, lambda: processes_with(token) == [])


def test_a_process_that_kills_everybody_above_it_is_a_fault_and_is_found_by_its_mark() -> None:
    token = unique_sleep()
    above = "read -r _ _ _ spawner _ < /proc/$PPID/stat"
    with pytest.raises(ProcessError, match="the process that watched over it was ended"):
        sh(f"{above}; setsid sleep {token} & kill -KILL $spawner; kill -KILL $PPID; sleep {token}")
    trio.run(wait_until, lambda: processes_with(token) == [])


def test_what_a_marked_process_starts_while_it_is_looked_for_is_found_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    token = unique_sleep()
    late: list[subprocess.Popen[bytes]] = []
    every_process = psutil.process_iter

    def sleeping() -> subprocess.Popen[bytes]:
        return subprocess.Popen(["sleep", token], env={marked_trees.TREE_VARIABLE: f"outer:{token}", **ENV})

    def with_one_more_at_the_end() -> Iterator[psutil.Process]:
        yield from every_process()
        if not late:
            late.append(sleeping())

    monkeypatch.setattr(psutil, "process_iter", with_one_more_at_the_end)
    with sleeping():
        try:
            assert marked_trees.end_marked(token) == 2
        finally:
            for each in late:
                each.kill()
                each.wait()


def test_a_process_that_stops_its_keeper_is_ended_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "ANSWER_BOUND_S", 0.1)
    monkeypatch.setattr(keeper, "KILL_BOUND_S", 0.1)
    token = unique_sleep()
    cancelled: list[float] = []

    async def main() -> None:
        async with trio.open_nursery() as nursery:

            async def body() -> None:
                script = f"kill -STOP $PPID; (env -i setsid sleep {token} &) ; sleep {token}"
                await run_process(["sh", "-c", script], env=ENV, cwd=HERE, grace_s=0.1)

            nursery.start_soon(body)
            await wait_until(lambda: len(processes_with(token)) >= 2)
            cancelled.append(trio.current_time())
            nursery.cancel_scope.cancel()

    async def timed() -> None:
        try:
            await main()
        finally:
            cancelled.append(trio.current_time())

    with pytest.RaisesGroup(pytest.RaisesExc(ProcessError, match="does not answer")):
        trio.run(timed)
    began, ended = cancelled
    assert ended - began < END_BOUND_S
    trio.run(wait_until, lambda: processes_with(token) == [])
    trio.run(wait_until, lambda: psutil.Process(spawner().pid).children() == [])


def test_a_spawner_that_a_tool_stopped_serves_the_next_call() -> None:
    run("true")
    before = spawner().pid
    os.kill(before, signal.SIGSTOP)
    assert sh("echo served").stdout == b"served\n"
    assert spawner().pid == before


def test_a_spawner_that_does_not_answer_is_ended_and_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    run("true")
    stopped = psutil.Process(spawner().pid)
    with monkeypatch.context() as patch:
        patch.setattr(spawning.Spawner, "wake", lambda _: None)
        patch.setattr(processes, "START_BOUND_S", 0.2)
        stopped.suspend()
        with pytest.raises(ProcessError, match="the process that should start it does not answer"):
            run("true")
    assert not stopped.is_running()
    assert sh("echo again").stdout == b"again\n"


def test_what_was_given_up_before_it_started_is_not_started_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("true")
    late = psutil.Process(spawner().pid)
    monkeypatch.setattr(processes, "ANSWER_BOUND_S", 0.1)
    monkeypatch.setattr(keeper, "KILL_BOUND_S", 0.1)
    with monkeypatch.context() as patch:
        patch.setattr(spawning.Spawner, "wake", lambda _: None)
        late.suspend()

        async def main() -> None:
            with trio.move_on_after(0.1):
                await run_process(["touch", str(tmp_path / "made")], env=ENV, cwd=HERE, grace_s=0.1)

        with pytest.raises(ProcessError, match="does not answer"):
            trio.run(main)
    late.resume()
    run("true")  # asked for later, so the first is over with
    trio.run(wait_until, lambda: late.children() == [])
    assert not (tmp_path / "made").exists()


def test_a_lost_spawner_is_started_again() -> None:
    run("true")
    os.kill(spawner().pid, signal.SIGKILL)
    os.waitpid(spawner().pid, 0)
    assert sh("echo again").stdout == b"again\n"


HOST = """
import os, sys, trio
from pathlib import Path
from typing import Any, cast
from litany_engine.tools.processes import run_process
token = sys.argv[1]
script = f"(env -i setsid sleep {token} &); sleep {token}"
trio.run(lambda: run_process(["sh", "-c", script], env=dict(os.environ), cwd=Path("/"), grace_s=0.2))
"""


def test_a_host_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    token = unique_sleep()

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            host: trio.Process = await nursery.start(
                partial(trio.run_process, [sys.executable, "-c", HOST, token], check=False)
            )
            await wait_until(lambda: len(processes_with(f"sleep {token}")) + len(processes_with(token)) >= 3)
            host.kill()
        await wait_until(lambda: processes_with(token) == [])

    trio.run(main)


@pytest.mark.parametrize("spawner_dies_first", [False, True])
def test_what_runs_when_its_host_is_killed_is_told_to_end_and_may_say_so(
    tmp_path: Path, spawner_dies_first: bool
) -> None:
    """By its keeper, which needs nobody for that: not the host, not the spawner."""
    token = unique_sleep()
    goodbye = tmp_path / "goodbye"
    trap = f"trap ': > {goodbye}; exit' TERM; sleep {token} & : {token}; wait; "
    host_script = HOST.replace('script = f"', f'script = f"{trap}').replace("grace_s=0.2", "grace_s=60")

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            host: trio.Process = await nursery.start(
                partial(trio.run_process, [sys.executable, "-c", host_script, token], check=False)
            )
            await wait_until(lambda: len(processes_with(token)) >= 3)  # host, shell, sleep
            if spawner_dies_first:
                (its_spawner,) = psutil.Process(host.pid).children()
                its_spawner.kill()
            host.kill()
        await wait_until(lambda: processes_with(token) == [])

    trio.run(main)
    assert goodbye.exists()


@pytest.mark.parametrize("stop", [["keeper"], ["spawner"], ["keeper", "spawner"], ["spawner", "keeper"]])
def test_a_host_that_is_killed_leaves_no_process_though_its_watchers_are_stopped(stop: list[str]) -> None:
    token = unique_sleep()

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            host: trio.Process = await nursery.start(
                partial(trio.run_process, [sys.executable, "-c", HOST, token], check=False)
            )
            seen = psutil.Process(host.pid)
            await wait_until(lambda: len(processes_with(f"sleep {token}")) + len(processes_with(token)) >= 3)
            everybody = seen.children(recursive=True)
            (its_spawner,) = seen.children()
            (its_keeper,) = its_spawner.children()
            for which in stop:
                {"keeper": its_keeper, "spawner": its_spawner}[which].suspend()
            host.kill()
        await wait_until(lambda: not [each for each in everybody if alive(each)])
        assert processes_with(token) == []

    trio.run(main)


def test_a_tool_that_stops_its_keeper_again_and_again_ends_with_its_host() -> None:
    token = unique_sleep()
    stopping = f"(trap '' TERM; while :; do kill -STOP $PPID; sleep 0.01; done) & : {token}; "
    host_script = HOST.replace('script = f"', f'script = f"{stopping}')

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            host: trio.Process = await nursery.start(
                partial(trio.run_process, [sys.executable, "-c", host_script, token], check=False)
            )
            seen = psutil.Process(host.pid)
            await wait_until(lambda: len(seen.children(recursive=True)) >= 6)
            everybody = seen.children(recursive=True)
            host.kill()
        await wait_until(lambda: not [each for each in everybody if alive(each)])
        await wait_until(lambda: processes_with(token) == [])

    trio.run(main)


def alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_many_run_at_once() -> None:
    async def main() -> list[bytes]:
        outputs: list[bytes] = []

        async def one(number: int) -> None:
            end = await run_process(["sh", "-c", f"echo {number}"], env=ENV, cwd=HERE)
            outputs.append(end.stdout)

        async with trio.open_nursery() as nursery:
            for number in range(60):
                nursery.start_soon(one, number)
        return outputs

    assert sorted(int(each) for each in trio.run(main)) == list(range(60))


@given(
    st.lists(st.binary(max_size=20).filter(lambda b: b"\0" not in b), min_size=1),
    st.lists(st.binary(min_size=1, max_size=20).filter(lambda b: b"\0" not in b)),
    st.floats(0, 1e6),
)
def test_a_request_reads_back_as_it_was_written(argv: list[bytes], env: list[bytes], grace_s: float) -> None:
    class Socket:
        def __init__(self, data: bytes) -> None:
            self.data = data

        def recv(self, size: int) -> bytes:
            taken, self.data = self.data[: min(size, 7)], self.data[min(size, 7) :]
            return taken

    request = keeper.pack_request(argv, env, b"/tmp", grace_s, b"whose")
    read = keeper._read_request(cast("socket.socket", Socket(request)))
    assert read == (argv, env, b"/tmp", grace_s, b"whose")
