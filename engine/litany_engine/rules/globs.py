"""Globs over texts, as rules use them: `*`, `?` and `[…]`, the whole text, case counts."""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache


def glob(pattern: str, text: str) -> bool:
    """Whether the whole text is what the pattern says."""
    return _compiled(pattern).match(text) is not None


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))
