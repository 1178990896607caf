"""OpenTelemetry spans of calls: one for each, inner ones below the call that made them.

    from litany_engine.door.spans import trace_calls

    async with open_workspace("work") as ws:
        trace_calls(ws)

Attributes say which call, whose, and how it ended: names, ids, the outcome, the gate, sizes. What was asked
and answered is not among them, nor a program's text: those are the records', and may hold secrets.

Needs `pip install litany[otel]`, which brings the API alone; where spans go, the host decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from litany_engine.door.calls import CallEnd
from litany_engine.door.events import CallHeld, CallStarted
from litany_runtime.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from litany_engine.door.events import Event

_WELL = frozenset({Outcome.COMPLETED})


class Watched(Protocol):
    """What tells of its calls: an opened workspace, or a door."""

    def watch(self, watcher: Callable[[Event], None]) -> Callable[[], None]:
        """Tell of every call."""


def trace_calls(watched: Watched, tracer: Any = None) -> Callable[[], None]:
    """Make spans of the calls of a workspace.

    Args:
        watched: the workspace, or its door.
        tracer: the OpenTelemetry tracer; the global provider's when None.

    Returns:
        What ends it.
    """
    from opentelemetry import trace  # noqa: PLC0415  an extra

    spans: dict[tuple[str, str], Any] = {}
    tracer = tracer or trace.get_tracer("litany")

    def see(event: Event) -> None:
        if isinstance(event, CallStarted):
            above = spans.get((event.agent, event.parent or ""))
            context = None if above is None else trace.set_span_in_context(above)
            name = f"tool {event.call.name[:64]}"
            spans[event.agent, event.call.id] = tracer.start_span(
                name, context=context, attributes=_who(event.call.id, event.agent, event.parent)
            )
        elif isinstance(event, CallHeld):
            span = spans.get((event.agent, event.call.id))
            if span is not None:
                span.add_event("held", {"litany.gate": event.gate})
        elif isinstance(event, CallEnd):
            span = spans.pop((event.agent, event.call.id), None)
            if span is not None:
                span.set_attributes(_how(event))
                if event.outcome not in _WELL:
                    span.set_status(trace.StatusCode.ERROR, str(event.outcome))
                span.end()

    return watched.watch(see)


def _who(call_id: str, agent: str, parent: str | None) -> dict[str, str]:
    told = {"litany.call.id": call_id, "litany.agent.id": agent}
    return told if parent is None else {**told, "litany.call.parent": parent}


def _how(end: CallEnd) -> dict[str, str | int | float]:
    told: dict[str, str | int | float] = {
        "litany.outcome": str(end.outcome),
        "litany.exit_code": end.exit_code,
        "litany.stdout.bytes": len(end.stdout),
        "litany.stderr.bytes": len(end.stderr),
        "litany.duration_s": end.duration_s,
        "litany.inner_calls": len(end.calls),
    }
    if end.refusal is not None:
        told["litany.gate"] = end.refusal.gate
    return told
