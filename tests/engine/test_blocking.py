"""A host without trio: calls from its threads, stops, Ctrl-C, the end of the block."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from litany_engine import Capture, ToolContext, init_workspace, open_workspace, open_workspace_blocking, tool
from litany_engine.door.calls import CallEnd, ToolCall
from litany_engine.door.events import Event
from litany_engine.tools.toolset import ToolsetError
from litany_engine.workspaces.workspace import WorkspaceError
from litany_runtime.outcome import Outcome


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return init_workspace(tmp_path / "ws", agent="a").root


@tool
def double(number: int) -> int:
    """Twice a number."""
    return 2 * number


begun = threading.Event()


@tool
def hang(context: ToolContext) -> str:
    """Until nobody waits."""
    begun.set()
    while not context.stopped():
        threading.Event().wait(0.01)
    return "late"


def test_calls_come_from_any_thread_and_leave_one_record_each(place: Path) -> None:
    with open_workspace_blocking(place, tools=[double]) as ws, ThreadPoolExecutor(8) as pool:
        ends = list(pool.map(lambda number: ws.invoke("double", {"number": number}), range(40)))
    assert [end.data for end in ends] == [2 * number for number in range(40)]
    assert sorted(end.call.id for end in ends) == sorted(f"call_{k}" for k in range(1, 41))
    assert len({end.record for end in ends}) == 40


def test_a_refusal_and_a_failing_tool_are_ends_and_not_exceptions(place: Path) -> None:
    with open_workspace_blocking(place, tools=[double]) as ws:
        assert ws.invoke("double", {"number": "x"}).outcome is Outcome.REFUSED
        assert ws.invoke("bash", {"command": "exit 3"}).exit_code == 3
        with pytest.raises(WorkspaceError, match="no agent b"):
            ws.invoke("double", {"number": 1}, agent="b")


def test_a_stop_from_another_thread_ends_a_call(place: Path) -> None:
    begun.clear()
    with open_workspace_blocking(place, tools=[hang]) as ws, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ws.invoke, "hang", {})
        begun.wait()
        assert ws.stop(reason="enough of it") == ("call_1",)
        end = waiting.result()
    assert (end.outcome, end.reason) == (Outcome.STOPPED, "enough of it")


def test_the_end_of_the_block_stops_what_still_runs_and_records_it(place: Path) -> None:
    begun.clear()
    with ThreadPoolExecutor(1) as pool:
        with open_workspace_blocking(place, tools=[hang]) as ws:
            waiting = pool.submit(ws.invoke, "hang", {})
            begun.wait()
        assert waiting.result().outcome is Outcome.STOPPED
    assert json.loads((place / "steps/a/001/tools/call_1/output.json").read_text())["outcome"] == "stopped"


def test_a_host_reads_what_its_model_may_be_offered(place: Path) -> None:
    (place / "litany.toml").write_text('[roles.default]\ngrant = ["python", "double"]\n')
    with open_workspace_blocking(place, tools=[double]) as ws:
        ws.connect("a")
        assert [each.declaration.name for each in ws.toolset("a").all_permitted(inner=False)] == [
            "double",
            "python",
        ]
        with pytest.raises(WorkspaceError, match="no agent b"):
            ws.toolset("b")


def test_a_closed_workspace_says_so(place: Path) -> None:
    with open_workspace_blocking(place) as ws:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        ws.invoke("bash", {"command": "true"})


def test_a_deadline_in_words_or_seconds_bounds_a_call(place: Path) -> None:
    with open_workspace_blocking(place) as ws:
        for deadline in (0.05, "50ms"):
            end = ws.invoke("bash", {"command": "echo begun; sleep 50"}, deadline=deadline)
            assert (end.outcome, end.exit_code) == (Outcome.TIMED_OUT, 124)


def test_an_exception_of_the_host_comes_out_as_it_is(place: Path) -> None:
    with pytest.raises(ZeroDivisionError), open_workspace_blocking(place):
        raise ZeroDivisionError


def test_what_cannot_be_opened_raises_in_the_hosts_thread(place: Path, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError), open_workspace_blocking(tmp_path / "none"):
        pass
    with (
        pytest.raises(ToolsetError, match="'double'"),
        open_workspace_blocking(place, tools=[double, double]),
    ):
        pass


def test_a_host_under_asyncio_is_told_which_form_is_for_it(place: Path) -> None:
    async def main() -> None:
        async with open_workspace(place):
            raise AssertionError("opened")

    with pytest.raises(RuntimeError, match=r"open_workspace_asyncio.*open_workspace_blocking"):
        asyncio.run(main())

    async def blocking() -> str:
        with open_workspace_blocking(place) as ws:
            return (await asyncio.to_thread(ws.invoke, "bash", {"command": "echo here"})).stdout.decode()

    assert asyncio.run(blocking()) == "here\n"


def test_a_router_of_a_host_without_trio_answers_every_call_and_may_leave_one_to_its_tool(
    place: Path,
) -> None:
    asked: list[tuple[str, str]] = []

    def route(call: ToolCall, context: ToolContext) -> Capture | None:
        asked.append((call.name, context.call_id))
        return None if call.name == "python" else Capture(stdout=b"routed")

    program = "import litany_tools\nprint(litany_tools.double(number=2).stdout)"
    with open_workspace_blocking(place, tools=[double], router=route) as ws:
        assert ws.python(program).stdout == b"routed\n"
        assert ws.invoke("nothing", {}).outcome is Outcome.REFUSED  # the gates come first
    assert asked == [("python", "call_1"), ("double", "call_1-1")]


def test_a_router_that_fails_is_a_fault_of_the_call_and_one_that_hangs_is_left_behind(place: Path) -> None:
    def route(call: ToolCall, context: ToolContext) -> Capture | None:
        if call.input == {"number": 1}:
            raise ValueError("no line")
        while not context.stopped():
            threading.Event().wait(0.01)
        return None

    with open_workspace_blocking(place, tools=[double], router=route) as ws:
        failed = ws.invoke("double", {"number": 1})
        assert (failed.outcome, "no line" in failed.reason) == (Outcome.FAULTED, True)
        assert ws.invoke("double", {"number": 2}, deadline=0.1).outcome is Outcome.TIMED_OUT


def test_a_watcher_is_told_of_every_call_until_it_leaves(place: Path) -> None:
    seen: list[Event] = []
    with open_workspace_blocking(place, tools=[double]) as ws:
        leave = ws.watch(seen.append)
        ws.invoke("double", {"number": 1}, call_id="one")
        leave()
        ws.invoke("double", {"number": 1}, call_id="two")
    assert [each.call.id for each in seen if isinstance(each, CallEnd)] == ["one"]
