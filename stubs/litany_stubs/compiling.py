"""The text of `litany_tools` made into what a program gets: what runs alone.

The text is for readers and type checkers, and it is what a program outside the sandbox imports. Loaded for a
confined program, it is without the parts that only those two need.
"""

from __future__ import annotations

import ast
import inspect


def for_programs(tree: ast.Module) -> ast.Module:
    """Return the module of a program from the tree of the text; the tree is changed."""
    body = _what_runs(tree.body)
    for each in body:
        if isinstance(each, ast.FunctionDef) and decorator_of(each) is not None:
            _clean_docstring(each)
    return ast.Module(body=body, type_ignores=[])


def _what_runs(body: list[ast.stmt]) -> list[ast.stmt]:
    """Replace every top-level `if TYPE_CHECKING:` by its `else` part; leave out `if not TYPE_CHECKING:`."""
    found: list[ast.stmt] = []
    for each in body:
        match each:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                found.extend(each.orelse)
            case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=ast.Name(id="TYPE_CHECKING"))):
                pass  # what `load_stubs` does itself
            case _:
                found.append(each)
    return found


def decorator_of(function: ast.FunctionDef) -> ast.Call | None:
    """The `@_litany_tool(name, ...)` of a tool's function; None for a function of another kind."""
    match function.decorator_list:
        case [ast.Call(func=ast.Name(id="_litany_tool")) as call]:
            return call
    return None


def _clean_docstring(function: ast.FunctionDef) -> None:
    """Take the indentation out, as Python does itself from 3.13 on: `search` shows what is left."""
    match function.body[0]:
        case ast.Expr(value=ast.Constant(value=str() as text) as doc):
            doc.value = inspect.cleandoc(text)
