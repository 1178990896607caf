"""One server for each test process: it prepares once and forks for every program."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from policy_runner import PolicyRunner


@pytest.fixture(scope="session")
def policy() -> Iterator[PolicyRunner]:
    with PolicyRunner() as runner:
        yield runner


@pytest.fixture(scope="session")
def plain() -> Iterator[PolicyRunner]:
    with PolicyRunner(plain=True) as runner:
        yield runner


@pytest.fixture(autouse=True, scope="session")
def nothing_is_left_running() -> None:
    """The session's servers outlive each test here; they end with the session."""
