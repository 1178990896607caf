"""The language policy as one walk: names, attributes, patterns, and a statement with a rule of its own."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any

from litany_runtime.policy import groups
from litany_runtime.policy.attributes import AttributeRules
from litany_runtime.policy.names import INNARDS, LOOKED_AT, PLAIN_ATTRIBUTES
from litany_runtime.policy.private_names import is_dunder

if TYPE_CHECKING:
    from collections.abc import Collection

EXCEPT_STAR_IS_SOUND = sys.version_info >= (3, 13, 2)
"""CPython fixed the type confusion of `except*` (CVE-2025-22153) in 3.13.2."""


class Policy(AttributeRules):
    """Walks one tree. Make one, call `run`, then read `found`.

    Args:
        private: private attribute names that library objects carry; None means every private name.
        extra_modules: modules the operator added.
    """

    def __init__(self, private: Collection[str] | None, extra_modules: Collection[str] = ()) -> None:
        super().__init__(private, extra_modules)
        self.stars = 0
        """How many statements with `except*` were rewritten: then the compiler saw none of their own
        rules."""

    def run(self, tree: ast.mod, *, annotations_are_text: bool = False) -> None:
        """Check and rewrite a whole program, or text that one evaluates, in place.

        Args:
            tree: what was parsed.
            annotations_are_text: whether a future statement of what surrounds the text says so.
        """
        self.walk(tree, annotations_are_text=annotations_are_text)
        self.refuse_builtins()
        self.refuse_absent()
        if not self.found:
            self.names.fold()

    def visit_TryStar(self, node: Any) -> Any:
        if EXCEPT_STAR_IS_SOUND:
            self.descend(node)
            return node
        self.stars += 1
        statement, parts = groups.rewritten(node, self.stars)
        for field in ("body", "orelse", "finalbody"):
            self.descend_into(node, field)
        for test, clause, handler in parts:
            self.bind(handler, handler.name)
            self.pending.append((test.args[0], test, "args", 0, self.scope))
            self.descend_into(clause, "body")
        return statement

    # -- patterns: they cannot hold calls, so what would be looked at elsewhere is refused in them -

    def _pattern(self, node: ast.AST) -> ast.AST:
        self.descend(node)
        return node

    visit_Match = visit_match_case = visit_MatchSingleton = visit_MatchSequence = visit_MatchOr = _pattern

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        self._judge_value(node.value)
        return node

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.AST:
        self.bind(node, node.rest)
        for key in node.keys:
            self._judge_value(key)
        self.descend_into(node, "patterns")
        return node

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        self._judge_value(node.cls)
        for name, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
            self._judge_attribute(pattern, name)
        self.descend_into(node, "patterns")
        self.descend_into(node, "kwd_patterns")
        return node

    def _judge_value(self, node: ast.expr) -> None:
        """Literals and dotted names, which must stay what they are."""
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute):
                self._judge_attribute(each, each.attr)
            elif isinstance(each, ast.Name):
                self.visit_Name(each)

    def _judge_attribute(self, node: ast.AST, name: str) -> None:
        real = self.mangled(name)
        if is_dunder(real):
            refused = real not in PLAIN_ATTRIBUTES
        elif real[0] == "_":
            refused = self.needs_look(real)
        else:
            refused = real in INNARDS or real in LOOKED_AT
        if refused:
            hint = "bind the object with `as name` and read the attribute in the case's body"
            self.refuse(node, "pattern", f"a pattern may not read the attribute {name}", hint)
