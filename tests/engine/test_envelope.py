"""The text that a call becomes for the model, its cuts, and the addresses that lead past them."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litany_engine.door.calls import CallEnd, Capture, ToolCall
from litany_engine.records.envelope import bounded, envelope, exit_code_of, model_text, whole_envelope
from litany_engine.records.output_pages import (
    PAGE_BYTES,
    Address,
    AddressError,
    address_in,
    page,
    parse_address,
)
from litany_engine.records.records import Records
from litany_engine.tools.builtins import READ_TOOL_OUTPUT
from litany_runtime.outcome import Outcome
from litany_stubs.words import Refusal
from tool_kit import AGENT, context_in, run_tool

RECORD = Path(f"/somewhere/ws/steps/{AGENT}/007/tools/call_9")
PLACE = f"steps/{AGENT}/007/tools/call_9/output.json"


def ended(**fields: Any) -> CallEnd:
    now = datetime.now(UTC)
    given: dict[str, Any] = {
        "call": ToolCall("call_9", "it", {}),
        "outcome": Outcome.COMPLETED,
        "exit_code": 0,
        "started_at": now,
        "ended_at": now,
        "duration_s": 0.0,
        "record": RECORD,
        **fields,
    }
    return CallEnd(**given)


# The envelope.


@pytest.mark.parametrize(
    ("code", "stdout", "stderr", "text"),
    [
        (0, b"", b"", b"Exit code: 0\n"),
        (0, b"out\n", b"", b"Exit code: 0\nout\n"),
        (0, b"out", b"", b"Exit code: 0\nout"),
        (3, b"out\n", b"err\n", b"Exit code: 3\nout\n--- stderr ---\nerr\n"),
        (3, b"out", b"err", b"Exit code: 3\nout\n--- stderr ---\nerr"),
        (0, b"", b"err", b"Exit code: 0\n--- stderr ---\nerr"),
        (0, b"\xff", b"\xfe", b"Exit code: 0\n\xff\n--- stderr ---\n\xfe"),
        (0, b'{"cwd": "/"}', b"warning", b'Exit code: 0\n{"cwd": "/"}\n--- stderr ---\nwarning'),
    ],
)
def test_the_parts_stand_in_one_order_and_never_mix(
    code: int, stdout: bytes, stderr: bytes, text: bytes
) -> None:
    assert envelope(code, stdout, stderr) == text
    assert whole_envelope(ended(exit_code=code, stdout=stdout, stderr=stderr)) == text


@given(st.integers(-300, 300), st.binary(), st.binary())
def test_the_exit_code_reads_back_whatever_follows(code: int, stdout: bytes, stderr: bytes) -> None:
    assert exit_code_of(envelope(code, stdout, stderr)) == code


@pytest.mark.parametrize(
    "text",
    [b"", b"Exit code: ", b"Exit code: 0", b"Exit code: x\n", b"Exit code: 1 \n", b"exit code: 1\n", b"no\n"],
)
def test_any_other_text_has_no_exit_code(text: bytes) -> None:
    assert exit_code_of(text) is None


def test_a_refusal_is_its_reason_and_invents_no_exit_code() -> None:
    end = ended(
        outcome=Outcome.REFUSED, exit_code=126, refusal=Refusal("grant", "not granted; granted: a, b")
    )
    assert model_text(end) == "not granted; granted: a, b"
    assert whole_envelope(end) == b"not granted; granted: a, b"


def test_what_ended_a_call_is_said_last_and_is_never_cut() -> None:
    end = ended(
        outcome=Outcome.TIMED_OUT,
        exit_code=124,
        stdout=b"so far",
        stderr=b"x" * 100,
        reason="the deadline passed",
    )
    text = model_text(end, head_bytes=4, tail_bytes=4)
    assert text.startswith("Exit code: 124\n")
    assert text.endswith("\nxxxx\ntimed_out: the deadline passed\n")


def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    assert model_text(ended(stdout=b"a\xffb")) == "Exit code: 0\na\ufffdb"


# Cuts.


def test_a_stream_that_fits_is_untouched() -> None:
    assert bounded(b"x" * 10, "stdout", 4, 6) == b"x" * 10
    assert bounded(b"", "stdout", 0, 0) == b""


def test_a_cut_says_what_is_missing_and_how_to_get_it() -> None:
    stream = b"first line\nsecond line\nthird"
    text = bounded(stream, "stdout", 8, 5, address_in(RECORD, "stdout", 8))
    assert text.decode() == (
        "first li\n"
        f"[stdout: 28 bytes, 3 lines; shown are the first 8 and the last 5 bytes; all of it is in {PLACE}; "
        f'read on with read_tool_output {{"address": "{PLACE}#stdout@8"}}]\n'
        "third"
    )


def test_a_head_that_ends_in_a_newline_gets_no_second_one() -> None:
    assert bounded(b"ab\ncdefgh", "stdout", 3, 2).startswith(b"ab\n[stdout: 9 bytes, 2 lines;")


@pytest.mark.parametrize(
    ("head", "tail", "start", "end"), [(0, 2, b"[stdout", b"]\nyz"), (2, 0, b"ab\n[", b"]\n")]
)
def test_either_end_may_be_empty(head: int, tail: int, start: bytes, end: bytes) -> None:
    text = bounded(b"ab" + b"-" * 50 + b"yz", "stdout", head, tail)
    assert text.startswith(start)
    assert text.endswith(end)


def test_each_stream_is_cut_by_itself_and_the_labels_never_are() -> None:
    end = ended(exit_code=1, stdout=b"o" * 9000, stderr=b"e" * 9000)
    text = model_text(end)
    first, rest = text.split("\n", 1)
    assert first == "Exit code: 1"
    stdout, stderr = rest.split("\n--- stderr ---\n")
    assert stdout.startswith("o" * 2048 + "\n[stdout: 9000 bytes, 1 lines;")
    assert stderr.startswith("e" * 2048 + "\n[stderr: 9000 bytes, 1 lines;")
    assert f"{PLACE}#stdout@2048" in stdout
    assert f"{PLACE}#stderr@2048" in stderr
    assert stdout.endswith("]\n" + "o" * 2048)
    assert "/somewhere" not in text  # a transcript has no path of the host


def test_without_a_record_no_address_is_invented() -> None:
    text = model_text(ended(stdout=b"o" * 9000, record=None))
    assert "read_tool_output" not in text
    assert "9000 bytes" in text


@given(st.binary(max_size=300), st.integers(0, 100), st.integers(0, 100))
def test_a_cut_keeps_exactly_its_head_and_tail(stream: bytes, head: int, tail: int) -> None:
    text = bounded(stream, "stdout", head, tail, address_in(RECORD, "stdout", head))
    if len(stream) <= head + tail:
        assert text == stream
        return
    assert text.startswith(stream[:head])
    assert text.endswith(stream[len(stream) - tail :])
    marker = text[head : len(text) - tail].lstrip(b"\n")
    assert marker.startswith(f"[stdout: {len(stream)} bytes,".encode())
    assert marker.endswith(b"]\n")
    assert len(text) <= head + tail + 1 + 400


@given(st.binary(max_size=400), st.binary(max_size=400), st.integers(0, 50), st.integers(0, 50))
def test_what_the_model_sees_is_bounded_whatever_is_printed(
    out: bytes, err: bytes, head: int, tail: int
) -> None:
    text = model_text(ended(stdout=out, stderr=err), head_bytes=head, tail_bytes=tail)
    assert len(text) <= 2 * (head + tail + 1 + 400) + 40
    assert text.startswith("Exit code: 0\n")


# Addresses.


def test_an_address_reads_back_as_it_is_written() -> None:
    address = address_in(RECORD, "stderr", 2048)
    assert str(address) == f"{PLACE}#stderr@2048"
    assert parse_address(str(address)) == address == Address(AGENT, "007", "call_9", "stderr", 2048)


@pytest.mark.parametrize(
    "text",
    [
        "",
        PLACE,
        f"{PLACE}#stdout",
        f"{PLACE}#stdout@",
        f"{PLACE}#stdout@-1",
        f"{PLACE}#stdout@x",
        f"{PLACE}#stdout@٣",
        f"{PLACE}#stdin@0",
        f"{PLACE}#stdout@{10**30}",
        f"/{PLACE}#stdout@0",
        f"{PLACE}#stdout@0\n",
        f"{PLACE}/x#stdout@0",
        "steps/a/001/tools/c/input.json#stdout@0",
        "steps/a/001/tools/../output.json#stdout@0",
        "steps/../001/tools/c/output.json#stdout@0",
        "steps/./001/tools/c/output.json#stdout@0",
        "steps//001/tools/c/output.json#stdout@0",
        "steps/a/x/tools/c/output.json#stdout@0",
        "steps/a/001/tools/c/d/output.json#stdout@0",
        "steps/a b/001/tools/c/output.json#stdout@0",
        "stepS/a/001/tools/c/output.json#stdout@0",
        "x" * 10_000,
    ],
)
def test_any_other_text_is_no_address(text: str, tmp_path: Path) -> None:
    with pytest.raises(
        AddressError, match=r"an address is steps/<agent>/<NNN>/tools/<call-id>/output\.json"
    ) as caught:
        parse_address(text)
    assert len(str(caught.value)) < 500
    capture = run_tool(READ_TOOL_OUTPUT, {"address": text}, context_in(tmp_path))
    assert capture.exit_code == 1
    assert b"an address is steps/" in capture.stderr


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    with suppress(AddressError):
        assert str(parse_address(text)) == text


@given(st.binary(max_size=3 * PAGE_BYTES))
def test_pages_put_together_are_the_stream(stream: bytes) -> None:
    address = Address(AGENT, "001", "c", "stdout", 0)
    got = b""
    for _ in range(5):
        content, note = page(stream, address)
        got += content
        if note.endswith("; end of the stream"):
            break
        address = parse_address(note.rsplit("next: ", 1)[1])
    assert got == stream


# The tool.


def recorded(workspace: Path, agent: str = AGENT, **fields: Any) -> str:
    """A record on disk; the address of its first byte of stdout."""
    step = Records(workspace / "steps").open_step(agent)
    record = step.claim("call_9")
    record.write_input(ToolCall("call_9", "it", {}), None, datetime.now(UTC))
    if fields:
        record.write_output(ended(**fields))
    return str(address_in(record.path, "stdout", 0))


def read(workspace: Path, address: Any, **more: Any) -> Capture:
    return run_tool(READ_TOOL_OUTPUT, {"address": address, **more}, context_in(workspace))


def test_a_page_is_read_from_ones_own_record(tmp_path: Path) -> None:
    address = recorded(tmp_path, stdout=b"o" * 5000, stderr=b"e")
    first = read(tmp_path, address)
    assert first.stdout == b"o" * PAGE_BYTES
    place = address.split("/output.json")[0]
    assert first.stderr.decode() == (
        f"bytes 0 to {PAGE_BYTES} of 5000, stdout of {place}; next: {place}/output.json#stdout@{PAGE_BYTES}\n"
    )
    second = read(tmp_path, first.stderr.decode().strip().rsplit("next: ", 1)[1])
    assert second.stdout == b"o" * (5000 - PAGE_BYTES)
    assert second.stderr.endswith(b"; end of the stream\n")
    assert read(tmp_path, address.replace("#stdout", "#stderr")).stdout == b"e"


def test_a_page_is_never_cut_again(tmp_path: Path) -> None:
    page_end = read(tmp_path, recorded(tmp_path, stdout=b"o" * 9000))
    text = model_text(ended(stdout=page_end.stdout, stderr=page_end.stderr))
    assert "shown are the first" not in text


def test_offsets_are_bytes_of_what_was_printed(tmp_path: Path) -> None:
    address = recorded(tmp_path, stdout=b"\xff\xfe" + "é".encode() * 10)
    assert read(tmp_path, address.replace("@0", "@2")).stdout == "é".encode() * 10


def test_the_end_is_an_empty_page_and_past_it_is_a_decline(tmp_path: Path) -> None:
    address = recorded(tmp_path, stdout=b"o" * 10)
    at_end = read(tmp_path, address.replace("@0", "@10"))
    assert (at_end.stdout, at_end.exit_code) == (b"", 0)
    past = read(tmp_path, address.replace("@0", "@11"))
    assert past.exit_code == 1
    assert b"has 10 bytes, and 11 is past its end" in past.stderr


def test_another_agents_output_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    address = recorded(tmp_path, agent="other", stdout=b"secret")
    capture = read(tmp_path, address)
    assert capture.stdout == b""
    assert f"names agent 'other', and you are {AGENT!r}" in capture.stderr.decode()
    missing = read(tmp_path, address.replace("call_9", "no_such_call"))
    assert missing.stderr == capture.stderr  # whether it exists is not told either


def test_missing_unfinished_and_broken_records_are_told_apart(tmp_path: Path) -> None:
    address = recorded(tmp_path)
    assert b"no recorded output: it has not ended yet" in read(tmp_path, address).stderr
    assert b"there is no record" in read(tmp_path, address.replace("call_9", "call_8")).stderr
    (tmp_path / address.split("#")[0]).write_bytes(b"{")
    assert b"no recorded output: output.json" in read(tmp_path, address).stderr


def test_nothing_but_an_address_is_taken(tmp_path: Path) -> None:
    assert b"'agent' is not known" in read(tmp_path, recorded(tmp_path, stdout=b"o"), agent=AGENT).stderr
    assert b"address" in read(tmp_path, 7).stderr
