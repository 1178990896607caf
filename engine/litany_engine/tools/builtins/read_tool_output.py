"""`read_tool_output`: the part of an earlier call's output that was not shown.

The address that the marker in a shortened result carries is all it takes, and it reaches the caller's own
records alone: the agent that the address names must be the one that asks, which is known from the call's
context and never from its input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from litany_engine.door.calls import Capture, Tool
from litany_engine.records.output_pages import GRAMMAR, PAGE_BYTES, AddressError, page, parse_address
from litany_engine.tools.builtins.input import WrongInputError, builtin_input
from litany_engine.tools.definitions import Traits
from litany_stubs.words import ToolDeclaration

if TYPE_CHECKING:
    from litany_engine.door.calls import Context, ToolCall

DECLARATION = ToolDeclaration(
    name="read_tool_output",
    description=(
        "Reads on in the output of an earlier tool call of yours that was too long to be shown whole. "
        f"The output is up to {PAGE_BYTES} bytes from the address on; a note on stderr says which bytes they "
        "are and gives the next address."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "address": {
                "type": "string",
                "description": f"As the shortened result gives it: {GRAMMAR}",
            },
        },
        "required": ["address"],
        "additionalProperties": False,
    },
)


async def execute(call: ToolCall, context: Context) -> Capture:
    """Read one page."""
    try:
        given = builtin_input(DECLARATION, call.input)
        return await trio.to_thread.run_sync(_read, given["address"], context, abandon_on_cancel=True)
    except (WrongInputError, AddressError) as error:
        return Capture.failed(f"read_tool_output: {error}")


def _read(text: str, context: Context) -> Capture:
    from litany_engine.records.record_files import RecordError  # noqa: PLC0415 - most calls never page
    from litany_engine.records.recorded import load_call  # noqa: PLC0415

    address = parse_address(text)
    if address.agent != context.agent:
        raise AddressError(
            f"the address names agent {address.agent!r}, and you are {context.agent!r}: "
            "only your own output can be read"
        )
    try:
        recorded = load_call(context.workspace / address.record)
    except RecordError:
        raise AddressError(f"there is no record {address.record}") from None
    if recorded.end is None:
        cause = recorded.damage or "it has not ended yet, or its host died"
        raise AddressError(f"call {address.call_id!r} has no recorded output: {cause}")
    content, note = page(getattr(recorded.end, address.stream), address)
    return Capture(stdout=content, stderr=f"{note}\n".encode())


READ_TOOL_OUTPUT = Tool(DECLARATION, execute, traits=Traits(read_only=True, concurrency_safe=True))
