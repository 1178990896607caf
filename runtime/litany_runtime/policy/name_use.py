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
        self._star = False
        self.by_text = False

    def begin(self, tree: ast.mod) -> None:
        """Note which statements are the program's top level, and whether annotations stay text."""
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

    def builtins_refused(self) -> Iterable[ast.Name]:
        """Reads of refused builtins that are not the program's own names."""
        return (n for n in self.builtins_read if n.id not in self.bound and n.id not in self._modules)

    def reads_of(self, names: Collection[str]) -> Iterable[tuple[ast.Attribute, str, str]]:
        """Reads of listed names (`os.environ`) on what can only be that module, with module and name."""
        if self._star:
            return
        for node, _ in self._reads:
            if isinstance(node.value, ast.Name) and node.value.id not in self.assigned:
                modules = self._imports.get(node.value.id, set())
                module = next(iter(modules)) if len(modules) == 1 else ""
                if f"{module}.{node.attr}" in names:
                    yield node, module, node.attr

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
