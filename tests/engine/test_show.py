from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litany_engine.door.calls import CallEnd, ToolCall
from litany_engine.plain_text import plain
from litany_engine.records.find_record import find_record
from litany_engine.records.records import RecordError, Records, Step
from litany_engine.records.show import show_json, show_text
from litany_runtime.outcome import Outcome, Usage
from litany_stubs.words import Refusal

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def leave(step: Step, call_id: str, name: str = "bash", parent: str | None = None, **end: Any) -> Path:
    record = step.claim(call_id)
    call = ToolCall(call_id, name, {"command": "ls"})
    record.write_input(call, parent, NOW)
    if end:
        fields = {"outcome": Outcome.COMPLETED, "exit_code": 0, "duration_s": 0.012, **end}
        record.write_output(CallEnd(call=call, started_at=NOW, ended_at=NOW, **fields))
    return record.path


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    return tmp_path / "ws" / "steps"


@pytest.fixture
def step(steps: Path) -> Step:
    step = Records(steps).open_step("main")
    leave(step, "T", "python", stdout=b"done\n", duration_s=1.5, usage=Usage(0.2, 3 * 2**20, 4))
    leave(step, "T-1", "read_file", "T", stdout=b"x" * 2048)
    leave(step, "T-2", "bash", "T", outcome=Outcome.FAILED, exit_code=2, stderr=b"bad\n")
    refusal = Refusal("grant", "wizard is not granted; granted: bash, read_file")
    leave(step, "T-3", "wizard", "T", outcome=Outcome.REFUSED, exit_code=126, refusal=refusal)
    leave(step, "T-10", "bash", "T")
    leave(step, "T-4", "bash", "T", outcome=Outcome.TIMED_OUT, exit_code=124, reason="deadline 1 s")
    return step


def test_a_step_is_a_tree_of_its_calls_with_outcome_duration_size_and_refusal(step: Step) -> None:
    assert show_text(step.path) == (
        "step main/001  1 call, 5 inner calls\n"
        "T        python     completed      1.5 s  5 B      4 calls, 1 refused (wizard: not granted)\n"
        "├─ T-1   read_file  completed      12 ms  2 KiB\n"
        "├─ T-2   bash       failed 2       12 ms  4 B err\n"
        "├─ T-3   wizard     refused 126    12 ms           grant: wizard is not granted; granted: bash, read_file\n"
        "├─ T-4   bash       timed_out 124  12 ms  silent   deadline 1 s\n"
        "└─ T-10  bash       running\n"
    )


def test_a_call_is_shown_with_its_input_streams_and_inner_calls(step: Step) -> None:
    text = show_text(step.tools / "T")
    assert "├─ T-2   bash" in text
    assert f"record  {step.tools}/T\n" in text
    assert '"command": "ls"' in text
    assert "--- stdout, 5 B ---\ndone\n" in text
    assert "peak memory 3 MiB, 4 calls" in text
    inner = show_text(step.tools / "T-3")
    assert "parent  T\n" in inner
    assert "refused by the grant gate: wizard is not granted; granted: bash, read_file" in inner
    assert "T-1" not in inner


def test_a_call_in_flight_says_so(step: Step) -> None:
    assert "running: it has no end yet" in show_text(step.tools / "T-10")
    assert show_json(step.tools / "T-10")["running"]
    step.close()  # as the kernel does for a host that dies
    assert "no end: its host died" in show_text(step.tools / "T-10")
    assert "└─ T-10  bash       host died" in show_text(step.path)
    assert not show_json(step.tools / "T-10")["running"]


def test_a_long_stream_is_shown_from_its_head_and_says_so(step: Step) -> None:
    text = show_text(leave(step, "L", stdout=b"a" * 2048 + b"b" * 5000))
    assert "--- stdout, 6.9 KiB, the first 2 KiB ---" in text
    assert "ab" not in text


def test_a_step_as_json_is_a_tree_with_what_the_text_says(step: Step) -> None:
    shown = json.loads(json.dumps(show_json(step.path)))
    assert (shown["agent"], shown["step"], shown["path"]) == ("main", "001", str(step.path))
    [outer] = shown["calls"]
    assert [each["id"] for each in outer["calls"]] == ["T-1", "T-2", "T-3", "T-4", "T-10"]
    assert outer["usage"] == {"cpu_s": 0.2, "peak_memory_bytes": 3 * 2**20, "calls": 4}
    refused = outer["calls"][2]
    assert refused["refusal"]["gate"] == "grant"
    assert refused["record"] == str(step.tools / "T-3")
    assert outer["calls"][0]["sizes"] == {"stdout": 2048, "stderr": 0}
    assert outer["calls"][4]["outcome"] is None


def test_a_call_as_json_has_its_streams_whole(step: Step) -> None:
    shown = json.loads(json.dumps(show_json(leave(step, "L", stdout=b"a" * 9000, stderr=b"\xff", data=[1]))))
    assert shown["stdout"] == "a" * 9000
    assert (shown["stderr"], shown["stderr_encoding"]) == ("/w==", "base64")
    assert (shown["input"], shown["data"]) == ({"command": "ls"}, [1])
    assert "stdout" not in show_json(step.tools / "T-10")


def test_a_damaged_record_is_shown_as_such_among_the_others(step: Step) -> None:
    (step.tools / "T-2" / "output.json").write_text("{")
    (step.tools / "T-1" / "input.json").write_text("")
    text = show_text(step.path)
    assert "├─ T-2   bash    damaged" in text
    assert "output.json: Expecting property name" in text
    assert "├─ T-1   ?       completed" in text
    assert "damage  input.json:" in show_text(step.tools / "T-1")
    assert show_json(step.tools / "T-2")["damage"].startswith("output.json")


def test_what_a_program_wrote_cannot_command_the_readers_terminal(step: Step) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\r\x9b1m\u202e"
    path = leave(
        step,
        "E",
        evil,
        "T",
        outcome=Outcome.REFUSED,
        exit_code=126,
        refusal=Refusal(evil, evil),
        stdout=(evil + "\nnext\tline").encode(),
        reason=evil,
        data={evil: evil},
    )
    for text in (show_text(step.path), show_text(path)):
        assert not any(not each.isprintable() and each not in "\n\t" for each in text)
    assert "\\x1b[2J" in show_text(path)
    assert "next\tline" in show_text(path)


@given(st.text(st.characters(), max_size=20))
def test_plain_text_is_printable_whatever_it_was(text: str) -> None:
    assert plain(text).isprintable()


def test_without_a_name_the_step_opened_last_is_meant(steps: Path, step: Step) -> None:
    assert find_record(steps) == step.path
    second = Records(steps).open_step("other")
    os.utime(step.path, ns=(1, 1))
    assert find_record(steps) == second.path
    assert find_record(steps, agent="main") == step.path


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("001", "main/001"),
        ("1", "main/001"),
        ("main/1/T-3", "main/001/tools/T-3"),
        ("main/001", "main/001"),
        ("steps/main/001", "main/001"),
        ("main/001/", "main/001"),
        ("main/001/tools", "main/001"),
        ("T-3", "main/001/tools/T-3"),
        ("001/T-3", "main/001/tools/T-3"),
        ("main/001/T-3", "main/001/tools/T-3"),
        ("main/001/tools/T-3", "main/001/tools/T-3"),
        ("steps/main/001/tools/T-3", "main/001/tools/T-3"),
        ("steps/main/001/tools/T-3/output.json", "main/001/tools/T-3"),
        ("steps/main/001/tools/T-3/output.json#stdout@2048", "main/001/tools/T-3"),
        ("main/001/T/program.py", "main/001/tools/T"),
    ],
)
def test_a_step_or_call_is_found_by_what_people_type(
    steps: Path, step: Step, target: str, found: str
) -> None:
    assert find_record(steps, target) == steps / found
    assert find_record(steps, target, "main") == steps / found


def test_a_path_from_where_the_reader_stands_is_found(
    steps: Path, step: Step, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_record(steps, str(step.tools / "T-1")) == step.tools / "T-1"
    monkeypatch.chdir(step.tools)
    assert find_record(steps, "./T-1") == step.tools / "T-1"


def test_a_call_id_in_several_steps_means_the_latest(steps: Path, step: Step) -> None:
    second = Records(steps).open_step("main")
    leave(second, "T")
    os.utime(step.path, ns=(1, 1))
    assert find_record(steps, "T") == second.tools / "T"
    assert find_record(steps, "001/T") == step.tools / "T"


@pytest.mark.parametrize(
    "target",
    [
        "",
        ".",
        "..",
        "../..",
        "002",
        "X",
        "main/001/X",
        "main/../main/001",
        "/etc",
        "001/..",
        "001/../..",
        "main/001/tools/..",
        "other/001",
        "a\0b",
    ],
)
def test_what_is_not_there_is_said_and_nothing_outside_is_found(steps: Path, step: Step, target: str) -> None:
    (steps.parent / "X").mkdir()
    with pytest.raises(RecordError, match="no step or call"):
        find_record(steps, target)


def test_a_workspace_without_steps_says_so(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=f"no step in {tmp_path}/steps; a run makes one"):
        find_record(tmp_path / "steps")
    (tmp_path / "steps").mkdir()
    with pytest.raises(RecordError, match="no step of agent main"):
        find_record(tmp_path / "steps", agent="main")


def test_an_agent_id_that_leads_elsewhere_finds_nothing(steps: Path, step: Step) -> None:
    with pytest.raises(RecordError):
        find_record(steps, agent="../steps/main")
