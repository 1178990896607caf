"""A launcher of the tests' own: it confines a zygote as the supervisor's does, and forks children that attack.

No policy, no wire: what runs in a child is ordinary Python of `confine_probes.py`, with ctypes at hand. What it
claims is not believed where the host can look for itself.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import pytest

import litany_runtime
import litany_stubs
import readable_python
from litany_runtime.confine import Isolation, ZygotePlan
from litany_runtime.confine.paths import read_only_paths
from litany_runtime.limits import Limits
from litany_runtime.program import FilePolicy

NOBODY = 65534
PROBES = Path(__file__).with_name("confine_probes.py")
DENY = Path(__file__).with_name("confine_deny.py")
ENVIRONMENT_CANARY = "LITANY_TEST_CANARY"

_LAUNCHER = """
import ctypes, json, os, resource, sys, traceback
os.set_inheritable(int(sys.argv[1]), False)
out = os.fdopen(int(sys.argv[1]), "w")
sys.path[:0] = json.loads(sys.argv[2])
from litany_runtime import confine
from litany_runtime.limits import Limits
from litany_runtime.program import FilePolicy
job = json.load(sys.stdin)
# What probes use is there before the root changes, as it is for programs.
import array, asyncio, ctypes.util, errno, fcntl, mmap, multiprocessing, random, select, signal, socket, sqlite3
import ssl, struct, subprocess, tempfile, termios, threading, time, zoneinfo, concurrent.futures, shutil, platform
probes = {}
exec(compile(job["probes"], "probes", "exec"), probes)

def say(**row):
    out.write(json.dumps(row) + "\\n")
    out.flush()

try:
    entered = confine.enter(confine.ZygotePlan.from_json(job["plan"]))
except confine.ConfinementError as error:
    say(kind="refused", layer=error.layer, cause=error.cause, remedy=error.remedy)
    os._exit(9)
say(kind="entered", pid=os.getpid(), layers=entered.layers)

def child(task, answer):
    os.dup2(answer, 3)
    os.closerange(4, 4096)
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)
    plan = confine.ChildPlan(task["worktree"], FilePolicy(task["files"]), Limits(**task["limits"]))
    try:
        layers = confine.confine_child(entered, plan)
    except confine.ConfinementError as error:
        row = dict(kind="refused", layer=error.layer, cause=error.cause, remedy=error.remedy)
        os.write(3, json.dumps(row).encode())
        os._exit(9)
    try:
        got = probes[task["probe"]](job["facts"])
        row = dict(kind="reached", got=repr(got), layers=layers)
    except BaseException as error:
        number = getattr(error, "errno", None)
        row = dict(kind="held", got=f"{type(error).__name__}: {error}", errno=number, layers=layers)
    os.write(3, json.dumps(row).encode())
    os._exit(0)

for task in job["tasks"]:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            child(task, write)
        finally:
            traceback.print_exc()
            os._exit(8)
    os.close(write)
    answer = b""
    while data := os.read(read, 65536):
        answer += data
    os.close(read)
    _, status, used = os.wait4(pid, 0)
    row = json.loads(answer) if answer else dict(kind="silent")
    cpu = used.ru_utime + used.ru_stime
    say(**{**row, "probe": task["probe"], "status": status, "cpu_s": cpu, "peak": used.ru_maxrss * 1024})
os._exit(0)
"""


@dataclass(frozen=True)
class Task:
    """One child: what it attacks with, and what it is given."""

    probe: str
    worktree: str | None = "one"
    files: FilePolicy = FilePolicy.WRITE
    limits: Limits = field(default_factory=Limits)

    def to_json(self) -> dict[str, Any]:
        return {
            "probe": self.probe,
            "worktree": self.worktree,
            "files": self.files.value,
            "limits": asdict(self.limits),
        }


@dataclass
class Launch:
    """What a launcher and its children said, and how they ended."""

    rows: list[dict[str, Any]]
    code: int
    stderr: str

    @property
    def entered(self) -> dict[str, Any]:
        return self.row("entered")

    @property
    def refused(self) -> dict[str, Any]:
        return self.row("refused")

    def row(self, kind: str) -> dict[str, Any]:
        found = [row for row in self.rows if row["kind"] == kind]
        assert found, f"no {kind!r} in {self.rows}, stderr {self.stderr}"
        return found[0]

    def of(self, probe: str) -> dict[str, Any]:
        found = [row for row in self.rows if row.get("probe") == probe]
        assert found, f"nothing of {probe!r} in {self.rows}, stderr {self.stderr}"
        return found[0]


@cache
def readable() -> tuple[Path, ...]:
    """What programs may read here."""
    return read_only_paths()


def search_path() -> list[str]:
    return [str(Path(str(each.__file__)).parent.parent) for each in (litany_runtime, litany_stubs)]


@cache
def _unreachable() -> tuple[Path, ...]:
    """What another user needs to run these tests' programs, if there is anything of it that they cannot reach."""
    interpreter = (Path(sys.executable), Path(sys.prefix), Path(sys.base_prefix))
    needed = [*interpreter, *readable(), Path(__file__).parents[1]]
    if forbidden := readable_python.unreadable(needed):
        skip_on_this_machine(
            f"other users may not read {', '.join(map(str, forbidden))}",
            "Run the tests as an ordinary user, or install Python and clone with umask 022",
        )
    return tuple(needed) if readable_python.private_folders(needed) else ()


def skip_on_this_machine(cause: str, remedy: str) -> NoReturn:
    """Skip a test that this machine cannot run; in CI that is a failure, because nothing would be tested."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(f"not run on this machine: {cause}. {remedy}.")


def start_as(user: int | None) -> tuple[tuple[str, ...], dict[str, Any]]:
    """How to start an interpreter as another user.

    Args:
        user: the user's id; None for the user of this process.

    Returns:
        A command to put before the interpreter's, and keywords for `subprocess.Popen`. The command shows the user an
        interpreter that lies below a private home, such as root's.
    """
    if os.getuid() == 0 and (paths := _unreachable()):
        shown = (str(readable_python.__file__), str(user or 0), json.dumps([str(each) for each in paths]))
        return (sys.executable, "-I", "-S", *shown), {}
    return (), {} if user is None else {"user": user, "group": user, "extra_groups": []}


def launch(
    tasks: list[Task],
    *,
    facts: dict[str, Any] | None = None,
    user: int | None = None,
    prefix: tuple[str, ...] = (),
    timeout_s: float = 60,
    **plan: Any,
) -> Launch:
    """Run a launcher to its end, as the supervisor starts its own: no environment, no descriptors.

    Args:
        tasks: the children, one after the other.
        facts: what the host tells the probes.
        user: user id to start it as; None for our own.
        prefix: a command to start it with.
        timeout_s: after which it is killed.
        plan: the fields of the zygote's plan.
    """
    job = {
        "plan": ZygotePlan(**{"read_only": readable(), **plan}).to_json(),
        "tasks": [each.to_json() for each in tasks],
        "probes": PROBES.read_text(),
        "facts": facts or {},
    }
    read, write = os.pipe()
    first, identity = start_as(user)
    process = subprocess.Popen(
        [
            *first,
            *prefix,
            sys.executable,
            "-I",
            "-S",
            "-B",
            "-c",
            _LAUNCHER,
            str(write),
            json.dumps(search_path()),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={},
        cwd="/",
        pass_fds=[write],
        **identity,
    )
    os.close(write)
    timer = threading.Timer(timeout_s, process.kill)
    timer.start()
    try:
        assert process.stdin
        assert process.stderr
        process.stdin.write(json.dumps(job).encode())
        process.stdin.close()
        with os.fdopen(read) as answers:
            rows = [json.loads(line) for line in answers]
        stderr = process.stderr.read().decode()
        process.stderr.close()
        return Launch(rows, process.wait(), stderr)
    finally:
        timer.cancel()


class Host:
    """A host to attack: files, sockets and a process of it, each with a canary.

    Attributes:
        root: a folder that everybody can reach.
        worktrees: the agents' worktrees, `one` the attacker's and `two` another's.
        facts: what probes are told.
        secret: a word that no program may learn.
    """

    def __init__(self, owner: int) -> None:
        self.secret = secrets.token_hex(16)
        self.root = Path(tempfile.mkdtemp(prefix="litany-test-", dir="/tmp"))
        self.worktrees = self.root / "agents"
        self._sockets: list[socket.socket] = []
        self._lay_files()
        first, identity = start_as(owner if os.getuid() == 0 else None)
        self._victim = subprocess.Popen(
            [*first, sys.executable, "-I", "-c", f"secret = '{self.secret}'; print(1, flush=True); input()"],
            env={ENVIRONMENT_CANARY: self.secret},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            **identity,
        )
        assert self._victim.stdout
        self._victim.stdout.readline()
        if os.getuid() == 0:
            self._give(owner)
        self.abstract = f"litany-test-{self.secret}"
        self.facts = {
            "host_file": str(self.root / "outside" / "secret.txt"),
            "outside": str(self.root / "outside"),
            "other_worktree": str(self.worktrees / "two"),
            "records": str(self.root / "steps"),
            "worktrees": str(self.worktrees),
            "tcp": self._listen(socket.AF_INET, ("127.0.0.1", 0)),
            "udp": self._listen(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM),
            "unix": self._listen(socket.AF_UNIX, str(self.root / "outside" / "socket")),
            "unix_datagram": self._listen(
                socket.AF_UNIX, str(self.root / "outside" / "datagram"), socket.SOCK_DGRAM
            ),
            "abstract": self.abstract,
            "abstract_address": self._listen(socket.AF_UNIX, "\0" + self.abstract),
            "victim": self._victim.pid,
            "launcher": os.getpid(),
            "environment": ENVIRONMENT_CANARY,
        }
        for name in ("socket", "datagram"):
            (self.root / "outside" / name).chmod(0o777)
        self.before = self.look()

    def _lay_files(self) -> None:
        for name in ("one", "two"):
            (self.worktrees / name).mkdir(parents=True)
            (self.worktrees / name / ".git").write_text(f"gitdir: {self.secret}\n")
            (self.worktrees / name / "notes.txt").write_text("notes\n" if name == "one" else self.secret)
        (self.root / "steps").mkdir()
        (self.root / "steps" / "output.json").write_text(self.secret)
        outside = self.root / "outside"
        outside.mkdir()
        (outside / "secret.txt").write_text(self.secret)
        for name in ("delete-me", "rename-me", "move-me"):
            (outside / name).write_text(name)
        (self.worktrees / "one" / "unlink-me").write_text("")
        for path in (self.root, *self.root.rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)

    def _give(self, owner: int) -> None:
        for path in (self.root, *self.root.rglob("*")):
            os.chown(path, owner, owner)

    def _listen(self, family: int, address: Any, kind: int = socket.SOCK_STREAM) -> Any:
        sock = socket.socket(family, kind)
        sock.bind(address)
        if kind == socket.SOCK_STREAM:
            sock.listen()
        sock.setblocking(False)
        self._sockets.append(sock)
        name = sock.getsockname()
        return name.decode(errors="replace") if isinstance(name, bytes) else name

    def look(self) -> dict[str, Any]:
        """Everything of the host that no program may have changed."""
        files = {}
        for folder in (
            self.root / "outside",
            self.worktrees / "two",
            self.root / "steps",
            self.worktrees / "one" / ".git",
        ):
            for path in (folder, *folder.rglob("*")):
                seen = path.lstat()
                content = path.read_text() if path.is_file() else ""
                files[str(path)] = (seen.st_mode, seen.st_uid, seen.st_nlink, seen.st_mtime_ns, content)
        return {"files": files, "victim": self._victim.poll()}

    def contacts(self) -> list[str]:
        """The sockets that somebody has reached."""
        reached = []
        for sock in self._sockets:
            try:
                if sock.type == socket.SOCK_STREAM:
                    sock.accept()[0].close()
                else:
                    sock.recv(100)
            except BlockingIOError:
                continue
            reached.append(str(sock.getsockname()))
        return reached

    def close(self) -> None:
        for sock in self._sockets:
            sock.close()
        self._victim.kill()
        self._victim.wait()
        assert self._victim.stdin
        assert self._victim.stdout
        self._victim.stdin.close()
        self._victim.stdout.close()
        shutil.rmtree(self.root)


@contextmanager
def a_host(owner: int | None = None) -> Iterator[Host]:
    """A host whose files and victim belong to this user."""
    host = Host(os.getuid() if owner is None else owner)
    try:
        yield host
    finally:
        host.close()


def full_plan(host: Host, **more: Any) -> dict[str, Any]:
    return {"isolation": Isolation.FULL, "worktrees": host.worktrees, **more}
