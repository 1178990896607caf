"""The SDK's messages as lines: what litany as a server reads and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from litany_engine.mcp.lines import ClosedError, Outgoing

if TYPE_CHECKING:
    from types import TracebackType


def read_message(line: bytes) -> SessionMessage:
    """Understand one line.

    Raises:
        ValueError: it is no message.
    """
    return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))


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
