"""A host that is killed, at whatever moment, takes everything with it; a zygote that is killed is replaced."""

from __future__ import annotations

import ctypes
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import trio

from litany_runtime.outcome import Outcome
from litany_runtime.program import InnerCall
from litany_stubs.words import Reply
from runtime_kit import open_bench, processes_below

HOST = Path(__file__).with_name("killed_host.py")
PR_SET_CHILD_SUBREAPER = 36
WITHIN_S = 5.0
"""A bound for a machine under load; on a quiet one it takes milliseconds."""


@pytest.fixture
def orphans_come_here() -> None:
    """What a killed host leaves behind becomes this process's child, so that nothing can hide."""
    assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def wait_until_nothing_is_left(before: set[int]) -> list[psutil.Process]:
    """What is still there when the time is up."""
    limit = time.monotonic() + WITHIN_S
    while time.monotonic() < limit:
        left = [each for each in processes_below() if each.pid not in before]
        if not left:
            return []
        time.sleep(0.01)
    return left


# From the first instruction, through the zygote's start, to programs in full swing.
@pytest.mark.parametrize(
    "moment_s", [0.0, 0.1, 0.25, *(random.Random(4).uniform(0.3, 1.5) for _ in range(5))]
)
@pytest.mark.usefixtures("orphans_come_here")
def test_nothing_of_a_killed_host_is_left(tmp_path: Path, moment_s: float) -> None:
    before = {each.pid for each in processes_below()}
    mounts = Path("/proc/self/mountinfo").read_text()
    host = subprocess.Popen(
        [sys.executable, str(HOST), str(tmp_path)],
        stdout=subprocess.DEVNULL,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    time.sleep(moment_s)
    host.kill()
    host.wait()
    assert wait_until_nothing_is_left(before) == []
    assert Path("/proc/self/mountinfo").read_text() == mounts


def test_programs_of_a_killed_zygote_fault_and_another_serves_the_next(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_bench(tmp_path) as bench:
            waiting = trio.Event()
            ends: list[Outcome] = []

            async def answer(_: InnerCall) -> Reply:
                waiting.set()
                await trio.sleep_forever()
                raise AssertionError

            async def one(source: str) -> None:
                ends.append((await bench.run(source, answer=answer)).outcome)

            async with trio.open_nursery() as nursery:
                nursery.start_soon(one, "while True: pass")
                nursery.start_soon(one, "import litany_tools\nlitany_tools.nap()")
                await waiting.wait()
                # The inner one: the init of the pid namespace, which the launcher waits for.
                for launcher in psutil.Process().children():
                    for zygote in launcher.children():
                        zygote.send_signal(signal.SIGKILL)
            assert ends == [Outcome.FAULTED] * 2
            assert (await bench.run("print('next')")).stdout == b"next\n"

    trio.run(main)
