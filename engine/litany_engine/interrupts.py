"""What Ctrl-C does to a host of one's own: a stop, like any other.

trio throws `KeyboardInterrupt` into the main task, at whatever it waits for, shielded or not. There it would
tear a call in two: its program would be ended without what it had printed, its window left without answers.
So what must be ended in order is done in a task of its own, which an interrupt cancels; and a cancellation is
what everything here knows how to answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import trio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")


async def uninterrupted(work: Callable[[], Awaitable[T]]) -> T:
    """Do some work so that an interrupt cancels it, and is raised once it has ended.

    Args:
        work: what is to be done; cancelled also when the caller is.

    Returns:
        What it gave, also when it gave that in answer to its cancellation.

    Raises:
        KeyboardInterrupt: it was interrupted, and has ended.
    """
    values: list[T] = []
    errors: list[Exception] = []
    ended = trio.Event()

    @trio.lowlevel.enable_ki_protection
    async def do() -> None:
        try:
            values.append(await work())
        except Exception as error:  # noqa: BLE001  raised below, outside the nursery that would wrap it
            errors.append(error)
        except trio.Cancelled:
            pass  # raised below, by the wait; or it was an interrupt, which says more
        finally:
            ended.set()

    interrupt: KeyboardInterrupt | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(do)
        with trio.CancelScope(shield=True):  # the work is cancelled with the caller; its end is waited for
            while not ended.is_set():
                try:
                    await ended.wait()
                except KeyboardInterrupt as error:  # a second one finds it being ended already
                    interrupt = error
                    nursery.cancel_scope.cancel()
    if interrupt is not None:
        raise interrupt
    if errors:
        raise errors[0]
    if not values:
        await trio.lowlevel.checkpoint_if_cancelled()
    return values[0]
