"""The table of gates: its page, its order, and that each row refuses in its own name."""

from __future__ import annotations

from pathlib import Path

from litany_engine.door.front_door import within
from litany_engine.door.gates import GATES, STAGES

PAGE = Path(__file__).parents[2] / "docs/front-door.md"


def test_the_page_is_what_the_table_says() -> None:
    page = PAGE.read_text()
    assert page == within(page), "run: python -m litany_engine.door.front_door docs/front-door.md"


def test_the_order_is_what_the_page_promises() -> None:
    assert [gate.name for gate in GATES] == [
        "id", "authority", "depth", "grant", "availability", "schema", "rules", "control", "budget"
    ]  # fmt: skip
    assert [stage.name for stage in STAGES] == ["executor", "screens", "record"]


def test_each_gate_is_one_small_function_with_a_reason_for_its_place() -> None:
    for gate in GATES:
        assert gate.judge.__doc__
        assert gate.refuses
        assert gate.why
