"""The door outside the sandbox: one command for each call."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from litany_stubs import client
from litany_stubs.words import DoorError
from litany_stubs.workspace_door import WorkspaceDoor, door_from_environment

SCRIPT = """
import json, os, sys
sys.path[:0] = [{stubs!r}]
from litany_stubs.reply_json import encode_reply
from litany_stubs.words import Refusal, Reply
asked = json.load(sys.stdin)
assert set(asked) == {{"name", "input"}}, asked
if asked["name"] == "refused":
    print(encode_reply(Reply("refused", 126, refusal=Refusal("grant", "no"))))
    sys.exit(126)
if asked["name"] == "slow":
    import pathlib, signal
    place = pathlib.Path(asked["input"]["place"])
    def end(*_):
        (place / "ended").touch()
        sys.exit(143)
    signal.signal(signal.SIGTERM, end)
    (place / "begun").touch()
    signal.pause()
if asked["name"] == "broken":
    print("no reply")
    sys.exit("the workspace is gone")
print(encode_reply(Reply("completed", 0, json.dumps([asked["input"], os.getenv("AGENT")]).encode(), b"\\xff", {{"k": 1}})))
"""


@pytest.fixture
def door(tmp_path: Path) -> WorkspaceDoor:
    script = tmp_path / "invoke.py"
    script.write_text(SCRIPT.format(stubs=str(Path(client.__file__).parents[1])))
    return WorkspaceDoor([sys.executable, "-I", str(script)], env={"AGENT": "a1"})


def test_a_call_goes_through_the_command_and_comes_back_whole(door: WorkspaceDoor) -> None:
    reply = door.call("echo", {"text": "é\n", "n": [1, None]})
    assert reply.stdout == b'[{"text": "\\u00e9\\n", "n": [1, null]}, "a1"]'
    assert (reply.stderr, reply.data, reply.exit_code) == (b"\xff", {"k": 1}, 0)


def test_a_refusal_is_a_reply_although_the_command_exits_non_zero(door: WorkspaceDoor) -> None:
    refused = door.call("refused", {}).refusal
    assert refused is not None
    assert refused.reason == "no"


def test_a_command_that_gives_no_reply_is_a_door_that_cannot_be_reached(door: WorkspaceDoor) -> None:
    with pytest.raises(DoorError, match=r"no reply to broken: .* exited 1 .*it said: the workspace is gone"):
        door.call("broken", {})


def test_a_command_that_is_not_there_is_named() -> None:
    with pytest.raises(DoorError, match="/nowhere/litany cannot be started"):
        WorkspaceDoor(["/nowhere/litany"]).call("t", {})


def test_calls_awaited_together_each_get_their_own_answer(door: WorkspaceDoor) -> None:
    async def main() -> list[bytes]:
        return [
            each.stdout for each in await asyncio.gather(*(door.call_async("t", {"n": n}) for n in range(4)))
        ]

    assert [each[:9] for each in asyncio.run(main())] == [b'[{"n": %d}' % n for n in range(4)]


def test_a_call_whose_await_is_cancelled_is_ended_before_that_is_raised(
    door: WorkspaceDoor, tmp_path: Path
) -> None:
    async def main() -> None:
        call = asyncio.create_task(door.call_async("slow", {"place": str(tmp_path)}))
        while not (tmp_path / "begun").exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (tmp_path / "ended").exists()

    asyncio.run(main())


def test_an_awaited_call_says_as_much_of_a_door_that_cannot_be_reached(door: WorkspaceDoor) -> None:
    with pytest.raises(DoorError, match="it said: the workspace is gone"):
        asyncio.run(door.call_async("broken", {}))
    with pytest.raises(DoorError, match="/nowhere/litany cannot be started"):
        asyncio.run(WorkspaceDoor(["/nowhere/litany"]).call_async("t", {}))


def test_without_a_workspace_a_stub_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LITANY_CONV_REPO", raising=False)
    former = client.bind(None)
    try:
        with pytest.raises(DoorError, match=r"LITANY_CONV_REPO names no workspace.*fake_door"):
            client.invoke("t")
    finally:
        client.bind(former)


def test_with_a_workspace_the_command_beside_this_python_is_the_door(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LITANY_CONV_REPO", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DoorError, match="no `litany` command"):
        door_from_environment()
    command = tmp_path / "litany"
    command.write_text("#!/bin/sh\necho '{}'; echo \"$@\" >&2\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(DoorError, match="it said: invoke --json"):
        door_from_environment().call("t", {})
