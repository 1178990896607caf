"""Many callers share one socket: each gets its own answer, whatever the order, from threads and from tasks."""

from __future__ import annotations

import asyncio
import random
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from litany_runtime import wire
from litany_runtime.channel import Channel, Interrupts
from litany_runtime.limits import Limits
from litany_stubs.words import DoorError, Reply


class Host(threading.Thread):
    """The other end: collects `batch` calls, then answers them in an order of its own."""

    def __init__(self, sock: socket.socket, batch: int) -> None:
        super().__init__(daemon=True)
        self.sock = sock
        self.batch = batch
        self.seqs: list[int] = []
        self.cancelled: list[int] = []
        self.most_pending = 0
        self.padding = ""
        self.go = threading.Event()
        self.go.set()

    def run(self) -> None:
        decoder = wire.Decoder(wire.FROM_CHILD, 1 << 24)
        waiting: list[wire.Call] = []
        order = random.Random(7)
        while data := self.sock.recv(65536):
            for message in decoder.feed(data):
                if isinstance(message, wire.Cancel):
                    self.cancelled.append(message.seq)
                    continue
                assert isinstance(message, wire.Call)
                self.seqs.append(message.seq)
                waiting.append(message)
                self.most_pending = max(self.most_pending, len(waiting))
                if len(waiting) >= self.batch or message.input.get("flush"):
                    order.shuffle(waiting)
                    self.go.wait()
                    for call in waiting:
                        out = self.padding.encode()
                        answer = wire.Answer(
                            call.seq, "completed", 0, out, b"", call.input["n"], "", "", 0.5, 0.25
                        )
                        self.sock.sendall(wire.encode(answer, 1 << 24))
                    waiting.clear()


@contextmanager
def channel_to(batch: int, limits: Limits | None = None) -> Iterator[tuple[Channel, Host]]:
    ours, theirs = socket.socketpair()
    limits = limits or Limits()
    with ours, theirs:
        host = Host(theirs, batch)
        host.start()
        yield (
            Channel(
                ours, limits, wire.Decoder(wire.FROM_HOST, wire.max_frame_from_host(limits)), Interrupts()
            ),
            host,
        )
        ours.shutdown(socket.SHUT_RDWR)
        host.join()


def test_a_thousand_calls_from_sixteen_threads_get_their_own_answers() -> None:
    with channel_to(batch=8) as (channel, host), ThreadPoolExecutor(16) as pool:
        # 16 callers, answered 8 at a time: there are always enough waiting to complete a batch but at the end.
        replies = list(pool.map(lambda n: channel.call("t", {"n": n, "flush": n >= 984}), range(1000)))
    assert [each.data for each in replies] == list(range(1000))
    assert host.seqs == list(range(1, 1001))


def test_a_thousand_calls_gathered_by_asyncio_are_in_flight_together() -> None:
    async def main(channel: Channel) -> list[Reply]:
        return await asyncio.gather(*(channel.call_async("t", {"n": n}) for n in range(1000)))

    with channel_to(batch=250) as (channel, host):
        replies = asyncio.run(main(channel))
    assert [each.data for each in replies] == list(range(1000))
    assert host.seqs == list(range(1, 1001))
    assert host.most_pending == 250


def test_threads_and_tasks_share_the_socket() -> None:
    async def main(channel: Channel) -> list[Reply]:
        direct = [channel.call_async("t", {"n": n, "flush": True}) for n in range(0, 100, 2)]
        threads = [asyncio.to_thread(channel.call, "t", {"n": n, "flush": True}) for n in range(1, 100, 2)]
        return await asyncio.gather(*direct, *threads)

    with channel_to(batch=3) as (channel, _):
        replies = asyncio.run(main(channel))
    assert sorted(each.data for each in replies) == list(range(100))


def test_no_more_calls_are_pending_than_the_limit_and_the_rest_wait_their_turn() -> None:
    async def main(channel: Channel) -> list[Reply]:
        return await asyncio.gather(*(channel.call_async("t", {"n": n, "flush": n == 39}) for n in range(40)))

    with channel_to(batch=4, limits=Limits(pending_calls=4)) as (channel, host):
        assert [each.data for each in asyncio.run(main(channel))] == list(range(40))
        assert host.most_pending == 4


def test_a_call_over_the_budget_is_a_refusal_and_reaches_nobody() -> None:
    with channel_to(batch=1, limits=Limits(calls=2)) as (channel, host):
        replies = [channel.call("t", {"n": n}) for n in range(4)]
    assert [each.outcome for each in replies] == ["completed", "completed", "refused", "refused"]
    assert replies[2].refusal is not None
    assert replies[2].refusal.gate == "budget"
    assert host.seqs == [1, 2]


def test_a_value_that_is_not_json_uses_up_no_call() -> None:
    with channel_to(batch=1, limits=Limits(calls=1)) as (channel, host):
        refused = channel.call("t", {"n": {1, 2}})
        assert refused.refusal is not None
        assert "$.n: set" in refused.refusal.reason
        assert channel.call("t", {"n": 5}).data == 5
    assert host.seqs == [1]


def test_a_name_that_the_wire_does_not_carry_is_a_refusal_and_uses_up_no_call() -> None:
    with channel_to(batch=1, limits=Limits(calls=1)) as (channel, host):
        for name in ("x" * (wire.MAX_NAME_BYTES + 1), "é" * wire.MAX_NAME_BYTES, "\ud800"):
            refused = channel.call(name, {"n": 1})
            assert (refused.outcome, refused.exit_code) == ("refused", 126)
        assert channel.call("x" * wire.MAX_NAME_BYTES, {"n": 5}).data == 5
    assert host.seqs == [1]


def test_a_cancelled_task_frees_nobody_elses_answer() -> None:
    async def main(channel: Channel) -> object:
        task = asyncio.create_task(channel.call_async("t", {"n": 1}))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return (await channel.call_async("t", {"n": 2})).data

    with channel_to(batch=2) as (channel, _):
        assert asyncio.run(main(channel)) == 2


def test_an_await_that_is_cancelled_cancels_its_call_once_and_no_other() -> None:
    async def main(channel: Channel) -> None:
        kept = asyncio.create_task(channel.call_async("t", {"n": 1}))
        await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await channel.call_async("t", {"n": 2})
        assert (await channel.call_async("t", {"n": 3, "flush": True})).data == 3
        assert (await kept).data == 1

    with channel_to(batch=9) as (channel, host):
        asyncio.run(main(channel))
        assert channel.call("t", {"n": 4, "flush": True}).data == 4  # the slots are all there
    assert (host.seqs, host.cancelled) == ([1, 2, 3, 4], [2])


def test_a_call_that_was_cancelled_before_its_turn_came_is_never_sent() -> None:
    async def main(channel: Channel) -> None:
        first = asyncio.create_task(channel.call_async("t", {"n": 1}))
        second = asyncio.create_task(channel.call_async("t", {"n": 2}))
        third = asyncio.create_task(channel.call_async("t", {"n": 3, "flush": True}))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([second])
        host.go.set()
        assert (await first).data == 1
        assert (await third).data == 3

    with channel_to(batch=1, limits=Limits(pending_calls=1)) as (channel, host):
        host.go.clear()
        asyncio.run(main(channel))
    assert (len(host.seqs), host.cancelled) == (2, [])


def test_a_sender_takes_answers_while_there_is_no_room_for_what_it_sends() -> None:
    """The host reads no call while its answers are not taken: who only sent would wait for ever."""
    big = "x" * (1 << 20)

    async def main(channel: Channel) -> list[Reply]:
        return await asyncio.gather(
            *(channel.call_async("t", {"n": n, "of": big, "flush": True}) for n in range(8))
        )

    with channel_to(batch=1) as (channel, host):
        host.padding = big
        replies = asyncio.run(main(channel))
    assert [(each.data, len(each.stdout)) for each in replies] == [(n, len(big)) for n in range(8)]


@pytest.mark.parametrize("call", [Channel.call, lambda *a: asyncio.run(Channel.call_async(*a))])
def test_a_closed_door_is_an_error_for_every_caller(call: Callable[..., Reply]) -> None:
    ours, theirs = socket.socketpair()
    channel = Channel(ours, Limits(), wire.Decoder(wire.FROM_HOST, 1 << 20), Interrupts())
    with ours:
        theirs.close()
        for _ in range(2):
            with pytest.raises(DoorError, match="closed"):
                call(channel, "t", {"n": 1})


def test_waiting_callers_learn_that_the_door_closed() -> None:
    ours, theirs = socket.socketpair()
    channel = Channel(ours, Limits(), wire.Decoder(wire.FROM_HOST, 1 << 20), Interrupts())

    def attempt(n: int) -> str:
        try:
            channel.call("t", {"n": n})
        except DoorError as error:
            return str(error)
        return "answered"

    with ours, ThreadPoolExecutor(4) as pool:
        pending = [pool.submit(attempt, n) for n in range(4)]
        seen = 0
        decoder = wire.Decoder(wire.FROM_CHILD, 1 << 20)
        while seen < 4:
            seen += len(list(decoder.feed(theirs.recv(65536))))
        theirs.close()
        assert {each.result(timeout=10) for each in pending} == {"the door is closed"}
