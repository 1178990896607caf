"""What every test of the runtime is held to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runtime_kit import processes_below


@pytest.fixture(autouse=True)
def nothing_is_left_running() -> Iterator[None]:
    """No test leaves a process behind."""
    before = {each.pid for each in processes_below()}
    yield
    assert {each.pid for each in processes_below()} <= before
