"""A stream is kept whole while it fits; then head and tail stay, and the middle is counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litany_runtime.output import Kept


@given(st.lists(st.binary(max_size=40)), st.integers(1, 60))
def test_head_and_tail_are_kept_and_the_rest_is_counted(pieces: list[bytes], limit: int) -> None:
    kept = Kept(limit)
    for each in pieces:
        kept.add(each)
    whole = b"".join(pieces)
    if len(whole) <= limit:
        assert kept.bytes() == whole
        assert kept.dropped_bytes == 0
    else:
        head, tail = limit - limit // 2, limit // 2
        assert kept.bytes().startswith(whole[:head] + b"\n[")
        assert kept.bytes().endswith(b"]\n" + whole[len(whole) - tail :])
        assert kept.dropped_bytes == len(whole) - limit


@pytest.mark.parametrize("piece", [1, 997, 100_000])
def test_a_flood_costs_a_bounded_amount_of_memory(piece: int) -> None:
    kept = Kept(1000)
    for _ in range(10_000):
        kept.add(b"x" * piece)
    assert len(kept._head) + len(kept._tail) <= 500 + 2 * 500
    assert kept.dropped_bytes == 10_000 * piece - 1000
