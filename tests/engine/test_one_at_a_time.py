"""Calls of tools that cannot bear company: a program, its docs and its records say that they wait."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio

from litany_engine import open_workspace_blocking, tool
from litany_engine.records.show import show_json, show_text
from litany_engine.tools.definitions import Provenance, Traits
from litany_engine.workspaces.new_workspace import init_workspace
from litany_runtime.outcome import Outcome
from litany_stubs.declared import ONE_AT_A_TIME

NAP_S = 0.1


@tool(traits=Traits(concurrency_safe=False))
async def alone(n: int) -> str:
    """Takes its time."""
    await trio.sleep(NAP_S)
    return str(n)


@tool
async def beside(n: int) -> str:
    """Takes its time."""
    await trio.sleep(NAP_S)
    return str(n)


PROGRAM = """
import json, litany_tools as t
found = [t.fan_out(t.alone, [1, 2, 3]), t.fan_out(t.beside, [1, 2, 3])]
print(json.dumps([[[r.duration_s, r.waited_s] for r in each] for each in found]))
print("waited_s=" in repr(found[0][-1]), "waited_s" in repr(t.invoke("nope")))
print(t.search("alone"))
print(t.search("beside"))
"""


def test_calls_that_waited_for_one_another_say_so_in_docs_results_records_and_show(tmp_path: Path) -> None:
    workspace = init_workspace(tmp_path / "ws", agent="a")
    with open_workspace_blocking(workspace.root, tools=[alone, beside]) as ws:
        end = ws.python(PROGRAM, agent="a", deadline="60s")
    assert end.outcome is Outcome.COMPLETED, end.stderr
    times, shown, docs = end.stdout.decode().split("\n", 2)
    waits = sorted(waited for _, waited in json.loads(times)[0])
    assert waits[1] >= NAP_S * 0.9
    assert waits[2] >= NAP_S * 1.8
    assert all(waited < taken for each in json.loads(times) for taken, waited in each)
    assert shown == "True False"
    assert docs.count(ONE_AT_A_TIME) == 1
    assert docs.index("alone(n: int)") < docs.index(ONE_AT_A_TIME) < docs.index("beside(n: int)")
    assert end.record is not None
    records = [end.record.with_name(f"{end.call.id}-{k}") for k in (1, 2, 3)]
    recorded = [json.loads((each / "output.json").read_text()).get("waited_s", 0) for each in records]
    assert sorted(recorded) == pytest.approx(waits, abs=0.002)
    last = records[recorded.index(max(recorded))]
    assert "for its turn" in next(
        line for line in show_text(end.record).splitlines() if f"{last.name} " in line
    )
    assert "waited  " in show_text(last)
    assert show_json(last)["waited_s"] == pytest.approx(max(recorded))


@pytest.mark.parametrize(
    ("traits", "one_at_a_time"),
    [
        (Traits(), False),
        (Traits(concurrency_safe=True), False),
        (Traits(concurrency_safe=False), True),
        (Traits(concurrency_safe=lambda _: False), False),  # each call is judged by itself
        (Traits(barrier=True), True),
        (Traits(concurrency_safe=True, barrier=True), True),
        (Traits(concurrency_safe=True, provenance=Provenance("server", trusted=False)), True),
    ],
)
def test_what_runs_one_at_a_time_is_known_beforehand(traits: Traits, one_at_a_time: bool) -> None:
    assert traits.runs_one_at_a_time is one_at_a_time
