"""Progress of a call, as a client is told of it: the latest report wins, and none holds up the call.

What a tool says is what the client is told: how far, of how much, and the words. When a program makes several
calls that report, their amounts are added up, since MCP wants a number that grows with each notification; a
report that would not make it grow is the least step further.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import trio

from litany_engine.door.calls import CallEnd
from litany_engine.door.events import CallHeld, CallReport, CallStarted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from litany_engine.door.events import Event

STEP = 0.0001


@dataclass(eq=False)
class Progress:
    """What there is to tell of one call.

    Attributes:
        message: the last report's text; None once it has been told.
        value: what is to be told now.
        total: of how much that is; None when a call that reports cannot tell.
    """

    message: str | None = None
    value: float = 0.0
    total: float | None = None
    _said: dict[str, tuple[float, float | None]] = field(default_factory=dict)
    _ended: tuple[float, float | None] = (0.0, 0.0)
    _told: float = -STEP
    _more: trio.Event = field(default_factory=trio.Event)

    def report(self, call_id: str, message: str, progress: float | None, total: float | None) -> None:
        """Take in what a call says of itself."""
        self.message = message
        if progress is not None:
            self._said[call_id] = (progress, total)
        amounts = [self._ended, *self._said.values()]
        self.value = max(sum(done for done, _ in amounts), self._told + STEP)
        totals = [whole for _, whole in amounts if whole is not None]
        whole = sum(totals)
        self.total = whole if len(totals) == len(amounts) and whole > 0 else None
        self._more.set()

    def ended(self, call_id: str) -> None:
        """A call has ended: what it said last stays said."""
        done, whole = self._said.pop(call_id, (0.0, 0.0))
        before, before_whole = self._ended
        both = None if whole is None or before_whole is None else before_whole + whole
        self._ended = (before + done, both)

    async def tell(self, tell: Callable[[float, float | None, str | None], Awaitable[None]]) -> None:
        """Tell what there is to tell, once."""
        if self.message is not None:
            message, self.message = self.message, None
            self._told = self.value
            await tell(self.value, self.total, message or None)

    async def keep_telling(self, tell: Callable[[float, float | None, str | None], Awaitable[None]]) -> None:
        """Tell each report as it comes, until cancelled."""
        while True:
            await self._more.wait()
            self._more = trio.Event()
            await self.tell(tell)


asking: ContextVar[Progress | None] = ContextVar("litany_mcp_progress", default=None)
"""The request in whose task a call is made: how a call is known by its request before it has an id."""


class Reports:
    """A watcher of the door that hands the reports of calls to the requests that made them.

    Made in trio's thread.
    """

    def __init__(self) -> None:
        self._requests: dict[str, Progress] = {}
        self._thread = threading.get_ident()
        self._token = trio.lowlevel.current_trio_token()

    def see(self, event: Event) -> None:
        """Take in one event. What inner calls report is progress of the call that made them."""
        if isinstance(event, CallStarted):
            request = asking.get() if event.parent is None else self._requests.get(event.parent)
            if request is not None:
                self._requests[event.call.id] = request
        elif isinstance(event, CallEnd):
            if (request := self._requests.pop(event.call.id, None)) is not None:
                self._later(request.ended, event.call.id)
        elif (request := self._requests.get(event.call.id)) is not None:
            if isinstance(event, CallReport):
                report = (event.call.id, event.message, event.progress, event.total)
                self._later(request.report, *report)
            elif isinstance(event, CallHeld):
                words = f"waits for the operator's answer: {event.reason}"
                self._later(request.report, event.call.id, words, None, None)

    def _later(self, do: Callable[..., None], *arguments: Any) -> None:
        """Do it in trio's thread: a sync tool reports from its worker thread."""
        if threading.get_ident() == self._thread:
            do(*arguments)
        else:
            self._token.run_sync_soon(do, *arguments)
