"""A host that runs programs until it is killed; started by `test_killed_host.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import trio

from runtime_kit import open_bench


async def main() -> None:
    async with open_bench(Path(sys.argv[1]), warm=2) as bench:
        sys.stdout.write("begun\n")
        sys.stdout.flush()

        async def lane(source: str) -> None:
            while True:
                await bench.run(source, deadline_s=0.2)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(lane, "while True: pass")
            nursery.start_soon(lane, "import litany_tools\nlitany_tools.nap()")
            nursery.start_soon(lane, "print(1)")


trio.run(main)
