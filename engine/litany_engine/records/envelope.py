"""The text that a finished call becomes for the model.

    Exit code: 1
    what it printed
    --- stderr ---
    what it complained

Plain text, since that is what models read best; the streams are labelled and never merged, stderr is shown
on success too, and the first line is always there, so that a silent command is still an answer. A call that
was not run has no envelope and no invented exit code: its reason is the text. Of a program whose calls were
refused, or failed without its looking, the last line says so: it may have printed "done" (`call_counts.py`).

    --- calls ---
    3 calls, 2 refused (bsh: not granted; apply_patch: 'patch' is not known)

What is too long is cut in the middle of a stream, before the envelope is made, so the first line and the
label are never cut. The marker says what is missing and how to get it: a second run is not the same thing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from litany_engine.records.call_counts import calls_note
from litany_engine.records.output_pages import address_in
from litany_runtime.outcome import Outcome

if TYPE_CHECKING:
    from litany_engine.door.calls import CallEnd
    from litany_engine.records.output_pages import Address

HEAD_BYTES = 2048
TAIL_BYTES = 2048
"""Bytes shown of each stream by default. Every result is read again with every later turn: at 16 KiB a stream
agents spent millions of tokens on what they had read once."""

_EXIT_LINE = b"Exit code: "
_STDERR_LINE = b"--- stderr ---\n"
_CALLS_LINE = b"--- calls ---\n"


def envelope(exit_code: int, stdout: bytes, stderr: bytes) -> bytes:
    """Put the parts together; the bytes of the streams pass through untouched."""
    return _EXIT_LINE + str(exit_code).encode() + b"\n" + _labelled(stdout, stderr)


def _with_calls(text: bytes, end: CallEnd) -> bytes:
    """An envelope with what has to be known of the calls that this call made, which is said last."""
    note = calls_note(end)
    if not note:
        return text
    return text + _own_line(text) + _CALLS_LINE + note.encode("utf-8", "backslashreplace") + b"\n"


def _labelled(stdout: bytes, stderr: bytes) -> bytes:
    """Both streams, the second under its label, on a line of its own."""
    return stdout + _own_line(stdout) + _STDERR_LINE + stderr if stderr else stdout


def exit_code_of(text: bytes) -> int | None:
    """Read the exit code back from an envelope; None for any other text, such as a refusal's."""
    first, newline, _ = text.partition(b"\n")
    number = first.removeprefix(_EXIT_LINE)
    if not newline or number == first or not number.removeprefix(b"-").isdigit():
        return None
    return int(number)


def whole_envelope(end: CallEnd) -> bytes:
    """The envelope of a call with its streams whole, or the reason why it was not run."""
    if end.refusal is not None:
        return end.refusal.reason.encode()
    return _with_calls(envelope(end.exit_code, end.stdout, with_reason(end.stderr, end)), end)


def model_text(end: CallEnd, *, head_bytes: int = HEAD_BYTES, tail_bytes: int = TAIL_BYTES) -> str:
    """What the model sees of a call.

    Args:
        end: how the call ended.
        head_bytes: shown from the start of each stream that is too long.
        tail_bytes: shown from its end.

    Returns:
        The envelope with each stream bounded, or the reason of a refusal. Bytes that are no UTF-8, and a
        character that a cut goes through, become U+FFFD.
    """
    if end.refusal is not None:
        return end.refusal.reason
    stdout, stderr = _bounded_streams(end, head_bytes, tail_bytes)
    text = envelope(end.exit_code, stdout, with_reason(stderr, end))
    return _with_calls(text, end).decode("utf-8", "replace")


def streams_text(end: CallEnd, *, head_bytes: int = HEAD_BYTES, tail_bytes: int = TAIL_BYTES) -> str:
    """The streams of a call alone, bounded and labelled as in its envelope; "" when both are empty."""
    stdout, stderr = _bounded_streams(end, head_bytes, tail_bytes)
    return _labelled(stdout, stderr).decode("utf-8", "replace")


def _bounded_streams(end: CallEnd, head_bytes: int, tail_bytes: int) -> tuple[bytes, bytes]:
    def shown(name: str, content: bytes) -> bytes:
        address = None if end.record is None else address_in(end.record, name, head_bytes)
        return bounded(content, name, head_bytes, tail_bytes, address)

    return shown("stdout", end.stdout), shown("stderr", end.stderr)


def bounded(
    stream: bytes, label: str, head_bytes: int, tail_bytes: int, address: Address | None = None
) -> bytes:
    """A stream as it is, or its head, a marker and its tail when it is longer than both together.

    Args:
        stream: the bytes.
        label: what the marker calls it.
        head_bytes: kept from the start.
        tail_bytes: kept from the end.
        address: of the first byte not shown; None when there is no record to read it from.
    """
    if len(stream) <= head_bytes + tail_bytes:
        return stream
    head = stream[:head_bytes]
    lines = stream.count(b"\n") + (not stream.endswith(b"\n"))
    marker = (
        f"[{label}: {len(stream)} bytes, {lines} lines; "
        f"shown are the first {head_bytes} and the last {tail_bytes} bytes"
    )
    if address is not None:
        marker += (
            f"; all of it is in {address.record}/output.json; "
            f'read on with read_tool_output {{"address": "{address}"}}'
        )
    return head + _own_line(head) + marker.encode() + b"]\n" + stream[len(stream) - tail_bytes :]


def with_reason(stderr: bytes, end: CallEnd) -> bytes:
    """A call's stderr, whole or shortened, with what ended a call that did not end by itself.

    That is said last, and is never cut; once, when the tool has said it in its last line already.
    """
    if not end.reason or end.outcome in {Outcome.COMPLETED, Outcome.FAILED}:
        return stderr
    reason = end.reason.encode("utf-8", "backslashreplace")
    if stderr.rstrip(b"\n").endswith(reason):
        return stderr
    return stderr + _own_line(stderr) + f"{end.outcome}: ".encode() + reason + b"\n"


def _own_line(before: bytes) -> bytes:
    """What it takes for the next text to stand on a line of its own."""
    return b"\n" if before and not before.endswith(b"\n") else b""
