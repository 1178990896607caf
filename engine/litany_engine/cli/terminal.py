"""What a run writes: the program's output as it comes, a live line below it on a terminal, and the last line.

All of it goes through one thread, in order. The task that runs the program never waits for whoever reads: a
pager that is not scrolled would hold up the deadline.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from litany_engine.configuration.units import show_duration
from litany_engine.door.calls import CallEnd
from litany_engine.door.events import CallReport, CallStarted
from litany_engine.plain_text import PlainStream, plain_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from litany_engine.door.events import Event

MAX_WAITING_BYTES = 16 * 1024 * 1024
"""Output that waits for a slow reader; what comes on top is not shown, though the record keeps its share."""

_CLEAR = b"\r\x1b[K"
_REDRAW_S = 0.1


class Terminal:
    """Writes to stdout and stderr from a thread of its own; use it as a context manager.

    Args:
        stdout: the descriptor that takes the program's output.
        on_closed: called from that thread, once, when what is shown cannot be written any more.
        raw: show what a program prints on a terminal as it is.

    Attributes:
        fault: why nothing can be written any more, or None.
    """

    def __init__(self, stdout: int, on_closed: Callable[[], None], *, raw: bool = False) -> None:
        self._descriptors = {1: stdout, 2: 2}
        self._plain = {
            number: PlainStream()
            for number, descriptor in self._descriptors.items()
            if not raw and os.isatty(descriptor)
        }
        self._on_closed = on_closed
        self._queue: queue.SimpleQueue[tuple[int, bytes] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_all, name="output", daemon=True)
        self._lock = threading.Lock()
        self._waiting = 0
        self._lost = 0
        self.fault: OSError | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for number, plain in self._plain.items():
            self._queue.put((number, plain.feed(b"", last=True)))
        self._queue.put(None)
        self._thread.join()

    def output(self, stream: str, chunk: bytes) -> None:
        """Show what a program printed; on a terminal what would act on it is escaped."""
        number = 1 if stream == "stdout" else 2
        if number in self._plain:
            chunk = self._plain[number].feed(chunk)
        with self._lock:
            if self._waiting + len(chunk) > MAX_WAITING_BYTES:
                self._lost += len(chunk)
                return
            lost, self._lost = self._lost, 0
            self._waiting += len(chunk)
        if lost:
            self._queue.put(
                (2, f"\n[{lost} bytes not shown: they came faster than they were read]\n".encode())
            )
        self._queue.put((number, chunk))

    def line(self, text: str) -> None:
        """Say something of our own on stderr; what others wrote in it does nothing to a terminal."""
        said = f"litany: {plain_lines(text)}\n"
        self._queue.put((2, said.encode("utf-8", "backslashreplace")))

    def sketch(self, text: bytes) -> None:
        """Show something on stderr that the next thing shown may overwrite."""
        self._queue.put((-2, text))

    def _write_all(self) -> None:
        sketched = False
        while (item := self._queue.get()) is not None:
            target, chunk = item
            if self.fault is not None:
                continue
            try:
                if sketched:
                    _write(2, _CLEAR)
                _write(self._descriptors[abs(target)], chunk)
            except OSError as error:
                self.fault = error
                self._on_closed()
            sketched = target < 0
            if target > 0:
                with self._lock:
                    self._waiting = max(0, self._waiting - len(chunk))
        if sketched and self.fault is None:
            with suppress(OSError):
                _write(2, _CLEAR)


class LiveLine:
    """One line that says what is in flight, redrawn as calls come and go."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._started = time.monotonic()
        self._drawn = 0.0
        self._flying: dict[str, str] = {}
        self._ended = 0
        self._report = ""

    def see(self, event: Event) -> None:
        """Take in one event of the door."""
        if isinstance(event, CallStarted):
            if event.parent is not None:
                self._flying[event.call.id] = event.call.name
        elif isinstance(event, CallReport):
            self._report = event.message.split("\n", 1)[0]
        elif isinstance(event, CallEnd):
            self._ended += self._flying.pop(event.call.id, None) is not None
        if time.monotonic() - self._drawn >= _REDRAW_S:
            self.draw()

    def draw(self) -> None:
        """Draw it as things stand."""
        self._drawn = time.monotonic()
        names = sorted(self._flying.values())
        shown = ", ".join(f"{names.count(name)} {name}" for name in dict.fromkeys(names))
        text = f"… {show_duration(self._drawn - self._started)}, {self._ended} calls done"
        text += f", in flight: {shown}" if shown else ""
        text += f" | {self._report}" if self._report else ""
        width = max(_columns() - 1, 1)
        plain = "".join(each if each.isprintable() else "?" for each in text)
        self._terminal.sketch(plain[:width].encode("utf-8", "replace"))


def _columns() -> int:
    """The terminal's width; one that does not say has 80."""
    try:
        return os.get_terminal_size(2).columns or 80
    except OSError:
        return 80


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
