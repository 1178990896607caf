"""From everything a program can hold, nothing it must not hold is within reach.

The crawl runs in a child with the policy alone. It is a test of the whole: of the table of modules, of the
stand-ins, of the looks. It runs on every Python version the policy is reviewed for.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from litany_runtime.policy.modules import NAMES
from litany_runtime.policy.names import REVIEWED_PRIVATE
from policy_runner import ROOT, PolicyRunner

HERE = Path(__file__).parents[1] / "programs" / "reach"
CRAWLER = (HERE / "crawler.py").read_text()
OBJECTS = (HERE / "objects.py").read_text()
DEPUTIES = (
    (HERE / "deputies.py")
    .read_text()
    .replace("HARMLESS = []", f"HARMLESS = {sorted(REVIEWED_PRIVATE)}")
    .replace("NAMES = {}", f"NAMES = { {module: sorted(names) for module, names in NAMES.items()} }")
)


def test_nothing_forbidden_is_within_reach(policy: PolicyRunner) -> None:
    run = policy.run(OBJECTS, trusted=CRAWLER)
    assert isinstance(run.after, dict), run.stderr[-2000:]
    assert run.after["visited"] > 10_000
    assert run.after["found"] == []


PLANTED = {
    "a module": "import sys, types\nhole = sys",
    "sys.modules": "import sys\nhole = [sys.modules]",
    "a frame": "import sys\nhole = {1: sys._getframe()}",
    "a code object": "hole = (lambda: 0).__code__",
    "the real open": "import builtins\nhole = builtins.open",
    "a metaclass": "hole = type",
    "os.system": "import os\nclass hole: run = os.system",
}


@pytest.mark.parametrize("what", PLANTED)
def test_the_crawl_finds_a_planted_hole(what: str, policy: PolicyRunner) -> None:
    trusted = CRAWLER.replace("MAX_OBJECTS = 30_000", "MAX_OBJECTS = 300").replace(
        "MAX_DEPTH = 7", "MAX_DEPTH = 2"
    )
    planted = PLANTED[what].replace("\n", "\n    ")
    trusted += f"\n\ndef before(namespace):\n    {planted}\n    namespace['hole'] = hole\nVIEWS = {{}}\n"
    trusted = trusted.replace('if not name.startswith("_")]\n', "if False]\n", 1)
    run = policy.run("def own_function(): pass", trusted=trusted)
    assert isinstance(run.after, dict), run.stderr[-2000:]
    assert any("hole" in line for line in run.after["found"])


def test_no_library_code_takes_a_bait(policy: PolicyRunner) -> None:
    """The crawl follows what a program holds; this follows what the library would do for it."""
    run = policy.run(DEPUTIES)
    assert run.exit_code == 0, run.stderr[-2000:]
    lines = run.stdout.splitlines()
    assert [line for line in lines if line.startswith("FOUND")] == []
    functions, classes, baits = map(int, lines[-1].removeprefix("DONE ").split())
    assert functions > 700
    assert classes > 300
    assert baits > 70


def test_each_kind_of_bait_is_taken_without_the_policy(plain: PolicyRunner) -> None:
    lines = plain.run(DEPUTIES).stdout.splitlines()
    taken = {tuple(line.split()[1:3]) for line in lines if line.startswith("FOUND")}
    assert {
        ("instance", "copy.copy"),
        ("new", "collections.UserDict"),
        ("new", "object"),
        ("private", "warnings.catch_warnings"),
        ("neighbour", "warnings.catch_warnings"),
        ("told", "functools.cached_property"),
    } <= taken


def test_a_python_version_that_was_not_reviewed_is_refused_by_name() -> None:
    program = (
        "import sys; sys.path[:0] = [sys.argv[1] + '/runtime', sys.argv[1] + '/stubs']\n"
        "from litany_runtime.policy import execution, NotReviewedError\n"
        "execution.REVIEWED_VERSIONS = ((3, 9),)\n"
        "try: execution.prepare()\n"
        "except NotReviewedError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(ROOT)], capture_output=True, text=True, timeout=60, check=True
    )
    version = ".".join(map(str, sys.version_info[:2]))
    assert f"not reviewed for Python {version}; run it on 3.9" in done.stdout
