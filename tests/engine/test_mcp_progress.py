"""What a client is told of progress: what the tool said, and a number that grows."""

from __future__ import annotations

import pytest

pytest.importorskip("mcp", reason="the extra litany[mcp] is not installed")

import trio

from litany_engine.mcp.progress import Progress

Told = tuple[float, float | None, str | None]


def told(*reports: tuple[str, str, float | None, float | None] | str) -> list[Told]:
    """What is told of reports, each at once; a name alone is the end of that call."""
    heard: list[Told] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async def main() -> None:
        progress = Progress()
        for each in reports:
            if isinstance(each, str):
                progress.ended(each)
            else:
                progress.report(*each)
                await progress.tell(hear)

    trio.run(main)
    return heard


def test_what_one_call_says_is_told_as_it_says_it() -> None:
    assert told(("a", "begun", 0, 4), ("a", "three", 3, 4), ("a", "", 4, 4)) == [
        (0, 4, "begun"),
        (3, 4, "three"),
        (4, 4, None),
    ]
    assert told(("a", "bytes", 500, None)) == [(500, None, "bytes")]
    assert told(("a", "hm", None, None)) == [(0, None, "hm")]


def test_calls_one_after_another_are_added_up() -> None:
    assert told(("a", "", 4, 4), "a", ("b", "", 0, 5), ("b", "", 2, 5))[-1] == (6, 9, None)


def test_calls_beside_each_other_are_added_up() -> None:
    assert told(("a", "", 1, 4), ("b", "", 1, 5), ("a", "", 2, 4))[-1] == (3, 9, None)
    assert told(("a", "", 1, 4), ("b", "", 1, None))[-1] == (2, None, None)


def test_the_number_grows_whatever_is_said() -> None:
    numbers = [
        each[0]
        for each in told(("a", "", 3, 4), ("a", "", 1, 4), ("a", "", None, None), "a", ("b", "", 0, 1))
    ]
    assert numbers == sorted(set(numbers))
