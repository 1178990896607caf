"""What one process knows once it was prepared: set in the zygote, inherited by its children."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

    from litany_runtime.policy.audit import Auditor
    from litany_runtime.policy.files import FileRules
    from litany_runtime.policy.sealing import Sealer


@dataclass(frozen=True, slots=True)
class Prepared:
    """What `prepare` built, once, before the first fork.

    A child runs one program, so what that program alone will use stands ready here too: a fork copies the
    page of whatever it changes, and making things is changing many pages.

    Attributes:
        views: module name → what `import` gives the program.
        builtins: the program's builtins.
        private: private attribute names that library objects carry.
        extra_modules: modules the operator added; they widen the language layer.
        sealer: seals classes made later.
        main: the program's module; its dict is the program's globals.
        tools: holds the program's stub module, once there is one.
        rules: where the program may read and write, once that is known.
        auditor: judges what the interpreter is about to do, once installed.
    """

    views: dict[str, ModuleType]
    builtins: dict[str, Any]
    private: frozenset[str]
    extra_modules: tuple[str, ...]
    sealer: Sealer
    main: ModuleType
    tools: list[ModuleType]
    rules: FileRules
    auditor: Auditor


prepared: Prepared | None = None
"""Set by `prepare`."""
