"""Safe versions of library names."""

from __future__ import annotations

from typing import Any


def stand_ins() -> dict[str, Any]:
    """`module.name` → what a program gets under that name."""
    return {}
