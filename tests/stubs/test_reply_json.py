"""One reply as one line of JSON, and back without losing a byte."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litany_stubs.reply_json import (
    ReplyFormatError,
    decode_reply,
    encode_reply,
    reply_from_object,
    reply_to_object,
)
from litany_stubs.words import Refusal, Reply

data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
replies = st.builds(
    Reply,
    outcome=st.sampled_from(["completed", "failed", "refused", "killed"]),
    exit_code=st.integers(-255, 255),
    stdout=st.binary() | st.text(st.characters(exclude_categories=["Cs"])).map(str.encode),
    stderr=st.binary(),
    data=data,
    refusal=st.none() | st.builds(Refusal, gate=st.text(), reason=st.text()),
)


@given(replies)
def test_a_reply_survives_the_way_there_and_back(reply: Reply) -> None:
    text = encode_reply(reply)
    assert text.isascii()
    assert "\n" not in text
    assert decode_reply(text) == reply
    assert decode_reply(text.encode()) == reply


def test_text_stays_readable_and_bytes_become_base64() -> None:
    found = reply_to_object(Reply("completed", 0, "é\n".encode(), b"\xff"))
    assert (found["stdout"], "stdout_encoding" in found) == ("é\n", False)
    assert (found["stderr"], found["stderr_encoding"]) == ("/w==", "base64")


GOOD: dict[str, Any] = reply_to_object(Reply("completed", 0))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"outcome": 7}, "outcome must be str"),
        ({"exit_code": "0"}, "exit_code must be int"),
        ({"exit_code": True}, "exit_code must be int"),
        ({"stdout": None}, "stdout must be str"),
        ({"stdout_encoding": None}, "stdout_encoding must be str"),
        ({"stdout_encoding": "latin-1"}, "must be 'utf-8' or 'base64'"),
        ({"stdout_encoding": "base64", "stdout": "!"}, "is not base64"),
        ({"stdout": "\ud800"}, "is not utf-8"),
        ({"refusal": "no"}, "refusal must be an object"),
        ({"refusal": {"gate": "x"}}, "reason must be str"),
    ],
)
def test_what_is_no_reply_is_refused_with_its_cause(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ReplyFormatError, match=said):
        reply_from_object({**GOOD, **change})


@pytest.mark.parametrize(
    "text", ["", "[]", "7", "{", "Exit code: 0\n", '{"data": NaN}', "[" * 100_000, b"\xff"]
)
def test_text_that_is_no_reply_is_refused(text: str | bytes) -> None:
    with pytest.raises(ReplyFormatError):
        decode_reply(text)


@given(st.text() | st.binary())
def test_any_text_is_a_reply_or_refused(text: str | bytes) -> None:
    with contextlib.suppress(ReplyFormatError):
        decode_reply(text)


def test_a_record_may_hold_more_than_the_reply() -> None:
    assert reply_from_object(json.loads(json.dumps({**GOOD, "started_at": "now"}))) == Reply("completed", 0)
