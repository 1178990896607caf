"""A stop that comes from another process, by way of the workspace."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from litany_engine.door.selection import StopError
from litany_engine.stopping import FOLDER, Stopped, serve_stops, stop_running


def exchange(root: Path, selector: str | None, stop: object = None, answer_s: float = 30) -> list[Stopped]:
    async def stop_nothing(selector: str | None) -> tuple[str, ...]:
        return (f"T of {selector}",)

    async def main() -> list[Stopped]:
        async with trio.open_nursery() as nursery:
            await nursery.start(serve_stops, root, stop or stop_nothing)
            answers = await stop_running(root, selector, answer_s=answer_s)
            nursery.cancel_scope.cancel()
        return answers

    return trio.run(main)


def test_a_stop_reaches_the_process_and_brings_back_what_ended(tmp_path: Path) -> None:
    assert exchange(tmp_path, "a-1") == [Stopped(os.getpid(), ("T of a-1",))]
    assert exchange(tmp_path, None) == [Stopped(os.getpid(), ("T of None",))]


def test_a_workspace_where_nothing_runs_answers_nothing(tmp_path: Path) -> None:
    assert trio.run(stop_running, tmp_path, None) == []


def test_a_process_that_leaves_takes_its_socket_with_it(tmp_path: Path) -> None:
    exchange(tmp_path, None)
    assert list((tmp_path / FOLDER).iterdir()) == []


def test_the_socket_of_a_dead_process_is_swept_away(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    left = tmp_path / FOLDER / "1-abc.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(left))
    assert trio.run(stop_running, tmp_path, None) == []
    assert not left.exists()


def test_only_the_owner_may_connect(tmp_path: Path) -> None:
    exchange(tmp_path, None)
    assert (tmp_path / FOLDER).stat().st_mode & 0o777 == 0o700


def test_a_folder_of_sockets_that_is_closed_to_us_is_told_and_not_taken_for_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deny(self: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    exchange(tmp_path, None)
    monkeypatch.setattr(Path, "iterdir", deny)
    with pytest.raises(
        StopError,
        match=r"running: cannot be read: Permission denied \(it is yours: .*\); nothing was stopped",
    ):
        trio.run(stop_running, tmp_path, None)
    owner, other = os.geteuid(), os.geteuid() + 4_000_000
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(
        StopError, match=rf"belongs to user .*, and you are user {other}: .*\); nothing was stopped"
    ):
        trio.run(stop_running, tmp_path, None)
    assert (tmp_path / FOLDER).stat().st_uid == owner


def test_a_listener_that_may_not_be_connected_to_is_an_error_and_the_others_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "7-closed.sock").touch()
    connect = trio._socket._SocketType.connect

    async def deny(self: Any, address: str) -> None:
        if address.endswith("/7-closed.sock"):
            raise PermissionError(errno.EACCES, "Permission denied")
        await connect(self, address)

    monkeypatch.setattr(trio._socket._SocketType, "connect", deny)
    closed, ours = exchange(tmp_path, None)
    assert (closed.pid, closed.calls) == (7, ())
    assert "7-closed.sock: cannot be read: Permission denied (" in closed.error
    assert ours == Stopped(os.getpid(), ("T of None",))


def test_a_workspace_in_a_very_long_path_can_be_stopped(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 150) / ("e" * 150)
    deep.mkdir(parents=True)
    assert exchange(deep, "a") == [Stopped(os.getpid(), ("T of a",))]


def test_an_ambiguous_selector_is_told_back_in_words(tmp_path: Path) -> None:
    async def stop(selector: str | None) -> tuple[str, ...]:
        raise StopError("several calls")

    assert exchange(tmp_path, "call_1", stop) == [Stopped(os.getpid(), (), "several calls")]


def test_a_process_that_does_not_answer_is_named_in_bounded_time(tmp_path: Path) -> None:
    async def main() -> list[Stopped]:
        told = trio.Event()

        async def stop(selector: str | None) -> tuple[str, ...]:
            await told.wait()
            return ()

        async with trio.open_nursery() as nursery:
            await nursery.start(serve_stops, tmp_path, stop)
            answers = await stop_running(tmp_path, None, answer_s=0.05)
            told.set()
            nursery.cancel_scope.cancel()
        return answers

    (answer,) = trio.run(main)
    assert str(os.getpid()) in answer.error
    assert "not ended" in answer.error


def test_the_answer_is_given_though_the_workspace_closes_with_the_last_call(tmp_path: Path) -> None:
    async def main() -> list[Stopped]:
        answers: list[Stopped] = []
        async with trio.open_nursery() as asking, trio.open_nursery() as serving:

            async def stop(selector: str | None) -> tuple[str, ...]:
                serving.cancel_scope.cancel()  # what ends the call ends the host's reason to stay
                await trio.sleep(0.05)
                return ("T",)

            async def ask() -> None:
                answers.extend(await stop_running(tmp_path, None))

            await serving.start(serve_stops, tmp_path, stop)
            asking.start_soon(ask)
        return answers

    assert trio.run(main) == [Stopped(os.getpid(), ("T",))]


def test_garbage_on_the_socket_is_answered_and_harms_nothing(tmp_path: Path) -> None:
    calls: list[str | None] = []

    async def stop(selector: str | None) -> tuple[str, ...]:
        calls.append(selector)
        return ()

    async def main() -> list[bytes]:
        answers = []
        async with trio.open_nursery() as nursery:
            await nursery.start(serve_stops, tmp_path, stop)
            (path,) = (tmp_path / FOLDER).iterdir()
            for request in (b"not json\n", b"[]\n", b'{"stop": 5}\n', b"\xff\xfe\n", b"{}\n", b""):
                stream = await trio.open_unix_socket(path)
                async with stream:
                    await stream.send_all(request)
                    await stream.send_eof()
                    answers.append(await stream.receive_some())
            assert (await stop_running(tmp_path, "x"))[0].error == ""
            nursery.cancel_scope.cancel()
        return answers

    assert all(b"must be one line of JSON" in answer for answer in trio.run(main))
    assert calls == ["x"]
