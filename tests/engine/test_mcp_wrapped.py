"""Results that a server wraps into an object are unwrapped, as their output schema says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from litany_engine.door.calls import Capture, Context, ToolCall
from litany_engine.mcp.exchange import Answer
from litany_engine.mcp.listing import make_tool, read_told
from litany_engine.mcp.results import Expected, as_capture
from litany_engine.mcp.server_config import ServerConfig
from litany_runtime.outcome import Outcome
from mcp_kit import raw, tool, within

NUMBERS = {"type": "array", "items": {"type": "integer"}}


def wrapping(inner: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"result": inner}, **more}


async def nothing(call: ToolCall, context: Context) -> Capture:
    return Capture()


def declared(schema: Any) -> Any:
    told = read_told(tool(outputSchema=schema))
    assert told is not None
    return make_tool(ServerConfig("s", ("x",)), told, nothing).declaration.output_schema


def data(schema: Any, structured: Any, **more: Any) -> Capture:
    return as_capture(
        Expected("s_t", "s", schema), Answer({"content": [], "structuredContent": structured, **more}), None
    )


@pytest.mark.parametrize(
    "more", [{}, {"required": ["result"]}, {"title": "X", "x-fastmcp-wrap-result": True}]
)
def test_what_is_wrapped_is_the_data_and_its_schema_the_tools(more: dict[str, Any]) -> None:
    schema = wrapping(NUMBERS, **more)
    assert declared(schema) == NUMBERS
    assert data(schema, {"result": [1, 2]}).data == [1, 2]
    assert data(schema, {"result": None}).outcome is None


def test_definitions_of_a_wrapped_schema_are_carried_over() -> None:
    definitions = {"R": {"type": "object", "properties": {"next": {"$ref": "#/$defs/R"}}}}
    schema = wrapping({"type": "array", "items": {"$ref": "#/$defs/R"}}, **{"$defs": definitions})
    assert declared(schema) == {"$defs": definitions, "type": "array", "items": {"$ref": "#/$defs/R"}}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"result": NUMBERS, "more": {}}},
        {"type": "object", "properties": {"results": NUMBERS}},
        {"type": "object"},
        wrapping({"$ref": "#"}),
        wrapping({"$ref": "#/properties/result/$defs/x", "$defs": {"x": NUMBERS}}),
        wrapping(NUMBERS, anyOf=[{"required": ["result"]}]),
        wrapping(NUMBERS, additionalProperties={"type": "string"}),
    ],
)
def test_a_schema_of_another_shape_is_left_alone(schema: dict[str, Any]) -> None:
    assert declared(schema) == schema
    assert data(schema, {"result": [1]}).data == {"result": [1]}


def test_what_lies_beside_what_is_wrapped_is_told() -> None:
    capture = data(wrapping(NUMBERS), {"result": [1], "page": 2})
    assert (capture.data, capture.stderr) == (
        [1],
        b"[structured content has more than `result`: page; not shown]\n",
    )


def test_a_wrapper_without_its_content_is_a_fault() -> None:
    assert data(wrapping(NUMBERS), {"page": 2}).outcome is Outcome.FAULTED


def test_the_structured_content_of_an_error_is_kept_as_it_is() -> None:
    capture = data(wrapping(NUMBERS), {"error": 7}, isError=True)
    assert (capture.exit_code, capture.data) == (1, {"error": 7})


def test_a_program_gets_what_is_wrapped_by_its_type(tmp_path: Path) -> None:
    listed = {"tools": [tool("get-all", outputSchema=wrapping(NUMBERS, required=["result"]))]}
    answer = {"content": [{"type": "text", "text": "1 2"}], "structuredContent": {"result": [1, 2]}}
    workspace = raw(tmp_path, {"tools/list": listed, "tools/call": answer})

    async def do(ws: Any) -> Any:
        end = await ws.python("import litany_tools\nprint(litany_tools.s_get_all().data[1])")
        return end, ws.toolset().stubs()

    end, stubs = within(workspace, do)
    assert end.stdout == b"2\n"
    assert "def s_get_all() -> Result[list[int]]:" in stubs
