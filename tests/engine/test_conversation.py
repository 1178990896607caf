"""What a host needs to run a model's agent: what is offered, what is said, what was said."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from litany_engine import open_workspace, open_workspace_blocking
from litany_engine.windows.entries import Entry, Side, ToolResult, TranscriptError, history, tool_uses
from window_kit import AGENT, make_tools, make_workspace, use


def text(what: str) -> dict[str, Any]:
    return {"type": "text", "text": what}


def test_a_conversation_is_told_as_a_provider_is_sent_it_by_the_next_host_too(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "w")
    reply = [text("I look."), use("one", "bash", command="echo 1"), use("two", "bash", command="echo 2")]

    async def first() -> None:
        async with open_workspace(workspace) as ws:
            await ws.say("Hello.")
            await ws.say("Look at it.", sender="somebody")
            assert (await ws.advance()).delivered == 2
            await ws.window(None, reply)
            await ws.say("And now?")
            assert len(await ws.messages()) == 3  # what waits was not said yet
            assert (await ws.advance()).due

    trio.run(first)
    with open_workspace_blocking(workspace) as ws:
        asked, said, results = ws.messages()

    assert asked == {"role": "user", "content": [text("Hello."), text("Look at it.")]}
    assert said == {"role": "assistant", "content": reply}
    assert results["role"] == "user"
    assert [each.get("tool_use_id") for each in results["content"]] == ["one", "two", None]
    assert results["content"][0]["content"] == [text("Exit code: 0\n1\n")]
    assert results["content"][2] == text("And now?")


def test_what_is_said_wakes_an_agent_that_was_stopped(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "w")

    async def main() -> tuple[bool, bool]:
        async with open_workspace(workspace) as ws:
            await ws.say("Hello.")
            await ws.advance()
            await ws.stop(AGENT)
            asleep = (await ws.advance()).due
            await ws.say("Go on.")
            return asleep, (await ws.advance()).due

    assert trio.run(main) == (False, True)


@pytest.mark.parametrize("sender", ["", "a b", "../a", "tool", "-"])
def test_a_sender_that_is_no_name_says_nothing(tmp_path: Path, sender: str) -> None:
    workspace = make_workspace(tmp_path / "w")
    with open_workspace_blocking(workspace) as ws:
        with pytest.raises(TranscriptError, match="origin"):
            ws.say("Hello.", sender=sender)
        assert ws.advance().delivered == 0


def test_a_model_is_offered_what_the_door_permits_and_python_tells_of_the_others(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "w", '[roles.default]\ngrant = ["python", "say", "read_file"]\n')
    with open_workspace_blocking(workspace, tools=make_tools()) as ws:
        python, *others = ws.offered()

        assert [each["name"] for each in (python, *others)] == ["python", "read_file", "say"]
        assert set(python) == {"name", "description", "input_schema"}
        assert python["input_schema"]["required"] == ["program"]
        assert "read_file(" in python["description"]
        assert "bash(" not in python["description"]


_WORDS = st.text("ab ", max_size=4)


@st.composite
def transcripts(draw: st.DrawFn) -> list[Entry]:
    """Sound histories: messages, and replies whose calls are answered before anything else is said."""
    entries: list[Entry] = []

    def add(origin: str, side: Side, content: Any) -> None:
        entries.append(Entry(len(entries) + 1, origin, side, content))

    for turn in range(draw(st.integers(0, 6))):
        if draw(st.booleans()):
            add("user", Side.USER, draw(_WORDS))
            continue
        reply = [use(f"{turn}-{n}", "t") for n in range(draw(st.integers(0, 3)))] or [text(draw(_WORDS))]
        add("model", Side.ASSISTANT, reply)
        for call in tool_uses(reply):
            add("tool", Side.TOOL, [ToolResult(call.id, "done", is_error=False).block()])
    return entries


@given(transcripts())
def test_sides_take_turns_nothing_is_lost_and_results_come_first(entries: list[Entry]) -> None:
    before = [repr(each) for each in entries]
    told = history(entries)

    assert [repr(each) for each in entries] == before  # what was read is not changed by being told
    assert all(one["role"] != other["role"] for one, other in itertools.pairwise(told))
    assert [block for message in told for block in message["content"]] == [
        block
        for entry in entries
        for block in ([text(entry.content)] if entry.side is Side.USER else entry.content)
    ]
    for reply, answer in itertools.pairwise(told):
        asked = [call.id for call in tool_uses(reply["content"])] if reply["role"] == "assistant" else []
        if asked:
            assert [block.get("tool_use_id") for block in answer["content"]][: len(asked)] == asked
