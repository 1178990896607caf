"""A function of the host calls other tools in the name of its own call, through the door."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
import trio

from door_kit import Place, make_place, record_of
from litany_engine import init_workspace, open_workspace_asyncio
from litany_engine.door.calls import CallEnd, Tool
from litany_engine.door.door import Door
from litany_engine.tools.function_tool import ToolContext, tool
from litany_engine.tools.inner_calls import CallEndedError
from litany_engine.tools.toolset import toolset
from litany_runtime.outcome import Outcome
from tool_kit import wait_until


@tool
async def later(path: str, context: ToolContext) -> dict[str, Any]:
    """Reads, and awaits it."""
    end = await context.invoke("read_file", {"path": path})
    return {"id": end.call.id, "outcome": end.outcome.value}


@tool
def now(path: str, context: ToolContext) -> dict[str, Any]:
    """Reads in a thread."""
    end = context.invoke("read_file", {"path": path})
    return {"id": end.call.id, "outcome": end.outcome.value}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def invoke(place: Place, name: str, arguments: Any, *more: Tool, grant: list[str] | None = None) -> CallEnd:
    place.toolset = toolset([*place.toolset.tools.values(), *more])
    return trio.run(Door().invoke, name, arguments, place.caller(grant))


@pytest.mark.parametrize("name", ["later", "now"])
def test_a_function_calls_another_tool_as_an_inner_call(place: Place, name: str) -> None:
    end = invoke(place, name, {"path": "x"}, later, now)
    assert end.data == {"id": f"{end.call.id}-1", "outcome": "completed"}
    assert [(each.id, each.name) for each in end.calls] == [(f"{end.call.id}-1", "read_file")]
    assert end.record is not None
    asked = record_of(end.record.parent / f"{end.call.id}-1", "input.json")
    assert (asked["parent"], asked["input"]) == (end.call.id, {"path": "x"})


@pytest.mark.parametrize("name", ["later", "now"])
def test_its_calls_pass_the_gates(place: Place, name: str) -> None:
    end = invoke(place, name, {"path": "x"}, later, now, grant=[name])
    assert (end.outcome, end.data["outcome"]) == (Outcome.COMPLETED, "refused")


def test_a_plain_thread_of_a_function_calls_too(place: Place) -> None:
    @tool
    def apart(context: ToolContext) -> list[str]:
        found: list[str] = []
        worker = threading.Thread(
            target=lambda: found.append(context.invoke("read_file", {"path": "x"}).call.id)
        )
        worker.start()
        worker.join()
        return found

    end = invoke(place, "apart", {}, apart)
    assert end.data == [f"{end.call.id}-1"]


def test_a_stop_ends_what_a_function_waits_for_and_says_so(place: Place) -> None:
    seen: list[BaseException] = []

    @tool
    def waits(context: ToolContext) -> None:
        try:
            context.invoke("wait")
        except CallEndedError as error:
            seen.append(error)

    place.toolset = toolset([*place.toolset.tools.values(), waits])
    door = Door()

    async def main() -> CallEnd:
        ends: list[CallEnd] = []

        async def call() -> None:
            ends.append(await door.invoke("waits", {}, place.caller()))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await wait_until(lambda: len(door.running()) == 2)
            await door.stop()
        return ends[0]

    end = trio.run(main)
    assert end.outcome is Outcome.STOPPED
    assert [(each.name, each.outcome) for each in end.calls] == [("wait", Outcome.STOPPED)]
    assert f"call {end.call.id!r} is ended, and its call of 'wait' with it" in str(seen[0])


def test_after_its_call_has_ended_nothing_is_called(place: Place) -> None:
    kept: list[ToolContext] = []

    @tool
    async def keeps(context: ToolContext) -> None:
        kept.append(context)

    place.toolset = toolset([*place.toolset.tools.values(), keeps])

    async def main() -> CallEnd:
        await Door().invoke("keeps", {}, place.caller())
        end = await kept[0].invoke("read_file", {"path": "x"})
        assert isinstance(end, CallEnd)
        return end

    end = trio.run(main)
    assert end.refusal is not None
    assert end.refusal.gate == "authority"


def test_without_a_door_it_says_so(tmp_path: Path) -> None:
    context = ToolContext("a", "c", tmp_path, 0.0, lambda *_: None)
    with pytest.raises(RuntimeError, match="there is no door behind this context"):
        context.invoke("read_file")


def test_under_asyncio_it_is_awaited_there_and_cancelled_with_it(tmp_path: Path) -> None:
    @tool
    async def twice(context: ToolContext) -> list[str]:
        found = await asyncio.gather(
            *[context.invoke("bash", {"command": f"echo {each}"}) for each in (1, 2)]
        )
        return [each.stdout.decode() for each in found]

    @tool
    async def gives_up(context: ToolContext) -> str:
        try:
            async with asyncio.timeout(0.05):
                await context.invoke("bash", {"command": "sleep 1000"})
        except TimeoutError:
            return "gave up"
        return "never"

    async def main() -> list[CallEnd]:
        async with open_workspace_asyncio(
            init_workspace(tmp_path / "ws", agent="a").root, tools=[twice, gives_up]
        ) as ws:
            return [await ws.invoke("twice", {}), await ws.invoke("gives_up", {})]

    both, end = asyncio.run(main())
    assert both.data == ["1\n", "2\n"]
    assert (end.stdout, [each.outcome for each in end.calls]) == (b"gave up", [Outcome.STOPPED])
