"""The fixture `fake_door` for pytest. Every pytest run imports this file: it imports only pytest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from litany_stubs.testing import FakeDoor


@pytest.fixture
def fake_door() -> Iterator[FakeDoor]:
    """A door in memory, bound while the test runs: what `litany_tools` calls reaches it."""
    from litany_stubs.client import bind  # noqa: PLC0415 - see above
    from litany_stubs.testing import FakeDoor  # noqa: PLC0415 - see above

    door = FakeDoor()
    former = bind(door)
    try:
        yield door
    finally:
        bind(former)
