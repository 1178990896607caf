"""Calls of tools that cannot be, found in a program's text before it runs: unknown tools, wrong arguments.

It looks at names alone and needs no type checker, so that it can be done in the confined child, where a
stranger's text may be parsed. What it finds is a warning: the door refuses the call anyway, if it is made. So
it keeps silent wherever it cannot tell: a name that is bound twice, arguments behind a star, a tool that the
program asks for by `hasattr` first.
"""

from __future__ import annotations

import ast
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from litany_stubs.finding import listed
from litany_stubs.names import is_parameter_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from litany_stubs.client import Tool

MODULE = "litany_tools"

MAX_FOUND = 20
"""Calls that are told of; a program with more has one cause for most."""


def look(source: str | bytes, filename: str, module: ModuleType) -> list[str]:
    """Return what is wrong with a program's calls of its tools, one line for each, in the order of the text.

    Args:
        source: the program; one that does not parse has no findings, since that is told elsewhere.
        filename: what the lines begin with.
        module: its `litany_tools`.
    """
    try:
        tree = ast.parse(source, filename)
        found = sorted(set(_Look(tree, module).findings()))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    lines = [f"{filename}:{line}:{column + 1}: {text}" for line, column, text in found]
    more = len(lines) - MAX_FOUND
    return lines if more <= 0 else [*lines[:MAX_FOUND], f"{filename}: and {more} more calls that cannot be"]


Finding = tuple[int, int, str]


class _Look:
    def __init__(self, tree: ast.Module, module: ModuleType) -> None:
        self._tree = tree
        self._offers: dict[str, Any] = {name: vars(module)[name] for name in vars(module)["__all__"]}
        self._tools = list(vars(module)["__tools__"])
        self._functions = [name for name, each in self._offers.items() if hasattr(each, "__litany__")]
        behind = [each.__litany__ for each in self._offers.values() if hasattr(each, "__litany__")]
        self._by_name: dict[str, Tool] = {each.name: each for each in behind}
        self._imported: dict[str, str] = {}  # what a name of the program stands for: "", "aio", "read_file"
        self._asked: set[str] = set()
        bound: list[str] = []
        for node in ast.walk(tree):
            bound += _bound_by(node)
            self._read_import(node)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                self._read_question(node)
        for name in set(bound):  # the tools' no more, or not always
            self._imported.pop(name, None)

    def _read_import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for each in node.names:
                if each.name == MODULE:
                    self._imported[each.asname or MODULE] = ""
        elif isinstance(node, ast.ImportFrom) and node.module == MODULE and not node.level:
            for each in node.names:
                self._imported[each.asname or each.name] = each.name

    def _read_question(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in {"hasattr", "getattr"} and len(node.args) > 1:
            asked = node.args[1]
            if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
                self._asked.add(asked.value)

    def findings(self) -> Iterator[Finding]:
        if not self._imported:
            return
        for node in ast.walk(self._tree):
            if isinstance(node, ast.ImportFrom) and node.module == MODULE and not node.level:
                for each in node.names:
                    if each.name not in self._offers and each.name != "*":
                        yield node.lineno, node.col_offset, f"no tool {each.name}{self._guess(each.name)}"
            elif isinstance(node, ast.Call) and (name := self._meant(node.func)) is not None:
                yield from ((node.lineno, node.col_offset, text) for text in self._judge(name, node))

    def _meant(self, function: ast.expr) -> str | None:
        """Return what of the module a call calls, without its `aio`; None for all else."""
        parts: list[str] = []
        while isinstance(function, ast.Attribute):
            parts.insert(0, function.attr)
            function = function.value
        if not isinstance(function, ast.Name) or function.id not in self._imported:
            return None
        first = self._imported[function.id]
        parts = [first, *parts] if first else parts
        if parts[:1] == ["aio"]:
            del parts[0]
        return parts[0] if len(parts) == 1 and parts[0] not in self._asked else None

    def _judge(self, name: str, node: ast.Call) -> Iterator[str]:
        if name == "invoke":
            yield from self._judge_invoke(node)
        elif name == "fan_out":
            yield from self._judge_fan_out(node)
        elif name not in self._offers:
            if not name.startswith("_"):
                yield f"no tool {name} is granted{self._guess(name)}: its call will be refused"
        elif (behind := getattr(self._offers[name], "__litany__", None)) is not None:
            yield from self._fit(behind, len(node.args), _named(node), open_ended=_has_star(node))

    def _judge_invoke(self, node: ast.Call) -> Iterator[str]:
        if not node.args or not isinstance(node.args[0], ast.Constant) or _has_star(node):
            return
        name = node.args[0].value
        if not isinstance(name, str) or name in self._asked:
            return
        if name not in self._tools:
            yield f"no tool {name!r} is granted{self._guess(name)}: its call will be refused"
        elif (behind := self._by_name.get(name)) is not None:
            given, named = node.args[1:], _named(node)
            if len(given) == 1 and (keys := _keys(given[0])) is not None:
                yield from self._fit(behind, 0, [*keys, *named], by_invoke=True)
            elif all(isinstance(each, ast.Constant) and each.value is not None for each in given):
                yield from self._fit(behind, len(given), named, by_invoke=True)

    def _judge_fan_out(self, node: ast.Call) -> Iterator[str]:
        if len(node.args) < 2 or _has_star(node):
            return
        tool, items = node.args[:2]
        name: object = tool.value if isinstance(tool, ast.Constant) else self._meant(tool)
        if not isinstance(name, str):
            return
        if name not in self._tools and name not in self._offers and name not in self._asked:
            yield f"no tool {name} is granted{self._guess(name)}: its calls will be refused"
            return
        behind = self._by_name.get(name) or getattr(self._offers.get(name), "__litany__", None)
        if behind is None or not isinstance(items, (ast.List, ast.Tuple)):
            return
        for each in items.elts:
            keys = _keys(each)
            if keys is not None:
                yield from self._fit(behind, 0, keys)
            elif isinstance(each, ast.Tuple) and not any(isinstance(one, ast.Starred) for one in each.elts):
                yield from self._fit(behind, len(each.elts), [])

    def _fit(
        self,
        tool: Tool,
        positional: int,
        named: list[str],
        *,
        open_ended: bool = False,
        by_invoke: bool = False,
    ) -> Iterator[str]:
        """Say in Python's own words why arguments do not fit a tool's signature, if they do not."""
        takes = tool.takes()
        said = [each for each in named if is_parameter_name(each)]  # others are in no signature
        if by_invoke and tool.lax:
            said = [each for each in said if each in takes]
        given = dict.fromkeys(said)
        if open_ended:  # more may come than stands here, but nothing of it goes away
            given |= dict.fromkeys(each for each in takes[positional:] if each not in given)
        try:
            tool.function(*[None] * positional, **given)
        except TypeError as error:
            told = str(error).partition(". Did you mean")[0]  # as 3.13 goes on
            yield f"{told}; it takes {listed(takes)}"

    def _guess(self, name: str) -> str:
        close = get_close_matches(name, [*self._tools, *self._functions], 1, 0.6)
        return f" (did you mean {close[0]}?)" if close else f" (granted: {listed(self._tools)})"


def _bound_by(node: ast.AST) -> list[str]:
    """Return the names that a node binds, imports aside."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return [node.id]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.ExceptHandler) and node.name:
        return [node.name]
    if isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)) and getattr(node, "module", None) != MODULE:
        others = [each for each in node.names if each.name != MODULE]
        return [each.asname or each.name.partition(".")[0] for each in others]
    return []


def _named(node: ast.Call) -> list[str]:
    return [each.arg for each in node.keywords if each.arg is not None]


def _has_star(node: ast.Call) -> bool:
    return any(isinstance(each, ast.Starred) for each in node.args) or any(
        each.arg is None for each in node.keywords
    )


def _keys(node: ast.expr) -> list[str] | None:
    """Return the keys of a dict that stands in the text with all of them; None for all else."""
    if not isinstance(node, ast.Dict):
        return None
    found = [each.value for each in node.keys if isinstance(each, ast.Constant)]
    keys = [each for each in found if isinstance(each, str)]
    return keys if len(keys) == len(node.keys) else None
