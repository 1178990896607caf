"""The child's end of the wire: one socket, any number of callers.

Threads and asyncio tasks call tools at the same time over one socket, and answers come in any order. Nobody
owns the reading: whoever waits and finds no reader becomes it, reads until its own answer is there, and hands
the reading on (leader and followers, as in ACE's thread pools). A reading thread of our own was the
alternative; it would cost every program a thread, and every call a switch between threads.

A call that its caller stops waiting for (an interrupt, a cancelled task, a cancelled future of a thread) is
cancelled at the host, too: what nobody waits for is not to take effect later.

Sending and reading are interrupted by the stop (SIGINT) only between frames: a frame cut in half would make
the calls of a `finally` block garbage. Whoever cannot send reads meanwhile: a host whose answers nobody takes
reads no further calls.
"""

from __future__ import annotations

import asyncio
import contextlib
import select
import signal
import socket
import threading
from collections import deque
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

from litany_runtime import wire
from litany_stubs.words import DoorError, Refusal, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import TracebackType

    from litany_runtime.limits import Limits
    from litany_stubs.words import JSON

_RECEIVE_BYTES = 64 * 1024

_LOOK_AGAIN_MS = 20
"""Milliseconds between two looks of a sender whether it is to read: who reads now may be about to leave."""

_NO_ROOM = "the door is closed: an answer did not fit into the program's memory"


class _Waiter:
    """One call that awaits its answer: a thread (`event`) or a task (`wake`)."""

    __slots__ = ("abandoned", "cancelled", "event", "has_slot", "reply", "seq", "wake")

    def __init__(self, wake: Callable[[], None] | None = None) -> None:
        self.reply: Reply | None = None
        self.abandoned = False
        self.cancelled = False  # by another thread
        self.has_slot = False
        self.seq = 0  # once it is sent
        self.wake = wake
        self.event = threading.Event() if wake is None else None

    def rouse(self) -> None:
        if self.event is not None:
            self.event.set()
        elif self.wake is not None:
            self.wake()


class Channel:
    """Implements `litany_stubs.words.Door` over the child's socket.

    Args:
        sock: the socket to the supervisor, blocking.
        limits: the program's limits, kept on this side too: here a breach is a refusal the program can read,
            at the host's end it is the program's death.
        decoder: the decoder of the host's messages, which has decoded `Run` already.
        interrupts: the stop, which this keeps out of the middle of a frame.

    Attributes:
        unsent: calls refused here since the program had made all that it may.
    """

    def __init__(
        self, sock: socket.socket, limits: Limits, decoder: wire.Decoder, interrupts: Interrupts
    ) -> None:
        self._sock = sock
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)
        self._limits = limits
        self._decoder = decoder
        self._max_send = wire.max_frame_from_child(limits)
        self._lock = threading.Lock()  # guards everything below; held for no I/O
        self._sending = threading.Lock()
        self._reading = threading.Lock()
        self._seq = 0
        self.unsent = 0
        self._waiters: dict[int, _Waiter] = {}
        self._of_threads: dict[int, _Waiter] = {}
        self._cancelled_threads: set[int] = set()
        self._free = limits.pending_calls
        self._queue: deque[_Waiter] = deque()
        self._loops: dict[asyncio.AbstractEventLoop, int] = {}
        self._broken: str | None = None
        self._interrupts = interrupts

    def call(self, name: str, arguments: Mapping[str, JSON]) -> Reply:
        """One call, awaited by this thread."""
        waiter = _Waiter()
        thread = threading.get_ident()
        with self._lock:
            waiter.cancelled = thread in self._cancelled_threads
            self._cancelled_threads.discard(thread)
            self._of_threads[thread] = waiter
        try:
            while not (waiter.cancelled or self._take_slot(waiter)):
                self._wait(waiter)
            if not waiter.cancelled and (refused := self._send(name, arguments, waiter)) is not None:
                return refused
            while waiter.reply is None and (waiter.seq or not waiter.cancelled):
                self._wait(waiter)
            if waiter.cancelled:
                raise CancelledError(f"nobody waits for this thread any more: the call of {name} was ended")
            assert waiter.reply is not None
            return waiter.reply
        finally:
            del self._of_threads[thread]
            if waiter.reply is None:
                self._abandon(waiter)

    def cancel_thread(self, thread: int) -> None:
        """End the call that a thread waits for, or else its next one; there, `CancelledError` is raised.

        Args:
            thread: its identifier.
        """
        with self._lock:
            waiter = self._of_threads.get(thread)
            if waiter is None:
                self._cancelled_threads.add(thread)
                return
            again, waiter.cancelled = waiter.cancelled, True
        if not again:
            self._cancel(waiter)
            waiter.rouse()

    def forget_thread(self, thread: int) -> None:
        """Have the next call of a thread made as ever: what was to be cancelled has ended."""
        with self._lock:
            self._cancelled_threads.discard(thread)

    def cancel_left(self) -> None:
        """End the calls of tasks: at the program's end no loop runs that they could be awaited in."""
        with self._lock:
            left = [each for each in self._waiters.values() if each.event is None]
        for each in left:
            if not each.abandoned:
                each.abandoned = True
                self._cancel(each)

    def _cancel(self, waiter: _Waiter) -> None:
        if waiter.seq and waiter.reply is None and self._broken is None:
            with contextlib.suppress(DoorError):  # it is closed: the host is ending the call already
                self.say(wire.Cancel(waiter.seq))

    async def call_async(self, name: str, arguments: Mapping[str, JSON]) -> Reply:
        """One call, awaited by a task."""
        loop = asyncio.get_running_loop()
        roused = asyncio.Event()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(roused.set)

        waiter = _Waiter(wake)
        with self._watched_by(loop):
            try:
                while not self._take_slot(waiter):
                    await roused.wait()
                    roused.clear()
                if (refused := self._send(name, arguments, waiter)) is not None:
                    return refused
                self._read_ready()
                while waiter.reply is None:
                    self._check_open()
                    await roused.wait()
                    roused.clear()
                return waiter.reply
            finally:
                if waiter.reply is None:
                    self._abandon(waiter)

    def say(self, message: wire.Message) -> None:
        """Send what is no call.

        Raises:
            DoorError: the door is closed.
        """
        frame = wire.encode(message, self._max_send)
        with self._sending, self._interrupts:
            self._put(frame)

    def _check_open(self) -> None:
        if self._broken is not None:
            raise DoorError(self._broken)

    # Slots: how many calls may await an answer at once.

    def _take_slot(self, waiter: _Waiter) -> bool:
        with self._lock:
            self._check_open()
            if self._free > 0:
                self._free -= 1
                waiter.has_slot = True
                return True
            if waiter not in self._queue:
                self._queue.append(waiter)
            return False

    def _give_slot(self) -> None:
        with self._lock:
            self._free += 1
            next_up = self._queue.popleft() if self._queue else None
        if next_up is not None:
            next_up.rouse()

    def _abandon(self, waiter: _Waiter) -> None:
        """Have a call ended whose caller waits no longer, and others do what was its turn to do."""
        with self._lock:
            again, waiter.abandoned = waiter.abandoned, True
            if waiter in self._queue:
                self._queue.remove(waiter)
            unsent = waiter.has_slot and not waiter.seq
            if unsent:
                self._free += 1
            # It may have been roused for a slot that it does not take.
            next_up = self._queue.popleft() if self._queue and self._free else None
        if next_up is not None:
            next_up.rouse()
        try:
            if not waiter.cancelled and not again:
                self._cancel(waiter)
        finally:
            self._appoint()

    # Sending.

    def _send(self, name: str, arguments: Mapping[str, JSON], waiter: _Waiter) -> Reply | None:
        """Send a call whose slot is taken; a reply of our own when it may not be sent."""
        try:
            with self._sending, self._interrupts:
                if self._seq >= self._limits.calls:
                    waiter.has_slot = False
                    self._give_slot()
                    self.unsent += 1
                    return _refused("budget", f"this program has made its {self._limits.calls} calls")
                frame = wire.encode(wire.Call(self._seq + 1, name, dict(arguments)), self._max_send)
                self._seq += 1
                with self._lock:
                    self._waiters[self._seq] = waiter
                    waiter.seq = self._seq
                self._put(frame)
        except wire.LocalError as error:
            waiter.has_slot = False
            self._give_slot()
            return _refused("schema", f"{name}: {error}")
        return None

    def _put(self, frame: bytes) -> None:
        """Write a frame whole, reading while there is no room for it.

        Raises:
            DoorError: the door is closed.
        """
        rest = memoryview(frame)
        while True:
            try:
                rest = rest[self._sock.send(rest, socket.MSG_DONTWAIT) :]
            except BlockingIOError:
                self._make_room()
            except OSError as error:
                self._break(f"the door is closed: {error.strerror}")
            self._check_open()
            if not rest:
                return

    def _make_room(self) -> None:
        """Wait until the host may have read, and take in what it says meanwhile."""
        poll = select.poll()
        if not self._reading.acquire(blocking=False):
            poll.register(self._sock, select.POLLOUT)
            poll.poll(_LOOK_AGAIN_MS)
            return
        try:
            poll.register(self._sock, select.POLLIN | select.POLLOUT)
            if any(events & ~select.POLLOUT for _, events in poll.poll()):
                with contextlib.suppress(MemoryError, wire.RemoteError):  # told by `_broken`
                    self._read()
        finally:
            self._reading.release()

    # Reading.

    def _wait(self, waiter: _Waiter) -> None:
        """Wait for something to happen to `waiter`, reading for everybody if nobody else does."""
        event = waiter.event
        assert event is not None
        if self._reading.acquire(blocking=False):
            try:
                if waiter.reply is None and not event.is_set():
                    self._poll.poll()
                    self._read()
            finally:
                self._reading.release()
                self._appoint(besides=waiter)
        else:
            event.wait()
        event.clear()
        if waiter.reply is None:
            self._check_open()

    def _appoint(self, besides: _Waiter | None = None) -> None:
        """Rouse a waiting thread to read on: the one that read may have its answer and be gone."""
        with self._lock:
            candidates = (*self._waiters.values(), *self._queue)
        for each in candidates:
            if each is not besides and each.event is not None and not each.abandoned:
                each.event.set()
                return

    def _read_ready(self) -> None:
        """Read what has arrived, from an event loop; a thread that reads already is left to it."""
        if self._reading.acquire(blocking=False):
            try:
                with contextlib.suppress(MemoryError, wire.RemoteError):  # who waits is told by `_broken`
                    self._read()
            finally:
                self._reading.release()

    def _read(self) -> None:
        """Read once what has arrived, waiting for nothing.

        Raises:
            MemoryError, wire.RemoteError: an answer cannot be taken; nor can any after it, so all who wait
                for one are told.
        """
        with self._interrupts:
            try:
                data = self._sock.recv(_RECEIVE_BYTES, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except OSError as error:
                self._break(f"the door is closed: {error.strerror}")
                return
            except MemoryError:
                self._break(_NO_ROOM)
                raise
            if not data:
                self._break("the door is closed")
            try:
                for message in self._decoder.feed(data):
                    if isinstance(message, wire.Answer):
                        self._deliver(message)
            except MemoryError:
                self._break(_NO_ROOM)
                raise
            except wire.RemoteError as error:
                self._break(f"the door is closed: {error}")
                raise

    def _deliver(self, answer: wire.Answer) -> None:
        with self._lock:
            waiter = self._waiters.pop(answer.seq, None)
        self._give_slot()
        if waiter is not None:
            waiter.reply = Reply(
                answer.outcome,
                answer.exit_code,
                answer.stdout,
                answer.stderr,
                answer.data,
                Refusal(answer.gate, answer.reason) if answer.gate else None,
                answer.seq,
                answer.duration_s,
                answer.waited_s,
            )
            waiter.rouse()

    def _break(self, reason: str) -> None:
        with self._lock:
            self._broken = reason
            everyone = (*self._waiters.values(), *self._queue)
        for each in everyone:
            each.rouse()

    @contextlib.contextmanager
    def _watched_by(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """Have `loop` read the socket while one of its tasks waits."""
        watching = self._loops.get(loop, 0)
        if not watching:
            loop.add_reader(self._sock.fileno(), self._read_ready)
        self._loops[loop] = watching + 1
        try:
            yield
        finally:
            self._loops[loop] -= 1
            if not self._loops[loop]:
                del self._loops[loop]
                loop.remove_reader(self._sock.fileno())


def _refused(gate: str, reason: str) -> Reply:
    return Reply("refused", 126, refusal=Refusal(gate, reason))


class Interrupts:
    """The stop as a Python exception, kept out of the middle of a frame.

    A context manager: in its block, on the main thread, an interrupt waits for the block's end. Other threads
    never see interrupts.

    It is also what `asyncio.run` takes for the module `signal` (`SIGINT`, `default_int_handler`, `getsignal`,
    `signal`): an interrupt that finds its event loop idle cancels the main task, as in CPython, so that the
    traceback is the program's. One that finds a task at work is raised in it.
    """

    SIGINT = signal.SIGINT
    default_int_handler = staticmethod(signal.default_int_handler)

    def __init__(self) -> None:
        self._held = 0
        self._pending = False
        self._main = threading.get_ident()
        self._of_loop: Callable[[int, Any], object] = signal.default_int_handler

    def arrive(self, *_: object) -> None:
        """The handler of SIGINT: interrupt the program, at once or when the frame is done."""
        if self._held:
            self._pending = True
        else:
            self._interrupt()

    def getsignal(self, _number: int) -> Callable[[int, Any], object]:
        """What handles an interrupt of an idle event loop."""
        return self._of_loop

    def signal(self, _number: int, handler: Callable[[int, Any], object]) -> None:
        """Have an interrupt of an idle event loop handled by something else."""
        self._of_loop = handler

    def _interrupt(self) -> None:
        loop = asyncio._get_running_loop()  # noqa: SLF001 - the other way raises when there is none
        if loop is None or asyncio.current_task(loop) is not None:
            raise KeyboardInterrupt
        self._of_loop(signal.SIGINT, None)

    def __enter__(self) -> None:
        if threading.get_ident() == self._main:
            self._held += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if threading.get_ident() == self._main:
            self._held -= 1
            if self._pending and not self._held:
                self._pending = False
                self._interrupt()
