"""What signals do to a command: the first stops what it runs, later ones do no more."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
import trio
import trio.testing

from litany_engine.cli.common import stop_on_signals

STOPS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """As Python has them; a test that fails is ended by none."""
    before = {each: signal.signal(each, signal.default_int_handler) for each in STOPS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def stops(*, before: list[int], during: list[int]) -> list[str]:
    """Raise signals, and others while the first of them is answered; what was stopped, and why."""
    reasons: list[str] = []

    async def main() -> None:
        async with trio.open_nursery() as nursery:

            async def stop(reason: str) -> None:
                reasons.append(reason)
                for each in during:
                    signal.raise_signal(each)
                nursery.cancel_scope.cancel()

            await nursery.start(stop_on_signals, stop)
            for each in before:
                signal.raise_signal(each)
            await trio.testing.wait_all_tasks_blocked()

    trio.run(main)
    return reasons


@pytest.mark.parametrize("number", STOPS)
def test_a_signal_stops_what_runs_and_says_which_it_was(number: int) -> None:
    assert stops(before=[number], during=[]) == [f"stopped by {signal.Signals(number).name}"]


@pytest.mark.parametrize("number", STOPS)
@pytest.mark.parametrize("times", [1, 3])
def test_signals_that_come_while_it_is_being_stopped_change_nothing(number: int, times: int) -> None:
    found = {each: signal.getsignal(each) for each in STOPS}
    assert len(stops(before=[signal.SIGTERM], during=[number] * times)) == 1
    assert {each: signal.getsignal(each) for each in STOPS} == found


def test_a_hangup_that_is_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    assert stops(before=[signal.SIGHUP, signal.SIGINT], during=[]) == ["stopped by SIGINT"]
