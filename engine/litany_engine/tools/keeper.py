"""The keeper: the parent of one tool process, and the reason why nothing of it stays behind.

The problem. A tool process may leave its group, fork twice, start its own session, clear its
environment or ignore SIGTERM; what it started may hold our pipes for ever. Looking for such
processes from outside (by group, by a variable in their environment, by their parent) always has
a hole, because an orphan's parent becomes init and with that the trace is gone.

The idea. Linux lets a process be the init of its own descendants (PR_SET_CHILD_SUBREAPER): orphans
become *its* children. So each tool process gets a parent of its own that does nothing else. What it
can still wait for is exactly what is left running, and `ECHILD` is the kernel's own word that nothing is.

What lost. The host as subreaper: its other children would be mixed with orphans, and an orphan could
not be told to which call it belongs. A pid namespace: needs privileges or a user namespace, in which the
operator's own files change owner. A control group: not delegated on most machines.

Three processes, then: the host asks the *spawner* (one for a host, started once, small); the spawner
forks a *keeper* (one for a call, about a millisecond); the keeper starts the tool. The spawner is a
subreaper too: when a tool kills its keeper, the orphans come to the spawner, which ends them. When the
host dies, however it dies, its end of the keeper's control socket closes, and the keeper ends the tree.

A tool may also stop (SIGSTOP) who watches over it. A stopped process sees nothing close, so whoever is
above wakes it: the host its spawner, with each request; the kernel a spawner whose host dies, and a keeper
whose spawner dies (PR_SET_PDEATHSIG with SIGCONT, which does nothing to a process that runs); the spawner,
when its host is gone, every keeper, again and again and with SIGKILL in the end.

Not reached: what is not a descendant because another daemon started it on request (`systemd-run`,
`docker run`, `at`), a set-uid process that this user may not signal, and a tool that first kills the
spawner and then stops its keeper, once its host has died as well.

A keeper also says whose process it keeps, so that `ancestry.py` can tell a process that runs below a call,
whatever that process says of itself. A tool is started with two marks that are handed down to all that it
starts and that it cannot take off: a hard limit on file locks (`RLIMIT_LOCKS`, which the kernel has not
enforced since 2.4, and which only CAP_SYS_RESOURCE may raise), and, where the kernel takes it without
`no_new_privs` (CAP_SYS_ADMIN; with that flag `sudo` would not work in a tool), a seccomp filter that lets
everything pass and gives one unused option of `prctl` an answer of its own. The call itself stands in a
sealed memory file that the keeper holds open.

This file runs as a program of its own under `python -I -S`: standard library only, nothing of litany.

Wire, host -> keeper on the control socket: one request (`pack_request`), then `T` (end the tree: SIGTERM, the
grace, SIGKILL); a closed socket means the same. Keeper -> host: `FRAME`s, in the order below.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import platform
import resource
import select
import signal
import socket
import struct
import sys
import time

SPAWNER_FD = 3
"""Where the spawner finds the socket on which the host asks for keepers."""

FRAME = struct.Struct("<cqqq")
"""Kind and three numbers."""
WATCHING = b"W"  # pid of the keeper, before the tool starts: it may stop the keeper at once
FAILED = b"F"  # errno, 1 when it was the working directory; ECANCELED: the host had given up before
ENDED = b"E"  # wait status of the tool process
LEFT = b"L"  # processes that it left running and that are ended now; bytes of their commands, which follow
GONE = b"G"  # cpu microseconds, peak memory in KiB, processes that could not be ended

END_TREE = b"T"

NAMED_PROCESSES = 5
"""Processes that are named of those that a tool left running; the rest is counted."""
NAMED_BYTES = 200
"""Bytes of each one's command line that are told."""

ASK = struct.Struct("<d")
"""Host -> spawner, with the descriptors: the grace of the keeper to come, in seconds."""

KILL_BOUND_S = 1.0
"""How long SIGKILL may take to empty the tree before the rest is reported as it is (uninterruptible I/O)."""
KILL_ROUND_S = 0.005
"""Between two looks for what is left while killing."""
BUSY_ATTEMPTS = 100
"""Tries to start a program whose file is open for writing ("text file busy"), `BUSY_PAUSE_S` apart.

A count and not a clock, so that a loaded machine does not use it up.
"""
BUSY_PAUSE_S = 0.002

WAKE_ROUND_S = 0.1
"""Between two signals to keepers that their host left behind, in case they are stopped."""

CLAIM_FILE = "litany-call"
"""Name of the sealed memory file in which a keeper says whose process it keeps."""

RLIMIT_LOCKS = 10
MARK_LOCKS = 0x6C_6974_616E_7921
"""Hard limit on file locks of a tool's processes; any limit at all is the mark, since a tool may lower it."""

MARK_OPTION = 0x6C69_7461
"""The option of `prctl` that a tool's processes get `MARK_ANSWER` for; the kernel says EINVAL."""
MARK_ANSWER = 3333

_SYSCALLS = {"x86_64": (157, 317)}  # prctl, seccomp; elsewhere those of the generic table
_GENERIC = (167, 277)
_SECCOMP_SET_MODE_FILTER = 1
_SECCOMP_FILTER_FLAG_SPEC_ALLOW = 4  # a filter that lets all pass is no reason to slow the processor down
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LENGTH = struct.Struct("<I")


def pack_request(
    argv: list[bytes], env: list[bytes], cwd: bytes, grace_s: float, claim: bytes = b""
) -> bytes:
    """The request to start `argv`: NUL-separated, since none of the parts can hold a NUL."""
    body = b"\0".join([repr(grace_s).encode(), cwd, claim, str(len(argv)).encode(), *argv, *env])
    return _LENGTH.pack(len(body)) + body


def _read_request(control: socket.socket) -> tuple[list[bytes], list[bytes], bytes, float, bytes]:
    (length,) = _LENGTH.unpack(_read_exactly(control, _LENGTH.size))
    grace, cwd, claim, count, *rest = _read_exactly(control, length).split(b"\0")
    return rest[: int(count)], rest[int(count) :], cwd, float(grace), claim


def _read_exactly(control: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        more = control.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    return bytes(data)


# Processes. A process is (pid, start time): the pair is never used twice.


def _stat(pid: int) -> tuple[int, int, bytes] | None:
    """Parent, start time and state of `pid`, or None when there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - pathlib would double the start-up time
            line = file.read()
    except OSError:
        return None
    rest = line[line.rindex(b")") + 2 :].split()  # the name before it may hold anything, parentheses too
    return int(rest[1]), int(rest[19]), rest[0]


def descendants(root: int, besides: frozenset[int] = frozenset()) -> list[tuple[int, int]]:
    """Every living process below `root`, parents first, without the trees of `besides`."""
    children: dict[int, list[tuple[int, int]]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit() and (seen := _stat(int(name))) is not None and seen[2] != b"Z":
            children.setdefault(seen[0], []).append((int(name), seen[1]))
    found: list[tuple[int, int]] = []
    todo = [root]
    while todo:
        for pid, started in children.get(todo.pop(), ()):
            if pid not in besides:
                found.append((pid, started))
                todo.append(pid)
    return found


def _command(pid: int) -> bytes:
    """A process's command line, as far as it is told; NUL stands between the commands of several."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 - as above
            line = file.read(NAMED_BYTES)
    except OSError:
        line = b""
    return line.rstrip(b"\0").replace(b"\0", b" ") or b"?"


def _send(process: tuple[int, int], *numbers: int) -> None:
    """Signal a process and no other that got its number meanwhile."""
    pid, started = process
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return
    try:
        seen = _stat(pid)
        if seen is not None and seen[1] == started:
            for number in numbers:
                signal.pidfd_send_signal(handle, number)
    except OSError:
        pass  # gone meanwhile, or not ours to signal: the keeper's wait tells what is left
    finally:
        os.close(handle)


def _kill_all(root: int, besides: frozenset[int] = frozenset()) -> None:
    """SIGKILL everything below `root`: stopped first, so that nobody forks while we count."""
    stopped: set[tuple[int, int]] = set()
    while new := [each for each in descendants(root, besides) if each not in stopped]:
        for process in new:
            _send(process, signal.SIGSTOP)
            stopped.add(process)
    for process in stopped:
        _send(process, signal.SIGKILL)


def _become_subreaper() -> None:
    """Adopt orphans; and be woken by the death of our parent, should we be stopped when it dies."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    prctl(_PR_SET_PDEATHSIG, signal.SIGCONT, 0, 0, 0)


def _wake_on_child() -> int:
    """A descriptor that becomes readable when a child has ended."""
    readable, writable = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # a Python handler, or no wake-up byte is written
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    return readable


def _drain(wake: int) -> None:
    with contextlib.suppress(BlockingIOError):
        while os.read(wake, 4096):
            pass


# Whose process it is.


def _declare(claim: bytes) -> None:
    """Hold what `ancestry.py` reads: a file in memory that nobody can change, this process included."""
    file = os.memfd_create(CLAIM_FILE, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(file, claim)
    fcntl.fcntl(
        file,
        fcntl.F_ADD_SEALS,
        fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE,
    )


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def _mark() -> None:
    """Mark this process and all that it starts."""
    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.getrlimit(RLIMIT_LOCKS)
        if hard == resource.RLIM_INFINITY:
            resource.setrlimit(RLIMIT_LOCKS, (MARK_LOCKS, MARK_LOCKS))
    prctl, seccomp = _SYSCALLS.get(platform.machine(), _GENERIC)
    steps = (
        (0x20, 0, 0, 0),  # the number of the call
        (0x15, 0, 3, prctl),
        (0x20, 0, 0, 16 if sys.byteorder == "little" else 20),  # the lower half of its first argument
        (0x15, 0, 1, MARK_OPTION),
        (0x06, 0, 0, 0x0005_0000 | MARK_ANSWER),  # SECCOMP_RET_ERRNO
        (0x06, 0, 0, 0x7FFF_0000),  # SECCOMP_RET_ALLOW
    )
    program = _Filter(len(steps), b"".join(struct.pack("=HBBI", *step) for step in steps))
    call = ctypes.CDLL(None).syscall  # refused without CAP_SYS_ADMIN; then nobody can take off the other mark
    call(seccomp, _SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_SPEC_ALLOW, ctypes.byref(program))


# The keeper.


class _Keeper:
    """One tool process and its tree, until nothing of it is left."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._main = 0
        self._main_ended = False
        self._kill_at: float | None = None
        self._cpu_us = 0
        self._peak_kib = 0
        self._grace_s = 0.0

    def start(self, stdio: list[int]) -> bool:
        argv, env, cwd, self._grace_s, claim = _read_request(self._control)
        if self._is_late():
            self._tell(FAILED, errno.ECANCELED)
            return False
        self._tell(WATCHING, os.getpid())
        variables = dict(each.split(b"=", 1) for each in env)
        os.environb[b"PATH"] = variables.get(b"PATH", os.defpath.encode())  # where posix_spawnp looks
        stage = 1
        try:
            os.chdir(cwd)
            stage = 0
            if claim:
                _declare(claim)
                _mark()
            self._main = self._spawn(argv, variables, stdio)
        except OSError as error:
            self._tell(FAILED, error.errno or 0, stage)
            return False
        finally:
            for fd in stdio:  # or our own copies would keep the pipes open
                os.close(fd)
            os.chdir("/")
        return True

    def _is_late(self) -> bool:
        """Whether the host has given up already, while the spawner was stopped or behind."""
        with contextlib.suppress(BlockingIOError):
            self._control.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
            return True
        return False

    def _spawn(self, argv: list[bytes], env: dict[bytes, bytes], stdio: list[int]) -> int:
        for _ in range(BUSY_ATTEMPTS):
            try:
                return os.posix_spawnp(
                    argv[0],
                    argv,
                    env,
                    file_actions=[(os.POSIX_SPAWN_DUP2, fd, to) for to, fd in enumerate(stdio)],
                    setsid=True,
                    setsigmask=(),
                    # What the host ignores (Python ignores SIGPIPE) would be ignored in every tool.
                    setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
                )
            except OSError as error:
                if error.errno != errno.ETXTBSY:
                    raise
                time.sleep(BUSY_PAUSE_S)
        raise OSError(errno.ETXTBSY, os.strerror(errno.ETXTBSY))

    def watch(self, wake: int) -> None:
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        poll.register(self._control, select.POLLIN)
        while self._reap():
            if self._main_ended:
                if self._kill_at is None:
                    self._tell_left()
                self._begin_end()
            pause = None
            if self._kill_at is not None:
                left = self._kill_at - time.monotonic()
                if left <= -KILL_BOUND_S:
                    self._tell_gone(len(descendants(os.getpid())))
                    return
                if left <= 0:
                    _kill_all(os.getpid())
                pause = max(left, KILL_ROUND_S) * 1000
            for fd, _ in poll.poll(pause):
                if fd == wake:
                    _drain(wake)
                elif not self._asked_to_end():  # the host is gone: it will not ask again
                    poll.unregister(self._control)
        self._tell_gone(0)

    def _reap(self) -> bool:
        """Collect who ended; False when nothing is left."""
        while True:
            try:
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if not pid:
                return True
            self._cpu_us += int((used.ru_utime + used.ru_stime) * 1e6)
            self._peak_kib = max(self._peak_kib, used.ru_maxrss)
            if pid == self._main and not self._main_ended:
                self._main_ended = True
                self._tell(ENDED, status)

    def _asked_to_end(self) -> bool:
        try:
            asked = self._control.recv(16, socket.MSG_DONTWAIT)
        except OSError:
            asked = b""
        self._begin_end()
        return bool(asked)

    def _begin_end(self) -> None:
        if self._kill_at is None:
            self._kill_at = time.monotonic() + self._grace_s
            for process in descendants(os.getpid()):
                _send(process, signal.SIGTERM, signal.SIGCONT)  # a stopped process would not see the first

    def _tell_left(self) -> None:
        """Say what is ended because the tool has: nobody asked for that, unlike at a stop."""
        left = descendants(os.getpid())
        named = b"\0".join(_command(pid) for pid, _ in left[:NAMED_PROCESSES])
        if left:
            with contextlib.suppress(OSError):
                self._control.sendall(FRAME.pack(LEFT, len(left), len(named), 0) + named)

    def _tell_gone(self, left: int) -> None:
        self._tell(GONE, self._cpu_us, self._peak_kib, left)

    def _tell(self, kind: bytes, one: int = 0, two: int = 0, three: int = 0) -> None:
        with contextlib.suppress(OSError):  # the host is gone; the work goes on
            self._control.sendall(FRAME.pack(kind, one, two, three))


def _keep(control_fd: int, stdio: list[int]) -> None:
    _become_subreaper()
    wake = _wake_on_child()
    keeper = _Keeper(socket.socket(fileno=control_fd))
    with contextlib.suppress(EOFError):  # the host died before it said what to start
        if keeper.start(stdio):
            keeper.watch(wake)


# The spawner.


def _spawn_keepers() -> None:
    """Fork a keeper for each message on `SPAWNER_FD`, until the host closes it."""
    os.closerange(SPAWNER_FD + 1, os.sysconf("SC_OPEN_MAX"))  # what a library of the host left inheritable
    host = socket.socket(fileno=SPAWNER_FD)
    os.set_inheritable(SPAWNER_FD, False)
    _become_subreaper()
    wake = _wake_on_child()
    poll = select.poll()
    poll.register(host, select.POLLIN)
    poll.register(wake, select.POLLIN)
    keepers: dict[int, float] = {}
    strays = False
    while True:
        for fd, _ in poll.poll(KILL_ROUND_S * 1000 if strays else None):
            if fd == wake:
                _drain(wake)
                continue
            data, fds, _flags, _address = socket.recv_fds(host, ASK.size, 8)
            if not data:
                _end_keepers(keepers, wake)
                return
            # Received ones are inheritable, and `recv_fds` drops the flag that says otherwise.
            for each in fds:
                os.set_inheritable(each, False)
            pid = os.fork()
            if not pid:
                _in_a_keeper(wake, host, fds)
            (keepers[pid],) = ASK.unpack(data)
            for each in fds:
                os.close(each)
        strays |= _reap_keepers(keepers)
        if strays:
            strays = _kill_strays(keepers)


def _kill_strays(keepers: dict[int, float]) -> bool:
    """End what ended keepers left to us; True when there is more to do."""
    besides = frozenset(keepers)
    _kill_all(os.getpid(), besides)
    _reap_keepers(keepers)
    return bool(descendants(os.getpid(), besides))


def _end_keepers(keepers: dict[int, float], wake: int) -> None:
    """The host is gone: stay until each keeper has ended its tree, and see to it that each can."""
    poll = select.poll()
    poll.register(wake, select.POLLIN)
    kill_at = time.monotonic() + max(keepers.values(), default=0) + 2 * KILL_BOUND_S
    strays = True
    while time.monotonic() < kill_at + KILL_BOUND_S:
        strays |= _reap_keepers(keepers)
        if strays:
            strays = _kill_strays(keepers)
        if not keepers and not strays:
            return
        number = signal.SIGCONT if time.monotonic() < kill_at else signal.SIGKILL
        for pid in keepers:  # none of them is reaped, so the numbers are theirs
            with contextlib.suppress(OSError):
                os.kill(pid, number)
        poll.poll((KILL_ROUND_S if strays else WAKE_ROUND_S) * 1000)
        _drain(wake)


def _reap_keepers(keepers: dict[int, float]) -> bool:
    """Collect ended children; True when one of them may have left orphans to us."""
    orphans = False
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            orphans |= status != 0 or pid not in keepers
            keepers.pop(pid, None)
    return orphans


def _in_a_keeper(wake: int, host: socket.socket, fds: list[int]) -> None:
    """The forked half: never returns."""
    code = 1
    try:
        os.close(wake)
        host.close()
        control, *stdio = fds
        _keep(control, stdio)
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        _spawn_keepers()
    sys.exit(0)
