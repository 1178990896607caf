"""Nine programs that will not stop, under half a second and 256 MiB: each ends, is named, and harms nobody.

How close to its limit each ends is measured by `benchmarks/unstoppable.py`; the bounds here are for a machine
under load.
"""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest
import trio

from litany_runtime.limits import MIB, Limits
from litany_runtime.outcome import Outcome
from runtime_kit import open_bench
from unstoppable import HEAD, UNSTOPPABLE

LIMITS = Limits(memory_bytes=256 * MIB, output_bytes=64 * 1024)


@pytest.mark.parametrize("language_layer", [True, False], ids=["both layers", "policy off"])
@pytest.mark.parametrize(
    ("name", "source", "outcome", "says"), UNSTOPPABLE, ids=[each[0] for each in UNSTOPPABLE]
)
def test_it_ends_with_its_outcome_and_its_output(
    tmp_path: Path, name: str, source: str, outcome: Outcome, says: str, language_layer: bool
) -> None:
    async def main() -> None:
        async with open_bench(tmp_path, language_layer=language_layer) as bench:
            await bench.run("pass")
            before = psutil.Process(os.getpid()).memory_info().rss
            with trio.fail_after(10):
                end = await bench.run(HEAD + source, deadline_s=0.5, limits=LIMITS)
            assert (end.outcome, end.stdout[:5]) == (outcome, b"head\n"), (name, end)
            assert says in end.reason or says.encode() in end.stderr, end
            if name == "print flood":
                assert end.stdout.endswith(b"x\n")
                assert b"bytes dropped here" in end.stdout
            assert psutil.Process(os.getpid()).memory_info().rss - before < 32 * MIB
            assert (await bench.run("print('next')")).stdout == b"next\n"

    trio.run(main)


BOMBS = [
    (
        "fork bomb",
        "import os\nwhile True:\n    try: os.fork()\n    except OSError as e: print('no', e.errno); break",
        b"no",
    ),
    (
        "thread bomb",
        (
            "import threading, time\nn = 0\ntry:\n"
            "    while True: threading.Thread(target=time.sleep, args=(9,), daemon=True).start(); n += 1\n"
            "except RuntimeError: print('threads', n < 64)"
        ),
        b"threads True",
    ),
    (
        "ten thousand open files",
        (
            "files = []\ntry:\n    for n in range(10_000): files.append(open(f'f{n}', 'w'))\n"
            "except OSError as e: print('files', e.errno, len(files) < 256)"
        ),
        b"files 24 True",
    ),
    (
        "a file without end",
        (
            "try:\n    with open('big', 'wb') as f:\n        while True: f.write(b'x' * (1 << 20)); f.flush()\n"
            "except OSError as e: print('size', e.errno)"
        ),
        b"size 27",
    ),
    (
        "a full /tmp",
        (
            "try:\n    for n in range(100):\n        with open(f'/tmp/{n}', 'wb') as f: f.write(b'x' * (8 << 20))\n"
            "except OSError as e: print('space', e.errno)"
        ),
        b"space 28",
    ),
]


@pytest.mark.parametrize(("name", "source", "says"), BOMBS, ids=[each[0] for each in BOMBS])
def test_a_bomb_is_contained_and_the_next_program_runs(
    tmp_path: Path, name: str, source: str, says: bytes
) -> None:
    async def main() -> None:
        async with open_bench(tmp_path, language_layer=False) as bench:
            end = await bench.run(source, deadline_s=20)
            assert says in end.stdout, (name, end)
            assert (await bench.run("print('next')")).stdout == b"next\n"

    trio.run(main)


def test_the_cpu_limit_ends_a_program_and_is_named(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_bench(tmp_path) as bench:
            end = await bench.run("while True: pass", limits=Limits(cpu_s=1), deadline_s=20)
            assert (end.outcome, end.reason) == (Outcome.KILLED, "cpu limit 1 s")

    trio.run(main)
