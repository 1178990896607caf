"""A deadline whose clock stands while somebody else is waited for."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from pathlib import Path

import trio
import trio.testing

from litany_runtime.deadline import Deadline
from litany_runtime.outcome import Outcome
from litany_runtime.program import InnerCall
from litany_stubs.words import Reply
from runtime_kit import open_bench


def on_a_mock_clock(main: Callable[[], Awaitable[None]]) -> None:
    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


def test_what_was_left_when_the_clock_stopped_is_left_when_it_goes_on() -> None:
    async def main() -> None:
        began = trio.current_time()
        deadline = Deadline(began + 10)
        with trio.CancelScope() as scope:
            deadline.bind(scope)
            await trio.sleep(4)
            deadline.pause()
            assert (deadline.at, scope.deadline) == (math.inf, math.inf)
            await trio.sleep(100)
            deadline.resume()
            assert deadline.at == scope.deadline == began + 110
            await trio.sleep_forever()
        assert trio.current_time() == began + 110

    on_a_mock_clock(main)


def test_a_clock_that_was_stopped_twice_goes_on_when_both_let_it() -> None:
    async def main() -> None:
        deadline = Deadline(trio.current_time() + 10)
        deadline.pause()
        deadline.pause()
        await trio.sleep(5)
        deadline.resume()
        assert deadline.at == math.inf
        await trio.sleep(5)
        deadline.resume()
        assert deadline.at == trio.current_time() + 10

    on_a_mock_clock(main)


def test_a_deadline_is_brought_forward_and_never_put_off() -> None:
    async def main() -> None:
        now = trio.current_time()
        deadline = Deadline(now + 10)
        deadline.no_later_than(now + 20)
        assert deadline.at == now + 10
        deadline.no_later_than(now + 5)
        assert deadline.at == now + 5
        deadline.pause()
        deadline.no_later_than(now + 2)
        deadline.resume()
        assert deadline.at == now + 2

    on_a_mock_clock(main)


def test_without_a_deadline_there_is_none_after_a_pause() -> None:
    async def main() -> None:
        deadline = Deadline()
        deadline.pause()
        deadline.resume()
        assert deadline.at == math.inf

    on_a_mock_clock(main)


def test_a_program_outlives_its_deadline_by_the_time_that_its_clock_stood(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_bench(tmp_path) as bench:
            await bench.run("1")  # the zygote's start is not what is measured
            deadline = Deadline(trio.current_time() + 1.0)

            async def answer(_: InnerCall) -> Reply:
                deadline.pause()
                await trio.sleep(1.5)
                deadline.resume()
                return Reply("completed", 0, b"answered")

            program = (
                "import litany_tools\nprint(litany_tools.echo(text='x').stdout, flush=True)\nwhile True: pass"
            )
            began = trio.current_time()
            end = await bench.run(program, answer=answer, deadline=deadline)
            assert (end.outcome, end.stdout) == (Outcome.TIMED_OUT, b"answered\n")
            assert 2.4 < trio.current_time() - began < 6

    trio.run(main)
