"""One running server process and the exchange with it, from its start to the end of its whole process tree.

The process runs under a keeper, like every tool process (`tools/keeper.py` says why), so whatever it starts
is gone with it. What its messages mean is `exchange.py`; this is where they meet a process and time.

A server is a stranger. A message has a largest size, its messages of one second a largest number, its start a
deadline. What is too long is dropped and faults the call that it answers; a server that goes past another
bound is ended, and started again by the next call. What it writes besides messages is passed over; what it
writes to stderr is kept to explain its death.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from importlib.metadata import version
from typing import TYPE_CHECKING

import trio

from litany_engine.mcp.errors import AnsweredError, ServerError
from litany_engine.mcp.exchange import METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION, Answer, Exchange
from litany_engine.mcp.lines import ClosedError, Lines, LineTooLongError, Outgoing
from litany_engine.mcp.reading import brief, shown
from litany_engine.tools.ancestry import Claim
from litany_engine.tools.processes import ProcessError, run_process
from litany_runtime.limits import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from litany_engine.tools.processes import ProcessEnd
    from litany_stubs.words import JSON

MAX_MESSAGE_BYTES = 10 * MIB
"""The longest message of a server, and so the largest result: as much as is kept of a tool process."""
MAX_MESSAGES_AT_ONCE = 10_000
"""Messages of a server within a second: far above a burst of progress, far below what hurts."""
START_BOUND_S = 60.0
"""How long a server may take to shake hands and list its tools: it may have to be downloaded first."""
FAREWELL_S = 1.0
"""How long a server has to end by itself once its input has ended, before its tree gets SIGTERM."""
MAX_PAGES = 100
"""Pages of a list of tools: a list without an end is none."""

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Versions of the protocol that are agreed on by `initialize`, the oldest first."""
MODERN_VERSIONS = ("2026-07-28",)
"""Versions that have no handshake: each request says of itself what it speaks."""

_log = logging.getLogger("litany.mcp")
_META = "io.modelcontextprotocol/"
_KEPT_BYTES = 16 * KIB
_TOLD_CHARS = 500


class Connection:
    """One server process and the exchange with it.

    Args:
        command: the program and its arguments.
        env: its whole environment.
        cwd: its working directory.

    Attributes:
        alive: whether it can be called.
        failure: why it ended, once it has.
        instead: what came in the place of an answer to the call that was given up last; "" for nothing.
        tools: the items of its list of tools when it was started, as they came.
    """

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self._command = command
        self._env = env
        self._cwd = cwd
        self._lines = Lines(MAX_MESSAGE_BYTES, self._overlong)
        self._outgoing = Outgoing()
        self._exchange = Exchange(self._outgoing.put)
        self._process = trio.CancelScope(shield=True)
        self._ended = trio.Event()
        self._second, self._in_second = 0.0, 0
        self.alive = False
        self.failure = ""
        self.instead = ""
        self.tools: list[JSON] = []

    @property
    def changed(self) -> bool:
        """Whether it said that its list of tools has changed, since it was listed last."""
        return self._exchange.changed

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Start the server and stay with it until it ends, or until cancelled, which ends it.

        Started once it can be called, or cannot: `failure` says which. Nothing of it is left at the end.
        """
        started = False
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._run_process)
            try:
                started = self.alive = await self._start()
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
        arguments: JSON,
        progress: Callable[[float, float | None, str], None],
    ) -> Answer:
        """Call a tool by the server's own name of it. When we are cancelled, the server is told so.

        Raises:
            ServerError: it has ended.
        """
        return await self._ask("tools/call", {"name": name, "arguments": arguments}, progress)

    async def list_tools(self) -> list[JSON]:
        """Ask the server for its tools; the items of its list, whatever they are.

        Raises:
            AnsweredError: it answered with an error.
            ServerError: it has ended, or lists them in a way that cannot be read.
        """
        self._exchange.changed = False  # before the first page: what is announced meanwhile may not be on it
        try:
            return await self._pages()
        except BaseException:
            self._exchange.changed = True
            raise

    async def _pages(self) -> list[JSON]:
        found: list[JSON] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self._result("tools/list", {"cursor": cursor} if cursor else None)
            tools, cursor = page.get("tools"), page.get("nextCursor")
            if not isinstance(tools, list):
                told = f"`tools` is {shown(tools)}, not a list" if "tools" in page else "`tools` is missing"
                raise ServerError(f"it lists its tools in a way that cannot be read: {told}")
            if cursor is not None and not isinstance(cursor, str):
                told = f"`nextCursor` is {shown(cursor)}, not a text"
                raise ServerError(f"it lists its tools in a way that cannot be read: {told}")
            found += tools
            if not cursor:
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
        self._process.cancel()
        self._exchange.close()

    async def _ask(
        self,
        method: str,
        params: Mapping[str, JSON] | None = None,
        progress: Callable[[float, float | None, str], None] | None = None,
    ) -> Answer:
        """Make a request and wait for its answer, for as long as we are not cancelled.

        Raises:
            ServerError: it has ended.
        """
        if self._process.cancel_called or self._ended.is_set():
            raise ServerError(await self.told_end())
        try:
            request = self._exchange.request(method, params, progress)
        except ClosedError:
            raise ServerError(await self.told_end()) from None
        try:
            await request.settled.wait()
        except trio.Cancelled:
            self.instead = self._exchange.instead(request)
            with suppress(ClosedError):  # it has ended, and that is the end of the request, too
                self._exchange.give_up(request)
            raise
        if request.answer is None:
            raise ServerError(await self.told_end())
        return request.answer

    async def _result(self, method: str, params: Mapping[str, JSON] | None = None) -> dict[str, JSON]:
        """What a server answers to a request that is no call; a fault that leaves it readable is logged.

        Raises:
            AnsweredError: it answered with an error.
            ServerError: it has ended, or its answer cannot be read.
        """
        answer = await self._ask(method, params)
        if isinstance(answer.error, dict) and isinstance(answer.error.get("message"), str):
            code = answer.error.get("code")
            number = code if isinstance(code, int) else 0
            raise AnsweredError(number, _told(answer.error["message"]), answer.error.get("data"))
        if not isinstance(answer.result, dict):
            raise ServerError(f"what it answered to {method} cannot be read: {'; '.join(answer.faults)}")
        if answer.faults:
            _log.warning("%s: what it answered to %s: %s", self._command[0], method, "; ".join(answer.faults))
        return answer.result

    async def _start(self) -> bool:
        """Shake hands and list the tools; whether that was done."""
        with trio.move_on_after(START_BOUND_S) as bound:
            try:
                await self._shake_hands()
                self.tools = await self.list_tools()
            except (AnsweredError, ServerError) as error:
                self.end(str(error))
                return False
        if bound.cancelled_caught:
            self.end(f"it has not answered within {START_BOUND_S:g} s of its start")
            return False
        return True

    async def _shake_hands(self) -> None:
        """Agree on a version: by the handshake that nearly every server knows, else as the newest do it."""
        client = {"name": "litany", "version": version("litany")}
        asked = {"protocolVersion": HANDSHAKE_VERSIONS[-1], "capabilities": {}, "clientInfo": client}
        try:
            result = await self._result("initialize", asked)
        except AnsweredError as error:
            if error.code not in {METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION}:
                raise
            await self._discover(client)
            return
        agreed = result.get("protocolVersion")
        if agreed not in HANDSHAKE_VERSIONS:
            raise ServerError(
                f"the `protocolVersion` of its answer to initialize is {shown(agreed)}, and those that are "
                f"spoken here are {', '.join(HANDSHAKE_VERSIONS)}"
            )
        try:
            self._exchange.notify("notifications/initialized")
        except ClosedError:
            raise ServerError(await self.told_end()) from None

    async def _discover(self, client: Mapping[str, JSON]) -> None:
        """Open the connection as the versions without a handshake do."""
        speak = MODERN_VERSIONS[-1]
        for _ in range(2):
            self._exchange.stamp = {
                f"{_META}protocolVersion": speak,
                f"{_META}clientInfo": dict(client),
                f"{_META}clientCapabilities": {},
            }
            try:
                result = await self._result("server/discover")
            except AnsweredError as error:
                known = error.data.get("supported") if isinstance(error.data, dict) else None
                mutual = _mutual(known)
                if error.code != UNSUPPORTED_PROTOCOL_VERSION or not mutual:
                    raise
                speak = mutual[-1]
                continue
            if speak not in _mutual(result.get("supportedVersions")):
                raise ServerError(
                    f"the `supportedVersions` of its answer to server/discover are "
                    f"{brief(result.get('supportedVersions'))}, and {speak} is spoken here"
                )
            return
        raise ServerError("it takes none of the versions that it says it supports")

    async def _run_process(self) -> None:
        try:
            with self._process:
                await self._watch_process()
        finally:  # whatever happens: who waits for the end must not wait for ever
            self.failure = self.failure or "it was ended"
            self.alive = False
            self._outgoing.give_up()
            self._ended.set()
            self._exchange.close()

    async def _watch_process(self) -> None:
        try:
            end = await run_process(
                self._command,
                env=self._env,
                cwd=self._cwd,
                stdin=self._outgoing,
                max_output_bytes=_KEPT_BYTES,
                output=self._take,
                claim=Claim(str(self._cwd)),
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
                self._count()
                self._exchange.receive(line)
        except LineTooLongError as error:
            self.end(f"it sent {error}, the most that is read")
        except ClosedError:
            self.end("it does not read what it is sent")

    def _count(self) -> None:
        now = trio.current_time()
        if now - self._second >= 1:
            self._second, self._in_second = now, 0
        self._in_second += 1
        if self._in_second > MAX_MESSAGES_AT_ONCE:
            self.end(f"it sent more than {MAX_MESSAGES_AT_ONCE} messages at once")

    def _overlong(self, part: bytes, *, ended: bool) -> None:
        self._exchange.overlong(part, MAX_MESSAGE_BYTES, ended=ended)

    async def _leave(self) -> None:
        """End the server in order: its input ends, then it is asked to end, then it is killed."""
        with trio.CancelScope(shield=True):  # bounded: a farewell, and the grace of a tool's process
            self._outgoing.close()
            with trio.move_on_after(FAREWELL_S):
                await self._ended.wait()
            self._process.cancel()
            await self._ended.wait()


def _mutual(known: JSON) -> list[str]:
    """The versions without a handshake that both sides speak, the oldest first."""
    return [each for each in MODERN_VERSIONS if isinstance(known, list) and each in known]


def _death(end: ProcessEnd) -> str:
    if end.signal is not None:
        return f"it was ended by signal {end.signal}"
    return f"it ended with exit code {end.exit_code}"


def _last_words(stderr: bytes) -> str:
    text = " ".join(stderr.decode("utf-8", "replace").split())
    return text if len(text) <= _TOLD_CHARS else f"… {text[-_TOLD_CHARS:]}"


def _told(words: str) -> str:
    text = " ".join(words.split())
    return text if len(text) <= _TOLD_CHARS else f"{text[:_TOLD_CHARS]} …"
