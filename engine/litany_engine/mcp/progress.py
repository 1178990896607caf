"""Progress of a call, as a client is told of it: the latest report wins, and none holds up the call.

MCP wants a number that grows with each notification. A tool that gives a fraction gives that number; between
two fractions, and without one, a report is the least step further.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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
        call_id: the call's id, once it has one.
        message: the last report's text; None once it has been told.
        value: what was told last, or is to be told now.
        total: 1 once the tool has given a fraction.
    """

    call_id: str = ""
    message: str | None = None
    value: float = 0.0
    total: float | None = None
    _more: trio.Event = field(default_factory=trio.Event)

    def report(self, message: str, fraction: float | None) -> None:
        """Take in a report."""
        self.message = message
        self.value += STEP
        if fraction is not None:
            self.total = 1.0
            self.value = max(self.value, fraction)
        self._more.set()

    async def tell(self, tell: Callable[[float, float | None, str | None], Awaitable[None]]) -> None:
        """Tell what there is to tell, once."""
        if self.message is not None:
            message, self.message = self.message, None
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
                request.call_id = request.call_id or event.call.id
        elif isinstance(event, CallEnd):
            self._requests.pop(event.call.id, None)
        elif (request := self._requests.get(event.call.id)) is not None:
            if isinstance(event, CallReport):
                own = event.call.id == request.call_id
                fraction = event.fraction if own else None  # that of an inner call is of something else
                if threading.get_ident() == self._thread:
                    request.report(event.message, fraction)
                else:  # a sync tool reports from its worker thread
                    self._token.run_sync_soon(request.report, event.message, fraction)
            elif isinstance(event, CallHeld):
                request.report(f"waits for the operator's answer: {event.reason}", None)
