"""Starts, throughput, inner calls and memory of the runtime, beside named baselines, in one run.

    python benchmarks/runtime.py [--quick]

The machine is shared and noisy: medians, and ratios taken within the run. A baseline that is not installed
(`pip install --group bench`) is left out and said to be.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import trio

from litany_runtime.program import Program
from litany_runtime.setup import Setup
from litany_runtime.program import InnerCall
from litany_runtime.supervisor import Supervisor, open_supervisor
from litany_stubs.render import render
from litany_stubs.words import Reply, ToolDeclaration

NOOP = ToolDeclaration("noop", "Do nothing.", {"type": "object", "properties": {"n": {"type": "integer"}}})
STUBS = render([NOOP])


def ms(samples: list[float]) -> str:
    ordered = sorted(samples)
    p10, p90 = ordered[len(ordered) // 10], ordered[len(ordered) * 9 // 10]
    return f"{statistics.median(samples) * 1e3:9.3f} ms   p10 {p10 * 1e3:.3f}  p90 {p90 * 1e3:.3f}"


async def noop(_: InnerCall) -> Reply:
    return Reply("completed", 0)


async def start(
    supervisor: Supervisor, worktree: Path, rounds: int, stubs: str = STUBS, pause_s: float = 0.01
) -> list[float]:
    samples = []
    for _ in range(rounds):
        await trio.sleep(pause_s)  # let the next child become warm
        began = time.perf_counter()
        end = await supervisor.run(Program(b"print(1)", stubs, worktree), answer=noop)
        samples.append(time.perf_counter() - began)
        assert end.stdout == b"1\n", end
    return samples


async def throughput(supervisor: Supervisor, worktree: Path, programs: int, side_by_side: int) -> float:
    left = iter(range(programs))

    async def worker() -> None:
        for _ in left:
            end = await supervisor.run(Program(b"print(1)", STUBS, worktree), answer=noop)
            assert end.stdout == b"1\n", end

    began = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for _ in range(side_by_side):
            nursery.start_soon(worker)
    return programs / (time.perf_counter() - began)


async def inner_calls(supervisor: Supervisor, worktree: Path, calls: int) -> float:
    source = (
        "import litany_tools, time\nb = time.perf_counter()\n"
        f"for n in range({calls}): litany_tools.noop(n=n)\nprint((time.perf_counter() - b) / {calls})"
    )
    end = await supervisor.run(Program(source.encode(), STUBS, worktree), answer=noop)
    return float(end.stdout)


def children_private_mib() -> list[float]:
    tree = psutil.Process().children(recursive=True)
    return sorted(each.memory_full_info().uss / 2**20 for each in tree)


async def ours(quick: bool) -> None:
    rounds = 50 if quick else 300
    many = [ToolDeclaration(f"tool_{n}", "A tool.\n" + "words " * 20, NOOP.input_schema) for n in range(100)]
    many_stubs = render(many)
    with tempfile.TemporaryDirectory() as folder:
        worktree = Path(folder, "agents", "one")
        worktree.mkdir(parents=True)
        began = time.perf_counter()
        async with open_supervisor(Setup(worktree_root=worktree.parent, warm=2)) as supervisor:
            await supervisor.run(Program(b"pass", STUBS, worktree), answer=noop)
            print(f"first program, with its zygote      {(time.perf_counter() - began) * 1e3:9.1f} ms")
            await start(supervisor, worktree, 10)
            one, hundred = [], []
            for _ in range(rounds):  # in turn, so that a busy moment of the machine falls on both
                one += await start(supervisor, worktree, 1)
                hundred += await start(supervisor, worktree, 1, many_stubs)
            print(f"warm start                          {ms(one)}")
            print(
                f"warm start, 100 tools               {ms(hundred)}   (+{(statistics.median(hundred) - statistics.median(one)) * 1e3:.3f}, {statistics.median(hundred) / statistics.median(one):.2f} times)"
            )
            print(
                f"inner call, no gate, no record      {await inner_calls(supervisor, worktree, 1000 if quick else 5000) * 1e6:9.1f} us"
            )
            with_one = children_private_mib()
            print(f"private memory per process          {', '.join(f'{each:.1f}' for each in with_one)} MiB")
        for lanes in (1, 2, 4):
            async with open_supervisor(Setup(worktree_root=worktree.parent, warm=lanes)) as supervisor:
                await throughput(supervisor, worktree, 20, lanes)
                rate = await throughput(supervisor, worktree, rounds * 3, lanes)
                print(f"programs a second, {lanes} side by side   {rate:9.0f}")


def baselines(quick: bool) -> None:
    rounds = 20 if quick else 100
    for name, command in (
        ("python -I -S -c", [sys.executable, "-I", "-S", "-c", "print(1)"]),
        ("python -c", [sys.executable, "-c", "print(1)"]),
    ):
        samples = []
        for _ in range(rounds):
            began = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            samples.append(time.perf_counter() - began)
        print(f"{name:<36}{ms(samples)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    quick = parser.parse_args().quick
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    trio.run(ours, quick)
    baselines(quick)


if __name__ == "__main__":
    main()
