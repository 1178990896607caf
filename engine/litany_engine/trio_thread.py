"""An opened workspace in a thread of its own that runs trio, for hosts that do not.

What other threads want done there are jobs: each is a task with a scope, and gives its answer to a future.
"""

from __future__ import annotations

import contextvars
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Generic, TypeVar

import trio

from litany_engine.tools.in_process import host_loop

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractAsyncContextManager

    from litany_engine.api import OpenWorkspace

T = TypeVar("T")


class Job(Generic[T]):
    """Something that trio's thread does for another one.

    Attributes:
        answer: what it gave or raised; a `RuntimeError` when it was cancelled and gave nothing.
    """

    def __init__(self, served: Served, work: Callable[[], Awaitable[T]]) -> None:
        self.answer: Future[T] = Future()
        self._served = served
        self._scope = trio.CancelScope()
        self._work = work

    def cancel(self) -> None:
        """End it as trio ends things; its answer says when it has ended."""
        self._served.call(self._scope.cancel)

    async def do(self) -> None:
        """Be its task."""
        with self._scope:
            try:
                self.answer.set_result(await self._work())
            except Exception as error:  # noqa: BLE001  it belongs to the thread that waits
                self.answer.set_exception(error)
            except BaseException:
                why = "the workspace was closed, or the wait for this call given up"
                self.answer.set_exception(RuntimeError(why))
                raise


class Served:
    """An opened workspace, as another thread than trio's sees it.

    Attributes:
        opened: the workspace; only for use in trio's thread.
    """

    def __init__(self, opened: OpenWorkspace, jobs: trio.Nursery, leave: trio.Event) -> None:
        self.opened = opened
        self._jobs = jobs
        self._leave = leave
        self._token = trio.lowlevel.current_trio_token()

    def begin(self, work: Callable[[], Awaitable[T]]) -> Job[T]:
        """Begin a job.

        Raises:
            RuntimeError: the workspace is closed.
        """
        job = Job(self, work)
        self.call(lambda: self._jobs.start_soon(job.do))
        return job

    def call(self, do: Callable[[], object]) -> None:
        """Have something done in trio's thread, after what was asked for before; not waited for.

        Raises:
            RuntimeError: the workspace is closed.
        """
        try:
            self._token.run_sync_soon(do)
        except trio.RunFinishedError:
            raise RuntimeError("the workspace is closed: make calls inside its `with` block") from None

    def leave(self) -> None:
        """Close the workspace; what still runs is stopped."""
        self.call(self._leave.set)


def serve(
    workspace: Callable[[], AbstractAsyncContextManager[OpenWorkspace]],
    opened: Callable[[Served | BaseException], None],
    ended: Callable[[], None] = lambda: None,
    loop: asyncio.AbstractEventLoop | None = None,
) -> threading.Thread:
    """Open a workspace in a thread that runs trio, and keep it open until it is left.

    Args:
        workspace: opens it; called in that thread.
        opened: told, in that thread, what was opened, or why it was not.
        ended: told at the thread's end.
        loop: where the host's async functions run; None for that thread itself, under trio.
    """

    async def keep() -> None:
        leave = trio.Event()
        async with workspace() as ws, trio.open_nursery() as jobs:
            opened(Served(ws, jobs, leave))
            await leave.wait()
            jobs.cancel_scope.cancel()

    def run() -> None:
        host_loop.set(loop)  # whatever the opener's is: it may be a tool of another host
        try:
            trio.run(keep)
        except BaseException as error:  # noqa: BLE001  handed to the thread that opens
            opened(error)
        finally:
            ended()

    context = contextvars.copy_context()  # what tasks find in their context variables is the opener's
    thread = threading.Thread(target=lambda: context.run(run), name="litany", daemon=True)
    thread.start()
    return thread
