"""A recorded program again, with its recorded answers and without its tools.

The calls of the new run are matched with those of the record by name and input. Calls that ran side by side
may come in another order than they did, so the order of two different calls is not held against a program;
of equal calls, the first recorded is answered first. The first call that the record does not hold is the
divergence, and no call after it is answered: what the program would do with an invented answer says nothing.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litany_stubs.constraints import show
from litany_stubs.words import JSON, DoorError, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """One inner call of a record.

    Attributes:
        name: the tool that was called.
        input: with what.
        reply: what came back.
    """

    name: str
    input: JSON
    reply: Reply


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where a run left its record.

    Attributes:
        number: the call's number in this run, from 1.
        asked: what the run asked for, `(name, input)`, or None when it ended with recorded calls unmade.
        expected: the first recorded call that was not made, or None when all were.
    """

    number: int
    asked: tuple[str, JSON] | None
    expected: AnsweredCall | None

    def __str__(self) -> str:
        """Say it in a sentence."""
        if self.asked is None:
            assert self.expected is not None
            missing = _call(self.expected.name, self.expected.input)
            return f"the program ended without call {self.number}: {missing}"
        said = f"call {self.number} differs: the program asked for {_call(*self.asked)}"
        if self.expected is None:
            return f"{said}; the record holds no further call"
        there = f"{said}; the record holds {_call(self.expected.name, self.expected.input)}"
        if self.expected.name != self.asked[0]:
            return there
        return f"{there}; they differ at {difference(self.expected.input, self.asked[1], 'input')}"


class ReplayDoor:
    """A door that answers from a record.

    Attributes:
        divergence: the first call that differs, or None so far.
    """

    def __init__(self, calls: Sequence[AnsweredCall]) -> None:
        """Take the record's calls, in the order of their ids."""
        self.divergence: Divergence | None = None
        self._left = list(calls)
        self._made = 0
        self._lock = threading.Lock()

    def call(self, name: str, arguments: Mapping[str, JSON]) -> Reply:
        """Answer as the record does.

        Raises:
            DoorError: the record holds no such call, or the run had left it before.
        """
        with self._lock:
            self._made += 1
            if self.divergence is None:
                asked = dict(arguments)
                for index, each in enumerate(self._left):
                    if each.name == name and same(each.input, asked):
                        del self._left[index]
                        return each.reply
                self.divergence = Divergence(self._made, (name, asked), self._left[0] if self._left else None)
            raise DoorError(f"replay: {self.divergence}")

    async def call_async(self, name: str, arguments: Mapping[str, JSON]) -> Reply:
        """Answer as the record does.

        Raises:
            DoorError: as `call`.
        """
        return self.call(name, arguments)

    def finish(self) -> Divergence | None:
        """Return the divergence of a run that has ended; recorded calls that it did not make are one too."""
        with self._lock:
            if self.divergence is None and self._left:
                self.divergence = Divergence(self._made + 1, None, self._left[0])
            return self.divergence


def same(one: JSON, two: JSON) -> bool:
    """Whether two JSON values are one: `true` is not 1, and 1 is 1.0."""
    return difference(one, two, "") is None


def difference(one: JSON, two: JSON, place: str) -> str | None:
    """Return the first place where two JSON values differ and what stands there, or None."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in dict.fromkeys((*one, *two)):
            if key not in two:
                return f"{place}.{key}, which is gone"
            if key not in one:
                return f"{place}.{key}, which is new"
            found = difference(one[key], two[key], f"{place}.{key}")
            if found:
                return found
        return None
    if isinstance(one, list) and isinstance(two, list):
        for index, (left, right) in enumerate(zip(one, two, strict=False)):
            found = difference(left, right, f"{place}[{index}]")
            if found:
                return found
        return None if len(one) == len(two) else f"{place}, {len(one)} items recorded and {len(two)} asked"
    if isinstance(one, bool) == isinstance(two, bool) and one == two:
        return None
    return f"{place}: {show(one)} recorded, {show(two)} asked"


def _call(name: str, arguments: JSON) -> str:
    return f"{name}({show(arguments)})"
