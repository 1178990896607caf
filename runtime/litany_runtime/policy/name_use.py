"""What the names of a program stand for, as far as its text tells.

Two questions need the whole program: whether `eval` is the builtin or a function of the program's own, and
whether `math.sqrt` can only mean the library's. For the second, the attribute becomes a name of its own
(`name_math_sqrt`, beside the guards): views are read-only, so its value cannot change, and one look-up is
faster than two. That makes up for what a read-only module object costs where this does not apply.

It applies when every binding of the module's name is an `import` statement of that very module at the top
level of the program, and the use comes after it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from litany_runtime.policy.constants import guard
from litany_runtime.policy.modules import MODULES, NAMES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    Place = tuple[ast.AST, str, int]

NEVER_FOLDED = frozenset({"sys"})
"""Its streams are read afresh each time."""


def folded(module: str, name: str) -> str:
    """The name beside the guards that stands for `module.name`."""
    return f"name_{module.replace('.', '_')}_{name}"


class NameUse:
    """Collects while the tree is walked; answers afterwards."""

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.assigned: set[str] = set()
        self._imports: dict[str, set[str]] = {}
        self.builtins_read: list[ast.Name] = []
        self.annotations_are_text = False
        self._top_level: frozenset[int] = frozenset()
        self._modules: dict[str, tuple[str, int]] = {}
        self._reads: list[tuple[ast.Attribute, Place]] = []
        self._other_uses: list[tuple[ast.Attribute, ast.expr]] = []
        self._star = False
        self.by_text = False
        self.is_text = False
        """Whether this is text that a program evaluates: what is not there is told when it runs."""
        self._tree: ast.mod
        self._expected: _Expected | None = None

    def begin(self, tree: ast.mod) -> None:
        """Note which statements are the program's top level, and whether annotations stay text."""
        self._tree = tree
        body: list[ast.stmt] = [] if isinstance(tree, ast.Expression) else tree.body  # type: ignore[attr-defined]
        self._top_level = frozenset(id(statement) for statement in body)
        self.annotations_are_text = any(
            isinstance(statement, ast.ImportFrom)
            and statement.module == "__future__"
            and any(alias.name == "annotations" for alias in statement.names)
            for statement in body
        )

    def imported(self, statement: ast.Import | ast.ImportFrom, name: str, module: str) -> None:
        """An import statement binds `name` to `module` (or to a name that is no module)."""
        self._imports.setdefault(name, set()).add(module)
        if id(statement) not in self._top_level or module not in MODULES:
            self.bound.add(name)
            return
        known, line = self._modules.get(name, (module, statement.lineno))
        if known != module:
            self.bound.add(name)
        self._modules[name] = (module, min(line, statement.lineno))

    def imported_star(self, module: str) -> None:
        """A star import binds every name of a module."""
        if module in NAMES:
            self.bound |= NAMES[module]
        else:
            self._star = True

    def read_from_module(self, node: ast.Attribute, place: Place) -> None:
        """An attribute is read; perhaps from a module."""
        if isinstance(node.value, (ast.Name, ast.Attribute)):
            self._reads.append((node, place))

    def used_on_module(self, node: ast.Attribute) -> None:
        """An attribute is read or set, perhaps on a module. Call it before a guard is put there."""
        if isinstance(node.value, (ast.Name, ast.Attribute)):
            self._other_uses.append((node, node.value))

    def builtins_refused(self) -> Iterable[ast.Name]:
        """Reads of refused builtins that are not the program's own names."""
        return (n for n in self.builtins_read if n.id not in self.bound and n.id not in self._modules)

    def is_top_level(self, statement: ast.stmt) -> bool:
        """Whether a statement stands in the program's body itself."""
        return id(statement) in self._top_level and not self.is_text

    def reads_of_modules(self) -> Iterable[tuple[ast.Attribute, str, str]]:
        """Attributes read or set on what can only be a module, with the module's name and theirs."""
        if self._star or self.is_text:
            return
        for node, value in [*((node, node.value) for node, _ in self._reads), *self._other_uses]:
            if module := self._module_read(value):
                yield node, module, node.attr

    def _module_read(self, node: ast.expr) -> str:
        """The module that an expression can only mean; "" for any other expression."""
        if isinstance(node, ast.Name) and node.id not in self.assigned:
            modules = self._imports.get(node.id, set())
            return next(iter(modules)) if len(modules) == 1 else ""
        if isinstance(node, ast.Attribute) and (parent := self._module_read(node.value)):
            return f"{parent}.{node.attr}"
        return ""

    def is_expected(self, node: ast.Attribute) -> bool:
        """Whether the program expects that a name is missing: it handles AttributeError, or asks first."""
        self._expected = self._expected or _Expected(self._tree)
        return self._expected.holds(node)

    def fold(self) -> None:
        """Replace what can only be a library's name, unless text may bind the module's name anew."""
        if self._star or self.by_text:
            return
        modules = {name: m for name, m in self._modules.items() if name not in self.bound}
        if not modules:
            return
        for node, (parent, field, index) in self._reads:
            module = _module_of(node.value, modules)
            if module and module not in NEVER_FOLDED and node.attr in NAMES[module]:
                put(parent, field, index, guard(folded(module, node.attr), node))


def _module_of(node: ast.expr, modules: dict[str, tuple[str, int]]) -> str | None:
    if isinstance(node, ast.Name):
        module, line = modules.get(node.id, ("", 0))
        return module if module and node.lineno > line else None
    if isinstance(node, ast.Attribute):
        parent = _module_of(node.value, modules)
        module = f"{parent}.{node.attr}"
        return module if parent and module in MODULES else None
    return None


def put(parent: ast.AST, field: str, index: int, node: ast.AST) -> None:
    """Put a node where another was."""
    if index < 0:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


ASKS = frozenset({"hasattr", "getattr", "AttributeError", "TYPE_CHECKING"})
"""Names by which a condition shows that it knows that an attribute may be missing."""

SYSTEMS = frozenset({("sys", "platform"), ("sys", "version_info"), ("os", "name"), ("platform", "system")})
"""What programs ask to know the operating system, and the Python, that they run on."""


class _Expected:
    """Where a program expects that a module's name is missing.

    Attributes:
        names: the names that it asks for with `hasattr` or `getattr`.
        parts: the places, first to last, that run only under a condition or handle an AttributeError.
    """

    def __init__(self, tree: ast.mod) -> None:
        self.names: set[object] = set()
        self.parts: list[tuple[tuple[int, int], tuple[int, int]]] = []
        for node in ast.walk(tree):
            if isinstance(node, (ast.Try, ast.TryStar)):
                if any(handler.type and _names_any(handler.type, ASKS) for handler in node.handlers):
                    self._note(node.body[0], node.body[-1])
            elif isinstance(node, (ast.If, ast.IfExp)):
                if _names_any(node.test, ASKS):
                    self._note(node, node)
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ASKS
                and len(node.args) > 1
                and isinstance(node.args[1], ast.Constant)
            ):
                self.names.add(node.args[1].value)

    def _note(self, first: ast.stmt | ast.expr, last: ast.stmt | ast.expr) -> None:
        end = (last.end_lineno or 0, last.end_col_offset or 0)
        self.parts.append(((first.lineno, first.col_offset), end))

    def holds(self, node: ast.Attribute) -> bool:
        """Whether a name is read where the program expects that it is missing."""
        place = (node.lineno, node.col_offset)
        return node.attr in self.names or any(first <= place < last for first, last in self.parts)


def _names_any(test: ast.expr, names: Collection[str]) -> bool:
    return any(
        (isinstance(each, ast.Name) and each.id in names)
        or (
            isinstance(each, ast.Attribute)
            and isinstance(each.value, ast.Name)
            and (each.value.id, each.attr) in SYSTEMS
        )
        for each in ast.walk(test)
    )
