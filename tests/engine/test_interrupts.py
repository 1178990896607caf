"""An interrupt cancels the work that a host waits for, and reaches the host once that has ended."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
import trio
import trio.testing

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
