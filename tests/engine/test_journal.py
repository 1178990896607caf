"""What a call in flight has printed, on disk: bounded, whole pieces, gone with the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from door_kit import Place, make_place
from litany_engine.door.calls import Capture, Context, Tool, ToolCall
from litany_engine.door.door import Door
from litany_engine.door.screens import ScreenVerdict
from litany_engine.records.journal import LAST_PIECES, PIECE_BYTES, Journal, printed_so_far
from litany_engine.records.recorded import HOST_DIED_WHILE, complete_dead, load_call
from litany_engine.records.records import Record, Records
from litany_engine.tools.toolset import toolset
from litany_stubs.words import ToolDeclaration

HERE = datetime(2026, 1, 1, tzinfo=UTC)


def names_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    step = Records(tmp_path / "steps").open_step("a")
    record = step.claim("T")
    record.write_input(ToolCall("T", "bash", {"command": "make"}), None, HERE)
    yield record
    step.close()


def test_a_dead_call_s_record_has_what_it_printed(record: Record) -> None:
    record.journal().add("stdout", b"half a li")
    record.journal().add("stderr", b"\xff")
    assert load_call(record.path).stdout == b"half a li"
    assert complete_dead(record.path)
    end = load_call(record.path).end
    assert end is not None
    assert (end.stdout, end.stderr, end.reason) == (b"half a li", b"\xff", HOST_DIED_WHILE)
    assert names_in(record.path) == ["input.json", "output.json"]


@settings(max_examples=20, deadline=None)
@given(chunks=st.lists(st.integers(1, 2 * PIECE_BYTES), max_size=12))
def test_head_and_tail_are_kept_within_a_bound(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    descriptor = os.open(folder, os.O_RDONLY)
    journal = Journal(descriptor, "")
    said = b""
    for index, size in enumerate(chunks):
        chunk = bytes([97 + index]) * size
        journal.add("stdout", chunk)
        said += chunk
    kept = printed_so_far(folder)["stdout"]
    on_disk = sum(each.stat().st_size for each in folder.iterdir())
    assert on_disk <= (1 + LAST_PIECES) * 3 * PIECE_BYTES
    assert kept[:PIECE_BYTES] == said[:PIECE_BYTES]
    assert kept[-PIECE_BYTES:] == said[-PIECE_BYTES:]
    if on_disk < len(said):
        assert f"[{len(said) - on_disk} bytes were printed here and not kept]".encode() in kept
    else:
        assert kept == said
    journal.end()
    journal.add("stdout", b"late")
    assert not list(folder.iterdir())
    os.close(descriptor)


def test_a_full_disk_ends_the_journal_and_not_the_call(record: Record) -> None:
    (record.path / "so_far.stdout.0").mkdir()  # nothing can be written there
    record.journal().add("stdout", b"x")
    record.journal().add("stderr", b"y")
    assert load_call(record.path).stderr == b"y"


def test_a_planted_pipe_is_not_waited_for(record: Record) -> None:
    os.mkfifo(record.path / "so_far.stdout.0")
    assert load_call(record.path).stdout == b""


@pytest.mark.parametrize("screened", [False, True])
def test_what_screens_have_not_seen_is_not_on_disk(tmp_path: Path, *, screened: bool) -> None:
    place: Place = make_place(tmp_path)
    seen: list[dict[str, bytes]] = []

    async def execute(call: ToolCall, context: Context) -> Capture:
        await trio.lowlevel.checkpoint()
        if context.output is not None:
            context.output("stdout", b"a key")
        seen.append(printed_so_far(context.record))
        return Capture(b"a key")

    def passes(call: ToolCall, capture: Capture) -> ScreenVerdict:
        return None

    async def main() -> None:
        tool = Tool(ToolDeclaration("talk", "Talks.", {"type": "object"}), execute)
        caller = replace(place.caller(), toolset=toolset([tool]))
        end = await Door(screens=[passes] if screened else []).invoke("talk", {}, caller, call_id="T")
        assert end.stdout == b"a key"
        assert end.record is not None
        assert names_in(end.record) == ["input.json", "output.json"]

    trio.run(main)
    assert seen == [{"stdout": b"" if screened else b"a key", "stderr": b""}]
