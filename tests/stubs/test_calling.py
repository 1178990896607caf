"""Many calls at once: from threads, under asyncio, by fan_out; each answer reaches its own caller."""

from __future__ import annotations

import asyncio
import importlib
import json
import operator
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from litany_stubs import client
from litany_stubs.module import load_stubs
from litany_stubs.render import render, write_stubs
from litany_stubs.result import UNSET
from litany_stubs.testing import FakeDoor, failure, late, unreachable
from litany_stubs.words import UNPLACED, DoorError, Reply, ToolDeclaration

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
WRONG: list[tuple[Any, ...]] = [
    ({}, (), {}, ""),
    ({"n": 1, "m": 2}, (), {"n": 1, "m": 2}, ""),
    ({"m": 2}, (1,), {"n": 1, "m": 2}, ""),
    ({"n": 1}, (2, "x"), {"n": 1}, "echo() got multiple values for argument 'n'"),
    ({}, (2, "x"), {"n": 2}, "echo() takes 1 positional argument but 2 were given"),
    ({"n": 1}, (UNSET,), {"n": 1}, "echo() got multiple values for argument 'n'"),
]


@pytest.mark.parametrize("under_asyncio", [False, True])
@pytest.mark.parametrize("lax", [False, True])
@pytest.mark.parametrize(("given", "positional", "asked", "why"), WRONG)
def test_what_a_tool_does_not_take_is_asked_of_the_door_as_it_was_given(
    fake_door: FakeDoor,
    given: dict[str, Any],
    positional: tuple[Any, ...],
    asked: dict[str, Any],
    why: str,
    lax: bool,
    under_asyncio: bool,
) -> None:
    fake_door.answers("echo", "")
    schema = ECHO.input_schema if lax else SCHEMA
    tools = load_stubs(render([ToolDeclaration("echo", "Say it again.", schema)]))
    call = (lambda *a, **k: asyncio.run(tools.aio.echo(*a, **k))) if under_asyncio else tools.echo
    call(*positional, **given)
    ((_, found),) = fake_door.calls
    apart = found.pop(UNPLACED, None)
    if lax and "m" in asked and not why:
        why = "echo() got an unexpected keyword argument 'm'"
        asked = {name: value for name, value in asked.items() if name != "m"}
    assert found == asked
    assert (apart["why"] if apart else "") == why


@pytest.fixture
def pair(fake_door: FakeDoor) -> ModuleType:
    """A tool `pair` that answers what it was given, its optional parameter declared before the required ones."""
    integer = {"type": "integer"}
    schema = {
        "type": "object",
        "properties": {"z": integer, "b": integer, "a": integer},
        "required": ["b", "a"],
    }
    fake_door.answers("pair", json.dumps)
    return load_stubs(render([ToolDeclaration("pair", "Two numbers.", schema)]))


PLACED: list[tuple[tuple[Any, ...], dict[str, Any], dict[str, Any]]] = [
    ((1, 2), {}, {"b": 1, "a": 2}),
    ((1,), {"a": 2}, {"b": 1, "a": 2}),
    ((1, 2, 3), {}, {"b": 1, "a": 2, "z": 3}),
    ((1, 2), {"z": 3}, {"b": 1, "a": 2, "z": 3}),
    ((1, 2, UNSET), {}, {"b": 1, "a": 2}),
]


@pytest.mark.parametrize(("positional", "named", "asked"), PLACED)
def test_positional_arguments_are_sent_by_the_names_of_the_signature(
    fake_door: FakeDoor,
    pair: ModuleType,
    positional: tuple[Any, ...],
    named: dict[str, Any],
    asked: dict[str, Any],
) -> None:
    pair.pair(*positional, **named).check()
    pair.invoke("pair", *positional, **named).check()

    async def main() -> None:
        (await pair.aio.pair(*positional, **named)).check()
        (await pair.aio.invoke("pair", *positional, **named)).check()

    asyncio.run(main())
    if not named and UNSET not in positional:
        for found in pair.fan_out(pair.pair, [positional]), pair.fan_out("pair", [positional]):
            found[0].check()
        for tool in pair.aio.pair, "pair":
            asyncio.run(pair.aio.fan_out(tool, [positional]))[0].check()
    assert [each.input for each in fake_door.calls] == [asked] * len(fake_door.calls)
    assert len(fake_door.calls) >= 4


def test_an_item_of_a_fan_out_that_is_no_tuple_is_the_first_argument(
    fake_door: FakeDoor, tools: ModuleType
) -> None:
    fake_door.answers("echo", echo)
    assert [each.stdout for each in tools.fan_out(tools.echo, [1, {"n": 2}, (3,)])] == ["1", "2", "3"]
    assert [each.stdout for each in tools.fan_out(tools.echo, range(3))] == ["0", "1", "2"]
    for one in ("abc", {"n": 1}, b"x"):
        with pytest.raises(TypeError, match="a list with an item for each call"):
            tools.fan_out(tools.echo, one)


def test_invoke_takes_one_dict_names_or_both(fake_door: FakeDoor, pair: ModuleType) -> None:
    pair.invoke("pair", {"b": 1, "a": 2})
    pair.invoke("pair", {"b": 1}, a=2)
    pair.invoke("pair", b=1, a=2)
    pair.invoke("pair", arguments={"b": 1, "a": 2})
    pair.invoke(name="pair", arguments={"b": 1, "a": 2})
    assert [each.input for each in fake_door.calls] == [{"b": 1, "a": 2}] * 5
    assert "multiple values for argument 'b'" in pair.invoke("pair", {"b": 1}, b=2).refusal.reason
    fake_door.answers("no-function", "")
    assert "takes its arguments by name" in pair.invoke("no-function", 1).refusal.reason
    assert pair.no_such(1).refusal.gate == pair.invoke("no-such", 1).refusal.gate == "grant"


def test_outside_the_sandbox_a_module_refuses_what_it_refuses_inside(
    fake_door: FakeDoor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_stubs([ToolDeclaration("echo", "Say it again.", SCHEMA)], tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "litany_tools", raising=False)
    outside: Any = importlib.import_module("litany_tools")
    monkeypatch.delitem(sys.modules, "litany_tools")
    inside: Any = load_stubs((tmp_path / "litany_tools.py").read_text())
    fake_door.answers("echo", "")
    for module in (outside, inside):
        for positional, named in [((1, 2), {}), ((1,), {"n": 1}), ((), {"m": 1}), ((), {})]:
            module.echo(*positional, **named)
        module.ehco(n=1)
        assert not hasattr(module, "ehco")
    half = len(fake_door.calls) // 2
    assert fake_door.calls[:half] == fake_door.calls[half:]
    assert half == 5


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
