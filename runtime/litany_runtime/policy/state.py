"""What one process knows once it was prepared: set in the zygote, inherited by its children."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType


@dataclass(frozen=True, slots=True)
class Prepared:
    """What `prepare` built, once, before the first fork.

    Attributes:
        views: module name → what `import` gives the program.
        builtins: the builtins of every program, guards and folded names included.
        private: private attribute names that library objects carry.
        extra_modules: modules the operator added; they widen the language layer.
    """

    views: dict[str, ModuleType]
    builtins: dict[str, Any]
    private: frozenset[str]
    extra_modules: tuple[str, ...] = ()
    readable_roots: tuple[str, ...] = field(default=())


prepared: Prepared | None = None
"""Set by `prepare`."""
