"""What confinement costs: a zygote's start, a child's set-up and the pages it copies, a system call.

    .venv/bin/python benchmarks/confine.py [--rounds N]

Prints one JSON object. Times are medians, in microseconds unless the name says otherwise.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import litany_runtime
import litany_stubs
from litany_runtime.confine import Isolation, ZygotePlan
from litany_runtime.confine.paths import read_only_paths

_LAUNCHER = """
import json, os, resource, sys, time
sys.path[:0] = json.loads(sys.argv[1])
import asyncio, concurrent.futures, dataclasses, decimal, email, html, logging, re, sqlite3, statistics
from litany_runtime import confine
from litany_runtime.limits import Limits
from litany_runtime.program import FilePolicy
import gc
out = os.dup(1)
plan = confine.ZygotePlan.from_json(json.loads(sys.argv[2]))
rounds = int(sys.argv[3])
began = time.perf_counter()
entered = confine.enter(plan)
entered_s = time.perf_counter() - began
child = confine.ChildPlan("one", FilePolicy.WRITE, Limits())
script = confine.prepare_child(entered, child)
gc.collect()
gc.freeze()

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def spent(work):
    read, write = os.pipe()
    began = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        for _ in range(3):
            start, before = time.perf_counter(), faults()
        work()
        took, after = time.perf_counter() - start, faults()
        calls = time.perf_counter()
        for _ in range(1000):
            os.getppid()
        calls = time.perf_counter() - calls
        os.write(write, json.dumps([took, after - before, calls / 1000]).encode())
        os._exit(0)
    os.close(write)
    answer = json.loads(os.read(read, 1000))
    os.close(read)
    os.waitpid(pid, 0)
    return [*answer, time.perf_counter() - began]

bare = [spent(lambda: None) for _ in range(rounds)]
confined = [spent(script.run) for _ in range(rounds)]
os.write(out, json.dumps([entered_s, entered.layers, bare, confined]).encode())
os._exit(0)
"""


def measure(isolation: Isolation, rounds: int, worktrees: Path) -> dict[str, object]:
    plan = ZygotePlan(isolation, read_only_paths(), worktrees)
    packages = [str(Path(str(each.__file__)).parent.parent) for each in (litany_runtime, litany_stubs)]
    arguments = [json.dumps(packages), json.dumps(plan.to_json()), str(rounds)]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", _LAUNCHER, *arguments],
        stdout=subprocess.PIPE,
        env={},
        check=True,
    )
    entered_s, layers, bare, confined = json.loads(done.stdout)

    def median(rows: list[list[float]], column: int) -> float:
        return statistics.median(row[column] for row in rows)

    return {
        "layers": len(layers),
        "enter_ms": round(entered_s * 1e3, 2),
        "set_up_us": round(median(confined, 0) * 1e6),
        "set_up_pages": round(median(confined, 1)),
        "fork_to_exit_bare_us": round(median(bare, 3) * 1e6),
        "fork_to_exit_confined_us": round(median(confined, 3) * 1e6),
        "system_call_bare_ns": round(median(bare, 2) * 1e9),
        "system_call_confined_ns": round(median(confined, 2) * 1e9),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for name in ("one", "two"):
            (Path(folder) / name).mkdir()
            (Path(folder) / name / ".git").write_text("gitdir: elsewhere\n")
        found = {"full": measure(Isolation.FULL, rounds, Path(folder))}
        if os.getuid():  # a user's own files; root's cannot be shown as another's without mounts
            found["kernel"] = measure(Isolation.KERNEL, rounds, Path(folder))
    found["at"] = time.strftime("%Y-%m-%d")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
