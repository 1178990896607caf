"""What Ctrl-C does to a host of one's own: a stop, like any other.

trio throws `KeyboardInterrupt` into the main task, at whatever it waits for, shielded or not. There it would
tear a call in two: its program would be ended without what it had printed, its window left without answers.
So what must be ended in order is done in a task of its own, which an interrupt cancels; and a cancellation is
what everything here knows how to answer.

That is where trio throws it while the process is idle. While it is busy, trio raises it wherever the code is:
in a task that answers a program's call, in one that reads its output. So as long as there is work that an
interrupt would tear, it is kept until the main task waits.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import trio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

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
    with _keeper.kept():
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(do)
                with trio.CancelScope(shield=True):  # cancelled with the caller; its end is waited for
                    while not ended.is_set():
                        try:
                            await ended.wait()
                        except KeyboardInterrupt as error:  # a second one finds it being ended already
                            interrupt = error
                            nursery.cancel_scope.cancel()
        except* KeyboardInterrupt:  # it came when the work had ended
            interrupt = interrupt or KeyboardInterrupt()
    if interrupt is not None:
        raise interrupt
    if errors:
        raise errors[0]
    if not values:
        await trio.lowlevel.checkpoint_if_cancelled()
    return values[0]


class _Keeper:
    """Has trio's handler of SIGINT take every interrupt for one that hit protected code.

    Only that of trio: a host with a handler of its own has its own idea of what an interrupt is.
    """

    def __init__(self) -> None:
        self._uses = 0
        self._trios: Any = None

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep interrupts for the main task; in several tasks at once, and in any order of their ends."""
        if threading.current_thread() is not threading.main_thread():
            yield  # no interrupt is raised here
            return
        if not self._uses:
            found: Any = signal.getsignal(signal.SIGINT)
            if getattr(found, "__module__", None) != _TRIOS_HANDLER:
                yield
                return
            self._trios = found
            signal.signal(signal.SIGINT, self._arrive)
        self._uses += 1
        try:
            yield
        finally:
            self._uses -= 1
            if not self._uses and signal.getsignal(signal.SIGINT) == self._arrive:
                signal.signal(signal.SIGINT, self._trios)

    def _arrive(self, number: int, _frame: object) -> None:
        self._trios(number, None)  # without a frame there is nothing that it could be raised in


_TRIOS_HANDLER = "trio._core._ki"
"""The module that trio's handler is defined in."""

_keeper = _Keeper()
