"""An interpreter that has imported the command line and forks a process for each command it is asked for.

Half of a command's time is the import of its modules, and the tests start hundreds. A process that is asked for here
has the arguments, environment, working directory and descriptors that it would have had, is a child of whoever asked,
and ends as an interpreter does. `cli_kit.py` asks; what needs a start of its own is started there.
"""

from __future__ import annotations

import ctypes
import io
import json
import os
import pkgutil
import socket
import sys
from importlib import import_module

CLONE_PARENT = 0x8000  # clone(2): the child's parent is this process's own
SIGCHLD = 17
SYS_CLONE = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
MAX_REQUEST_BYTES = 200_000


def fork_a_sibling() -> int:
    """Fork as `os.fork` does, into a child of this process's parent."""
    python, libc = ctypes.pythonapi, ctypes.CDLL(None, use_errno=True)
    python.PyOS_BeforeFork()
    pid = libc.syscall(SYS_CLONE, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        python.PyOS_AfterFork_Child()
    else:
        python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(pid)


def import_everything() -> None:
    import litany_engine.cli

    for each in pkgutil.iter_modules(litany_engine.cli.__path__):
        import_module(f"litany_engine.cli.{each.name}")
    for name in ("litany_engine.api", "pygit2", "litany_engine.windows.driver"):
        import_module(name)


def become(request: dict[str, object], fds: list[int]) -> list[str]:
    """Be the process that was asked for, and return its arguments."""
    for at, fd in enumerate(fds):
        os.dup2(fd, at)
        os.close(fd)
    os.environ.clear()
    os.environ.update(request["env"])  # type: ignore[call-overload]
    os.chdir(str(request["cwd"]))
    arguments: list[str] = request["arguments"]  # type: ignore[assignment]
    sys.argv = ["litany", *arguments]
    for at, (name, old) in enumerate((("stdin", sys.stdin), ("stdout", sys.stdout), ("stderr", sys.stderr))):
        raw = open(at, "rb" if at == 0 else "wb", closefd=False)  # noqa: SIM115 - a descriptor
        new = io.TextIOWrapper(raw, old.encoding, old.errors, line_buffering=at == 2 or os.isatty(at))
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    return arguments


def main() -> int:
    import_everything()
    control = socket.socket(fileno=int(sys.argv[1]))
    while True:
        data, fds, *_ = socket.recv_fds(control, MAX_REQUEST_BYTES, 3)
        if not data:
            return 0
        pid = fork_a_sibling()
        if pid == 0:
            control.close()
            arguments = become(json.loads(data), list(fds))
            return int(import_module("litany_engine.cli").main(arguments))
        for fd in fds:
            os.close(fd)
        control.sendall(str(pid).encode())


if __name__ == "__main__":
    sys.exit(main())
