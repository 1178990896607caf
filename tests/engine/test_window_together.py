"""Calls of one reply that run together: judged in order, run at once, committed in order, whatever comes between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from litany_engine import open_workspace, tool
from litany_engine.api import OpenWorkspace
from litany_engine.door.calls import Tool
from litany_engine.door.holds import Answer, Holds
from litany_engine.tools.definitions import Provenance, Traits
from litany_engine.windows.settlement import DIED_AFTER, DIED_UNKNOWN, NOT_RUN_STOPPED
from litany_engine.windows.transcript import Transcript
from litany_engine.windows.window import Answers, WindowEnd
from litany_engine.workspaces.git import GitError
from litany_engine.workspaces.workspace import Workspace
from tool_kit import wait_until
from window_kit import (
    AGENT,
    answered_in,
    assert_well_formed,
    beside,
    host_process,
    make_workspace,
    results_in,
    use,
)

SAFE = Traits(concurrency_safe=True)


class Gauge:
    """Tools that say when they begin and end, and end when they are told to."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.running = 0
        self.most = 0
        self.may_end: dict[str, trio.Event] = {}

    def tools(self) -> list[Tool]:
        async def work(name: str) -> str:
            self.log.append(f"+{name}")
            self.running += 1
            self.most = max(self.most, self.running)
            try:
                await self.may_end.get(name, _set()).wait()
                await trio.testing.wait_all_tasks_blocked()
            finally:
                self.running -= 1
                self.log.append(f"-{name}")
            return name

        @tool(traits=SAFE)
        async def safe(text: str) -> str:
            """May run beside others."""
            return await work(text)

        @tool
        async def silent(text: str) -> str:
            """Says nothing of it."""
            return await work(text)

        @tool(traits=Traits(concurrency_safe=lambda given: given["text"].startswith("s")))
        async def depends(text: str) -> str:
            """May, when its input says so."""
            return await work(text)

        return [safe, silent, depends]


def _set() -> trio.Event:
    event = trio.Event()
    event.set()
    return event


@pytest.fixture
def gauge() -> Gauge:
    return Gauge()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "w")


def opened(
    workspace: Workspace, gauge: Gauge, work: Callable[[OpenWorkspace], Any], more: Sequence[Tool] = ()
) -> Any:
    async def main() -> Any:
        async with open_workspace(workspace, tools=[*gauge.tools(), *more]) as ws:
            with trio.fail_after(120):
                return await work(ws)

    return trio.run(main)


def window(workspace: Workspace, gauge: Gauge, *calls: tuple[str, str]) -> Answers:
    reply = [use(f"c{index}", name, text=given) for index, (name, given) in enumerate(calls)]
    answers: Answers = opened(workspace, gauge, lambda ws: ws.window(AGENT, reply))
    return answers


def test_calls_of_safe_tools_run_at_once_and_are_answered_in_order(
    workspace: Workspace, gauge: Gauge
) -> None:
    gauge.may_end = {"a": trio.Event()}
    told: list[list[str]] = []

    async def do(ws: OpenWorkspace) -> Answers:
        answers: list[Answers] = []

        async def run() -> None:
            answers.append(await ws.window(AGENT, [use(f"c{n}", "safe", text=n) for n in "abc"]))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await wait_until(lambda: "-c" in gauge.log and "-b" in gauge.log)
            await trio.testing.wait_all_tasks_blocked()
            told.append(answered_in(workspace))  # the last two have ended, and wait for the first
            gauge.may_end["a"].set()
        return answers[0]

    answers = opened(workspace, gauge, do)
    assert gauge.log[:3] == ["+a", "+b", "+c"]
    assert gauge.log[-1] == "-a"
    assert told == [[]]
    assert answered_in(workspace) == ["ca", "cb", "cc"]
    assert [each.text for each in answers.results] == [f"Exit code: 0\n{n}" for n in "abc"]
    assert_well_formed(workspace)


def test_a_result_is_committed_while_later_calls_still_run(workspace: Workspace, gauge: Gauge) -> None:
    gauge.may_end = {"b": trio.Event()}

    async def do(ws: OpenWorkspace) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ws.window, AGENT, [use(f"c{n}", "safe", text=n) for n in "ab"])
            await wait_until(lambda: answered_in(workspace) == ["ca"])
            assert "-b" not in gauge.log
            gauge.may_end["b"].set()

    opened(workspace, gauge, do)
    assert answered_in(workspace) == ["ca", "cb"]


@pytest.mark.parametrize("name", ["silent", "depends"])
def test_calls_of_other_tools_run_one_after_another(workspace: Workspace, gauge: Gauge, name: str) -> None:
    window(workspace, gauge, (name, "a"), (name, "b"), ("safe", "c"))
    assert gauge.log == ["+a", "-a", "+b", "-b", "+c", "-c"]


def test_only_neighbours_run_together(workspace: Workspace, gauge: Gauge) -> None:
    calls = [("safe", "a"), ("depends", "sb"), ("silent", "c"), ("safe", "d"), ("safe", "e")]
    window(workspace, gauge, *calls)
    assert gauge.log[:2] == ["+a", "+sb"]
    assert sorted(gauge.log[2:4]) == ["-a", "-sb"]
    assert gauge.log[4:6] == ["+c", "-c"]
    assert gauge.log[6:8] == ["+d", "+e"]


def test_no_more_run_together_than_the_operator_says(tmp_path: Path, gauge: Gauge) -> None:
    workspace = make_workspace(tmp_path / "w", "concurrency = 3\n")
    window(workspace, gauge, *[("safe", str(n)) for n in range(10)])
    assert gauge.most == 3
    assert answered_in(workspace) == [f"c{n}" for n in range(10)]


@pytest.mark.parametrize(
    ("traits", "safe"),
    [
        (Traits(), False),
        (Traits(read_only=True), False),
        (SAFE, True),
        (Traits(concurrency_safe=False), False),
        (Traits(concurrency_safe=True, barrier=True), False),
        (Traits(concurrency_safe=lambda given: given["n"] == 1), True),
        (Traits(concurrency_safe=lambda given: given["m"] == 1), False),
        (Traits(concurrency_safe=True, provenance=Provenance("s", trusted=False)), False),
        (Traits(concurrency_safe=True, provenance=Provenance("s", trusted=True)), True),
    ],
)
def test_only_a_believed_word_makes_a_tool_safe_beside_others(traits: Traits, safe: bool) -> None:
    assert traits.is_declared_safe({"n": 1}) is safe


def test_a_refused_call_among_them_is_answered_in_its_place(workspace: Workspace, gauge: Gauge) -> None:
    reply = [use("c0", "safe", text="a"), use("c1", "safe", txet="b"), use("c2", "safe", text="c")]
    answers = opened(workspace, gauge, lambda ws: ws.window(AGENT, reply))
    assert [each.is_error for each in answers.results] == [False, True, False]
    assert answered_in(workspace) == ["c0", "c1", "c2"]


ASK = '[[rules]]\naction = "ask"\ntool = "safe"\narguments = { text = "held" }\n'


def test_nothing_at_or_after_a_held_call_runs_and_what_ran_is_answered(tmp_path: Path, gauge: Gauge) -> None:
    workspace = make_workspace(tmp_path / "w", ASK)
    reply = [use(f"c{n}", "safe", text=n) for n in ("a", "b", "held", "d")]
    answers = opened(workspace, gauge, lambda ws: ws.window(AGENT, reply))
    assert answers.end == WindowEnd.HELD
    assert answered_in(workspace) == ["ca", "cb"]
    assert {each[1:] for each in gauge.log} == {"a", "b"}
    Holds(workspace.root).answer("cheld", Answer("pass"))
    done = opened(workspace, gauge, lambda ws: ws.advance(AGENT))
    assert done.answers.end == WindowEnd.COMPLETED
    assert answered_in(workspace) == ["ca", "cb", "cheld", "cd"]
    assert gauge.log.count("+a") == 1
    assert_well_formed(workspace)


def test_a_control_that_fails_parks_the_window_behind_what_ran(tmp_path: Path, gauge: Gauge) -> None:
    workspace = make_workspace(tmp_path / "w", '[control]\ncommand = ["./control.sh"]\n')
    control = workspace.root / "control.sh"
    control.write_text('#!/bin/sh\ngrep -q bad && exit 1; echo \'{"verdict": "pass"}\'\n')
    control.chmod(0o755)
    reply = [use(f"c{n}", "safe", text=n) for n in ("a", "bad", "c")]
    answers = opened(workspace, gauge, lambda ws: ws.window(AGENT, reply))
    assert (answers.end, answered_in(workspace)) == (WindowEnd.HELD, ["ca"])
    assert {each[1:] for each in gauge.log} == {"a"}


@pytest.mark.parametrize("how", ["the host", "its task"])
def test_a_stop_ends_all_that_run_and_answers_every_call_in_order(
    tmp_path: Path, gauge: Gauge, how: str
) -> None:
    workspace = make_workspace(tmp_path / "w", "concurrency = 2\n")
    gauge.may_end = {"a": trio.Event(), "b": trio.Event()}

    async def do(ws: OpenWorkspace) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ws.window, AGENT, [use(f"c{n}", "safe", text=n) for n in "abcd"])
            await wait_until(lambda: gauge.running == 2)
            if how == "the host":
                assert sorted(await ws.stop(AGENT)) == ["ca", "cb", "cc", "cd"]
            else:
                nursery.cancel_scope.cancel()

    opened(workspace, gauge, do)
    results = results_in(workspace)
    assert [call for call, _, _ in results] == ["ca", "cb", "cc", "cd"]
    assert [text.splitlines()[0] for _, _, text in results[:2]] == ["Exit code: 143"] * 2
    assert [text for _, _, text in results[2:]] == [NOT_RUN_STOPPED] * 2
    assert_well_formed(workspace)


def test_a_stop_of_one_of_them_leaves_the_others(workspace: Workspace, gauge: Gauge) -> None:
    gauge.may_end = {"a": trio.Event(), "b": trio.Event()}

    async def do(ws: OpenWorkspace) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ws.window, AGENT, [use(f"c{n}", "safe", text=n) for n in "ab"])
            await wait_until(lambda: gauge.running == 2)
            assert await ws.stop("ca") == ("ca",)
            gauge.may_end["b"].set()

    opened(workspace, gauge, do)
    assert [is_error for _, is_error, _ in results_in(workspace)] == [True, False]


def test_a_result_that_cannot_be_committed_ends_what_still_runs(
    workspace: Workspace, gauge: Gauge, monkeypatch: pytest.MonkeyPatch
) -> None:
    gauge.may_end = {"b": trio.Event()}

    def full(*_: object, **__: object) -> None:
        raise GitError("the disk is full")

    monkeypatch.setattr(Transcript, "append_result", full)
    reply = [use(f"c{n}", "safe", text=n) for n in "ab"]
    with pytest.raises(GitError, match="the disk is full"):
        opened(workspace, gauge, lambda ws: ws.window(AGENT, reply))
    assert gauge.running == 0
    monkeypatch.undo()
    opened(workspace, gauge, lambda ws: ws.advance(AGENT))
    assert answered_in(workspace) == ["ca", "cb"]
    assert_well_formed(workspace)


DYING = """
import sys, trio
from pathlib import Path
from litany_engine import open_workspace
from window_kit import AGENT, beside, use

async def main():
    async with open_workspace(sys.argv[1], tools=[beside(Path(sys.argv[1]))]) as ws:
        await ws.window(AGENT, [use(f"c{n}", "beside", text=n) for n in sys.argv[2].split()])

trio.run(main)
"""


@pytest.mark.parametrize("rules", ["", ASK.replace("safe", "beside")])
def test_a_death_settles_each_of_them_as_its_record_says_and_runs_none_again(
    tmp_path: Path, rules: str
) -> None:
    workspace = make_workspace(tmp_path / "w", rules)
    names = ["quick1", "slow2", "quick3", "held"]
    with host_process(DYING, str(workspace.root), " ".join(names)) as host:
        ended = workspace.root / "steps" / AGENT / "001" / "tools" / "cquick3" / "output.json"
        last = workspace.root / ("holds/a/cheld.json" if rules else "effects")

        def reached() -> bool:
            return (
                ended.exists()
                and answered_in(workspace) == ["cquick1"]
                and (last.exists() if rules else "held" in last.read_text())
            )

        trio.run(wait_until, reached, 60)
        host.kill()
        host.wait()

    async def main() -> Any:
        async with open_workspace(Workspace(workspace.root), tools=[beside(workspace.root)]) as ws:
            first = await ws.advance(AGENT)
            if rules:
                Holds(workspace.root).answer("cheld", Answer("refuse"))
                await ws.advance(AGENT)
            return first

    first = trio.run(main)
    results = results_in(workspace)
    assert [call for call, _, _ in results] == [f"c{name}" for name in names]
    assert results[1][2] == DIED_UNKNOWN
    assert results[2][2].startswith(DIED_AFTER)
    assert [each.tool_use_id for each in first.settled] == (
        ["cslow2", "cquick3"] if rules else ["cslow2", "cquick3", "cheld"]
    )
    assert (workspace.root / "effects").read_text().split() == (names[:3] if rules else names)
    assert_well_formed(workspace)


def test_what_judges_an_input_is_shown_its_defaults(workspace: Workspace, gauge: Gauge) -> None:
    seen: list[Any] = []

    def judge(given: Any) -> bool:
        seen.append(dict(given))
        return True

    @tool(traits=Traits(concurrency_safe=judge))
    async def defaulted(text: str = "x") -> str:
        """Has a default."""
        await trio.lowlevel.checkpoint()
        return text

    reply = [use("c0", "defaulted"), use("c1", "defaulted", text="y")]
    opened(workspace, gauge, lambda ws: ws.window(AGENT, reply), [defaulted])
    assert seen[:2] == [{"text": "x"}, {"text": "y"}]
