"""litany as an MCP server: an agent's tools, each call one step of its own, through the door like any other.

The client's cancellation of a request cancels the task that the call runs in, and so does its going away: to
the door that is a stop like every other, with its cascade, and what was printed so far is in the record. A
call that is held waits, as `[hold]` says, for as long as the client does.
"""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types
import trio
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from litany_engine.innermost import innermost
from litany_engine.mcp import offer, stdio
from litany_engine.mcp.lines import ClosedError
from litany_engine.mcp.messages import OutgoingMessages, refused
from litany_engine.mcp.progress import Progress, Reports, asking

if TYPE_CHECKING:
    from collections.abc import Collection

    from mcp.server.context import ServerRequestContext

    from litany_engine.api import OpenWorkspace

INSTRUCTIONS = (
    "`python` runs a program that composes the other tools (`import litany_tools`): prefer one program over "
    "many calls; only what it prints comes back. Every call is gated and recorded by the workspace."
)

FAREWELL_S = 1.0
"""How long answers that are ready may take to leave, once the server is to end."""


class Serving:
    """One client of one agent.

    Args:
        ws: the workspace.
        agent: whose tools are offered; the only agent when None.
        only: names to offer, of those that are granted; empty for all.
        budget_chars: the most that the description of `python` says of the other tools.
    """

    def __init__(
        self, ws: OpenWorkspace, agent: str | None, only: Collection[str], budget_chars: int
    ) -> None:
        self._ws = ws
        self._agent = agent
        self._only = frozenset(only)
        self._budget_chars = budget_chars
        self._reports = Reports()
        self._told_version: object = None
        self._in_flight = 0
        self._idle = trio.Event()
        self._idle.set()
        self._leave = trio.Event()
        self._changes = InMemorySubscriptionBus()
        self._server: Server[Any] = Server(
            "litany",
            version=version("litany"),
            instructions=INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=ListenHandler(self._changes),
        )

    async def run(self, stdin: int, stdout: int) -> None:
        """Serve the client on two descriptors until it leaves, or until `leave`."""
        messages, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing = OutgoingMessages()
        unwatch = self._ws.watch(self._reports.see)
        try:
            async with trio.open_nursery() as nursery:
                listening, speaking = trio.CancelScope(), trio.CancelScope()

                def unreadable(line: bytes) -> None:
                    if (answer := refused(line)) is not None:
                        with suppress(ClosedError):
                            outgoing.put(answer)

                async def listen() -> None:
                    with listening, suppress(anyio.ClosedResourceError):
                        await stdio.receive(stdin, messages, unreadable)

                async def speak() -> None:
                    with speaking:
                        await stdio.send(outgoing, stdout)
                    listening.cancel()  # who does not read what we say has left

                async def hang_up() -> None:
                    await self._leave.wait()
                    with trio.move_on_after(FAREWELL_S):
                        await self._idle.wait()
                    listening.cancel()

                nursery.start_soon(listen)
                nursery.start_soon(speak)
                nursery.start_soon(hang_up)
                options = self._server.create_initialization_options(NotificationOptions(tools_changed=True))
                await self._server.run(inbox, outgoing, options)
                self._leave.set()
                speaking.deadline = trio.current_time() + FAREWELL_S
        finally:
            unwatch()
            messages.close()
            inbox.close()

    def leave(self) -> None:
        """Take no more requests, send the answers that are ready, and end."""
        self._leave.set()

    async def _list(
        self, _ctx: ServerRequestContext[Any], _params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        try:
            await self._ws.connect(self._agent)
            toolset = self._ws.toolset(self._agent)
        except Exception as error:
            raise _protocol_error(error) from error
        self._told_version = toolset.version
        return mcp_types.ListToolsResult(tools=offer.offered(toolset, self._only, self._budget_chars))

    async def _call(
        self, ctx: ServerRequestContext[Any], params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        if self._only and params.name not in self._only:
            return offer.not_offered(params.name, self._only)
        progress = Progress()
        asking.set(progress)  # this task's own: each request is handled in another
        self._in_flight += 1
        self._idle = trio.Event() if self._idle.is_set() else self._idle
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(progress.keep_telling, ctx.session.report_progress)
                end = await self._ws.invoke(params.name, params.arguments or {}, agent=self._agent)
                nursery.cancel_scope.cancel()
            await progress.tell(ctx.session.report_progress)
            await self._tell_changes(ctx)
        except Exception as error:
            raise _protocol_error(error) from error
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._idle.set()
        return offer.answered(end, self._ws.workspace.config)

    async def _tell_changes(self, ctx: ServerRequestContext[Any]) -> None:
        """Say that the list of tools has changed, to a client that has seen another: calls change it."""
        now = self._ws.toolset(self._agent).version
        if self._told_version in {None, now}:
            return
        self._told_version = now
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            await self._changes.publish(ToolsListChanged())
        else:
            await ctx.session.send_tool_list_changed()


def _protocol_error(error: BaseException) -> MCPError:
    """What kept a request from being answered at all, in the words of the error itself."""
    error = innermost(error)
    if isinstance(error, MCPError):
        return error
    text = str(error) if type(error).__module__.startswith("litany_") else f"{type(error).__name__}: {error}"
    return MCPError(code=mcp_types.INTERNAL_ERROR, message=text)
