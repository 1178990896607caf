"""`eval`, `exec` and `compile` of text, and the namespaces it runs in: `globals`, `locals`, `vars`.

Text is judged and rewritten as the program itself is, by the same walk, each time it is compiled; what is
refused is a SyntaxError with the place in the text. Three things keep that from being a way out:

- **Code stays here.** `compile` gives an object of `Code`, whose real code no attribute leads to, and
  `eval` and `exec` take nothing else, no code object from elsewhere.
- **A dict given as globals decides nothing.** The guards are constants of the code (`constants.py`), so a
  dict whose `__builtins__` are the program's own replaces the program's builtins and no guard. Where the
  dict has no `__builtins__`, the interpreter adds those of the running frame; so text is run from a frame
  whose builtins are the program's (`run_in`), whoever changes the dict meanwhile.
- **A frame's names are given to that frame's code alone.** Called by a library's code
  (`pool.submit(locals)`), these functions mean the program's globals.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import os
import sys
import types
from typing import TYPE_CHECKING, Any, Self

from litany_runtime.policy import constants, ownership, reentry, source, state
from litany_runtime.policy.names import BINDABLE_DUNDERS, CALLS_REFUSED, RESERVED_PREFIX, REVIEWED_PRIVATE
from litany_runtime.policy.private_names import is_dunder, is_private

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

FUTURE_FLAGS = 0
for _name in __future__.all_feature_names:
    FUTURE_FLAGS |= getattr(__future__, _name).compiler_flag

FLAGS = FUTURE_FLAGS | ast.PyCF_ONLY_AST | ast.PyCF_TYPE_COMMENTS | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
"""What `compile` takes as flags."""

CELL_NAMES = frozenset({"__classdict__", "__classcell__"})
"""Names under which the interpreter keeps a class body's own namespace."""

MODES = ("exec", "eval", "single")


class Code:
    """Compiled text: what `compile` returns, for `eval` and `exec`."""

    __slots__: tuple[str, ...] = ("_kept",)

    def __new__(cls) -> Self:
        """Refuse: `compile` makes them."""
        raise TypeError("a code object is made by compile() only")

    def __copy__(self) -> Code:
        return self

    def __deepcopy__(self, memo: object) -> Code:
        return self

    def __eq__(self, other: object) -> bool:
        return type(other) is Code and _parts(self)[0] == _parts(other)[0]

    def __hash__(self) -> int:
        return hash(_parts(self)[0])

    def __repr__(self) -> str:
        code, _, filename, _, _ = _parts(self)
        return f'<code object {code.co_name}, file "{filename}", line {code.co_firstlineno}>'

    def __init_subclass__(cls) -> None:
        raise TypeError("type 'code' is not an acceptable base type")


Code.__name__ = Code.__qualname__ = "code"
Code.__module__ = "builtins"
_parts: Callable[[Code], tuple[CodeType, Any, str, str, int]] = Code.__dict__["_kept"].__get__
_keep: Callable[[Code, Any], None] = Code.__dict__["_kept"].__set__
delattr(Code, "_kept")  # from here on only these two functions reach it
Code.__slots__ = ()


def names_in(code: Code) -> tuple[str, ...]:
    """The names that text uses, as its author wrote them (`co_names`)."""
    _, text, filename, mode, flags = _parts(code)
    plain: CodeType = builtins.compile(text, filename, mode, flags, dont_inherit=True)
    return plain.co_names


def compile_(
    source: Any,
    filename: Any,
    mode: Any,
    flags: Any = 0,
    dont_inherit: Any = False,
    optimize: Any = -1,
    *,
    _feature_version: Any = -1,
) -> Any:
    """Compile source into a code object that can be executed by exec() or eval()."""
    name = str.__add__("", os.fsdecode(filename))
    flags = int(flags)
    if flags & ~FLAGS:
        raise ValueError("compile(): unrecognised flags")
    if not isinstance(mode, str) or str.__add__("", mode) not in (*MODES, "func_type"):
        raise ValueError("compile() mode must be 'exec', 'eval' or 'single'")
    mode = str.__add__("", mode)
    if not dont_inherit:
        flags |= _inherited(sys._getframe(1))
    text = _text_of_tree(source, mode) if isinstance(source, ast.AST) else _text(source, "compile()")
    if flags & ast.PyCF_ONLY_AST:
        return builtins.compile(text, name, mode, flags, dont_inherit=True)
    if mode == "func_type":
        raise ValueError("compile() mode 'func_type' requires flag PyCF_ONLY_AST")
    code = object.__new__(Code)
    _keep(code, (_compiled(text, name, mode, flags, frozenset()), text, name, mode, flags))
    return code


def eval_(source: Any, /, globals: Any = None, locals: Any = None) -> Any:
    """Evaluate the given source in the context of globals and locals."""
    names, variables, _ = _namespaces("eval", globals, locals, sys._getframe(1))
    if type(source) is Code:
        return run_in(eval, _parts(source)[0], names, variables)
    text = _text(source, "eval()").lstrip(
        b" \t" if isinstance(source, (bytes, bytearray, memoryview)) else " \t"
    )
    flags = _inherited(sys._getframe(1))
    code = _compiled(text, "<string>", "eval", flags, _known(names, variables))
    return run_in(eval, code, names, variables)


def exec_(source: Any, /, globals: Any = None, locals: Any = None, *, closure: Any = None) -> None:
    """Execute the given source in the context of globals and locals."""
    if closure is not None:
        raise TypeError("closure can only be used when source is a code object with free variables")
    names, variables, body = _namespaces("exec", globals, locals, sys._getframe(1))
    if type(source) is Code:
        code = _parts(source)[0]
    else:
        flags = _inherited(sys._getframe(1))
        code = _compiled(_text(source, "exec()"), "<string>", "exec", flags, _known(names, variables))
    try:
        run_in(exec, code, names, variables)
    finally:
        if body is not None:
            _into_class(body, variables)


def globals_() -> dict[str, Any]:
    """Return the dictionary containing the current scope's global variables."""
    frame = sys._getframe(1)
    return frame.f_globals if constants.is_programs(frame.f_code) else ownership.program_globals()


def locals_() -> Any:
    """Return a dictionary containing the current scope's local variables."""
    return local_names(sys._getframe(1))


def local_names(frame: FrameType) -> Any:
    """The variables of a frame of the program's; the program's globals for any other."""
    code = frame.f_code
    if not constants.is_programs(code):
        return ownership.program_globals()
    names: Any = frame.f_locals
    if names is frame.f_globals or code.co_name == constants.MODULE_CODE:
        return names
    if type(names) is not dict or constants.is_class_body(
        code
    ):  # a class's own is not written past the rules
        names = dict(names)
    for name in [n for n in names if type(n) is str and (n in CELL_NAMES or n.startswith(RESERVED_PREFIX))]:
        del names[name]
    return names


def _namespaces(what: str, globals: Any, locals: Any, frame: FrameType) -> tuple[Any, Any, Any]:
    """Globals, locals, and the class body that new locals are to reach."""
    body = None
    if globals is None:
        programs = constants.is_programs(frame.f_code)
        globals = frame.f_globals if programs else ownership.program_globals()
        if locals is None:
            locals = local_names(frame)
            if constants.is_class_body(frame.f_code):
                body = frame.f_locals
    elif type(globals) is not dict:
        if isinstance(globals, dict):
            raise TypeError(
                f"{what}() globals must be a plain dict here, not {type(globals).__name__}, whose methods "
                "the interpreter would not ask (pass it as locals)"
            )
        said = "globals must be a dict"
        raise TypeError(said if what == "eval" else f"exec() {said}, not {type(globals).__name__}")
    return globals, globals if locals is None else locals, body


def _into_class(body: Any, names: Any) -> None:
    """Bind in a class body what text bound there, by a rule that needs to know no base."""
    prepared = state.prepared
    private = frozenset() if prepared is None else prepared.private
    for name, value in names.items():
        if name in CELL_NAMES or (name in body and body[name] is value):
            continue
        if type(name) is not str or (is_dunder(name) and name not in BINDABLE_DUNDERS):
            raise TypeError(f"exec() in a class body cannot bind {name} (write it in the class itself)")
        if is_private(name) and name in private and name not in REVIEWED_PRIVATE:
            raise TypeError(f"exec() in a class body cannot bind {name} (write it in the class itself)")
        body[name] = value


def _inherited(frame: FrameType) -> int:
    """The future statements that hold where text is compiled."""
    code = frame.f_code
    return code.co_flags & FUTURE_FLAGS if constants.is_programs(code) else 0


def _text(source: Any, what: str) -> Any:
    """An exact str or bytes: no other object's methods are asked."""
    if isinstance(source, str):
        return str.__add__("", source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return memoryview(source).tobytes()
    if isinstance(source, types.CodeType):
        raise TypeError(f"{what} runs code that compile() made here, no other")
    raise TypeError(f"{what} arg 1 must be a string, bytes or code object")


_ROOTS = {"exec": ast.Module, "eval": ast.Expression, "single": ast.Interactive}


def _text_of_tree(tree: ast.AST, mode: str) -> str:
    """A tree's text, so that what is judged and what is compiled came from the parser."""
    root = _ROOTS.get(mode)
    if root is None or type(tree) is not root:
        expected = "FunctionType" if root is None else root.__name__
        raise TypeError(f"expected {expected} node, got {type(tree).__name__}")
    text = ast.unparse(tree)
    if type(text) is not str:
        raise TypeError("the tree's text is no string")
    return text


def _known(names: Any, variables: Any) -> frozenset[str]:
    """The refused builtins that are the program's own names where text runs."""
    return frozenset(
        name
        for name in CALLS_REFUSED
        if not is_dunder(name) and (name in names or (type(variables) is dict and name in variables))
    )


_compiled_before: dict[tuple[Any, ...], CodeType] = {}
KEPT_TEXTS = 256
"""How many compiled texts are kept: programs evaluate the same one again and again."""

KEPT_LENGTH = 1000
"""Longer texts are compiled anew each time."""


def _compiled(text: Any, filename: str, mode: str, flags: int, known: frozenset[str]) -> CodeType:
    key = (text, filename, mode, flags, known)
    code = _compiled_before.get(key)
    if code is None:
        code = source.compile_text(text, filename, mode, flags, known)
        reentry.watch(code)
        if len(text) <= KEPT_LENGTH:
            if len(_compiled_before) >= KEPT_TEXTS:
                _compiled_before.clear()
            _compiled_before[key] = code
    return code


def _run(run: Any, code: CodeType, globals: Any, locals: Any) -> Any:
    return run(code, globals, locals)


run_in: Callable[[Any, CodeType, Any, Any], Any] = _run
"""Runs code with `eval` or `exec`, in a frame whose builtins are the program's once `begin` was called."""


def begin(program_builtins: dict[str, Any]) -> CodeType:
    """Take the program's builtins; the code that runs text is returned, for the audit hook."""
    global run_in  # noqa: PLW0603 - one process, one set of builtins
    run_in = types.FunctionType(_run.__code__, {"__builtins__": program_builtins})
    return _run.__code__
