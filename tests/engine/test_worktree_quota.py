"""What a worktree may take on disk: counted to its last corner, and programs past it are stopped."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import trio

from cli_kit import litany
from litany_engine import open_workspace, tool
from litany_engine.door.calls import CallEnd
from litany_engine.tools.worktree_quota import Usage, WorktreeLimit, kernel_quota, sweep
from litany_engine.workspaces.workspace import Workspace
from litany_runtime.outcome import Outcome
from window_kit import make_workspace

PLENTY = WorktreeLimit(2**40, 10**9)


def test_all_files_count_however_deep_and_links_once(tmp_path: Path) -> None:
    top = tmp_path / "worktree"
    top.mkdir()
    (tmp_path / "outside").write_bytes(b"x" * 100_000)
    (top / "a").write_bytes(b"x" * 8192)
    (top / "b").hardlink_to(top / "a")
    (top / "out").symlink_to(tmp_path / "outside")
    (top / "loop").symlink_to(".")
    os.mkfifo(top / "pipe")
    here = os.open(top, os.O_RDONLY)
    for _ in range(3000):  # far beyond what a path may name
        os.mkdir("deep", dir_fd=here)
        below = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    file = os.open("last", os.O_WRONLY | os.O_CREAT, dir_fd=here)
    os.write(file, b"y" * 40_960)
    os.close(file)
    os.close(here)
    descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    usage = sweep(top, PLENTY)
    assert usage is not None
    assert sweep(top, PLENTY, 3000) is None
    assert usage.files == 5 + 3000 + 1
    assert usage.bytes == int(subprocess.check_output(["du", "-s", "-B1", str(top)]).split()[0]) - _own(top)
    assert len(os.listdir("/proc/self/fd")) == descriptors  # noqa: PTH208
    subprocess.run(["rm", "-rf", str(top)], check=True)


def _own(folder: Path) -> int:
    return folder.stat().st_blocks * 512


def test_a_worktree_that_is_gone_takes_nothing(tmp_path: Path) -> None:
    assert sweep(tmp_path / "gone", PLENTY) == Usage()


def test_counting_ends_once_it_is_clear(tmp_path: Path) -> None:
    for n in range(50):
        folder = tmp_path / str(n)
        folder.mkdir()
        for k in range(10):
            (folder / str(k)).touch()
    limit = WorktreeLimit(2**40, 20)
    usage = sweep(tmp_path, limit)
    assert usage is not None
    assert limit.over(usage)
    assert usage.files < 550


@tool
async def nothing() -> str:
    """Does nothing."""
    await trio.lowlevel.checkpoint()
    return "done"


def run(workspace: Workspace, *programs: str) -> list[CallEnd]:
    async def main() -> list[CallEnd]:
        async with open_workspace(Workspace(workspace.root), tools=[nothing]) as ws:
            return [await ws.python(each, deadline=60) for each in programs]

    return trio.run(main)


LIMITED = '[disk]\nworktree = "4 MiB"\nworktree_files = 300\n'

FILL = """
n = 0
while True:
    with open(f"f{n}", "wb") as file:
        file.write(b"x" * SIZE)
    n += 1
"""

CLEAN = """
import os
for name in os.listdir("."):
    if name.startswith("f"):
        os.remove(name)
print(sorted(each for each in os.listdir(".") if each.startswith("f")))
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "w", LIMITED)


@pytest.mark.parametrize("size", ["100_000", "0"])
def test_a_program_that_fills_its_worktree_is_stopped(workspace: Workspace, size: str) -> None:
    (end,) = run(workspace, FILL.replace("SIZE", size))
    assert (end.outcome, end.exit_code) == (Outcome.KILLED, 137)
    assert end.reason.startswith("limit on disk: the worktree holds ")
    assert "[disk] worktree and worktree_files in litany.toml" in end.reason


def test_a_program_is_stopped_at_a_call(workspace: Workspace) -> None:
    program = (
        "import litany_tools, time\n"
        "open('f', 'wb').write(b'x' * 6_000_000)\n"
        "time.sleep(0.06)\n"
        "litany_tools.nothing()\n"
        "time.sleep(50)\n"
    )
    (end,) = run(workspace, program)
    assert end.outcome is Outcome.KILLED


def test_what_a_short_program_left_is_told_and_the_next_may_only_remove(workspace: Workspace) -> None:
    big = "open('f0', 'wb').write(b'x' * 6_000_000)\n"
    more = (
        "try:\n    with open('f1', 'wb') as file: file.write(b'x' * 100)\n    print('wrote')\n"
        "except OSError as error:\n    print(error.strerror)\n"
    )
    filled, refused, cleaned, again = run(workspace, big, more, CLEAN, big.replace("6_", "2_"))
    assert filled.outcome is Outcome.COMPLETED
    assert b"the worktree holds 5.7 MiB" in filled.stderr
    assert b"may hold 4 MiB" in filled.stderr
    assert refused.stdout.splitlines()[0] == b"File too large"
    assert b"It began with no room left" in refused.stderr
    assert (cleaned.outcome, cleaned.stdout, cleaned.stderr) == (Outcome.COMPLETED, b"[]\n", b"")
    assert (again.outcome, again.stderr) == (Outcome.COMPLETED, b"")


def test_what_is_removed_and_written_again_is_no_growth(workspace: Workspace) -> None:
    program = "for n in range(200):\n    open('f', 'wb').write(b'x' * 1_000_000)\nprint('ok')\n"
    (end,) = run(workspace, program)
    assert (end.outcome, end.stdout, end.stderr) == (Outcome.COMPLETED, b"ok\n", b"")


def test_a_host_s_stop_is_still_a_stop(workspace: Workspace) -> None:
    async def main() -> CallEnd:
        async with open_workspace(Workspace(workspace.root)) as ws:
            ends: list[CallEnd] = []

            async def go() -> None:
                ends.append(await ws.python("import time\nprint('on', flush=True)\ntime.sleep(60)"))

            async with trio.open_nursery() as nursery:
                nursery.start_soon(go)
                while not ws.running():  # noqa: ASYNC110 - a moment
                    await trio.sleep(0.01)
                await ws.stop()
            return ends[0]

    assert trio.run(main).outcome is Outcome.STOPPED


def test_doctor_says_what_bounds_a_worktree(workspace: Workspace, tmp_path: Path) -> None:
    done = litany("doctor", cwd=workspace.root, state=tmp_path)
    assert "A worktree may take 4 MiB in 300 files: counted while programs run" in done.stdout
    told: Any = litany("doctor", "--json", cwd=workspace.root, state=tmp_path)
    assert '"limit_files": 300' in told.stdout
    held, why = kernel_quota(workspace.worktrees)
    assert (held is None) == ("No limit of the kernel" in done.stdout)
    assert why in done.stdout
