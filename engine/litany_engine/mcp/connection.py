"""One running server process and the session with it, from its start to the end of its whole process tree.

The process runs under a keeper, like every tool process (`tools/keeper.py` says why), so whatever it starts
is gone with it. The SDK's session is given two queues in place of pipes: it never touches the process.

A server is a stranger. A message has a largest size, unread messages a largest number, its start a deadline;
whoever goes past one is ended, and started again by the next call. What it writes besides messages is passed
over; what it writes to stderr is kept to explain its death.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types
import trio
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from litany_engine.mcp.errors import ServerError
from litany_engine.mcp.lines import Lines, LineTooLongError, Outgoing, read_message
from litany_engine.tools.processes import ProcessError, run_process
from litany_runtime.limits import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mcp.client.session import IncomingMessage
    from mcp.shared.dispatcher import ProgressFnT

    from litany_engine.tools.processes import ProcessEnd

MAX_MESSAGE_BYTES = 10 * MIB
"""The longest message of a server, and so the largest result: as much as is kept of a tool process."""
MAX_UNREAD_MESSAGES = 10_000
"""Messages of a server that wait for us: far above a burst of progress, far below what hurts."""
START_BOUND_S = 60.0
"""How long a server may take to shake hands and list its tools: it may have to be downloaded first."""
FAREWELL_S = 1.0
"""How long a server has to end by itself once its input has ended, before its tree gets SIGTERM."""
MAX_PAGES = 100
"""Pages of a list of tools: a list without an end is none."""

_KEPT_BYTES = 16 * KIB
_TOLD_CHARS = 500


class Connection:
    """One server process and its session.

    Args:
        command: the program and its arguments.
        env: its whole environment.
        cwd: its working directory.

    Attributes:
        alive: whether it can be called.
        failure: why it ended, once it has, for whoever reads it.
        changed: it said that its list of tools has changed, since it was listed last.
        tools: what it listed when it was started.
    """

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self._command = command
        self._env = env
        self._cwd = cwd
        self._lines = Lines(MAX_MESSAGE_BYTES)
        self._messages, self._inbox = anyio.create_memory_object_stream[SessionMessage | Exception](
            MAX_UNREAD_MESSAGES
        )
        self._outgoing = Outgoing()
        self._process = trio.CancelScope(shield=True)
        self._ended = trio.Event()
        self._session: ClientSession | None = None
        self._over = False
        self.alive = False
        self.failure = ""
        self.changed = False
        self.tools: list[mcp_types.Tool] = []

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Start the server and stay with it until it ends, or until cancelled, which ends it.

        Started once it can be called, or cannot: `failure` says which. Nothing of it is left at the end.
        """
        started = False
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._run_process)
            try:
                client = mcp_types.Implementation(name="litany", version=version("litany"))
                async with ClientSession(
                    self._inbox, self._outgoing, message_handler=self._hear, client_info=client
                ) as session:
                    self._session = session
                    started = self.alive = await self._start(session)
                    if started:
                        task_status.started()
                        await self._ended.wait()
            finally:
                self.alive = False
                await self._leave()
        if not started:
            task_status.started()

    async def call(
        self,
        name: str,
        arguments: Any,
        progress: ProgressFnT,
    ) -> mcp_types.CallToolResult:
        """Call a tool by the server's own name of it. When we are cancelled, the server is told so.

        Raises:
            MCPError: the server answered with an error.
            ServerError: it has ended, or what it answered is no result of a tool call.
        """
        assert self._session is not None
        request = mcp_types.CallToolRequest(
            params=mcp_types.CallToolRequestParams(name=name, arguments=arguments)
        )
        try:
            return await self._session.send_request(
                request, mcp_types.CallToolResult, progress_callback=progress
            )
        except ValidationError as error:
            raise ServerError(f"what it answered is no result of a tool call: {_told(error)}") from error
        except MCPError as error:
            if self._is_over(error):
                raise ServerError(await self.told_end()) from error
            raise

    async def list_tools(self) -> list[mcp_types.Tool]:
        """Ask the server for its tools.

        Raises:
            MCPError: it answered with an error, or has ended.
            ServerError: it lists them in a way that cannot be read.
        """
        assert self._session is not None
        self.changed = False  # before the first page: what is announced meanwhile may not be on it
        try:
            return await self._pages(self._session)
        except BaseException:
            self.changed = True
            raise

    async def _pages(self, session: ClientSession) -> list[mcp_types.Tool]:
        found: list[mcp_types.Tool] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            params = None if cursor is None else mcp_types.PaginatedRequestParams(cursor=cursor)
            try:
                page = await session.send_request(
                    mcp_types.ListToolsRequest(params=params), mcp_types.ListToolsResult
                )
            except ValidationError as error:
                raise ServerError(
                    f"it lists its tools in a way that cannot be read: {_told(error)}"
                ) from error
            found += page.tools
            cursor = page.next_cursor
            if cursor is None:
                return found
        raise ServerError(f"it lists its tools on more than {MAX_PAGES} pages")

    async def told_end(self) -> str:
        """Wait for the end of the server, in bounded time; why it has ended."""
        self.end("it does not read what it is sent" if self._outgoing.closed else "it was ended")
        await self._ended.wait()
        return self.failure

    def end(self, failure: str) -> None:
        """End the server for a reason of ours; the first reason is the one that is told."""
        self.alive = False
        self.failure = self.failure or failure
        self._over = True
        self._process.cancel()
        self._messages.close()

    def _is_over(self, error: BaseException) -> bool:
        """Whether an error is the end of the connection, and not the server's own with the same number."""
        closed = isinstance(error, MCPError) and error.code == mcp_types.CONNECTION_CLOSED
        return closed and (self._over or self._outgoing.closed)

    async def _start(self, session: ClientSession) -> bool:
        """Shake hands and list the tools; whether that was done."""
        with trio.move_on_after(START_BOUND_S) as bound:
            try:
                await _shake_hands(session)
                self.tools = await self.list_tools()
            except (MCPError, RuntimeError, ValidationError) as error:
                if self._is_over(error):
                    await self.told_end()
                self.end(_told(error))
                return False
        if bound.cancelled_caught:
            self.end(f"it has not answered within {START_BOUND_S:g} s of its start")
            return False
        return True

    async def _run_process(self) -> None:
        try:
            with self._process:
                await self._watch_process()
        finally:  # whatever happens: who waits for the end must not wait for ever
            self.failure = self.failure or "it was ended"
            self.alive = False
            self._over = True
            self._outgoing.give_up()
            self._messages.close()
            self._ended.set()

    async def _watch_process(self) -> None:
        try:
            end = await run_process(
                self._command,
                env=self._env,
                cwd=self._cwd,
                stdin=self._outgoing,
                max_output_bytes=_KEPT_BYTES,
                output=self._take,
            )
        except ProcessError as error:
            self.failure = self.failure or str(error)
            return
        self.failure = self.failure or _death(end)
        if end.stderr.strip():
            self.failure += f"; it said: {_last_words(end.stderr)}"

    def _take(self, stream: str, data: bytes) -> None:
        """Take in what the server writes; called by whoever reads its pipes, so it must not raise."""
        if stream != "stdout" or self._process.cancel_called:
            return
        try:
            for line in self._lines.add(data):
                self._receive(line)
        except LineTooLongError as error:
            self.end(f"it sent {error}, the most that is read")

    def _receive(self, line: bytes) -> None:
        try:
            message = read_message(line)
        except ValueError:
            return  # many servers log to stdout; what is missing is noticed by who waits for it
        try:
            self._messages.send_nowait(message)
        except anyio.WouldBlock:
            self.end(f"it sent more than {MAX_UNREAD_MESSAGES} messages at once")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            pass  # we have hung up

    async def _hear(self, message: IncomingMessage) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            self.changed = True

    async def _leave(self) -> None:
        """End the server in order: its input ends, then it is asked to end, then it is killed."""
        with trio.CancelScope(shield=True):  # bounded: a farewell, and the grace of a tool's process
            self._outgoing.close()
            with trio.move_on_after(FAREWELL_S):
                await self._ended.wait()
            self._process.cancel()
            await self._ended.wait()
            self._inbox.close()


async def _shake_hands(session: ClientSession) -> None:
    """Agree on a version: by the handshake that nearly every server knows, else as the newest do it."""
    try:
        await session.initialize()
    except MCPError as error:
        if error.code not in {mcp_types.METHOD_NOT_FOUND, mcp_types.UNSUPPORTED_PROTOCOL_VERSION}:
            raise
        await session.discover()


def _death(end: ProcessEnd) -> str:
    if end.signal is not None:
        return f"it was ended by signal {end.signal}"
    return f"it ended with exit code {end.exit_code}"


def _last_words(stderr: bytes) -> str:
    text = " ".join(stderr.decode("utf-8", "replace").split())
    return text if len(text) <= _TOLD_CHARS else f"… {text[-_TOLD_CHARS:]}"


def _told(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= _TOLD_CHARS else f"{text[:_TOLD_CHARS]} …"
