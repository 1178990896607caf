"""How many of what, in words."""

from __future__ import annotations


def counted(number: int, thing: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{number} {thing}" + ("" if number == 1 else "s")
