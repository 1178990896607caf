"""The command line in a process of its own, with nothing of this process's environment that it would read."""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
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


class Command(subprocess.Popen[bytes]):
    """One command, started by a server that has imported it already (`cli_server.py`)."""

    def _execute_child(  # type: ignore[no-untyped-def]
        self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, info, flags, shell, *fds_and_more
    ):
        if (
            preexec_fn
            or pass_fds
            or any(each.startswith(("PYTHON", "LANG", "LC_")) for each in _changed(env))
        ):
            given = (executable, preexec_fn, close_fds, pass_fds, cwd, env, info, flags, shell)
            super()._execute_child(args, *given, *fds_and_more)  # type: ignore[misc]
            return
        theirs, ours = [fds_and_more[each] for each in (0, 3, 5)], [fds_and_more[each] for each in (1, 2, 4)]
        request = {"arguments": args[len(COMMAND) :], "env": env, "cwd": str(cwd)}
        self.pid = _server().start(request, theirs)
        self._child_created = True
        for fd, other_end in zip(theirs, ours, strict=True):
            if other_end != -1:  # else it is the caller's own
                os.close(fd)


def _changed(environment: dict[str, str]) -> set[str]:
    """The variables that differ from this process's."""
    return {key for key in environment | os.environ if environment.get(key) != os.environ.get(key)}


class Server:
    """The server's end here: one for this process, for as long as it lives."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            script = str(Path(__file__).with_name("cli_server.py"))
            self._process = subprocess.Popen(
                [sys.executable, script, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        atexit.register(self.close)

    def start(self, request: dict[str, Any], fds: list[int]) -> int:
        """Start a command and return its process id; the process is a child of this one."""
        socket.send_fds(self._control, [json.dumps(request).encode()], fds)
        return int(self._control.recv(100))

    def close(self) -> None:
        self._control.close()
        self._process.wait()


@cache
def _server() -> Server:
    return Server()


def litany(
    *arguments: str, cwd: Path, state: Path, stdin: str | bytes = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one command to its end; a traceback on stderr is a failure whatever the test looks at."""
    with start(*arguments, cwd=cwd, state=state, env=environment(state) | (env or {})) as process:
        streams = process.communicate(stdin.encode() if isinstance(stdin, str) else stdin, timeout=60)
    out, err = (stream.decode(errors="replace") for stream in streams)
    assert "site-packages" not in err, err
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@contextmanager
def start(*arguments: str, cwd: Path, state: Path, **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Start one command; at the end of the block it is gone, also when the test has failed."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    given = {"cwd": cwd, "env": environment(state), **pipes, **how}
    with Command([*COMMAND, *arguments], **given) as process:
        try:
            yield process
        finally:
            process.kill()
