"""Running a function of the host so that its call ends in bounded time, whatever the function does.

A thread cannot be ended, and an async function may shield itself from its cancellation. Neither may hold up
stop. So both run beside their call: it asks them to end, waits as long as a grace is for one that can hear
it, and then leaves without it. What comes later reaches nobody.

Under a host of asyncio its async functions are asyncio's: they run as tasks of its event loop.
"""

from __future__ import annotations

import contextlib
import contextvars
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import trio

from litany_engine.door.calls import Capture
from litany_runtime.outcome import EXIT_CODES, Outcome

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

GRACE_S = 2.0
"""Seconds that a function has to end once it is asked to: as long as a tool's process has."""

LEFT_BEHIND = Capture(
    stderr=b"[the function was still running when its call was ended; it was left behind, what it returns is "
    b"thrown away, and what it does stands]\n",
    exit_code=EXIT_CODES[Outcome.STOPPED],
)
"""What there is to say of a call whose function was left behind; the door knows what ended it."""


host_loop: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar("host_loop", default=None)
"""The event loop of a host under asyncio, where its async functions run; None where trio runs them."""


class LeftBehindError(Exception):
    """The call was cancelled, and its function is running still."""


async def in_thread(function: Callable[[], Any], ask: Callable[[], None] | None = None) -> Any:
    """Call a sync function in a worker thread.

    Args:
        function: what to call.
        ask: asks it to end; None for one that has no ear for it, and is not waited for.

    Returns:
        What it returned, also when it was asked to end.

    Raises:
        LeftBehindError: we were cancelled, and it has not ended.
        trio.Cancelled: we were cancelled before it began.
    """

    async def work() -> Any:
        # A limiter for each call: an abandoned thread keeps its place in a shared one for as long as it runs,
        # and a few dozen would stop every sync tool. How many calls run at once is the door's to say.
        return await trio.to_thread.run_sync(
            function, abandon_on_cancel=True, limiter=trio.CapacityLimiter(1)
        )

    await trio.lowlevel.checkpoint_if_cancelled()
    if ask is not None:
        return await in_task(work, ask)
    try:
        return await work()
    except trio.Cancelled:
        raise LeftBehindError from None


async def in_task(function: Callable[[], Awaitable[Any]], ask: Callable[[], None] | None = None) -> Any:
    """Call an async function in a task of its own, which is asked to end when we are cancelled.

    Args:
        function: what to call.
        ask: how it is asked; None for its cancellation.

    Returns:
        What it returned, also when it was asked to end.

    Raises:
        LeftBehindError: it has not ended within the grace.
        trio.Cancelled: we were cancelled, and it has ended or had not begun.
    """
    scope = trio.CancelScope()
    beside = _Beside()

    async def do() -> None:
        try:
            with scope:
                beside.values.append(await function())
        except BaseException as error:  # noqa: BLE001  whatever it raises is its call's, not the event loop's
            beside.errors.append(error)
        finally:
            beside.ended.set()

    await trio.lowlevel.checkpoint_if_cancelled()
    trio.lowlevel.spawn_system_task(do, context=contextvars.copy_context())
    return await beside.outcome(ask or scope.cancel, scope.cancel)


def in_own_loop(function: Callable[[], Awaitable[Any]]) -> Awaitable[Any]:
    """Call an async function where those of this host run: under trio, or in the event loop of asyncio.

    Returns, raises: as `in_task`.
    """
    loop = host_loop.get()
    return in_task(function) if loop is None else _in_asyncio(loop, function)


async def _in_asyncio(loop: asyncio.AbstractEventLoop, function: Callable[[], Awaitable[Any]]) -> Any:
    beside = _Beside()
    trio_token = trio.lowlevel.current_trio_token()
    tasks: list[asyncio.Task[Any]] = []
    given_up = False

    async def do() -> Any:
        return await function()

    def begin() -> None:
        if given_up:
            end()
            return
        tasks.append(loop.create_task(do()))
        tasks[0].add_done_callback(note)

    def note(task: asyncio.Task[Any]) -> None:
        if not task.cancelled():
            error = task.exception()
            if error is None:
                beside.values.append(task.result())
            else:
                beside.errors.append(error)
        elif not given_up:
            beside.errors.append(RuntimeError("its task was cancelled, and not by the end of its call"))
        end()

    def end() -> None:
        with contextlib.suppress(trio.RunFinishedError):  # it was left behind
            trio_token.run_sync_soon(beside.ended.set)

    def cancel() -> None:
        nonlocal given_up
        given_up = True
        with contextlib.suppress(RuntimeError):  # the loop is closed, and its tasks with it
            loop.call_soon_threadsafe(lambda: [each.cancel() for each in tasks])

    await trio.lowlevel.checkpoint_if_cancelled()
    loop.call_soon_threadsafe(begin)
    return await beside.outcome(cancel, cancel)


class _Beside:
    """What runs beside its call: what it gives, and whether it has ended."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.errors: list[BaseException] = []
        self.ended = trio.Event()

    async def outcome(self, ask: Callable[[], None], cancel: Callable[[], None]) -> Any:
        """Wait for its end; when we are cancelled, ask it to end, and after a grace leave it behind."""
        try:
            await self.ended.wait()
        except trio.Cancelled:
            ask()
            with trio.CancelScope(shield=True), trio.move_on_after(GRACE_S):
                await self.ended.wait()
            if not self.ended.is_set():
                cancel()
                raise LeftBehindError from None
            if not self.values and not self.errors:
                raise
        if self.errors:
            raise self.errors[0]
        return self.values[0]
