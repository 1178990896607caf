"""The part of `docs/front-door.md` that the table of gates says, written by the code that it describes.

    python -m litany_engine.door.front_door docs/front-door.md

rewrites that part of the page; a test keeps the two equal.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from litany_engine.door import gates
from litany_engine.door.gates import GATES, STAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

BEGIN = "<!-- made by `python -m litany_engine.door.front_door docs/front-door.md`, kept equal by a test -->"
END = "<!-- end of what is made -->"


def render() -> str:
    """The gates and what follows them, as tables, and the rules that all gates keep."""
    numbered = enumerate(GATES, start=1)
    rows = [(str(number), f"`{gate.name}`", gate.refuses, gate.why) for number, gate in numbered]
    stages = [(f"`{stage.name}`", stage.does, stage.why) for stage in STAGES]
    _, _, rules = (gates.__doc__ or "").partition("\n\n")
    return "\n".join(
        [
            "## The gates, in order\n",
            _table(("", "gate", "refuses", "why here"), rows),
            "Then:\n",
            _table(("", "does", "why here"), stages),
            rules.strip(),
        ]
    )


def within(page: str) -> str:
    """The page with its made part made anew.

    Raises:
        ValueError: the page has no such part.
    """
    before, begun, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not begun or not ended:
        raise ValueError(f"the page has no part between {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{render()}\n\n{END}{after}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---" for _ in head], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(within(target.read_text()))
