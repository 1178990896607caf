"""A host that dies at a chosen system call: a process of its own, which tests drive over a pipe.

Run as a script, it reads one request a line, and for each forks a child that does the work while the parent
traces it and counts the system calls of all its threads, entries and exits alike. At the chosen one the child
is sent SIGKILL: so whatever it does between two system calls, there is a number that falls between them.
Without a number it is not traced, and dies when its tool `die` says so.

    {"root": "…", "do": "window" | "advance", "calls": [blocks], "kill_at": n | null}
    →  {"killed": bool, "stops": n, "status": its exit status or null}
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

_TRACEME, _SYSCALL, _SETOPTIONS = 0, 24, 0x4200
_TRACESYSGOOD, _TRACECLONE, _EXITKILL = 0x1, 0x8, 0x100000
_WALL = 0x40000000

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


class TracingForbidden(RuntimeError):  # noqa: N818 - a state of the machine
    """This machine lets no process trace another, so no death can be timed."""


class DyingHost:
    """The script, from a test's side."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def do(
        self, root: Path, do: str, calls: list[dict[str, Any]], kill_at: int | None = None
    ) -> dict[str, Any]:
        """Have a host do something, and die at its `kill_at`-th stop unless it is done before."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"root": str(root), "do": do, "calls": calls, "kill_at": kill_at}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        if "forbidden" in answer:
            raise TracingForbidden(answer["forbidden"])
        return answer


@contextmanager
def dying_host() -> Iterator[DyingHost]:
    """The script, running for the length of a block."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "error", __file__]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            yield DyingHost(process)
        finally:
            process.kill()


def traced(work: Any, kill_at: int) -> dict[str, Any]:
    """Fork a child that does `work`, and kill it at its `kill_at`-th stop."""
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            if _libc.ptrace(_TRACEME, 0, None, None) != 0:
                os._exit(71)
            os.kill(os.getpid(), signal.SIGSTOP)
            work()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(pid, _WALL)
    if not os.WIFSTOPPED(status):
        return {"forbidden": "ptrace is not permitted here"}
    if _libc.ptrace(_SETOPTIONS, pid, None, _TRACESYSGOOD | _TRACECLONE | _EXITKILL) != 0:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, _WALL)
        return {"forbidden": "ptrace is not permitted here"}
    _libc.ptrace(_SYSCALL, pid, None, None)
    stops, killed = 0, False
    while True:
        thread, status = os.waitpid(-1, _WALL)
        if not os.WIFSTOPPED(status):
            if thread == pid:
                done = not os.WIFSIGNALED(status)
                return {
                    "killed": not done,
                    "stops": stops,
                    "status": os.WEXITSTATUS(status) if done else None,
                }
            continue
        deliver = 0
        caught = os.WSTOPSIG(status)
        if caught == signal.SIGTRAP | 0x80:
            stops += 1
            if stops >= kill_at and not killed:
                os.kill(pid, signal.SIGKILL)
                killed = True
        elif caught not in {signal.SIGTRAP, signal.SIGSTOP}:
            deliver = caught
        _libc.ptrace(_SYSCALL, thread, None, deliver)


def untraced(work: Any) -> dict[str, Any]:
    """Fork a child that does `work`, and see it end."""
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    killed = os.WIFSIGNALED(status)
    return {"killed": killed, "stops": 0, "status": None if killed else os.WEXITSTATUS(status)}


def die() -> None:
    """End this process as a kill does: nothing of it runs any more."""
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Serve requests until stdin ends."""
    import pygit2  # noqa: F401  so that no child spends its stops on imports
    import trio

    from litany_engine import open_workspace, tool
    from litany_engine.api import OpenWorkspace
    from litany_engine.tools.definitions import Traits
    from litany_engine.windows.driver import Driver  # noqa: F401
    from litany_engine.windows.lock import executor_lock  # noqa: F401
    from litany_engine.windows.transcript import Transcript
    from litany_engine.workspaces.workspace import Workspace, open_workspace_at
    from window_kit import AGENT

    def note(workspace: Workspace, call: str) -> None:
        with (workspace.root / "effects").open("a") as file:
            file.write(f"{call}\n")

    def host(request: dict[str, Any]) -> None:
        workspace = open_workspace_at(Path(request["root"]))
        opened: list[OpenWorkspace] = []

        @tool
        async def write(file: str) -> str:
            """Change a file."""
            note(workspace, file)
            (workspace.worktree(AGENT) / file).write_text(file)
            await trio.lowlevel.checkpoint()
            return f"wrote {file}"

        @tool(traits=Traits(concurrency_safe=True))
        async def write_beside(file: str) -> str:
            """Change a file, beside others that do."""
            note(workspace, file)
            (workspace.worktree(AGENT) / file).write_text(file)
            await trio.sleep(0.001 * (len(file) % 3))
            return f"wrote {file}"

        @tool
        async def stop_me(file: str) -> str:
            """Have the whole agent stopped while this runs."""
            note(workspace, file)
            trio.lowlevel.spawn_system_task(opened[0].stop, AGENT)
            await trio.sleep_forever()
            raise AssertionError

        @tool(name="die")
        async def die_when(file: str, when: str) -> str:
            """Do something, and have the host die: while it runs, once it is recorded, once it is answered."""
            note(workspace, file)
            (workspace.worktree(AGENT) / file).write_text(file)
            if when == "running":
                die()
            append = Transcript.append_result

            def and_die(self: Transcript, *result: Any, **how: Any) -> Any:
                if when == "answered":
                    append(self, *result, **how)
                die()

            Transcript.append_result = and_die  # type: ignore[method-assign]
            await trio.lowlevel.checkpoint()
            return f"wrote {file}"

        async def work() -> None:
            async with open_workspace(workspace, tools=[write, write_beside, stop_me, die_when]) as ws:
                opened.append(ws)
                if request["do"] == "window":
                    await ws.window(AGENT, request["calls"])
                else:
                    await ws.advance(AGENT)

        trio.run(work)

    for line in sys.stdin:
        request = json.loads(line)
        work = partial(host, request)
        kill_at = request["kill_at"]
        print(json.dumps(untraced(work) if kill_at is None else traced(work, kill_at)), flush=True)


if __name__ == "__main__":
    main()
