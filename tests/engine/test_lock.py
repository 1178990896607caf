from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from alarm_kit import failing_after_the_bound
from litany_engine.windows.lock import LockHeld, executor_lock, lock_holder

HOLD = """
import sys
from pathlib import Path
from litany_engine.windows.lock import executor_lock
with executor_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture(autouse=True)
def nobody_waits() -> Iterator[None]:
    """Fail where the lock is waited for."""
    with failing_after_the_bound():
        yield


def test_the_lock_is_held_by_one_at_a_time_and_named(tmp_path: Path) -> None:
    with (
        executor_lock(tmp_path),
        pytest.raises(LockHeld, match=str(tmp_path)) as caught,
        executor_lock(tmp_path),
    ):
        pass
    assert caught.value.pid == os.getpid()


def test_the_lock_is_free_after_its_block(tmp_path: Path) -> None:
    assert lock_holder(tmp_path) is None
    with executor_lock(tmp_path):
        assert lock_holder(tmp_path) == os.getpid()
    assert lock_holder(tmp_path) is None
    with executor_lock(tmp_path):
        pass


def test_the_lock_dies_with_its_holder(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(LockHeld) as caught, executor_lock(tmp_path):
            pass
        assert caught.value.pid == process.pid
        assert lock_holder(tmp_path) == process.pid
        process.kill()
    with executor_lock(tmp_path):
        pass


def test_a_process_that_the_holder_starts_does_not_keep_the_lock(tmp_path: Path) -> None:
    with executor_lock(tmp_path):
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        with executor_lock(tmp_path):
            pass
    finally:
        child.kill()
        child.wait()


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), executor_lock(tmp_path / "absent"):
        pass
    assert lock_holder(tmp_path / "absent") is None
