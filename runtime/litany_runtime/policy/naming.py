"""Names: what a program may bind and read.

Every binding form is checked against the reserved prefix. There are sixteen of them, and one that is missed
(positional-only parameters, CVE-2026-55830) gives the guards away.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from litany_runtime.policy import imports
from litany_runtime.policy.constants import guard
from litany_runtime.policy.names import (
    BINDABLE_DUNDERS,
    BINDING_BUILTINS,
    CALLS_REFUSED,
    CLASS_BODY_NAMES,
    HOOKS,
    METHODS_REFUSED,
    READABLE_DUNDERS,
    RESERVED_PREFIX,
    SPECIAL_NAMES,
)
from litany_runtime.policy.private_names import is_dunder
from litany_runtime.policy.walk import Scope, Walk

if TYPE_CHECKING:
    from collections.abc import Collection


METACLASSES = frozenset({"ABCMeta", "type"})
"""What a class statement may name as its metaclass; whose object the name is, is looked at when it runs."""


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


class NameRules(Walk):
    """Judges names where they are bound and read, and imports.

    Args:
        extra_modules: modules the operator added.
    """

    def __init__(self, extra_modules: Collection[str]) -> None:
        super().__init__()
        self._extra = extra_modules

    def bind(self, node: ast.AST, name: str | None, *, method: bool = False) -> None:
        """Judge a name that the program binds, whatever the form."""
        if name is None:
            return
        self.names.bound.add(name)
        self.names.assigned.add(name)
        if name[0] == "_":
            self._judge(node, name, BINDABLE_DUNDERS, method=method)

    def _judge(self, node: ast.AST, name: str, allowed: Collection[str], *, method: bool = False) -> None:
        name = self.mangled(name)
        if name.startswith(RESERVED_PREFIX):
            self.refuse_reserved(node, name)
        elif is_dunder(name) and name in SPECIAL_NAMES and name not in allowed:
            in_class_body = bool(self.scope.cls) and not self.scope.in_function
            if in_class_body and name in CLASS_BODY_NAMES:
                return
            if name in HOOKS:
                message = f"{name} is defined by a def in a class body only"
                self.refuse(node, "special-method", message, "write the method in the class itself")
            elif method and name in METHODS_REFUSED:
                message = f"{name} may not be defined: it would run behind the program's back"
                self.refuse(node, "special-method", message, METHODS_REFUSED[name])
            else:
                hint = CALLS_REFUSED.get(name) or METHODS_REFUSED.get(name)
                hint = hint or "choose a name without the double underscores"
                self.refuse(node, "dunder-name", f"the name {name} is not available", hint)

    def refuse_reserved(self, node: ast.AST, name: str) -> None:
        """Note a name that belongs to the guards."""
        message = f"{name} begins with {RESERVED_PREFIX}, which is reserved"
        self.refuse(node, "reserved-name", message, "choose another name")

    def mangled(self, name: str) -> str:
        """The name as the compiler will see it: in a class, `__x` becomes `_Class__x`."""
        cls = self.scope.cls.lstrip("_")
        if cls and name.startswith("__") and not name.endswith("__"):
            return f"_{cls}{name}"
        return name

    def visit_Name(self, node: ast.Name) -> ast.AST:
        name = node.id
        if type(node.ctx) is ast.Load:
            if name in BINDING_BUILTINS:
                self.names.by_text = True
            elif name in CALLS_REFUSED:
                self.names.builtins_read.append(node)
            elif name[0] == "_":
                self._judge(node, name, READABLE_DUNDERS)
        else:
            self.bind(node, name, method=bool(self.scope.cls))
        return node

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        if (
            node.name in HOOKS
            and type(node) is ast.FunctionDef
            and self.scope.cls
            and not self.scope.in_function
        ):
            node.decorator_list.insert(0, guard(node.name.strip("_"), node))
        else:
            self.bind(node, node.name, method=True)
        self.descend_into(node, "decorator_list")
        self.descend_into(node, "args", Scope(self.scope.cls))
        self.descend_into(node, "type_params", Scope(self.scope.cls))
        self.descend_into(node, "returns", self.annotation_scope())
        self.descend_into(node, "body", Scope(self.scope.cls, in_function=True))
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self.descend(node, Scope(self.scope.cls))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.bind(node, node.name)
        for keyword in node.keywords:
            if keyword.arg == "metaclass" and _last_name(keyword.value) not in METACLASSES:
                self.refuse(
                    keyword,
                    "metaclass",
                    "only ABCMeta and type can be metaclasses: another answers for the classes it makes",
                    "inherit from abc.ABC, use a class decorator, or define __init_subclass__",
                )
        self.descend_into(node, "decorator_list")
        for field in ("bases", "keywords", "type_params"):
            self.descend_into(node, field, Scope(self.scope.cls))
        self.descend_into(node, "body", Scope(node.name))
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        self.bind(node, node.arg)
        self.descend(node, self.annotation_scope())
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        if node.arg is not None and node.arg.startswith(RESERVED_PREFIX):
            self.refuse_reserved(node, node.arg)
        self.descend(node)
        return node

    def _scope_statement(self, node: ast.Global | ast.Nonlocal) -> ast.AST:
        for name in node.names:
            self.bind(node, name)
        return node

    visit_Global = visit_Nonlocal = _scope_statement

    def _named(self, node: Any) -> Any:
        self.bind(node, node.name)
        self.descend(node)
        return node

    visit_ExceptHandler = visit_TypeVar = visit_ParamSpec = visit_TypeVarTuple = _named
    visit_MatchStar = visit_MatchAs = _named

    def visit_Import(self, node: ast.Import) -> ast.AST:
        for alias in node.names:
            problem = imports.module_problem(alias.name, self._extra)
            if problem and self._must_fail(node):
                self.refuse(alias, "import", *problem)
            name = alias.asname or alias.name.partition(".")[0]
            self._imported(node, alias, name, alias.name if alias.asname else name)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if node.level or node.module is None:  # an ImportError at its place, as in any program
            for alias in node.names:
                self._imported(node, alias, alias.asname or alias.name, "")
            return node
        certain = self._must_fail(node)
        unlisted = imports.module_problem(node.module, self._extra)
        if unlisted and certain:
            self.refuse(node, "import", *unlisted)
            return node
        for alias in node.names:
            if alias.name == "*":
                if not unlisted:
                    self.names.imported_star(node.module)
                continue
            problem = imports.name_problem(node.module, alias.name)
            if problem and certain:
                self.refuse(alias, "import-name", *problem)
            self._imported(node, alias, alias.asname or alias.name, f"{node.module}.{alias.name}")
        return node

    def _must_fail(self, node: ast.Import | ast.ImportFrom) -> bool:
        """Whether an import that fails ends the program: no condition, function or handler is around it.

        Any other import raises at its place, where the program may make sense of it.
        """
        return self.names.is_top_level(node)

    def _imported(self, node: ast.Import | ast.ImportFrom, alias: ast.alias, name: str, module: str) -> None:
        if name[0] == "_":
            self._judge(alias, name, BINDABLE_DUNDERS)
        self.names.imported(node, name, module)

    def refuse_absent(self) -> None:
        """Once the whole program is known: names of modules that are known and are not offered here."""
        for node, module, name in self.names.reads_of_modules():
            if imports.is_absent(module, name) and not self.names.is_expected(node):
                self.refuse(node, "import-name", *imports.name_problem(module, name) or ())

    def refuse_builtins(self) -> None:
        """Once the whole program is known: refused builtins that are not names of its own."""
        for node in self.names.builtins_refused():
            message = f"{node.id} is not available: a program's text is checked before it runs"
            self.refuse(node, "builtin", message, CALLS_REFUSED[node.id])
