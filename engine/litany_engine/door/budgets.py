"""Budgets: what was used is written down before the call runs, and is never given back.

A ledger is one file for each agent, and one for each tree of agents, under `budgets/` in the workspace:

    c <bytes in> <call id>      a call, before it runs
    o <bytes out> <call id>     what it gave, before its answer is given
    s <calls> <bytes in> <bytes out>     all that came before, when the file has been shortened

Lines are appended with one write each, so whatever kills this process leaves whole lines; the lock of the
file is held between looking and writing, so processes of one workspace cannot both take the last call. What
another process appended is read before each look. A kill between the line and the call leaves a call that is
paid for and did not run; the reverse cannot be.

What one program used is kept where its calls are: its count is the index of its last call, which the name of
that call's record holds. How many calls are pending is a fact of living processes: each counts its own.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from litany_engine.records.ids import inner_index
from litany_engine.records.record_files import RecordError
from litany_stubs.words import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from litany_engine.door.budget_limits import Budgets
    from litany_engine.door.callers import Caller, Parent
    from litany_engine.door.calls import ToolCall

FOLDER = "budgets"
"""Under the workspace's root."""

MAX_LEDGER_BYTES = 1024 * 1024
"""A longer ledger is replaced by its sum."""

_UNIT = {"calls": "calls", "bytes_in": "bytes of input", "bytes_out": "bytes of results"}


class LedgerError(RecordError):
    """A ledger cannot be read or written: nothing runs until it is mended."""


class Ledger:
    """What one agent or tree has used, on disk.

    Attributes:
        calls: calls reserved.
        bytes_in: of their inputs.
        bytes_out: of their results.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.calls = self.bytes_in = self.bytes_out = 0
        self._fd = -1
        self._read_to = 0

    def close(self) -> None:
        """Let go of the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the ledger, up to date, alone.

        Raises:
            LedgerError: it cannot be read.
        """
        try:
            self._take()
            try:
                self._read_on()
                yield
            finally:
                if self._fd >= 0:
                    fcntl.flock(self._fd, fcntl.LOCK_UN)
        except OSError as error:
            raise LedgerError(f"the budget's ledger {self.path}: {error.strerror}") from error

    def add(self, kind: str, amount: int, call_id: str) -> None:
        """Write one line down; only within `locked`."""
        line = f"{kind} {amount} {call_id}\n".encode()
        if os.write(self._fd, line) != len(line):
            raise LedgerError(f"the budget's ledger {self.path}: the disk took half a line; cut it away")
        self._read_to += len(line)
        self._count(kind, amount)
        if self._read_to > MAX_LEDGER_BYTES:
            self._shorten()

    def _take(self) -> None:
        """Open the file that has the name now, and lock it."""
        while True:
            if self._fd < 0:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._fd = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
                self._read_to = self.calls = self.bytes_in = self.bytes_out = 0
            fcntl.flock(self._fd, fcntl.LOCK_EX)
            if os.fstat(self._fd).st_nlink:
                return
            self.close()  # another process has shortened it: this is the old one

    def _read_on(self) -> None:
        size = os.fstat(self._fd).st_size
        if size == self._read_to:
            return
        text = os.pread(self._fd, max(size - self._read_to, 0), self._read_to)
        try:
            if size < self._read_to or not text.endswith(b"\n"):
                raise ValueError("it ends in half a line")  # noqa: TRY301 - one message for all damage
            for line in text.decode().splitlines():
                kind, *rest = line.split(" ")
                if kind == "s":
                    self.calls, self.bytes_in, self.bytes_out = map(int, rest)
                else:
                    amount, _ = rest
                    self._count(kind, int(amount))
        except ValueError as error:
            self.close()
            raise LedgerError(
                f"the budget's ledger {self.path} is damaged ({error}); nothing runs on a budget that cannot "
                "be read: mend the file, or remove it to begin anew"
            ) from error
        self._read_to = size

    def _count(self, kind: str, amount: int) -> None:
        if amount < 0 or kind not in {"c", "o"}:
            raise ValueError(f"{kind!r} {amount} is no entry")
        if kind == "c":
            self.calls += 1
            self.bytes_in += amount
        else:
            self.bytes_out += amount

    def _shorten(self) -> None:
        temporary = self.path.with_name(f".{self.path.name}")
        temporary.write_text(f"s {self.calls} {self.bytes_in} {self.bytes_out}\n")
        temporary.chmod(0o600)
        temporary.replace(self.path)  # others find their file without a name, and open this one


@dataclass(slots=True)
class _Account:
    """An agent's or a tree's use, as this process sees it."""

    scope: str
    whose: str
    ledger: Ledger
    pending: int = 0


@dataclass(slots=True)
class Reservation:
    """What a call holds of the budgets, from before it runs until its answer is given."""

    accounts: tuple[_Account, ...]
    parent: Parent | None
    call_id: str


class Accounts:
    """The budgets of one workspace in this process.

    Args:
        root: the workspace's root folder.
        budgets: the limits.
    """

    def __init__(self, root: Path, budgets: Budgets) -> None:
        self._root = root
        self._budgets = budgets
        self._accounts: dict[tuple[str, str], _Account] = {}
        self._roots: dict[str, str] = {}
        self._weighs = any(budgets.of(scope)[2] is not None for scope in ("program", "agent", "tree"))

    def reserve(self, call: ToolCall, caller: Caller) -> Refusal | Reservation:
        """Pay for a call before it runs.

        Returns:
            What is held, or which budget has not enough left; then nothing was taken.

        Raises:
            LedgerError: a ledger cannot be read or written.
        """
        weight = len(msgspec.json.encode(call.input)) if self._weighs else 0
        parent = caller.parent
        if parent is not None and (refusal := self._of_program(call, parent, weight)):
            return refusal
        accounts = self._of(caller.agent)
        if refusal := self._reserve(accounts, call.id, weight):
            return refusal
        for each in accounts:
            each.pending += 1
        if parent is not None:
            parent.pending += 1
            parent.bytes_in += weight
        return Reservation(accounts, parent, call.id)

    def settle(self, held: Reservation, size: int) -> None:
        """Write down what a call gives, before it is given.

        Raises:
            LedgerError: a ledger cannot be written.
        """
        for each in held.accounts:
            each.pending -= 1
        if held.parent is not None:
            held.parent.pending -= 1
            held.parent.bytes_out += size
        for each in held.accounts:
            if size and self._budgets.of(each.scope)[3] is not None:
                with each.ledger.locked():
                    each.ledger.add("o", size, held.call_id)

    def _of_program(self, call: ToolCall, parent: Parent, weight: int) -> Refusal | None:
        calls, pending, inward, outward = self._budgets.of("program")
        index = inner_index(parent.id, call.id) or 0
        if calls is not None and index > calls:
            return _spent("program_calls", calls, f"this is call {index} of {parent.id!r}")
        if pending is not None and parent.pending >= pending:
            return _busy("program_pending", pending)
        if inward is not None and parent.bytes_in + weight > inward:
            return _spent("program_bytes_in", inward, f"{parent.bytes_in} are used, this input has {weight}")
        if outward is not None and parent.bytes_out >= outward:
            return _spent("program_bytes_out", outward, f"{parent.bytes_out} are used")
        return None

    def _of(self, agent: str) -> tuple[_Account, ...]:
        """The accounts of an agent that are limited: its own, and its tree's."""
        found = []
        for scope in ("agent", "tree"):
            if any(limit is not None for limit in self._budgets.of(scope)):
                whose = agent if scope == "agent" else self._tree(agent)
                account = self._accounts.get((scope, whose))
                if account is None:
                    path = self._root / FOLDER / scope / f"{whose}.ledger"
                    account = self._accounts[scope, whose] = _Account(scope, whose, Ledger(path))
                found.append(account)
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

    def _reserve(self, accounts: tuple[_Account, ...], call_id: str, weight: int) -> Refusal | None:
        if not accounts:
            return None
        first, *others = accounts
        with first.ledger.locked():
            if refusal := self._look(first, weight):
                return refusal
            refusal = self._reserve(tuple(others), call_id, weight)
            if refusal is None:
                first.ledger.add("c", weight, call_id)
            return refusal

    def _look(self, account: _Account, weight: int) -> Refusal | None:
        calls, pending, inward, outward = self._budgets.of(account.scope)
        ledger, scope = account.ledger, account.scope
        if calls is not None and ledger.calls >= calls:
            return _spent(f"{scope}_calls", calls, f"{account.whose} has used {ledger.calls}")
        if pending is not None and account.pending >= pending:
            return _busy(f"{scope}_pending", pending)
        if inward is not None and ledger.bytes_in + weight > inward:
            used = f"{account.whose} has used {ledger.bytes_in}, this input has {weight}"
            return _spent(f"{scope}_bytes_in", inward, used)
        if outward is not None and ledger.bytes_out >= outward:
            return _spent(f"{scope}_bytes_out", outward, f"{account.whose} has used {ledger.bytes_out}")
        return None


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
