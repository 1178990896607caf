"""How long a stop takes, from the flag to the report, at each phase of a program's life.

    python benchmarks/stops.py [--times 7]

The promise: the grace and 0.2 s at most, and less than 0.1 s when the program ends as it is asked to. The phases
are those of the tests, and so is the look at what is left: a run in which anything was left is none. Everything
is measured in the host, with its records on disk when the clock is stopped.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from stop_kit import CALL_TOOLS, CONFIG, GRACE_S, PHASES, Phase, phase_tools, timed_stop, tool_processes
from window_kit import make_workspace

COOPERATIVE_S = 0.1
BEYOND_GRACE_S = 0.2

TOOL_GRACE_S = 2.0
"""A tool's process has this much, whatever a program has: `litany_engine.tools.processes.GRACE_S`."""

DEAF = Phase(
    CALL_TOOLS + "litany_tools.bash(command='trap \"\" TERM; touch ../../deaf; sleep 1000; sleep 1000')",
    lambda host: lambda: (host.workspace.root / "deaf").exists() and bool(tool_processes(host.workspace)),
    cooperates=False,
)


def stops(phase: Phase, times: int) -> list[float]:
    """The seconds that each of some stops took."""
    took = []
    for _ in range(times):
        release = threading.Event()
        with tempfile.TemporaryDirectory() as folder:
            workspace = make_workspace(Path(folder, "w"), CONFIG)
            try:
                took.append(timed_stop(workspace, phase.program, phase.when, tools=phase_tools(release))[1])
            finally:
                release.set()
    return took


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=7, help="stops of each phase (default 7)")
    times = parser.parse_args().times
    load = os.getloadavg()[0]
    print(
        f"{os.cpu_count()} cores, load {load:.1f}, grace {GRACE_S:g} s, a tool's {TOOL_GRACE_S:g} s, {times} stops each"
    )
    print(f"{'the program is stopped':44} {'median':>8} {'longest':>8} {'promised':>9}")
    late = False
    phases = {**PHASES, "in a tool's process that is deaf to SIGTERM": DEAF}
    for name, phase in phases.items():
        took = stops(phase, times)
        grace_s = TOOL_GRACE_S if phase is DEAF else GRACE_S
        promised_s = COOPERATIVE_S if phase.cooperates else grace_s + BEYOND_GRACE_S
        late |= max(took) > promised_s
        mark = "" if max(took) <= promised_s else "  late"
        median, longest = statistics.median(took), max(took)
        print(f"{name:44} {median * 1e3:5.0f} ms {longest * 1e3:5.0f} ms {promised_s * 1e3:6.0f} ms{mark}")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
