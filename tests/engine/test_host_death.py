"""A host that dies between any two system calls: what is left opens, tells what is unknown, and goes on.

The host is a process of its own, killed at a system call that hypothesis chooses (`dying_host.py`), while it
answers a window or settles a dead one. Everything is looked at from outside afterwards.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dying_host import DyingHost, TracingForbidden, dying_host
from litany_engine import open_workspace
from litany_engine.windows.driver import Advance
from litany_engine.windows.entries import Side, standing
from litany_engine.windows.inbox import deposit
from litany_engine.windows.settlement import DIED_AFTER, DIED_UNKNOWN, NOT_RUN_DIED, NOT_RUN_STOPPED
from litany_engine.workspaces.workspace import Workspace
from window_kit import (
    AGENT,
    assert_git_is_clean,
    assert_well_formed,
    git,
    make_workspace,
    results_in,
    transcript_of,
    use,
)

STOPS_A_CALL = 2200
"""Stops that one call takes, its commit included, and a little more: where a death can still fall inside."""


@pytest.fixture(scope="module")
def host() -> Iterator[DyingHost]:
    with dying_host() as running:
        yield running


def advance(workspace: Workspace) -> Advance:
    async def main() -> Advance:
        async with open_workspace(workspace) as ws:
            return await ws.advance(AGENT)

    return trio.run(main)


def blocks(kinds: list[str]) -> list[dict[str, Any]]:
    make: dict[str, Callable[[str], dict[str, Any]]] = {
        "answered": lambda call: use(call, "write", file=call),
        "beside": lambda call: use(call, "write_beside", file=call),
        "refused": lambda call: use(call, "nothing_of_that_name"),
        "stopped": lambda call: use(call, "stop_me", file=call),
        **{f"died {when}": dying(when) for when in ("running", "recorded", "answered")},
    }
    return [make[kind](f"c{index}") for index, kind in enumerate(kinds)]


def dying(when: str) -> Callable[[str], dict[str, Any]]:
    return lambda call: use(call, "die", file=call, when=when)


def effects(workspace: Workspace) -> list[str]:
    path = workspace.root / "effects"
    return path.read_text().split() if path.exists() else []


def record_folders(workspace: Workspace) -> list[Path]:
    return sorted((workspace.root / "steps" / AGENT).glob("*/tools/*"))


def ended_calls(workspace: Workspace) -> dict[str, str]:
    """The calls whose end is recorded, and how they ended."""
    return {
        folder.name: json.loads((folder / "output.json").read_text())["outcome"]
        for folder in record_folders(workspace)
        if (folder / "output.json").exists()
    }


@settings(
    max_examples=25,
    deadline=None,  # the machine may be busy; no promise here is about time
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    kinds=st.lists(
        st.sampled_from(["answered", "beside", "beside", "refused", "stopped"]), min_size=1, max_size=4
    ),
    when=st.floats(0, 1.1),
    again=st.none() | st.integers(1, 2 * STOPS_A_CALL),
)
def test_any_death_leaves_one_result_for_each_call_in_order_and_an_agent_that_goes_on(
    host: DyingHost, kinds: list[str], when: float, again: int | None
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="litany-death-"))
    try:
        workspace = make_workspace(folder / "w")
        calls = blocks(kinds)
        kill_at = 1 + int(when * STOPS_A_CALL * (len(calls) + 1))
        try:
            host.do(workspace.root, "window", calls, kill_at)
            before = ended_calls(workspace), {call: text for call, _, text in results_in(workspace)}
            if again is not None:
                host.do(workspace.root, "advance", [], again)  # it dies again, while it settles
        except TracingForbidden as error:
            pytest.skip(str(error))
        check(workspace, [call["id"] for call in calls], *before)
    finally:
        shutil.rmtree(folder)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kinds=st.lists(
        st.sampled_from(
            ["answered", "beside", "refused", "stopped", "died running", "died recorded", "died answered"]
        ),
        min_size=1,
        max_size=6,
    )
)
@example(kinds=["stopped", "answered", "refused"])
@example(kinds=["beside", "beside", "died recorded", "beside"])
@example(kinds=["answered", "died running", "refused", "stopped"])
@example(kinds=["refused", "died recorded", "answered"])
@example(kinds=["died answered", "died running"])
def test_any_order_of_ends_leaves_one_result_for_each_call_in_order_and_an_agent_that_goes_on(
    host: DyingHost, kinds: list[str]
) -> None:
    """The same from block to block, with deaths that need no tracing: wherever it may run, this does."""
    folder = Path(tempfile.mkdtemp(prefix="litany-ends-"))
    try:
        workspace = make_workspace(folder / "w")
        calls = blocks(kinds)
        done = host.do(workspace.root, "window", calls)
        first = next((kind for kind in kinds if kind == "stopped" or kind.startswith("died")), "")
        assert done["killed"] is first.startswith("died")
        reached = kinds.index(first) + 1 if first else len(kinds)
        committed = {call: text for call, _, text in results_in(workspace)}
        if first in {"died running", "died recorded"}:
            assert list(committed) == [call["id"] for call in calls[: reached - 1]]
        elif first == "died answered":
            assert list(committed) == [call["id"] for call in calls[:reached]]
        else:
            assert list(committed) == [call["id"] for call in calls]
        check(workspace, [call["id"] for call in calls], ended_calls(workspace), committed)
        wrote = [call["id"] for call, kind in zip(calls, kinds, strict=True) if kind != "refused"]
        assert effects(workspace) == [
            call for call in wrote if call in {each["id"] for each in calls[:reached]}
        ]
    finally:
        shutil.rmtree(folder)


def check(workspace: Workspace, ids: list[str], ended: dict[str, str], answered: dict[str, str]) -> None:
    advance(workspace)
    entries = transcript_of(workspace).entries()
    taken = any(entry.side is Side.ASSISTANT for entry in entries)
    results = results_in(workspace)
    assert [call for call, _, _ in results] == (ids if taken else [])
    assert_well_formed(workspace)

    ran = effects(workspace)
    assert len(ran) == len(set(ran)), "a call ran twice"
    for call, is_error, text in results:
        if call in answered:
            assert text == answered[call], "an answer changed after it was given"
            assert text == NOT_RUN_STOPPED or call in ended, "an answer was given before its record was"
        elif call in ended:
            assert text.startswith(DIED_AFTER), "an end that was recorded is lost"
            assert is_error
            if ended[call] == "completed":
                assert text.endswith(f"wrote {call}")
        else:
            assert text in {DIED_UNKNOWN, NOT_RUN_DIED}
            assert is_error
        if text == NOT_RUN_DIED:
            assert call not in ran, "it is said that it did not run, and it did"
        if text.endswith(f"wrote {call}"):
            assert git(workspace, "show", f"agents/{AGENT}:{call}") == call

    for record in record_folders(workspace):
        for name in ("input.json", "output.json"):
            if (record / name).exists():
                json.loads((record / name).read_text())
        assert (record / "output.json").exists()

    tip = git(workspace, "rev-parse", f"agents/{AGENT}")
    again = advance(workspace)
    assert (again.settled, again.records) == ((), ())
    assert git(workspace, "rev-parse", f"agents/{AGENT}") == tip

    deposit(workspace.inbox(AGENT), "user", "go on")
    assert advance(workspace).due
    assert standing(transcript_of(workspace).entries()).model_is_due
    assert_git_is_clean(workspace)


def test_a_host_that_is_not_killed_does_its_work(host: DyingHost, tmp_path: Path) -> None:
    """So that a harness which kills too early, or whose host always fails, does not pass for a test."""
    workspace = make_workspace(tmp_path / "w")
    try:
        done = host.do(
            workspace.root, "window", blocks(["answered", "refused", "stopped", "answered"]), 10**9
        )
    except TracingForbidden as error:
        pytest.skip(str(error))
    assert (done["killed"], done["status"]) == (False, 0)
    assert effects(workspace) == ["c0", "c2"]
    assert [call for call, _, _ in results_in(workspace)] == ["c0", "c1", "c2", "c3"]
    assert done["stops"] < STOPS_A_CALL * 5
