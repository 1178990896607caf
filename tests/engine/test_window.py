"""The tool window: a reply's calls answered in order, one commit each, through stops and holds."""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from litany_engine import open_workspace, open_workspace_blocking, tool
from litany_engine.api import OpenWorkspace
from litany_engine.door.calls import Capture, Context, Tool, ToolCall
from litany_engine.door.holds import Answer, Holds
from litany_engine.records.find_record import find_record
from litany_engine.records.ids import record_name
from litany_engine.records.recorded import iter_calls
from litany_engine.records.show import show_text
from litany_engine.windows.entries import Side, TranscriptError
from litany_engine.windows.inbox import deposit
from litany_engine.windows.lock import LockHeld, executor_lock
from litany_engine.windows.settlement import NOT_RUN_DIED, NOT_RUN_STOPPED, STOPPED_WHILE_IT_RAN
from litany_engine.windows.transcript import Transcript
from litany_engine.windows.window import Answers, WindowEnd
from litany_engine.workspaces.workspace import Workspace
from litany_stubs.words import ToolDeclaration
from tool_kit import wait_until
from window_kit import (
    AGENT,
    answered_in,
    assert_well_formed,
    git,
    make_tools,
    make_workspace,
    record_json,
    results_in,
    transcript_of,
    use,
)

CONTROL = '[control]\ncommand = ["./control.py"]\n'


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "w")


def opened(
    workspace: Workspace,
    work: Callable[[OpenWorkspace], Awaitable[Any]],
    tools: Iterable[Tool] | None = None,
) -> Any:
    async def main() -> Any:
        async with open_workspace(workspace, tools=make_tools() if tools is None else tools) as ws:
            with trio.fail_after(60):
                return await work(ws)

    return trio.run(main)


def window(workspace: Workspace, *content: Any, tools: Iterable[Tool] | None = None) -> Answers:
    answers: Answers = opened(workspace, lambda ws: ws.window(AGENT, list(content)), tools)
    return answers


async def wait_for_call(ws: OpenWorkspace, call_id: str) -> None:
    await wait_until(lambda: call_id in {call.id for call in ws.running()})


def with_control(tmp_path: Path, **verdicts: Any) -> Workspace:
    """A workspace whose control gives, for a call's id, what stands in `verdicts.json`; else it passes."""
    workspace = make_workspace(tmp_path / "w", CONTROL)
    control = workspace.root / "control.py"
    control.write_text(
        "#!/usr/bin/env python3\nimport json, sys\nasked = json.load(sys.stdin)\n"
        "verdicts = json.load(open('verdicts.json'))\n"
        "print(json.dumps(verdicts.get(asked['id'], {'verdict': 'pass'})))\n"
    )
    control.chmod(0o755)
    decide(workspace, **verdicts)
    return workspace


def decide(workspace: Workspace, **verdicts: Any) -> None:
    (workspace.root / "verdicts.json").write_text(json.dumps(verdicts))


HOLD = {"verdict": "hold", "reason": "ask Kim"}


def test_calls_are_answered_in_the_order_of_emission_each_in_its_own_commit(workspace: Workspace) -> None:
    said: list[str] = []
    answers = window(
        workspace,
        {"type": "text", "text": "I will"},
        use("z", "say", text="1"),
        use("a", "bash", command="echo 2 > made"),
        use("m", "say", text="3"),
        tools=make_tools(said),
    )
    assert (answers.end, said) == (WindowEnd.COMPLETED, ["1", "3"])
    assert [each.tool_use_id for each in answers.results] == ["z", "a", "m"]
    assert answered_in(workspace) == ["z", "a", "m"]
    subjects = git(workspace, "log", "--reverse", "--format=%s", f"agents/{AGENT}").splitlines()
    assert subjects[1:] == ["Take a reply of model", *(f"Answer {each}: completed" for each in "zam")]
    assert "made" in git(workspace, "show", "--name-only", "--format=", f"agents/{AGENT}~1")
    assert_well_formed(workspace)


def test_what_a_commit_lacks_is_in_the_record_and_shown(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "w", '[transcript]\nignore = ["*.log"]\n')
    window(workspace, use("c", "bash", command="touch a.log b.log kept; mkfifo pipe"))
    assert git(workspace, "ls-tree", "--name-only", f"agents/{AGENT}").split() == ["kept", "messages"]
    listed = record_json(workspace, 1, "c", "uncommitted.json")
    assert [each["path"] for each in listed["left_out"]] == ["a.log", "b.log", "pipe"]
    shown = show_text(workspace.root / "steps" / AGENT / "001" / "tools" / "c")
    assert "not committed: a.log: [transcript] ignore\n" in shown
    assert "not committed: pipe: a pipe, not a file\n" in shown


def test_what_the_model_reads_is_what_is_committed(workspace: Workspace) -> None:
    answers = window(workspace, use("c", "bash", command="echo out; echo err >&2; exit 3"))
    assert results_in(workspace) == [("c", True, "Exit code: 3\nout\n--- stderr ---\nerr\n")]
    assert [(r.tool_use_id, r.is_error, r.text) for r in answers.results] == results_in(workspace)


def test_the_reply_is_committed_before_its_first_call_runs(workspace: Workspace) -> None:
    seen: list[Any] = []

    @tool
    def look() -> str:
        """Look at the transcript."""
        seen.extend(transcript_of(workspace).entries())
        return ""

    window(workspace, use("c", "look"), tools=[look])
    assert [(entry.side, entry.step) for entry in seen] == [(Side.ASSISTANT, 1)]


def test_each_result_is_committed_before_the_next_call_runs(workspace: Workspace) -> None:
    counts: list[int] = []

    @tool
    def look() -> str:
        """Look at the transcript."""
        counts.append(len(answered_in(workspace)))
        return ""

    window(workspace, *(use(f"c{n}", "look") for n in range(3)), tools=[look])
    assert counts == [0, 1, 2]


def test_refused_and_failing_calls_are_answered_and_the_window_goes_on(workspace: Workspace) -> None:
    answers = window(
        workspace,
        use("a", "nothing_of_that_name"),
        use("b", "say", txet="x"),
        use("not an id!", "say", text="x"),
        use("c", "fail"),
        use("d", "say", text="here"),
    )
    assert [each.is_error for each in answers.results] == [True, True, False, True, False]
    assert "not granted" in answers.results[0].text
    assert "it cannot" in answers.results[3].text
    assert answered_in(workspace) == ["a", "b", "not an id!", "c", "d"]
    assert_well_formed(workspace)


ANY_IDS = [
    "call_abc|fc_123",
    "call_abc_fc_123",
    "T",
    "T-1",
    "../../escape",
    "a\0b\n\x1b[2J",
    "é" * 300,
    ".",
    "x" * 100_000,
]


def test_any_id_of_a_provider_is_answered_and_recorded_as_it_is(workspace: Workspace) -> None:
    first = use("T", "python", program="import litany_tools\nprint(litany_tools.say(text='in').stdout)")
    calls = [first if each == "T" else use(each, "say", text=each[:3]) for each in ANY_IDS]
    answers = window(workspace, *calls)
    assert [each.tool_use_id for each in answers.results] == ANY_IDS
    assert [each.text for each in answers.results if each.is_error] == []
    assert [each.call.given_id for each in answers.ends] == ANY_IDS
    assert answered_in(workspace) == ANY_IDS
    assert_well_formed(workspace)

    tools = workspace.root / "steps" / AGENT / "001" / "tools"
    (inner,) = [each for each in iter_calls(tools.parent) if each.parent]
    assert (inner.path.name, inner.parent) == ("T-1", "T")  # though an outer call was given that id, too
    outer = {each.call.given_id: each.path for each in iter_calls(tools.parent) if not each.parent}
    assert sorted(outer) == sorted(ANY_IDS)
    names = [each.name for each in tools.iterdir()]
    assert len(names) == len(ANY_IDS) + 1
    for each in ANY_IDS:
        if each != "T-1":
            assert find_record(workspace.root / "steps", each) == outer[each]
    assert max(map(len, names)) < 100


def test_an_odd_id_is_stopped_held_and_settled_like_any(workspace: Workspace) -> None:
    held, hangs = "call|held-1", "call|hangs"
    (workspace.root / "litany.toml").write_text('[[rules]]\naction = "ask"\ntool = "say"\n')
    workspace = Workspace(workspace.root)

    async def main() -> tuple[Any, Any]:
        async with open_workspace(workspace, tools=make_tools()) as ws:
            parked = await ws.window(AGENT, [use(held, "say", text="x"), use(hangs, "hang")])
            Holds(workspace.root).answer(held, Answer("pass"))
            ends = []

            async def advance() -> None:
                ends.append((await ws.advance(AGENT)).answers)

            async with trio.open_nursery() as nursery:
                nursery.start_soon(advance)
                await wait_until(lambda: [each.name for each in ws.running()] == ["hang"])
                assert await ws.stop(hangs) == (record_name(hangs),)
            return parked, ends[0]

    parked, answers = trio.run(main)
    assert parked.end == WindowEnd.HELD
    assert [(each.tool_use_id, each.text.splitlines()[0]) for each in answers.results] == [
        (held, "Exit code: 0"),
        (hangs, "Exit code: 143"),
    ]
    assert_well_formed(workspace)


def test_long_output_is_shortened_for_the_model_by_the_workspace_s_setting(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "w", '[output]\nhead = "10 B"\ntail = "10 B"\n')
    (result,) = window(workspace, use("c", "say", text="x" * 1000)).results
    assert len(result.text) < 500
    assert f'"steps/{AGENT}/001/tools/c/output.json#stdout@10"' in result.text
    assert record_json(workspace, 1, "c")["stdout"] == "x" * 1000


def test_a_reply_without_calls_is_kept_and_asks_for_nothing(workspace: Workspace) -> None:
    answers = window(workspace, {"type": "text", "text": "done"})
    assert (answers.results, answers.end) == ((), WindowEnd.COMPLETED)
    assert not opened(workspace, lambda ws: ws.advance()).due


def test_a_reply_that_cannot_be_answered_leaves_no_trace(workspace: Workspace) -> None:
    for content in ([use("a", "say"), use("a", "say")], [{"type": "tool_use"}], [{"x": object()}], ["text"]):
        with pytest.raises(TranscriptError, match="this reply cannot be taken"):
            window(workspace, *content)
    with pytest.raises(TranscriptError, match="cannot name an entry"):
        opened(workspace, lambda ws: ws.window(AGENT, [], model="a/b"))
    assert transcript_of(workspace).entries() == []


def test_a_reply_with_two_calls_under_one_id_runs_none(workspace: Workspace) -> None:
    with pytest.raises(TranscriptError, match="two tool_use blocks have the id 'a'"):
        window(
            workspace, use("a", "say", text="one"), use("b", "say", text="two"), use("a", "say", text="three")
        )
    assert list((workspace.root / "steps" / AGENT).iterdir()) == []


def test_changing_the_reply_later_changes_nothing(workspace: Workspace) -> None:
    content = [use("a", "change"), use("b", "say", text="as asked")]

    @tool
    def change() -> str:
        """Change the reply while it is being answered."""
        content[1]["input"]["text"] = "changed"
        return ""

    answers = window(workspace, *content, tools=[*make_tools(), change])
    assert answers.results[1].text == "Exit code: 0\nas asked"


def test_an_agent_that_is_driven_elsewhere_is_not_driven_here(workspace: Workspace) -> None:
    with executor_lock(workspace.inbox(AGENT)), pytest.raises(LockHeld):
        window(workspace, use("a", "say", text="x"))
    assert transcript_of(workspace).entries() == []


def test_two_windows_of_one_agent_do_not_overlap(workspace: Workspace) -> None:
    async def work(ws: OpenWorkspace) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ws.window, AGENT, [use("a", "hang")])
            await wait_for_call(ws, "a")
            with pytest.raises(LockHeld):
                await ws.window(AGENT, [use("b", "say", text="x")])
            await ws.stop(AGENT)

    opened(workspace, work)
    assert answered_in(workspace) == ["a"]


# Stops.


def test_a_stop_answers_the_call_in_flight_and_every_one_after_it(workspace: Workspace) -> None:
    said: list[str] = []

    async def work(ws: OpenWorkspace) -> tuple[Answers, tuple[str, ...]]:
        given: list[Answers] = []

        async def run() -> None:
            calls = [use("a", "say", text="1"), use("b", "hang"), use("c", "say", text="3"), use("d", "hang")]
            given.append(await ws.window(AGENT, calls))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await wait_for_call(ws, "b")
            stopped = await ws.stop(AGENT)
            assert answered_in(workspace) == ["a", "b", "c", "d"]  # all of it, before the stop returns
        return given[0], stopped

    answers, stopped = opened(workspace, work, make_tools(said))
    assert (answers.end, stopped, said) == (WindowEnd.STOPPED, ("b", "c", "d"), ["1", ""])
    texts = [text for _, _, text in results_in(workspace)]
    assert texts[0] == "Exit code: 0\n1"
    assert texts[1].startswith("Exit code: 143\n")
    assert texts[1].endswith(STOPPED_WHILE_IT_RAN)
    assert texts[2:] == [NOT_RUN_STOPPED, NOT_RUN_STOPPED]
    assert not (workspace.root / f"steps/{AGENT}/001/tools/c").exists()
    assert_well_formed(workspace)


def test_the_output_of_a_stopped_tool_is_kept_with_what_it_did(workspace: Workspace) -> None:
    async def work(ws: OpenWorkspace) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(
                ws.window, AGENT, [use("a", "bash", command="echo half; touch made; sleep 60")]
            )
            await wait_until((workspace.worktree(AGENT) / "made").exists)
            await ws.stop(AGENT)

    opened(workspace, work)
    ((_, is_error, text),) = results_in(workspace)
    assert is_error
    assert text.startswith("Exit code: 143\nhalf\n")
    assert "made" in git(workspace, "show", "--name-only", "--format=", f"agents/{AGENT}")


def test_stopping_one_call_by_its_id_stops_no_other(workspace: Workspace) -> None:
    async def work(ws: OpenWorkspace) -> Answers:
        given: list[Answers] = []

        async def run() -> None:
            given.append(await ws.window(AGENT, [use("a", "hang"), use("b", "say", text="on")]))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await wait_for_call(ws, "a")
            await ws.stop(f"steps/{AGENT}/001/tools/a")
        return given[0]

    answers = opened(workspace, work)
    assert answers.end is WindowEnd.COMPLETED
    assert [each.is_error for each in answers.results] == [True, False]


def test_a_cancelled_window_is_settled_on_the_way_out(workspace: Workspace) -> None:
    async def work(ws: OpenWorkspace) -> None:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ws.window, AGENT, [use("a", "hang"), use("b", "say", text="x")])
                await wait_for_call(ws, "a")
                scope.cancel()
        assert scope.cancelled_caught

    opened(workspace, work)
    assert [call_id for call_id, is_error, _ in results_in(workspace) if is_error] == ["a", "b"]
    assert_well_formed(workspace)


def test_a_host_that_leaves_with_a_window_open_leaves_it_settled(workspace: Workspace) -> None:
    async def main() -> None:
        async with open_workspace(workspace, tools=make_tools()) as ws, trio.open_nursery() as nursery:
            nursery.start_soon(ws.window, AGENT, [use("a", "hang"), use("b", "hang")])
            await wait_for_call(ws, "a")
            raise KeyError("the host has a fault of its own")

    with pytest.raises((KeyError, ExceptionGroup)):
        trio.run(main)
    assert answered_in(workspace) == ["a", "b"]
    assert_well_formed(workspace)


@pytest.mark.parametrize("wait", [0, 1, 2, 3, 5, 8])
def test_a_window_cancelled_at_any_checkpoint_leaves_no_call_open(workspace: Workspace, wait: int) -> None:
    """From before its start on: either nothing of the reply is there, or all of it is answered."""

    async def work(ws: OpenWorkspace) -> None:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ws.window, AGENT, [use("a", "say", text="x"), use("b", "hang")])
                for _ in range(wait):
                    await trio.lowlevel.checkpoint()
                scope.cancel()

    opened(workspace, work)
    assert answered_in(workspace) in ([], ["a", "b"])
    assert_well_formed(workspace)


def test_a_stop_before_the_first_call_runs_none(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    looking, go_on = threading.Event(), threading.Event()

    def mend(_: Transcript) -> None:  # the first thing that is done under the lock
        looking.set()
        go_on.wait(30)

    monkeypatch.setattr(Transcript, "mend", mend)

    async def work(ws: OpenWorkspace) -> Answers:
        given: list[Answers] = []

        async def run() -> None:
            given.append(await ws.window(AGENT, [use("a", "say", text="1"), use("b", "say", text="2")]))

        async def stop() -> None:
            assert await ws.stop(AGENT) == ("a", "b")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await wait_until(looking.is_set)
            nursery.start_soon(stop)
            await trio.testing.wait_all_tasks_blocked()
            go_on.set()
        return given[0]

    answers = opened(workspace, work, make_tools(said))
    assert (answers.end, said) == (WindowEnd.STOPPED, [])
    assert [text for _, _, text in results_in(workspace)] == [NOT_RUN_STOPPED, NOT_RUN_STOPPED]


def test_two_stops_at_once_are_one(workspace: Workspace) -> None:
    async def work(ws: OpenWorkspace) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ws.window, AGENT, [use("a", "hang"), use("b", "hang")])
            await wait_for_call(ws, "a")
            async with trio.open_nursery() as stops:
                stops.start_soon(ws.stop, AGENT)
                stops.start_soon(ws.stop, None)
        assert await ws.stop(AGENT) == ()

    opened(workspace, work)
    assert answered_in(workspace) == ["a", "b"]


def test_a_stop_while_a_stop_is_being_settled_changes_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    settling, go_on = threading.Event(), threading.Event()
    append = Transcript.append_result

    def slowly(self: Transcript, result: Any, how: str, **more: Any) -> Any:
        if result.tool_use_id == "b":
            settling.set()
            go_on.wait(30)
        return append(self, result, how, **more)

    monkeypatch.setattr(Transcript, "append_result", slowly)

    async def work(ws: OpenWorkspace) -> None:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ws.window, AGENT, [use(each, "hang") for each in "abc"])
                await wait_for_call(ws, "a")
                nursery.start_soon(ws.stop, AGENT)
                await wait_until(settling.is_set)
                nursery.start_soon(ws.stop, None)
                scope.cancel()  # and whoever waits for the window gives up, too
                go_on.set()

    opened(workspace, work)
    assert answered_in(workspace) == ["a", "b", "c"]
    assert [text for _, _, text in results_in(workspace)][1:] == [NOT_RUN_STOPPED, NOT_RUN_STOPPED]
    assert_well_formed(workspace)


def test_a_late_answer_changes_neither_record_nor_transcript(workspace: Workspace) -> None:
    leave = threading.Event()
    left = threading.Event()

    @tool
    def stubborn() -> str:
        """Does not look at anything."""
        leave.wait(30)
        left.set()
        return "late"

    tools = [replace(stubborn, deadline_s=lambda _: 0.1)]

    async def work(ws: OpenWorkspace) -> tuple[Answers, list[Any]]:
        answers = await ws.window(AGENT, [use("a", "stubborn")])
        before = [record_json(workspace, 1, "a"), results_in(workspace)]
        leave.set()
        await wait_until(left.is_set)
        for _ in range(20):
            await trio.lowlevel.checkpoint()
        return answers, before

    answers, before = opened(workspace, work, tools)
    assert before[0]["outcome"] == "timed_out"
    assert answers.results[0].text.startswith("Exit code: 124\n")
    assert [record_json(workspace, 1, "a"), results_in(workspace)] == before


# Holds.


def test_a_hold_parks_the_window_and_nothing_at_or_past_it_runs(tmp_path: Path) -> None:
    workspace = with_control(tmp_path, b=HOLD)
    said: list[str] = []
    calls = [use("a", "say", text="1"), use("b", "say", text="2"), use("c", "say", text="3")]
    answers = window(workspace, *calls, tools=make_tools(said))
    assert (answers.end, answers.reason, said) == (WindowEnd.HELD, "ask Kim", ["1"])
    assert answered_in(workspace) == ["a"]
    mark = json.loads(git(workspace, "cat-file", "blob", f"refs/litany/held/{AGENT}"))
    assert mark == {"tool_use_id": "b", "tool": "say", "reason": "ask Kim"}


def test_a_held_agent_takes_no_reply_and_no_message(tmp_path: Path) -> None:
    workspace = with_control(tmp_path, a=HOLD)
    window(workspace, use("a", "say", text="1"))
    deposit(workspace.inbox(AGENT), "user", "and?")
    before = transcript_of(workspace).entries()
    with pytest.raises(TranscriptError, match=r"held at call 'a' \(ask Kim\)"):
        window(workspace, use("b", "say", text="2"))
    done = opened(workspace, lambda ws: ws.advance())
    assert (done.held, done.delivered, done.due, done.settled) == ("ask Kim", 0, False, ())
    assert transcript_of(workspace).entries() == before


@pytest.mark.parametrize("verdict", [{"verdict": "pass"}, {"verdict": "refuse", "reason": "no"}])
def test_a_held_window_goes_on_where_it_was_and_repeats_nothing(
    tmp_path: Path, verdict: dict[str, str]
) -> None:
    workspace = with_control(tmp_path, b=HOLD)
    said: list[str] = []
    tools = make_tools(said)
    calls = [use("a", "say", text="1"), use("b", "say", text="2"), use("c", "say", text="3")]
    window(workspace, *calls, tools=tools)
    decide(workspace, b=verdict)
    done = opened(workspace, lambda ws: ws.advance(), tools)
    assert [each.tool_use_id for each in done.answers.results] == ["b", "c"]
    assert (done.held, done.due) == ("", True)
    assert said == (["1", "2", "3"] if verdict["verdict"] == "pass" else ["1", "3"])
    assert answered_in(workspace) == ["a", "b", "c"]
    assert workspace.repository.read_mark("held", AGENT) is None
    assert_well_formed(workspace)
    again = opened(workspace, lambda ws: ws.advance(), tools)
    assert (again.answers, said.count("1")) == (None, 1)


def test_the_mark_is_gone_before_its_call_runs(tmp_path: Path) -> None:
    workspace = with_control(tmp_path, a=HOLD)
    marks: list[str | None] = []

    @tool
    def look() -> str:
        """Look at the mark."""
        marks.append(workspace.repository.read_mark("held", AGENT))
        return ""

    window(workspace, use("a", "look"), tools=[look])
    assert workspace.repository.read_mark("held", AGENT) is not None
    decide(workspace)
    opened(workspace, lambda ws: ws.advance(), [look])
    assert marks == [None]


def test_a_control_that_fails_parks_the_window_and_is_not_put_to_the_model(tmp_path: Path) -> None:
    workspace = with_control(tmp_path)
    (workspace.root / "verdicts.json").write_text("broken")
    said: list[str] = []
    tools = make_tools(said)
    answers = window(workspace, use("a", "say", text="1"), tools=tools)
    assert (answers.end, answers.results, said) == (WindowEnd.HELD, (), [])
    assert "control" in answers.reason
    still = opened(workspace, lambda ws: ws.advance(), tools)
    assert "control" in still.held
    decide(workspace)
    opened(workspace, lambda ws: ws.advance(), tools)
    assert (said, answered_in(workspace)) == (["1"], ["a"])


def test_a_mark_of_a_call_that_is_answered_is_cleared(workspace: Workspace) -> None:
    window(workspace, use("a", "say", text="1"))
    workspace.repository.write_mark(
        "held", AGENT, json.dumps({"tool_use_id": "a", "tool": "say", "reason": "x"})
    )
    done = opened(workspace, lambda ws: ws.advance())
    assert (done.held, done.due, done.answers) == ("", True, None)
    assert workspace.repository.read_mark("held", AGENT) is None


def test_a_mark_of_a_call_that_is_answered_keeps_no_reply_out(workspace: Workspace) -> None:
    window(workspace, use("a", "say", text="1"))
    workspace.repository.write_mark(
        "held", AGENT, json.dumps({"tool_use_id": "a", "tool": "say", "reason": "x"})
    )
    assert window(workspace, use("b", "say", text="2")).end is WindowEnd.COMPLETED
    assert answered_in(workspace) == ["a", "b"]


def test_a_stop_while_the_control_is_asked_runs_nothing_and_settles(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "w", CONTROL)
    control = workspace.root / "control.py"
    control.write_text("#!/bin/sh\ntouch asked\nexec sleep 60\n")
    control.chmod(0o755)
    said: list[str] = []

    async def work(ws: OpenWorkspace) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ws.window, AGENT, [use("a", "say", text="1"), use("b", "say", text="2")])
            await wait_until((workspace.root / "asked").exists)
            await ws.stop(AGENT)

    opened(workspace, work, make_tools(said))
    assert said == []
    assert results_in(workspace) == [("a", True, NOT_RUN_STOPPED), ("b", True, NOT_RUN_STOPPED)]
    assert record_json(workspace, 1, "a")["outcome"] == "stopped"
    assert workspace.repository.read_mark("held", AGENT) is None


def test_a_stop_while_a_held_call_is_asked_about_again_answers_it_and_lifts_its_mark(tmp_path: Path) -> None:
    workspace = with_control(tmp_path, a=HOLD)
    window(workspace, use("a", "say", text="1"), use("b", "say", text="2"))
    assert workspace.repository.read_mark("held", AGENT) is not None
    (workspace.root / "control.py").write_text("#!/bin/sh\ntouch asked\nexec sleep 60\n")
    said: list[str] = []

    async def work(ws: OpenWorkspace) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ws.advance, AGENT)
            await wait_until((workspace.root / "asked").exists)
            await ws.stop(AGENT)

    opened(workspace, work, make_tools(said))
    assert said == []
    assert results_in(workspace) == [("a", True, NOT_RUN_STOPPED), ("b", True, NOT_RUN_STOPPED)]
    assert workspace.repository.read_mark("held", AGENT) is None


def test_an_inner_call_that_is_held_is_refused_and_parks_nothing(tmp_path: Path) -> None:
    workspace = with_control(tmp_path, **{"a-1": HOLD})
    with (workspace.root / "litany.toml").open("a") as file:
        file.write('[hold]\npatience = "100ms"\n')

    async def execute(call: ToolCall, context: Context) -> Capture:
        assert context.invoke is not None
        end = await context.invoke("say", {"text": "1"})
        return Capture(stdout=str(end.outcome).encode())

    answers = window(
        workspace, use("a", "relay"), tools=[*make_tools(), Tool(ToolDeclaration("relay"), execute)]
    )
    assert answers.results[0].text.splitlines()[:2] == ["Exit code: 0", "refused"]
    assert workspace.repository.read_mark("held", AGENT) is None


def test_the_blocking_interface_has_windows_too(workspace: Workspace) -> None:
    with open_workspace_blocking(workspace, tools=make_tools()) as ws:
        assert ws.window(None, [use("a", "say", text="hi")]).results[0].text == "Exit code: 0\nhi"
        assert ws.advance().due
    assert NOT_RUN_DIED not in [text for _, _, text in results_in(workspace)]
