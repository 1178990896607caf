"""The wire carries JSON's domain, whole, in any pieces, and believes nothing else."""

from __future__ import annotations

import itertools
import random
import struct

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litany_runtime import wire
from litany_runtime.wire import (
    FROM_CHILD,
    FROM_HOST,
    Answer,
    Call,
    Decoder,
    Ended,
    LocalError,
    RemoteError,
    Run,
    Stubs,
    Warm,
)
from wire_fuzz import one_round

LIMIT = 1 << 20

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
child_messages = st.one_of(
    st.builds(Warm, st.lists(st.text(), max_size=3)),
    st.builds(
        Call, st.integers(1, 2**31), st.text(max_size=64), st.dictionaries(st.text(), json_values, max_size=4)
    ),
    st.builds(wire.Cancel, st.integers(1, 2**31)),
    st.builds(wire.Refused, st.text()),
    st.builds(wire.Warned, st.lists(st.text(), max_size=3)),
    st.builds(
        Ended,
        st.integers(0, 255),
        st.booleans(),
        st.lists(st.integers(1, 2**31), max_size=4),
        st.integers(0, 2**31),
    ),
)
host_messages = st.one_of(
    st.builds(Run, st.binary(), st.text(), st.booleans()),
    st.builds(Stubs, st.binary()),
    st.builds(
        Answer,
        st.integers(1, 9),
        st.text(),
        st.integers(0, 255),
        st.binary(),
        st.binary(),
        json_values,
        st.text(),
        st.text(),
        st.floats(0, allow_infinity=False),
        st.floats(0, allow_infinity=False),
    ),
)


def frame(items: object) -> bytes:
    body: bytes = msgpack.packb(items)
    return struct.pack(">I", len(body)) + body


def in_pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[a:b] for a, b in itertools.pairwise(edges)]


@given(st.lists(child_messages, max_size=5), st.lists(st.integers(0, 10_000), max_size=8))
def test_messages_of_the_child_arrive_as_sent_in_any_pieces(
    messages: list[wire.Message], cuts: list[int]
) -> None:
    decoder = Decoder(FROM_CHILD, LIMIT)
    data = b"".join(wire.encode(each, LIMIT) for each in messages)
    assert [each for piece in in_pieces(data, cuts) for each in decoder.feed(piece)] == messages


@given(st.lists(host_messages, max_size=5))
def test_messages_of_the_host_arrive_as_sent(messages: list[wire.Message]) -> None:
    decoder = Decoder(FROM_HOST, LIMIT)
    assert [each for message in messages for each in decoder.feed(wire.encode(message, LIMIT))] == messages


@given(st.binary(max_size=200))
def test_garbage_is_a_remote_error_or_waits_for_more_and_nothing_else(garbage: bytes) -> None:
    for accepts in (FROM_CHILD, FROM_HOST):
        try:
            list(Decoder(accepts, LIMIT).feed(garbage))
        except RemoteError:
            continue


arbitrary = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text()
    | st.binary()
    | st.builds(msgpack.ExtType, st.integers(0, 127), st.binary()),
    lambda inner: (
        st.lists(inner, max_size=9)
        | st.dictionaries(st.text() | st.integers(0, 9) | st.binary(), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.integers(0, 9) | arbitrary, st.lists(arbitrary, max_size=9))
def test_well_formed_msgpack_of_the_wrong_shape_is_a_remote_error(tag: object, rest: list[object]) -> None:
    try:
        for message in Decoder(FROM_CHILD, LIMIT).feed(frame([tag, *rest])):
            assert wire.encode(message, LIMIT)  # what was taken is a message of the closed set
    except RemoteError:
        pass


def test_a_length_over_the_limit_is_refused_before_its_body_arrives() -> None:
    with pytest.raises(RemoteError, match="limit is 1000"):
        list(Decoder(FROM_CHILD, 1000).feed(struct.pack(">I", 1001)))


def test_the_host_may_not_be_sent_a_message_of_the_host() -> None:
    with pytest.raises(RemoteError, match="no message of this side"):
        list(Decoder(FROM_CHILD, LIMIT).feed(wire.encode(Run(b"", "", look=False), LIMIT)))


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def test_nesting_ends_at_the_limit_on_both_sides() -> None:
    at_limit = Call(1, "t", {"a": nested(wire.MAX_DEPTH - 1)})
    assert list(Decoder(FROM_CHILD, LIMIT).feed(wire.encode(at_limit, LIMIT))) == [at_limit]
    with pytest.raises(LocalError, match="nested deeper"):
        wire.encode(Call(1, "t", {"a": nested(wire.MAX_DEPTH)}), LIMIT)
    with pytest.raises(RemoteError, match="nested deeper"):
        list(Decoder(FROM_CHILD, LIMIT).feed(frame([3, 1, "t", {"a": nested(wire.MAX_DEPTH)}])))
    body = b"\x94\x03\x01\xa1t\x81\xa1a" + b"\x91" * 100_000 + b"\x01"
    with pytest.raises(RemoteError):
        list(Decoder(FROM_CHILD, LIMIT).feed(struct.pack(">I", len(body)) + body))


@pytest.mark.parametrize(
    ("value", "path", "says"),
    [
        ({"a": [1, {"b": float("nan")}]}, "$.a[1].b", "no JSON number"),
        ({"a": float("inf")}, "$.a", "no JSON number"),
        ({"a": {1: 2}}, "$.a", "is not text"),
        ({"a": b"x"}, "$.a", "bytes is not a JSON value"),
        ({"a": (1,)}, "$.a", "tuple is not a JSON value"),
        ({"a": [2**64]}, "$.a[0]", "beyond 64 bits"),
        ({"a": {1, 2}}, "$.a", "set is not a JSON value"),
        ({"a": type("Text", (str,), {})("x")}, "$.a", "Text is not a JSON value"),
    ],
)
def test_a_value_outside_json_is_named_by_its_path(value: dict[str, object], path: str, says: str) -> None:
    with pytest.raises(LocalError, match=says) as caught:
        wire.encode(Call(1, "t", value), LIMIT)
    assert caught.value.path == path


def test_a_value_that_holds_itself_is_refused_in_bounded_time() -> None:
    ring: list[object] = []
    ring.extend([ring, ring, ring])
    with pytest.raises(LocalError, match=r"holds itself|nested"):
        wire.encode(Call(1, "t", {"a": ring}), LIMIT)


def test_a_lone_surrogate_is_refused_before_it_is_sent() -> None:
    with pytest.raises(LocalError):
        wire.encode(Call(1, "t", {"a": "\ud800"}), LIMIT)


def test_a_frame_over_the_limit_is_refused_where_it_is_made() -> None:
    with pytest.raises(LocalError, match="allowed"):
        wire.encode(Call(1, "t", {"a": "x" * 2000}), 1000)


def test_mutated_conversations_are_taken_or_refused_and_nothing_else() -> None:
    dice = random.Random(20)
    assert sum(one_round(dice) for _ in range(20_000)) > 1000  # enough of them reach a decoded message
