"""The SDK's messages as lines: what litany as a server reads and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import anyio
import msgspec
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, jsonrpc_message_adapter

from litany_engine.mcp.lines import ClosedError, Outgoing
from litany_engine.mcp.reading import ids_in, looks_like_message, read_line

if TYPE_CHECKING:
    from types import TracebackType

    from litany_stubs.words import JSON


def read_message(line: bytes) -> SessionMessage:
    """Understand one line.

    Raises:
        ValueError: it is no message.
    """
    return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))


def refused(line: bytes) -> bytes | None:
    """The answer to a request that cannot be read, so that a client need not wait; None when it is none."""
    read = read_line(line)
    number: JSON = None
    if isinstance(read.value, dict):
        number = read.value.get("id")
        if "result" in read.value or "error" in read.value or ("id" not in read.value and not read.faults):
            return None
    elif not looks_like_message(line):
        return None
    else:
        number = next(iter(ids_in(line)), None)
    if isinstance(number, bool) or not isinstance(number, str | int):
        number = None
    told = "; ".join(read.faults) or "it is no request of the protocol"
    code = PARSE_ERROR if read.faults else INVALID_REQUEST
    error = {"code": code, "message": f"what was sent cannot be read: {told}"}
    return msgspec.json.encode({"jsonrpc": "2.0", "id": number, "error": error}) + b"\n"


class OutgoingMessages(Outgoing):
    """A queue of bytes that the SDK takes for its write stream."""

    async def send(self, item: SessionMessage, /) -> None:
        """Put a message into the queue; the SDK's own interface, which awaits this.

        Raises:
            anyio.ClosedResourceError: the other side is gone, or has left too much unread.
        """
        try:
            self.put(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        except ClosedError:
            raise anyio.ClosedResourceError from None

    async def aclose(self) -> None:
        """The same as `close`, as the SDK calls it."""
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.close()
