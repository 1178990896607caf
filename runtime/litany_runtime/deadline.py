"""A deadline whose clock can be stopped while a program waits for something that is not its own time.

A deadline is a moment, and scopes know only moments. While the clock stands, the moment is infinitely far;
when it goes on, what was left is left. Whoever stops it bounds the stop.
"""

from __future__ import annotations

import math

import trio


class Deadline:
    """A deadline on trio's clock, and the scopes that it ends.

    Args:
        at: the moment; `math.inf` for none.
    """

    __slots__ = ("_at", "_left", "_scopes", "_stops")

    def __init__(self, at: float = math.inf) -> None:
        self._at = at
        self._left = 0.0
        self._stops = 0
        self._scopes: list[trio.CancelScope] = []

    @property
    def at(self) -> float:
        """The moment as things stand: infinitely far while the clock stands."""
        return math.inf if self._stops else self._at

    def bind(self, scope: trio.CancelScope) -> None:
        """Have a scope end at the deadline, wherever that is moved."""
        self._scopes.append(scope)
        if scope.deadline != self.at:
            scope.deadline = self.at

    def no_later_than(self, at: float) -> None:
        """Bring the deadline forward, if that is earlier."""
        if self._stops:
            self._left = min(self._left, at - trio.current_time())
        elif at < self._at:
            self._at = at
            self._tell()

    def pause(self) -> None:
        """Stop the clock; each stop needs its own `resume`."""
        if not self._stops:
            self._left = self._at - trio.current_time()
        self._stops += 1
        self._tell()

    def resume(self) -> None:
        """Let the clock go on, once every stop has been taken back."""
        self._stops -= 1
        if not self._stops:
            self._at = trio.current_time() + self._left
            self._tell()

    def _tell(self) -> None:
        for scope in self._scopes:
            scope.deadline = self.at
