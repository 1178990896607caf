"""What the hints of a tool function promise: checked returns, types of pydantic, methods."""

from __future__ import annotations

import datetime as dt
import enum
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import jsonschema_rs
import pytest
from pydantic import BaseModel, Field, PositiveInt, SecretStr
from pydantic.dataclasses import dataclass as pydantic_dataclass

from litany_engine.door.calls import Capture, Tool
from litany_engine.tools.function_tool import ToolDefinitionError, tool
from litany_runtime.outcome import Outcome
from tool_kit import context_in, run_tool

NAIVE = dt.datetime.fromisoformat("2026-01-02")


class Colour(enum.Enum):
    RED = "red"


class Size(enum.IntEnum):
    BIG = 3


@dataclass
class Point:
    x: int
    y: int = 0


class Options(TypedDict):
    depth: int
    name: NotRequired[str]


class Pair(BaseModel):
    left: Annotated[int, Field(ge=0)]
    right: int = Field(default=1, alias="Right")


class Box(BaseModel):
    pairs: list[Pair]
    when: dt.date | None = None


@pydantic_dataclass
class Checked:
    n: PositiveInt


@dataclass
class Holder:
    pair: Pair
    n: Annotated[int, Field(le=9)] = 1


def call(each: Tool, given: Any, tmp_path: Path) -> Capture:
    return run_tool(each, given, context_in(tmp_path))


def returning(hint: Any, value: Any) -> Tool:
    def f() -> Any:
        return value

    f.__annotations__ = {"return": hint}
    return tool(f)


RIGHT: list[tuple[Any, Any, bytes, Any]] = [
    (int, 3, b"3", 3),
    (int, Size.BIG, b"3", 3),
    (float, 3, b"3", 3),
    (bool, False, b"false", False),
    (str, "text", b"text", None),
    (bytes, b"\xff", b"\xff", None),
    (None, None, b"", None),
    (int | None, None, b"", None),
    (int | str, "text", b"text", None),
    (int | str, 3, b"3", 3),
    (str | None, None, b"", None),
    (Literal["a", 1], "a", b"a", "a"),
    (Colour, Colour.RED, b'"red"', "red"),
    (Point, Point(1), b'{"x": 1, "y": 0}', {"x": 1, "y": 0}),
    (Options, {"depth": 1}, b'{"depth": 1}', {"depth": 1}),
    (dt.date, dt.date(2026, 1, 2), b'"2026-01-02"', "2026-01-02"),
    (dt.datetime, NAIVE, b'"2026-01-02T00:00:00"', "2026-01-02T00:00:00"),
    (dt.timedelta, dt.timedelta(seconds=0.5), b'"PT0.5S"', "PT0.5S"),
    (Path, Path("/a"), b'"/a"', "/a"),
    (list[Point], [Point(1, 2)], b'[{"x": 1, "y": 2}]', [{"x": 1, "y": 2}]),
    (Annotated[int, "how many"], 3, b"3", 3),
    (Annotated[int, Field(ge=1)], 3, b"3", 3),
    (Pair, Pair(left=1, Right=2), b'{"left": 1, "Right": 2}', {"left": 1, "Right": 2}),
    (Box, {"pairs": [], "when": None}, b'{"pairs": [], "when": null}', {"pairs": [], "when": None}),
    (Box, Box(pairs=[], when=dt.date(2026, 1, 2)), b'{"pairs": [], "when": "2026-01-02"}', {"pairs": [], "when": "2026-01-02"}),
    (list[Pair] | None, None, b"", None),
    (Checked, Checked(n=2), b'{"n": 2}', {"n": 2}),
    (Any, object.__name__, b"object", None),
    (Any, [1], b"[1]", [1]),
    (int, Capture(stdout=b"own"), b"own", None),
]  # fmt: skip

WRONG: list[tuple[Any, Any, str]] = [
    (int, "no", "of type str, is not what its return hint promises, int"),
    (int, 1.5, "of type float"),
    (int, None, "of type NoneType"),
    (bool, 1, "of type int"),
    (str, 5, "of type int, is not what its return hint promises, str"),
    (str, None, "of type NoneType"),
    (str, b"x", "of type bytes"),
    (bytes, "x", "of type str"),
    (None, 5, "of type int"),
    (int | str, [1], "of type list"),
    (str | None, 3, "of type int"),
    (int | None, "x", "of type str"),
    (Literal["a"], "b", "of type str"),
    (Colour, "blue", "of type str"),
    (Point, {"x": "one"}, "$['x']"),
    (list[int], [1, "two"], "$[1]"),
    (dict[str, int], {"a": None}, "$['a']"),
    (Options, {}, "depth"),
    (dt.date, "yesterday", "of type str"),
    (list[dt.datetime], [NAIVE, "never"], "`$[1]`"),
    (Capture, "text", "of type str"),
    (Annotated[int, Field(ge=1)], 0, "of type int"),
    (Pair, {"left": -1}, "$['left']"),
    (Pair, "text", "of type str"),
    (Box, Pair(left=1), "pairs"),
]


@pytest.mark.parametrize(("hint", "value", "stdout", "data"), RIGHT)
def test_a_return_that_keeps_its_hint_is_the_result(
    tmp_path: Path, hint: Any, value: Any, stdout: bytes, data: Any
) -> None:
    capture = call(returning(hint, value), {}, tmp_path)
    assert (capture.outcome, capture.stdout, capture.data) == (None, stdout, data)


@pytest.mark.parametrize(("hint", "value", "words"), WRONG)
def test_a_return_that_breaks_its_hint_is_a_fault_of_the_tool(
    tmp_path: Path, hint: Any, value: Any, words: str
) -> None:
    capture = call(returning(hint, value), {}, tmp_path)
    assert (capture.outcome, capture.data) == (Outcome.FAULTED, None)
    assert words in capture.reason
    assert f"({__file__}:" in capture.reason


def test_types_of_pydantic_are_parameters(tmp_path: Path) -> None:
    seen: list[Any] = []

    @tool
    def f(
        box: Box,
        count: Annotated[int, Field(ge=1, le=5, description="how many")],
        holder: Holder,
        checked: Checked,
        secret: SecretStr,
        pairs: list[Pair] | None = None,
        size: int = Field(default=3, lt=10, description="how large"),
        when: dt.date = Field(default_factory=lambda: dt.date(2026, 1, 1)),  # noqa: B008 - as people write it
        name: str = Field(min_length=2),
    ) -> None:
        seen.append((box, count, holder, checked, secret, pairs, size, when, name))

    schema = f.declaration.input_schema
    assert schema["required"] == ["box", "count", "holder", "checked", "secret", "name"]
    assert schema["properties"]["count"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 5,
        "description": "how many",
    }
    assert schema["properties"]["size"]["default"] == 3
    assert schema["properties"]["size"]["description"] == "how large"
    assert "Pair" in schema["$defs"]
    check = jsonschema_rs.validator_for(dict(schema))
    given: dict[str, Any] = {
        "box": {"pairs": [{"left": 1}], "when": "2026-01-02"},
        "count": 2,
        "holder": {"pair": {"left": 0, "Right": 7}},
        "checked": {"n": 1},
        "secret": "x",
        "name": "ab",
    }
    assert check.is_valid(given)
    assert call(f, given, tmp_path).outcome is None
    box, count, holder, checked, secret, pairs, size, when, name = seen[0]
    assert box == Box(pairs=[Pair(left=1)], when=dt.date(2026, 1, 2))
    assert (count, holder, checked.n, pairs, size) == (2, Holder(Pair(left=0, Right=7)), 1, None, 3)
    assert (secret.get_secret_value(), when, name) == ("x", dt.date(2026, 1, 1), "ab")
    wrongs: list[dict[str, Any]] = [
        {"count": 0}, {"size": 10}, {"checked": {"n": 0}}, {"box": {"pairs": [{"left": -1}]}}, {"name": "a"},
        {"holder": {"pair": {"left": 0}, "n": 10}}, {"pairs": [{}]},
    ]  # fmt: skip
    for wrong in wrongs:
        assert not check.is_valid({**given, **wrong})
        capture = call(f, {**given, **wrong}, tmp_path)
        assert (capture.exit_code, len(seen)) == (1, 1)
        assert f"`$.{next(iter(wrong))}`".encode() in capture.stderr
        assert b"errors.pydantic.dev" not in capture.stderr


def test_two_types_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    def made(kind: type) -> type[BaseModel]:
        class Item(BaseModel):
            value: kind  # type: ignore[valid-type]

        Item.model_rebuild(_types_namespace={"kind": kind})
        return Item

    def f(a: Any, b: Any) -> list[Any]:
        return [a.value, b.value]

    f.__annotations__ = {"a": made(int), "b": made(str), "return": list[Any]}
    each = tool(f)
    check = jsonschema_rs.validator_for(dict(each.declaration.input_schema))
    assert check.is_valid({"a": {"value": 1}, "b": {"value": "x"}})
    assert not check.is_valid({"a": {"value": "x"}, "b": {"value": "x"}})
    assert call(each, {"a": {"value": 1}, "b": {"value": "x"}}, tmp_path).data == [1, "x"]


def test_without_pydantic_nothing_of_it_is_imported() -> None:
    code = (
        "import sys\nfrom litany_engine import tool\n@tool\ndef f(n: int) -> int:\n    return n\n"
        "print('pydantic' in sys.modules, f.declaration.output_schema)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False {'type': 'integer'}\n"


class Store:
    """Has methods that may be tools."""

    def __init__(self, start: int) -> None:
        self.start = start

    def add(self, n: int) -> int:
        """Adds."""
        return self.start + n

    @classmethod
    def make(cls, n: int) -> str:
        """Makes."""
        return f"{cls.__name__} {n}"

    @staticmethod
    def double(n: int) -> int:
        """Doubles."""
        return 2 * n


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (Store.add, "tools=[tool(store.add)]"),
        (Store.__dict__["make"], "tool(Store.make)"),
        (Store.make.__func__, "tools=[tool(Store.make)]"),  # type: ignore[attr-defined]
    ],
)
def test_a_method_is_told_how_to_bind_it(method: Callable[..., Any], words: str) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        tool(method)
    assert words in str(caught.value)
    assert "is a method" in str(caught.value)


@pytest.mark.parametrize(
    ("method", "data"),
    [(Store(3).add, 5), (Store.make, None), (Store.double, 4), (Store.__dict__["double"], 4)],
)
def test_a_bound_method_is_a_tool(tmp_path: Path, method: Callable[..., Any], data: Any) -> None:
    each = tool(method)
    assert list(each.declaration.input_schema["properties"]) == ["n"]
    assert call(each, {"n": 2}, tmp_path).data == data
