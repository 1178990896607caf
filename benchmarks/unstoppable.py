"""How close to its limit each of nine programs ends that will not stop: a 0.5 s deadline, 256 MiB.

python benchmarks/unstoppable.py
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

import psutil
import trio

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from runtime_kit import open_bench
from unstoppable import HEAD, UNSTOPPABLE

from litany_runtime.limits import MIB, Limits

DEADLINE_S = 0.5


async def main() -> None:
    print(
        f"{'program':28}{'ends after':>12}{'over':>10}  {'outcome':10} reason   (medians of 5; the host's memory)"
    )
    with tempfile.TemporaryDirectory() as folder:
        async with open_bench(Path(folder)) as bench:
            for name, source, _, _ in UNSTOPPABLE:
                samples, grown = [], 0
                for _ in range(5):
                    await bench.run("pass")
                    before = psutil.Process(os.getpid()).memory_info().rss
                    began = trio.current_time()
                    end = await bench.run(
                        HEAD + source, deadline_s=DEADLINE_S, limits=Limits(memory_bytes=256 * MIB)
                    )
                    samples.append(trio.current_time() - began)
                    grown = max(grown, psutil.Process(os.getpid()).memory_info().rss - before)
                took = statistics.median(samples)
                over = f"{(took - DEADLINE_S) * 1e3:+.0f} ms" if took > DEADLINE_S else ""
                print(
                    f"{name:28}{took:>10.3f} s{over:>10}  {end.outcome:10} {end.reason}   +{grown / MIB:.1f} MiB"
                )


trio.run(main)
