"""Whatever a server sends: its call ends at once with what is wrong, what is readable is kept, others go on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litany_engine.api import OpenWorkspace
from litany_engine.door.answers import misshapen
from litany_engine.door.calls import Capture, Context, ToolCall
from litany_engine.mcp.exchange import Exchange, Request
from litany_engine.mcp.lines import Lines, LineTooLongError
from litany_engine.mcp.listing import UselessToolError, by_name, make_tool
from litany_engine.mcp.results import Expected, as_capture
from litany_engine.mcp.server_config import ServerConfig
from litany_runtime.outcome import Outcome
from mcp_kit import raw, tool, within

TEXT = {"type": "text", "text": "kept"}
SOUND: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "result": {
        "content": [
            TEXT,
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "more"}},
            {"type": "resource_link", "uri": "file:///b", "name": "b", "size": 3},
        ],
        "structuredContent": {"n": [1, 2.5, None, {"deep": True}]},
        "isError": False,
        "_meta": {"x": 1},
    },
}


def exchange(*, calls: int = 1) -> tuple[Exchange, list[Request], list[dict[str, Any]]]:
    """A conversation with some calls in flight, and what has been sent."""
    sent: list[dict[str, Any]] = []
    made = Exchange(lambda line: sent.append(json.loads(line)))
    return made, [made.request("tools/call", {"name": "t"}) for _ in range(calls)], sent


def capture_of(request: Request, schema: Any = None) -> Capture:
    assert request.settled.is_set()
    assert request.answer is not None
    capture = as_capture(Expected("s_t", "s", schema), request.answer, None)
    assert misshapen(capture) == ""
    return capture


def answer(line: bytes, *, calls: int = 1) -> Capture:
    """What the first of some calls gives when a line comes; the others stay in flight."""
    made, requests, _ = exchange(calls=calls)
    made.receive(line)
    assert [each.settled.is_set() for each in requests[1:]] == [False] * (calls - 1)
    return capture_of(requests[0])


def message(result: Any, **more: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": result, **more}).encode()


def without(key: str, **more: Any) -> bytes:
    return json.dumps({**{k: v for k, v in SOUND.items() if k != key}, **more}).encode()


def contents(*parts: Any) -> bytes:
    return message({"content": [TEXT, *parts]})


HEAD = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"kept'

ENVELOPES: list[tuple[bytes, str, bytes]] = [
    (HEAD + b'\\ud83c"}]}}', "a lone surrogate, \\ud83c", b"kept\\ud83c"),
    (HEAD + b'\\udc00x"}]}}', "a lone surrogate, \\udc00", b"kept\\udc00x"),
    (HEAD + b'\xff\xfe"}]}}', "byte 72 of it is not UTF-8", "kept��".encode()),
    (HEAD + b'\xe2\x82"}]}}', "byte 72 of it is not UTF-8", "kept�".encode()),
    (HEAD + b'\ta"}]}}', "a control character that is not escaped", b"kept\ta"),
    (HEAD + b'"}]},"id":1}', "has the key 'id' twice", b"kept"),
    (HEAD, "it is not JSON", b""),
    (HEAD + b'"}]}}}', "it is not JSON", b""),
    (b'{"result":{"content":[],"structuredContent":{"id":7,"n":' + b"9" * 5000 + b'}},"jsonrpc":"2.0","id":1}', "too many digits", b""),
    (b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 100_000, "it is nested too deep", b""),
    (message(None), "its `result` is null", b""),
    (message([]), "its `result` is a list, not an object", b""),
    (message("kept"), 'its `result` is "kept", not an object', b""),
    (without("jsonrpc"), "its `jsonrpc` is missing", b"kept\nmore"),
    (without("", jsonrpc=2.0), 'its `jsonrpc` is 2.0, not "2.0"', b"kept\nmore"),
    (without("result"), "it has neither a result nor an error", b""),
    (without("result", error=None), "its `error` is null", b""),
    (without("result", error="kept"), 'its `error` is "kept", not an object', b""),
    (without("result", error={"code": "x", "message": "kept"}), 'the `code` of its error is "x"', b""),
    (without("result", error={"code": 1}), "the `message` of its error is null", b""),
    (without("", error={"code": 1, "message": "no"}), "it has both a result and an error", b"kept\nmore"),
    (without("id"), "it has no `id`, so it names no request", b""),
    (without("", id=None), "it has the `id` null, so it names no request", b""),
    (without("", id={}), "it has the `id` an object, so it names no request", b""),
    (without("", id="one"), 'it has the `id` "one", so it names no request', b""),
    (without("result", id=None, error={"code": -32700, "message": "Parse error"}), 'it says: error -32700: "Parse error"', b""),
]  # fmt: skip

RESULTS: list[tuple[bytes, str]] = [
    (contents({"type": "video", "data": "x"}), "content 2 is of a kind that is not known, 'video'"),
    (contents({"text": "x"}), "content 2 has no `type`"),
    (contents({"type": None}), "the `type` of content 2 is null, not a text"),
    (contents({"type": ["text"]}), "the `type` of content 2 is a list, not a text"),
    (contents("x"), 'content 2 is "x", not an object'),
    (contents(None), "content 2 is null, not an object"),
    (contents({"type": "text"}), "the `text` of content 2 is missing"),
    (contents({"type": "text", "text": None}), "the `text` of content 2 is null, not a text"),
    (contents({"type": "text", "text": 5}), "the `text` of content 2 is 5, not a text"),
    (contents({"type": "image", "mimeType": "image/png"}), "the `data` of content 2 is missing"),
    (contents({"type": "audio", "data": {}}), "the `data` of content 2 is an object, not a text"),
    (contents({"type": "resource"}), "the `resource` of content 2 is missing"),
    (contents({"type": "resource", "resource": "x"}), 'the `resource` of content 2 is "x", not an object'),
    (contents({"type": "resource", "resource": {"uri": "a"}}), "has neither a `text` nor a `blob`"),
    (contents({"type": "resource_link"}), "the `uri` of content 2 is missing"),
    (message({"content": [TEXT], "isError": "yes"}), 'its `isError` is "yes", not true or false'),
    (message({"content": [TEXT], "resultType": "input_required"}), 'its `resultType` is "input_required"'),
    (message({"content": [TEXT], "resultType": None}), "its `resultType` is null"),
    (contents(*[None] * 7), "content 6 is null, not an object; and 2 more"),
]


@pytest.mark.parametrize(("line", "words", "kept"), ENVELOPES)
def test_a_malformed_answer_is_a_fault_that_names_it(line: bytes, words: str, kept: bytes) -> None:
    capture = answer(line)
    assert capture.outcome is Outcome.FAULTED
    assert words in capture.reason
    assert "server 's'" in capture.reason
    assert "Whether the call did anything is unknown" in capture.reason
    assert capture.stdout == kept


@pytest.mark.parametrize(("line", "words"), RESULTS)
def test_a_malformed_result_is_a_fault_that_keeps_the_rest(line: bytes, words: str) -> None:
    capture = answer(line, calls=3)
    assert (capture.outcome, capture.stdout) == (Outcome.FAULTED, b"kept")
    assert words in capture.reason


@pytest.mark.parametrize("words", ["content", "nothing"])
def test_a_result_without_any_content_is_a_fault(words: str) -> None:
    capture = answer(message({words: "text"}))
    assert capture.outcome is Outcome.FAULTED
    assert "its `content` is" in capture.reason


@pytest.mark.parametrize("content", [{}, {"content": None}])
def test_structured_content_alone_is_a_result(content: dict[str, Any]) -> None:
    capture = answer(message({**content, "structuredContent": {"x": 1}}))
    assert (capture.outcome, capture.data, capture.stdout) == (None, {"x": 1}, b'{"x": 1}')
    assert b"structured content alone" in capture.stderr


def test_the_words_of_a_malformed_error_are_kept() -> None:
    capture = answer(without("result", error={"code": "x", "message": "disk full"}))
    assert (capture.outcome, b"disk full" in capture.stderr) == (Outcome.FAULTED, True)


@pytest.mark.parametrize("number", [1, "1", 1.0])
def test_an_id_that_was_made_a_text_or_a_fraction_is_known(number: Any) -> None:
    assert answer(without("", id=number), calls=2).outcome is None


def test_a_batch_answers_each_of_its_calls() -> None:
    made, requests, _ = exchange(calls=2)
    made.receive(json.dumps([SOUND, 5, {**SOUND, "id": 2}]).encode())
    assert [capture_of(each).outcome for each in requests] == [None, None]


def test_a_broken_answer_is_known_by_the_id_at_either_end() -> None:
    inside = b'"structuredContent":{"id":2,"id2":"x"},' + b" " * 200
    made, requests, _ = exchange(calls=3)
    made.receive(b'{"jsonrpc":"2.0","id":1,"result":{' + inside + b'"content":[')
    made.receive(b'{"result":{"content":[' + inside + b'}]}x,"jsonrpc":"2.0","id":3}')
    assert [each.settled.is_set() for each in requests] == [True, False, True]


def test_with_several_calls_in_flight_a_nameless_answer_is_nobodys() -> None:
    made, requests, _ = exchange(calls=2)
    made.receive(without("id"))
    made.receive(HEAD[:15])
    assert [each.settled.is_set() for each in requests] == [False, False]
    assert made.instead(requests[0]).startswith("meanwhile it sent 2 lines that are no message, the last: ")


def test_the_first_of_two_answers_counts() -> None:
    made, requests, _ = exchange(calls=2)
    made.receive(message({"content": [TEXT]}))
    made.receive(message({"content": []}))
    assert capture_of(requests[0]).stdout == b"kept"
    assert not requests[1].settled.is_set()


def test_an_answer_before_its_request_is_no_answer() -> None:
    made, _, _ = exchange()
    made.receive(json.dumps({**SOUND, "id": 2}).encode())
    later = made.request("tools/call")
    assert not later.settled.is_set()


def test_a_late_answer_reaches_nobody() -> None:
    made, requests, sent = exchange(calls=2)
    made.give_up(requests[0])
    assert sent[-1]["method"] == "notifications/cancelled"
    assert sent[-1]["params"]["requestId"] == 1
    made.receive(json.dumps(SOUND).encode())
    assert [each.settled.is_set() for each in requests] == [False, False]


def test_a_log_line_that_quotes_a_message_is_no_answer() -> None:
    made, requests, _ = exchange()
    for each in (
        b'DEBUG {"jsonrpc":"2.0","id":1,"result":{',
        b"[1] warn",
        b'{"level":30,"id":1}x',
        b"\xff\xfe{",
    ):
        made.receive(each)
    assert not requests[0].settled.is_set()


@pytest.mark.parametrize(
    ("head", "end"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":{"x":"', b""),
        (b'{"result":{"x":"', b'"},"jsonrpc":"2.0","id":1}\n'),
    ],
)
def test_an_answer_that_is_too_long_is_its_calls_fault(head: bytes, end: bytes) -> None:
    made, requests, _ = exchange(calls=2)
    lines = Lines(1000, lambda part, ended: made.overlong(part, 1000, ended=ended))
    for chunk in (head, *[b"y" * 600] * 5, end, b'\n{"next":1}\n'):
        for each in lines.add(chunk):
            made.receive(each)
    assert "a message of more than 1000 bytes" in capture_of(requests[0]).reason
    assert not requests[1].settled.is_set()


def test_a_line_without_an_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("litany_engine.mcp.lines.MAX_DROPPED_BYTES", 5000)
    lines = Lines(1000, lambda part, ended: None)
    for _ in range(9):
        lines.add(b"x" * 600)
    with pytest.raises(LineTooLongError, match="more than 5000 bytes"):
        lines.add(b"x" * 6000)


@pytest.mark.parametrize(
    "params",
    [
        *(None, [], {}, {"progressToken": 1}, {"progressToken": 1, "progress": "half"}),
        *({"progressToken": 1, "progress": 10**400}, {"progressToken": 1, "progress": float("nan")}),
        *({"progressToken": 1, "progress": True}, {"progressToken": [], "progress": 1}),
        {"progressToken": 9, "progress": 1},
    ],
)
def test_progress_that_is_none_is_passed_over(params: Any) -> None:
    made = Exchange(lambda line: None)
    seen: list[Any] = []
    request = made.request("tools/call", {}, lambda *each: seen.append(each))
    made.receive(
        json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}).encode()
    )
    assert (seen, request.settled.is_set()) == ([], False)


@pytest.mark.parametrize("number", [None, {}, [1], True, 1.5])
def test_a_request_of_the_servers_whose_id_is_none_gets_no_answer(number: Any) -> None:
    made, _, sent = exchange()
    made.receive(json.dumps({"jsonrpc": "2.0", "id": number, "method": "roots/list"}).encode())
    assert len(sent) == 1


def test_a_request_of_the_servers_is_answered() -> None:
    made, _, sent = exchange()
    for method in ("ping", "sampling/createMessage", "x/y"):
        made.receive(json.dumps({"jsonrpc": "2.0", "id": "q", "method": method, "params": 5}).encode())
    assert [each.get("result", each.get("error", {}).get("code")) for each in sent[1:]] == [
        {},
        -32600,
        -32601,
    ]


# -- properties -------------------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value, the whole left out."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [each for key, one in inside for each in [(*path, key), *places(one, (*path, key))]]


def changed(value: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    copy = json.loads(json.dumps(value))
    holder = copy
    for key in path[:-1]:
        holder = holder[key]
    change(holder, path[-1])
    return copy


@settings(max_examples=400, deadline=None)
@given(
    path=st.sampled_from([each for each in places(SOUND) if each != ("id",)]),
    value=VALUES,
    remove=st.booleans(),
)
def test_whatever_is_changed_in_an_answer_its_call_ends_with_it(path: Any, value: Any, remove: bool) -> None:
    def change(holder: Any, key: Any) -> None:
        if remove:
            del holder[key]
        else:
            holder[key] = value

    line = json.dumps(changed(SOUND, path, change)).encode()
    capture = answer(line, calls=2)
    assert capture.outcome in {None, Outcome.FAULTED}
    assert (capture.outcome is None) == (capture.reason == "")
    if (
        path[0] == "result"
        and len(path) > 1
        and path[:4] != ("result", "content", 0, "text")
        and (path[1] != "content" or (len(path) > 2 and path[2] != 0))
    ):
        assert b"kept" in capture.stdout + capture.stderr


@settings(max_examples=300, deadline=None)
@given(
    at=st.integers(24, len(HEAD) + 20),
    count=st.integers(0, 3),
    given=st.binary(max_size=3).filter(lambda b: b"\n" not in b),
)
def test_whatever_bytes_are_changed_in_an_answer_its_call_ends_with_it(
    at: int, count: int, given: bytes
) -> None:
    whole = HEAD + b'"},{"type":"text","text":"more"}]}}'
    at = max(at, whole.index(b'"result":') + 9)
    capture = answer(whole[:at] + given + whole[at + count :])
    assert capture.outcome in {None, Outcome.FAULTED}


@settings(max_examples=300, deadline=None)
@given(line=st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")))
def test_no_line_harms_the_conversation(line: bytes) -> None:
    made, requests, _ = exchange(calls=2)
    made.receive(line)
    made.receive(json.dumps(SOUND).encode())
    assert capture_of(requests[0]).stdout == b"kept\nmore"


async def nothing(call: ToolCall, context: Context) -> Capture:
    return Capture()


TOOL: dict[str, Any] = {
    "name": "t",
    "title": "T",
    "description": "d",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "string", "default": "x"}},
        "required": ["a"],
    },
    "outputSchema": {
        "type": "object",
        "properties": {"result": {"type": "array", "items": {"type": "integer"}}},
    },
    "annotations": {"title": "T", "readOnlyHint": True, "destructiveHint": False},
}


@settings(max_examples=400, deadline=None)
@given(path=st.sampled_from(places(TOOL)), value=VALUES, remove=st.booleans(), more=VALUES)
def test_whatever_is_said_of_a_tool_harms_no_other(path: Any, value: Any, remove: bool, more: Any) -> None:
    def change(holder: Any, key: Any) -> None:
        if remove:
            del holder[key]
        else:
            holder[key] = value

    told, _ = by_name([tool("fine"), changed(TOOL, path, change), more])
    config = ServerConfig("s", ("x",))
    assert make_tool(config, told.pop("fine"), nothing).declaration.name == "s_fine"
    for each in told.values():
        try:
            made = make_tool(config, each, nothing)
        except UselessToolError:
            continue
        assert made.traits.is_destructive({})


# -- with a process ---------------------------------------------------------------------------------------------


def test_malformed_answers_end_their_calls_and_the_server_goes_on(tmp_path: Path) -> None:
    answers = [line.decode("latin-1") for line, _, _ in ENVELOPES[:3]] + [
        '{"jsonrpc":"2.0","id":%d,"result":null}'
    ]
    script: dict[str, Any] = {"content": [TEXT]}
    for number, each in reversed(list(enumerate(answers, 3))):
        line = each.replace('"id":1', f'"id":{number}').replace("%d", str(number))
        script = {"once": {"raw": line + "\n", "encoding": "latin-1"}, "then": script}

    async def do(ws: OpenWorkspace) -> list[Any]:
        return [await ws.invoke("s_t", {}) for _ in range(len(answers) + 1)]

    ends = within(raw(tmp_path, {"tools/list": {"tools": [tool()]}, "tools/call": script}), do)
    assert [each.outcome for each in ends] == [Outcome.FAULTED] * len(answers) + [Outcome.COMPLETED]
    assert [each.stdout for each in ends[:3]] == [b"kept\\ud83c", b"kept\\udc00x", "kept��".encode()]
    assert "lost" not in "".join(each.reason for each in ends)


def test_a_schema_without_a_type_is_one_of_an_object(tmp_path: Path) -> None:
    tools = [tool("a", inputSchema={}), tool("b", inputSchema={"properties": {"x": {"type": "string"}}})]

    async def do(ws: OpenWorkspace) -> list[Any]:
        return [await ws.invoke("s_a", {"any": 1}), await ws.invoke("s_b", {"x": 1})]

    script = {"tools/list": {"tools": [*tools, 5, {"name": None}, tool("b")]}, "tools/call": {"content": []}}
    one, other = within(raw(tmp_path, script), do)
    assert one.outcome is Outcome.COMPLETED
    assert other.refusal is not None
    assert "its server lists two tools of this name" in other.refusal.reason


def test_what_came_in_the_place_of_an_answer_is_told_at_the_deadline(tmp_path: Path) -> None:
    script = {"tools/list": {"tools": [tool()]}, "tools/call": {"raw": "Traceback: out of luck\n"}}
    end = within(raw(tmp_path, script, more='timeout = "500ms"'), lambda ws: ws.invoke("s_t", {}))
    assert end.outcome is Outcome.TIMED_OUT
    assert b"meanwhile it sent a line that is no message, the last: Traceback: out of luck" in end.stderr
