"""A recorded program again: the same answers, or the first call that differs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litany_stubs import client
from litany_stubs.replay import AnsweredCall, Divergence, ReplayDoor, difference, same
from litany_stubs.testing import FakeDoor, failure, output
from litany_stubs.words import DoorError

RECORD = [
    AnsweredCall("read", {"path": "a", "limit": 5}, output("A")),
    AnsweredCall("read", {"path": "b"}, failure("no b")),
    AnsweredCall("write", {"path": "c", "text": "AB"}, output(b"\xff")),
]


def test_the_same_program_gets_the_same_answers() -> None:
    door = ReplayDoor(RECORD)
    for each in RECORD:
        assert door.call(each.name, each.input) is each.reply
    assert door.finish() is None


def test_equal_calls_are_answered_in_the_order_of_the_record() -> None:
    door = ReplayDoor([AnsweredCall("t", {}, output(str(n))) for n in range(3)])
    assert [door.call("t", {}).stdout for _ in range(3)] == [b"0", b"1", b"2"]


def test_calls_that_ran_side_by_side_may_come_in_another_order() -> None:
    door = ReplayDoor(RECORD)

    async def main() -> list[Any]:
        return await asyncio.gather(*(door.call_async(each.name, each.input) for each in reversed(RECORD)))

    assert asyncio.run(main()) == [each.reply for each in reversed(RECORD)]
    assert door.finish() is None


def test_the_first_call_that_differs_is_named_with_the_place() -> None:
    door = ReplayDoor(RECORD)
    door.call("read", {"path": "a", "limit": 5})
    with pytest.raises(DoorError, match="call 2 differs"):
        door.call("read", {"path": "B"})
    assert str(door.finish()) == (
        'call 2 differs: the program asked for read({"path": "B"}); the record holds read({"path": "b"}); '
        'they differ at input.path: "b" recorded, "B" asked'
    )


def test_no_call_is_answered_after_the_divergence() -> None:
    door = ReplayDoor(RECORD)
    for name, arguments in [("delete", {}), ("read", {"path": "b"})]:
        with pytest.raises(DoorError, match="call 1 differs: the program asked for delete"):
            door.call(name, arguments)
    assert door.divergence is not None
    assert door.divergence.asked == ("delete", {})
    assert door.divergence.expected is RECORD[0]


def test_a_call_too_many_and_a_call_too_few_are_divergences() -> None:
    door = ReplayDoor([])
    with pytest.raises(DoorError, match="the record holds no further call"):
        door.call("t", {})
    door = ReplayDoor(RECORD[:2])
    door.call("read", {"path": "b"})
    assert str(door.finish()) == 'the program ended without call 2: read({"path": "a", "limit": 5})'
    assert isinstance(door.finish(), Divergence)


def test_a_program_replays_under_its_stubs() -> None:
    live = FakeDoor().answers("read", "one", "two")
    program = "import litany_tools as t\nprint(t.read(n=1).stdout, t.read(n=2).stdout)"
    recorded = live.run(program)
    calls = [
        AnsweredCall(each.name, each.input, output(text))
        for each, text in zip(live.calls, ["one", "two"], strict=True)
    ]
    again = ReplayDoor(calls)
    former = client.bind(again)
    try:
        found = [client.invoke("read", {"n": n}).stdout for n in (1, 2)]
    finally:
        client.bind(former)
    assert " ".join(found) + "\n" == recorded.stdout


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_a_value_is_the_same_as_itself(value: Any) -> None:
    assert same(value, value)


@given(json_values, json_values)
def test_two_values_are_the_same_both_ways_or_neither(one: Any, two: Any) -> None:
    assert same(one, two) is same(two, one)


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        ({"a": 1}, {"a": True}, "input.a: 1 recorded, true asked"),
        ({"a": 1}, {}, "input.a, which is gone"),
        ({}, {"a": 1}, "input.a, which is new"),
        ({"a": [1, 2]}, {"a": [1]}, "input.a, 2 items recorded and 1 asked"),
        ({"a": [1, {"b": None}]}, {"a": [1, {"b": 0}]}, "input.a[1].b: null recorded, 0 asked"),
        (1, 1.0, None),
    ],
)
def test_a_difference_is_said_by_its_place(one: Any, two: Any, said: str | None) -> None:
    assert difference(one, two, "input") == said
