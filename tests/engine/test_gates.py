"""The table of gates: its page, its order, and that each row refuses in its own name."""

from __future__ import annotations

import ast
import re
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


# -- the table of kept, changed and dropped rules -------------------------------------------------------------------

RULES_PAGE = Path(__file__).parents[2] / "docs/front-door-rules.md"


def rules_of_the_page() -> list[tuple[str, str, str, list[str]]]:
    """Rule, what became of it, why, and the tests that are named for it."""
    rows = [line.strip().strip("|").split("|") for line in RULES_PAGE.read_text().splitlines() if "|" in line]
    cells = [[cell.strip() for cell in row] for row in rows]
    return [
        (rule, here, why, re.findall(r"`([a-z_]+::test_\w+)`", tests))
        for rule, here, why, tests in cells
        if here not in {"here", "---"}
    ]


def test_every_rule_is_kept_and_tested_or_changed_or_dropped_with_a_reason() -> None:
    rules = rules_of_the_page()
    assert len(rules) > 90
    for rule, here, why, tests in rules:
        assert here in {"kept", "changed", "dropped", "ours"}, rule
        assert why or here in {"kept", "ours"}, rule
        assert bool(tests) != (here == "dropped"), rule


def test_every_test_that_a_rule_names_is_there() -> None:
    named = {test for *_, tests in rules_of_the_page() for test in tests}
    there: set[str] = set()
    for module in {test.partition("::")[0] for test in named}:
        tree = ast.parse((Path(__file__).parent / f"test_{module}.py").read_text())
        functions = (each for each in tree.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)))
        there |= {f"{module}::{each.name}" for each in functions}
    assert named - there == set()
