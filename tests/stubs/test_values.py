"""What is JSON's is sent as it is; what is not is refused by name before anything is sent."""

from __future__ import annotations

import datetime as dt
import enum
import ipaddress
import json
import sys
import uuid
from collections import ChainMap, Counter, OrderedDict, UserList, UserString, deque
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path, PurePosixPath
from types import MappingProxyType, ModuleType
from typing import Any, ClassVar, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litany_stubs.client import UNSET
from litany_stubs.testing import FakeDoor
from litany_stubs.values import MAX_INTEGER, MAX_NESTING, MIN_INTEGER, to_json_value

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(MIN_INTEGER, MAX_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=30,
)


@given(json_values)
def test_every_json_value_passes_unchanged(value: Any) -> None:
    assert json.dumps(to_json_value(value, "x")) == json.dumps(value)


class Colour(enum.StrEnum):
    RED = "red"


class Point(NamedTuple):
    x: int
    y: int


class Level(enum.IntEnum):
    HIGH = 3


class Shade(enum.Enum):
    DARK = "dark"
    RGB = (0, 0, 1)


class Access(enum.Flag):
    READ = 1
    WRITE = 2


@dataclass
class Part:
    name: str
    when: dt.date


@dataclass(frozen=True, slots=True)
class Order:
    path: Path
    parts: tuple[Part, ...] = ()
    tags: frozenset[str] = frozenset()


@dataclass
class Loop:
    inside: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.inside.append(self)


class Faked:
    """Says that it is a dataclass, with a field that is none of a dataclass's."""

    __dataclass_fields__: ClassVar[Any] = {"__class__": "field"}


class Sly(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "another"

    def isascii(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, (2,)), [1, [2]]),
        (Point(1, 2), [1, 2]),
        (Colour.RED, "red"),
        ([Colour.RED, "b"], ["red", "b"]),
        (Level.HIGH, 3),
        ([Level.HIGH, 1], [3, 1]),
        (OrderedDict(a=1), {"a": 1}),
        (Counter("aa"), {"a": 2}),
        ({Colour.RED: 1}, {"red": 1}),
        (Sly("as it is"), "as it is"),
        ([True, 1, None], [True, 1, None]),
    ],
)
def test_tuples_and_subclasses_are_taken_by_value(value: Any, expected: Any) -> None:
    found = to_json_value(value, "x")
    assert json.dumps(found) == json.dumps(expected)
    assert type(found) is type(expected)
    if isinstance(found, list):
        assert all(type(each) in {int, str, list, bool, type(None)} for each in found)


DAY = dt.date(2024, 2, 29)
UUID = uuid.UUID(int=7)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Shade.DARK, "dark"),
        ([Shade.RGB], [[0, 0, 1]]),
        ({Shade.DARK: 1}, {"dark": 1}),
        (Access.READ | Access.WRITE, 3),
        (Path("a") / "b.txt", "a/b.txt"),
        (PurePosixPath("/x"), "/x"),
        (DAY, "2024-02-29"),
        (dt.time(12, 30), "12:30:00"),
        (dt.datetime(2024, 2, 29, 12, 30, tzinfo=dt.UTC), "2024-02-29T12:30:00+00:00"),
        (UUID, str(UUID)),
        (ipaddress.ip_address("::1"), "::1"),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", "a"}), ["a", "b"]),
        ({None, "a", 1}, [None, 1, "a"]),
        ({(2, 1), (1, 2)}, [[1, 2], [2, 1]]),
        (range(3), [0, 1, 2]),
        (deque([1, "a"]), [1, "a"]),
        (UserList([DAY]), ["2024-02-29"]),
        (UserString("text"), "text"),
        ({"b": 1, "a": 2}.keys(), ["b", "a"]),
        ({"b": 1, "a": 2}.values(), [1, 2]),
        ({"b": 1}.items(), [["b", 1]]),
        (MappingProxyType({"a": {1}}), {"a": [1]}),
        (ChainMap({"a": 1}, {"b": 2}), {"a": 1, "b": 2}),
        (Part("bolt", DAY), {"name": "bolt", "when": "2024-02-29"}),
        (
            {"order": Order(Path("o"), (Part("nut", DAY),), frozenset("ba"))},
            {"order": {"path": "o", "parts": [{"name": "nut", "when": "2024-02-29"}], "tags": ["a", "b"]}},
        ),
    ],
)
def test_what_has_one_obvious_meaning_is_sent_as_that(value: Any, expected: Any) -> None:
    found = to_json_value(value, "x")
    if isinstance(value, set) and None in value:
        assert sorted(map(str, found)) == sorted(map(str, expected))
    else:
        assert found == expected
    assert to_json_value(json.loads(json.dumps(found)), "x") == found


def test_a_set_is_the_same_call_every_time() -> None:
    mixed = {None, "b", "a", 2, 1.5, (1, 2)}
    assert to_json_value(mixed, "x") == to_json_value(dict.fromkeys([*mixed][::-1]).keys() | set(), "x")


def test_values_of_numpy_are_plain_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    class Generic:
        def __init__(self, plain: Any) -> None:
            self.plain = plain

        def tolist(self) -> Any:
            return self.plain

    numpy = ModuleType("numpy")
    vars(numpy).update(generic=Generic, ndarray=type("ndarray", (Generic,), {}))
    monkeypatch.setitem(sys.modules, "numpy", numpy)
    assert to_json_value({"a": Generic(1), "b": vars(numpy)["ndarray"]([[1.5], [2]])}, "x") == {
        "a": 1,
        "b": [[1.5], [2]],
    }
    with pytest.raises(ValueError, match="x is nan"):
        to_json_value(Generic(float("nan")), "x")
    with pytest.raises(TypeError, match="x is of type Generic"):
        to_json_value(Generic(Generic(1)), "x")


@pytest.mark.parametrize(
    ("value", "error", "place"),
    [
        ({"a": [1, {"b": iter([1])}]}, TypeError, r"x\.a\[1\]\.b is of type list_iterator"),
        ({"a": b"raw"}, TypeError, r"x\.a is of type bytes.*base64"),
        ({"a": {1: "b"}}, TypeError, r"x\.a has the key 1 of type int"),
        ({None: 1}, TypeError, r"x has the key None"),
        ({(1, 2): 1}, TypeError, r"x has the key <tuple>"),
        ([0.5, float("nan")], ValueError, r"x\[1\] is nan"),
        ([float("inf")], ValueError, r"x\[0\] is inf"),
        ({"a": -float("inf")}, ValueError, r"x\.a is -inf"),
        ([1, 2**64], ValueError, r"x\[1\] is an integer beyond 64 bits"),
        (-(2**63) - 1, ValueError, r"x is an integer beyond 64 bits"),
        (["a", "\ud800"], ValueError, r"x\[1\] has a lone surrogate at character 0"),
        ({"\udfff": 1}, ValueError, r"a key of x has a lone surrogate"),
        ({"for": dt.timedelta(1)}, TypeError, r"x\.for is of type timedelta.*total_seconds"),
        ([Decimal("0.1")], TypeError, r"x\[0\] is of type Decimal.*float\(\.\.\.\).*str\(\.\.\.\)"),
        ({"a": {1: b"x"}.values()}, TypeError, r"x\.a\[0\] is of type bytes"),
        ({"a": {0.5, float("nan")}}, ValueError, r"x\.a\[\d\] is nan"),
        ((each for each in "ab"), TypeError, r"x is of type generator.*list\(\.\.\.\)"),
        ({"a": Loop()}, ValueError, r"x\.a.* contains itself"),
        (Order, TypeError, r"x is of type type"),
        ({"a": Faked()}, TypeError, r"x\.a is of type Faked"),
        ({"a b": [object()]}, TypeError, r"x\['a b'\]\[0\] is of type object"),
        ({"a": UNSET}, TypeError, r"x\.a is of type Unset.*leave the key out"),
        (1 + 2j, TypeError, r"x is of type complex"),
    ],
)
def test_what_is_not_json_is_named_by_its_place(value: Any, error: type[Exception], place: str) -> None:
    with pytest.raises(error, match=place):
        to_json_value(value, "x")


def nested(levels: int, innermost: Any = None) -> Any:
    value: Any = [] if innermost is None else innermost
    for _ in range(levels - 1):
        value = [value]
    return value


def test_values_nest_up_to_the_limit_and_no_deeper() -> None:
    assert to_json_value(nested(MAX_NESTING), "x") == nested(MAX_NESTING)
    assert to_json_value(nested(MAX_NESTING, range(0)), "x") == nested(MAX_NESTING)
    assert json.dumps(to_json_value(nested(MAX_NESTING, [Shade.DARK]), "x")).count("[") == MAX_NESTING
    with pytest.raises(ValueError, match="deeper than 64 levels"):
        to_json_value(nested(MAX_NESTING + 1), "x")


def test_a_value_that_contains_itself_is_said_to() -> None:
    loop: dict[str, Any] = {"a": [1]}
    loop["a"].append(loop)
    with pytest.raises(ValueError, match="contains itself"):
        to_json_value(loop, "x")


def test_one_list_in_two_places_is_no_cycle() -> None:
    shared = [1]
    assert to_json_value({"a": shared, "b": shared}, "x") == {"a": [1], "b": [1]}


def test_a_refused_argument_makes_no_call(fake_door: FakeDoor) -> None:
    from litany_stubs import client

    fake_door.answers("tool", "")
    for bad in ({"a": object()}, {"a": float("nan")}, {1: 2}):
        with pytest.raises((TypeError, ValueError)):
            client.invoke("tool", bad)
        with pytest.raises((TypeError, ValueError)):
            client.fan_out("tool", [{"a": 1}, bad])
    with pytest.raises(TypeError, match="name as a string"):
        client.invoke(7)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
        client.invoke()  # type: ignore[call-overload]
    assert fake_door.calls == []


def test_the_message_never_runs_the_programs_own_code() -> None:
    class Loud:
        def __repr__(self) -> str:
            raise AssertionError("ran")

        __str__ = __repr__

    with pytest.raises(TypeError, match="of type Loud"):
        to_json_value({"a": Loud()}, "x")
    with pytest.raises(TypeError, match="the key <Loud>"):
        to_json_value({Loud(): 1}, "x")
