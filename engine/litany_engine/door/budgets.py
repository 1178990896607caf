"""Budgets: what was used is written down before the call runs, and is never given back.

What an agent, a tree of agents and a program used is in a ledger each (`ledger.py`). Those of a call are
locked together while it is decided whether each has enough left, so processes of one workspace cannot both
take the last call. A kill between the line and the call leaves a call that is paid for and did not run; the
reverse cannot be.

A call that a gate refuses is not paid for: the budget is the last gate. How many calls are in flight is a
fact of living processes: `pending.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from litany_engine.door.ledger import Ledger
from litany_engine.door.pending import Pending
from litany_stubs.words import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from litany_engine.door.budget_limits import Budgets
    from litany_engine.door.callers import Caller
    from litany_engine.door.calls import ToolCall

FOLDER = "budgets"
"""Under the workspace's root."""

_UNIT = {"calls": "calls", "bytes_in": "bytes of input", "bytes_out": "bytes of results"}


@dataclass(frozen=True, slots=True)
class Account:
    """A program's, an agent's or a tree's use.

    Attributes:
        scope: which of the three.
        whose: its id.
        ledger: what was used in all.
        pending: what is in flight now.
    """

    scope: str
    whose: str
    ledger: Ledger
    pending: Pending


@dataclass(frozen=True, slots=True)
class Reservation:
    """What a call holds of the budgets, from before it runs until its answer is given.

    Attributes:
        call_id: the call's id.
        held: each account that it was paid from, with its place among those in flight, if these are bounded.
    """

    call_id: str
    held: tuple[tuple[Account, int | None], ...]


class Accounts:
    """The budgets of one workspace in this process.

    Args:
        root: the workspace's root folder.
        budgets: the limits.
    """

    def __init__(self, root: Path, budgets: Budgets) -> None:
        self._root = root
        self._budgets = budgets
        self._accounts: dict[tuple[str, str], Account] = {}
        self._roots: dict[str, str] = {}
        self._weighs = any(budgets.of(scope)[2] is not None for scope in ("program", "agent", "tree"))
        self._program_pays = any(limit is not None for limit in budgets.of("program"))

    def reserve(self, call: ToolCall, caller: Caller, *, again: bool = False) -> Refusal | Reservation:
        """Pay for a call before it runs.

        Args:
            call: the call.
            caller: who makes it.
            again: it is in flight already, and is to be tried once more.

        Returns:
            What is held, or which budget has not enough left; then nothing was taken.

        Raises:
            LedgerError: a ledger cannot be read or written.
        """
        weight = len(msgspec.json.encode(call.input)) if self._weighs else 0
        held: list[tuple[Account, int | None]] = []
        try:
            refusal = self._reserve(self._of(caller), call.id, weight, held, bounded=not again)
        except BaseException:  # paid is paid, but it will not be in flight, where others wait for its end
            _leave(held)
            raise
        return refusal or Reservation(call.id, tuple(held))

    def settle(self, reservation: Reservation, size: int) -> None:
        """Write down what a call gives, before it is given.

        Raises:
            LedgerError: a ledger cannot be written.
        """
        _leave(reservation.held)
        for account, _ in reservation.held:
            if size and self._budgets.of(account.scope)[3] is not None:
                with account.ledger.locked():
                    account.ledger.add("o", size, reservation.call_id)

    def _of(self, caller: Caller) -> tuple[Account, ...]:
        """The accounts that a call is paid from, of those that are limited."""
        found = []
        for scope in ("agent", "tree"):
            if any(limit is not None for limit in self._budgets.of(scope)):
                whose = caller.agent if scope == "agent" else self._tree(caller.agent)
                account = self._accounts.get((scope, whose))
                if account is None:
                    account = self._accounts[scope, whose] = _account(
                        scope, whose, self._root / FOLDER / scope / whose
                    )
                found.append(account)
        parent = caller.parent
        if parent is not None and self._program_pays:
            if parent.account is None:
                parent.account = _account("program", parent.id, caller.step.tools / parent.id / "budget")
            found.append(parent.account)
        return tuple(found)

    def _tree(self, agent: str) -> str:
        """The root of an agent's tree: the shortest id that it descends from and that has been an agent."""
        found = self._roots.get(agent)
        if found is None:
            parts = agent.split("-")
            above = ("-".join(parts[:n]) for n in range(1, len(parts)))
            steps = self._root / "steps"
            found = next((each for each in above if (steps / each).is_dir()), agent)
            self._roots[agent] = found
        return found

    def _reserve(
        self,
        accounts: tuple[Account, ...],
        call_id: str,
        weight: int,
        held: list[tuple[Account, int | None]],
        *,
        bounded: bool,
    ) -> Refusal | None:
        """Look at all accounts under their locks, and write to them only when each has enough left."""
        if not accounts:
            return None
        account, *others = accounts
        with account.ledger.locked():
            if refusal := self._look(account, weight):
                return refusal
            limit, place = self._budgets.of(account.scope)[1], None
            if limit is not None and bounded:
                place = account.pending.take(limit)
                if place is None:
                    return _busy(f"{account.scope}_pending", limit)
            try:
                refusal = self._reserve(tuple(others), call_id, weight, held, bounded=bounded)
                if refusal is None:
                    account.ledger.add("c", weight, call_id)
                    held.append((account, place))
                    place = None
            finally:
                if place is not None:
                    account.pending.leave(place)
            return refusal

    def _look(self, account: Account, weight: int) -> Refusal | None:
        calls, _, inward, outward = self._budgets.of(account.scope)
        ledger, scope = account.ledger, account.scope
        if calls is not None and ledger.calls >= calls:
            return _spent(f"{scope}_calls", calls, f"{account.whose} has used {ledger.calls}")
        if inward is not None and ledger.bytes_in + weight > inward:
            used = f"{account.whose} has used {ledger.bytes_in}, this input has {weight}"
            return _spent(f"{scope}_bytes_in", inward, used)
        if outward is not None and ledger.bytes_out >= outward:
            return _spent(f"{scope}_bytes_out", outward, f"{account.whose} has used {ledger.bytes_out}")
        return None


def _leave(held: Iterable[tuple[Account, int | None]]) -> None:
    for account, place in held:
        if place is not None:
            account.pending.leave(place)


def _account(scope: str, whose: str, stem: Path) -> Account:
    ledger, pending = (stem.with_name(f"{stem.name}.{kind}") for kind in ("ledger", "pending"))
    return Account(scope, whose, Ledger(ledger), Pending(pending))


def _spent(name: str, limit: int, used: str) -> Refusal:
    unit = next(words for suffix, words in _UNIT.items() if name.endswith(suffix))
    return Refusal(
        "budget",
        f"the budget of {limit} {unit} ({name}) has not enough left: {used}. Nothing gives it back; finish "
        "with what you have.",
    )


def _busy(name: str, limit: int) -> Refusal:
    return Refusal(
        "budget",
        f"{limit} calls are in flight, and that is the most at once ({name}): await some of them.",
    )
