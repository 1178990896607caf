"""A call that its program stops waiting for is cancelled at the door, and its record says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.lowlevel

from litany_engine import init_workspace, open_workspace_blocking, tool
from litany_engine.blocking import BlockingWorkspace
from litany_engine.door.calls import CallEnd, Capture, Context, Tool, ToolCall
from litany_engine.tools.definitions import Traits
from litany_runtime.limits import MIB, Limits
from litany_runtime.outcome import Outcome
from litany_stubs.words import ToolDeclaration

begun: list[str] = []
cancelled: list[str] = []


@tool(traits=Traits(concurrency_safe=True))
async def hang(name: str) -> str:
    """Wait until it is cancelled."""
    try:
        await trio.sleep_forever()
    finally:
        cancelled.append(name)
    return name


@tool(traits=Traits(concurrency_safe=True))
async def quick(name: str) -> str:
    """Answer at once."""
    await trio.lowlevel.checkpoint()
    return name


@tool(traits=Traits(concurrency_safe=False))
async def alone(name: str) -> str:
    """Wait until it is cancelled, or answer at once; one at a time."""
    begun.append(name)
    return await hang(name) if name.startswith("hang") else name


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingWorkspace]:
    place = init_workspace(tmp_path_factory.mktemp("given-up") / "ws", agent="a")
    with open_workspace_blocking(place, tools=[hang, quick, alone]) as opened:
        yield opened


def records(end: CallEnd) -> dict[str, Any]:
    """What was recorded of each inner call, by its argument."""
    assert end.record is not None
    found = {}
    for each in end.record.parent.glob(f"{end.call.id}-*"):
        asked = json.loads((each / "input.json").read_text())
        found[asked["input"]["name"]] = json.loads((each / "output.json").read_text())
    return found


AWAITED = """
import asyncio
from litany_tools import aio

async def main():
    try:
        async with asyncio.timeout(0.2):
            await aio.hang(name="timeout")
    except TimeoutError:
        print("gave up")
    task = asyncio.create_task(aio.hang(name="task"))
    await asyncio.sleep(0.1)
    task.cancel()
    race = [asyncio.create_task(aio.hang(name="loser")), asyncio.create_task(aio.quick(name="winner"))]
    done, left = await asyncio.wait(race, return_when=asyncio.FIRST_COMPLETED)
    print(len(done), len(left))
    print((await aio.quick(name="after")).stdout)
    async with asyncio.TaskGroup() as group:
        group.create_task(aio.hang(name="sibling"))
        async def fail():
            await asyncio.sleep(0.1)
            raise ValueError
        group.create_task(fail())

try:
    asyncio.run(main())
except ExceptionGroup:
    print("group")
"""

THREADS = """
import asyncio, threading, time
from concurrent.futures import ThreadPoolExecutor, TimeoutError, as_completed, wait, FIRST_COMPLETED, CancelledError
import litany_tools as t

def work(name):
    try:
        return t.hang(name=name)
    except CancelledError:
        print("told", name)
        raise

async def awaited():
    try:
        async with asyncio.timeout(0.2):
            await asyncio.to_thread(work, "to_thread")
    except TimeoutError:
        print("gave up")
asyncio.run(awaited())

try:
    with ThreadPoolExecutor() as pool:
        pool.submit(work, "future").result(timeout=0.2)
except TimeoutError:
    print("timed out")

try:
    with ThreadPoolExecutor() as pool:
        for each in as_completed([pool.submit(work, "completed")], timeout=0.2):
            raise AssertionError
except TimeoutError:
    print("not completed")

pool = ThreadPoolExecutor()
running = pool.submit(work, "cancel")
time.sleep(0.3)
print(running.cancel())
wait([running])

left = pool.submit(work, "shutdown")
time.sleep(0.3)
pool.shutdown(wait=False, cancel_futures=True)

def polled():
    return t.quick(name="polled").stdout
with ThreadPoolExecutor() as pool:
    go = threading.Event()
    slow = pool.submit(lambda: (go.wait(), polled()))
    try:
        slow.result(timeout=0.05)
    except TimeoutError:
        go.set()
        print(slow.result()[1])

pool = ThreadPoolExecutor()
race = [pool.submit(work, "leftover"), pool.submit(t.quick, name="first")]
done, left = wait(race, return_when=FIRST_COMPLETED)
print(len(done), len(left))
kept = pool.submit(t.quick, name="kept")
time.sleep(0.3)
"""


def test_a_cancelled_await_of_any_kind_ends_its_call_and_the_record_says_so(ws: BlockingWorkspace) -> None:
    cancelled.clear()
    end = ws.python(AWAITED, deadline="60s")
    assert (end.outcome, end.stdout) == (Outcome.COMPLETED, b"gave up\n1 1\nafter\ngroup\n"), end.stderr
    found = records(end)
    given_up = {"timeout", "task", "loser", "sibling"}
    assert set(cancelled) == given_up
    assert {name for name, each in found.items() if each["outcome"] == "stopped"} == given_up
    assert {found[name]["reason"] for name in given_up} == {
        f"call '{end.call.id}', which made it, stopped waiting for it"
    }
    assert {found[name]["outcome"] for name in ("winner", "after")} == {"completed"}


def test_a_thread_that_the_program_gave_up_has_its_call_ended_and_one_waited_for_has_not(
    ws: BlockingWorkspace,
) -> None:
    cancelled.clear()
    end = ws.python(THREADS, deadline="60s")
    assert end.outcome is Outcome.COMPLETED, end.stderr
    found = records(end)
    given_up = {"to_thread", "future", "completed", "cancel", "shutdown", "leftover"}
    assert set(cancelled) == given_up
    assert {name for name, each in found.items() if each["outcome"] == "stopped"} == given_up
    assert {found[name]["outcome"] for name in ("polled", "first", "kept")} == {"completed"}
    lines = end.stdout.decode().splitlines()
    assert {f"told {name}" for name in given_up} <= set(lines)
    assert [each for each in lines if not each.startswith("told")] == [
        "gave up", "timed out", "not completed", "False", "polled", "1 1",
    ]  # fmt: skip


def test_a_call_that_was_given_up_waits_in_no_queue_and_holds_up_no_other(ws: BlockingWorkspace) -> None:
    """Tools that bear no company run one after another."""
    program = """
import asyncio
from litany_tools import aio
async def main():
    first = asyncio.create_task(aio.alone(name="hang"))
    await asyncio.sleep(0.2)
    behind = asyncio.create_task(aio.alone(name="behind"))
    await asyncio.sleep(0.2)
    behind.cancel()
    await asyncio.sleep(0.2)
    first.cancel()
    print((await aio.alone(name="next")).stdout)
asyncio.run(main())
"""
    begun.clear()
    end = ws.python(program, deadline="50s")
    assert end.stdout == b"next\n", end.stderr
    assert begun == ["hang", "next"]
    assert [records(end)[name]["outcome"] for name in ("hang", "behind")] == ["stopped", "stopped"]


def test_what_ended_a_call_first_is_what_its_record_says(ws: BlockingWorkspace) -> None:
    """The interrupt of a deadline makes the program cancel its awaits, too; that came second."""
    program = "import asyncio\nfrom litany_tools import aio\nasyncio.run(aio.hang(name='late'))"
    end = ws.python(program, deadline="1s")
    assert end.outcome is Outcome.TIMED_OUT
    late = records(end)["late"]
    assert (late["outcome"], late["reason"]) == ("timed_out", "the deadline passed")


def test_a_program_that_ends_with_a_loop_left_open_has_its_calls_ended(ws: BlockingWorkspace) -> None:
    program = """
import asyncio
from litany_tools import aio
loop = asyncio.new_event_loop()
async def main():
    global task
    task = asyncio.create_task(aio.hang(name="left"))
    await asyncio.sleep(0.1)
loop.run_until_complete(main())
print("end")
"""
    end = ws.python(program, deadline="50s")
    assert (end.outcome, end.stdout) == (Outcome.COMPLETED, b"end\n"), end.stderr
    assert records(end)["left"]["outcome"] == "stopped"


async def _outer(call: ToolCall, context: Context) -> Capture:
    assert context.invoke is not None
    with trio.move_on_after(0.2) as scope:
        await context.invoke("bash", {"command": "echo begun; sleep 60"})
    return Capture(data=scope.cancelled_caught)


def test_a_tool_that_stops_waiting_for_a_call_is_cancelled_out_of_it(tmp_path: Path) -> None:
    """Though that call hands over what it had printed, as a stopped one does."""
    place = init_workspace(tmp_path / "ws", agent="a").root
    outer = Tool(ToolDeclaration("outer", "Call another.", {"type": "object"}), _outer)
    with open_workspace_blocking(place, tools=[outer]) as ws:
        end = ws.invoke("outer", {})
    assert end.data is True
    inner = json.loads((place / "steps/a/001/tools/call_1-1/output.json").read_text())
    assert (inner["outcome"], inner["stdout"]) == ("stopped", "begun\n")


def test_no_call_of_a_program_begins_while_its_answers_wait_to_be_read(tmp_path: Path) -> None:
    """Its host would else have to keep them all; those that run already are as many as may run at once."""
    made: list[int] = []
    seen: list[int] = []

    @tool
    async def big(n: int) -> bytes:
        """Answer with half a megabyte."""
        made.append(n)
        return bytes(MIB // 2)

    program = """
import asyncio, os, time
from litany_tools import aio
async def main():
    calls = [asyncio.create_task(aio.big(n=n)) for n in range(100)]
    await asyncio.sleep(0)
    time.sleep(1.5)
    print("late", flush=True)
    print(sum([len((await each).stdout_bytes) for each in calls]))
asyncio.run(main())
"""
    place = init_workspace(tmp_path / "ws", agent="a").root
    with open_workspace_blocking(place, tools=[big], limits=Limits(value_bytes=MIB)) as ws:
        end = ws.python(program, deadline="60s", on_output=lambda *_: seen.append(len(made)))
    assert end.stdout == b"late\n52428800\n", end.stderr
    assert 3 <= seen[0] <= 3 + 1 + 8  # a value and what is beyond it, one in the socket, and those that ran
    assert sorted(made) == list(range(100))
