"""The two ends of a served connection: what is read whole, what is too long, and who has left."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra litany[mcp] is not installed")

import anyio
import trio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification

from litany_engine.mcp import stdio
from litany_engine.mcp.lines import LineTooLongError
from litany_engine.mcp.messages import OutgoingMessages, refused

LINE = b'{"jsonrpc":"2.0","method":"m"}\n'
MESSAGE = SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="m"))


def read_all(fd: int) -> list[Any]:
    """Everything that is handed on, until the end."""

    async def main() -> list[Any]:
        messages, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](100)
        with inbox:
            await stdio.receive(fd, messages)
            return [each async for each in inbox]

    return trio.run(main)


def test_a_file_is_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "said").write_bytes(LINE * 3)
    with (tmp_path / "said").open("rb") as file:
        assert read_all(file.fileno()) == [MESSAGE] * 3


def test_a_line_that_is_no_message_is_handed_on_as_an_error() -> None:
    readable, writable = os.pipe()
    os.write(writable, LINE + b"hello\n" + LINE)
    os.close(writable)
    first, second, third = read_all(readable)
    os.close(readable)
    assert (first, third) == (MESSAGE, MESSAGE)
    assert isinstance(second, ValueError)


def test_a_request_without_an_end_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "MAX_REQUEST_BYTES", 1000)
    (tmp_path / "said").write_bytes(b"x" * 1001)
    with (
        (tmp_path / "said").open("rb") as file,
        pytest.raises(LineTooLongError, match="more than 1000 bytes"),
    ):
        read_all(file.fileno())


def test_what_is_sent_arrives_whole_however_slowly_it_is_read() -> None:
    readable, writable = os.pipe()
    text = "x" * 500_000
    long = SessionMessage(JSONRPCNotification(jsonrpc="2.0", method=text))
    got = bytearray()

    async def read() -> None:
        while not got.endswith(b"\n"):
            await trio.lowlevel.wait_readable(readable)
            got.extend(os.read(readable, 1000))

    async def main() -> None:
        outgoing = OutgoingMessages()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            nursery.start_soon(stdio.send, outgoing, writable)
            await outgoing.send(long)
            outgoing.close()

    trio.run(main)
    os.close(readable)
    os.close(writable)
    assert text.encode() in got


def test_who_does_not_read_any_more_has_left() -> None:
    readable, writable = os.pipe()
    os.close(readable)

    async def main() -> None:
        outgoing = OutgoingMessages()
        await outgoing.send(MESSAGE)
        await stdio.send(outgoing, writable)
        with pytest.raises(anyio.ClosedResourceError):
            await outgoing.send(MESSAGE)

    trio.run(main)
    os.close(writable)


def test_stdin_is_empty_for_everybody_else_and_given_back() -> None:
    before = os.fstat(0)
    with stdio.own_stdin() as ours:
        assert os.path.samestat(os.fstat(ours), before)
        assert os.read(0, 1) == b""
        assert os.path.samestat(os.fstat(0), Path(os.devnull).stat())
    assert os.path.samestat(os.fstat(0), before)


@pytest.mark.parametrize(
    ("line", "number", "code", "words"),
    [
        (
            b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":"\\ud83c"}}',
            7,
            -32700,
            "a lone surrogate",
        ),
        (b'{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"x":"\xff"}}', "q", -32700, "not UTF-8"),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x"', 7, -32700, "it is not JSON"),
        (b'{"id":7,"method":5}', 7, -32600, "it is no request of the protocol"),
        (b'{"jsonrpc":"2.0","method"', None, -32700, "it is not JSON"),
    ],
)
def test_a_request_that_cannot_be_read_is_answered(line: bytes, number: Any, code: int, words: str) -> None:
    answer = refused(line)
    assert answer is not None
    said = json.loads(answer)
    assert (said["id"], said["error"]["code"]) == (number, code)
    assert words in said["error"]["message"]


@pytest.mark.parametrize("line", [b"hello", b'{"id":1,"result":null}', b'{"method":5}', b"[1]"])
def test_what_is_no_request_is_not_answered(line: bytes) -> None:
    assert refused(line) is None
