"""A stop at every phase of a program's life, as tests and `benchmarks/stops.py` see it: from the host.

What is left is looked for in three ways, none of which asks the program. A program runs in a pid namespace of its
zygote: whoever is in it, beside those who wait for the next program, is left of one. A tool's process has the
workspace in its environment. And a number in its command line, that no other process has, finds one that has
cleared it.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import trio

from litany_engine import open_workspace, tool
from litany_engine.api import OpenWorkspace
from litany_engine.door.calls import CallEnd, Tool
from litany_engine.workspaces.workspace import Workspace
from runtime_kit import processes_below
from tool_kit import wait_until

GRACE_S = 0.4
BUSY_MACHINE_S = 10.0
"""What a loaded machine is given beyond a promised time; `docs/deadlines-and-stops.md` has measured figures."""

CONFIG = f'[limits]\ngrace = "{int(GRACE_S * 1000)}ms"\n'
CALL_TOOLS = "import litany_tools\nprint('on', flush=True)\n"


@dataclass
class Host:
    """A host with a program running in it, as a test sees it.

    Attributes:
        workspace: what is on disk.
        ws: it, opened.
        output: what the program has printed so far.
    """

    workspace: Workspace
    ws: OpenWorkspace
    output: dict[str, bytes] = field(default_factory=lambda: {"stdout": b"", "stderr": b""})
    end: CallEnd | None = None

    async def run(self, program: str) -> None:
        def take(stream: str, data: bytes) -> None:
            self.output[stream] += data

        self.end = await self.ws.python(program, on_output=take)

    def printed(self, text: bytes) -> Callable[[], bool]:
        return lambda: text in self.output["stdout"]

    def in_flight(self, call: str) -> Callable[[], bool]:
        return lambda: any(each.name == call for each in self.ws.running())


def stop_program(
    workspace: Workspace,
    program: str,
    when: Callable[[Host], Callable[[], bool]],
    then: Callable[[Host], Awaitable[Any]] | None = None,
    tools: Any = (),
) -> CallEnd:
    """Run a program, stop it at a moment, and see that nothing of it is left."""
    return timed_stop(workspace, program, when, then, tools)[0]


def timed_stop(
    workspace: Workspace,
    program: str,
    when: Callable[[Host], Callable[[], bool]],
    then: Callable[[Host], Awaitable[Any]] | None = None,
    tools: Any = (),
) -> tuple[CallEnd, float]:
    """The same, and the seconds from the flag to the report."""

    async def main() -> tuple[CallEnd, float, set[str]]:
        async with open_workspace(workspace, tools=tools) as ws:
            await ws.python("pass")
            before = await warm(ws)
            spaces = pid_namespaces(before)
            host = Host(workspace, ws)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(host.run, program)
                await wait_until(when(host), 30)
                began = trio.current_time()
                await (ws.stop() if then is None else then(host))
                took_s = trio.current_time() - began
                assert took_s < GRACE_S + BUSY_MACHINE_S
                assert ws.running() == ()  # the stop comes back when everything has ended
            assert host.end is not None
            # One of the children that were warm became the program, and it is gone.
            assert before - {each.pid for each in processes_below()}
            assert tool_processes(workspace) == []
            assert_records_are_whole(workspace)
            assert living_in(spaces) <= await warm(ws), (
                "a process of the program is left in its pid namespace"
            )
            assert (await ws.python("print('next')")).stdout == b"next\n"
            return host.end, took_s, spaces

    end, took_s, spaces = trio.run(main)
    assert living_in(spaces) == set()
    return end, took_s


async def warm(ws: OpenWorkspace) -> set[int]:
    """The zygote and the children that wait, once they do."""
    supervisor = ws._programs.running
    assert supervisor is not None
    setup, waiting = supervisor._setup, supervisor._warm
    await wait_until(lambda: sum(len(each) for each in waiting.values()) == setup.warm)
    return {each.pid for each in processes_below()}


def pid_namespaces(pids: set[int]) -> set[str]:
    """The pid namespaces of processes, besides our own; they stay, or others would get their numbers."""
    spaces = set()
    for pid in pids:
        with suppress(OSError):
            descriptor = os.open(f"/proc/{pid}/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
            _held.append(descriptor)
            spaces.add(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
    return spaces - {_pid_namespace("self")}


_held: list[int] = []
"""Descriptors that keep namespaces from being numbered anew; a handful for a test process, for good."""


def living_in(spaces: set[str]) -> set[int]:
    """Every living process on this machine that is in one of these pid namespaces."""
    assert spaces, "programs have no pid namespace of their own"
    return {
        process.pid
        for process in psutil.process_iter(["status"])
        if process.info["status"] != psutil.STATUS_ZOMBIE and _pid_namespace(process.pid) in spaces
    }


def _pid_namespace(pid: int | str) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:  # it is gone, or another user's
        return ""


def tool_processes(workspace: Workspace) -> list[int]:
    """The processes on this machine that have the workspace in their environment."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if str(workspace.root) in process.environ().get("LITANY_CONV_REPO", ""):
                found.append(process.pid)
    return found


def assert_records_are_whole(workspace: Workspace) -> None:
    for folder in (workspace.root / "steps").glob("*/*/tools/*"):
        for name in ("input.json", "output.json"):
            json.loads((folder / name).read_text())
        assert [each.name for each in folder.iterdir() if each.name.startswith(".")] == []


def outcome_of(workspace: Workspace, call_id: str) -> str:
    (found,) = (workspace.root / "steps").glob(f"*/*/tools/{call_id}/output.json")
    outcome: str = json.loads(found.read_text())["outcome"]
    return outcome


@dataclass(frozen=True)
class Phase:
    """One row of the matrix.

    Attributes:
        program: what runs.
        when: when it is stopped.
        stdout: what is kept of its output, its beginning.
        inner: how its one call ended, when it makes one.
        cooperates: it ends when it is asked to, so no grace passes.
    """

    program: str
    when: Callable[[Host], Callable[[], bool]]
    stdout: bytes = b"on\n"
    inner: str | None = None
    cooperates: bool = True


def printed_on(host: Host) -> Callable[[], bool]:
    return host.printed(b"on\n")


def has_begun(host: Host) -> Callable[[], bool]:
    """Its text is in the record, so it is on its way to a child."""
    return lambda: any((host.workspace.root / "steps").glob("*/002/tools/*/litany_tools.py"))


PHASES = {
    "as it starts": Phase("print('on')\nwhile True: pass", has_begun, stdout=b""),
    "while it is compiled": Phase(
        f"[{'1,' * 150_000}]\nwhile True: pass", has_begun, stdout=b"", cooperates=False
    ),
    "in a tight loop": Phase("print('on', flush=True)\nwhile True: pass", printed_on),
    "in c code": Phase("print('on', flush=True)\nsum(range(10**12))", printed_on, cooperates=False),
    "asleep": Phase("import time\nprint('on', flush=True)\ntime.sleep(1000)", printed_on),
    "with its output unflushed": Phase(
        CALL_TOOLS + "print('kept')\nlitany_tools.hang()",
        lambda host: host.in_flight("hang"),
        b"on\nkept\n",
        "stopped",
    ),
    "in its cleaning up": Phase(
        "try:\n    print('on', flush=True)\n    while True: pass\nfinally:\n    print('cleaned')",
        printed_on,
        b"on\ncleaned\n",
    ),
    "when it will not end": Phase(
        "while True:\n    try:\n        print('on', flush=True)\n        while True: pass\n"
        "    except BaseException: pass",
        printed_on,
        b"on\non\n",
        cooperates=False,
    ),
    "in a flood of output": Phase("while True: print('on')", printed_on),
    "in an async tool": Phase(
        CALL_TOOLS + "litany_tools.hang()", lambda host: host.in_flight("hang"), inner="stopped"
    ),
    "in a tool that looks at nothing": Phase(
        CALL_TOOLS + "litany_tools.block()", lambda host: host.in_flight("block"), inner="stopped"
    ),
    "in a tool's process": Phase(
        CALL_TOOLS + "litany_tools.bash(command='sleep 1000')",
        lambda host: lambda: bool(tool_processes(host.workspace)),
        inner="stopped",
    ),
    "with calls in flight side by side": Phase(
        CALL_TOOLS + "import threading\n"
        "for _ in range(3): threading.Thread(target=litany_tools.hang).start()\nlitany_tools.hang()",
        lambda host: lambda: sum(each.name == "hang" for each in host.ws.running()) == 4,
    ),
}


def phase_tools(release: threading.Event) -> list[Tool]:
    """The tools that the phases call: one that waits for its cancellation, one that looks at nothing."""

    @tool
    async def hang() -> str:
        """Never answers."""
        await trio.sleep_forever()
        raise AssertionError

    @tool
    def block() -> str:
        """Waits in a thread, and looks at nothing."""
        release.wait(60)
        return "late"

    return [hang, block]
