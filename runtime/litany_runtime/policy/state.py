"""What one process knows once it was prepared: set in the zygote, inherited by its children."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType, ModuleType

    from litany_runtime.policy.sealing import Sealer


@dataclass(frozen=True, slots=True)
class Prepared:
    """What `prepare` built, once, before the first fork.

    Attributes:
        views: module name → what `import` gives the program.
        builtins: the builtins of every program, guards and folded names included.
        private: private attribute names that library objects carry.
        extra_modules: modules the operator added; they widen the language layer.
        evaluators: code of the functions that may run code made from text.
        sealer: seals classes made later.
        libraries: folders that hold the library's own files.
        public: folders anyone may read (time zones).
        readers: identities of the globals of library modules that read those.
        descriptor_openers: the same of modules that open descriptors they made.
        folder_walkers: the same of modules that work relative to a folder's descriptor.
    """

    views: dict[str, ModuleType]
    builtins: dict[str, Any]
    private: frozenset[str]
    extra_modules: tuple[str, ...]
    evaluators: frozenset[CodeType]
    sealer: Sealer
    libraries: tuple[str, ...]
    public: tuple[str, ...]
    readers: frozenset[int]
    descriptor_openers: frozenset[int]
    folder_walkers: frozenset[int]


prepared: Prepared | None = None
"""Set by `prepare`."""
