"""A terminal tool has the last word: alone in its reply, successful, and for every process that looks later."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from litany_engine import Traits, open_workspace, tool
from litany_engine.api import OpenWorkspace
from litany_engine.cli import main as cli
from litany_engine.door.calls import Capture, Context, Tool, ToolCall
from litany_engine.tools.definitions import Provenance
from litany_engine.windows.driver import Advance
from litany_engine.windows.inbox import deposit
from litany_engine.windows.settlement import DIED_AFTER
from litany_engine.windows.transcript import Transcript
from litany_engine.windows.window import Answers, WindowEnd
from litany_engine.workspaces.git import GitError
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
    results_in,
    transcript_of,
    use,
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "w")


def finishing(traits: Traits | None = None) -> list[Tool]:
    """Tools of a host, and one that has the last word."""

    @tool(traits=traits or Traits(terminal=True))
    async def finish(text: str, *, fail: bool = False, wait: bool = False) -> str:
        """Hand in the answer."""
        if fail:
            raise ValueError(text)
        if wait:
            await trio.sleep_forever()
        return text

    async def relay(call: ToolCall, context: Context) -> Capture:
        assert context.invoke is not None
        end = await context.invoke("finish", call.input)
        return Capture(stdout=end.stdout)

    return [*make_tools(), finish, Tool(ToolDeclaration("relay"), relay)]


def opened(
    workspace: Workspace, work: Callable[[OpenWorkspace], Awaitable[Any]], tools: list[Tool] | None = None
) -> Any:
    async def main() -> Any:
        async with open_workspace(workspace, tools=tools or finishing()) as ws:
            return await work(ws)

    return trio.run(main)


def window(workspace: Workspace, *calls: Any, tools: list[Tool] | None = None) -> Answers:
    answers: Answers = opened(workspace, lambda ws: ws.window(AGENT, list(calls)), tools)
    return answers


def advance(workspace: Workspace) -> Advance:
    done: Advance = opened(workspace, lambda ws: ws.advance(AGENT))
    return done


def test_its_result_is_the_last_word_and_stays_so_until_somebody_speaks_to_the_agent(
    workspace: Workspace,
) -> None:
    answers = window(workspace, {"type": "text", "text": "I am done"}, use("c", "finish", text="42"))
    assert answers.end is WindowEnd.FINISHED
    assert results_in(workspace) == [("c", False, "Exit code: 0\n42")]
    entry = json.loads(git(workspace, "show", f"agents/{AGENT}:messages/002-tool.json"))
    assert entry["final"] is True
    for _ in range(2):
        done = advance(workspace)
        assert (done.due, done.finished) == (False, True)
    deposit(workspace.inbox(AGENT), "user", "and now?")
    done = advance(workspace)
    assert (done.due, done.finished) == (True, False)
    assert window(workspace, use("d", "say", text="x")).end is WindowEnd.COMPLETED
    assert advance(workspace).due
    assert_well_formed(workspace)


@pytest.mark.parametrize("place", [0, 1])
def test_beside_other_calls_it_finishes_nothing_and_all_are_answered(
    workspace: Workspace, caplog: pytest.LogCaptureFixture, place: int
) -> None:
    calls = [use("b", "say", text="1")]
    calls.insert(place, use("c", "finish", text="42"))
    with caplog.at_level(logging.INFO, "litany.window"):
        answers = window(workspace, *calls)
    assert answers.end is WindowEnd.COMPLETED
    assert sorted(answered_in(workspace)) == ["b", "c"]
    (logged,) = [each.getMessage() for each in caplog.records if each.name == "litany.window"]
    assert "call c of agent a is not alone in its reply" in logged
    done = advance(workspace)
    assert (done.due, done.finished) == (True, False)


@pytest.mark.parametrize(
    "call",
    [
        use("c", "finish", text="no", fail=True),
        use("c", "finish", txet="no"),
        use("c", "relay", text="of an inner call"),
        use("c", "say", text="of another tool"),
        use("c", "nothing_of_that_name"),
    ],
    ids=["failed", "refused", "inner", "another tool", "unknown"],
)
def test_no_other_end_is_the_last_word(
    workspace: Workspace, call: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "litany.window"):
        assert window(workspace, call).end is WindowEnd.COMPLETED
    assert [each for each in caplog.records if each.name == "litany.window"] == []
    done = advance(workspace)
    assert (done.due, done.finished) == (True, False)


@pytest.mark.parametrize("trusted", [True, False])
def test_a_server_s_word_for_its_own_tool_counts_when_the_operator_trusts_it(
    workspace: Workspace, trusted: bool
) -> None:
    tools = finishing(Traits(terminal=True, provenance=Provenance("elsewhere", trusted=trusted)))
    answers = window(workspace, use("c", "finish", text="42"), tools=tools)
    assert answers.end is (WindowEnd.FINISHED if trusted else WindowEnd.COMPLETED)
    assert advance(workspace).finished is trusted


def test_a_stopped_call_of_it_is_a_stop(workspace: Workspace) -> None:
    async def work(ws: OpenWorkspace) -> list[Answers]:
        given: list[Answers] = []

        async def run() -> None:
            given.append(await ws.window(AGENT, [use("c", "finish", text="42", wait=True)]))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await wait_until(ws.running)
            await ws.stop(AGENT)
        return given

    assert opened(workspace, work)[0].end is WindowEnd.STOPPED
    assert not advance(workspace).finished


@pytest.mark.parametrize("alone", [True, False])
def test_a_held_call_of_it_is_the_last_word_when_it_was_alone_in_the_reply_and_not_only_alone_in_the_rest(
    tmp_path: Path, alone: bool
) -> None:
    workspace = make_workspace(tmp_path / "w", '[control]\ncommand = ["./control.sh"]\n')
    control = workspace.root / "control.sh"
    control.write_text(
        '#!/bin/sh\nif [ ! -e go ] && grep -q \'"name": "finish"\'\n'
        'then echo \'{"verdict": "hold", "reason": "look"}\'\nelse echo \'{"verdict": "pass"}\'\nfi\n'
    )
    control.chmod(0o755)
    calls = [use("c", "finish", text="42")]
    if not alone:
        calls.insert(0, use("b", "say", text="1"))
    assert window(workspace, *calls).end is WindowEnd.HELD
    (workspace.root / "go").touch()
    done = advance(workspace)
    assert done.answers is not None
    assert [each.tool_use_id for each in done.answers.results] == ["c"]
    assert done.answers.end is (WindowEnd.FINISHED if alone else WindowEnd.COMPLETED)
    assert (done.finished, done.due) == (alone, not alone)


def test_a_host_that_leaves_before_the_answer_is_committed_has_not_said_that_the_agent_finished(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object, **_how: object) -> None:
        raise GitError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Transcript, "append_result", die)
        with pytest.raises(GitError):
            window(workspace, use("c", "finish", text="42"))
    done = advance(workspace)
    assert [each.text for each in done.settled] == [f"{DIED_AFTER}\nExit code: 0\n42"]
    assert (done.due, done.finished) == (True, False)


def test_the_command_says_that_an_agent_has_finished(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    window(workspace, use("c", "finish", text="42"))
    where = ["--workspace", str(workspace.root)]
    assert cli(["advance", *where]) == 0
    assert capsys.readouterr().out == "a: it has finished: its last call was of a terminal tool\n"
    assert cli(["advance", "--json", *where]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["due"], told["finished"]) == (False, True)


def test_an_agent_may_write_what_it_likes_into_its_own_copy_of_the_last_word(workspace: Workspace) -> None:
    window(workspace, use("c", "say", text="1"))
    copy = workspace.worktree(AGENT) / "messages" / "002-tool.json"
    copy.write_text(json.dumps({"content": json.loads(copy.read_text()), "final": True}))
    assert not advance(workspace).finished
    assert not transcript_of(workspace).entries()[-1].final
