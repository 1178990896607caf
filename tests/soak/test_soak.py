"""The long tests, short: `make soak` runs them whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def run(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_busy_host_that_is_killed_leaves_nothing_unsaid_and_nothing_running() -> None:
    """In a process of its own: it adopts the orphans of the hosts, which is no business of other tests."""
    said = run(str(HERE / "kill_test.py"), "--kills", "6", "--agents", "4", "--calls", "50", "--seed", "7")
    assert "6 hosts killed" in said
    assert "settled" in said


def test_everything_returns_to_where_it_began_after_many_programs() -> None:
    said = run(str(HERE / "soak.py"), "--programs", "200")
    assert "200 programs" in said


def test_no_program_of_the_fuzzer_ends_by_a_signal() -> None:
    assert "40 programs, 0 ended by a signal" in run(
        str(HERE / "fuzz.py"), "--programs", "40", "--seed", "1000"
    )
