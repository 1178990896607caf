"""The zygote: a fresh interpreter that imports once, confines itself, and then only forks.

It is never a fork of the host, which would carry the host's memory into every child. It takes orders over one
socket (`orders.py`) and lives exactly as long as that socket and its launcher do: when the supervisor is
gone, however it went, the socket ends and the zygote exits, and as the init of its pid namespace takes every
child with it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import traceback
from typing import TYPE_CHECKING, NoReturn

from litany_runtime import child, confine, giving_up, orders, policy, streams, tracebacks

if TYPE_CHECKING:
    from litany_runtime.confine import Entered

CONTROL_FD = 3
"""Where the launcher puts the control socket, and a child its wire: low and fixed, so nothing collides."""


def main() -> NoReturn:
    """Be the zygote on descriptor `CONTROL_FD`; never returns."""
    # The command line names host paths; a program has no business with them.
    sys.argv[:] = ["program.py"]
    sys.orig_argv[:] = []
    os.environ.clear()  # started empty, but the interpreter sets LC_CTYPE for itself
    control = socket.socket(fileno=CONTROL_FD)
    begin = orders.decode(control.recv(orders.MAX_ORDER_BYTES))
    assert isinstance(begin, orders.Begin)
    try:
        giving_up.prepare()
        streams.prepare()
        tracebacks.prepare()  # before the policy seals the library's classes
        prepared = policy.prepare(begin.modules)
        # Frozen objects are left alone by the collector, so that a child's collections do not copy the pages
        # it shares with everybody.
        gc.collect()
        gc.freeze()
        entered = confine.enter(confine.ZygotePlan.from_json(begin.plan))
    except confine.ConfinementError as error:
        control.send(orders.encode(orders.Failed(error.layer, error.cause, error.remedy)))
        os._exit(1)
    except BaseException:  # noqa: BLE001 - whatever it is, the supervisor must be told
        text = traceback.format_exc(limit=-3)
        control.send(orders.encode(orders.Failed("", text[-8192:], "")))
        os._exit(1)
    control.send(orders.encode(orders.Ready()))
    _Zygote(control, entered, child.Nature(prepared, begin.language_layer)).serve()
    os._exit(0)


class _Zygote:
    def __init__(self, control: socket.socket, entered: Entered, nature: child.Nature) -> None:
        self._control = control
        self._entered = entered
        self._nature = nature
        self._keys: dict[int, int] = {}  # pid -> the supervisor's key
        self._pids: dict[int, int] = {}

    def serve(self) -> None:
        """Take orders until the supervisor's end closes."""
        woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is the supervisor's to act on
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(woken, select.POLLIN)
        while True:
            ready = {fd for fd, _ in poll.poll()}
            if woken in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(woken, 4096)
                self._reap()
            if CONTROL_FD in ready and not self._obey():
                return

    def _obey(self) -> bool:
        """Take one order; False when the supervisor is gone."""
        try:
            data, fds, _, _ = socket.recv_fds(self._control, orders.MAX_ORDER_BYTES, 3)
        except OSError:
            return False
        if not data:
            return False
        order = orders.decode(data)
        if isinstance(order, orders.Spawn):
            self._spawn(order, fds)
        elif isinstance(order, orders.Signal) and (pid := self._pids.get(order.key)):
            # Not reaped yet, or it would not be in the table: the pid cannot have been given to another.
            os.kill(pid, order.number)
        return True

    def _spawn(self, order: orders.Spawn, fds: list[int]) -> None:
        # Before the fork, so that what it costs is not paid in copied pages.
        try:
            script = confine.prepare_child(self._entered, order.child_plan())
            pid = os.fork()
        except confine.ConfinementError as error:
            self._decline(order, fds, str(error))
            return
        except OSError as error:  # no process, memory or descriptor to be had: the others run on
            self._decline(order, fds, f"the system gives no more children at this moment: {error.strerror}")
            return
        if pid == 0:
            child.main(order, fds, script, self._entered, self._nature)
        self._close(fds)
        self._keys[pid] = order.key
        self._pids[order.key] = pid

    def _decline(self, order: orders.Spawn, fds: list[int], why: str) -> None:
        """Make no child of an order, and say why as one that did not come up would."""
        os.write(fds[-1], why.encode(errors="replace"))
        self._close(fds)
        self._control.send(orders.encode(orders.Exited(order.key, child.FAULT << 8, 0.0, 0)))

    @staticmethod
    def _close(fds: list[int]) -> None:
        for fd in fds:
            os.close(fd)

    def _reap(self) -> None:
        while True:
            try:
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            key = self._keys.pop(pid, None)
            if key is None:
                continue  # not a child of an order: an orphan that pid 1 inherits
            del self._pids[key]
            exited = orders.Exited(key, status, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
            with contextlib.suppress(OSError):  # the supervisor is gone: the next poll says so
                self._control.send(orders.encode(exited))
