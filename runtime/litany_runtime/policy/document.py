"""Writes the tables of `docs/language.md` from the policy itself.

    python -m litany_runtime.policy.document docs/language.md

The page is written by hand but for what stands between `<!-- table: name -->` and `<!-- end -->`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from litany_runtime.policy import names
from litany_runtime.policy.absent import SUBSTITUTES, absent_names
from litany_runtime.policy.execution import REVIEWED_VERSIONS
from litany_runtime.policy.files import DEVICES_READ
from litany_runtime.policy.modules import MODULES
from litany_runtime.policy.rules import RULES
from litany_runtime.policy.source import MAX_SOURCE_BYTES
from litany_runtime.policy.stand_ins import stand_ins

if TYPE_CHECKING:
    from collections.abc import Sequence

_TABLE = re.compile(r"(<!-- table: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def _rows(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _code(words: str | list[str]) -> str:
    listed = words.split() if isinstance(words, str) else words
    return " ".join(f"`{word}`" for word in listed)


def _modules() -> str:
    replaced = set(stand_ins())
    rows = []
    for module in sorted(MODULES):
        entries = []
        for entry in MODULES[module].split():
            name, _, since = entry.partition("@")
            mark = "\\*" if f"{module}.{name}" in replaced else ""
            entries.append(f"`{name}`{mark}" + (f" ({since})" if since else ""))
        if entries:
            rows.append((f"`{module}`", " ".join(entries)))
    return _rows(("module", "names"), rows)


def tables() -> dict[str, str]:
    """Every generated table, by its name in the page."""
    versions = ", ".join(f"{a}.{b}" for a, b in REVIEWED_VERSIONS)
    return {
        "rules": _rows(
            ("rule", "refuses", "because"),
            [(f"`{name}`", rule.refuses, rule.why) for name, rule in RULES.items()],
        ),
        "modules": _modules(),
        "substitutes": _rows(
            ("instead of", "write"), [(f"`{m}`", hint) for m, hint in sorted(SUBSTITUTES.items())]
        ),
        "absent": _rows(
            ("of", "instead of", "write"),
            [
                (f"`{module}`", _code(named).replace("*", "\\*"), hint)
                for module, named, hint in absent_names()
            ],
        ),
        "builtins": _rows(
            ("name", "write instead"), [(f"`{n}`", hint) for n, hint in names.CALLS_REFUSED.items()]
        ),
        "methods": _rows(
            ("name", "write instead"), [(f"`{n}`", hint) for n, hint in names.METHODS_REFUSED.items()]
        ),
        "special-names": _rows(
            ("names", "a program may"),
            [
                (_code(sorted(names.PROTOCOL_METHODS)), "define, assign and call"),
                (_code(sorted(names.HOOK_METHODS)), "define"),
                (_code(sorted(names.CLASS_NAMES | names.MODULE_NAMES)), "assign"),
                (_code(sorted(names.READABLE_NAMES)), "read as variables"),
                (_code(sorted(names.PLAIN_ATTRIBUTES - names.PROTOCOL_METHODS)), "read on any object"),
                (_code(sorted(names.LOOKED_AT_DUNDERS)), "read on its own objects (the class of any)"),
                (_code(sorted(names.STORABLE_DUNDERS - names.PROTOCOL_METHODS)), "set on its own objects"),
            ],
        ),
        "looked-at": _rows(("name", "why"), [(f"`{n}`", why) for n, why in names.LOOKED_AT.items()]),
        "innards": _code(sorted(names.INNARDS)) + "\n",
        "limits": _rows(
            ("what", "is"),
            [
                ("Python versions reviewed", versions),
                ("largest source the parser is given", f"{MAX_SOURCE_BYTES} bytes"),
                ("reserved prefix", f"`{names.RESERVED_PREFIX}`"),
                ("devices a program may read", _code(sorted(DEVICES_READ))),
            ],
        ),
    }


def render(page: str) -> str:
    """The page with its tables as the policy has them now."""
    made = tables()
    return _TABLE.sub(lambda m: f"{m[1]}\n{made[m[2]]}\n{m[3]}", page)


def main(path: str) -> None:
    """Rewrite one page in place."""
    file = Path(path)
    file.write_text(render(file.read_text()))


if __name__ == "__main__":
    main(sys.argv[1])
