"""The page's tables are the policy's own."""

from __future__ import annotations

import ast

from litany_runtime.policy import document
from litany_runtime.policy.rules import RULES
from policy_runner import ROOT

PAGE = ROOT / "docs" / "language.md"
POLICY = ROOT / "runtime" / "litany_runtime" / "policy"


def test_the_page_says_what_the_policy_does() -> None:
    page = PAGE.read_text()
    assert document.render(page) == page, "run: python -m litany_runtime.policy.document docs/language.md"


def test_every_table_is_in_the_page() -> None:
    page = PAGE.read_text()
    for name in document.tables():
        assert f"<!-- table: {name} -->" in page


def test_the_rules_of_the_code_are_the_rules_of_the_table() -> None:
    """Every rule that the code names is described, and every description has code."""
    used = set()
    for path in POLICY.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and node.value in RULES and path.name != "rules.py":
                used.add(node.value)
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "refuse"
            ):
                rule = node.args[1]
                if isinstance(rule, ast.Constant):
                    assert rule.value in RULES
    assert used == set(RULES)
