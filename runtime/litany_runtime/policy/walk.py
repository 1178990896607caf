"""The walk over a program's syntax tree, and the nodes it has no thought about.

RestrictedPython's transformer supplies the principle (a node without a visitor is refused) and the
visitors for what needs no thought. The walk itself differs:

- **No recursion.** Children are put on a stack instead of being visited at once, so a deep tree costs
  memory and not the interpreter's stack. A visitor looks at its own node only; when it replaces the
  node, the children are found where they then are.
- **No guard on ordinary nodes.** RestrictedPython's run-time helpers (`_getattr_`, `_getitem_`, `_getiter_`,
  `_write_`, `_inplacevar_`, `_apply_`, unpacking) slow a program two- to fivefold. Items, iteration, calls
  and unpacking reach only what the program already has; names are judged before it runs.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from RestrictedPython.transformer import RestrictingNodeTransformer

from litany_runtime.policy.name_use import NameUse, put

if TYPE_CHECKING:
    from collections.abc import Callable

    Visitor: TypeAlias = Callable[["Walk", Any], ast.AST]

LEAVES = frozenset(
    {ast.Load, ast.Store, ast.Del, *ast.boolop.__subclasses__(), *ast.unaryop.__subclasses__()}
    | {*ast.operator.__subclasses__(), *ast.cmpop.__subclasses__()}
)
"""Nodes that hold nothing."""


class Scope(NamedTuple):
    """Where a node stands.

    Attributes:
        cls: the nearest class around it, for the compiler's mangling of `__names`; "" for none.
        in_function: whether it runs in a function's own scope: no class's, comprehension's, module's.
        in_text: whether it is an annotation that the compiler turns back into text.
    """

    cls: str = ""
    in_function: bool = False
    in_text: bool = False


class Walk(RestrictingNodeTransformer):
    """Walks one tree; subclasses judge."""

    _visitors: ClassVar[dict[tuple[type, type[ast.AST]], Visitor]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[ast.AST, str, str, str]] = []
        self.names = NameUse()
        self.scope = Scope()
        self.place: tuple[ast.AST, str, int]
        self.pending: list[tuple[ast.AST, ast.AST, str, int, Scope]] = []

    def walk(self, tree: ast.mod, *, annotations_are_text: bool = False) -> None:
        """Judge every node, replacing some, in place."""
        self.names.begin(tree)
        self.names.annotations_are_text |= annotations_are_text
        self.descend(tree)
        pending = self.pending
        while pending:
            node, parent, field, index, self.scope = pending.pop()
            self.place = (parent, field, index)
            new = self.visit(node)
            if new is not node:
                put(parent, field, index, new)

    def visit(self, node: ast.AST) -> ast.AST:
        """Judge one node; its children wait their turn."""
        key = (type(self), type(node))
        visitor = self._visitors.get(key)
        if visitor is None:
            named: Visitor = getattr(key[0], "visit_" + key[1].__name__, key[0].generic_visit)
            visitor = self._visitors[key] = named
        return visitor(self, node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """A node without a visitor: unknown to the review, so refused."""
        name = type(node).__name__
        self.refuse(
            node,
            "construct",
            f"{name} is syntax that this policy was not reviewed for",
            "write it in another way",
        )
        return node

    def node_contents_visit(self, node: Any) -> Any:
        """What the inherited visitors call for a node that needs no thought."""
        self.descend(node)
        return node

    def descend(self, node: ast.AST, scope: Scope | None = None) -> None:
        """Let a node's children wait for their turn."""
        for field in node._fields:
            self.descend_into(node, field, scope)

    def descend_into(self, node: ast.AST, field: str, scope: Scope | None = None) -> None:
        """The same for one field of a node."""
        scope = scope or self.scope
        value = getattr(node, field, None)
        if type(value) is list:
            for index, item in enumerate(value):
                if isinstance(item, ast.AST) and type(item) not in LEAVES:
                    self.pending.append((item, node, field, index, scope))
        elif isinstance(value, ast.AST) and type(value) not in LEAVES:
            self.pending.append((value, node, field, -1, scope))

    def refuse(self, node: ast.AST, rule: str, message: str, hint: str) -> None:
        """Note a violation."""
        self.found.append((node, rule, message, hint))

    def _plain(self, node: ast.AST) -> ast.AST:
        self.descend(node)
        return node

    # What RestrictedPython guards at run time, or refuses, and what is left alone here.
    visit_Module = visit_Constant = visit_Subscript = visit_Call = visit_Starred = _plain
    visit_Assign = visit_NamedExpr = visit_Await = _plain
    visit_For = visit_AsyncFor = visit_With = visit_AsyncWith = visit_FormattedValue = visit_JoinedStr = (
        _plain
    )

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        for field in node._fields:
            self.descend_into(node, field, self.annotation_scope() if field == "annotation" else None)
        return node

    def annotation_scope(self) -> Scope:
        """Where an annotation stands: outside every function, and perhaps only as text."""
        return Scope(self.scope.cls, in_text=self.names.annotations_are_text)

    def _comprehension(self, node: ast.AST) -> ast.AST:
        self.descend(node, Scope(self.scope.cls))
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_comprehension = (
        _comprehension
    )
    visit_TypeAlias = _comprehension
