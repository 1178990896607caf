"""The Python interface for hosts under asyncio: the same calls, awaited in the host's own event loop.

    from litany_engine import open_workspace_asyncio

    async with open_workspace_asyncio("work", tools=[weather]) as ws:
        async with asyncio.timeout(30):
            end = await ws.python("print('hello')")

One thread runs trio for as long as the block lasts; nothing of the host's runs in it but sync tools and
screens. Cancellation crosses over both ways: a cancelled await ends its call before it is raised, and a call
that is ended cancels the task of its tool. `docs/decisions/0060-asyncio-hosts.md` says why not guest mode.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from litany_engine.api import open_workspace as open_workspace_in_trio
from litany_engine.api import python_input
from litany_engine.tools.function_tool import tool_context
from litany_engine.tools.in_process import LEFT_BEHIND, LeftBehindError, in_own_loop
from litany_engine.tools.python_act import PYTHON
from litany_engine.trio_thread import Served, serve
from litany_runtime.outcome import STOP_RAISED

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence
    from pathlib import Path

    from litany_engine.api import OpenWorkspace
    from litany_engine.door.calls import CallEnd, Capture, Context, Tool, ToolCall
    from litany_engine.door.events import Event
    from litany_engine.door.screens import Screen
    from litany_engine.tools.function_tool import ToolContext
    from litany_engine.tools.toolset import Toolset
    from litany_engine.trio_thread import Job
    from litany_engine.windows.driver import Advance
    from litany_engine.windows.window import Answers
    from litany_engine.workspaces.workspace import Workspace
    from litany_runtime.limits import Limits
    from litany_stubs.words import JSON

T = TypeVar("T")

AsyncioRouter = Callable[["ToolCall", "ToolContext"], Awaitable["Capture | None"]]
"""Answers a call in the place of its tool, in the host's event loop; None leaves it to the tool."""


class AsyncioWorkspace:
    """An opened workspace whose calls are awaited under asyncio; made by `open_workspace`.

    An await that is cancelled ends what it waits for as a stop does, and is raised once that is recorded.
    """

    def __init__(self, served: Served) -> None:
        self._served = served
        self._opened = served.opened
        self._loop = asyncio.get_running_loop()

    @property
    def workspace(self) -> Workspace:
        """What is on disk."""
        return self._opened.workspace

    async def python(
        self,
        program: str,
        *,
        agent: str | None = None,
        deadline: float | str | None = None,
        on_output: Callable[[str, bytes], None] | None = None,
    ) -> CallEnd:
        """Run a program as an agent; see `OpenWorkspace.python`. `on_output` is called in the event loop."""
        asked = python_input(program, deadline)
        return await self.invoke(PYTHON, asked, agent=agent, on_output=on_output)

    async def invoke(
        self,
        name: str,
        arguments: JSON,
        *,
        agent: str | None = None,
        deadline: float | str | None = None,
        on_output: Callable[[str, bytes], None] | None = None,
        call_id: str | None = None,
    ) -> CallEnd:
        """Make one call as an agent; see `OpenWorkspace.invoke`. `on_output` is called in the event loop."""
        relay = None if on_output is None else _Relay(self._loop, on_output)
        invoke = partial(
            self._opened.invoke_end,
            name,
            arguments,
            agent=agent,
            deadline=deadline,
            on_output=relay,
            call_id=call_id,
        )
        job = self._served.begin(invoke)
        if relay is not None:
            relay.job = job
        try:
            return await self._outcome(job)
        finally:
            if relay is not None and relay.error is not None:
                raise relay.error

    async def window(self, agent: str | None, content: JSON, *, model: str = "model") -> Answers:
        """Answer the calls of a model's reply; see `OpenWorkspace.window`."""
        return await self._do(lambda: self._opened.window(agent, content, model=model))

    async def advance(self, agent: str | None = None) -> Advance:
        """Settle what a dead host left and go on; see `OpenWorkspace.advance`."""
        return await self._do(lambda: self._opened.advance(agent))

    async def say(self, text: str, *, agent: str | None = None, sender: str = "user") -> None:
        """Leave a message for an agent; see `OpenWorkspace.say`."""
        await self._do(lambda: self._opened.say(text, agent=agent, sender=sender))

    async def messages(self, agent: str | None = None) -> list[dict[str, JSON]]:
        """What was said so far, as a provider is sent it; see `OpenWorkspace.messages`."""
        return await self._do(lambda: self._opened.messages(agent))

    async def connect(self, agent: str | None = None) -> None:
        """Start the MCP servers that an agent may call; see `OpenWorkspace.connect`."""
        await self._do(lambda: self._opened.connect(agent))

    async def stop(self, selector: str | None = None, *, reason: str = STOP_RAISED) -> tuple[str, ...]:
        """Stop what runs, and wait until its ends are recorded; see `OpenWorkspace.stop`."""
        return await self._do(lambda: self._opened.stop(selector, reason=reason))

    async def offered(self, agent: str | None = None) -> list[dict[str, JSON]]:
        """What an agent's model is offered at this moment; see `OpenWorkspace.offered`."""
        return await self._look(lambda: self._opened.offered(agent))

    async def toolset(self, agent: str | None = None) -> Toolset:
        """What the door permits an agent at this moment: what its model is offered is made of it."""
        return await self._look(lambda: self._opened.toolset(agent))

    async def running(self) -> tuple[ToolCall, ...]:
        """The calls in flight in this process."""
        return await self._look(self._opened.running)

    def watch(self, watcher: Callable[[Event], None]) -> Callable[[], None]:
        """Tell `watcher` of every call from now on, in the event loop; returns what ends it."""
        leavers: list[Callable[[], None]] = []
        left = False

        def leave_in_trio() -> None:
            for each in leavers:
                each()

        def leave() -> None:
            nonlocal left
            left = True
            self._served.call(leave_in_trio)

        def tell(event: Event) -> None:
            if not left:
                try:
                    watcher(event)
                except BaseException:  # as under trio: its failure is no call's
                    leave()
                    raise

        def relay(event: Event) -> None:
            self._loop.call_soon_threadsafe(tell, event)

        self._served.call(lambda: leavers.append(self._opened.watch(relay)))
        return leave

    async def _look(self, look: Callable[[], T]) -> T:
        async def do() -> T:
            return look()

        return await self._do(do)

    async def _do(self, work: Callable[[], Awaitable[T]]) -> T:
        return await self._outcome(self._served.begin(work))

    async def _outcome(self, job: Job[T]) -> T:
        ended: asyncio.Future[None] = self._loop.create_future()
        job.answer.add_done_callback(lambda _: self._loop.call_soon_threadsafe(_set, ended))
        await _whatever_comes(ended, job.cancel)
        return job.answer.result()


class _Relay:
    """Output on its way to the event loop; what the host raises there ends the call and is kept."""

    def __init__(self, loop: asyncio.AbstractEventLoop, output: Callable[[str, bytes], None]) -> None:
        self._loop = loop
        self._output = output
        self.job: Job[Any] | None = None
        self.error: BaseException | None = None

    def __call__(self, stream: str, chunk: bytes) -> None:
        """Be told of output, in trio's thread."""
        self._loop.call_soon_threadsafe(self._tell, stream, chunk)

    def _tell(self, stream: str, chunk: bytes) -> None:
        if self.error is None:
            try:
                self._output(stream, chunk)
            except Exception as error:  # noqa: BLE001  raised by whoever waits for the call
                self.error = error
                assert self.job is not None
                self.job.cancel()


@asynccontextmanager
async def open_workspace(
    path: Path | str | Workspace,
    *,
    tools: Iterable[Tool] = (),
    limits: Limits | None = None,
    screens: Sequence[Screen] = (),
    router: AsyncioRouter | None = None,
) -> AsyncIterator[AsyncioWorkspace]:
    """Open a workspace for as long as the block lasts; at its end, what still runs is stopped.

    Async functions under `@tool` run as tasks of this event loop, and so does the router; sync ones run in
    worker threads as ever, and screens in trio's thread. Args and errors else are those of
    `litany_engine.api.open_workspace`.
    """
    loop = asyncio.get_running_loop()
    opened: asyncio.Future[Served | BaseException] = loop.create_future()
    ended: asyncio.Future[None] = loop.create_future()

    @asynccontextmanager
    async def routed() -> AsyncIterator[OpenWorkspace]:
        async def route(call: ToolCall, context: Context) -> Capture:
            assert router is not None
            try:
                capture: Capture | None = await in_own_loop(partial(router, call, tool_context(context)))
            except LeftBehindError:
                return LEFT_BEHIND
            return await ws.perform(call, context) if capture is None else capture

        async with open_workspace_in_trio(
            path, tools=tools, limits=limits, screens=screens, router=None if router is None else route
        ) as ws:
            yield ws

    def tell(first: Served | BaseException) -> None:
        loop.call_soon_threadsafe(_set, opened, first)

    def tell_end() -> None:
        loop.call_soon_threadsafe(_set, ended)

    thread = serve(routed, tell, tell_end, loop)
    served: Served | None = None
    try:
        await _whatever_comes(opened)
        first = opened.result()
        if isinstance(first, BaseException):
            raise first
        served = first
        yield AsyncioWorkspace(served)
    finally:
        if served is None and opened.done() and isinstance(came := opened.result(), Served):
            served = came  # it was opened for a task that was cancelled meanwhile
        if served is not None:
            served.leave()
        try:
            await _whatever_comes(ended)
        finally:
            thread.join()


async def _whatever_comes(future: asyncio.Future[Any], cancel: Callable[[], None] = lambda: None) -> None:
    """Wait for a future to its end, and only then raise what cancelled the wait.

    Args:
        future: what to wait for.
        cancel: ends what it stands for; done for the first cancellation.
    """
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            if cancelled is None:
                cancel()
            cancelled = error
    if cancelled is not None:
        raise cancelled


def _set(future: asyncio.Future[Any], value: Any = None) -> None:
    if not future.done():
        future.set_result(value)
