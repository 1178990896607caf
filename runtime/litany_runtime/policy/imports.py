"""Whether a module or a name of one is offered, and what to say when it is not."""

from __future__ import annotations

import difflib
import sys
from typing import TYPE_CHECKING

from litany_runtime.policy.absent import SUBSTITUTES, name_hint
from litany_runtime.policy.modules import MODULES, NAMES, TOOLS_MODULE, since

if TYPE_CHECKING:
    from collections.abc import Collection

NEAR_NAMES = 3
"""How many near names a refusal offers."""

NEAR_MODULE = 0.75
"""How alike a module's name must be to be offered. A slip is; another package (numpy for enum) is none."""

NEAR_NAME = 0.8
"""How alike a name of a module must be to be offered. A slip is (`sqr` for `sqrt`); another word is not."""


def is_extra(module: str, extra_modules: Collection[str]) -> bool:
    """Whether a module is one that the operator added, or lies inside one."""
    return any(module == extra or module.startswith(extra + ".") for extra in extra_modules)


def is_offered(module: str, extra_modules: Collection[str]) -> bool:
    """Whether an import of a module succeeds."""
    return module in MODULES or module == TOOLS_MODULE or is_extra(module, extra_modules)


def is_absent(module: str, name: str) -> bool:
    """Whether a name is known to be a module's and is not offered here."""
    return module in NAMES and name not in NAMES[module] and name_hint(module, name) is not None


def module_problem(module: str, extra_modules: Collection[str]) -> tuple[str, str] | None:
    """Message and hint for a module that is not on the list; None for one that is."""
    if is_offered(module, extra_modules):
        return None
    return f"the module {module} is not available", module_hint(module, extra_modules)


def module_hint(module: str, extra_modules: Collection[str]) -> str:
    """What to import instead: a known substitute, near names, or the whole list."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        if substitute := SUBSTITUTES.get(".".join(parts[:length])):
            return substitute
    available = [m for m in MODULES if MODULES[m]] + [TOOLS_MODULE, *extra_modules]
    near = difflib.get_close_matches(module, available, NEAR_NAMES, NEAR_MODULE)
    if near:
        return f"did you mean {' or '.join(near)}?"
    listed = ", ".join(sorted(m for m in available if m != "__future__" and "." not in m))
    return f"available: {listed}; the operator can add more"


def name_problem(module: str, name: str) -> tuple[str, str] | None:
    """Message and hint for a name that a listed module does not have here; None when it has it."""
    names = NAMES.get(module)
    if names is None or name in names:
        return None
    hint = name_hint(module, name)
    if hint is None and (version := since(module, name)):
        hint = f"it came with Python {version}, and this is Python {'.'.join(map(str, sys.version_info[:2]))}"
    if hint is None:
        near = difflib.get_close_matches(name, names, NEAR_NAMES, NEAR_NAME)
        hint = f"did you mean {' or '.join(near)}?" if near else f"it has: {', '.join(sorted(names))}"
    return f"{module} has no {name} here", hint
