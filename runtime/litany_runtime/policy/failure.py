"""The traceback a model reads: its own lines, and none of the machinery around them."""

from __future__ import annotations

import linecache
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traceback import StackSummary, TracebackException

_HERE = str(Path(__file__).parent)


def describe_failure(error: BaseException, source: bytes, filename: str = "program.py") -> str:
    """The text that Python would print for an uncaught exception of a program.

    Args:
        error: what `execute` raised.
        source: the program's text, for the lines shown.
        filename: the name it was compiled under.
    """
    text = source.decode("utf-8", errors="replace")
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    report = traceback.TracebackException.from_exception(error, compact=True)
    _trim(report, filename)
    return "".join(report.format())


def _trim(report: TracebackException, filename: str) -> None:
    pending: list[TracebackException | None] = [report]
    while pending:
        each = pending.pop()
        if each is None:
            continue
        if each.stack:
            _trim_stack(each.stack, filename)
        pending += [each.__cause__, each.__context__, *(each.exceptions or ())]


def _trim_stack(stack: StackSummary, filename: str) -> None:
    """Drop what called the program, and the guards wherever they are."""
    first = next((i for i, frame in enumerate(stack) if frame.filename == filename), 0)
    stack[:] = [frame for frame in stack[first:] if not frame.filename.startswith(_HERE)]
