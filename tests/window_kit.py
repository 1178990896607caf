"""What tests of windows and settlement share: a workspace, replies, and a look at the transcript from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import trio

from litany_engine import init_workspace, tool
from litany_engine.door.calls import Tool
from litany_engine.tools.definitions import Traits
from litany_engine.windows.entries import Side, standing
from litany_engine.windows.transcript import Transcript
from litany_engine.workspaces.workspace import Workspace

AGENT = "a"


def use(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    """A tool_use block."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def make_workspace(root: Path, config: str = "") -> Workspace:
    """A workspace with one agent."""
    workspace = init_workspace(root, agent=AGENT)
    if config:
        (root / "litany.toml").write_text(config)
        workspace = Workspace(root)
    return workspace


@contextmanager
def host_process(script: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A host in a process of its own; at the end of the block it is gone, also when the test has failed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", script, *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def transcript_of(workspace: Workspace, agent: str = AGENT) -> Transcript:
    return Transcript(workspace.repository, agent, workspace.worktree(agent))


def results_in(workspace: Workspace, agent: str = AGENT) -> list[tuple[str, bool, str]]:
    """Each result that is committed: the id it answers, whether it is an error, its text."""
    return [
        (block["tool_use_id"], block["is_error"], block["content"][0]["text"])
        for entry in transcript_of(workspace, agent).entries()
        if entry.side is Side.TOOL
        for block in entry.content
    ]


def answered_in(workspace: Workspace, agent: str = AGENT) -> list[str]:
    """The ids that are answered, in the order of their answers."""
    return [call_id for call_id, _, _ in results_in(workspace, agent)]


def assert_well_formed(workspace: Workspace, agent: str = AGENT) -> None:
    """Every call has its one answer, at its place, and git finds nothing wrong."""
    now = standing(transcript_of(workspace, agent).entries())
    assert now.fault == ""
    assert now.unanswered == ()
    assert_git_is_clean(workspace)


def assert_git_is_clean(workspace: Workspace) -> None:
    """What `git fsck` says of the repository, besides objects that nothing needs any more."""
    done = subprocess.run(
        ["git", "-C", str(workspace.root / "repo.git"), "fsck", "--strict", "--no-dangling"],
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("notice:")]
    assert (done.returncode, said) == (0, [])


def git(workspace: Workspace, *arguments: str) -> str:
    """What a git command says of the repository."""
    return subprocess.run(
        ["git", "-C", str(workspace.root / "repo.git"), *arguments],
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        check=True,
    ).stdout


def record_json(workspace: Workspace, step: int, call_id: str, name: str = "output.json") -> Any:
    folder = workspace.root / "steps" / AGENT / f"{step:03d}" / "tools" / call_id
    return json.loads((folder / name).read_text())


def make_tools(seen: list[str] | None = None) -> list[Tool]:
    """Tools of a host: one that answers, one that fails, one that waits to be stopped, one that writes."""
    log = [] if seen is None else seen

    @tool
    async def say(text: str) -> str:
        """Say it again."""
        log.append(text)
        await trio.lowlevel.checkpoint()
        return text

    @tool
    async def hang(text: str = "") -> str:
        """Never answers."""
        log.append(text)
        await trio.sleep_forever()
        raise AssertionError

    @tool
    async def fail() -> str:
        """Raises."""
        raise ValueError("it cannot")

    return [say, hang, fail]


def beside(root: Path) -> Tool:
    """A tool that is safe beside others."""

    @tool(name="beside", traits=Traits(concurrency_safe=True))
    async def run(text: str) -> str:
        """Notes that it ran; ends, or hangs until the host dies."""
        with (root / "effects").open("a") as file:
            file.write(f"{text}\n")
        await trio.sleep(0 if text.startswith("quick") else 3600)
        return text

    return run
