"""The registry, definitions and preparation: which tools there are, what they say, and what a call becomes."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from door_kit import Place, make_place, record_of
from litany_engine import init_workspace, open_workspace
from litany_engine.configuration.config import parse_config
from litany_engine.door.arguments import detach
from litany_engine.door.calls import CallEnd, Capture, Context, Tool, ToolCall
from litany_engine.door.door import Door
from litany_engine.door.prepared import FrozenError, Prepared, fill, freeze, thaw
from litany_engine.records.record_files import RecordError
from litany_engine.rules.rules import Action, Rule, Rules
from litany_engine.tools.builtins import BUILTIN_TOOLS
from litany_engine.tools.definitions import DefinitionError, Provenance, Traits
from litany_engine.tools.loaded import LoadedTools
from litany_engine.tools.registry import Registry, State, ToolsetError
from litany_engine.tools.search_tools import search_tools
from litany_engine.tools.toolset import Toolset, toolset
from litany_engine.tools.unknown_names import unknown_names
from litany_engine.workspaces.workspace import Workspace
from litany_runtime.outcome import Outcome
from litany_stubs.words import ToolDeclaration


async def nothing(call: ToolCall, context: Context) -> Capture:
    return Capture(stdout=json.dumps(call.input).encode())


def tool(name: str, description: str = "", arguments: Any = None, **traits: Any) -> Tool:
    schema = {"type": "object", "properties": arguments or {}}
    return Tool(ToolDeclaration(name, description, schema), nothing, traits=Traits(**traits))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def invoke(place: Place, name: str, arguments: Any, **door: Any) -> CallEnd:
    async def main() -> CallEnd:
        return await Door(**door).invoke(name, arguments, place.caller())

    return trio.run(main)


# -- states -----------------------------------------------------------------------------------------------------


def test_only_an_active_tool_is_permitted_and_shown() -> None:
    registry = Registry([tool("a"), tool("b"), tool("c")])
    tools = Toolset(registry)
    registry.set_state(State.DEFERRED, "b")
    registry.set_state(State.SUSPENDED, "c")
    assert [each.declaration.name for each in tools.all_permitted(inner=True)] == ["a"]
    assert "def b(" not in tools.stubs()
    registry.set_state(State.ACTIVE, "b")
    assert "def b(" in tools.stubs()


@pytest.mark.parametrize(("state", "words"), [(State.DEFERRED, "not loaded"), (State.SUSPENDED, "suspended")])
def test_a_tool_that_is_not_active_is_refused_by_availability(place: Place, state: State, words: str) -> None:
    place.toolset.registry.set_state(state, "fail")
    end = invoke(place, "fail", {})
    assert end.refusal is not None
    assert end.refusal.gate == "availability"
    assert words in end.refusal.reason
    assert "Granted: " in end.refusal.reason
    assert "fail" not in end.refusal.reason.split("Granted: ")[1]


def test_names_are_checked_when_a_tool_is_registered() -> None:
    with pytest.raises(ToolsetError, match="two tools are named 'a'"):
        Registry([tool("a"), tool("a")])
    with pytest.raises(ToolsetError, match="64 letters"):
        Registry([tool("a b")])
    with pytest.raises(ToolsetError, match="there is no tool 'x'; there are a"):
        Registry([tool("a")]).set_state(State.ACTIVE, "x")


def test_a_change_of_several_states_is_made_whole_or_not_at_all() -> None:
    registry = Registry([tool("a")])
    with pytest.raises(ToolsetError):
        registry.set_state(State.SUSPENDED, "a", "x")
    assert registry.state("a") is State.ACTIVE


def test_a_removed_tool_is_gone_and_a_replaced_one_is_checked_anew(place: Place) -> None:
    registry = place.toolset.registry
    assert registry.unregister("fail")
    assert not registry.unregister("fail")
    end = invoke(place, "fail", {})
    assert end.refusal is not None
    assert end.refusal.gate == "grant"
    assert invoke(place, "read_file", {"path": "x"}).outcome is Outcome.COMPLETED
    old = registry.tools["read_file"]
    stricter = {"type": "object", "properties": {"path": {"type": "integer"}}, "required": ["path"]}
    registry.replace(replace(old, declaration=replace(old.declaration, input_schema=stricter)))
    assert invoke(place, "read_file", {"path": "x"}).outcome is Outcome.REFUSED


def test_a_preparation_stands_for_the_version_it_was_made_for() -> None:
    tools = toolset([tool("a")])
    prepared = Prepared(tools.tools["a"], tools, ToolCall("T", "a", {}))
    assert prepared.stands(inner=False)
    tools.registry.set_state(State.SUSPENDED, "a")
    assert not prepared.stands(inner=False)
    tools.registry.set_state(State.ACTIVE, "a")
    tools.registry.replace(tool("a"))
    assert not prepared.stands(inner=False)
    other = toolset([tool("a")])
    assert not Prepared(tools.tools["a"], other, ToolCall("T", "a", {})).stands(inner=False)


# -- search -----------------------------------------------------------------------------------------------------


def test_search_scores_by_where_a_word_is_found() -> None:
    registry = Registry(
        [
            tool("weather"),
            tool("weather_map"),
            tool("sky", "Tells the weather."),
            tool("cloud", "", {"weather": {"type": "string"}}),
            tool("other"),
        ]
    )
    registry.set_state(State.DEFERRED, *registry.tools)
    found = [(each.declaration.name, score) for each, score in registry.search("the Weather tool is")]
    assert found == [("weather", 12), ("weather_map", 8), ("sky", 5), ("cloud", 3)]
    assert registry.search("weather", active=True) == []
    assert registry.search("to read and list a tool") == []


def test_search_looks_at_what_the_model_is_shown_through_alternatives() -> None:
    shown = {"anyOf": [{"properties": {"city": {}}}, {"allOf": [{"properties": {"harbour": {}}}]}]}
    registry = Registry([tool("x", model_schema=shown), tool("y", "", {"harbour": {}}, model_schema={})])
    registry.set_state(State.DEFERRED, "x", "y")
    assert [(each.declaration.name, score) for each, score in registry.search("harbour")] == [("x", 3)]


def test_search_sorts_by_score_and_then_by_name() -> None:
    registry = Registry([tool("b_mail"), tool("a_mail"), tool("mail", "mail")])
    registry.set_state(State.DEFERRED, *registry.tools)
    assert [(t.declaration.name, s) for t, s in registry.search("mail")] == [
        ("mail", 17),
        ("a_mail", 8),
        ("b_mail", 8),
    ]


# -- what a tool says of itself -----------------------------------------------------------------------------------


def test_an_answer_may_depend_on_the_input() -> None:
    traits = Traits(read_only=lambda given: given["mode"] == "read", concurrency_safe=True)
    assert traits.is_read_only({"mode": "read"})
    assert not traits.is_read_only({"mode": "write"})


def test_what_cannot_answer_gives_the_answer_that_lets_less_happen() -> None:
    def broken(given: Any) -> bool:
        raise KeyError(given)

    traits = Traits(read_only=broken, destructive=broken, concurrency_safe=broken)
    assert not traits.is_read_only({})
    assert traits.is_destructive({})
    assert not traits.is_concurrency_safe({})
    vague: Any = lambda _: 1  # noqa: E731
    assert not Traits(concurrency_safe=vague).is_concurrency_safe({})


@pytest.mark.parametrize("trusted", [False, True])
def test_a_servers_word_raises_requirements_and_never_lowers_them(trusted: bool) -> None:
    traits = Traits(
        read_only=True, concurrency_safe=True, destructive=True, provenance=Provenance("server", trusted)
    )
    assert traits.is_read_only({}) == trusted
    assert traits.is_concurrency_safe({}) == trusted
    assert traits.is_destructive({})


@pytest.mark.parametrize(
    "traits",
    [
        {"permissions": frozenset({"fly"})},
        {"category": "magic"},
        {"max_retries": -1},
        {"max_retries": 11},
        {"max_retries": True},
        {"path_argument": "p", "paths_of": lambda _: []},
    ],
)
def test_what_cannot_be_is_refused_when_it_is_said(traits: Any) -> None:
    with pytest.raises(DefinitionError):
        Traits(**traits)


def test_a_call_that_asks_to_leave_its_confinement_is_always_held(place: Place) -> None:
    place.toolset = toolset([tool("shell", escape_argument="free")])
    for asked in ({"free": True}, {"free": "no"}, {"free": 0}):
        end = invoke(place, "shell", asked)
        assert end.refusal is not None
        assert "held" in end.refusal.reason
    assert invoke(place, "shell", {"free": False}).outcome is Outcome.COMPLETED
    assert invoke(place, "shell", {}).outcome is Outcome.COMPLETED


def test_a_hint_is_added_to_a_refusal_of_the_schema(place: Place) -> None:
    strict = tool("strict", "", {"n": {"type": "integer"}}, hint="Give n when mode is 'count'.")
    place.toolset = toolset([strict])
    end = invoke(place, "strict", {"n": "x"})
    assert end.refusal is not None
    assert end.refusal.reason.endswith("Give n when mode is 'count'.")


def test_the_model_is_shown_the_narrower_schema_and_the_wider_one_is_checked(place: Place) -> None:
    wide = {"n": {"type": "integer"}, "internal": {"type": "string"}}
    narrow = {"type": "object", "properties": {"n": {"type": "integer"}}}
    place.toolset = toolset([tool("t", "", wide, model_schema=narrow)])
    assert "internal" not in place.toolset.stubs()
    assert invoke(place, "t", {"internal": "x"}).outcome is Outcome.COMPLETED


# -- retries ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("retries", "retryable", "tries"), [(0, True, 1), (3, False, 1), (2, True, 3), (5, True, 4)]
)
def test_a_failure_is_tried_again_only_where_both_the_tool_and_the_failure_say_so(
    place: Place, retries: int, retryable: bool, tries: int
) -> None:
    inputs = []

    async def execute(call: ToolCall, context: Context) -> Capture:
        inputs.append(json.dumps(call.input))
        call.input["n"].append("changed")
        return Capture(exit_code=0 if len(inputs) == 4 else 1, retryable=retryable)

    place.toolset = toolset([Tool(ToolDeclaration("t"), execute, traits=Traits(max_retries=retries))])

    async def main() -> CallEnd:
        return await Door().invoke("t", {"n": [1]}, place.caller())

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0.01))
    assert (
        inputs == ['{"n": [1]}'] * tries
    )  # each try gets what was approved, whatever the one before did to it


def test_a_stop_while_it_waits_to_try_again_keeps_the_last_failure(place: Place) -> None:
    async def execute(call: ToolCall, context: Context) -> Capture:
        return Capture(stderr=b"busy", exit_code=1, retryable=True)

    place.toolset = toolset([Tool(ToolDeclaration("t"), execute, traits=Traits(max_retries=10))])

    async def main() -> CallEnd:
        began = trio.current_time()
        return await Door().invoke("t", {}, place.caller(), deadline=began + 0.001)

    end = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0.01))
    assert (end.outcome, end.stderr) == (Outcome.TIMED_OUT, b"busy")


def test_the_wait_between_tries_is_random_up_to_a_bound_that_doubles(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[float] = []
    bounds: list[tuple[float, float]] = []

    def uniform(low: float, high: float) -> float:
        bounds.append((low, high))
        return high

    async def execute(call: ToolCall, context: Context) -> Capture:
        tried.append(trio.current_time())
        return Capture(exit_code=1, retryable=True)

    monkeypatch.setattr("random.uniform", uniform)
    place.toolset = toolset([Tool(ToolDeclaration("t"), execute, traits=Traits(max_retries=7))])

    async def main() -> CallEnd:
        return await Door().invoke("t", {}, place.caller())

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0.01))
    assert bounds == [(0, bound) for bound in (0.5, 1, 2, 4, 8, 16, 16)]
    assert [later - earlier for earlier, later in pairwise(tried)] == pytest.approx([b for _, b in bounds])


def test_an_inner_call_is_tried_again_like_any(place: Place) -> None:
    tries = []

    async def execute(call: ToolCall, context: Context) -> Capture:
        tries.append(call.id)
        return Capture(exit_code=1, retryable=True)

    flaky = Tool(ToolDeclaration("t"), execute, traits=Traits(max_retries=2))
    place.toolset = toolset([flaky, place.toolset.tools["relay"]])

    async def main() -> CallEnd:
        return await Door().invoke("relay", {"name": "t"}, place.caller(), call_id="T")

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0.01))
    assert tries == ["T-1"] * 3


# -- prepare ----------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)  # fmt: skip


@settings(deadline=None)
@given(JSON)
def test_a_frozen_copy_says_the_same_and_a_private_one_is_its_own(value: Any) -> None:
    frozen = freeze(value)
    assert frozen == value
    assert json.dumps(frozen) == json.dumps(value)
    assert thaw(frozen) == value
    if isinstance(value, (dict, list)):
        assert thaw(frozen) is not value
        assert type(thaw(frozen)) is type(value)


@pytest.mark.parametrize(
    "change",
    [
        lambda v: v.update(a=1),
        lambda v: v.pop("l"),
        lambda v: v.clear(),
        lambda v: v.setdefault("x", 1),
        lambda v: v["l"].append(1),
        lambda v: v["l"].sort(),
        lambda v: v["l"][0].update(a=1),
        lambda v: v.__setitem__("l", 1),
        lambda v: v["l"].__delitem__(0),
        lambda v: v.__ior__({"a": 1}),
        lambda v: v["l"].__iadd__([1]),
    ],
)
def test_what_is_reviewed_does_not_change_at_any_depth(change: Any) -> None:
    frozen = freeze({"l": [{"deep": 1}]})
    with pytest.raises(FrozenError):
        change(frozen)
    assert frozen == {"l": [{"deep": 1}]}


def test_a_control_cannot_change_what_runs(place: Place) -> None:
    async def consult(call: ToolCall, caller: Any) -> None:
        dict.__setitem__(call.input, "path", "elsewhere")  # by force

    end = invoke(place, "read_file", {"path": "x"}, consult=consult)
    assert end.stdout == b"content of x"


def test_a_tool_cannot_change_what_its_record_and_its_watchers_say(place: Place) -> None:
    async def execute(call: ToolCall, context: Context) -> Capture:
        call.input["path"] = "elsewhere"
        call.input["deep"]["x"] = 2
        return Capture()

    place.toolset = toolset([Tool(ToolDeclaration("t"), execute)])
    end = invoke(place, "t", {"path": "x", "deep": {"x": 1}})
    assert end.call.input == {"path": "x", "deep": {"x": 1}}
    assert record_of(end.record, "input.json")["input"] == {"path": "x", "deep": {"x": 1}}


DEFAULTS = [
    ({}, {"n": 5, "deep_default": {"a": [1]}}),
    ({"n": 1}, {"n": 1, "deep_default": {"a": [1]}}),
    ({"n": None}, {"n": None, "deep_default": {"a": [1]}}),
    ({"inner": {}}, {"inner": {"k": "v"}, "n": 5, "deep_default": {"a": [1]}}),
    ({"inner": 3}, {"inner": 3, "n": 5, "deep_default": {"a": [1]}}),
]
SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "default": 5},
        "inner": {"type": "object", "properties": {"k": {"default": "v"}}},
        "deep_default": {"default": {"a": [1]}},
        "plain": {"type": "string"},
        "odd": True,
    },
}


@pytest.mark.parametrize(("given", "filled"), DEFAULTS)
def test_defaults_are_filled_in_where_nothing_was_given(given: Any, filled: Any) -> None:
    before = json.dumps(given)
    assert fill(given, SCHEMA) == filled
    assert json.dumps(given) == before
    fill(given, SCHEMA)["deep_default"]["a"].append(2)
    assert SCHEMA["properties"]["deep_default"]["default"] == {"a": [1]}  # type: ignore[index]


def test_an_argument_left_out_is_sent_to_nobody_and_judged_as_its_default(place: Place) -> None:
    judged = []

    async def consult(call: ToolCall, caller: Any) -> None:
        judged.append(call.input)

    properties = {"n": {"type": "integer", "default": 5}, "after": {"type": "string", "default": None}}
    place.toolset = toolset([tool("t", "", properties)])
    end = invoke(place, "t", {}, consult=consult)
    assert (judged, end.stdout) == ([{}], b"{}")
    assert record_of(end.record, "input.json")["input"] == {}
    rules = Rules((Rule(Action.DENY, arguments=(("n", "5"),)),))
    assert invoke(place, "t", {}, rules=rules).refusal is not None
    assert invoke(place, "t", {"n": 6}, rules=rules).refusal is None


def test_traits_judge_an_argument_left_out_by_its_default(place: Place) -> None:
    free = {"free": {"type": "boolean", "default": True}}
    place.toolset = toolset([tool("t", "", free, escape_argument="free")])
    assert invoke(place, "t", {}).refusal is not None
    assert invoke(place, "t", {"free": False}).stdout == b'{"free": false}'


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return {"v": value}


cyclic: dict[str, Any] = {}
cyclic["self"] = cyclic

NOT_JSON = [
    ({"v": math.nan}, "input.v"),
    ({"v": [1, {"w": math.inf}]}, "input.v[1].w"),
    ({"v": -0.0}, "input.v is -0.0"),
    ({"v": [0.0, {"w": -0.0}]}, "input.v[1].w is -0.0"),
    ({"v": iter([1, 2])}, "input.v"),
    ({"v": b"x"}, "input.v"),
    ({"v": {1: 2}}, "input.v"),
    ({"v": 2**70}, "input.v"),
    ({"v": "\ud800"}, "input.v"),
    (nested(70), "64 levels"),
    (cyclic, "contains itself"),
    ({"v": "x" * (17 * 2**20)}, "17825800 bytes"),
    ({str(n): "x" * 60_000 for n in range(300)}, "bytes"),
]


@pytest.mark.parametrize(("value", "told"), NOT_JSON, ids=range(len(NOT_JSON)))
def test_what_is_not_json_is_refused_with_its_path(place: Place, value: Any, told: str) -> None:
    copy, fault = detach(value)
    assert copy is None
    assert told in fault
    end = invoke(place, "fail", value)
    assert end.refusal is not None
    assert end.refusal.gate == "schema"
    assert told in end.refusal.reason


@settings(deadline=None)
@given(JSON)
def test_what_is_json_is_copied_as_it_is(value: Any) -> None:
    copy, fault = detach({"v": value})
    if "-0.0" in fault:
        return
    assert (fault, copy) == ("", {"v": value})


# -- the search tool --------------------------------------------------------------------------------------------


def searching(place: Place, grant: Any = None) -> LoadedTools:
    """Have the search tool, with what agent `a` of the place loads."""
    loaded = LoadedTools(place.root)
    place.toolset.registry.register(search_tools(place.toolset.registry, loaded, grant))
    place.toolset = replace(place.toolset, loaded=lambda: loaded.of("a"))
    return loaded


def test_a_search_loads_the_best_five_and_names_the_rest(place: Place) -> None:
    registry = place.toolset.registry
    for number in range(7):
        registry.register(tool(f"mail_{number}", "Sends mail."), State.DEFERRED)
    registry.register(tool("other"), State.DEFERRED)
    searching(place)
    assert invoke(place, "mail_0", {}).outcome is Outcome.REFUSED
    end = invoke(place, "search_tools", {"query": "mail"})
    assert end.data == {"loaded": [f"mail_{n}" for n in range(5)], "found": ["mail_5", "mail_6"]}
    assert invoke(place, "mail_0", {}).outcome is Outcome.COMPLETED
    assert invoke(place, "mail_6", {}).outcome is Outcome.REFUSED
    assert invoke(place, "other", {}).outcome is Outcome.REFUSED
    assert invoke(place, "search_tools", {"query": "mail"}).data == {
        "loaded": ["mail_5", "mail_6"],
        "found": [],
    }


def test_a_refusal_of_a_deferred_tool_names_the_search_to_whoever_has_it(place: Place) -> None:
    registry = place.toolset.registry
    registry.register(tool("mail"), State.DEFERRED)
    without = invoke(place, "mail", {})
    searching(place)
    having = invoke(place, "mail", {})
    assert without.refusal is not None
    assert having.refusal is not None
    assert "search_tools" not in without.refusal.reason
    assert "search_tools finds it by words and loads it" in having.refusal.reason


def test_a_search_tells_and_loads_nothing_that_is_not_granted(place: Place) -> None:
    registry = place.toolset.registry
    registry.register(tool("mail_in"), State.DEFERRED)
    registry.register(tool("mail_out"), State.DEFERRED)
    loaded = searching(place, lambda agent: ["mail_in", "search_tools"])
    end = invoke(place, "search_tools", {"query": "mail"})
    assert end.data == {"loaded": ["mail_in"], "found": []}
    assert b"mail_out" not in end.stdout
    assert loaded.of("a") == {"mail_in"}


@pytest.mark.parametrize("content", [b"", b"x", b'"mail', b"\xff\n", b"[]\n1\n", b"[" * 100_000])
def test_a_damaged_list_of_loaded_tools_loads_what_can_be_read(tmp_path: Path, content: bytes) -> None:
    loaded = LoadedTools(tmp_path)
    (tmp_path / "loaded").mkdir()
    (tmp_path / "loaded/a.jsonl").write_bytes(b'"one"\n' + content)
    assert loaded.of("a") == {"one"}
    (tmp_path / "loaded/a.jsonl").write_bytes(b'"one"\n' + content + b'\n"two"\n')
    assert loaded.of("a") == {"one", "two"}


def test_names_are_loaded_once_and_for_one_agent(tmp_path: Path) -> None:
    loaded = LoadedTools(tmp_path)
    loaded.load("a", ["x\ny", "z"])
    loaded.load("a", ["z"])
    assert (set(loaded.of("a")), set(loaded.of("b"))) == ({"x\ny", "z"}, set[str]())
    assert len((tmp_path / "loaded/a.jsonl").read_text().splitlines()) == 2
    LoadedTools(tmp_path).load("a", ["w"])  # another process
    assert loaded.of("a") == {"x\ny", "z", "w"}
    with pytest.raises(RecordError):
        loaded.of("../a")


@pytest.mark.parametrize("wrong", [3, "stock", len, None, lambda: None])
def test_what_is_no_tool_is_a_clear_error(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"is no tool; .*@tool"):
        Registry([wrong])


def test_two_tools_of_one_name_are_told_with_their_places() -> None:
    def make(line: str) -> Any:
        space: dict[str, Any] = {}
        exec(
            compile(
                "from litany_engine import tool\n@tool\ndef stock() -> str:\n    'S.'\n    return ''\n",
                line,
                "exec",
            ),
            space,
        )
        return space["stock"]

    with pytest.raises(ToolsetError, match=r"'stock' \(one\.py:2 and two\.py:2\)"):
        Registry([make("one.py"), make("two.py")])
    with pytest.raises(ToolsetError, match=r"'bash' \(built in and mine\.json\)"):
        Registry(
            [
                *BUILTIN_TOOLS,
                replace(
                    BUILTIN_TOOLS[0],
                    declaration=replace(BUILTIN_TOOLS[0].declaration, name="bash"),
                    place="mine.json",
                ),
            ]
        )


# -- states that the operator gives -----------------------------------------------------------------------------


def opened_with(tmp_path: Path, config: str) -> Any:
    """An opened workspace, as a context manager, with two tools of a host."""
    root = init_workspace(tmp_path / "w", agent="a").root
    (root / "litany.toml").write_text(config)
    return open_workspace(Workspace(root), tools=[tool("invoice_list", "Lists invoices."), tool("other")])


def test_what_the_operator_defers_is_found_by_a_search_and_callable_from_then_on(tmp_path: Path) -> None:
    async def main() -> list[str]:
        async with opened_with(tmp_path, '[tools]\ndeferred = ["invoice_list", "nobody_has_it"]\n') as ws:
            ends = [await ws.invoke("invoice_list", {})]
            ends.append(await ws.invoke("search_tools", {"query": "invoices"}))
            ends.append(await ws.invoke("invoice_list", {}))
        return [each.refusal.gate if each.refusal else "" for each in ends]

    assert trio.run(main) == ["availability", "", ""]


def test_what_one_agent_loads_is_loaded_for_it_alone_and_after_a_restart(tmp_path: Path) -> None:
    config = '[tools]\ndeferred = ["invoice_list", "other"]\n'

    async def main() -> list[tuple[str, bool, bool]]:
        async with opened_with(tmp_path, config) as ws:
            ws.workspace.add_agent("b")
            assert (await ws.invoke("search_tools", {"query": "invoices"}, agent="a")).exit_code == 0
            first = [await looked(ws, each) for each in ("a", "b")]
        workspace = Workspace(tmp_path / "w")
        async with open_workspace(
            workspace, tools=[tool("invoice_list", "Lists invoices."), tool("other")]
        ) as ws:
            return [*first, *[await looked(ws, each) for each in ("a", "b")]]

    async def looked(ws: Any, agent: str) -> tuple[str, bool, bool]:
        end = await ws.invoke("invoice_list", {}, agent=agent)
        stubs = ws.toolset(agent).stubs()
        return str(end.outcome), "def invoice_list" in stubs, "def other" in stubs

    had, had_not = ("completed", True, False), ("refused", False, False)
    assert trio.run(main) == [had, had_not, had, had_not]


def test_what_was_loaded_and_is_then_suspended_is_refused(tmp_path: Path) -> None:
    config = '[tools]\ndeferred = ["other"]\nsuspended = ["invoice_list"]\n'

    async def main() -> CallEnd:
        async with opened_with(tmp_path, config) as ws:
            LoadedTools(ws.workspace.root).load("a", ["invoice_list"])
            end: CallEnd = await ws.invoke("invoice_list", {})
            return end

    end = trio.run(main)
    assert end.refusal is not None
    assert "suspended" in end.refusal.reason


def test_what_the_operator_suspends_no_search_finds(tmp_path: Path) -> None:
    config = '[tools]\ndeferred = ["other"]\nsuspended = ["invoice_list"]\n'

    async def main() -> tuple[Any, CallEnd]:
        async with opened_with(tmp_path, config) as ws:
            found = await ws.invoke("search_tools", {"query": "invoices"})
            return found.data, await ws.invoke("invoice_list", {})

    found, end = trio.run(main)
    assert found == {"loaded": [], "found": []}
    assert end.refusal is not None
    assert "suspended" in end.refusal.reason


def test_without_anything_deferred_there_is_no_search(tmp_path: Path) -> None:
    async def main() -> CallEnd:
        async with opened_with(tmp_path, '[tools]\nsuspended = ["other"]\n') as ws:
            end: CallEnd = await ws.invoke("search_tools", {"query": "invoices"})
        return end

    end = trio.run(main)
    assert end.refusal is not None
    assert end.refusal.gate == "grant"


def test_a_search_loads_only_what_the_agents_role_is_granted(tmp_path: Path) -> None:
    config = '[tools]\ndeferred = ["invoice_list"]\n[roles.default]\ngrant = ["search_tools", "other"]\n'

    async def main() -> Any:
        async with opened_with(tmp_path, config) as ws:
            return (await ws.invoke("search_tools", {"query": "invoices"})).data

    assert trio.run(main) == {"loaded": [], "found": []}


def test_a_slip_in_the_name_of_a_suspended_tool_is_told() -> None:
    config = parse_config('[tools]\nsuspended = ["bsh"]\ndeferred = ["other"]\n', Path("/w/litany.toml"))
    assert list(unknown_names(config, {"bash", "other"})) == [
        "litany.toml: [tools] suspends 'bsh', which no tool here is called (did you mean 'bash'?)"
    ]


def test_a_slip_in_the_name_that_a_rule_is_about_is_told() -> None:
    rules = "".join(
        f'[[rules]]\naction = "deny"\ntool = "{each}"\n' for each in ("bsh", "ba*", "x*", "s_a", "bash")
    )
    without = parse_config(rules + '[[rules]]\naction = "ask"\n', Path("/w/litany.toml"))
    assert list(unknown_names(without, {"bash"})) == [
        "/w/litany.toml:1: a rule is about 'bsh', which no tool here is called (did you mean 'bash'?)",
        "/w/litany.toml:7: a rule is about 'x*', which no tool here is called",
        "/w/litany.toml:10: a rule is about 's_a', which no tool here is called",
    ]
    served = parse_config(f'{rules}[mcp.s]\ncommand = ["server"]\n', Path("/w/litany.toml"))
    assert [each.split("'")[1] for each in unknown_names(served, {"bash"})] == ["bsh"]
