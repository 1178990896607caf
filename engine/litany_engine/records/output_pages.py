"""The address of output that was not shown, and the page that it stands for.

    steps/<agent>/<NNN>/tools/<call-id>/output.json#<stream>@<offset>

The address is the lookup: no index, no store. It cannot name anything but a stream of a recorded call, so
nothing has to be allowed or forbidden beyond the agent that it names. Offsets are bytes of the stream.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PAGE_BYTES = 4096
"""Size of a page: the head and the tail that a shortened stream shows by default, so no page is shortened."""

GRAMMAR = "steps/<agent>/<NNN>/tools/<call-id>/output.json#<stdout|stderr>@<byte offset>"

_ADDRESS = re.compile(
    r"steps/([^/\s]+)/([0-9]+)/tools/([^/\s]+)/output\.json#(stdout|stderr)@([0-9]{1,18})", re.ASCII
)
_RECORD_PARTS = 5  # steps, agent, step, tools, call


class AddressError(ValueError):
    """A text that is no address, or an address past the end of its stream; the message says what would be."""


@dataclass(frozen=True, slots=True)
class Address:
    """A place in the recorded output of a call.

    Attributes:
        agent: the agent whose record it is.
        step: the step's number as its folder writes it.
        call_id: the call's id.
        stream: `stdout` or `stderr`.
        offset: the first byte meant.
    """

    agent: str
    step: str
    call_id: str
    stream: str
    offset: int

    def __str__(self) -> str:
        """The address as a marker shows it and `read_tool_output` takes it."""
        return f"{self.record}/output.json#{self.stream}@{self.offset}"

    @property
    def record(self) -> str:
        """The record's folder, relative to the workspace."""
        return f"steps/{self.agent}/{self.step}/tools/{self.call_id}"

    def moved_to(self, offset: int) -> Address:
        """The same stream at another byte."""
        return replace(self, offset=offset)


def address_in(record: Path, stream: str, offset: int) -> Address:
    """The address of a byte of a call's output.

    Args:
        record: the folder of the call's record.
        stream: `stdout` or `stderr`.
        offset: the byte.
    """
    _steps, agent, step, _tools, call_id = record.parts[-_RECORD_PARTS:]
    return Address(agent, step, call_id, stream, offset)


def parse_address(text: str) -> Address:
    """Read an address.

    Raises:
        AddressError: it has another form; the message restates the grammar.
    """
    found = _ADDRESS.fullmatch(text)
    if found is None or any(set(part) == {"."} for part in (found[1], found[3])):
        shown = text if len(text) <= 200 else f"{text[:200]}…"
        raise AddressError(f"{shown!r} is no address of recorded output: an address is {GRAMMAR}")
    return Address(found[1], found[2], found[3], found[4], int(found[5]))


def page(stream: bytes, address: Address) -> tuple[bytes, str]:
    """Cut one page.

    Args:
        stream: the whole stream.
        address: where to begin.

    Returns:
        Up to `PAGE_BYTES` bytes, and one line that says which bytes they are and where to go on.

    Raises:
        AddressError: the address lies past the end of the stream; the message has its size.
    """
    total = len(stream)
    if address.offset > total:
        raise AddressError(
            f"{address.stream} of {address.record} has {total} bytes, and {address.offset} is past its end"
        )
    end = min(address.offset + PAGE_BYTES, total)
    onward = "end of the stream" if end == total else f"next: {address.moved_to(end)}"
    where = f"bytes {address.offset} to {end} of {total}, {address.stream} of {address.record}"
    return stream[address.offset : end], f"{where}; {onward}"
