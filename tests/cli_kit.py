"""The command line in a process of its own, with nothing of this process's environment that it would read."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "litany_engine"]

LIKE_ANYBODY = """
import ctypes, os, sys
for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH: by these root reads what its mode forbids
    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP; fails for an ordinary user, rightly
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""Starts Python as a user for whom the modes of files hold, also when the tests run as root."""


def environment(state: Path) -> dict[str, str]:
    """This process's own, with its workspaces for one run under `state`."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("LITANY_")}
    return kept | {"XDG_STATE_HOME": str(state)}


def litany(
    *arguments: str, cwd: Path, state: Path, stdin: str | bytes = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one command to its end; a traceback on stderr is a failure whatever the test looks at."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        check=False,
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        cwd=cwd,
        env=environment(state) | (env or {}),
        timeout=60,
    )
    out, err = (stream.decode(errors="replace") for stream in (done.stdout, done.stderr))
    assert "site-packages" not in err, err
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


@contextmanager
def start(*arguments: str, cwd: Path, state: Path, **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Start one command; at the end of the block it is gone, also when the test has failed."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=cwd, env=environment(state), **(pipes | how)
    ) as process:
        try:
            yield process
        finally:
            process.kill()
