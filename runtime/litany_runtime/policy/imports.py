"""Whether an import is on the list, and what to say when it is not."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from litany_runtime.policy.modules import MODULES, NAME_HINTS, NAMES, SUBSTITUTES, TOOLS_MODULE

if TYPE_CHECKING:
    from collections.abc import Collection

NEAR_NAMES = 3
"""How many near names a refusal offers."""

NEAR_MODULE = 0.75
"""How alike a module's name must be to be offered. A slip is; another package (numpy for enum) is none."""


def is_extra(module: str, extra_modules: Collection[str]) -> bool:
    """Whether a module is one that the operator added, or lies inside one."""
    return any(module == extra or module.startswith(extra + ".") for extra in extra_modules)


def module_problem(module: str, extra_modules: Collection[str]) -> tuple[str, str] | None:
    """Message and hint for a module that is not on the list; None for one that is."""
    if module in MODULES or module == TOOLS_MODULE or is_extra(module, extra_modules):
        return None
    return f"the module {module} is not available", module_hint(module, extra_modules)


def module_hint(module: str, extra_modules: Collection[str]) -> str:
    """What to import instead: a known substitute, near names, or the whole list."""
    substitute = SUBSTITUTES.get(module) or SUBSTITUTES.get(module.partition(".")[0])
    if substitute:
        return substitute
    available = [m for m in MODULES if MODULES[m]] + [TOOLS_MODULE, *extra_modules]
    near = difflib.get_close_matches(module, available, NEAR_NAMES, NEAR_MODULE)
    if near:
        return f"did you mean {' or '.join(near)}?"
    listed = ", ".join(sorted(m for m in available if m != "__future__"))
    return f"available: {listed}; the operator can add more"


def name_problem(module: str, name: str) -> tuple[str, str] | None:
    """Message and hint for a name that a listed module does not have here; None when it has it."""
    names = NAMES.get(module)
    if names is None or name in names:
        return None
    near = difflib.get_close_matches(name, names, NEAR_NAMES)
    hint = f"did you mean {' or '.join(near)}?" if near else f"it has: {', '.join(sorted(names))}"
    hint = NAME_HINTS.get(f"{module}.{name}", hint)
    return f"{module} has no {name} here", hint
