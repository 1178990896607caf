"""`--tools FILE.py`: the `@tool` functions of a Python file, for one run; the file is the operator's own."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING

from litany_engine.cli.common import CommandError, UsageError
from litany_engine.door.calls import Tool

if TYPE_CHECKING:
    from pathlib import Path


def load_tools(path: Path) -> list[Tool]:
    """Run a Python file and take the tools at its top level.

    Raises:
        CommandError: it cannot be read, fails, or has no tool; names file, line and cause.
    """
    if not path.is_file():  # a pipe neither: it would be waited on, and its name ends in no .py
        raise UsageError(f"{path}: {'not a regular file' if path.exists() else 'there is no such file'}")
    name = f"litany_tools_of_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: not a Python file; its name ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and type hints look their module up
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise CommandError(f"{error.filename}:{error.lineno}: {error.msg}") from error
    except (Exception, SystemExit) as error:
        ours = type(error).__module__.startswith("litany_")  # written for a reader already
        what = str(error) if ours else f"{type(error).__name__}: {error}"
        raise CommandError(f"{path}:{_line_in(error, spec.origin)}: {what}") from error
    tools = [value for value in vars(module).values() if isinstance(value, Tool)]
    if not tools:
        raise CommandError(f"{path}: no tool in it; put @tool (from litany_engine) above a function")
    return tools


def _line_in(error: BaseException, file: str | None) -> int:
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
