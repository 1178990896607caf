"""What was used of a budget, on disk: lines that are only ever added.

    budgets/agent/<agent>.ledger, budgets/tree/<root>.ledger          in the workspace
    budget.ledger                                                     in the record of a call that makes calls

    c <bytes in> <call id>      a call, before it runs
    o <bytes out> <call id>     what it gave, before its answer is given
    s <calls> <bytes in> <bytes out>     all that came before, when the file has been shortened

Lines are appended with one write each, so whatever kills this process leaves whole lines; the lock of the
file is held between looking and writing. What another process appended is read before each look.
"""

from __future__ import annotations

import fcntl
import os
import stat
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING

from litany_engine.records.record_files import RecordError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MAX_LEDGER_BYTES = 1024 * 1024
"""A longer ledger is replaced by its sum."""


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
        self._let_go: Callable[[], object] | None = None
        self.calls = self.bytes_in = self.bytes_out = 0
        self._fd = -1
        self._read_to = 0

    def close(self) -> None:
        """Let go of the file."""
        if self._let_go is not None:
            self._let_go()
            self._let_go = None
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
            os.ftruncate(self._fd, self._read_to)  # or it would be damage to whoever reads it next
            raise LedgerError(f"the budget's ledger {self.path}: the disk is full, it took half a line")
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
                self._let_go = weakref.finalize(
                    self, os.close, self._fd
                )  # the ledger of a program goes with it
                self._read_to = self.calls = self.bytes_in = self.bytes_out = 0
            fcntl.flock(self._fd, fcntl.LOCK_EX)
            found = os.fstat(self._fd)
            if not stat.S_ISREG(found.st_mode):  # a pipe takes every line, and has nothing to read
                self.close()
                raise LedgerError(
                    f"the budget's ledger {self.path} is no file; nothing runs before it is one"
                )
            if found.st_nlink:
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
                    sums = self.calls, self.bytes_in, self.bytes_out = tuple(map(int, rest))
                    if min(sums) < 0:
                        raise ValueError(f"{line!r} is no sum")  # noqa: TRY301 - one message for all damage
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
