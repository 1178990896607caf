"""Entries and their pairing: pure functions, tried on histories that a host that died may have left."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litany_engine.windows.entries import (
    Entry,
    Side,
    ToolResult,
    TranscriptError,
    entry_name,
    number_of,
    origin_fault,
    read_entry,
    reply_fault,
    standing,
    tool_uses,
)
from window_kit import use

MESSAGE = Entry(1, "user", Side.USER, "do it")


def reply(number: int, *ids: str) -> Entry:
    return Entry(number, "m", Side.ASSISTANT, [use(each, "say") for each in ids], step=1)


def results(number: int, *ids: str) -> Entry:
    return Entry(number, "tool", Side.TOOL, [ToolResult(each, "x", is_error=False).block() for each in ids])


def test_an_empty_transcript_asks_nothing_of_anybody() -> None:
    now = standing([])
    assert (now.fault, now.unanswered, now.model_is_due) == ("", (), False)


def test_what_the_last_reply_asked_and_nobody_answered_is_open_in_the_order_of_emission() -> None:
    now = standing([MESSAGE, reply(2, "z", "a", "m"), results(3, "a")])
    assert [call.id for call in now.unanswered] == ["z", "m"]
    assert now.fault == ""
    assert not now.model_is_due


def test_it_is_the_model_s_turn_after_a_message_and_after_the_last_result() -> None:
    assert standing([MESSAGE]).model_is_due
    assert standing([MESSAGE, reply(2, "a"), results(3, "a")]).model_is_due
    assert not standing(
        [MESSAGE, Entry(2, "m", Side.ASSISTANT, [{"type": "text", "text": "done"}])]
    ).model_is_due


@pytest.mark.parametrize(
    ("history", "what"),
    [
        ([reply(1, "a"), MESSAGE], "before the answer to 'a'"),
        ([reply(1, "a"), reply(2, "b"), results(3, "b")], "002-m.json comes before the answer to 'a'"),
        ([reply(1, "a"), results(2, "a"), results(3, "a")], "003-tool.json answers 'a', which is not open"),
        ([results(1, "a")], "001-tool.json answers 'a'"),
    ],
)
def test_a_broken_pairing_anywhere_is_a_fault_that_names_the_entry(history: list[Entry], what: str) -> None:
    now = standing(history)
    assert what in now.fault
    assert not now.model_is_due


def test_the_same_id_may_be_used_again_in_a_later_reply() -> None:
    now = standing([reply(1, "a"), results(2, "a"), reply(3, "a")])
    assert (now.fault, [call.id for call in now.unanswered]) == ("", ["a"])


@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True, max_size=5), max_size=5), st.data())
def test_a_history_made_by_answering_is_always_sound(replies: list[list[str]], data: st.DataObject) -> None:
    history: list[Entry] = []
    for ids in replies:
        history.append(reply(len(history) + 1, *ids))
        for each in data.draw(st.permutations(ids)):
            history.append(results(len(history) + 1, each))
    now = standing(history)
    assert (now.fault, now.unanswered) == ("", ())


def test_blocks_that_are_no_calls_are_passed_over() -> None:
    content = [{"type": "text", "text": "x"}, use("a", "say", text="y"), {"type": "thinking"}, "odd"]
    (only,) = tool_uses(content)
    assert (only.id, only.name, only.input) == ("a", "say", {"text": "y"})


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("text", "a list of blocks"),
        (["text"], "a list of blocks"),
        ([{"type": "tool_use", "name": "x"}], "no id"),
        ([{"type": "tool_use", "id": "a"}], "no name"),
        ([{"type": "tool_use", "id": "", "name": "x"}], "no id"),
        ([{"type": "tool_use", "id": 5, "name": "x"}], "no id"),
        ([use("a", "x"), use("a", "y")], "two tool_use blocks have the id 'a'"),
    ],
)
def test_a_reply_that_could_not_be_answered_is_refused_with_the_cause(content: object, what: str) -> None:
    assert what in reply_fault(content)


@pytest.mark.parametrize("origin", ["", "..", "a/b", "é", "a" * 121, ".x", 5])
def test_an_origin_that_is_no_part_of_a_file_name_is_refused(origin: object) -> None:
    assert "cannot name" in origin_fault(origin, Side.USER)


def test_the_origin_tool_is_reserved() -> None:
    assert "tool results" in origin_fault("tool", Side.ASSISTANT)
    assert "tool results" in origin_fault("m", Side.TOOL)
    assert origin_fault("tool", Side.TOOL) == ""


@given(
    st.integers(1, 10**6),
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.:=+@-]{0,40}", fullmatch=True),
    st.sampled_from(Side),
)
def test_a_name_and_its_number_go_together(number: int, origin: str, side: Side) -> None:
    assert number_of(entry_name(number, origin, side)) == number


@pytest.mark.parametrize(
    "name", ["000-x.md", "1-x.md", "0001-x.md", "001-x.txt", "001-.md", ".001-x.md", "x"]
)
def test_what_is_no_entry_has_no_number(name: str) -> None:
    assert number_of(name) is None


json_values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(
    st.binary() | json_values.map(lambda value: json.dumps(value).encode()), st.sampled_from(["m", "tool"])
)
def test_whatever_stands_in_a_file_reading_it_gives_an_entry_or_names_the_damage(
    body: bytes, origin: str
) -> None:
    name = f"004-{origin}.json"
    try:
        entry = read_entry(name, body)
    except TranscriptError as error:
        if name not in str(error):
            raise
    else:
        assert (entry.number, entry.origin) == (4, origin)
        standing([entry])
