"""Ordinary programs run under the policy as they run under CPython."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from policy_runner import PolicyRunner, run_plainly

PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.py"))


def runs_here(path: Path) -> bool:
    """A program named `…_312.py` needs Python 3.12."""
    needs = re.search(r"_3(\d\d)$", path.stem)
    return not needs or sys.version_info >= (3, int(needs[1]))


def test_the_corpus_is_large_enough() -> None:
    assert len(PROGRAMS) >= 120


@pytest.mark.parametrize("path", [p for p in PROGRAMS if runs_here(p)], ids=lambda p: p.stem)
def test_a_program_runs_as_under_cpython(path: Path, policy: PolicyRunner, tmp_path: Path) -> None:
    source = path.read_bytes()
    expected = run_plainly(source, tmp_path)
    assert "SyntaxError" not in expected.stderr, "the corpus holds a program that is no Python"
    got = policy.run(source)
    assert not got.violations
    assert (got.stdout, got.exit_code, got.exception) == (
        expected.stdout,
        expected.exit_code,
        expected.exception,
    )


DEPTH = """
import sys
def depth(n=1):
    try: return depth(n + 1)
    except RecursionError: return n
print(depth(), sys.getrecursionlimit())
sys.setrecursionlimit(200); print(depth(), sys.getrecursionlimit())
def deep(n):
    if n: return deep(n - 1)
    sys.setrecursionlimit(30)
try: deep(100)
except RecursionError as e: print(e)
"""


def test_a_program_begins_at_the_interpreters_own_depth(policy: PolicyRunner) -> None:
    plainly = subprocess.run(
        [sys.executable, "-I", "-c", DEPTH], capture_output=True, text=True, timeout=60, check=True
    )
    assert plainly.stdout.startswith("999 1000\n")
    assert policy.run(DEPTH).stdout == plainly.stdout


def test_the_end_of_a_program_that_lowered_its_limit_is_told(policy: PolicyRunner) -> None:
    run = policy.run("import sys\nsys.setrecursionlimit(5)\nraise ValueError('the reason')")
    assert run.stderr.endswith("ValueError: the reason\n")
