"""What records take on disk: one content once, counted by all processes, and bounded."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trio

from litany_engine import open_workspace, tool
from litany_engine.door.calls import CallEnd, ToolCall
from litany_engine.records.blobs import SHARED_BYTES, unused_blobs
from litany_engine.records.disk_use import BLOCK_BYTES, DiskUse, measure
from litany_engine.records.recorded import load_call
from litany_engine.records.records import Record, Records, Step
from litany_engine.records.show import show_json
from litany_engine.workspaces.workspace import Workspace
from litany_runtime.outcome import Outcome
from window_kit import AGENT, make_workspace

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LARGE = b"line\n" * 20_000


@pytest.fixture
def step(tmp_path: Path) -> Iterator[Step]:
    step = Records(tmp_path / "steps").open_step("a")
    yield step
    step.close()


def leave(step: Step, **end: Any) -> Record:
    record = step.mint_outer()
    call = ToolCall(record.call_id, "read_file", {"path": "x"})
    record.write_input(call, None, NOW)
    record.write_output(CallEnd(call, Outcome.COMPLETED, 0, NOW, NOW, 0.0, **end))
    return record


def blobs(root: Path) -> list[Path]:
    return [each for each in root.glob("blobs/*/*") if each.is_file()]


def test_the_same_large_result_is_on_disk_once(step: Step, tmp_path: Path) -> None:
    records = [leave(step, stdout=LARGE, stderr=LARGE) for _ in range(50)]
    (blob,) = blobs(tmp_path)
    assert blob.stat().st_nlink == 101
    assert measure(tmp_path) < len(LARGE) + 52 * 4 * BLOCK_BYTES
    for each in records:
        end = load_call(each.path).end
        assert end is not None
        assert (end.stdout, end.stderr) == (LARGE, LARGE)


def test_each_part_that_is_large_is_shared_and_read_back_as_it_was(step: Step, tmp_path: Path) -> None:
    data = {"rows": ["é" * 10] * 5000, "none": None}
    record = leave(step, stdout=b"\xff" * 9000, stderr=b"small", data=data)
    assert sorted(each.name for each in record.path.iterdir()) == [
        "data.json",
        "input.json",
        "output.json",
        "stdout",
    ]
    end = load_call(record.path).end
    assert end is not None
    assert (end.stdout, end.stderr, end.data) == (b"\xff" * 9000, b"small", data)
    assert show_json(record.path)["data"] == data
    assert json.loads((record.path / "output.json").read_text())["sizes"] == {"stdout": 9000, "stderr": 5}
    assert len(blobs(tmp_path)) == 2


def test_a_small_result_stands_in_the_record_alone(step: Step, tmp_path: Path) -> None:
    record = leave(step, stdout=b"x" * (SHARED_BYTES - 1), data=[1])
    assert sorted(each.name for each in record.path.iterdir()) == ["input.json", "output.json"]
    assert blobs(tmp_path) == []


def test_a_record_is_whole_without_the_rest_of_the_workspace(step: Step, tmp_path: Path) -> None:
    record = leave(step, stdout=LARGE)
    shutil.copytree(record.path, tmp_path / "copy")
    shutil.rmtree(tmp_path / "blobs")
    for folder in (record.path, tmp_path / "copy"):
        end = load_call(folder).end
        assert end is not None
        assert end.stdout == LARGE


@pytest.mark.parametrize("harm", ["removed", "changed", "a pipe"])
def test_a_part_that_is_not_what_was_written_is_damage(step: Step, harm: str) -> None:
    record = leave(step, stdout=LARGE)
    (record.path / "stdout").unlink()
    if harm == "changed":
        (record.path / "stdout").write_bytes(LARGE[:-1])
    elif harm == "a pipe":
        os.mkfifo(record.path / "stdout")
    found = load_call(record.path)
    assert found.end is None
    assert found.damage.startswith("output.json: stdout:")


def test_a_blob_that_a_power_cut_left_empty_is_written_again(step: Step, tmp_path: Path) -> None:
    leave(step, stdout=LARGE)
    (blob,) = blobs(tmp_path)
    blob.unlink()
    blob.touch()
    end = load_call(leave(step, stdout=LARGE).path).end
    assert end is not None
    assert end.stdout == LARGE


def test_without_links_a_record_has_its_own_copy(
    step: Step, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", forbidden)
    record = leave(step, stdout=LARGE, data=["x" * 9000])
    assert sorted(each.name for each in record.path.iterdir()) == ["input.json", "output.json"]
    end = load_call(record.path).end
    assert end is not None
    assert (end.stdout, end.data) == (LARGE, ["x" * 9000])


def test_blobs_of_no_record_are_found_and_others_are_not(step: Step, tmp_path: Path) -> None:
    gone, kept = leave(step, stdout=LARGE), leave(step, stdout=LARGE + b"other")
    shutil.rmtree(gone.path)
    (unused,) = unused_blobs(tmp_path)
    assert unused.read_bytes() == LARGE
    assert load_call(kept.path).end is not None


def test_a_blob_that_is_removed_while_it_is_linked_is_written_again(
    step: Step, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave(step, stdout=LARGE)
    link = os.link
    removed: list[Path] = []

    def race(source: Path, *rest: Any, **more: Any) -> None:
        if not removed:
            removed.append(source)
            source.unlink()
        link(source, *rest, **more)

    monkeypatch.setattr(os, "link", race)
    end = load_call(leave(step, stdout=LARGE).path).end
    assert end is not None
    assert (end.stdout, len(removed)) == (LARGE, 1)


def test_many_threads_that_share_a_content_lose_nothing(step: Step, tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        records = list(pool.map(lambda _: leave(step, stdout=LARGE), range(64)))
    assert all((end := load_call(each.path).end) and end.stdout == LARGE for each in records)
    assert not [each for each in blobs(tmp_path) if each.name.startswith(".")]


# -- counting -------------------------------------------------------------------------------------------------------


def test_what_is_counted_is_what_is_there(tmp_path: Path) -> None:
    disk = DiskUse(tmp_path)
    assert disk.used() == 0
    records = Records(tmp_path / "steps", disk=disk)
    with_two = records.open_step("a")
    for _ in range(3):
        leave(with_two, stdout=LARGE, data=["x" * 9000])
        leave(with_two, stdout=os.urandom(5000))
    with_two.close()
    counted = DiskUse(tmp_path).used()
    assert abs(counted - measure(tmp_path)) <= 6 * BLOCK_BYTES  # the folders of agents and blobs
    assert DiskUse(tmp_path).count_again() == measure(tmp_path) == DiskUse(tmp_path).used()


def test_processes_add_to_one_count(tmp_path: Path) -> None:
    one, other = DiskUse(tmp_path), DiskUse(tmp_path)
    assert (one.used(), other.used()) == (0, 0)
    one.add(100_000_000)
    other.add(1)
    assert one.used() == 100_000_000 + (-100_000_000 % BLOCK_BYTES)
    other.flush()
    assert DiskUse(tmp_path).used() == one.used() == 100_000_000 + (-100_000_000 % BLOCK_BYTES) + BLOCK_BYTES


@pytest.mark.parametrize("content", [b"", b"12", b"x" * 20, b"-" + b"0" * 19, b"0" * 21])
def test_a_count_that_cannot_be_read_is_taken_again(step: Step, tmp_path: Path, content: bytes) -> None:
    leave(step, stdout=LARGE)
    (tmp_path / "disk_use").write_bytes(content)
    assert DiskUse(tmp_path).used() == measure(tmp_path)


@tool
async def flood(text: str) -> str:
    """Says much."""
    await trio.lowlevel.checkpoint()
    return text


def test_calls_are_refused_once_records_fill_their_part(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "w", '[disk]\nrecords = "3 MiB"\n')
    program = (
        "import litany_tools\n"
        "kinds = [litany_tools.flood(text=str(n) * 400_000) for n in range(20)]\n"
        "print([each.refusal.gate if each.refusal else each.outcome for each in kinds])\n"
        "print(next(each.refusal.reason for each in kinds if each.refusal))\n"
    )

    async def main() -> tuple[CallEnd, CallEnd, CallEnd]:
        async with open_workspace(workspace, tools=[flood]) as ws:
            ran = await ws.python(program)
            refused = await ws.invoke("flood", {"text": "x"})
            shutil.rmtree(workspace.root / "steps" / AGENT)
            (workspace.root / "steps" / AGENT).mkdir()
            for each in unused_blobs(workspace.root):
                each.unlink()
            workspace.records.disk.count_again()
            return ran, refused, await ws.invoke("flood", {"text": "x"})

    ran, refused, freed = trio.run(main)
    kinds, reason = ran.stdout.decode().splitlines()[:2]
    assert kinds.startswith("['completed', 'completed'")
    assert kinds.endswith("'budget', 'budget']")
    assert "[disk] records in litany.toml" in reason
    assert "litany prune" in reason
    assert (refused.exit_code, freed.exit_code) == (126, 0)
    assert measure(workspace.root) < 6 * 2**20


def test_results_that_are_alike_do_not_fill_it(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "w", '[disk]\nrecords = "8 MiB"\n')
    (workspace.worktree(AGENT) / "big.txt").write_bytes(LARGE * 9)
    program = (
        "import litany_tools\nprint(sum(litany_tools.read_file(path='big.txt').ok for _ in range(100)))\n"
    )

    async def main() -> CallEnd:
        async with open_workspace(Workspace(workspace.root)) as ws:
            return await ws.python(program)

    assert trio.run(main).stdout.splitlines()[0] == b"100"
