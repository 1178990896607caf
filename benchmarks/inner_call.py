"""An inner call to a tool that does nothing, beside pydantic-monty's surfaced call, pinned, in one run.

    python benchmarks/inner_call.py [--quick] [--core N] [--folder /dev/shm]

Ours is the whole way: program, wire, every gate, executor, both halves of the record, and back. Monty's is
`feed_start` with each call surfaced to the host and answered with `resume`: neither gated nor recorded. What
each addition costs is shown below: rules, budgets (on disk, before the call), a screen. The kinds take turns
within one run and the median of the turns is shown, because the machine is shared; all processes are pinned to
one core, which is how such ping-pong is quickest. Monty is left out, and said to be, where it is not installed.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import trio

from litany_engine import Traits, init_workspace, open_workspace, tool
from litany_engine.workspaces.workspace import Workspace

ASK = 'unmatched = "ask"\n'
RULES = """
[[rules]]
action = "deny"
tool = "bash"
command = "rm **"
[[rules]]
action = "allow"
tool = "noop"
[[rules]]
action = "allow"
tool = "python"
"""
BUDGETS = "[budgets]\nagent_calls = 100000000\ntree_calls = 100000000\n"
LIMITS = "[limits]\ncalls = 1000000\n"

PROGRAM = """
import time, litany_tools
began = time.perf_counter()
for n in range({calls}): litany_tools.noop(n=n)
print((time.perf_counter() - began) / {calls})
"""

Sample = tuple[float, float]
"""Seconds that one call took, and seconds of the host's processor that it used."""


def cpu_s() -> float:
    times = os.times()
    return times.user + times.system


@tool(traits=Traits(concurrency_safe=True))
async def noop(n: int) -> None:
    """Do nothing."""


def no_keys(call, capture):
    """A screen that lets everything through."""
    return None


KINDS = {
    "gated and recorded": (LIMITS, ()),
    "+ rules": (ASK + LIMITS + RULES, ()),
    "+ budgets on disk": (LIMITS + BUDGETS, ()),
    "+ rules, budgets, a screen": (ASK + LIMITS + RULES + BUDGETS, (no_keys,)),
}


def ours(folder: Path, config: str, screens, calls: int) -> Sample:
    """What one call of ours takes."""
    root = Path(tempfile.mkdtemp(dir=folder)) / "w"
    init_workspace(root, agent="a")
    (root / "litany.toml").write_text(config)

    async def main() -> Sample:
        async with open_workspace(Workspace(root), tools=[noop], screens=screens) as ws:
            await ws.python(PROGRAM.format(calls=100))
            began = cpu_s()
            end = await ws.python(PROGRAM.format(calls=calls))
            assert end.exit_code == 0, end
            return float(end.stdout), (cpu_s() - began) / calls

    return trio.run(main)


def monty(calls: int) -> Sample | None:
    """What one surfaced call takes, or None where monty is not installed."""
    try:
        import pydantic_monty
    except ImportError:
        return None
    limits = {"max_suspensions": 10_000_000}
    with pydantic_monty.Monty() as pool, pool.checkout(limits=limits) as session:
        for rounds in (100, calls):
            began, cpu_began = time.perf_counter(), cpu_s()
            at = session.feed_start(f"for n in range({rounds}): noop(n=n)")
            answered = 0
            while not isinstance(at, pydantic_monty.MontyComplete):
                if isinstance(at, pydantic_monty.NameLookupSnapshot):
                    at = at.resume(FUNCTION)
                else:
                    answered += 1
                    at = at.resume({"return_value": None})
            took, used = time.perf_counter() - began, cpu_s() - cpu_began
            assert answered == rounds
    return took / calls, used / calls


def FUNCTION():
    """What monty looks up under the name."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer calls and turns")
    parser.add_argument("--core", type=int, default=None, help="the core to run on (default: the last one)")
    parser.add_argument(
        "--folder", help="where the workspaces are made: a record costs what its file system does"
    )
    args = parser.parse_args()
    core = max(os.sched_getaffinity(0)) if args.core is None else args.core
    os.sched_setaffinity(0, {core})
    calls, turns = (500, 3) if args.quick else (2000, 7)
    print(
        f"{os.cpu_count()} cores, pinned to core {core}, Python {sys.version.split()[0]}, {turns} turns of {calls} calls"
    )
    samples: dict[str, list[Sample]] = {}
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        for _ in range(turns):
            for name, (config, screens) in KINDS.items():
                gc.collect()
                samples.setdefault(name, []).append(ours(Path(folder), config, screens, calls))
            if (took := monty(calls)) is not None:
                samples.setdefault("monty feed_start, surfaced; no record", []).append(took)
    for name, found in samples.items():
        took, used = ([each[n] * 1e6 for each in found] for n in (0, 1))
        print(
            f"{name:<40}{statistics.median(took):8.1f} us   {min(took):.1f} to {max(took):.1f}"
            f"   host's processor {statistics.median(used):.0f} us"
        )
    if len(samples) == len(KINDS):
        print("monty is not installed: pip install pydantic-monty")


if __name__ == "__main__":
    main()
