"""The host's hold on the process that forks keepers: one for a host, started when it is first needed.

It may be lost (a tool runs as the same user and may end it) or stopped; then the next call starts another, or
wakes it. What it is for, `keeper.py` says.
"""

from __future__ import annotations

import atexit
import errno
import os
import select
import signal
import socket
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import trio

from litany_engine.tools import keeper

if TYPE_CHECKING:
    from collections.abc import Sequence

SEND_ATTEMPTS = 500
"""Tries to hand a request to a busy spawner, `SEND_PAUSE_S` apart."""
SEND_PAUSE_S = 0.002


class Spawner:
    """A running spawner.

    Raises:
        OSError: it cannot be started.

    Attributes:
        host_pid: whose it is: a fork of that process has no hold on it.
        socket: where keepers are asked for.
        pid: its process id.
        closed: it was given up.
    """

    def __init__(self) -> None:
        self.host_pid = os.getpid()
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.setblocking(False)
        try:
            with theirs:
                self.pid = _start(theirs.fileno())
            # Not its number: whoever ignores SIGCHLD, or waits for all children, sets that free for others.
            self._handle = os.pidfd_open(self.pid)
        except OSError:
            self.socket.close()  # and with it goes one that was started
            raise
        self.closed = False

    def wake(self) -> None:
        """Have it go on, in case that a tool has stopped it."""
        self._signal(signal.SIGCONT)

    def close(self) -> None:
        """End it, though it may be stopped. Keepers see to their trees without it."""
        if self.closed:
            return
        self._signal(signal.SIGKILL)
        self.let_go()
        if self.host_pid == os.getpid():
            ended = select.poll()
            ended.register(self._handle, select.POLLIN)
            ended.poll(keeper.KILL_BOUND_S * 1000)
            with suppress(ChildProcessError):
                os.waitpid(self.pid, os.WNOHANG)
        os.close(self._handle)

    def let_go(self) -> None:
        """Ask for no more: it ends once every keeper has, and sees to what they cannot."""
        self.closed = True
        self.socket.close()

    def _signal(self, number: int) -> None:
        if not self.closed and self.host_pid == os.getpid():
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, number)


def _start(control: int) -> int:
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", "-B", keeper.__file__],
        {},
        file_actions=[
            (os.POSIX_SPAWN_DUP2, control, keeper.SPAWNER_FD),
            # It outlives a caller that only waits for our streams to close, so it holds none.
            *((os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in range(3)),
        ],
        setsid=True,  # Ctrl-C at the terminal is the host's to handle
        setsigmask=(),
        setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
    )


_spawner: Spawner | None = None
_lock = threading.Lock()


async def ask_for_keeper(theirs: Sequence[int], grace_s: float) -> Spawner:
    """Hand the child's ends of the pipes to a new keeper; returns who starts it.

    Raises:
        OSError: no spawner can be had, or it takes no request.
    """
    for _ in range(SEND_ATTEMPTS):
        with suppress(BlockingIOError):  # many calls at once: the spawner is behind
            return _send_descriptors(theirs, keeper.ASK.pack(grace_s))
        await trio.sleep(SEND_PAUSE_S)
    raise TimeoutError(errno.ETIMEDOUT, "the process that starts them does not answer")


def give_up(spawner: Spawner) -> None:
    """End a spawner that does not answer; another is started for the next call."""
    with _lock:
        spawner.close()


def _send_descriptors(fds: Sequence[int], ask: bytes) -> Spawner:
    global _spawner  # noqa: PLW0603 - one for a process, like the process table it stands for
    with _lock:
        if _spawner is not None and not _spawner.closed and _spawner.host_pid == os.getpid():
            with suppress(BrokenPipeError, ConnectionError):  # it was ended from outside: start another
                _spawner.wake()
                socket.send_fds(_spawner.socket, [ask], fds)
                return _spawner
        if _spawner is not None:
            _spawner.close()
        _spawner = None
        _spawner = Spawner()
        socket.send_fds(_spawner.socket, [ask], fds)
        return _spawner


@atexit.register
def _leave() -> None:
    """Let go of the spawner when the host ends, which is no reason for a warning about its socket.

    Without the lock: a thread that is not waited for may hold it, and this must not.
    """
    if _spawner is not None and not _spawner.closed:
        _spawner.let_go()
