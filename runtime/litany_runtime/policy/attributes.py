"""Attributes: left alone, looked at when the program runs, or refused (`names.py` has the tables)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from litany_runtime.policy.constants import guard
from litany_runtime.policy.formatting import attribute_names
from litany_runtime.policy.names import (
    ATTRIBUTE_HINTS,
    GENERAL_ATTRIBUTE_HINT,
    HOOKS,
    INNARDS,
    LOOKED_AT,
    LOOKED_AT_DUNDERS,
    LOOKED_AT_WHEN_SET,
    PLAIN_ATTRIBUTES,
    RESERVED_PREFIX,
    REVIEWED_PRIVATE,
    SPECIAL_NAMES,
    STORABLE_DUNDERS,
)
from litany_runtime.policy.naming import NameRules
from litany_runtime.policy.private_names import is_dunder

if TYPE_CHECKING:
    from collections.abc import Collection

# The guards, as the rewritten tree names them (`constants.py`); `guards.py` says what each does.
ATTRIBUTE, PRIVATE, UPDATED, INIT, CLASS = "attribute", "private", "updated", "init", "class_of"
TYPE, OWN = "type", "own"
VALUE = RESERVED_PREFIX + "value"
"""A local variable: what `type(x) in own` was asked of is what is read, whoever rebinds `x` meanwhile."""


class AttributeRules(NameRules):
    """Judges attributes where they are read and set.

    Args:
        private: private attribute names that library objects carry; those need a look on other objects than
            the program's own. None means every private name.
        extra_modules: modules the operator added.
    """

    def __init__(self, private: Collection[str] | None, extra_modules: Collection[str]) -> None:
        super().__init__(extra_modules)
        self._private = private

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        name = self.mangled(node.attr)
        if self.scope.in_text:
            return self._in_text(node, name)
        if name[0] == "_":
            return self._underscored(node, name)
        if name in INNARDS:
            self._refuse_attribute(node, "introspection", name, "is not available")
        elif type(node.ctx) is ast.Load:
            if name in LOOKED_AT:
                return self._look(node, name)
            self.names.read_from_module(node, self.place)
        elif name in LOOKED_AT_WHEN_SET:
            node.value = self._guarded(node.value, UPDATED, name)
            return node
        else:
            self.names.used_on_module(node)
        self.descend(node)
        return node

    def _in_text(self, node: ast.Attribute, name: str) -> ast.AST:
        """An annotation that becomes text again is not rewritten; who evaluates it judges it (`mends.py`)."""
        if name in INNARDS or (is_dunder(name) and name not in PLAIN_ATTRIBUTES):
            self._refuse_attribute(node, "dunder-attribute", name, "may not be read")
        self.descend(node)
        return node

    def _underscored(self, node: ast.Attribute, name: str) -> ast.AST:
        if is_dunder(name):
            return self._dunder(node, name)
        if name.startswith(RESERVED_PREFIX):
            self.refuse_reserved(node, name)
        elif self.needs_look(name):
            self.names.used_on_module(node)
            node.value = self._own_or_looked_at(node.value, name)
            return node
        self.descend(node)
        return node

    def needs_look(self, name: str) -> bool:
        """Whether a private name may be a library's."""
        return name not in REVIEWED_PRIVATE and (self._private is None or name in self._private)

    def _dunder(self, node: ast.Attribute, name: str) -> ast.AST:
        if name not in SPECIAL_NAMES:  # a name of somebody's own
            node.value = self._own_or_looked_at(node.value, name)
            return node
        if name in HOOKS and _is_super(node.value) and not node.value.args:  # type: ignore[attr-defined]
            self.descend(node)
            return node
        if type(node.ctx) is ast.Load:
            if name == "__class__":
                return self._guarded(node.value, CLASS)
            if name == "__init__":
                if _is_super(node.value):
                    self.descend(node)
                else:
                    node.value = self._guarded(node.value, INIT)
                return node
            if name in LOOKED_AT_DUNDERS:
                return self._look(node, name)
            if name not in PLAIN_ATTRIBUTES:
                self._refuse_attribute(node, "dunder-attribute", name, "may not be read")
        elif name not in STORABLE_DUNDERS:
            self._refuse_attribute(node, "dunder-attribute", name, "may not be set")
        self.descend(node)
        return node

    def _refuse_attribute(self, node: ast.AST, rule: str, name: str, what: str) -> None:
        hint = ATTRIBUTE_HINTS.get(name, GENERAL_ATTRIBUTE_HINT)
        self.refuse(node, rule, f"the attribute {name} {what}: it leads into the interpreter", hint)

    def _look(self, node: ast.Attribute, name: str) -> ast.AST:
        if name == "format" and isinstance(node.value, ast.Constant) and type(node.value.value) is str:
            # The commonest call of all: the text is here, so it is judged here.
            names = attribute_names(node.value.value)
            bad = [n for n in names if n[:1] == "_" or n in INNARDS]
            if bad:
                message = f"the format string reads the attribute {bad[0]}"
                self.refuse(node, "format-string", message, "pass the value itself as an argument")
            if not names:
                return node
        return self._guarded(node.value, ATTRIBUTE, name)

    def _guarded(self, value: ast.expr, name: str, *constants: str) -> ast.Call:
        """`guards.name(value, constant, …)`; the value waits its turn where it now is."""
        func = guard(name, value)
        arguments: list[ast.expr] = [value, *(ast.copy_location(ast.Constant(c), value) for c in constants)]
        call = ast.copy_location(ast.Call(func, arguments, []), value)
        self.pending.append((value, call, "args", 0, self.scope))
        return call

    def _own_or_looked_at(self, value: ast.expr, name: str) -> ast.expr:
        """`(v if type(v := x) in own else look(v, name))`: nearly free for the program's own objects."""
        if not (self.scope.in_function and isinstance(value, ast.Name)):
            return self._guarded(value, PRIVATE, name)

        def at(node: ast.expr) -> Any:
            return ast.copy_location(node, value)

        def kept_value() -> Any:
            return at(ast.Name(VALUE, ast.Load()))

        kept = at(ast.NamedExpr(at(ast.Name(VALUE, ast.Store())), value))
        kind = at(ast.Call(guard(TYPE, value), [kept], []))
        is_own = at(ast.Compare(kind, [ast.In()], [guard(OWN, value)]))
        look = at(ast.Call(guard(PRIVATE, value), [kept_value(), at(ast.Constant(name))], []))
        self.pending.append((value, kept, "value", -1, self.scope))
        either: ast.IfExp = at(ast.IfExp(is_own, kept_value(), look))
        return either

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        target = node.target
        if isinstance(target, ast.Attribute) and (
            target.attr in LOOKED_AT or target.attr in LOOKED_AT_DUNDERS
        ):
            # Its read part has no node of its own that a guard could take the place of.
            self.descend_into(node, "value")
            target.value = self._guarded(target.value, UPDATED, target.attr)
            return node
        self.descend(node)
        return node


def _is_super(node: ast.expr) -> bool:
    """Whether an expression is a call of `super`, whose `__init__` is read all the time."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
