"""What tests of single tools share: a workspace's folders, a call's context, and a look at the process table."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import trio

from litany_engine.door.calls import Capture, Context, Tool, ToolCall

AGENT = "20260101T000000Z-abc123"


def worktree_in(workspace: Path) -> Path:
    """The agent's worktree, made when missing."""
    worktree = workspace / "agents" / AGENT
    worktree.mkdir(parents=True, exist_ok=True)
    return worktree


def context_in(workspace: Path, *, cwd: Path | None = None, **fields: Any) -> Context:
    """A call's context."""
    record = workspace / "steps" / AGENT / "001" / "tools" / "call_1"
    given: dict[str, Any] = {
        "workspace": workspace,
        "agent": AGENT,
        "call_id": "call_1",
        "cwd": cwd or worktree_in(workspace),
        "deadline": math.inf,
        "report": lambda *_args, **_kwargs: None,
        "record": record,
        **fields,
    }
    return Context(**given)


def run_tool(tool: Tool, given: Any, context: Context) -> Capture:
    """One call of a tool, without a door."""
    call = ToolCall(context.call_id, tool.declaration.name, given)
    return trio.run(tool.execute, call, context)


def unique_sleep() -> str:
    """A number of seconds that no other process sleeps, so that its process can be found by it."""
    return f"{900 + secrets.randbelow(90)}.{secrets.randbelow(10**9):09d}"


def processes_with(token: str) -> list[int]:
    """The living processes whose command line holds a text; seen from the host."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and any(token in each for each in process.cmdline()):
                found.append(process.pid)
    return found


async def wait_until(condition: Callable[[], object], within_s: float = 10.0) -> None:
    """Wait for something that another process does."""
    with trio.fail_after(within_s):
        while not condition():  # noqa: ASYNC110 - another process sets no event of ours
            await trio.sleep(0.005)
