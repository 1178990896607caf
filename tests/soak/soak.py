"""Run program after program through one supervisor, and see that everything returns to where it began.

    python tests/soak/soak.py --programs 10000

Counted from outside the programs: descriptors and threads of the host, processes below it, resident memory of
the host and of its zygote, temporary files. Figures are taken once everything is warm, and at the end.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

import psutil  # noqa: E402
import trio  # noqa: E402

from litany_engine import init_workspace, open_workspace, tool  # noqa: E402
from litany_engine.api import OpenWorkspace  # noqa: E402
from litany_runtime.outcome import Outcome  # noqa: E402

WARM_UP = 60
"""Programs before the first figures: by then every cache and pool has its size."""

SIDE_BY_SIDE = 4
SETTLE_S = 20.0

MAX_GROWTH_BYTES = 24 * 1024 * 1024
"""Of the host and of the zygote, each, over any number of programs: allocators keep what they once took."""


@dataclass(frozen=True)
class Figures:
    """What a host holds."""

    descriptors: int
    threads: int
    processes: int
    temporary_files: int
    host_bytes: int
    zygote_bytes: int

    @classmethod
    def now(cls, temporary: Path) -> Figures:
        host = psutil.Process()
        below = [each for each in host.children(recursive=True) if each.status() != psutil.STATUS_ZOMBIE]
        return cls(
            descriptors=host.num_fds(),
            threads=host.num_threads(),
            processes=len(below),
            temporary_files=len(list(temporary.rglob("*"))),
            host_bytes=host.memory_info().rss,
            zygote_bytes=max((each.memory_info().rss for each in host.children()), default=0),
        )

    def told(self) -> str:
        return ", ".join(f"{each.name} {getattr(self, each.name):,}" for each in fields(self))


@tool
async def echo(text: str) -> str:
    """Say it again."""
    await trio.lowlevel.checkpoint()
    return text


KINDS: tuple[tuple[str, Outcome], ...] = (
    ("import litany_tools\nprint(litany_tools.echo(text='x').stdout)", Outcome.COMPLETED),
    ("raise ValueError('no')", Outcome.FAILED),
    ("import socket", Outcome.REFUSED),
    ("import os\nos.makedirs('/tmp/a', exist_ok=True)\nopen('/tmp/a/b', 'w').write('x' * 10000)", Outcome.COMPLETED),
    ("import asyncio\nfrom litany_tools import aio\nawait asyncio.gather(*(aio.echo(text='x') for _ in range(5)))",
     Outcome.COMPLETED),
)  # fmt: skip
"""Programs of different ends, in turn; the slow ones, stopped and timed out, come once in fifty."""


async def run_programs(root: Path, programs: int, tell: Callable[[str], None]) -> tuple[Figures, Figures]:
    """Run them, and return the figures of before and after; an assertion fails when they differ."""
    temporary = root.parent / "tmp"
    temporary.mkdir()
    tempfile.tempdir = str(temporary)
    workspace = init_workspace(root)
    (root / "litany.toml").write_text('[limits]\ngrace = "100ms"\n')
    try:
        async with open_workspace(root, tools=[echo]) as ws:
            await run_some(ws, WARM_UP)
            before = await quiet(lambda: Figures.now(temporary))
            tell(f"before: {before.told()}")
            began = time.monotonic()
            await run_some(ws, programs)
            rate = programs / (time.monotonic() - began)
            after = await quiet(lambda: Figures.now(temporary), like=before)
            tell(f"after:  {after.told()}")
            tell(f"{programs} programs, {rate:.0f} a second")
        # One process stays as long as its host: it starts the keepers of tools' processes.
        assert len(psutil.Process().children(recursive=True)) <= 1, "processes outlive the workspace"
    finally:
        tempfile.tempdir = None
    assert workspace.agents()
    compare(before, after)
    return before, after


def compare(before: Figures, after: Figures) -> None:
    for name in ("descriptors", "threads", "processes", "temporary_files"):
        assert getattr(after, name) <= getattr(before, name), f"{name} did not return: {before} {after}"
    for name in ("host_bytes", "zygote_bytes"):
        grown = getattr(after, name) - getattr(before, name)
        assert grown <= MAX_GROWTH_BYTES, f"{name} grew by {grown:,}"


async def quiet(look: Callable[[], Figures], like: Figures | None = None) -> Figures:
    """Look once children have been refilled and threads have gone back: when two looks agree."""
    until = trio.current_time() + SETTLE_S
    last = look()
    while True:
        await trio.sleep(0.3)
        now = look()
        steady = (now.descriptors, now.threads, now.processes) == (
            last.descriptors,
            last.threads,
            last.processes,
        )
        enough = like is None or now.threads <= like.threads  # trio's worker threads leave after ten seconds
        if (steady and enough) or trio.current_time() > until:
            return now
        last = now


async def run_some(ws: OpenWorkspace, programs: int) -> None:
    left = iter(range(programs))

    async def worker() -> None:
        for number in left:
            await one(ws, number)

    async with trio.open_nursery() as nursery:
        for _ in range(SIDE_BY_SIDE):
            nursery.start_soon(worker)


async def one(ws: OpenWorkspace, number: int) -> None:
    slow: dict[int, Callable[[], Awaitable[None]]] = {7: lambda: timed_out(ws), 31: lambda: cancelled(ws)}
    if number % 50 in slow:
        await slow[number % 50]()
        return
    program, outcome = KINDS[number % len(KINDS)]
    end = await ws.python(program)
    assert end.outcome is outcome, (program, end)


async def timed_out(ws: OpenWorkspace) -> None:
    end = await ws.python("while True: pass", deadline=0.1)
    assert end.outcome is Outcome.TIMED_OUT, end


async def cancelled(ws: OpenWorkspace) -> None:
    with trio.move_on_after(0.1):
        await ws.python("import litany_tools\nlitany_tools.bash(command='sleep 1000')")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=10_000)
    args = parser.parse_args()
    os.environ.pop("TMPDIR", None)
    with tempfile.TemporaryDirectory(prefix="litany-soak-") as folder:
        trio.run(run_programs, Path(folder) / "w", args.programs, print)


if __name__ == "__main__":
    main()
