"""One end of a child's socket: frames are whole whatever happens to who sends them, and a death is told."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest
import trio
import trio.testing

from alarm_kit import BOUND_S, failing_after_the_bound
from litany_runtime.link import Link

FRAME = 3 * 1024 * 1024
"""Bytes that no socket takes at once."""


@pytest.fixture
def ends() -> Iterator[tuple[Link, socket.socket]]:
    ours, theirs = socket.socketpair()
    theirs.settimeout(BOUND_S)  # it reads in a thread, where no alarm ends the wait
    with ours, theirs, failing_after_the_bound():
        yield Link(ours), theirs


def _read(theirs: socket.socket, size: int) -> bytes:
    taken = bytearray()
    while len(taken) < size and (data := theirs.recv(1 << 20)):
        taken += data
    return bytes(taken)


def test_what_is_sent_arrives_and_what_arrives_is_received(ends: tuple[Link, socket.socket]) -> None:
    link, theirs = ends

    async def main() -> None:
        await link.send(b"question")
        assert theirs.recv(100) == b"question"
        theirs.sendall(b"answer")
        assert await link.receive() == b"answer"

    trio.run(main)


def test_frames_of_several_senders_are_whole_and_none_overtakes(ends: tuple[Link, socket.socket]) -> None:
    link, theirs = ends
    frames = [bytes([n]) * (FRAME if n % 2 else 10) for n in range(6)]

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            for frame in frames:
                await nursery.start(_begin_sending, link, frame)
            size = sum(map(len, frames))
            assert await trio.to_thread.run_sync(_read, theirs, size) == b"".join(frames)

    trio.run(main)


async def _begin_sending(
    link: Link, frame: bytes, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    task_status.started()
    await link.send(frame)


def test_a_frame_that_has_begun_is_sent_to_its_end_whoever_is_cancelled(
    ends: tuple[Link, socket.socket],
) -> None:
    link, theirs = ends

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(link.send, b"a" * FRAME)
            nursery.start_soon(link.send, b"b" * FRAME)
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
            with trio.CancelScope(shield=True):
                taken = await trio.to_thread.run_sync(_read, theirs, 2 * FRAME)
        assert taken in {b"a" * FRAME + b"b" * FRAME, b"b" * FRAME + b"a" * FRAME}

    trio.run(main)


def test_a_first_frame_that_no_socket_takes_at_once_arrives_whole(ends: tuple[Link, socket.socket]) -> None:
    link, theirs = ends

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(link.send_first, bytes(FRAME))
            taken = await trio.to_thread.run_sync(_read, theirs, FRAME)
            assert len(taken) == FRAME

    trio.run(main)


def test_a_first_frame_that_the_child_does_not_take_can_be_given_up(ends: tuple[Link, socket.socket]) -> None:
    link, _ = ends

    async def main() -> bool:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(link.send_first, bytes(FRAME))
                await trio.testing.wait_all_tasks_blocked()
                scope.cancel()
        return scope.cancelled_caught

    assert trio.run(main)


def test_to_be_woken_for_nothing_is_not_the_end(ends: tuple[Link, socket.socket]) -> None:
    link, theirs = ends
    thief = link._socket.dup()
    stolen = []

    class Steal(trio.abc.Instrument):
        """Take what came between the kernel's word that it has come and the look of who waits for it."""

        def after_io_wait(self, timeout: float) -> None:
            with suppress(BlockingIOError):
                stolen.append(thief.recv(100))
                trio.lowlevel.remove_instrument(self)

    received = []

    async def wait() -> None:
        received.append(await link.receive())

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await trio.testing.wait_all_tasks_blocked()
            trio.lowlevel.add_instrument(Steal())
            theirs.sendall(b"first")
            await trio.testing.wait_all_tasks_blocked()
            theirs.sendall(b"second")

    with thief:
        trio.run(main)
    assert (stolen, received) == ([b"first"], [b"second"])


def test_a_child_that_is_gone_is_told_by_receiving_and_harms_no_sender(
    ends: tuple[Link, socket.socket],
) -> None:
    link, theirs = ends

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(link.send, b"a" * FRAME)
            await trio.testing.wait_all_tasks_blocked()
            theirs.close()
        await link.send(b"more")
        assert await link.receive() == b""

    trio.run(main)


def test_closing_ends_who_waits_and_closing_again_changes_nothing(ends: tuple[Link, socket.socket]) -> None:
    link, _ = ends
    received = []

    async def wait() -> None:
        received.append(await link.receive())

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            for _ in range(3):
                nursery.start_soon(link.send, b"a" * FRAME)
            await trio.testing.wait_all_tasks_blocked()
            link.close()
            link.close()
        assert await link.receive() == b""
        await link.send(b"more")

    trio.run(main)
    assert received == [b""]
