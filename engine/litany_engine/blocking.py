"""The Python interface for hosts that do not run trio: the same calls, each waiting for its answer.

    from litany_engine.blocking import open_workspace

    with open_workspace("work", tools=[weather]) as ws:
        end = ws.python("print('hello')", deadline="30s")

One thread runs trio for as long as the block lasts; calls may come from any other thread, several at once.
Hosts under asyncio have a form of their own (`asyncio_host.py`).
"""

from __future__ import annotations

import queue
from collections.abc import Callable
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, TypeVar

from litany_engine.api import open_workspace as open_workspace_in_trio
from litany_engine.api import python_input
from litany_engine.tools.function_tool import in_thread, tool_context
from litany_engine.tools.in_process import LEFT_BEHIND, LeftBehindError
from litany_engine.tools.python_act import PYTHON
from litany_engine.trio_thread import Served, serve
from litany_runtime.outcome import STOP_RAISED

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator, Sequence
    from pathlib import Path

    from litany_engine.api import OpenWorkspace
    from litany_engine.door.calls import CallEnd, Capture, Context, Tool, ToolCall
    from litany_engine.door.events import Event
    from litany_engine.door.screens import Screen
    from litany_engine.tools.function_tool import ToolContext
    from litany_engine.tools.toolset import Toolset
    from litany_engine.windows.driver import Advance
    from litany_engine.windows.window import Answers
    from litany_engine.workspaces.workspace import Workspace
    from litany_runtime.limits import Limits
    from litany_stubs.words import JSON

T = TypeVar("T")

Router = Callable[["ToolCall", "ToolContext"], "Capture | None"]
"""Answers a call in the place of its tool; None leaves it to the tool. It is called in a worker thread, so
whoever waits there looks at `context.stopped()`."""


class BlockingWorkspace:
    """An opened workspace whose calls block; made by `open_workspace`."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._opened = served.opened

    @property
    def workspace(self) -> Workspace:
        """What is on disk."""
        return self._opened.workspace

    def python(
        self,
        program: str,
        *,
        agent: str | None = None,
        deadline: float | str | None = None,
        on_output: Callable[[str, bytes], None] | None = None,
    ) -> CallEnd:
        """Run a program as an agent; see `OpenWorkspace.python`. `on_output` is called in trio's thread."""
        return self._wait(
            lambda: self._opened.invoke_end(
                PYTHON, python_input(program, deadline), agent=agent, on_output=on_output
            )
        )

    def invoke(
        self,
        name: str,
        arguments: JSON,
        *,
        agent: str | None = None,
        deadline: float | str | None = None,
        on_output: Callable[[str, bytes], None] | None = None,
        call_id: str | None = None,
    ) -> CallEnd:
        """Make one call as an agent; see `OpenWorkspace.invoke`. `on_output` is called in trio's thread."""
        return self._wait(
            lambda: self._opened.invoke_end(
                name, arguments, agent=agent, deadline=deadline, on_output=on_output, call_id=call_id
            )
        )

    def window(self, agent: str | None, content: JSON, *, model: str = "model") -> Answers:
        """Answer the calls of a model's reply; see `OpenWorkspace.window`."""
        return self._wait(lambda: self._opened.window(agent, content, model=model))

    def advance(self, agent: str | None = None) -> Advance:
        """Settle what a dead host left and go on; see `OpenWorkspace.advance`."""
        return self._wait(lambda: self._opened.advance(agent))

    def say(self, text: str, *, agent: str | None = None, sender: str = "user") -> None:
        """Leave a message for an agent; see `OpenWorkspace.say`."""
        self._wait(lambda: self._opened.say(text, agent=agent, sender=sender))

    def messages(self, agent: str | None = None) -> list[dict[str, JSON]]:
        """What was said so far, as a provider is sent it; see `OpenWorkspace.messages`."""
        return self._wait(lambda: self._opened.messages(agent))

    def offered(self, agent: str | None = None) -> list[dict[str, JSON]]:
        """What an agent's model is offered at this moment; see `OpenWorkspace.offered`."""

        async def look() -> list[dict[str, JSON]]:
            return self._opened.offered(agent)

        return self._wait(look)

    def connect(self, agent: str | None = None) -> None:
        """Start the MCP servers that an agent may call; see `OpenWorkspace.connect`."""
        self._wait(lambda: self._opened.connect(agent))

    def toolset(self, agent: str | None = None) -> Toolset:
        """What the door permits an agent at this moment: what its model is offered is made of it."""

        async def look() -> Toolset:
            return self._opened.toolset(agent)

        return self._wait(look)

    def stop(self, selector: str | None = None, *, reason: str = STOP_RAISED) -> tuple[str, ...]:
        """Stop what runs, from any thread; see `OpenWorkspace.stop`."""
        return self._wait(lambda: self._opened.stop(selector, reason=reason))

    def watch(self, watcher: Callable[[Event], None]) -> Callable[[], None]:
        """Tell `watcher` of every call, in trio's thread, where it must not wait; returns what ends it."""

        async def begin() -> Callable[[], None]:
            return self._opened.watch(watcher)

        leave = self._wait(begin)
        return lambda: self._served.call(leave)

    def _wait(self, work: Callable[[], Awaitable[T]]) -> T:
        job = self._served.begin(work)
        try:
            return job.answer.result()
        except KeyboardInterrupt:
            # The waiting thread is asked to leave: what it waits for is stopped, and its end is recorded.
            job.cancel()
            job.answer.exception()
            raise


@contextmanager
def open_workspace(
    path: Path | str | Workspace,
    *,
    tools: Iterable[Tool] = (),
    limits: Limits | None = None,
    screens: Sequence[Screen] = (),
    router: Router | None = None,
) -> Iterator[BlockingWorkspace]:
    """Open a workspace for as long as the block lasts; at its end, what still runs is stopped.

    Args and errors are those of `litany_engine.api.open_workspace`, but for the router, which is a function
    that need not be async.
    """
    opened: queue.SimpleQueue[Served | BaseException] = queue.SimpleQueue()

    @asynccontextmanager
    async def routed() -> AsyncIterator[OpenWorkspace]:
        async def route(call: ToolCall, context: Context) -> Capture:
            assert router is not None
            answer = router
            own = tool_context(context)
            try:
                capture: Capture | None = await in_thread(lambda: answer(call, own), own, heeds=True)
            except LeftBehindError:
                return LEFT_BEHIND
            return await ws.perform(call, context) if capture is None else capture

        async with open_workspace_in_trio(
            path, tools=tools, limits=limits, screens=screens, router=None if router is None else route
        ) as ws:
            yield ws

    thread = serve(routed, opened.put)
    first = opened.get()
    if isinstance(first, BaseException):
        thread.join()
        raise first
    try:
        yield BlockingWorkspace(first)
    finally:
        first.leave()
        thread.join()
