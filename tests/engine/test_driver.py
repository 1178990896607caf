"""Going on after a death, who may wake whom, and what is left of a host: from the disk's side."""

from __future__ import annotations

import json
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from litany_engine import open_workspace
from litany_engine.api import OpenWorkspace
from litany_engine.cli import main as cli
from litany_engine.records.dead_records import complete_dead_records
from litany_engine.records.recorded import HOST_DIED, load_call
from litany_engine.windows.driver import Advance
from litany_engine.windows.entries import ToolResult, TranscriptError
from litany_engine.windows.inbox import deposit, deposits
from litany_engine.windows.lock import executor_lock
from litany_engine.windows.settlement import DIED_AFTER, DIED_UNKNOWN, NOT_RUN_DIED, NOT_RUN_STOPPED
from litany_engine.windows.window import WindowEnd
from litany_engine.workspaces.workspace import Workspace
from tool_kit import wait_until
from window_kit import (
    AGENT,
    answered_in,
    assert_well_formed,
    host_process,
    make_tools,
    make_workspace,
    record_json,
    results_in,
    transcript_of,
    use,
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "w")


def opened(workspace: Workspace, work: Callable[[OpenWorkspace], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        async with open_workspace(workspace, tools=make_tools()) as ws:
            with trio.fail_after(60):
                return await work(ws)

    return trio.run(main)


def advance(workspace: Workspace, agent: str = AGENT) -> Advance:
    done: Advance = opened(workspace, lambda ws: ws.advance(agent))
    return done


def leave_reply(workspace: Workspace, *ids: str, step: int | None = None) -> int:
    """What a host that died had begun: a reply in the transcript, and its step."""
    opened_step = workspace.records.open_step(AGENT)
    number = opened_step.number if step is None else step
    transcript_of(workspace).append_reply("m", [use(each, "say", text=each) for each in ids], number)
    return opened_step.number


def leave_record(workspace: Workspace, number: int, call_id: str, *, ended: bool) -> Path:
    """The record of a call that was in flight, or had ended, when its host died."""
    folder = workspace.root / "steps" / AGENT / f"{number:03d}" / "tools" / call_id
    folder.mkdir(parents=True, exist_ok=True)
    asked = {"id": call_id, "name": "say", "input": {"text": call_id}, "parent": None}
    (folder / "input.json").write_text(json.dumps({**asked, "at": "2026-01-01T00:00:00+00:00"}))
    if ended:
        output = {"outcome": "completed", "exit_code": 0, "stdout": "said", "stderr": ""}
        times = {"started_at": "2026-01-01T00:00:00+00:00", "ended_at": "2026-01-01T00:00:00+00:00"}
        (folder / "output.json").write_text(json.dumps({**output, **times}))
    return folder


def test_what_a_dead_host_left_is_settled_once_in_order_and_worded_for_what_is_known(
    workspace: Workspace,
) -> None:
    number = leave_reply(workspace, "done", "after", "flying", "never")
    transcript_of(workspace).append_result(ToolResult("done", "x", is_error=False), "completed")
    leave_record(workspace, number, "after", ended=True)
    leave_record(workspace, number, "flying", ended=False)
    done = advance(workspace)
    assert [each.tool_use_id for each in done.settled] == ["after", "flying", "never"]
    assert [path.name for path in done.records] == ["flying"]
    assert results_in(workspace)[1:] == [
        ("after", True, f"{DIED_AFTER}\nExit code: 0\nsaid"),
        ("flying", True, DIED_UNKNOWN),
        ("never", True, NOT_RUN_DIED),
    ]
    assert record_json(workspace, number, "flying")["reason"] == HOST_DIED
    assert_well_formed(workspace)
    before = transcript_of(workspace).entries()
    again = advance(workspace)
    assert (again.settled, again.records, again.due) == ((), (), True)
    assert transcript_of(workspace).entries() == before


def test_a_window_settles_before_it_takes_a_reply(workspace: Workspace) -> None:
    leave_reply(workspace, "old")
    opened(workspace, lambda ws: ws.window(AGENT, [use("new", "say", text="x")]))
    assert answered_in(workspace) == ["old", "new"]
    assert_well_formed(workspace)


def test_settling_comes_before_delivery(workspace: Workspace) -> None:
    leave_reply(workspace, "old")
    deposit(workspace.inbox(AGENT), "user", "are you there?")
    done = advance(workspace)
    assert (done.delivered, done.due) == (1, True)
    assert [each.name for each in transcript_of(workspace).entries()] == [
        "001-m.json",
        "002-tool.json",
        "003-user.md",
    ]


def test_an_id_that_was_used_before_is_not_taken_for_the_dead_call(workspace: Workspace) -> None:
    first = opened(workspace, lambda ws: ws.window(AGENT, [use("c", "say", text="c")]))
    assert first.end is WindowEnd.COMPLETED
    leave_reply(workspace, "c")
    advance(workspace)
    assert results_in(workspace)[-1] == ("c", True, NOT_RUN_DIED)


def test_a_broken_transcript_is_said_and_not_gone_on_with(workspace: Workspace) -> None:
    transcript = transcript_of(workspace)
    transcript.append_reply("m", [use("a", "say")], 1)
    transcript.append_message("user", "too early", "d")
    with pytest.raises(TranscriptError, match=r"002-user.md comes before the answer to 'a'"):
        advance(workspace)
    with pytest.raises(TranscriptError, match="002-user"):
        opened(workspace, lambda ws: ws.window(AGENT, [use("b", "say", text="x")]))
    assert len(transcript.entries()) == 2


# Dead records.


def test_a_record_is_left_alone_while_its_host_lives(workspace: Workspace) -> None:
    """`ws.python` and `litany run` hold no executor's lock; the lock of their step is what speaks for them."""

    async def work(ws: OpenWorkspace) -> Advance:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ws.invoke, "hang", {})
            await wait_until(ws.running)
            async with open_workspace(workspace.root) as other:
                done = await other.advance()
            await ws.stop()
        return done

    assert opened(workspace, work).records == ()
    assert record_json(workspace, 1, "call_1")["outcome"] == "stopped"


HOST = """
import signal, sys, trio
from pathlib import Path
from litany_engine import open_workspace
from window_kit import AGENT, make_tools, use

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell ignores for what is in the background

async def main():
    async with open_workspace(sys.argv[1], tools=make_tools()) as ws:
        async with trio.open_nursery() as nursery:
            if sys.argv[2] == "invoke":
                nursery.start_soon(ws.invoke, "hang", {})
            else:
                nursery.start_soon(ws.window, AGENT, [use("a", "hang"), use("b", "say", text="x")])
            while not ws.running():
                await trio.sleep(0.01)
            print("running", flush=True)
            await trio.sleep_forever()

trio.run(main)
"""


def killed_host(workspace: Workspace, what: str, before_it_dies: Callable[[], None] | None = None) -> None:
    with host_process(HOST, str(workspace.root), what) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"running\n"
        if before_it_dies is not None:
            before_it_dies()
        host.send_signal(signal.SIGKILL)


def test_a_record_is_completed_once_its_host_has_died(workspace: Workspace) -> None:
    steps = workspace.root / "steps" / AGENT

    def look() -> None:
        assert complete_dead_records(steps) == []

    killed_host(workspace, "invoke", look)
    (completed,) = complete_dead_records(steps)
    end = load_call(completed).end
    assert end is not None
    assert (str(end.outcome), end.reason) == ("faulted", HOST_DIED)
    assert complete_dead_records(steps) == []


def test_an_advance_completes_records_of_calls_that_no_reply_asked_for(workspace: Workspace) -> None:
    killed_host(workspace, "invoke")
    done = advance(workspace)
    assert ([path.name for path in done.records], done.settled) == (["call_1"], ())
    assert advance(workspace).records == ()


def test_a_killed_host_s_lock_goes_with_it_and_its_window_is_settled(workspace: Workspace) -> None:
    killed_host(workspace, "window")
    done = advance(workspace)
    assert [each.text for each in done.settled] == [DIED_UNKNOWN, NOT_RUN_DIED]
    assert_well_formed(workspace)


def test_half_written_files_of_a_dead_record_are_taken_away(workspace: Workspace) -> None:
    folder = leave_record(workspace, leave_reply(workspace, "c"), "c", ended=False)
    (folder / "input.json").rename(folder / ".input.json")
    (folder / ".output.json").write_text('{"outcome": "compl')
    advance(workspace)
    assert sorted(each.name for each in folder.iterdir()) == ["output.json"]
    assert results_in(workspace) == [("c", True, NOT_RUN_DIED)]


def test_steps_that_a_dead_host_had_only_begun_are_passed_over(workspace: Workspace) -> None:
    (workspace.root / "steps" / AGENT / "001").mkdir(parents=True)
    (workspace.root / "steps" / AGENT / "002" / "tools").mkdir(parents=True)
    assert complete_dead_records(workspace.root / "steps" / AGENT) == []


def test_a_host_that_is_interrupted_settles_its_window_before_it_leaves(workspace: Workspace) -> None:
    with host_process(HOST, str(workspace.root), "window") as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"running\n"
        host.send_signal(signal.SIGINT)
        assert host.wait(30) != 0
    assert [text for _, _, text in results_in(workspace)][1:] == [NOT_RUN_STOPPED]
    assert_well_formed(workspace)
    assert advance(workspace).settled == ()


# The inbox.


def test_deposits_are_delivered_in_order_and_once(workspace: Workspace) -> None:
    inbox = workspace.inbox(AGENT)
    for text in ("1", "2", "3"):
        deposit(inbox, "user", text)
    assert (advance(workspace).delivered, deposits(inbox)) == (3, [])
    assert [entry.content for entry in transcript_of(workspace).entries()] == ["1", "2", "3"]
    assert advance(workspace).delivered == 0


def test_a_deposit_appears_whole_and_once_it_is_on_the_device(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox = workspace.inbox(AGENT)
    flushed: list[tuple[str, int]] = []

    def flush(path: Path) -> None:
        flushed.append((path.read_text() if path.is_file() else path.name, len(deposits(inbox))))

    monkeypatch.setattr("litany_engine.windows.inbox.flush", flush)
    deposit(inbox, "user", "all of it")
    assert flushed == [("all of it", 0), (inbox.name, 1)]


def test_a_deposit_whose_driver_died_before_it_took_the_file_away_is_not_delivered_twice(
    workspace: Workspace,
) -> None:
    inbox = workspace.inbox(AGENT)
    waiting = deposit(inbox, "user", "once")
    transcript_of(workspace).append_message("user", "once", waiting.name)
    assert (advance(workspace).delivered, deposits(inbox)) == (0, [])
    assert len(transcript_of(workspace).entries()) == 1


def test_what_is_no_deposit_stays_where_it_is(workspace: Workspace) -> None:
    stray = workspace.inbox(AGENT) / "note.md"
    stray.write_text("x")
    assert advance(workspace).delivered == 0
    assert stray.exists()


@pytest.mark.parametrize("sender", ["tool", "a/b", "..", ""])
def test_a_sender_that_cannot_be_named_is_refused(workspace: Workspace, sender: str) -> None:
    with pytest.raises(TranscriptError):
        deposit(workspace.inbox(AGENT), sender, "x")
    assert deposits(workspace.inbox(AGENT)) == []


# Parents and children.


def test_stopping_a_parent_ends_the_windows_of_its_children_and_of_nobody_else(workspace: Workspace) -> None:
    agents = [AGENT, f"{AGENT}-1-x", f"{AGENT}-1-x-2-y", "other"]
    for each in agents[1:]:
        workspace.add_agent(each)

    async def work(ws: OpenWorkspace) -> tuple[str, ...]:
        async with trio.open_nursery() as nursery:
            for each in agents:
                nursery.start_soon(ws.window, each, [use(f"of-{each}", "hang"), use("next", "hang")])
            await wait_until(lambda: len(ws.running()) == len(agents))
            stopped = await ws.stop(AGENT)
            assert [call.id for call in ws.running()] == ["of-other"]
            nursery.cancel_scope.cancel()
        return stopped

    stopped = opened(workspace, work)
    assert {each for each in stopped if each != "next"} == {f"of-{each}" for each in agents[:3]}
    for each in agents:
        assert answered_in(workspace, each) == [f"of-{each}", "next"]
        assert_well_formed(workspace, each)


def test_a_stopped_parent_is_not_woken_by_its_child_s_return_but_by_anybody_else(
    workspace: Workspace,
) -> None:
    child = workspace.add_agent(f"{AGENT}-1-x").id

    async def work(ws: OpenWorkspace) -> None:
        await ws.window(AGENT, [use("a", "say", text="dispatched")])
        assert (await ws.advance(AGENT)).due
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ws.window, child, [use("c", "hang")])
            await wait_until(ws.running)
            await ws.stop(AGENT)  # the parent waits for its child: no call of its own is running
        deposit(workspace.inbox(AGENT), child, "I was stopped")
        woken = await ws.advance(AGENT)
        assert (woken.delivered, woken.due) == (1, False)
        assert not (await ws.advance(child)).due
        deposit(workspace.inbox(AGENT), "user", "go on")
        assert (await ws.advance(AGENT)).due

    opened(workspace, work)
    assert_well_formed(workspace)


def test_an_agent_whose_window_was_cancelled_is_a_stopped_one(workspace: Workspace) -> None:
    child = workspace.add_agent(f"{AGENT}-1-x").id

    async def work(ws: OpenWorkspace) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ws.window, AGENT, [use("a", "hang"), use("b", "say", text="x")])
            await wait_until(ws.running)
            nursery.cancel_scope.cancel()
        deposit(workspace.inbox(AGENT), child, "I returned")
        assert not (await ws.advance(AGENT)).due

    opened(workspace, work)


def test_stopping_everything_keeps_the_waiting_parents_asleep_too(workspace: Workspace) -> None:
    child = workspace.add_agent(f"{AGENT}-1-x").id

    async def work(ws: OpenWorkspace) -> None:
        await ws.window(AGENT, [use("a", "say", text="dispatched")])
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ws.window, child, [use("c", "hang")])
            await wait_until(ws.running)
            await ws.stop()
        deposit(workspace.inbox(AGENT), child, "I was stopped")
        assert not (await ws.advance(AGENT)).due

    opened(workspace, work)


def test_a_stop_from_another_process_settles_the_window_before_it_returns(workspace: Workspace) -> None:
    with host_process(HOST, str(workspace.root), "window") as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"running\n"
        assert cli(["stop", "--workspace", str(workspace.root), AGENT]) == 0
        assert answered_in(workspace) == ["a", "b"]
    assert_well_formed(workspace)
    assert not advance(workspace).due


def test_a_host_s_next_reply_wakes_a_stopped_agent(workspace: Workspace) -> None:
    workspace.repository.write_mark("stopped", AGENT, "stopped")
    opened(workspace, lambda ws: ws.window(AGENT, [use("a", "say", text="x")]))
    assert advance(workspace).due


# The command.


def test_the_command_settles_every_agent_and_says_so(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace.add_agent("b")
    leave_reply(workspace, "c1", "c2")
    where = ["--workspace", str(workspace.root)]
    assert cli(["advance", *where]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("a: settled c1, c2: ")
    assert said[0].endswith("it is the model's turn")
    assert said[1] == "b: nothing to do"
    assert cli(["advance", AGENT, "--json", *where]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["settled"], told["due"], told["window"]) == ([], True, None)


def test_the_command_leaves_an_agent_alone_that_is_driven_and_says_by_whom(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace.add_agent("b")
    with executor_lock(workspace.inbox(AGENT)):
        assert cli(["advance", "--workspace", str(workspace.root)]) == 125
    out, err = capsys.readouterr()
    assert out == "b: nothing to do\n"
    assert "a is being driven by" in err


def test_the_command_is_refused_inside_a_call(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITANY_TOOL_ID", "call_1")
    assert cli(["advance", "--workspace", str(workspace.root)]) == 126
