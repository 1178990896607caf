"""What tests of the runtime share: a supervisor, and a look at what runs, from the host."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import trio

from litany_runtime.deadline import Deadline
from litany_runtime.limits import Limits
from litany_runtime.program import FilePolicy, InnerCall, Program, ProgramEnd
from litany_runtime.setup import Setup
from litany_runtime.supervisor import Supervisor, open_supervisor
from litany_stubs.render import render
from litany_stubs.words import Reply, ToolDeclaration

Answer = Callable[[InnerCall], Awaitable[Reply]]

TOOLS = [
    ToolDeclaration("echo", "Say it again.", {"type": "object", "properties": {"text": {"type": "string"}}}),
    ToolDeclaration("nap", "Never answers.", {"type": "object", "properties": {}}),
]


async def echo(call: InnerCall) -> Reply:
    """Answer `echo` with its text; leave `nap` waiting until it is cancelled."""
    if call.name == "nap":
        await trio.sleep_forever()
    return Reply("completed", 0, stdout=str(call.input.get("text", "")).encode())


class Bench:
    """A supervisor to try programs on.

    Attributes:
        supervisor: the supervisor.
        worktree: the worktree that its programs see.
    """

    def __init__(self, supervisor: Supervisor, worktree: Path | None) -> None:
        self.supervisor = supervisor
        self.worktree = worktree

    async def run(
        self,
        source: str | bytes,
        *,
        deadline_s: float = 30,
        deadline: Deadline | None = None,
        limits: Limits | None = None,
        stop: trio.Event | None = None,
        answer: Answer = echo,
        output: Callable[[str, bytes], None] | None = None,
        files: FilePolicy = FilePolicy.WRITE,
        warned: Callable[[str], None] | None = None,
    ) -> ProgramEnd:
        """Run one program."""
        text = source.encode() if isinstance(source, str) else source
        return await self.supervisor.run(
            Program(text, render(TOOLS), self.worktree, files),
            limits,
            answer=answer,
            deadline=deadline or trio.current_time() + deadline_s if math.isfinite(deadline_s) else math.inf,
            stop=stop,
            output=output,
            warned=warned,
        )


@asynccontextmanager
async def open_bench(folder: Path | None = None, **setup: object) -> AsyncIterator[Bench]:
    """A bench whose programs have a worktree when `folder` is given."""
    root = worktree = None
    if folder is not None:
        root = folder / "agents"
        worktree = root / "one"
        worktree.mkdir(parents=True, exist_ok=True)
    async with open_supervisor(Setup(worktree_root=root, **setup)) as supervisor:  # type: ignore[arg-type]
        yield Bench(supervisor, worktree)


def processes_below() -> list[psutil.Process]:
    """Every process under this one that is not a zombie."""
    return [each for each in psutil.Process().children(recursive=True) if _is_alive(each)]


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # gone between the listing and the look
        return False
