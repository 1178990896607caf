"""A Python function as a tool: what the model is shown, what the function gets, what comes back."""

from __future__ import annotations

import contextvars
import datetime as dt
import enum
import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict
from uuid import UUID

import jsonschema_rs
import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from door_kit import make_place, record_of
from litany_engine.door.calls import CallEnd, Capture, Context, Tool, ToolCall
from litany_engine.door.door import Door
from litany_engine.tools import in_process
from litany_engine.tools.definitions import Traits
from litany_engine.tools.function_tool import ToolContext, ToolDefinitionError, tool
from litany_engine.tools.toolset import toolset
from litany_runtime.outcome import Outcome
from litany_stubs.words import ToolDeclaration
from tool_kit import AGENT, context_in, run_tool, wait_until


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int = 0


class Options(TypedDict):
    depth: int
    name: NotRequired[str]


class Node(msgspec.Struct):
    value: int
    children: list[Node] = []


def call(each: Tool, given: Any, tmp_path: Path, **fields: Any) -> Capture:
    return run_tool(each, given, context_in(tmp_path, **fields))


def test_name_description_and_schema_come_from_the_function() -> None:
    @tool
    def find_files(
        pattern: str, folder: Path, limit: int = 10, *, kinds: list[Literal["f", "d"]] | None = None
    ) -> None:
        """Find files by name.

        Looks into folders, too.

        Args:
            pattern: a glob.
            folder: where to begin.
            limit: how many at most.
        """

    declaration = find_files.declaration
    assert declaration.name == "find_files"
    assert declaration.description == "Find files by name.\n\nLooks into folders, too."
    assert declaration.input_schema == {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "a glob."},
            "folder": {"type": "string", "description": "where to begin."},
            "limit": {"type": "integer", "description": "how many at most.", "default": 10},
            "kinds": {
                "anyOf": [{"type": "array", "items": {"enum": ["d", "f"]}}, {"type": "null"}],
                "default": None,
            },
        },
        "required": ["pattern", "folder"],
        "additionalProperties": False,
    }
    assert declaration.output_schema is None


def test_name_and_description_can_be_given() -> None:
    @tool(name="a.b-c", description="told")
    def function() -> None:
        """Doc."""

    assert (function.declaration.name, function.declaration.description) == ("a.b-c", "told")


def test_constraints_and_descriptions_ride_on_annotated() -> None:
    @tool
    def f(count: Annotated[int, msgspec.Meta(ge=1, le=9)], size: Annotated[int, "in bytes"]) -> None:
        """Doc.

        Args:
            size: not this.
        """

    properties = f.declaration.input_schema["properties"]
    assert properties["count"] == {"type": "integer", "minimum": 1, "maximum": 9}
    assert properties["size"] == {"type": "integer", "description": "in bytes"}


def test_a_tool_made_of_a_function_is_still_the_function(tmp_path: Path) -> None:
    @tool
    def double(n: int) -> int:
        return 2 * n

    assert double(4) == 8
    assert call(double, {"n": 4}, tmp_path).data == 8


@pytest.mark.parametrize(
    ("hint", "sent", "got"),
    [
        (int, 5, 5),
        (int, 5.0, 5),
        (float, 5, 5.0),
        (str, "a", "a"),
        (bool, True, True),
        (Any, {"a": [None]}, {"a": [None]}),
        (int | None, None, None),
        (int | str, "5", "5"),
        (Literal["a", 1], 1, 1),
        (Colour, "blue", Colour.BLUE),
        (list[int], [1, 2.0], [1, 2]),
        (dict[str, float], {"a": 1}, {"a": 1.0}),
        (tuple[int, str], [1, "a"], (1, "a")),
        (set[int], [1], {1}),
        (Point, {"x": 1}, Point(1, 0)),
        (list[Point], [{"x": 1.0, "y": 2}], [Point(1, 2)]),
        (Options, {"depth": 1}, {"depth": 1}),
        (Node, {"value": 1, "children": [{"value": 2}]}, Node(1, [Node(2)])),
        (Path, "a/b", Path("a/b")),
        (list[Path], ["a"], [Path("a")]),
        (dt.date, "2026-01-02", dt.date(2026, 1, 2)),
        (UUID, "12345678-1234-5678-1234-567812345678", UUID("12345678-1234-5678-1234-567812345678")),
        (bytes, "eA==", b"x"),
    ],
)
def test_the_function_gets_what_its_hint_says(hint: Any, sent: Any, got: Any, tmp_path: Path) -> None:
    seen = []

    def f(value):  # type: ignore[no-untyped-def]
        seen.append(value)

    f.__annotations__ = {"value": hint}
    each = tool(f)
    assert jsonschema_rs.validator_for(dict(each.declaration.input_schema)).is_valid({"value": sent})
    capture = call(each, {"value": sent}, tmp_path)
    assert capture == Capture()
    assert seen == [got]
    assert type(seen[0]) is type(got)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "missing required field `n`"),
        ({"n": "5"}, "Expected `int`, got `str` - at `$.n`"),
        ({"n": 5.5}, "Expected `int`, got `float`"),
        ({"n": 1, "m": 2}, "unknown field `m`"),
        ([], "Expected `object`, got `array`"),
        ({"n": 2**70}, "`$.n`"),
    ],
)
def test_an_input_that_the_hints_do_not_take_is_a_failed_call(
    given: Any, message: str, tmp_path: Path
) -> None:
    ran = []

    @tool
    def f(n: Annotated[int, msgspec.Meta(le=2**60)]) -> None:
        ran.append(n)

    capture = call(f, given, tmp_path)
    assert capture.exit_code == 1
    assert capture.stderr.decode().startswith("f: ")
    assert message in capture.stderr.decode()
    assert not ran


def test_a_default_is_the_functions_own_object(tmp_path: Path) -> None:
    default = object()
    seen = []

    @tool
    def f(value: Any = default, other: list[int] = [1]) -> None:  # noqa: B006 - a default as people write it
        seen.append((value, other))

    assert call(f, {}, tmp_path).exit_code == 0
    assert seen[0][0] is default
    assert f.declaration.input_schema["properties"] == {
        "value": {},
        "other": {"type": "array", "items": {"type": "integer"}, "default": [1]},
    }
    assert f.declaration.input_schema["required"] == []


def test_through_the_door_a_default_stays_the_functions_own_object(tmp_path: Path) -> None:
    default = [1]
    seen = []

    @tool
    def f(value: list[int] = default) -> None:
        seen.append(value)

    place = make_place(tmp_path)
    place.toolset = toolset([f])
    trio.run(Door().invoke, "f", {}, place.caller())
    assert seen[0] is default


@pytest.mark.parametrize(
    ("returned", "stdout", "data"),
    [
        ("text é", "text é".encode(), None),
        ("bad \udc80", b"bad \\udc80", None),
        (b"\xff", b"\xff", None),
        (None, b"", None),
        (0, b"0", 0),
        (False, b"false", False),
        ([1, "é"], '[1, "é"]'.encode(), [1, "é"]),
        ({"a": None}, b'{"a": null}', {"a": None}),
        (Point(1), b'{"x": 1, "y": 0}', {"x": 1, "y": 0}),
        (Colour.RED, b'"red"', "red"),
        ((1, 2), b"[1, 2]", [1, 2]),
        ({"p": Path("/a")}, b'{"p": "/a"}', {"p": "/a"}),
        (dt.date(2026, 1, 2), b'"2026-01-02"', "2026-01-02"),
        (Capture(b"o", b"e", 3, {"a": 1}), b"o", {"a": 1}),
    ],
)
def test_what_it_returns_becomes_the_capture(returned: Any, stdout: bytes, data: Any, tmp_path: Path) -> None:
    @tool
    def f() -> Any:
        return returned

    capture = call(f, {}, tmp_path)
    assert (capture.stdout, capture.data) == (stdout, data)
    assert capture.outcome is None
    assert capture.exit_code == (3 if isinstance(returned, Capture) else 0)


def cyclic() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (object(), "type object"),
        ({"a": [math.nan]}, ".a[0]"),
        (math.inf, "inf"),
        ({1: 2}, "key"),
        (2**70, "64 bits"),
        (cyclic(), "contains itself"),
        (Capture(data={"a": object()}), "type object"),
        (Capture(data=math.nan), "nan"),
        ({"a": "\udc80"}, "surrogate"),
        (lambda: None, "function"),
    ],
)
def test_an_answer_that_is_no_json_is_a_fault_that_says_where(
    returned: Any, message: str, tmp_path: Path
) -> None:
    @tool
    def f() -> Any:
        return returned

    capture = call(f, {}, tmp_path)
    assert capture.outcome is Outcome.FAULTED
    assert "f ran to its end, but its answer is no JSON" in capture.reason
    assert message in capture.reason


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**63)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    )
)
def test_any_json_goes_in_and_comes_back_as_it_is(value: Any) -> None:
    @tool
    async def echo(value: Any) -> Any:
        return {"value": value}

    assert run_tool(echo, {"value": value}, context_in(Path("/nowhere"), cwd=Path("/"))).data == {
        "value": value
    }


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (int, {"type": "integer"}),
        (list[Point], {"type": "array", "items": {"$ref": "#/$defs/Point"}}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (str, None),
        (str | None, None),
        (None, None),
        (Any, None),
        (Capture, None),
        (Capture | dict[str, int], None),
        (Annotated[str, "text"], None),
        (Iterator[int], None),
    ],
)
def test_a_return_hint_that_promises_data_is_the_output_schema(hint: Any, schema: Any) -> None:
    def f():  # type: ignore[no-untyped-def]
        pass

    f.__annotations__ = {"return": hint}
    shown = tool(f).declaration.output_schema
    assert (None if shown is None else {k: v for k, v in shown.items() if k != "$defs"}) == schema


def test_what_it_raises_is_a_failed_call_without_a_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    @tool
    def f() -> None:
        raise LookupError("no such thing")

    with caplog.at_level(logging.DEBUG, "litany.tool"):
        capture = call(f, {}, tmp_path)
    assert capture == Capture(stderr=b"f: LookupError: no such thing\n", exit_code=1)
    assert "Traceback" in caplog.text  # the tool's author finds it in the log


class BrokenError(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (SystemExit(3), "f: SystemExit: 3\n"),
        (KeyboardInterrupt("mine"), "f: KeyboardInterrupt: mine\n"),
        (GeneratorExit("mine"), "f: GeneratorExit: mine\n"),
        (BaseException("mine"), "f: BaseException: mine\n"),
        (
            BaseExceptionGroup("several", [SystemExit(1)]),
            "f: BaseExceptionGroup: several (1 sub-exception)\n",
        ),
        (BrokenError(), "f: BrokenError: (its message cannot be read)\n"),
        (ValueError("x" * 10_000), f"f: ValueError: {'x' * 4096} […]\n"),
        (ValueError("\udc80"), "f: ValueError: \\udc80\n"),
        (ExceptionGroup("several", [ValueError("a")]), "f: ExceptionGroup: several (1 sub-exception)\n"),
    ],
)
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_no_exception_reaches_the_door(error: BaseException, message: str, kind: str, tmp_path: Path) -> None:
    def f() -> None:
        raise error

    async def g() -> None:
        raise error

    capture = call(tool(name="f")(f if kind == "sync" else g), {}, tmp_path)
    assert capture.stderr.decode() == message


@pytest.mark.parametrize("in_nursery", [True, False])
def test_a_stop_is_never_taken_for_the_tools_own_failure(*, in_nursery: bool, tmp_path: Path) -> None:
    @tool
    async def f() -> None:
        if in_nursery:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.sleep_forever)
                nursery.start_soon(trio.sleep_forever)
        await trio.sleep_forever()

    async def main() -> list[Capture]:
        ends = []
        with trio.move_on_after(0.05):
            ends.append(await f.execute(ToolCall("call_1", "f", {}), context_in(tmp_path)))
        return ends

    assert trio.run(main) == []


def test_a_function_may_ask_who_called(tmp_path: Path) -> None:
    seen: list[ToolContext] = []
    reports = []

    @tool
    def f(n: int, who: ToolContext) -> None:
        who.report("half", 0.5)
        seen.append(who)

    assert list(f.declaration.input_schema["properties"]) == ["n"]
    context = context_in(tmp_path, report=lambda *args: reports.append(args))
    assert run_tool(f, {"n": 1}, context).exit_code == 0
    (who,) = seen
    assert (who.agent, who.call_id, who.cwd) == (AGENT, "call_1", context.cwd)
    assert (who.deadline, who.remaining_s()) == (math.inf, math.inf)
    assert reports == [("half", 0.5)]


def test_a_parameter_named_context_without_a_hint_gets_it() -> None:
    @tool
    def f(context):  # type: ignore[no-untyped-def]
        pass

    @tool
    def g(context: str) -> None:
        pass

    assert f.declaration.input_schema["properties"] == {}
    assert g.declaration.input_schema["properties"] == {"context": {"type": "string"}}


def test_the_deadline_is_told_on_the_monotonic_clock(tmp_path: Path) -> None:
    @tool
    async def f(context: ToolContext) -> list[float]:
        return [context.deadline - time.monotonic(), context.remaining_s()]

    async def main() -> Capture:
        context = context_in(tmp_path, deadline=trio.current_time() + 100)
        return await f.execute(_call(f), context)

    left, remaining = trio.run(main).data
    assert 99 < left <= 100
    assert 99 < remaining <= 100


def _call(each: Tool) -> Any:
    from litany_engine.door.calls import ToolCall

    return ToolCall("call_1", each.declaration.name, {})


def test_a_sync_function_runs_beside_the_loop_and_is_abandoned_when_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_process, "GRACE_S", 0.01)
    began, may_end, saw_the_stop = threading.Event(), threading.Event(), threading.Event()

    @tool
    def f(context: ToolContext) -> None:
        began.set()
        may_end.wait(10)
        if context.stopped():
            saw_the_stop.set()

    async def main() -> Capture:
        ends = []
        with trio.CancelScope() as scope:

            async def run() -> None:
                ends.append(await f.execute(_call(f), context_in(tmp_path)))

            async with trio.open_nursery() as nursery:
                nursery.start_soon(run)
                while not began.is_set():
                    await trio.lowlevel.checkpoint()
                scope.cancel()
        return ends[0]

    try:
        assert trio.run(main).exit_code == 143
    finally:
        may_end.set()
    assert saw_the_stop.wait(10)


@pytest.mark.parametrize("returned", ["so far", None, "raised"])
def test_a_sync_function_that_sees_that_it_is_to_end_is_waited_for(
    returned: str | None, tmp_path: Path
) -> None:
    @tool
    def f(context: ToolContext) -> str | None:
        while not context.stopped():
            time.sleep(0.001)
        if returned == "raised":
            raise ValueError(returned)
        return returned

    async def main() -> list[Capture]:
        ends = []
        with trio.move_on_after(0.01):
            ends.append(await f.execute(_call(f), context_in(tmp_path)))
        return ends

    (end,) = trio.run(main)
    shown = b"ValueError: raised" if returned == "raised" else (returned or "").encode()
    assert shown in end.stdout + end.stderr
    assert end.exit_code in {1, 143}  # not 0: it did not end by itself
    assert b"left behind" not in end.stderr


def test_abandoned_functions_do_not_take_the_place_of_later_ones(tmp_path: Path) -> None:
    hang = threading.Event()

    @tool
    def stuck() -> None:
        hang.wait(20)

    @tool
    def quick() -> str:
        return "done"

    async def main() -> Capture:
        with trio.move_on_after(0.01):
            async with trio.open_nursery() as nursery:
                for _ in range(60):
                    nursery.start_soon(stuck.execute, _call(stuck), context_in(tmp_path))
        with trio.fail_after(5):
            return await quick.execute(_call(quick), context_in(tmp_path))

    try:
        assert trio.run(main).stdout == b"done"
    finally:
        hang.set()


def test_an_async_function_is_cancelled(tmp_path: Path) -> None:
    cleaned = []

    @tool
    async def f() -> None:
        try:
            await trio.sleep_forever()
        finally:
            cleaned.append(True)

    async def main() -> bool:
        with trio.move_on_after(0.01) as scope:
            await f.execute(_call(f), context_in(tmp_path))
        return scope.cancelled_caught

    assert trio.run(main)
    assert cleaned == [True]


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_what_does_not_end_when_it_is_told_to_is_left_behind_and_the_call_says_so(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_process, "GRACE_S", 0.05)
    may_end, left = threading.Event(), []

    @tool(name="f")
    def deaf() -> str:
        may_end.wait(20)
        left.append("late")
        return "late"

    @tool(name="f")
    async def shielded() -> str:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(may_end.wait, 20)
        left.append("late")
        return "late"

    function = deaf if kind == "sync" else shielded

    async def main() -> list[Capture]:
        ends = []
        with trio.move_on_after(0.01):
            ends.append(await function.execute(_call(function), context_in(tmp_path)))
        may_end.set()
        await wait_until(lambda: left)
        return ends

    try:
        (end,) = trio.run(main)
    finally:
        may_end.set()
    assert (end.stdout, end.exit_code) == (b"", 143)
    assert b"left behind" in end.stderr


def test_an_async_function_that_fails_after_it_was_left_behind_harms_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_process, "GRACE_S", 0.01)

    @tool
    async def f() -> None:
        with trio.CancelScope(shield=True):
            await trio.sleep(0.05)
        raise SystemExit(3)

    async def main() -> str:
        with trio.move_on_after(0.01):
            await f.execute(_call(f), context_in(tmp_path))
        await trio.sleep(0.1)
        return "went on"

    assert trio.run(main) == "went on"


def test_what_an_async_function_answers_to_its_cancellation_is_kept(tmp_path: Path) -> None:
    @tool
    async def f() -> Capture:
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            return Capture(stdout=b"so far", exit_code=9)

    async def main() -> list[Capture]:
        ends = []
        with trio.move_on_after(0.01):
            ends.append(await f.execute(_call(f), context_in(tmp_path)))
        return ends

    (end,) = trio.run(main)
    assert (end.stdout, end.exit_code) == (b"so far", 9)


def test_an_async_function_has_the_context_variables_of_its_caller(tmp_path: Path) -> None:
    variable = contextvars.ContextVar("variable", default="unset")

    @tool
    async def f() -> str:
        return variable.get()

    async def main() -> Capture:
        variable.set("set")
        return await f.execute(_call(f), context_in(tmp_path))

    assert trio.run(main).stdout == b"set"


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_nothing_begins_for_a_call_that_is_cancelled_already(kind: str, tmp_path: Path) -> None:
    ran = []

    @tool(name="f")
    def sync() -> None:
        ran.append("sync")

    @tool(name="f")
    async def asynchronous() -> None:
        await trio.lowlevel.checkpoint()
        ran.append("async")

    function = sync if kind == "sync" else asynchronous

    async def main() -> bool:
        with trio.CancelScope() as scope:
            scope.cancel()
            await function.execute(_call(function), context_in(tmp_path))
        return scope.cancelled_caught

    assert trio.run(main)
    assert ran == []


def variable(*args: int) -> None: ...
def keywords(**kwargs: int) -> None: ...
def positional(a: int, /) -> None: ...
def unhinted(a) -> None: ...  # type: ignore[no-untyped-def]
def no_json(a: complex) -> None: ...
def two_arrays(a: list[int] | set[str]) -> None: ...
def unknown(a: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def été(a: int) -> None: ...  # noqa: PLC2401
def generator() -> Iterator[int]:
    yield 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (variable, r"\*args cannot be one: write them out"),
        (keywords, r"\*\*kwargs cannot be one"),
        (positional, "'a' cannot be positional: drop the '/'"),
        (unhinted, "parameter 'a' needs a type hint"),
        (no_json, "parameter 'a' has a type that no JSON stands for.*complex"),
        (two_arrays, "parameter 'a' has a type that no JSON stands for.*more than one array"),
        (unknown, "type hints cannot be read.*Missing"),
        (été, "tool name 'été'.*give another"),
        (lambda: None, "tool name '<lambda>'"),
        (generator, "is a generator"),
        (Point, "needs a function"),
        (7, "needs a function"),
        (tool(test_name_and_description_can_be_given), "needs a function"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_when_it_is_defined(
    function: Callable[..., Any], message: str
) -> None:
    with pytest.raises(ToolDefinitionError, match=message):
        tool(function)


@pytest.mark.parametrize("name", ["", "a" * 65, "-a", ".a", "a b", "a/b", "a\n", "é", "a\0"])
def test_a_name_outside_the_grammar_is_refused(name: str) -> None:
    with pytest.raises(ToolDefinitionError, match="a name has 1 to 64 letters"):
        tool(name=name)(variable)


@pytest.mark.parametrize("name", ["from", "None", "x-y", "a.b", "_", "9", "A" * 64])
def test_a_name_that_python_cannot_spell_is_a_name(name: str) -> None:
    assert tool(name=name)(generator_free).declaration.name == name


def generator_free() -> None: ...


def test_a_function_tool_says_what_the_schedule_goes_by() -> None:
    @tool(traits=Traits(concurrency_safe=False))
    def f() -> None: ...

    @tool
    def g() -> None: ...

    assert not f.traits.is_concurrency_safe({})
    assert g.traits.is_concurrency_safe({})


def test_data_that_breaks_its_output_schema_is_a_recorded_fault_of_the_tool(tmp_path: Path) -> None:
    @tool
    def count(what: str) -> dict[str, int]:
        """Counts."""
        return {"good": {"n": 1}, "bad": {"n": "one"}}.get(what)  # type: ignore[return-value]

    place = make_place(tmp_path)
    place.toolset = toolset([count])

    async def main() -> list[CallEnd]:
        return [
            await Door().invoke("count", {"what": each}, place.caller()) for each in ("good", "bad", "no")
        ]

    good, bad, none = trio.run(main)
    assert (good.outcome, good.data) == (Outcome.COMPLETED, {"n": 1})
    assert (bad.outcome, bad.exit_code, bad.data) == (Outcome.FAULTED, 125, None)
    assert "$['n']" in bad.reason
    assert f"{__file__}:" in bad.reason  # where its author finds it
    assert bad.stdout == b'{"n": "one"}'
    assert record_of(bad.record)["reason"] == bad.reason
    assert (none.outcome, "of type NoneType" in none.reason) == (Outcome.FAULTED, True)


def test_a_failing_capture_promises_no_data_and_a_schema_that_is_none_is_told(tmp_path: Path) -> None:
    async def execute(call: ToolCall, context: Context) -> Capture:
        return Capture(exit_code=call.input["code"], data="x")

    place = make_place(tmp_path)
    place.toolset = toolset([Tool(ToolDeclaration("t", output_schema={"type": "nonsense"}), execute)])

    async def main() -> list[CallEnd]:
        return [await Door().invoke("t", {"code": code}, place.caller()) for code in (0, 3)]

    broken, failed = trio.run(main)
    assert (broken.outcome, "the schema itself is none" in broken.reason) == (Outcome.FAULTED, True)
    assert (failed.outcome, failed.data) == (Outcome.FAILED, "x")


def test_a_replaced_tool_is_held_to_its_own_promise(tmp_path: Path) -> None:
    async def execute(call: ToolCall, context: Context) -> Capture:
        return Capture(data="x")

    def promising(kind: str) -> Tool:
        return Tool(ToolDeclaration("t", output_schema={"type": kind}), execute)

    place = make_place(tmp_path)
    place.toolset = toolset([promising("string")])

    async def main() -> list[Outcome]:
        first = await Door().invoke("t", {}, place.caller())
        place.toolset.registry.replace(promising("integer"))
        return [first.outcome, (await Door().invoke("t", {}, place.caller())).outcome]

    assert trio.run(main) == [Outcome.COMPLETED, Outcome.FAULTED]


@pytest.mark.parametrize("timeout", [10, "10s"])
def test_a_tools_own_timeout_is_the_deadline_of_its_calls(tmp_path: Path, timeout: Any) -> None:
    @tool(timeout=timeout)
    async def wait() -> None:
        await trio.sleep_forever()

    place = make_place(tmp_path)
    place.toolset = toolset([wait])

    async def main() -> tuple[Outcome, float]:
        end = await Door().invoke("wait", {}, place.caller())
        return end.outcome, trio.current_time()

    clock = trio.testing.MockClock(autojump_threshold=0.01)
    outcome, at = trio.run(main, clock=clock)
    assert (outcome, at) == (Outcome.TIMED_OUT, 10)


@pytest.mark.parametrize("timeout", [0, -1, "soon", True])
def test_a_timeout_that_is_none_is_refused_when_the_tool_is_made(timeout: Any) -> None:
    with pytest.raises(ToolDefinitionError, match="timeout"):
        tool(timeout=timeout)(generator_free)
