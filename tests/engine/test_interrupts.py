"""An interrupt cancels the work that a host waits for, and reaches the host once that has ended."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from litany_engine import api, init_workspace, open_workspace
from litany_engine.interrupts import uninterrupted


@pytest.fixture(autouse=True)
def interrupts_are_raised() -> Iterator[None]:
    """As Python does it; a shell has them ignored for what runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def test_its_value_comes_back() -> None:
    async def work() -> int:
        await trio.lowlevel.checkpoint()
        return 7

    assert trio.run(uninterrupted, work) == 7


def test_its_error_comes_back_as_it_was_raised() -> None:
    async def work() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        trio.run(uninterrupted, work)


@pytest.mark.parametrize("times", [1, 3])
def test_an_interrupt_cancels_it_and_is_raised_after_its_end(times: int) -> None:
    seen = []

    async def work() -> None:
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                for _ in range(times - 1):
                    interrupt()
                    await trio.sleep(0.01)
                seen.append("cleaned up")

    async def main() -> None:
        trio.lowlevel.spawn_system_task(interrupt_once_all_wait)
        try:
            await uninterrupted(work)
        finally:
            seen.append("back")

    with pytest.raises(KeyboardInterrupt):
        trio.run(main)
    assert seen == ["cleaned up", "back"]


async def interrupt_once_all_wait() -> None:
    """Where a system task runs, the main one is hit: as when the whole process waits."""
    await trio.testing.wait_all_tasks_blocked()
    interrupt()


def test_the_caller_s_cancellation_reaches_it_and_the_caller() -> None:
    seen = []

    async def work() -> None:
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            seen.append("cancelled")
            raise

    async def main() -> bool:
        with trio.move_on_after(0.01) as scope:
            await uninterrupted(work)
            seen.append("went on")
        return scope.cancelled_caught

    assert trio.run(main)
    assert seen == ["cancelled"]


def test_what_it_gives_in_answer_to_a_cancellation_is_not_lost() -> None:
    async def work() -> str:
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            return "so far"

    async def main() -> list[str]:
        given = []
        with trio.move_on_after(0.01):
            given.append(await uninterrupted(work))
        return given

    assert trio.run(main) == ["so far"]


@pytest.mark.parametrize("hit", ["a task of the work", "a task of that", "a thread that waits"])
def test_wherever_an_interrupt_hits_it_cancels_the_work_and_is_raised_alone(hit: str) -> None:
    seen = []

    async def below() -> None:
        interrupt()
        seen.append("went on")
        await trio.sleep_forever()

    async def work() -> str:
        try:
            async with trio.open_nursery() as nursery:
                if hit == "a task of the work":
                    nursery.start_soon(below)
                elif hit == "a task of that":
                    async with trio.open_nursery() as inner:
                        inner.start_soon(below)
                else:
                    await trio.to_thread.run_sync(interrupt)
                    seen.append("went on")
                    await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                await trio.lowlevel.checkpoint()
                seen.append("cleaned up")
        return "never"

    with pytest.raises(KeyboardInterrupt):
        trio.run(uninterrupted, work)
    assert seen == ["went on", "cleaned up"]


def test_an_interrupt_at_its_very_end_is_raised_alone() -> None:
    async def work() -> int:
        interrupt()
        return 7

    async def main() -> None:
        await uninterrupted(work)
        await trio.sleep_forever()

    with pytest.raises(KeyboardInterrupt):
        trio.run(main)


def test_works_that_overlap_leave_the_handler_as_they_found_it() -> None:
    async def main() -> None:
        found = signal.getsignal(signal.SIGINT)
        first, second = trio.Event(), trio.Event()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(uninterrupted, first.wait)
            nursery.start_soon(uninterrupted, second.wait)
            await trio.testing.wait_all_tasks_blocked()
            assert signal.getsignal(signal.SIGINT) != found
            first.set()  # the first to come is the first to go
            await trio.testing.wait_all_tasks_blocked()
            assert signal.getsignal(signal.SIGINT) != found
            second.set()
        assert signal.getsignal(signal.SIGINT) is found

    trio.run(main)


def test_a_host_s_own_handler_is_left_alone() -> None:
    seen = []

    async def work() -> int:
        interrupt()
        return 7

    def own(*_: object) -> None:
        seen.append("mine")

    signal.signal(signal.SIGINT, own)
    assert trio.run(uninterrupted, work) == 7
    assert seen == ["mine"]
    assert signal.getsignal(signal.SIGINT) is own


def test_another_thread_than_the_main_one_has_no_interrupts_to_keep() -> None:
    async def work() -> int:
        return 7

    async def main() -> int:
        return await trio.to_thread.run_sync(trio.run, uninterrupted, work)

    assert trio.run(main) == 7


@pytest.mark.parametrize("already", [None, ValueError("the host's own"), KeyboardInterrupt("the first")])
def test_an_interrupt_while_a_workspace_closes_comes_out_as_one_and_after_what_came_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, already: BaseException | None
) -> None:
    async def interrupted_as_it_ends(
        *_: Any, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        task_status.started()
        try:
            await trio.sleep_forever()
        finally:
            raise KeyboardInterrupt("one more")

    monkeypatch.setattr(api, "serve_stops", interrupted_as_it_ends)
    workspace = init_workspace(tmp_path / "w", agent="a")

    async def main() -> None:
        async with open_workspace(workspace):
            if already is not None:
                raise already

    with pytest.raises(type(already or KeyboardInterrupt())) as caught:
        trio.run(main)
    if already is not None:
        assert caught.value is already
