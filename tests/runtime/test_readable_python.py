"""The tests' own way to show another user an interpreter below a private home: it shows that, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import readable_python
from confine_kit import NOBODY, skip_on_this_machine

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A private home with a program, a link to it, and a secret beside it."""
    (tmp_path / "home" / "versions" / "bin").mkdir(parents=True)
    program = tmp_path / "home" / "versions" / "bin" / "said"
    program.write_text("#!/bin/sh\nid -u\n")
    program.chmod(0o755)
    (tmp_path / "home" / "link").symlink_to("versions")
    (tmp_path / "home" / "secret").write_text("secret")
    (tmp_path / "home").chmod(0o700)
    return tmp_path / "home"


def run_as_nobody(paths: list[Path], *command: str) -> subprocess.CompletedProcess[str]:
    script = str(readable_python.__file__)
    shown = json.dumps([str(each) for each in paths])
    return subprocess.run(
        [sys.executable, script, str(NOBODY), shown, *command], capture_output=True, text=True, check=False
    )


@needs_root
def test_another_user_runs_what_lies_in_a_private_home(home: Path) -> None:
    program = home / "link" / "bin" / "said"
    done = run_as_nobody([program], str(program))
    assert done.stdout == f"{NOBODY}\n", done.stderr


@needs_root
def test_the_rest_of_the_home_is_not_shown(home: Path) -> None:
    done = run_as_nobody([home / "versions"], "ls", str(home))
    assert done.stdout == "versions\n", done.stderr
    assert (home / "secret").read_text() == "secret"  # the host's own view is as it was


def test_the_topmost_private_folder_is_found_through_links(home: Path) -> None:
    inner = home / "versions"
    inner.chmod(0o700)
    found = readable_python.private_folders([home / "link" / "bin" / "said"])
    assert inner not in found
    assert any(home.is_relative_to(each) for each in found)


def test_what_others_may_not_read_is_named(home: Path) -> None:
    (home / "secret").chmod(0o600)
    assert readable_python.unreadable([home / "secret", home / "versions"]) == [home / "secret"]


@pytest.mark.parametrize(("ci", "end"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_ci_fails_on_what_the_machine_cannot_run(
    ci: str, end: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", ci)
    with pytest.raises(end, match=r"^not run on this machine: no such layer\. Use another\.$"):
        skip_on_this_machine("no such layer", "Use another")
