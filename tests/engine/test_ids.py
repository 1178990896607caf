from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litany_engine.records.ids import (
    MAX_ID_CHARS,
    agent_id_fault,
    call_id_fault,
    in_tree,
    inner_id,
    inner_index,
    mint_agent_id,
    record_name,
)

ID_LIKE = st.text("abzAZ09_.:=+@-/\\ \0\n~é", max_size=12)


@given(ID_LIKE)
def test_an_accepted_call_id_is_one_visible_path_component(text: str) -> None:
    if call_id_fault(text) is None:
        assert re.fullmatch(r"[\x21-\x7e]+", text)
        assert "/" not in text
        assert not text.startswith((".", "-"))


@settings(deadline=None)  # the first look loads pygit2
@given(ID_LIKE)
def test_an_accepted_agent_id_is_a_name_that_git_takes_for_a_branch(text: str) -> None:
    import pygit2

    if agent_id_fault(text) is None:
        assert pygit2.reference_is_valid_name(f"refs/heads/agents/{text}")
        assert text not in {"", ".", ".."}


@pytest.mark.parametrize(
    "call_id",
    ["toolu_01A09q90qw90lq917835lq9", "call_abc", "functions.bash:0", "T-1-2", "a" * MAX_ID_CHARS, "YQ=="],
)
def test_the_ids_of_providers_are_accepted(call_id: Any) -> None:
    assert call_id_fault(call_id) is None


@pytest.mark.parametrize(
    "call_id",
    [
        "",
        ".",
        "..",
        "a/b",
        "../x",
        "a\0",
        "a\n",
        "a b",
        ".hidden",
        "-flag",
        "é",
        "a" * (MAX_ID_CHARS + 1),
        7,
        None,
        b"x",
    ],
)
def test_a_malformed_call_id_is_refused_with_the_legal_shape(call_id: Any) -> None:
    fault = call_id_fault(call_id)
    assert fault is not None
    assert "ASCII letters" in fault
    assert "\n" not in fault
    assert len(fault) < 300


@given(st.lists(ID_LIKE.filter(bool), min_size=2, max_size=8, unique=True))
def test_a_record_s_name_is_an_id_of_its_own_whatever_was_given(given_ids: list[str]) -> None:
    names = [record_name(each) for each in given_ids]
    assert len(set(names)) == len(names)
    for given_id, name in zip(given_ids, names, strict=True):
        assert call_id_fault(name) is None
        head = name.rpartition("-")[0]
        assert not head or inner_index(head, name) is None
        assert record_name(given_id) == name
        if name != given_id:
            assert record_name(name) != name, "a name that was made is no other id's own"


@pytest.mark.parametrize(
    "given_id", ["toolu_01A09q90qw90lq917835lq9", "call_7", "functions.bash:0", "YQ==", "a-0b"]
)
def test_an_id_that_can_be_a_name_is_its_own(given_id: str) -> None:
    assert record_name(given_id) == given_id


@pytest.mark.parametrize(
    ("given_id", "kept"),
    [
        ("call_abc|fc_123", "call_abc_fc_123."),
        ("call_1-2", "call_1-2."),
        ("|x", "__x."),
        ("-flag", "_-flag."),
        ("é", "__."),
        ("\ud800", "__."),
        ("a" * 500, "a" * 60 + "."),
    ],
)
def test_a_made_name_keeps_the_start_of_the_id(given_id: str, kept: str) -> None:
    name = record_name(given_id)
    assert name.startswith(kept)
    assert len(name) == len(kept) + 24


@pytest.mark.parametrize("agent", ["", "a..b", "a.lock", "a.", ".a", "a/b", "a:b", "-a", 3])
def test_a_malformed_agent_id_is_refused(agent: Any) -> None:
    assert agent_id_fault(agent) is not None


@given(st.integers(1, 10**9))
def test_the_index_of_an_inner_id_is_read_back(k: int) -> None:
    assert inner_index("T-1", inner_id("T-1", k)) == k


@pytest.mark.parametrize("other", ["T", "T-0", "T-01", "T-x", "T--1", "U-1", "T-1-1", "T-١"])
def test_what_is_not_an_inner_id_of_the_call_has_no_index(other: str) -> None:
    assert inner_index("T", other) is None


def test_a_minted_agent_id_shows_its_descent() -> None:
    root = mint_agent_id()
    child = mint_agent_id(root)
    assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{6}", root)
    assert child.startswith(root + "-")
    assert agent_id_fault(child) is None
    assert child.count("-") // 2 == 1


def test_descent_is_read_from_the_ids() -> None:
    assert in_tree("a", "a")
    assert in_tree("a-1-x", "a")
    assert not in_tree("ab", "a")
    assert not in_tree("a", "a-1")
