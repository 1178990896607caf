"""Many calls at once: from threads, under asyncio, by fan_out; each answer reaches its own caller."""

from __future__ import annotations

import asyncio
import operator
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import pytest

from litany_stubs import client
from litany_stubs.module import load_stubs
from litany_stubs.render import render
from litany_stubs.testing import FakeDoor, failure, late, unreachable
from litany_stubs.words import DoorError, Reply, ToolDeclaration

ECHO = ToolDeclaration(
    "echo", "Say it again.", {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
)


@pytest.fixture
def tools() -> ModuleType:
    return load_stubs(render([ECHO]))


def echo(arguments: dict[str, Any]) -> str:
    return str(arguments["n"])


def test_a_thousand_calls_from_sixteen_threads_each_get_their_own_answer(
    fake_door: FakeDoor, tools: ModuleType
) -> None:
    fake_door.answers("echo", echo)
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda n: tools.echo(n=n).stdout, range(1000)))
    assert found == [str(n) for n in range(1000)]
    assert sorted(each["n"] for each in fake_door.calls_of("echo")) == list(range(1000))


def test_a_thousand_calls_gathered_each_get_their_own_answer(fake_door: FakeDoor, tools: ModuleType) -> None:
    fake_door.answers("echo", echo)

    async def main() -> list[Any]:
        return await asyncio.gather(*(tools.aio.echo(n=n) for n in range(1000)))

    assert [each.stdout for each in asyncio.run(main())] == [str(n) for n in range(1000)]


class Backwards:
    """A door that answers a batch of calls last first, once all of them are in flight."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.waiting: list[asyncio.Future[None]] = []

    def call(self, name: str, arguments: Mapping[str, Any]) -> Reply:
        raise AssertionError("not this way")

    async def call_async(self, name: str, arguments: Mapping[str, Any]) -> Reply:
        turn = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        if len(self.waiting) == self.size:
            self.release()
        await turn
        self.release()
        return Reply("completed", 0, str(arguments["n"]).encode())

    def release(self) -> None:
        if self.waiting and len(self.waiting):
            turn = self.waiting.pop()
            if not turn.done():
                turn.set_result(None)


def test_answers_that_come_out_of_order_reach_the_right_callers(tools: ModuleType) -> None:
    former = client.bind(Backwards(20))
    try:

        async def main() -> list[Any]:
            return await asyncio.gather(*(tools.aio.echo(n=n) for n in range(20)))

        assert [each.stdout for each in asyncio.run(main())] == [str(n) for n in range(20)]
    finally:
        client.bind(former)


class Gauge:
    """Counts the calls in flight; lets them go only when as many are there as are expected at once."""

    def __init__(self, expected: int) -> None:
        self.barrier = threading.Barrier(expected)
        self.lock = threading.Lock()
        self.now = self.most = 0

    def __call__(self, arguments: dict[str, Any]) -> str:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self.barrier.wait(timeout=20)
        with self.lock:
            self.now -= 1
        return str(arguments["n"])


@pytest.mark.parametrize("limit", [1, 2, 8, 32])
def test_fan_out_keeps_its_bound_and_the_order(fake_door: FakeDoor, tools: ModuleType, limit: int) -> None:
    gauge = Gauge(limit)
    fake_door.answers("echo", gauge)
    items = [{"n": n} for n in range(limit * 2)]
    found = tools.fan_out(tools.echo, items, limit=limit)
    assert [each.stdout for each in found] == [str(n) for n in range(limit * 2)]
    assert gauge.most == limit


def test_fan_out_takes_a_name_and_arguments_no_function_could(fake_door: FakeDoor, tools: ModuleType) -> None:
    fake_door.answers("x-y", lambda arguments: arguments["class"])
    assert [each.stdout for each in tools.fan_out("x-y", [{"class": "a"}, {"class": "b"}])] == ["a", "b"]
    assert [each.stdout for each in asyncio.run(tools.aio.fan_out("x-y", [{"class": "a"}]))] == ["a"]


def test_a_failing_slot_fails_alone(fake_door: FakeDoor, tools: ModuleType) -> None:
    fake_door.answers("echo", lambda arguments: failure("odd") if arguments["n"] % 2 else "even")
    found = tools.fan_out(tools.echo, [{"n": n} for n in range(10)])
    assert [each.ok for each in found] == [True, False] * 5


def test_fan_out_of_nothing_is_nothing(tools: ModuleType) -> None:
    assert tools.fan_out(tools.echo, []) == []
    assert asyncio.run(tools.aio.fan_out(tools.aio.echo, [])) == []


def test_fan_out_under_asyncio_keeps_its_bound_and_the_order(fake_door: FakeDoor, tools: ModuleType) -> None:
    now = most = 0

    class Counting:
        def call(self, name: str, arguments: Mapping[str, Any]) -> Reply:
            raise AssertionError("not this way")

        async def call_async(self, name: str, arguments: Mapping[str, Any]) -> Reply:
            nonlocal now, most
            now += 1
            most = max(most, now)
            for _ in range(20 - arguments["n"]):
                await asyncio.sleep(0)
            now -= 1
            return Reply("completed", 0, str(arguments["n"]).encode())

    client.bind(Counting())
    found = asyncio.run(tools.aio.fan_out(tools.aio.echo, [{"n": n} for n in range(20)], limit=4))
    assert [each.stdout for each in found] == [str(n) for n in range(20)]
    assert most == 4


@pytest.mark.parametrize("limit", [0, -1, 33, 2.0, True, "8"])
def test_a_bound_out_of_range_is_refused(fake_door: FakeDoor, tools: ModuleType, limit: Any) -> None:
    with pytest.raises(ValueError, match="from 1 to 32"):
        tools.fan_out(tools.echo, [{"n": 1}], limit=limit)
    assert fake_door.calls == []


def test_a_door_that_is_gone_raises_whichever_way_it_is_called(
    fake_door: FakeDoor, tools: ModuleType
) -> None:
    fake_door.answers("echo", unreachable("the socket is closed"))
    ways: list[Callable[[], Any]] = [
        lambda: tools.echo(n=1),
        lambda: tools.invoke("echo", {"n": 1}),
        lambda: tools.fan_out(tools.echo, [{"n": 1}] * 20),
        lambda: asyncio.run(tools.aio.echo(n=1)),
        lambda: asyncio.run(tools.aio.fan_out(tools.aio.echo, [{"n": 1}] * 20)),
    ]
    for way in ways:
        with pytest.raises(DoorError, match="the socket is closed"):
            way()
    assert len(fake_door.calls) < 40, "no new call is begun once one has found the door gone"


def test_no_new_call_is_begun_once_a_slot_has_found_the_door_gone(
    fake_door: FakeDoor, tools: ModuleType
) -> None:
    second_is_in = threading.Event()
    first: list[threading.Thread] = []

    def answer(arguments: dict[str, Any]) -> Any:
        if arguments["n"] == 0:
            first.append(threading.current_thread())
            second_is_in.wait(timeout=20)
            return unreachable()
        second_is_in.set()
        if first and first[0] is not threading.main_thread():
            first[0].join(timeout=20)  # until the first slot's error is known
        return ""

    fake_door.answers("echo", answer)
    with pytest.raises(DoorError):
        tools.fan_out(tools.echo, [{"n": n} for n in range(20)], limit=2)
    if first[0] is not threading.main_thread():
        assert len(fake_door.calls) == 2


def test_an_interrupt_in_a_fan_out_begins_no_further_call(fake_door: FakeDoor, tools: ModuleType) -> None:
    def interrupted(arguments: dict[str, Any]) -> str:
        if arguments["n"] == 0:
            raise KeyboardInterrupt
        return ""

    fake_door.answers("echo", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tools.fan_out(tools.echo, [{"n": n} for n in range(50)], limit=1)
    assert len(fake_door.calls) == 1


def test_a_cancelled_call_under_asyncio_is_cancelled(fake_door: FakeDoor, tools: ModuleType) -> None:
    fake_door.answers("echo", late("never", 3600))

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(tools.aio.fan_out(tools.aio.echo, [{"n": 1}] * 3), 0.01)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


def test_asyncio_functions_are_told_as_the_others_are(tools: ModuleType) -> None:
    assert tools.aio.echo.__name__ == "echo"
    assert tools.aio.echo.__doc__ == tools.echo.__doc__


SCHEMA: dict[str, Any] = ECHO.input_schema | {"additionalProperties": False}  # type: ignore[operator]
WRONG = [
    ({}, (), {}),
    ({"n": 1, "m": 2}, (), {"n": 1, "m": 2}),
    ({}, (1,), {"argument 1 without a name": 1}),
    ({"n": 1}, (2, "x"), {"n": 1, "argument 1 without a name": 2, "argument 2 without a name": "x"}),
]


@pytest.mark.parametrize("under_asyncio", [False, True])
@pytest.mark.parametrize(("given", "positional", "asked"), WRONG)
def test_what_a_tool_does_not_take_is_asked_of_the_door_as_it_was_given(
    fake_door: FakeDoor,
    given: dict[str, Any],
    positional: tuple[Any, ...],
    asked: dict[str, Any],
    under_asyncio: bool,
) -> None:
    fake_door.answers("echo", "")
    tools = load_stubs(render([ToolDeclaration("echo", "Say it again.", SCHEMA)]))
    call = (lambda *a, **k: asyncio.run(tools.aio.echo(*a, **k))) if under_asyncio else tools.echo
    call(*positional, **given)
    assert fake_door.calls == [("echo", asked)]


@pytest.mark.parametrize("under_asyncio", [False, True])
def test_a_misspelt_argument_that_the_schema_would_let_through_is_an_error_and_no_call(
    fake_door: FakeDoor, tools: ModuleType, under_asyncio: bool
) -> None:
    call = (lambda *a, **k: asyncio.run(tools.aio.echo(*a, **k))) if under_asyncio else tools.echo
    with pytest.raises(TypeError, match="unexpected argument 'm'; it takes n"):
        call(n=1, m=2)
    with pytest.raises(TypeError, match="takes its arguments by name; it takes n"):
        call(1)
    assert fake_door.calls == []
    fake_door.answers("echo", "")
    call()  # what is missing, the schema requires
    assert fake_door.calls == [("echo", {})]


@pytest.mark.parametrize("under_asyncio", [False, True])
def test_a_tool_that_is_not_there_is_asked_of_the_door(
    fake_door: FakeDoor, tools: ModuleType, under_asyncio: bool
) -> None:
    module = tools.aio if under_asyncio else tools
    found = module.bash(command="ls")
    found = asyncio.run(found) if under_asyncio else found
    assert (found.refusal.gate, found.ok) == ("grant", False)
    assert fake_door.calls == [("bash", {"command": "ls"})]
    fan_out = tools.aio.fan_out if under_asyncio else tools.fan_out
    several = fan_out(module.bash, [{"command": "a"}, {"command": "b"}])
    several = asyncio.run(several) if under_asyncio else several
    assert [each.refusal.gate for each in several] == ["grant"] * 2


def test_to_whoever_only_asks_a_tool_that_is_not_there_is_not_there(
    fake_door: FakeDoor, tools: ModuleType
) -> None:
    for module in (tools, tools.aio):
        assert not hasattr(module, "bash")
        assert getattr(module, "bash", None) is None
        assert "bash" not in dir(module)
        assert hasattr(module, "echo")
        with pytest.raises(AttributeError, match="Granted: echo"):
            operator.attrgetter("bash")(module)
        for private in ("_bash", "__bash__", "__path__", "__wrapped__"):
            with pytest.raises(AttributeError, match=f"has no {private}$"):
                getattr(module, private)
        with pytest.raises(AttributeError, match=r"has no _bash$"):
            _ = module._bash
    with pytest.raises(AttributeError, match="did you mean fan_out"):
        _ = tools.fanout
    with pytest.raises(AttributeError, match="did you mean Result"):
        _ = tools.Results
    assert fake_door.calls == []
