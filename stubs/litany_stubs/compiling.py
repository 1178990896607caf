"""The text of `litany_tools` made into what a program gets: what runs alone, and every call to the door.

The text is for readers and type checkers: typed, with each parameter that must be given. A program that
leaves one out or misspells one would meet Python's own TypeError, which knows nothing of what a tool takes
and leaves no record. So here the functions are made to take anything:

    def read_file(*, path: str, limit: int | Unset = UNSET) -> Result[Any]:     the text
    def read_file(*positional, path=MISSING, limit=UNSET, **more):              what runs

and the schema gate says what is wrong and what the tool takes, as it does to everybody else. Only of a tool
whose schema accepts names that it does not list, the door would let a misspelt one through: there the call
stays a TypeError (`lax`).
"""

from __future__ import annotations

import ast
import inspect

POSITIONAL, MORE, MISSING = "_litany_positional", "_litany_more", "_litany_missing"

_IMPORT = ast.parse(f"from litany_stubs.client import MISSING as {MISSING}").body


def for_programs(tree: ast.Module) -> ast.Module:
    """Return the module of a program from the tree of the text; the tree is changed."""
    body = _without_types(tree.body)
    for each in body:
        if isinstance(each, ast.FunctionDef) and (call := call_of(each)) is not None:
            _take_anything(each.args, call)
            _clean_docstring(each)
    first = next(place for place, each in enumerate(body) if isinstance(each, ast.FunctionDef))
    body[first:first] = _IMPORT
    return ast.fix_missing_locations(ast.Module(body=body, type_ignores=[]))


def _without_types(body: list[ast.stmt]) -> list[ast.stmt]:
    """Replace every top-level `if TYPE_CHECKING:` by its `else` part."""
    found: list[ast.stmt] = []
    for each in body:
        if isinstance(each, ast.If) and isinstance(each.test, ast.Name) and each.test.id == "TYPE_CHECKING":
            found.extend(each.orelse)
        else:
            found.append(each)
    return found


def call_of(function: ast.FunctionDef) -> ast.Call | None:
    """The `_litany_call(name, {...})` that a tool's function returns; None for a function of another kind."""
    match function.body[-1]:
        case ast.Return(value=ast.Call(func=ast.Name(id="_litany_call")) as call):
            return call
    return None


def _clean_docstring(function: ast.FunctionDef) -> None:
    """Take the indentation out, as Python does itself from 3.13 on: `search` shows what is left."""
    match function.body[0]:
        case ast.Expr(value=ast.Constant(value=str() as text) as doc):
            doc.value = inspect.cleandoc(text)


def _take_anything(takes: ast.arguments, call: ast.Call) -> None:
    takes.vararg = ast.arg(POSITIONAL)
    takes.kw_defaults = [each or ast.Name(MISSING, ast.Load()) for each in takes.kw_defaults]
    call.keywords.append(ast.keyword("positional", ast.Name(POSITIONAL, ast.Load())))
    if takes.kwarg is None:  # a tool that takes arguments of any name has a place for them already
        takes.kwarg = ast.arg(MORE)
        call.keywords.append(ast.keyword("more", ast.Name(MORE, ast.Load())))
