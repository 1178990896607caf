"""The walk over a program's syntax tree: what it may not say is noted, what needs a look is rewritten.

RestrictedPython's transformer supplies the principle (a node without a visitor is refused) and the
visitors for what needs no thought. What differs here, and why:

- **No guard on ordinary nodes.** Its `_getattr_`, `_getitem_`, `_getiter_`, `_write_`, `_inplacevar_`, `_apply_`
  and unpacking helpers run on every access at run time. An attribute name is a constant: it is judged here, and
  the node is left alone. Items, iteration, calls and unpacking reach only what the program already has.
- **No recursion.** Children are put on a stack instead of being visited at once, so a deep tree costs
  memory and not the interpreter's stack. A visitor looks at its own node only; when it replaces the node, the
  children are found where they then are.
- **Every binding form is checked** against the reserved prefix: there are fifteen, and a missed one
  (positional-only parameters, CVE-2026-55830) gives the guards away.
- **Patterns cannot hold calls**, so what would be looked at elsewhere is refused inside `case`.
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any, TypeAlias

from RestrictedPython.transformer import RestrictingNodeTransformer

from litany_runtime.policy import imports
from litany_runtime.policy.formatting import attribute_names
from litany_runtime.policy.name_use import NameUse, put
from litany_runtime.policy.names import (
    ATTRIBUTE_HINTS,
    BINDABLE_DUNDERS,
    CALLS_REFUSED,
    GENERAL_ATTRIBUTE_HINT,
    INNARDS,
    LOOKED_AT,
    LOOKED_AT_DUNDERS,
    LOOKED_AT_WHEN_SET,
    METHODS_REFUSED,
    PLAIN_ATTRIBUTES,
    READABLE_DUNDERS,
    RESERVED_PREFIX,
    REVIEWED_PRIVATE,
    STORABLE_DUNDERS,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    Visitor: TypeAlias = Callable[["Policy", Any], ast.AST]

EXCEPT_STAR_IS_SOUND = sys.version_info >= (3, 13, 2)
"""CPython fixed the type confusion of `except*` (CVE-2025-22153) in 3.13.2."""

# The guards, as the rewritten tree names them; `guards.py` says what each does.
ATTRIBUTE = RESERVED_PREFIX + "attribute"
PRIVATE = RESERVED_PREFIX + "private"
UPDATED = RESERVED_PREFIX + "updated"
INIT = RESERVED_PREFIX + "init"
TYPE = RESERVED_PREFIX + "type"
OWN = RESERVED_PREFIX + "own"
CLASS = RESERVED_PREFIX + "class"
LEAVES = frozenset(
    {
        ast.Load,
        ast.Store,
        ast.Del,
        ast.And,
        ast.Or,
        ast.Add,
        ast.Sub,
        ast.Mult,
        ast.MatMult,
        ast.Div,
        ast.Mod,
        ast.Pow,
    }
    | {
        ast.LShift,
        ast.RShift,
        ast.BitOr,
        ast.BitXor,
        ast.BitAnd,
        ast.FloorDiv,
        ast.Invert,
        ast.Not,
        ast.UAdd,
        ast.USub,
    }
    | {ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn}
)
"""Nodes that hold nothing."""


class Policy(RestrictingNodeTransformer):  # type: ignore[misc]
    """Walks one tree. Make one, call `run`, then read `found`.

    Args:
        private: private attribute names that library objects carry; those need a look on other objects than
            the program's own. None means every private name.
        extra_modules: modules the operator added.
    """

    _visitors: dict[type[ast.AST], Visitor] = {}  # noqa: RUF012 - one cache for all walks

    def __init__(self, private: Collection[str] | None, extra_modules: Collection[str] = ()) -> None:
        super().__init__()
        self.found: list[tuple[ast.AST, str, str, str]] = []
        self._private = private
        self._extra = extra_modules
        self._pending: list[tuple[ast.AST, ast.AST, str, int, str]] = []
        self._class = ""
        self._place: tuple[ast.AST, str, int] = (ast.Module(), "", -1)
        self._names = NameUse()

    # -- the walk -------------------------------------------------------------------------------------------

    def run(self, tree: ast.Module) -> ast.Module:
        """Check and rewrite a whole program, in place."""
        self._names.begin(tree)
        self._descend(tree)
        pending = self._pending
        while pending:
            node, parent, field, index, self._class = pending.pop()
            self._place = (parent, field, index)
            new = self.visit(node)
            if new is not node:
                put(parent, field, index, new)
        for node in self._names.builtins_refused():
            name = node.id
            self._refuse(
                node,
                "builtin",
                f"{name} is not available: a program's text is checked before it runs",
                CALLS_REFUSED[name],
            )
        if not self.found:
            self._names.fold()
        return tree

    def visit(self, node: ast.AST) -> ast.AST:
        """Judge one node; its children wait their turn."""
        kind = type(node)
        visitor = self._visitors.get(kind)
        if visitor is None:
            visitor = getattr(type(self), "visit_" + kind.__name__, type(self).generic_visit)
            self._visitors[kind] = visitor
        return visitor(self, node)

    def node_contents_visit(self, node: ast.AST) -> ast.AST:
        """What the inherited visitors call for a node that needs no thought."""
        self._descend(node)
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """A node without a visitor: unknown to the review, so refused."""
        name = type(node).__name__
        self._refuse(
            node,
            "construct",
            f"{name} is syntax that this policy was not reviewed for",
            "write it in another way",
        )
        return node

    def _descend(self, node: ast.AST, inside: str | None = None) -> None:
        inside = self._class if inside is None else inside
        pending = self._pending
        for field in node._fields:
            value = getattr(node, field, None)
            if type(value) is list:
                for index, item in enumerate(value):
                    if isinstance(item, ast.AST) and type(item) not in LEAVES:
                        pending.append((item, node, field, index, inside))
            elif isinstance(value, ast.AST) and type(value) not in LEAVES:
                pending.append((value, node, field, -1, inside))

    def _refuse(self, node: ast.AST, rule: str, message: str, hint: str) -> None:
        self.found.append((node, rule, message, hint))

    # -- names ----------------------------------------------------------------------------------------------

    def _bind(self, node: ast.AST, name: str | None, what: str = "name") -> None:
        """Check a name that the program binds, whatever the form."""
        if name is None:
            return
        self._names.bound.add(name)
        if name[0] == "_":
            self._check_underscored(node, name, BINDABLE_DUNDERS, what)

    def _check_underscored(self, node: ast.AST, name: str, allowed: Collection[str], what: str) -> None:
        name = self._mangled(name)
        if name.startswith(RESERVED_PREFIX):
            self._refuse(
                node,
                "reserved-name",
                f"{name} begins with {RESERVED_PREFIX}, which is reserved",
                "choose another name",
            )
        elif name.startswith("__") and name.endswith("__") and name not in allowed:
            if name in METHODS_REFUSED and what == "method":
                self._refuse(
                    node,
                    "special-method",
                    f"{name} may not be defined: it would run behind the program's back",
                    METHODS_REFUSED[name],
                )
            else:
                hint = (
                    CALLS_REFUSED.get(name)
                    or METHODS_REFUSED.get(name)
                    or "choose a name without the double underscores"
                )
                self._refuse(node, "dunder-name", f"the name {name} is not available", hint)

    def _mangled(self, name: str) -> str:
        """The name as the compiler will see it: in a class, `__x` becomes `_Class__x`."""
        if self._class and name.startswith("__") and not name.endswith("__"):
            return f"_{self._class.lstrip('_')}{name}" if self._class.strip("_") else name
        return name

    def visit_Name(self, node: ast.Name) -> ast.AST:
        name = node.id
        if type(node.ctx) is ast.Load:
            if name in CALLS_REFUSED:
                self._names.builtins_read.append(node)
            elif name[0] == "_":
                self._check_underscored(node, name, READABLE_DUNDERS, "variable")
        else:
            what = "method" if self._class and type(node.ctx) is ast.Store else "name"
            self._bind(node, name, what)
        return node

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self._bind(node, node.name, "method")
        self._descend(node)
        return node

    visit_FunctionDef = _visit_function
    visit_AsyncFunctionDef = _visit_function

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._descend(node)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        self._bind(node, node.arg, "parameter")
        self._descend(node)
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        if node.arg is not None and node.arg[0] == "_" and node.arg.startswith(RESERVED_PREFIX):
            self._refuse(
                node,
                "reserved-name",
                f"{node.arg} begins with {RESERVED_PREFIX}, which is reserved",
                "choose another name",
            )
        self._descend(node)
        return node

    def _visit_scope_statement(self, node: ast.Global | ast.Nonlocal) -> ast.AST:
        for name in node.names:
            self._bind(node, name)
        return node

    visit_Global = _visit_scope_statement
    visit_Nonlocal = _visit_scope_statement

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        self._bind(node, node.name)
        self._descend(node)
        return node

    def _visit_type_parameter(self, node: Any) -> ast.AST:
        self._bind(node, node.name, "type parameter")
        self._descend(node)
        return node

    visit_TypeVar = _visit_type_parameter
    visit_ParamSpec = _visit_type_parameter
    visit_TypeVarTuple = _visit_type_parameter

    # -- classes --------------------------------------------------------------------------------------------

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._bind(node, node.name, "class")
        for keyword in node.keywords:
            if keyword.arg == "metaclass":
                self._refuse(
                    keyword,
                    "metaclass",
                    "metaclass= is not available: a metaclass runs code while classes are made",
                    "inherit from abc.ABC for abstract classes, from enum.Enum for enumerations; otherwise use a class decorator",
                )
        for field in ("decorator_list", "bases", "keywords", "type_params", "body"):
            inside = node.name if field == "body" else self._class
            for index, item in enumerate(getattr(node, field, ())):
                self._pending.append((item, node, field, index, inside))
        return node

    # -- attributes -----------------------------------------------------------------------------------------

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        name = node.attr
        if name[0] != "_":
            if name in INNARDS:
                self._refuse_innards(node, name)
            elif type(node.ctx) is ast.Load:
                if name in LOOKED_AT:
                    return self._look(node, name)
                self._names.read_from_module(node, self._place)
            elif name in LOOKED_AT_WHEN_SET:
                node.value = self._call(node.value, UPDATED, node.value, name)
                return node
            self._descend(node)
            return node
        name = self._mangled(name)
        if name.startswith("__") and name.endswith("__") and len(name) > 4:
            return self._visit_dunder_attribute(node, name)
        if name.startswith(RESERVED_PREFIX):
            self._refuse(
                node,
                "reserved-name",
                f"{name} begins with {RESERVED_PREFIX}, which is reserved",
                "choose another name",
            )
        elif self._needs_look(name):
            node.value = self._own_or_look(node.value, name)
            return node
        self._descend(node)
        return node

    def _own_or_look(self, value: ast.expr, name: str) -> ast.expr:
        """`(x if type(x) in own else look(x, name))`: nearly free for the program's own objects."""
        if not isinstance(value, ast.Name):
            return self._call(value, PRIVATE, value, name)

        def again() -> ast.Name:
            return ast.copy_location(ast.Name(value.id, ast.Load()), value)

        def at(node: ast.expr) -> Any:
            return ast.copy_location(node, value)

        kind = at(ast.Call(at(ast.Name(TYPE, ast.Load())), [again()], []))
        is_own = at(ast.Compare(kind, [ast.In()], [at(ast.Name(OWN, ast.Load()))]))
        look = at(ast.Call(at(ast.Name(PRIVATE, ast.Load())), [again(), at(ast.Constant(name))], []))
        either: ast.IfExp = at(ast.IfExp(is_own, value, look))
        self._pending.append((value, either, "body", -1, self._class))
        return either

    def _needs_look(self, name: str) -> bool:
        return name not in REVIEWED_PRIVATE and (self._private is None or name in self._private)

    def _refuse_innards(self, node: ast.AST, name: str) -> None:
        hint = ATTRIBUTE_HINTS.get(name, GENERAL_ATTRIBUTE_HINT)
        self._refuse(
            node,
            "introspection",
            f"the attribute {name} is not available: it leads into the interpreter",
            hint,
        )

    def _visit_dunder_attribute(self, node: ast.Attribute, name: str) -> ast.AST:
        if type(node.ctx) is ast.Load:
            if name in PLAIN_ATTRIBUTES:
                self._descend(node)
                return node
            if name == "__class__":
                return self._call(node, CLASS, node.value)
            if name == "__init__":
                if _is_super(node.value):
                    self._descend(node)
                else:
                    node.value = self._call(node.value, INIT, node.value)
                return node
            if name in LOOKED_AT_DUNDERS:
                return self._look(node, name)
        elif name in STORABLE_DUNDERS:
            self._descend(node)
            return node
        verb = "read" if type(node.ctx) is ast.Load else "set"
        hint = ATTRIBUTE_HINTS.get(name, GENERAL_ATTRIBUTE_HINT)
        self._refuse(
            node,
            "dunder-attribute",
            f"the attribute {name} may not be {verb}: it leads from an object into the interpreter",
            hint,
        )
        self._descend(node)
        return node

    def _look(self, node: ast.Attribute, name: str) -> ast.AST:
        if name == "format" and isinstance(node.value, ast.Constant) and type(node.value.value) is str:
            # The commonest call of all: the text is here, so it is judged here.
            names = attribute_names(node.value.value)
            bad = [n for n in names if n[:1] == "_" or n in INNARDS]
            if bad:
                self._refuse(
                    node,
                    "format-string",
                    f"the format string reads the attribute {bad[0]}",
                    "format the value itself: pass it as an argument",
                )
            if not names:
                return node
        return self._call(node, ATTRIBUTE, node.value, name)

    def _call(self, node: ast.expr, guard: str, value: ast.expr, *constants: str) -> ast.Call:
        """`guard(value, constant, …)` in the place of `node`; the value waits its turn where it now is."""
        func = ast.copy_location(ast.Name(guard, ast.Load()), node)
        arguments: list[ast.expr] = [value, *(ast.copy_location(ast.Constant(c), node) for c in constants)]
        call = ast.copy_location(ast.Call(func, arguments, []), node)
        self._pending.append((value, call, "args", 0, self._class))
        return call

    # -- statements and expressions with a thought to them --------------------------------------------------

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        target = node.target
        if isinstance(target, ast.Attribute) and (
            target.attr in LOOKED_AT or target.attr in LOOKED_AT_DUNDERS
        ):
            # Its read part has no node of its own that a guard could take the place of.
            self._pending.append((node.value, node, "value", -1, self._class))
            target.value = self._call(target.value, UPDATED, target.value, target.attr)
            return node
        self._descend(node)
        return node

    def _visit_plain(self, node: ast.AST) -> ast.AST:
        self._descend(node)
        return node

    # What RestrictedPython guards at run time, or refuses, and what is left alone here.
    visit_Assign = _visit_plain
    visit_AnnAssign = _visit_plain
    visit_NamedExpr = _visit_plain
    visit_Subscript = _visit_plain
    visit_Call = _visit_plain
    visit_For = _visit_plain
    visit_AsyncFor = _visit_plain
    visit_With = _visit_plain
    visit_AsyncWith = _visit_plain
    visit_Await = _visit_plain
    visit_comprehension = _visit_plain
    visit_ListComp = _visit_plain
    visit_SetComp = _visit_plain
    visit_DictComp = _visit_plain
    visit_GeneratorExp = _visit_plain
    visit_Starred = _visit_plain
    visit_Constant = _visit_plain
    visit_FormattedValue = _visit_plain
    visit_JoinedStr = _visit_plain
    visit_TypeAlias = _visit_plain
    visit_Module = _visit_plain

    def visit_TryStar(self, node: Any) -> ast.AST:
        if not EXCEPT_STAR_IS_SOUND:
            version = ".".join(map(str, sys.version_info[:3]))
            self._refuse(
                node,
                "except-star",
                f"except* is not available on Python {version}, whose implementation confuses types",
                "write `except ExceptionGroup as group:` and group.split(ErrorType)",
            )
        self._descend(node)
        return node

    # -- patterns -------------------------------------------------------------------------------------------

    visit_Match = _visit_plain
    visit_match_case = _visit_plain
    visit_MatchSingleton = _visit_plain
    visit_MatchSequence = _visit_plain
    visit_MatchOr = _visit_plain

    def _check_pattern_value(self, node: ast.expr) -> None:
        """A value in a pattern: literals and dotted names, which must stay what they are."""
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute):
                self._check_pattern_attribute(each, each.attr)
            elif isinstance(each, ast.Name):
                self.visit_Name(each)

    def _check_pattern_attribute(self, node: ast.AST, name: str) -> None:
        real = self._mangled(name)
        dunder = real.startswith("__") and real.endswith("__")
        if (
            real in INNARDS
            or real in LOOKED_AT
            or (real not in PLAIN_ATTRIBUTES if dunder else real[0] == "_" and self._needs_look(real))
        ):
            self._refuse(
                node,
                "pattern",
                f"a pattern may not read the attribute {name}",
                "bind the object with `as name` and read the attribute in the case's body",
            )

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        self._check_pattern_value(node.value)
        return node

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.AST:
        self._bind(node, node.rest)
        for key in node.keys:
            self._check_pattern_value(key)
        for index, pattern in enumerate(node.patterns):
            self._pending.append((pattern, node, "patterns", index, self._class))
        return node

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        self._check_pattern_value(node.cls)
        for name, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
            self._check_pattern_attribute(pattern, name)
        for field in ("patterns", "kwd_patterns"):
            for index, pattern in enumerate(getattr(node, field)):
                self._pending.append((pattern, node, field, index, self._class))
        return node

    def visit_MatchStar(self, node: ast.MatchStar) -> ast.AST:
        self._bind(node, node.name)
        return node

    def visit_MatchAs(self, node: ast.MatchAs) -> ast.AST:
        self._bind(node, node.name)
        self._descend(node)
        return node

    # -- imports --------------------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> ast.AST:
        for alias in node.names:
            problem = imports.module_problem(alias.name, self._extra)
            if problem:
                self._refuse(alias, "import", *problem)
            name = alias.asname or alias.name.partition(".")[0]
            self._check_import_name(alias, name)
            self._names.imported(node, name, alias.name if alias.asname else name)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if node.level or node.module is None:
            self._refuse(
                node, "import", "a program has no package to import from", "import a module by its full name"
            )
            return node
        problem = imports.module_problem(node.module, self._extra)
        if problem:
            self._refuse(node, "import", *problem)
            return node
        for alias in node.names:
            if alias.name == "*":
                self._names.imported_star(node.module)
                continue
            problem = imports.name_problem(node.module, alias.name)
            if problem:
                self._refuse(alias, "import-name", *problem)
            name = alias.asname or alias.name
            self._check_import_name(alias, name)
            self._names.imported(node, name, f"{node.module}.{alias.name}")
        return node

    def _check_import_name(self, node: ast.alias, name: str) -> None:
        if name[0] == "_":
            self._check_underscored(node, name, BINDABLE_DUNDERS, "import")


def _is_super(node: ast.expr) -> bool:
    """Whether an expression is a call of `super`, whose `__init__` is read all the time."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
