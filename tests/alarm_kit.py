"""A bound for what no cancel scope ends: a wait in the kernel, or in a shielded block."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

BOUND_S = 30
"""Far above what a busy machine needs for anything that is waited for here."""


@contextmanager
def failing_after_the_bound() -> Iterator[None]:
    """Raise in this thread, which must be the main one, when the block takes longer than `BOUND_S`."""

    def fail(*_: object) -> NoReturn:
        raise AssertionError(f"it was waited for longer than {BOUND_S} seconds")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(BOUND_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
