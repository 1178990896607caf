"""Running a function of the host so that its call ends in bounded time, whatever the function does.

A thread cannot be ended, and an async function may shield itself from its cancellation. Neither may hold up
stop. So both run beside their call: it asks them to end, waits as long as a grace is for one that can hear
it, and then leaves without it. What comes later reaches nobody.
"""

from __future__ import annotations

import contextvars
from typing import TYPE_CHECKING, Any

import trio

from litany_engine.door.calls import Capture
from litany_runtime.outcome import EXIT_CODES, Outcome

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

GRACE_S = 2.0
"""Seconds that a function has to end once it is asked to: as long as a tool's process has."""

LEFT_BEHIND = Capture(
    stderr=b"[the function was still running when its call was ended; it was left behind, what it returns is "
    b"thrown away, and what it does stands]\n",
    exit_code=EXIT_CODES[Outcome.STOPPED],
)
"""What there is to say of a call whose function was left behind; the door knows what ended it."""


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
    await trio.lowlevel.checkpoint_if_cancelled()
    values: list[Any] = []
    errors: list[BaseException] = []
    ended = trio.Event()
    scope = trio.CancelScope()

    async def do() -> None:
        try:
            with scope:
                values.append(await function())
        except BaseException as error:  # noqa: BLE001  whatever it raises is its call's, not the event loop's
            errors.append(error)
        finally:
            ended.set()

    trio.lowlevel.spawn_system_task(do, context=contextvars.copy_context())
    try:
        await ended.wait()
    except trio.Cancelled:
        (ask or scope.cancel)()
        with trio.CancelScope(shield=True), trio.move_on_after(GRACE_S):
            await ended.wait()
        if not ended.is_set():
            scope.cancel()
            raise LeftBehindError from None
        if not values and not errors:
            raise
    if errors:
        raise errors[0]
    return values[0]
