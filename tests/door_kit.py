"""What tests of the door stand on: an agent's place on disk, tools that do one thing, and a caller."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import trio

from litany_engine.door.callers import Caller, Parent
from litany_engine.door.calls import Capture, Context, Tool, ToolCall
from litany_engine.records.records import Records
from litany_engine.tools.toolset import Toolset, toolset
from litany_stubs.words import ToolDeclaration

PATH_SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
    "required": ["path"],
    "additionalProperties": False,
}


@dataclass
class Kept:
    """Every call that reached an executor: what a gate was to stop is not in here."""

    calls: list[ToolCall] = field(default_factory=list)
    contexts: list[Context] = field(default_factory=list)


def make_tools(kept: Kept) -> list[Tool]:
    def tool(name: str, run: Any, schema: Any = None, **more: Any) -> Tool:
        async def execute(call: ToolCall, context: Context) -> Capture:
            kept.calls.append(call)
            kept.contexts.append(context)
            return await run(call, context)  # type: ignore[no-any-return]

        return Tool(ToolDeclaration(name, f"The tool {name}.", schema or {"type": "object"}), execute, **more)

    async def read(call: ToolCall, context: Context) -> Capture:
        return Capture(stdout=f"content of {call.input['path']}".encode())

    async def fail(call: ToolCall, context: Context) -> Capture:
        return Capture(stdout=b"half", stderr=b"no such thing\n", exit_code=3)

    async def crash(call: ToolCall, context: Context) -> Capture:
        raise ValueError("a bug")

    async def wait(call: ToolCall, context: Context) -> Capture:
        await trio.sleep_forever()
        raise AssertionError

    async def wait_politely(call: ToolCall, context: Context) -> Capture:
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            return Capture(stdout=b"so far", exit_code=143)

    async def clean_up(call: ToolCall, context: Context) -> Capture:
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            with trio.CancelScope(shield=True):
                await trio.sleep(10)
        return Capture(stdout=b"cleaned", exit_code=143)

    async def compose(call: ToolCall, context: Context) -> Capture:
        assert context.invoke is not None
        end = await context.invoke(call.input["name"], call.input.get("input", {}))
        return Capture(stdout=end.stdout, data={"outcome": end.outcome, "id": end.call.id})

    return [
        tool("read_file", read, PATH_SCHEMA),
        tool("fail", fail),
        tool("crash", crash),
        tool("wait", wait, deadline_s=lambda arguments: arguments.get("deadline")),
        tool("wait_politely", wait_politely),
        tool("clean_up", clean_up),
        tool("relay", compose),
        tool("python", compose, composes=True),
    ]


@dataclass
class Place:
    """One agent in one workspace."""

    root: Path
    kept: Kept
    toolset: Toolset
    records: Records

    def caller(self, grant: list[str] | None = None, agent: str = "a") -> Caller:
        return Caller(
            workspace=self.root,
            agent=agent,
            role="worker",
            cwd=self.root,
            toolset=self.toolset if grant is None else self.toolset.granted(grant),
            step=self.records.open_step(agent),
        )


def make_place(root: Path) -> Place:
    steps = root / "steps"
    steps.mkdir()
    kept = Kept()
    return Place(root, kept, toolset(make_tools(kept)), Records(steps))


def record_of(folder: Path | None, name: str = "output.json") -> Any:
    assert folder is not None
    return json.loads((folder / name).read_text())


def inside(caller: Caller, parent: str = "T", **more: Any) -> Caller:
    """Who makes the calls that are made in the name of a call."""
    return replace(caller, parent=Parent(parent, **more))
