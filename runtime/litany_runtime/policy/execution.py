"""Prepare once in the zygote, make a namespace in each child, run."""

from __future__ import annotations

import asyncio
import gc
import importlib
import io
import sys
import types
from typing import TYPE_CHECKING, Any

from litany_runtime.policy import guards, state
from litany_runtime.policy.builtin_names import program_builtins
from litany_runtime.policy.state import Prepared
from litany_runtime.policy.views import build_views, folded_names, importer, tools_view

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType

    from litany_runtime.program import FilePolicy

REVIEWED_VERSIONS = ((3, 11), (3, 12), (3, 13))
"""Python versions whose syntax, types and library this policy was reviewed and tested for."""


class NotReviewed(RuntimeError):
    """The running Python version was not reviewed for this policy."""


def prepare(extra_modules: Sequence[str] = ()) -> Prepared:
    """Import what programs may import and build what every program shares. Once, in the zygote.

    Args:
        extra_modules: modules the operator added; given to programs as they are.

    Raises:
        NotReviewed: this Python version was not reviewed.
        ImportError: an extra module cannot be imported.
    """
    version = sys.version_info[:2]
    if version not in REVIEWED_VERSIONS:
        reviewed = ", ".join(f"{a}.{b}" for a, b in REVIEWED_VERSIONS)
        raise NotReviewed(
            f"the language policy was not reviewed for Python {version[0]}.{version[1]}; run it on {reviewed}"
        )
    from litany_runtime.policy.stand_ins import stand_ins

    views = build_views(stand_ins())
    for module in extra_modules:
        importlib.import_module(module)
    builtins = program_builtins() | folded_names(views)
    prepared = Prepared(views, builtins, _private_names_of_libraries(), tuple(extra_modules))
    state.prepared = prepared
    return prepared


def _private_names_of_libraries() -> frozenset[str]:
    """Every private name in the code or the classes of what is loaded."""
    found: set[str] = set()
    for thing in gc.get_objects():
        if type(thing) is types.FunctionType:
            found |= guards.private_names_in_code(thing.__code__)
        elif issubclass(type(thing), type):  # a weak proxy says that it is an instance of what it stands for
            found |= {
                n for n in type.__dict__["__dict__"].__get__(thing) if type(n) is str and guards.is_private(n)
            }
    return frozenset(found)


def namespace(
    prepared: Prepared, *, tools: ModuleType, worktree: str | None, files: FilePolicy
) -> dict[str, Any]:
    """The globals of one program. In the child.

    Args:
        prepared: what `prepare` returned.
        tools: the generated stub module.
        worktree: where the worktree is in this process; None for a program without files.
        files: what the program may do there.
    """
    main = types.ModuleType("__main__")
    builtins = prepared.builtins
    builtins["__import__"] = importer(prepared.views, prepared.extra_modules, tools_view(tools))
    names = main.__dict__
    del names["__loader__"], names["__spec__"], names["__package__"]
    names["__builtins__"] = builtins
    names["__file__"] = "program.py"
    guards.begin(names)
    sys.modules["__main__"] = main
    return names


def execute(code: CodeType, namespace: dict[str, Any]) -> None:
    """Run a compiled program; what it raises comes out, SystemExit too."""
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BytesIO())
    if code.co_flags & 0x80:  # inspect.CO_COROUTINE: it awaits at its top level
        asyncio.run(eval(code, namespace))  # noqa: S307 - the checked program
    else:
        exec(code, namespace)  # noqa: S102 - the checked program
