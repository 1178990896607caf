"""From a program's bytes to a verdict, or to code.

Everything here is for a process that can be lost: CPython's own parser and compiler are part of what a
hostile program attacks. The supervisor never calls it.
"""

from __future__ import annotations
import __future__

import ast
import gc
import io
import tokenize
import warnings
from typing import TYPE_CHECKING, Any

from litany_runtime.policy import state
from litany_runtime.policy.constants import equip
from litany_runtime.policy.refusals import RefusedTextError
from litany_runtime.policy.transformer import Policy
from litany_runtime.policy.violations import PolicyError, Violation

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from types import CodeType

MAX_SOURCE_BYTES = 4 * 1024 * 1024
"""At this size a text of nothing but names takes some ten seconds and 1.5 GB to parse and compile. The
supervisor's own limit, `Limits.source_bytes`, is lower by default."""

LARGE_SOURCE_BYTES = 1_000_000
"""From here on, memory that runs out is laid to the program's size and not to its nesting."""


_LESS_TEXT = "read data from a file instead of writing it into the program"


def check(source: bytes, filename: str = "program.py", extra_modules: Sequence[str] = ()) -> list[Violation]:
    """The verdict on a program, without running it. Never raises.

    Args:
        source: the program's text; UTF-8 or with a PEP 263 cookie.
        filename: the name shown in syntax errors.
        extra_modules: modules the operator added.

    Returns:
        Every violation, in the order of their places; empty for a program that may run.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _translate(source, filename, None, extra_modules)[1]


def compile_program(source: bytes, filename: str = "program.py") -> CodeType:
    """Check, rewrite and compile a program for `execute`.

    Raises:
        PolicyError: the program may not run; carries every violation.
    """
    prepared = state.prepared
    private = None if prepared is None else prepared.private
    extra = () if prepared is None else prepared.extra_modules
    code, found = _translate(source, filename, private, extra)
    if code is None:
        raise PolicyError(found, filename)
    return code


def _translate(
    source: bytes, filename: str, private: frozenset[str] | None, extra: Sequence[str]
) -> tuple[CodeType | None, list[Violation]]:
    if len(source) > MAX_SOURCE_BYTES:
        message = f"the program has {len(source)} bytes, more than {MAX_SOURCE_BYTES}"
        return None, [Violation(0, 0, "too-large", message, _LESS_TEXT)]
    # A large tree is all live objects; collecting while it grows would only walk it again and again.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _judge(source, filename, private, extra)
    finally:
        if collecting:
            gc.enable()


def _judge(
    source: bytes, filename: str, private: frozenset[str] | None, extra: Sequence[str]
) -> tuple[CodeType | None, list[Violation]]:
    try:
        tree = ast.parse(source, filename)
        policy = Policy(private, extra)
        policy.run(tree)
        if policy.found:
            return None, _places(policy.found, source)
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        if policy.stars:
            compile(source, filename, "exec", flags=flags, dont_inherit=True)
        return equip(compile(tree, filename, "exec", flags=flags, dont_inherit=True)), []
    except (SyntaxError, ValueError, OverflowError) as error:
        return None, [_from_syntax_error(error)]
    except (RecursionError, MemoryError) as error:
        if isinstance(error, MemoryError) and len(source) > LARGE_SOURCE_BYTES:
            message = f"there is not enough memory to parse the program's {len(source)} bytes"
            return None, [Violation(0, 0, "too-large", message, _LESS_TEXT)]
        message = "the program is nested too deeply for the interpreter's parser or compiler"
        return None, [
            Violation(0, 0, "too-deep", message, "split long expressions and deep nesting into steps")
        ]


def compile_text(text: str | bytes, filename: str, mode: str, flags: int, known: Collection[str]) -> CodeType:
    """Check, rewrite and compile text that a running program evaluates.

    Args:
        text: an exact str or bytes.
        filename: the name shown in tracebacks.
        mode: as for `compile`.
        flags: of future statements, and for an await at the top level.
        known: refused builtins that are the program's own names where the text runs.

    Raises:
        SyntaxError: the text is no Python, or may not run; a `RefusedTextError` then.
        ValueError, RecursionError, MemoryError: as `compile` raises them.
    """
    if len(text) > MAX_SOURCE_BYTES:
        raise ValueError(f"the text is longer than {MAX_SOURCE_BYTES} ({_LESS_TEXT})")
    prepared = state.prepared
    policy = Policy(
        None if prepared is None else prepared.private, () if prepared is None else prepared.extra_modules
    )
    tree: Any = compile(text, filename, mode, flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    policy.names.bound.update(known)
    policy.names.is_text = True
    policy.run(tree, annotations_are_text=bool(flags & __future__.annotations.compiler_flag))
    if policy.found:
        source = text if isinstance(text, bytes) else text.encode(errors="replace")
        first, *more = _places(policy.found, source)
        message = f"{first.rule}: {first.message} ({first.hint})" + (
            f", and {len(more)} more" if more else ""
        )
        lines = source.decode(errors="replace").splitlines()
        line = lines[first.line - 1] if 0 < first.line <= len(lines) else None
        raise RefusedTextError(message, (filename, first.line, first.column, line))
    if policy.stars:
        compile(text, filename, mode, flags, dont_inherit=True)
    return equip(compile(tree, filename, mode, flags, dont_inherit=True))


def _from_syntax_error(error: Exception) -> Violation:
    text = str(error.msg) if isinstance(error, SyntaxError) else str(error)
    line = (error.lineno or 0) if isinstance(error, SyntaxError) else 0
    column = (error.offset or 0) if isinstance(error, SyntaxError) else 0
    if "encoding" in text or "codec" in text or "utf-8" in text or "UTF-8" in text:
        return Violation(line, max(column, 0), "encoding", text, "write the program in UTF-8")
    if "null byte" in text:
        return Violation(
            line, max(column, 0), "syntax", text, "remove the null bytes; write them as \\0 in strings"
        )
    return Violation(line, max(column, 0), "syntax", text, "mend the syntax at this place")


def _places(found: list[tuple[ast.AST, str, str, str]], source: bytes) -> list[Violation]:
    """Columns in characters: the tree counts UTF-8 bytes, editors and people count characters."""
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(source).readline)[0]
        lines = source.decode(encoding).splitlines()
    except (SyntaxError, UnicodeError, LookupError):  # the parser read it, so only its columns are lost
        lines = []
    violations = set()
    for node, rule, message, hint in found:
        line, offset = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        text = lines[line - 1].encode()[:offset] if 0 < line <= len(lines) else b" " * offset
        violations.add(Violation(line, len(text.decode(errors="replace")) + 1, rule, message, hint))
    return sorted(violations)
