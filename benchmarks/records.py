"""What one record costs: claiming its id, writing its input, writing its output.

    python benchmarks/records.py [FOLDER] [--calls N]

Run it in a folder on the file system that holds your workspaces (default: the current one), pinned to one core
(`taskset -c 0`) for figures that compare. Nothing is deleted before the end, and the first thing it does is to
warm up: ext4 without a journal searches long for an inode just after many were freed.
"""

import argparse
import os
import shutil
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from litany_engine.door.calls import CallEnd, ToolCall
from litany_engine.records.records import Records, Step
from litany_runtime.outcome import Outcome

NOW = datetime.now(UTC)


def timed(work, times):
    """Median and mean in microseconds."""
    took = []
    for _ in range(times):
        start = time.perf_counter_ns()
        work()
        took.append((time.perf_counter_ns() - start) / 1000)
    return statistics.median(took), statistics.fmean(took)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", default=".", type=Path)
    parser.add_argument("--calls", type=int, default=2000)
    options = parser.parse_args()
    base = Path(tempfile.mkdtemp(prefix="litany-benchmark-", dir=options.folder))
    print(f"{'what':60}{'median µs':>10}{'mean µs':>10}")
    try:
        for durability in ("none", "call"):
            calls = options.calls if durability == "none" else max(20, options.calls // 40)
            records = Records(base / durability, durability)
            step = records.open_step("main")

            def record(step=step):
                minted = step.mint_inner("T")
                call = ToolCall(minted.call_id, "read_file", {"path": "src/main.py"})
                minted.write_input(call, "T", NOW)
                minted.write_output(CallEnd(call, Outcome.COMPLETED, 0, NOW, NOW, 0.0001, b"hello\n" * 20))

            def fresh(step=step):
                Step("main", 1, step.path).mint_inner("T")

            rows = [
                ("record: claim, input, output", record, calls),
                ("open a step", lambda records=records: records.open_step("main"), min(calls, 200)),
                (f"claim alone, fresh process, after {calls}", fresh, 20),
            ]
            timed(record, 50)
            for name, work, times in rows:
                median, mean = timed(work, times)
                print(f"{name + ', durability ' + durability:60}{median:10.1f}{mean:10.1f}")
        print_floor(base, options.calls)
    finally:
        shutil.rmtree(base)


def print_floor(base, calls):
    """The same system calls with nothing around them: what no code of ours can get below."""
    folder = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
    numbers = iter(range(calls + 50))

    def floor():
        name = f"floor-{next(numbers)}"
        os.mkdir(name, dir_fd=folder)
        for file in ("input.json", "output.json"):
            opened = os.open(f"{name}/.{file}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=folder)
            os.write(opened, b"x" * 300)
            os.close(opened)
            os.rename(f"{name}/.{file}", f"{name}/{file}", src_dir_fd=folder, dst_dir_fd=folder)

    timed(floor, 50)
    median, mean = timed(floor, calls)
    print(f"{'the system calls alone':60}{median:10.1f}{mean:10.1f}")


main()
