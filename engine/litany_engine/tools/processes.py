"""Running a process so that nothing of it is left behind and nothing it said is lost.

`run_process` starts a program under a keeper (`keeper.py` says why) and returns once every process below it
is gone. A deadline or a stop is the caller's cancel scope: the tree gets SIGTERM, the grace, SIGKILL, and
the call **returns** what was printed so far, with `cancelled` set, instead of raising `trio.Cancelled`:
an exception has no room for a megabyte of output, and the scope cancels the caller's next wait anyhow.
"""

from __future__ import annotations

import errno
import math
import os
import secrets
import signal
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import trio

from litany_engine.tools import keeper
from litany_engine.tools.marked_trees import TREE_VARIABLE, end_marked
from litany_engine.tools.process_pipes import Pipes, collect, drain, send_all
from litany_engine.tools.spawner import ask_for_keeper, give_up
from litany_runtime.limits import KIB, MIB
from litany_runtime.outcome import Usage
from litany_runtime.output import Kept

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Callable, Mapping, Sequence
    from pathlib import Path

    from litany_engine.tools.ancestry import Claim
    from litany_engine.tools.spawner import Spawner

MAX_OUTPUT_BYTES = 10 * MIB
"""Bytes kept of each stream by default: far above what a person or model reads; a program gets them all."""
GRACE_S = 2.0
"""Seconds between SIGTERM and SIGKILL: enough to flush and unlock, short enough to wait for."""
ANSWER_BOUND_S = 2.0
"""How long a keeper may be silent after its own bounds have passed before it is taken for lost."""
START_BOUND_S = 30.0
"""How long a keeper may take to be there: far above what a busy machine needs to fork a small process."""
_REMEDIES = {
    errno.EACCES: " (is it executable? `chmod +x` makes it so)",
    errno.ENOEXEC: " (a script begins with the line `#!/path/to/interpreter`)",
}
"""What to do about the causes that a program somebody has just written has."""


@dataclass(slots=True)
class ToolProcesses:
    """The processes of tools and servers that this process has started.

    Attributes:
        started: how many.
        running: how many there are now.
    """

    started: int = 0
    running: int = 0


tool_processes = ToolProcesses()


class ProcessError(RuntimeError):
    """A process could not be started or watched: the harness's failure, not the program's.

    Attributes:
        stdout: what it had printed.
        stderr: the same for the other stream.
    """

    def __init__(self, message: str, stdout: bytes = b"", stderr: bytes = b"") -> None:
        super().__init__(message)
        self.stdout = stdout
        self.stderr = stderr


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """How a process ended. All of its descendants had ended, too, when this was made.

    Attributes:
        exit_code: its own, or 128 + signal.
        signal: the signal that ended it, or None.
        stdout: what the tree printed, within the limit; a line in the text stands for a dropped middle.
        stderr: the same for the other stream.
        stdout_dropped: bytes of stdout that were not kept.
        stderr_dropped: bytes of stderr that were not kept.
        cancelled: the caller's scope was cancelled while the process was running, and that ended it.
        survivors: processes that even SIGKILL did not end in time (waiting in the kernel, or another user's).
        left: how many processes it had left running when it ended, which were ended then.
        left_commands: the command lines of the first of them.
        usage: processor time and the largest resident set of any one process of the tree. A process counts
            from its fork, so the floor of the memory figure is a keeper's own few MiB.
    """

    exit_code: int
    signal: int | None
    stdout: bytes
    stderr: bytes
    stdout_dropped: int = 0
    stderr_dropped: int = 0
    cancelled: bool = False
    survivors: int = 0
    left: int = 0
    left_commands: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


async def run_process(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    stdin: bytes | AsyncIterable[bytes] = b"",
    max_output_bytes: int = MAX_OUTPUT_BYTES,
    grace_s: float = GRACE_S,
    output: Callable[[str, bytes], None] | None = None,
    claim: Claim | None = None,
) -> ProcessEnd:
    """Run a program to its end, and to the end of everything it started.

    When the program itself ends, what it left running in the background is ended too, by the same steps
    (SIGTERM, the grace, SIGKILL): nothing outlives the call, and a held pipe cannot delay it.

    Args:
        argv: program and arguments; the program is looked up in `env`'s PATH unless it has a slash.
        env: the whole environment, to which only `LITANY_PROCESS_TREE` is added.
        cwd: the working directory.
        stdin: what it may read, at once or in pieces as they come; offered, so not reading it is no error.
            Empty: `/dev/null`.
        max_output_bytes: bytes kept of each stream.
        grace_s: seconds between SIGTERM and SIGKILL.
        output: `output("stdout" | "stderr", chunk)` gets the streams as they come; must not raise.
        claim: whose process this is: it and all below it are marked so. None for the operator's own.

    Returns:
        How it ended. Also when the caller's scope is cancelled while it runs: then within
        `grace_s` and a moment, with `cancelled` set and the output so far.

    Raises:
        ProcessError: the program cannot be started, or its keeper was lost; what was printed is on it.
        trio.Cancelled: the scope was cancelled before the program was started.
    """
    await trio.lowlevel.checkpoint_if_cancelled()
    request, token = _request(argv, env, cwd, grace_s, claim)
    with ExitStack() as stack:
        try:
            pipes = Pipes(stack, feed=bool(stdin))
            spawner = await ask_for_keeper(pipes.theirs, grace_s)
        except OSError as error:
            raise ProcessError(f"cannot start a process: {error.strerror}") from error
        pipes.hand_over()
        if claim is not None:
            tool_processes.started += 1
            tool_processes.running += 1
            stack.callback(_one_less)
        run = _Run(pipes, spawner, max_output_bytes, grace_s, program=argv[0], cwd=cwd, output=output)
        await run.to_the_end(request, stdin)
        if run.never_started:
            await trio.lowlevel.checkpoint_if_cancelled()
        if run.lost:
            with trio.CancelScope(shield=True):  # bounded by how often it looks
                await trio.to_thread.run_sync(end_marked, token)
        return run.end()


def _one_less() -> None:
    tool_processes.running -= 1


def _request(
    argv: Sequence[str], env: Mapping[str, str], cwd: Path, grace_s: float, claim: Claim | None
) -> tuple[bytes, str]:
    if not argv:
        raise ProcessError("cannot start a process: the command is empty")
    token = secrets.token_hex(8)
    outer = os.environ.get(TREE_VARIABLE)
    variables = {**env, TREE_VARIABLE: f"{outer}:{token}" if outer else token}
    arguments = [os.fsencode(each) for each in argv]
    pairs = [os.fsencode(f"{key}={value}") for key, value in variables.items()]
    if any(b"\0" in each for each in (*arguments, *pairs)):
        raise ProcessError(f"cannot start {argv[0]!r}: an argument or variable holds a NUL character")
    whose = b"" if claim is None else claim.encode()
    return keeper.pack_request(arguments, pairs, os.fsencode(cwd), grace_s, whose), token


class _Run:
    """One running process, seen from the host."""

    def __init__(
        self,
        pipes: Pipes,
        spawner: Spawner,
        limit: int,
        grace_s: float,
        *,
        program: str,
        cwd: Path,
        output: Callable[[str, bytes], None] | None,
    ) -> None:
        self._pipes = pipes
        self._spawner = spawner
        self._program = program
        self._cwd = cwd
        # Beyond the keeper's own bounds it is lost, not slow.
        self._patience_s = grace_s + keeper.KILL_BOUND_S + ANSWER_BOUND_S
        self._stdout = Kept(limit)
        self._stderr = Kept(limit)
        self._take_stdout = _taker(self._stdout, "stdout", output)
        self._take_stderr = _taker(self._stderr, "stderr", output)
        self._frames = bytearray()
        self._asked = trio.Event()
        self._keeper_pid = 0
        self._status: int | None = None
        self._gone: tuple[int, int, int] | None = None
        self._left = 0
        self._left_commands: tuple[str, ...] = ()
        self._cancelled = False
        self._failure = ""
        self.lost = False
        self.never_started = False

    async def to_the_end(self, request: bytes, stdin: bytes | AsyncIterable[bytes]) -> None:
        """Serve the streams and follow the keeper until the tree is gone."""
        serving = trio.CancelScope(shield=True)
        with trio.CancelScope(shield=True) as shield:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._serve, serving, request, stdin)
                try:
                    # The one wait that the caller may cancel. The streams are served on meanwhile, since
                    # output matters most while a program is being ended.
                    shield.shield = False
                    await self._follow()
                except trio.Cancelled:
                    # From here on shielded, and bounded by `_patience_s`.
                    shield.shield = True
                    self._cancelled = self._status is None
                    await self._end_tree()
                finally:
                    shield.shield = True
                    serving.cancel()
        drain(self._pipes.stdout, self._take_stdout)
        drain(self._pipes.stderr, self._take_stderr)

    async def _serve(
        self, serving: trio.CancelScope, request: bytes, stdin: bytes | AsyncIterable[bytes]
    ) -> None:
        with serving:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(collect, self._pipes.stdout, self._take_stdout)
                nursery.start_soon(collect, self._pipes.stderr, self._take_stderr)
                nursery.start_soon(self._feed, stdin)
                with suppress(OSError):  # a lost keeper is noticed by who reads from it
                    await send_all(self._pipes.control.fileno(), request)
                self._asked.set()

    async def _feed(self, stdin: bytes | AsyncIterable[bytes]) -> None:
        if self._pipes.stdin is not None:
            with suppress(OSError):  # stdin is offered: who does not read it has not failed
                if isinstance(stdin, bytes):
                    await send_all(self._pipes.stdin, stdin)
                else:
                    async for piece in stdin:
                        await send_all(self._pipes.stdin, piece)
            self._pipes.close_stdin()

    async def _follow(self) -> None:
        """Read what the keeper says until the tree is gone, or the keeper is."""
        while self._gone is None:
            bound_s = math.inf if self._keeper_pid else START_BOUND_S
            with trio.move_on_after(bound_s) as waiting:
                frame = await self._frame()
            if waiting.cancelled_caught:
                give_up(self._spawner)
                self._lose("the process that should start it does not answer")
                return
            if frame is None:
                self._lose("the process that watched over it was ended")
                return
            kind, one, two, three = frame
            if kind == keeper.WATCHING:
                self._keeper_pid = one
            elif kind == keeper.FAILED:
                self.never_started = one == errno.ECANCELED
                self._failure = self._why_not_started(one, in_cwd=bool(two))
                return
            elif kind == keeper.ENDED:
                self._status = one
            elif kind == keeper.LEFT:
                self._left = one
                named = await self._taken(two)
                if named is not None:
                    commands = named.decode("utf-8", "backslashreplace").split("\0")
                    self._left_commands = tuple(commands)
            elif kind == keeper.GONE:
                self._gone = (one, two, three)

    async def _frame(self) -> tuple[bytes, int, int, int] | None:
        data = await self._taken(keeper.FRAME.size)
        if data is None:
            return None
        kind, one, two, three = keeper.FRAME.unpack(data)
        return kind, one, two, three

    async def _taken(self, size: int) -> bytes | None:
        """So many bytes of what the keeper says; None when it ends before."""
        control = self._pipes.control
        while len(self._frames) < size:
            await trio.lowlevel.wait_readable(control)
            try:
                data = control.recv(4096)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if not data:
                return None
            self._frames += data
        taken = bytes(self._frames[:size])
        del self._frames[:size]
        return taken

    async def _end_tree(self) -> None:
        with trio.move_on_after(self._patience_s):
            await self._asked.wait()  # or our byte would land in the middle of the request
            with suppress(OSError):
                await send_all(self._pipes.control.fileno(), keeper.END_TREE)
            await self._follow()
            return
        # A silent keeper still holds its end of the socket, so its number is still its own. Its
        # children go to the spawner, which ends them.
        if self._keeper_pid:
            with suppress(ProcessLookupError):
                os.kill(self._keeper_pid, signal.SIGKILL)
        self._spawner.wake()
        self._lose("the process that watches over it does not answer")

    def _lose(self, cause: str) -> None:
        self.lost = True
        self._failure = f"lost {self._program!r}: {cause}"

    def _why_not_started(self, number: int, *, in_cwd: bool) -> str:
        cause = os.strerror(number) + _REMEDIES.get(number, "")
        if in_cwd:
            return f"cannot start {self._program!r} in {str(self._cwd)!r}: {cause}"
        return f"cannot start {self._program!r}: {cause}"

    def end(self) -> ProcessEnd:
        """How it ended.

        Raises:
            ProcessError: it did not start, or its keeper was lost.
        """
        if self._gone is not None and self._status is None:
            self._failure = f"cannot end {self._program!r}: SIGKILL had no effect on it"
        if self._gone is None or self._status is None:
            raise ProcessError(self._failure, self._stdout.bytes(), self._stderr.bytes())
        cpu_us, peak_kib, survivors = self._gone
        code = os.waitstatus_to_exitcode(self._status)
        return ProcessEnd(
            exit_code=code if code >= 0 else 128 - code,
            signal=-code if code < 0 else None,
            stdout=self._stdout.bytes(),
            stderr=self._stderr.bytes(),
            stdout_dropped=self._stdout.dropped_bytes,
            stderr_dropped=self._stderr.dropped_bytes,
            cancelled=self._cancelled,
            survivors=survivors,
            left=self._left,
            left_commands=self._left_commands,
            usage=Usage(cpu_s=cpu_us / 1e6, peak_memory_bytes=peak_kib * KIB),
        )


def _taker(kept: Kept, stream: str, output: Callable[[str, bytes], None] | None) -> Callable[[bytes], None]:
    if output is None:
        return kept.add

    def take(data: bytes) -> None:
        kept.add(data)
        output(stream, data)

    return take
