"""The order of inner calls: side by side where that is safe, else one after the other; barriers hold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st

from door_kit import Place, make_place
from litany_engine.door.calls import CallEnd, Capture, Context, Tool, ToolCall
from litany_engine.door.door import Door
from litany_engine.door.schedule import Schedule, Slots
from litany_engine.tools.definitions import Traits
from litany_engine.tools.toolset import toolset
from litany_stubs.words import ToolDeclaration


def played(main: Callable[[], Awaitable[Any]]) -> Any:
    return trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


Call = tuple[bool, bool, int]
"""Safe, barrier, seconds."""


def run_all(calls: list[Call], limit: int = 8) -> list[tuple[float, float]]:
    """When each of the calls began and ended, all asked for at once in their order."""

    async def main() -> list[tuple[float, float]]:
        schedule, spans, start = Schedule(Slots(limit)), {}, trio.current_time()

        async def one(index: int, call: Call) -> None:
            turn = await schedule.enter(safe=call[0], barrier=call[1])
            began = trio.current_time() - start
            await trio.sleep(call[2])
            schedule.leave(turn)
            spans[index] = (began, trio.current_time() - start)

        async with trio.open_nursery() as nursery:
            for index, call in enumerate(calls):
                nursery.start_soon(one, index, call)
                await trio.testing.wait_all_tasks_blocked()
        return [spans[index] for index in range(len(calls))]

    return played(main)  # type: ignore[no-any-return]


SAFE, UNSAFE, BARRIER = (True, False, 10), (False, False, 10), (False, True, 10)


def test_safe_calls_run_at_once_and_the_others_one_after_the_other() -> None:
    begins = [began for began, _ in run_all([SAFE, UNSAFE, SAFE, UNSAFE, UNSAFE])]
    assert begins == [0, 0, 0, 10, 20]


def test_no_more_run_than_there_are_slots() -> None:
    assert [began for began, _ in run_all([SAFE] * 5, limit=2)] == [0, 0, 10, 10, 20]


def test_a_barrier_waits_for_all_before_it_and_all_after_it_wait() -> None:
    begins = [began for began, _ in run_all([SAFE, UNSAFE, UNSAFE, BARRIER, SAFE, UNSAFE])]
    assert begins == [0, 0, 10, 20, 30, 30]


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.booleans(), st.integers(1, 3)).map(
            lambda each: (each[0] and not each[1], each[1], each[2])
        ),
        max_size=12,
    ),
    st.integers(1, 4),
)
def test_whatever_is_asked_for_the_rules_hold_and_all_of_it_runs(calls: list[Call], limit: int) -> None:
    spans = run_all(calls, limit)
    for index, (began, ended) in enumerate(spans):
        together = sum(other[0] <= began < other[1] for other in spans)
        assert together <= limit
        for before in range(index):
            other_began, other_ended = spans[before]
            if calls[index][1] or calls[before][1] or not (calls[index][0] or calls[before][0]):
                assert other_ended <= began, (index, before)
            assert other_began <= began or calls[before][1] or not calls[before][0] or limit < len(calls)
        assert ended == began + calls[index][2]


def test_a_call_that_stops_waiting_gives_its_place_up() -> None:
    async def main() -> None:
        schedule = Schedule(Slots(8))
        first = await schedule.enter(safe=False, barrier=False)
        with trio.move_on_after(1):
            await schedule.enter(safe=False, barrier=True)
        turn = await schedule.enter(safe=True, barrier=False)  # the barrier that gave up bars nobody
        schedule.leave(first)
        schedule.leave(turn)
        schedule.leave(await schedule.enter(safe=False, barrier=True))

    played(main)


def test_programs_of_one_agent_share_its_slots() -> None:
    async def main() -> None:
        slots = Slots(1)
        one, other = Schedule(slots), Schedule(slots)
        turn = await one.enter(safe=True, barrier=False)
        with trio.move_on_after(1) as waited:
            await other.enter(safe=True, barrier=False)
        assert waited.cancelled_caught
        with trio.fail_after(1):
            async with trio.open_nursery() as nursery:

                async def enter() -> None:
                    other.leave(await other.enter(safe=True, barrier=False))

                nursery.start_soon(enter)
                await trio.testing.wait_all_tasks_blocked()
                one.leave(turn)
        assert slots.used == 0

    played(main)


# -- through the door -------------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def together(place: Place, names: list[str], concurrency: int = 8) -> tuple[int, list[str]]:
    """The most calls that ran at once, and the order of their starts, of inner calls asked for together."""
    running, most, order = 0, 0, []

    async def work(call: ToolCall, context: Context) -> Capture:
        nonlocal running, most
        running += 1
        most = max(most, running)
        order.append(call.id)
        await trio.sleep(1)
        running -= 1
        return Capture()

    async def many(call: ToolCall, context: Context) -> Capture:
        assert context.invoke is not None
        async with trio.open_nursery() as nursery:
            for name in names:
                nursery.start_soon(context.invoke, name, {})
                await trio.testing.wait_all_tasks_blocked()
        return Capture()

    place.toolset = toolset(
        [
            Tool(ToolDeclaration("safe"), work, traits=Traits(concurrency_safe=True)),
            Tool(ToolDeclaration("unsafe"), work, traits=Traits(concurrency_safe=False)),
            Tool(ToolDeclaration("silent"), work),
            Tool(ToolDeclaration("barrier"), work, traits=Traits(barrier=True)),
            Tool(ToolDeclaration("many"), many),
        ]
    )

    async def main() -> CallEnd:
        return await Door(concurrency=concurrency).invoke("many", {}, place.caller(), call_id="T")

    played(main)
    return most, order


def test_inner_calls_of_safe_tools_run_beside_each_other_up_to_the_agents_limit(place: Place) -> None:
    assert together(place, ["safe"] * 6)[0] == 6


def test_inner_calls_of_a_tool_that_says_nothing_run_beside_each_other(place: Place) -> None:
    assert together(place, ["silent"] * 6)[0] == 6


def test_the_agents_limit_bounds_them(place: Place) -> None:
    assert together(place, ["safe"] * 6, concurrency=2)[0] == 2


def test_inner_calls_of_tools_that_cannot_bear_company_run_in_the_order_they_were_made(place: Place) -> None:
    assert together(place, ["unsafe"] * 3) == (1, ["T-1", "T-2", "T-3"])


def test_a_call_that_makes_calls_does_not_wait_for_its_own_slot(place: Place) -> None:
    async def main() -> CallEnd:
        asked = {
            "name": "relay",
            "input": {"name": "relay", "input": {"name": "read_file", "input": {"path": "x"}}},
        }
        with trio.fail_after(10):
            return await Door(concurrency=1).invoke("relay", asked, place.caller())

    assert played(main).stdout == b"content of x"


def test_a_barrier_of_a_program_is_kept_through_the_door(place: Place) -> None:
    most, order = together(place, ["safe", "safe", "barrier", "safe", "safe"])
    assert (most, sorted(order[:2]), order[2], sorted(order[3:])) == (
        2,
        ["T-1", "T-2"],
        "T-3",
        ["T-4", "T-5"],
    )
