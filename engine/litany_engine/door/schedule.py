"""In which order the inner calls of one call run, and how many at once.

Calls take their place as they come out of the gates. Those whose tools bear company run at once, as many as
there are slots; of the others one runs at a time, in their order; the two groups run side by side. A
barrier waits for everything before it, and everything after it waits for its end, whatever that is.

Slots belong to an agent, so that three programs of one agent together run no more calls than one may. Calls
made by an inner call have slots of their own: they would else wait for the slot that their caller holds.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import trio


@dataclass(slots=True)
class Slots:
    """Calls that may run at once.

    Attributes:
        limit: how many.
        used: how many do.
        waiting: schedules that have somebody waiting for a slot.
    """

    limit: int
    used: int = 0
    waiting: dict[Schedule, None] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Turn:
    """A call's place."""

    safe: bool
    barrier: bool
    may_go: trio.Event | None = None


class Schedule:
    """The order of the inner calls of one call.

    Args:
        slots: what they run in.
    """

    __slots__ = ("_barred", "_queue", "_running", "_serial", "_slots")

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._queue: deque[Turn] = deque()
        self._running = 0
        self._serial = False
        self._barred = False

    async def enter(self, *, safe: bool, barrier: bool) -> Turn:
        """Take a place and wait for the turn; `leave` must follow, and does nothing for one that never came.

        Raises:
            trio.Cancelled: the call was cancelled while it waited; its place is given up.
        """
        turn = Turn(safe, barrier)
        if not self._queue and self._may_go(turn):
            self._go(turn)
            return turn
        turn.may_go = trio.Event()
        self._queue.append(turn)
        self._slots.waiting[self] = None
        try:
            await turn.may_go.wait()
        except BaseException:
            if turn.may_go.is_set():
                self.leave(turn)
            else:
                self._queue.remove(turn)
                self._let_go_on()
            raise
        return turn

    def leave(self, turn: Turn) -> None:
        """Give a place back."""
        self._running -= 1
        self._slots.used -= 1
        if turn.barrier:
            self._barred = False
        elif not turn.safe:
            self._serial = False
        self._let_go_on()
        for each in tuple(self._slots.waiting):
            each._let_go_on()  # noqa: SLF001 - one idea, several schedules over the same slots

    def _may_go(self, turn: Turn) -> bool:
        if self._barred or self._slots.used >= self._slots.limit:
            return False
        if turn.barrier:
            return not self._running
        return turn.safe or not self._serial

    def _go(self, turn: Turn) -> None:
        self._running += 1
        self._slots.used += 1
        if turn.barrier:
            self._barred = True
        elif not turn.safe:
            self._serial = True
        if turn.may_go is not None:
            turn.may_go.set()

    def _let_go_on(self) -> None:
        """Start whoever may go, up to the first barrier that may not."""
        if not self._queue:
            self._slots.waiting.pop(self, None)
            return
        left: deque[Turn] = deque()
        serial_waits = barrier_waits = False
        for turn in self._queue:
            blocked = barrier_waits or (turn.barrier and left) or (not turn.safe and serial_waits)
            if not blocked and self._may_go(turn):
                self._go(turn)
                continue
            left.append(turn)
            barrier_waits = barrier_waits or turn.barrier
            serial_waits = serial_waits or not turn.safe
        self._queue = left
        if not left:
            self._slots.waiting.pop(self, None)
