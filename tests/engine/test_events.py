"""Who watches: progress, bounded and never late, and spans of calls."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import trio
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from door_kit import Place, make_place
from litany_engine.door.calls import CallEnd, Capture, Context, Tool, ToolCall
from litany_engine.door.door import Door
from litany_engine.door.events import MAX_REPORT_CHARS, CallReport, Event, Watchers
from litany_engine.door.spans import trace_calls
from litany_engine.tools.toolset import toolset
from litany_stubs.words import ToolDeclaration


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def reports_of(place: Place, *said: tuple[Any, Any]) -> list[CallReport]:
    kept: list[Context] = []

    async def execute(call: ToolCall, context: Context) -> Capture:
        kept.append(context)
        for message, fraction in said:
            context.report(message, fraction)
        return Capture()

    place.toolset = toolset([Tool(ToolDeclaration("t"), execute)])
    seen: list[Event] = []

    async def main() -> None:
        door = Door()
        door.watch(seen.append)
        await door.invoke("t", {}, place.caller())
        kept[0].report("too late")

    trio.run(main)
    assert isinstance(seen[-1], CallEnd)
    return [event for event in seen if isinstance(event, CallReport)]


def test_progress_is_told_as_it_comes_and_never_after_the_end(place: Place) -> None:
    reports = reports_of(place, ("half", 0.5), ("done", 1))
    assert [(each.message, each.fraction) for each in reports] == [("half", 0.5), ("done", 1.0)]


@pytest.mark.parametrize("fraction", [math.nan, math.inf, -1, 2, "x", None])
def test_a_fraction_that_is_none_is_left_out(place: Place, fraction: Any) -> None:
    assert reports_of(place, ("x", fraction))[0].fraction is None


def test_progress_of_a_total_is_told_with_its_fraction() -> None:
    seen: list[Event] = []
    watchers = Watchers()
    watchers.add(seen.append)
    call = ToolCall("c", "t", {})
    watchers.report(call, "", progress=3, total=4)
    watchers.report(call, "", progress=7)
    watchers.report(call, "", 0.5)
    watchers.report(call, "", progress=10**400, total="x")
    assert seen == [
        CallReport(call, "", 0.75, 3.0, 4.0),
        CallReport(call, "", None, 7.0, None),
        CallReport(call, "", 0.5, 0.5, 1.0),
        CallReport(call, "", None, None, None),
    ]


def test_a_long_report_keeps_its_end_and_says_so(place: Place) -> None:
    (report,) = reports_of(place, ("x" * 100_000 + "the end", None))
    assert len(report.message) == MAX_REPORT_CHARS
    assert report.message.startswith("…")
    assert report.message.endswith("the end")


def test_a_report_whose_text_cannot_be_made_is_no_error_of_the_call(place: Place) -> None:
    class Broken:
        def __str__(self) -> str:
            raise ValueError

    assert reports_of(place, (Broken(), None)) == []


def test_an_end_says_who_made_the_call_and_for_whom(place: Place) -> None:
    ends: list[CallEnd] = []

    async def main() -> None:
        door = Door()
        door.watch(lambda event: ends.append(event) if isinstance(event, CallEnd) else None)
        await door.invoke("relay", {"name": "nothing"}, place.caller(), call_id="T")

    trio.run(main)
    assert [(end.call.id, end.agent, end.parent) for end in ends] == [("T-1", "a", "T"), ("T", "a", None)]
    assert ends[0].refusal is not None
    assert ends[0].refusal.gate == "grant"


def test_spans_of_inner_calls_are_below_the_call_that_made_them_and_hold_no_content(place: Place) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    async def main() -> None:
        door = Door()
        end = trace_calls(door, provider.get_tracer("test"))
        asked = {"name": "read_file", "input": {"path": "a secret"}}
        await door.invoke("relay", asked, place.caller(), call_id="T")
        await door.invoke("relay", {"name": "nothing"}, place.caller(), call_id="U")
        end()
        await door.invoke("fail", {}, place.caller())

    trio.run(main)
    finished: Any = exporter.get_finished_spans()
    spans = {span.attributes["litany.call.id"]: span for span in finished}
    assert sorted(spans) == ["T", "T-1", "U", "U-1"]
    assert spans["T-1"].parent.span_id == spans["T"].context.span_id
    assert spans["T"].parent is None
    attributes = dict(spans["T-1"].attributes)
    assert attributes["litany.outcome"] == "completed"
    assert attributes["litany.stdout.bytes"] == len(b"content of a secret")
    assert spans["U-1"].attributes["litany.gate"] == "grant"
    assert spans["U-1"].status.is_ok is False
    assert "secret" not in str([(s.name, dict(s.attributes), s.events) for s in spans.values()])
