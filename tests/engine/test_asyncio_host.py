"""A host under asyncio: its calls are awaited, its cancellations reach them, its async tools run in its loop."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from litany_engine import (
    Capture,
    ToolContext,
    init_workspace,
    open_workspace,
    open_workspace_asyncio,
    open_workspace_blocking,
    tool,
)
from litany_engine.asyncio_host import AsyncioWorkspace
from litany_engine.door.calls import CallEnd, ToolCall
from litany_engine.door.events import Event
from litany_engine.tools import in_process
from litany_engine.workspaces.workspace import WorkspaceError
from litany_runtime.outcome import Outcome

who = contextvars.ContextVar("who", default="nobody")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return init_workspace(tmp_path / "ws", agent="a").root


def recorded(place: Path, step: int = 1, call: str = "call_1") -> dict[str, Any]:
    found = json.loads((place / f"steps/a/{step:03}/tools/{call}/output.json").read_text())
    assert isinstance(found, dict)
    return found


def within(place: Path, do: Callable[[AsyncioWorkspace], Awaitable[Any]], **options: Any) -> Any:
    """What is done with an open workspace under asyncio gives."""

    async def main() -> Any:
        async with open_workspace_asyncio(place, **options) as ws:
            return await do(ws)

    return asyncio.run(main())


class Hanging:
    """A tool that waits in the host's loop until it is cancelled."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.seen: list[str] = []

    def tool(self, *, heeds: bool = True) -> Any:
        @tool
        async def hang() -> str:
            """Wait."""
            self.begun.set()
            for _ in range(1 if heeds else 1000):
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    self.seen.append("cancelled")
                    if heeds:
                        raise
            return "never"

        return hang


def test_calls_are_awaited_and_async_tools_run_in_the_hosts_loop(place: Path) -> None:
    @tool
    async def where() -> list[Any]:
        """Tell where this runs."""
        await asyncio.sleep(0)
        return [threading.get_ident(), who.get()]

    async def do(ws: AsyncioWorkspace) -> list[CallEnd]:
        program = "import litany_tools\nprint(litany_tools.where().data)"
        return list(await asyncio.gather(ws.invoke("where", {}), ws.python(program)))

    who.set("the host")
    called, ran = within(place, do, tools=[where])
    assert called.data == [threading.get_ident(), "the host"]
    assert ran.stdout.decode() == f"{called.data}\n"


@pytest.mark.parametrize("how", ["timeout", "wait_for", "cancel"])
def test_a_cancelled_await_ends_the_call_is_raised_and_is_recorded(place: Path, how: str) -> None:
    hanging = Hanging()

    async def do(ws: AsyncioWorkspace) -> None:
        call = ws.invoke("hang", {})
        if how == "timeout":
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await call
        elif how == "wait_for":
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(call, 0.2)
        else:
            task = asyncio.create_task(call)
            await hanging.begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert recorded(place)["outcome"] == "stopped"
        assert (await ws.invoke("bash", {"command": "echo on"})).stdout == b"on\n"

    within(place, do, tools=[hanging.tool()])
    assert hanging.seen == ["cancelled"]
    assert recorded(place)["reason"] == "whoever issued the call stopped waiting for it"


def test_a_program_is_stopped_with_the_await_of_it_and_its_output_is_kept(place: Path) -> None:
    hanging = Hanging()

    async def do(ws: AsyncioWorkspace) -> None:
        program = "import litany_tools\nprint('begun')\nlitany_tools.hang()"
        run = asyncio.create_task(ws.python(program))
        await hanging.begun.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    within(place, do, tools=[hanging.tool()])
    assert hanging.seen == ["cancelled"]
    assert (recorded(place)["outcome"], recorded(place)["stdout"]) == ("stopped", "begun\n")
    assert recorded(place, call="call_1-1")["outcome"] == "stopped"


def test_a_stop_cancels_the_task_of_a_tool_and_its_call_comes_back(place: Path) -> None:
    hanging = Hanging()

    async def do(ws: AsyncioWorkspace) -> CallEnd:
        call = asyncio.create_task(ws.invoke("hang", {}))
        await hanging.begun.wait()
        assert [each.name for each in await ws.running()] == ["hang"]
        assert await ws.stop(reason="enough") == ("call_1",)
        return await call

    end = within(place, do, tools=[hanging.tool()])
    assert (end.outcome, end.reason, hanging.seen) == (Outcome.STOPPED, "enough", ["cancelled"])


def test_a_tool_that_heeds_no_cancellation_is_left_behind(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_process, "GRACE_S", 0.1)
    hanging = Hanging()

    async def do(ws: AsyncioWorkspace) -> CallEnd:
        return await ws.invoke("hang", {}, deadline=0.1)

    async def main() -> CallEnd:
        async with open_workspace_asyncio(place, tools=[hanging.tool(heeds=False)]) as ws:
            end = await do(ws)
        for each in asyncio.all_tasks() - {asyncio.current_task()}:
            for _ in range(1000):
                each.cancel()
                await asyncio.sleep(0)
        return end

    end = asyncio.run(main())
    assert end.outcome is Outcome.TIMED_OUT
    assert b"left behind" in end.stderr


def test_what_an_async_tool_raises_is_its_own_failure(place: Path) -> None:
    @tool
    async def fail(how: str) -> str:
        """Fail."""
        if how == "cancel":
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.sleep(1)
        raise ValueError("no line")

    async def do(ws: AsyncioWorkspace) -> list[CallEnd]:
        return [await ws.invoke("fail", {"how": how}) for how in ("raise", "cancel")]

    raised, cancelled = within(place, do, tools=[fail])
    assert (raised.outcome, raised.stderr) == (Outcome.FAILED, b"fail: ValueError: no line\n")
    assert cancelled.outcome is Outcome.FAILED
    assert b"its task was cancelled" in cancelled.stderr


def test_the_end_of_the_block_stops_what_still_runs(place: Path) -> None:
    hanging = Hanging()

    async def main() -> None:
        async with open_workspace_asyncio(place, tools=[hanging.tool()]) as ws:
            call = asyncio.create_task(ws.invoke("hang", {}))
            program = asyncio.create_task(ws.python("print('begun', flush=True)\nwhile True: pass"))
            await hanging.begun.wait()
        with pytest.raises(RuntimeError, match="closed"):
            await call
        assert (await program).outcome is Outcome.STOPPED

    asyncio.run(main())
    assert hanging.seen == ["cancelled"]
    assert recorded(place)["outcome"] == "stopped"


def test_output_and_events_are_told_in_the_hosts_loop_and_its_errors_come_out(place: Path) -> None:
    heard: list[tuple[int, str, bytes]] = []
    events: list[Event] = []

    async def do(ws: AsyncioWorkspace) -> None:
        leave = ws.watch(events.append)
        await ws.python("print(1)", on_output=lambda *told: heard.append((threading.get_ident(), *told)))
        leave()

        def refuse(*_: object) -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await ws.python("import time\nprint(1)\ntime.sleep(60)", on_output=refuse)

    within(place, do)
    assert heard == [(threading.get_ident(), "stdout", b"1\n")]
    assert [each.call.id for each in events if isinstance(each, CallEnd)] == ["call_1"]
    assert recorded(place, 2, "call_2")["outcome"] == "stopped"


def test_a_router_is_asked_in_the_hosts_loop_and_may_leave_a_call_to_its_tool(place: Path) -> None:
    async def route(call: ToolCall, context: ToolContext) -> Capture | None:
        await asyncio.sleep(0)
        return Capture(stdout=context.call_id.encode()) if call.name == "bash" else None

    async def do(ws: AsyncioWorkspace) -> CallEnd:
        return await ws.python("import litany_tools\nprint(litany_tools.bash(command='true').stdout)")

    assert within(place, do, router=route).stdout == b"call_1-1\n"


def test_a_window_and_its_transcript_are_awaited_too(place: Path) -> None:
    async def do(ws: AsyncioWorkspace) -> list[dict[str, Any]]:
        await ws.say("go", agent="a")
        assert (await ws.advance("a")).due
        reply = [{"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "echo done"}}]
        answers = await ws.window("a", reply)
        assert [each.text for each in answers.results] == ["Exit code: 0\ndone\n"]
        assert "bash" in [each["name"] for each in await ws.offered("a")]
        return await ws.messages("a")

    assert [each["role"] for each in within(place, do)] == ["user", "assistant", "user"]


def test_what_cannot_be_opened_and_what_is_closed_say_so(place: Path, tmp_path: Path) -> None:
    async def main() -> None:
        with pytest.raises(WorkspaceError):
            async with open_workspace_asyncio(tmp_path / "none"):
                pass
        with pytest.raises(ZeroDivisionError):
            async with open_workspace_asyncio(place) as ws:
                raise ZeroDivisionError
        with pytest.raises(RuntimeError, match="closed"):
            await ws.invoke("bash", {"command": "true"})
        with pytest.raises(RuntimeError, match="open_workspace_asyncio"):
            async with open_workspace(place):
                pass

    asyncio.run(main())


def test_an_open_that_is_cancelled_leaves_nothing_open(place: Path) -> None:
    async def main() -> None:
        async def hold() -> None:
            async with open_workspace_asyncio(place):
                await asyncio.sleep(3600)

        for _ in range(2):
            task = asyncio.create_task(hold())
            await asyncio.sleep(0)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        assert not [each for each in threading.enumerate() if each.name == "litany"]

    asyncio.run(main())


def test_under_trio_a_cancelled_call_is_a_cancellation_and_its_record_says_so(place: Path) -> None:
    async def main() -> None:
        async with open_workspace(place) as ws:
            await ws.python("pass")
            with pytest.raises(trio.TooSlowError), trio.fail_after(0.5):
                await ws.python("print('begun', flush=True)\nwhile True: pass")
            with trio.move_on_after(0.2) as scope:
                await ws.invoke("bash", {"command": "echo so far; sleep 60"})
            assert scope.cancelled_caught

    trio.run(main)
    assert (recorded(place, 2, "call_2")["outcome"], recorded(place, 2, "call_2")["stdout"]) == (
        "stopped",
        "begun\n",
    )
    assert recorded(place, 3, "call_3")["outcome"] == "stopped"
    assert recorded(place, 3, "call_3")["reason"] == "whoever issued the call stopped waiting for it"


def test_an_async_tool_of_any_other_host_still_runs_under_trio(place: Path) -> None:
    @tool
    async def under() -> bool:
        """Tell whether this is trio's."""
        return trio.lowlevel.in_trio_task()

    with open_workspace_blocking(place, tools=[under]) as ws:
        assert ws.invoke("under", {}).data is True


def test_a_workspace_that_a_sync_tool_opens_is_no_asyncio_hosts(place: Path, tmp_path: Path) -> None:
    other = init_workspace(tmp_path / "other", agent="a").root

    @tool
    async def under() -> bool:
        """Tell whether this is trio's."""
        return trio.lowlevel.in_trio_task()

    @tool
    def nested() -> Any:
        """Ask a workspace of its own."""
        with open_workspace_blocking(other, tools=[under]) as inner:
            return inner.invoke("under", {}).data

    async def do(ws: AsyncioWorkspace) -> CallEnd:
        return await ws.invoke("nested", {})

    assert within(place, do, tools=[nested]).data is True
