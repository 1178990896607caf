"""Make one call through the door.

One JSON object `{"id", "name", "input"}` on stdin (`id` and `input` may be left out); the envelope on stdout,
or the reason of a refusal; the tool's exit code. Inside a tool's process the call is an inner one of that
tool's call: same agent, same gates, and an id of the form `<call>-<k>`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from litany_engine.cli.common import (
    REFUSED,
    CommandError,
    add_agent,
    add_json,
    add_raw,
    add_tools,
    add_workspace,
    given_tools,
    read_stdin,
    stop_on_signals,
    the_caller,
    the_workspace,
    write_output,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable, Sequence

    from litany_engine.api import OpenWorkspace
    from litany_engine.door.calls import CallEnd, Tool
    from litany_engine.workspaces.workspace import Workspace

EXAMPLE = """\
example:
  echo '{"name": "bash", "input": {"command": "uname -s"}}' | litany invoke
"""

MAX_BLOCK_BYTES = 64 * 1024 * 1024
"""Largest call that is read: above what any limit of a program lets through."""

SHAPE = 'one JSON object {"id": text, "name": text, "input": object}, of which id and input may be left out'


class Block(NamedTuple):
    """A call as it was asked for on stdin."""

    name: str
    input: Any
    id: str | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany invoke` takes."""
    add_raw(parser)
    add_workspace(parser)
    add_agent(parser)
    add_tools(parser)
    add_json(
        parser, "one object {outcome, exit_code, stdout, stderr, data, refusal, …} instead of the envelope"
    )


def main(args: argparse.Namespace) -> int:
    """Make the call that is on stdin."""
    block = read_block(read_stdin(MAX_BLOCK_BYTES, "the call"))
    end = make_call(args, block)
    if args.json:
        from litany_engine.tools.python_act import reply_of
        from litany_stubs.reply_json import encode_reply

        print(encode_reply(reply_of(end)))
    else:
        from litany_engine.records.envelope import whole_envelope

        told = whole_envelope(end)
        write_output(told if end.refusal is None else told + b"\n", b"", raw=args.raw)
    return end.exit_code


def read_block(text: bytes) -> Block:
    """Understand the call on stdin.

    Raises:
        CommandError: it has another shape; the message says which it should have.
    """
    try:
        block = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"the call on stdin is not JSON ({error}); it is {SHAPE}", REFUSED) from error
    if not isinstance(block, dict) or not isinstance(block.get("name"), str):
        raise CommandError(f"the call on stdin is not {SHAPE}", REFUSED)
    if unknown := sorted(block.keys() - {"id", "name", "input"}):
        raise CommandError(f"the call on stdin has the unknown key {unknown[0]!r}; it is {SHAPE}", REFUSED)
    if not isinstance(block.get("id"), str | None):
        raise CommandError(f"the id on stdin is no text; the call is {SHAPE}", REFUSED)
    return Block(block["name"], block.get("input", {}), block.get("id"))


def make_call(args: argparse.Namespace, block: Block) -> CallEnd:
    """Make one call as an agent, or as a part of the tool call that this process belongs to."""
    workspace = the_workspace(args)
    agent, inside = the_caller(args, workspace)

    async def call(ws: OpenWorkspace) -> CallEnd:
        if inside is None:
            return await ws.invoke(block.name, block.input, agent=agent, call_id=block.id)
        return await ws.invoke_inside(agent, inside, block.name, block.input, call_id=block.id)

    return run_until_signal(workspace, call, given_tools(args))


def run_until_signal(
    workspace: Workspace, work: Callable[[OpenWorkspace], Awaitable[CallEnd]], tools: Sequence[Tool] = ()
) -> CallEnd:
    """Open a workspace for one call, which SIGINT, SIGTERM and SIGHUP stop."""
    import trio

    from litany_engine.api import open_workspace
    from litany_engine.cli.streams import stdout_of_tools

    async def main() -> CallEnd:
        async with open_workspace(workspace, tools=tools) as ws, trio.open_nursery() as nursery:
            await nursery.start(stop_on_signals, lambda reason: ws.stop(reason=reason))
            end = await work(ws)
            nursery.cancel_scope.cancel()
        return end

    with stdout_of_tools():
        return trio.run(main)
