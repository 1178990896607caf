"""The supervisor's hold on one zygote: its process, its orders, the children it says are gone."""

from __future__ import annotations

import array
import contextlib
import os
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgpack
import psutil
import RestrictedPython
import trio

import litany_runtime
import litany_stubs
from litany_runtime import confine, orders, wire
from litany_runtime.confine.paths import read_only_paths
from litany_runtime.link import Link
from litany_runtime.output import Kept
from litany_stubs.module import compile_stubs

if TYPE_CHECKING:
    from litany_runtime.limits import Limits
    from litany_runtime.program import FilePolicy
    from litany_runtime.setup import Setup

_START_S = 30.0
"""How long a zygote may take to import and confine itself; a loaded machine needs two seconds."""

_END_S = 1.0
"""How long a zygote may take to end by itself, with all its children; it needs milliseconds."""

_LAST_WORDS_BYTES = 8192
"""How much of a dying process's stderr an error quotes."""

# The control socket moves to the number that the zygote expects before anything else is opened.
_BOOT = """\
import os, sys
fd = int(sys.argv[1])
if fd != 3:
    os.dup2(fd, 3, inheritable=False)
    os.close(fd)
os.set_inheritable(3, False)
sys.path[:0] = sys.argv[2:]
from litany_runtime.zygote import main
main()
"""


class ZygoteError(RuntimeError):
    """The zygote could not be made, or died; a fault of the harness, never of a program."""


@dataclass(frozen=True, slots=True)
class Place:
    """The worktree that a warm child has mounted, and the `.git` in it that it has covered.

    A mount stays on what was there when it was made. When the host replaces the folder, a waiting child still
    has the old one. When the host removes or replaces the `.git`, the kernel takes the cover away with it. So
    a child is used only while both are what they were.

    Attributes:
        folder: device and inode number of the worktree. git: device, inode number and time of change (ns) of
        its `.git`; None when there is none. The time tells
            a new file that was given the old one's number.
    """

    folder: tuple[int, int]
    git: tuple[int, int, int] | None

    @classmethod
    def of(cls, worktree: Path) -> Place:
        """Look at a worktree.

        Raises:
            OSError: it is not there.
        """
        status = worktree.stat()
        try:
            git = os.lstat(worktree / ".git")
        except OSError:
            return cls((status.st_dev, status.st_ino), None)
        return cls((status.st_dev, status.st_ino), (git.st_dev, git.st_ino, git.st_ctime_ns))


@dataclass(frozen=True, slots=True)
class Kind:
    """What a warm child is made for; programs of one kind are served by any child of it.

    Attributes:
        worktree: the worktree's folder name, or None.
        place: what that folder was when the child was asked for.
        files: what may be done there.
        limits: the limits applied.
        stubs: the source of its `litany_tools`.
    """

    worktree: str | None
    place: Place | None
    files: FilePolicy
    limits: Limits
    stubs: str


@dataclass(eq=False, slots=True)
class Child:
    """One child, from its order to its end.

    Attributes:
        key: its number.
        kind: what it is made for.
        link: our end of its socket.
        decoder: the decoder of its messages.
        stdout: our end of its output pipe.
        stderr: our end of its diagnostics pipe.
        gone: set when it is reaped, or its zygote is dead.
        exited: how it went; None until gone, and for ever when the zygote died first.
        layers: what holds, by its own word.
    """

    key: int
    kind: Kind
    link: Link
    decoder: wire.Decoder
    stdout: trio.lowlevel.FdStream
    stderr: trio.lowlevel.FdStream
    gone: trio.Event = field(default_factory=trio.Event)
    exited: orders.Exited | None = None
    layers: tuple[str, ...] = ()

    async def close(self) -> None:
        """Close the descriptors."""
        self.link.close()
        await self.stdout.aclose()
        await self.stderr.aclose()


class Zygote:
    """One running zygote."""

    def __init__(self, process: subprocess.Popen[bytes], control: trio.socket.SocketType) -> None:
        self._process = process
        self._control = control
        self._children: dict[int, Child] = {}
        self._last_key = 0
        self.dead = False

    @classmethod
    async def start(cls, setup: Setup) -> Zygote:
        """Start a zygote and wait until it takes orders.

        Raises:
            confine.ConfinementError: a layer that the isolation asks for cannot be had here.
            ZygoteError: it failed otherwise; the message says what it said.
        """
        ours: socket.socket | None = None
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                # Spawned from a worker thread it would be that thread's child, and die when the thread does.
                process = subprocess.Popen(  # noqa: ASYNC220
                    [
                        sys.executable,
                        "-I",
                        "-S",
                        "-B",
                        "-X",
                        "utf8",
                        "-c",
                        _BOOT,
                        str(theirs.fileno()),
                        *_search_path(),
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    env={},
                    cwd="/",
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
        except OSError as error:
            if ours is not None:
                ours.close()
            raise ZygoteError(f"the zygote could not be started: {error.strerror}") from error
        self = cls(process, trio.socket.from_stdlib_socket(ours))
        try:
            await self._begin(setup)
        except BaseException:
            self.kill()
            raise
        return self

    async def _begin(self, setup: Setup) -> None:
        try:
            read_only = read_only_paths(setup.modules)
        except ModuleNotFoundError as error:
            raise ZygoteError(f"the setting `modules` names what is not installed: {error}") from None
        plan = confine.ZygotePlan(
            isolation=setup.isolation,
            read_only=read_only,
            worktrees=setup.worktree_root,
            supervisor=os.getpid(),
        )
        await self._send(orders.Begin(plan.to_json(), list(setup.modules), setup.language_layer))
        answer = None
        with trio.move_on_after(_START_S) as patience:
            data = await self._control.recv(orders.MAX_ORDER_BYTES)
            answer = orders.decode(data) if data else None
        if isinstance(answer, orders.Failed):
            if answer.layer:
                raise confine.ConfinementError(answer.layer, answer.cause, answer.remedy)
            raise ZygoteError(f"the zygote could not start: {answer.cause.strip()}")
        if not isinstance(answer, orders.Ready):
            said = self._last_words()
            when = (
                f"did not start within {_START_S:g} s"
                if patience.cancelled_caught
                else "died while it started"
            )
            raise ZygoteError(f"the zygote {when}: {said}")

    async def serve(self) -> None:
        """Note which children are gone, until the zygote is."""
        try:
            while data := await self._control.recv(orders.MAX_ORDER_BYTES):
                exited = orders.decode(data)
                if isinstance(exited, orders.Exited) and (child := self._children.pop(exited.key, None)):
                    child.exited = exited
                    child.gone.set()
        except (OSError, trio.ClosedResourceError):
            pass  # it is dead; what follows says so to everybody
        finally:
            self.kill()

    def kill(self) -> None:
        """End the zygote and with it all its children; they count as gone."""
        if self.dead:
            return
        self.dead = True
        self._control.close()
        self._wait_for_the_end()
        if self._process.stderr is not None:
            self._process.stderr.close()
        for child in self._children.values():
            child.gone.set()
        self._children.clear()

    def _wait_for_the_end(self) -> None:
        """Return once the launcher is gone, and so everything under it.

        The zygote ends because its socket did, the kernel ends its children before it, and the launcher waits
        for it: nothing is left when the launcher is reaped. One that is killed instead is gone before them.
        """
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            below = psutil.Process(self._process.pid).children(recursive=True)
            self._process.kill()
            self._process.wait()
            psutil.wait_procs(below, _END_S)

    async def spawn(self, kind: Kind) -> Child:
        """Order a child and wait until it is warm.

        Raises:
            ZygoteError: it did not come up.
        """
        try:
            stubs = wire.encode(wire.Stubs(compile_stubs(kind.stubs)), wire.max_frame_from_host(kind.limits))
        except wire.LocalError as error:
            raise ZygoteError(f"the stubs of all the tools are too large for a program: {error}") from None
        self._last_key += 1
        try:
            child, theirs = _new_child(self._last_key, kind)
        except OSError as error:
            raise ZygoteError(f"a child could not be made: {error.strerror}") from error
        self._children[child.key] = child
        try:
            try:
                await self._send(orders.Spawn.of(child.key, kind.worktree, kind.files, kind.limits), theirs)
            finally:
                for fd in theirs:
                    os.close(fd)
            await child.link.send_first(stubs)
            child.layers = await self._await_warm(child)
        except BaseException:
            with trio.CancelScope(shield=True):
                await self.signal(child, 9)
                await child.close()
            raise
        return child

    async def _await_warm(self, child: Child) -> tuple[str, ...]:
        with contextlib.suppress(wire.RemoteError):
            while data := await child.link.receive():
                for message in child.decoder.feed(data):
                    if isinstance(message, wire.Warm):
                        return tuple(message.layers)
        words = Kept(_LAST_WORDS_BYTES)
        with trio.move_on_after(1):
            async for piece in child.stderr:
                words.add(piece)
        said = words.bytes().decode("utf-8", "replace").strip()
        raise ZygoteError(said or f"a child did not come up{': its zygote is gone' if self.dead else ''}")

    async def signal(self, child: Child, number: int) -> None:
        """Send a signal to a child; one that is gone is no error."""
        if not child.gone.is_set() and not self.dead:
            with contextlib.suppress(ZygoteError):
                await self._send(orders.Signal(child.key, number))

    async def _send(self, order: orders.Order, fds: tuple[int, ...] = ()) -> None:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        try:
            await self._control.sendmsg([orders.encode(order)], ancillary)
        except (OSError, trio.ClosedResourceError) as error:
            raise ZygoteError(f"the zygote is gone: {error}") from None

    def _last_words(self) -> str:
        self._process.kill()
        self._process.wait()
        assert self._process.stderr is not None
        said = self._process.stderr.read()[-_LAST_WORDS_BYTES:]
        return said.decode("utf-8", "replace").strip() or "it said nothing"


def _new_child(key: int, kind: Kind) -> tuple[Child, tuple[int, int, int]]:
    """A child's record, and the three descriptors that are its own."""
    with contextlib.ExitStack() as unless_all:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        unless_all.callback(ours.close)
        unless_all.callback(theirs.close)
        pipes = []
        for _ in ("stdout", "stderr"):
            pipes.append(os.pipe2(os.O_CLOEXEC))
            for fd in pipes[-1]:
                unless_all.callback(os.close, fd)
        unless_all.pop_all()
    (out, out_fd), (err, err_fd) = pipes
    child = Child(
        key,
        kind,
        Link(ours),
        wire.Decoder(wire.FROM_CHILD, wire.max_frame_from_child(kind.limits)),
        trio.lowlevel.FdStream(out),
        trio.lowlevel.FdStream(err),
    )
    return child, (theirs.detach(), out_fd, err_fd)


def _search_path() -> list[str]:
    """The folders that hold our own packages and what they import; the interpreter knows its library."""
    packages = (litany_runtime, litany_stubs, RestrictedPython, msgpack)
    folders = [str(Path(str(each.__file__)).parent.parent) for each in packages]
    return list(dict.fromkeys(folders))
