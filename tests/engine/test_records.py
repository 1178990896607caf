from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from litany_engine.door.calls import CallEnd, ToolCall
from litany_engine.records.record_files import put_once
from litany_engine.records.recorded import (
    HOST_DIED,
    HOST_DIED_BEFORE,
    RecordedCall,
    call_tree,
    complete_dead,
    iter_calls,
    load_call,
    natural,
)
from litany_engine.records.records import ClaimRefused, RecordError, Records, Step, step_name
from litany_runtime.outcome import Outcome, Usage
from litany_stubs.words import Refusal

NOW = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)


@pytest.fixture
def records(tmp_path: Path) -> Any:
    return Records(tmp_path / "steps")


@pytest.fixture
def step(records: Records) -> Any:
    return records.open_step("main")


def asked(
    record: Any,
    *,
    name: str = "read_file",
    arguments: Any = None,
    parent: str | None = None,
    at: datetime = NOW,
) -> Any:
    call = ToolCall(record.call_id, name, {"path": "x"} if arguments is None else arguments)
    record.write_input(call, parent, at)
    return call


def end_of(found: RecordedCall) -> CallEnd:
    assert found.end is not None
    return found.end


def ended(call: Any, **more: Any) -> Any:
    return CallEnd(
        **{
            "call": call,
            "outcome": Outcome.COMPLETED,
            "exit_code": 0,
            "started_at": NOW,
            "ended_at": NOW,
            "duration_s": 0.25,
            **more,
        }
    )


def test_steps_are_numbered_from_one_with_three_digits_and_grow_beyond(
    records: Records, tmp_path: Path
) -> None:
    assert [records.open_step("main").path.name for _ in range(3)] == ["001", "002", "003"]
    (tmp_path / "steps/main/999").mkdir()
    fresh = Records(tmp_path / "steps")
    assert fresh.open_step("main").path.name == "1000"
    assert fresh.current_step("main").number == 1000
    assert records.open_step("other").path.name == "001"


def test_a_step_opened_by_another_process_is_never_opened_again(records: Records, tmp_path: Path) -> None:
    records.open_step("main")
    for _ in range(3):
        Records(tmp_path / "steps").open_step("main")
    assert records.open_step("main").number == 5


def test_only_steps_count_among_the_names_in_an_agents_folder(records: Records, tmp_path: Path) -> None:
    folder = tmp_path / "steps/main"
    folder.mkdir(parents=True)
    for name in ("driver.log", "01", "0001", "000", "١٢٣", "12a", "-12"):
        (folder / name).mkdir()
    assert records.open_step("main").path.name == "001"


def test_the_step_in_flight_of_an_agent_without_steps_is_an_error_that_names_both(
    records: Records, tmp_path: Path
) -> None:
    with pytest.raises(RecordError, match=f"main has no step in {tmp_path}"):
        records.current_step("main")


def test_the_step_of_a_call_is_the_latest_that_has_its_record(records: Records) -> None:
    first, second = records.open_step("main"), records.open_step("main")
    first.claim("T")
    first.claim("U")
    second.claim("T")
    assert records.step_of("main", "T").number == 2
    assert records.step_of("main", "U").number == 1
    records.open_step("other").claim("X")
    for call_id in ("X", "001", "../002/tools/T", "", "."):
        with pytest.raises(RecordError):
            records.step_of("main", call_id)


def test_an_agent_id_that_leads_elsewhere_opens_no_step(records: Records, tmp_path: Path) -> None:
    with pytest.raises(RecordError):
        records.open_step("../../elsewhere")
    assert list(tmp_path.iterdir()) == []


def test_an_id_is_claimed_once(step: Step) -> None:
    step.claim("toolu_1")
    with pytest.raises(ClaimRefused, match="toolu_1 is taken in step 001 of main"):
        step.claim("toolu_1")
    with pytest.raises(ClaimRefused, match="taken"):
        Records(step.path.parents[1]).current_step("main").claim("toolu_1")


@pytest.mark.parametrize("call_id", ["../x", "a/b", ".", "..", "", "a\0b", "x" * 300, "/etc", None, 3])
def test_a_malformed_id_is_refused_and_touches_nothing(step: Step, call_id: Any) -> None:
    with pytest.raises(ClaimRefused, match="call id"):
        step.claim(call_id)
    assert list(step.tools.iterdir()) == []
    assert list(step.path.iterdir()) == [step.tools]


def test_a_file_or_dangling_link_in_the_way_is_taken_and_not_followed(step: Step, tmp_path: Path) -> None:
    (step.tools / "T-1").symlink_to(tmp_path / "elsewhere")
    (step.tools / "T-2").write_text("")
    with pytest.raises(ClaimRefused):
        step.claim("T-1")
    assert step.mint_inner("T").call_id == "T-3"
    assert not (tmp_path / "elsewhere").exists()


def test_inner_ids_count_from_one_for_each_parent(step: Step) -> None:
    ids = [step.mint_inner(parent).call_id for parent in ("T", "T", "U", "T-1", "T")]
    assert ids == ["T-1", "T-2", "U-1", "T-1-1", "T-3"]


def test_outer_calls_without_an_id_get_their_own_series(step: Step) -> None:
    step.claim("call_2")
    assert [step.mint_outer().call_id for _ in range(3)] == ["call_1", "call_3", "call_4"]


def test_minting_steps_over_an_id_that_was_claimed(step: Step) -> None:
    step.mint_inner("T")
    step.claim("T-2")
    assert step.mint_inner("T").call_id == "T-3"


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.integers(0, 70))
def test_a_fresh_process_goes_on_where_the_series_ends(
    tmp_path_factory: pytest.TempPathFactory, taken: int
) -> None:
    step = Records(tmp_path_factory.mktemp("steps")).open_step("main")
    for _ in range(taken):
        step.mint_inner("T")
    assert Records(step.path.parents[1]).current_step("main").mint_inner("T").call_id == f"T-{taken + 1}"


def test_threads_mint_without_gaps_or_twins(step: Step) -> None:
    ids = []
    threads = [
        threading.Thread(target=lambda: ids.extend([step.mint_inner("T").call_id for _ in range(40)]))
        for _ in range(8)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(ids, key=natural) == [f"T-{k}" for k in range(1, 321)]


MINT = """
import sys
from pathlib import Path
from litany_engine.records.records import Records
step = Records(Path(sys.argv[1])).current_step("main")
print("ready", flush=True)
sys.stdin.readline()
print(*(step.mint_inner("T").call_id for _ in range(60)))
"""


def test_processes_mint_without_gaps_or_twins(step: Step) -> None:
    def start() -> Any:
        command = [sys.executable, "-c", MINT, str(step.path.parent.parent)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    processes = [start() for _ in range(4)]
    for each in processes:
        assert each.stdout.readline() == "ready\n"
    for each in processes:
        each.stdin.write("go\n")
        each.stdin.flush()
    ids = [call_id for each in processes for call_id in each.communicate()[0].split()]
    assert sorted(ids, key=natural) == [f"T-{k}" for k in range(1, 241)]


def test_a_record_holds_the_call_as_asked_and_how_it_ended(step: Step) -> None:
    record = step.claim("T-1")
    call = asked(record, arguments={"path": "ä", "deep": [1, {"x": None}]}, parent="T")
    record.write_output(
        ended(
            call,
            outcome=Outcome.FAILED,
            exit_code=3,
            stdout="ö\n".encode(),
            stderr=b"\xff\xfe",
            data={"rows": [1]},
            reason="why",
            ended_at=NOW + timedelta(seconds=1),
            usage=Usage(0.5, 1024, 7),
        )
    )
    assert json.loads((record.path / "input.json").read_bytes()) == {
        "id": "T-1",
        "name": "read_file",
        "input": {"path": "ä", "deep": [1, {"x": None}]},
        "parent": "T",
        "at": "2026-01-02T03:04:05.000678+00:00",
    }
    assert json.loads((record.path / "output.json").read_bytes()) == {
        "outcome": "failed",
        "exit_code": 3,
        "stdout": "ö\n",
        "stderr": "//4=",
        "stderr_encoding": "base64",
        "data": {"rows": [1]},
        "refusal": None,
        "reason": "why",
        "started_at": "2026-01-02T03:04:05.000678+00:00",
        "ended_at": "2026-01-02T03:04:06.000678+00:00",
        "duration_s": 0.25,
        "sizes": {"stdout": 3, "stderr": 2},
        "usage": {"cpu_s": 0.5, "peak_memory_bytes": 1024, "calls": 7},
    }
    assert sorted(each.name for each in record.path.iterdir()) == ["input.json", "output.json"]


def test_a_refused_call_has_its_gate_and_reason_in_its_record(step: Step) -> None:
    record = step.claim("T-1")
    call = asked(record)
    record.write_output(
        ended(call, outcome=Outcome.REFUSED, exit_code=126, refusal=Refusal("grant", "granted: bash"))
    )
    assert json.loads((record.path / "output.json").read_bytes())["refusal"] == {
        "gate": "grant",
        "reason": "granted: bash",
    }


def test_a_programs_own_files_are_kept_as_they_are(step: Step) -> None:
    record = step.claim("T")
    record.write_text("program.py", b"print('\xff')\r\n")
    record.write_text("litany_tools.py", "ä = '\ud800'")
    assert (record.path / "program.py").read_bytes() == b"print('\xff')\r\n"
    assert (record.path / "litany_tools.py").read_bytes() == "ä = '".encode() + b"\xed\xa0\x80'"


def test_an_answer_that_comes_after_the_end_changes_nothing(step: Step) -> None:
    record = step.claim("T")
    call = asked(record)
    record.write_output(ended(call, stdout=b"first"))
    with pytest.raises(RecordError, match="late answer"):
        record.write_output(ended(call, stdout=b"second"))
    assert end_of(load_call(record.path)).stdout == b"first"


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(arguments=JSON, data=JSON, stdout=st.binary(max_size=40), name=st.text(st.characters(), max_size=10))
def test_whatever_was_asked_and_answered_is_read_back(
    step: Step, arguments: Any, data: Any, stdout: bytes, name: str
) -> None:
    record = step.mint_inner("T")
    call = ToolCall(record.call_id, name, arguments)
    record.write_input(call, "T", NOW)
    record.write_output(ended(call, stdout=stdout, data=data))
    found = load_call(record.path)
    assert found.damage == ""
    assert (found.call, found.parent, found.at) == (call, "T", NOW)
    assert (end_of(found).stdout, end_of(found).data, end_of(found).duration_s) == (stdout, data, 0.25)


def nested(depth: int) -> Any:
    value: Any = None
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("arguments", [{"a": object()}, {"a": nested(100_000)}, {1: 2}, b"x", "\ud800"])
def test_a_call_that_no_gate_would_pass_still_leaves_a_record(step: Step, arguments: Any) -> None:
    record = step.mint_inner("T")
    record.write_input(ToolCall(record.call_id, "bash", arguments), None, NOW)
    found = load_call(record.path)
    assert (found.call.name, found.damage) == ("bash", "")


def test_a_file_appears_whole_or_not_at_all(step: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    record = step.claim("T")
    call = asked(record)
    monkeypatch.setattr(os, "write", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(RecordError, match=rf"{record.path}/output.json: No space left on device"):
        record.write_output(ended(call))
    assert [each.name for each in record.path.iterdir()] == ["input.json"]
    monkeypatch.undo()
    record.write_output(ended(call))
    assert load_call(record.path).end is not None


def test_a_short_write_is_gone_on_with(step: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    record = step.claim("T")
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, content: write(fd, content[:7]))
    asked(record, arguments={"path": "x" * 100})
    assert load_call(record.path).call.input == {"path": "x" * 100}


WRITE = """
import sys
from datetime import datetime, UTC
from pathlib import Path
from litany_engine.door.calls import CallEnd, ToolCall
from litany_engine.records.records import Records
from litany_runtime.outcome import Outcome
step = Records(Path(sys.argv[1])).current_step("main")
while True:
    record = step.mint_inner("T")
    print(record.call_id, flush=True)
    call = ToolCall(record.call_id, "noop", {"x": "y" * 5000})
    now = datetime.now(UTC)
    record.write_input(call, "T", now)
    record.write_output(CallEnd(call, Outcome.COMPLETED, 0, now, now, 0.0, b"z" * 5000))
"""


@pytest.mark.parametrize("calls", [1, 17, 60])
def test_a_host_killed_while_writing_leaves_no_half_file(step: Step, calls: int) -> None:
    command = [sys.executable, "-c", WRITE, str(step.path.parent.parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        lines = iter(process.stdout or ())
        for _ in range(calls):
            next(lines)
        process.send_signal(signal.SIGKILL)
    found = list(iter_calls(step.path))
    assert len(found) >= calls
    assert [each.damage for each in found] == [""] * len(found)
    assert all(each.end is not None for each in found[:-1])
    for each in found:
        assert complete_dead(each.path) == (each.end is None)
    after = list(iter_calls(step.path))
    assert all(each.end is not None for each in after)
    assert {file.name for each in after for file in each.path.iterdir()} <= {
        "input.json",
        ".input.json",
        "output.json",
        "stdout",  # linked whole, before the output that names it
    }


def flushes(monkeypatch: pytest.MonkeyPatch) -> Any:
    flushed = []
    fsync = os.fsync

    def watch(fd: Any) -> Any:
        flushed.append(str(Path(f"/proc/self/fd/{fd}").readlink()))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", watch)
    return flushed


def test_a_durable_record_is_flushed_with_every_folder_that_leads_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed = flushes(monkeypatch)
    step = Records(tmp_path / "steps", "call").open_step("main")
    assert {str(tmp_path / "steps"), str(tmp_path / "steps/main"), str(step.path)} <= set(flushed)
    flushed.clear()
    record = step.claim("T")
    assert flushed == [str(step.tools)]
    flushed.clear()
    asked(record)
    assert flushed == [str(record.path / ".input.json"), str(record.path)]


def test_a_record_that_need_not_be_durable_waits_for_no_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed = flushes(monkeypatch)
    record = Records(tmp_path / "steps").open_step("main").claim("T")
    record.write_output(ended(asked(record)))
    assert flushed == []


def test_a_call_in_flight_has_no_end(step: Step) -> None:
    record = step.claim("T")
    asked(record)
    found = load_call(record.path)
    assert found.end is None
    assert found.damage == ""


def test_a_call_whose_host_died_is_completed_once(step: Step) -> None:
    record = step.claim("T")
    asked(record)
    (record.path / ".output.json").write_bytes(b'{"outcome": "comp')  # what the host was writing
    assert complete_dead(record.path) is True
    found = load_call(record.path)
    assert (end_of(found).outcome, end_of(found).exit_code, end_of(found).reason) == (
        Outcome.FAULTED,
        125,
        HOST_DIED,
    )
    before = (record.path / "output.json").read_bytes()
    assert complete_dead(record.path) is False
    assert (record.path / "output.json").read_bytes() == before
    assert sorted(each.name for each in record.path.iterdir()) == ["input.json", "output.json"]


def test_of_two_that_complete_a_record_the_second_changes_nothing(step: Step) -> None:
    record = step.claim("T")
    assert put_once(record.path, "output.json", b"first") is True
    assert put_once(record.path, "output.json", b"second") is False
    assert (record.path / "output.json").read_bytes() == b"first"
    assert [each.name for each in record.path.iterdir()] == ["output.json"]


def test_a_call_that_was_never_written_down_did_not_run(step: Step) -> None:
    record = step.claim("T")
    assert complete_dead(record.path) is True
    assert end_of(load_call(record.path)).reason == HOST_DIED_BEFORE


def test_a_finished_call_is_not_completed_again(step: Step) -> None:
    record = step.claim("T")
    record.write_output(ended(asked(record), stdout=b"mine"))
    assert complete_dead(record.path) is False
    assert end_of(load_call(record.path)).stdout == b"mine"


BROKEN = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff",
    b'{"name": 1}',
    b"[" * 100_000,
    b'{"outcome": "won"}',
    b'{"name": "x", "input": 1, "at": "noon"}',
]


@pytest.mark.parametrize("content", BROKEN)
@pytest.mark.parametrize("name", ["input.json", "output.json"])
def test_a_broken_file_is_told_as_damage_and_not_raised(step: Step, name: str, content: bytes) -> None:
    record = step.claim("T")
    record.write_output(ended(asked(record)))
    (record.path / name).write_bytes(content)
    found = load_call(record.path)
    assert found.damage.startswith(name)
    assert "\n" not in found.damage
    assert (found.end is None) == (name == "output.json")
    assert complete_dead(record.path) is False


def test_a_folder_in_place_of_a_record_file_is_damage(step: Step) -> None:
    record = step.claim("T")
    (record.path / "input.json").mkdir()
    assert load_call(record.path).damage == "input.json: Is a directory"


@pytest.mark.parametrize("name", ["input.json", "output.json"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_has_no_end_in_place_of_a_record_file_is_damage(step: Step, name: str, kind: str) -> None:
    record = step.mint_outer()
    os.mkfifo(record.path / name) if kind == "pipe" else (record.path / name).symlink_to("/dev/zero")
    assert load_call(record.path).damage == f"{name}: not a regular file"


@pytest.mark.parametrize("times", ['"duration_s": 1e999', '"usage": {"cpu_s": -1e999}', '"duration_s": NaN'])
def test_a_time_that_no_clock_shows_is_damage(step: Step, times: str) -> None:
    record = step.mint_outer()
    (record.path / "output.json").write_text(
        '{"outcome": "completed", "exit_code": 0, "stdout": "", "stderr": "", '
        f'"started_at": "2026-01-01T00:00:00Z", "ended_at": "2026-01-01T00:00:00Z", {times}}}'
    )
    found = load_call(record.path)
    assert found.end is None
    assert found.damage.startswith("output.json: a time of ")


def test_a_base64_stream_that_is_none_is_damage(step: Step) -> None:
    record = step.claim("T")
    record.write_output(ended(asked(record), stdout=b"\xff"))
    text = (record.path / "output.json").read_text().replace('"/w=="', '"/w="')
    (record.path / "output.json").write_text(text)
    assert load_call(record.path).damage.startswith("output.json")


def test_a_record_that_is_not_there_is_an_error(step: Step) -> None:
    with pytest.raises(RecordError, match="there is no record"):
        load_call(step.tools / "T")


def test_calls_come_in_the_order_of_their_numbers(step: Step) -> None:
    for _ in range(11):
        asked(step.mint_inner("T"), parent="T")
    (step.tools / "stray file").write_text("")
    assert [each.call.id for each in iter_calls(step.path)] == [f"T-{k}" for k in range(1, 12)]


def test_the_calls_of_a_program_stand_below_it(step: Step) -> None:
    asked(step.claim("late"), at=NOW + timedelta(seconds=1))
    asked(step.claim("T"))
    for _ in range(2):
        asked(step.mint_inner("T"), parent="T")
    asked(step.mint_inner("T-1"), parent="T-1")
    step.claim("unwritten")
    tree = call_tree(iter_calls(step.path))
    assert [node.call.call.id for node in tree] == ["T", "late", "unwritten"]
    assert [node.call.call.id for node in tree[0].calls] == ["T-1", "T-2"]
    assert [node.call.call.id for node in tree[0].calls[0].calls] == ["T-1-1"]


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([None, *"abcdefg"]), min_size=1))
def test_every_call_is_in_the_tree_once_whatever_its_record_says_of_its_parent(
    tmp_path_factory: pytest.TempPathFactory, parents: dict[str, str | None]
) -> None:
    step = Records(tmp_path_factory.mktemp("steps")).open_step("main")
    for call_id, parent in parents.items():
        asked(step.claim(call_id), parent=parent)
    seen, waiting = [], call_tree(iter_calls(step.path))
    while waiting:
        node = waiting.pop()
        seen.append(node.call.call.id)
        waiting += node.calls
    assert sorted(seen) == sorted(parents)


def test_a_step_folder_that_cannot_be_made_is_named(records: Records, tmp_path: Path) -> None:
    (tmp_path / "steps").write_text("a file")
    with pytest.raises(RecordError, match=str(tmp_path / "steps")):
        records.open_step("main")


def descriptors() -> Any:
    return {each.name for each in Path("/proc/self/fd").iterdir()}


def test_a_released_step_leaves_no_descriptor_open(records: Records) -> None:
    before = descriptors()
    step = records.open_step("main")
    step.claim("T")
    step.close()
    step.close()
    del step
    records.open_step("main").claim("T")
    assert descriptors() == before


def test_records_are_not_writable_by_others(step: Step) -> None:
    record = step.claim("T")
    asked(record)
    assert not stat.S_IMODE((record.path / "input.json").stat().st_mode) & 0o022


def test_step_names_sort_as_text_up_to_999() -> None:
    assert [step_name(number) for number in (1, 42, 999, 1000)] == ["001", "042", "999", "1000"]


def test_a_closed_step_refuses_records_and_writes_nowhere_else(records: Records, tmp_path: Path) -> None:
    """The number of its descriptor may be any other file's by then."""
    step = records.open_step("main")
    step.close()
    other = tmp_path / "other"
    other.mkdir()
    descriptors_of_other = [os.open(other, os.O_RDONLY | os.O_DIRECTORY) for _ in range(20)]
    try:
        with pytest.raises(RecordError, match="Bad file descriptor"):
            step.claim("T")
        with pytest.raises(RecordError, match="Bad file descriptor"):
            step.mint_inner("T")
    finally:
        for each in descriptors_of_other:
            os.close(each)
    assert list(other.iterdir()) == []
