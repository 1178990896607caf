"""A program of the operator's over a stranger's text: confined before it reads it, as a zygote is.

A type checker is trusted as far as what it means to do, and no further than a parser of hostile text can be.
It must be executed, start threads and map libraries, so it cannot be under the allow-list of programs:

| layer | what it does |
|---|---|
| user, net, ipc, uts namespaces | no network; isolation `kernel` does without |
| no new privileges, no capabilities | also when litany runs as root |
| rlimits | memory, processor, file sizes, no core |
| Landlock | reads what is named, writes one folder, executes itself; no TCP, no abstract socket, no signal |
| seccomp | no socket, no ptrace, no signal to others, no mount, no namespace, no io_uring, no bpf, no keys |

Whatever of that cannot be had is an error, and the checker is not started.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import struct
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

from litany_runtime.confine import identity, kernel, landlock, seccomp
from litany_runtime.confine.faults import ConfinementError, must
from litany_runtime.confine.plan import Isolation, Layer

MEMORY_BYTES = 4 * 1024**3
"""What the checker may allocate: twenty times what it needs for an ordinary program with a hundred tools."""

CPU_S = 120
"""Processor seconds: all its threads over the half minute that it is waited for."""

FILE_BYTES = 64 * 1024**2
"""Largest file it may write: it keeps a cache in its folder at most."""

LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")
"""Where a dynamically linked program finds the loader and what it loads."""

_NOT_CONFINED = 99  # exit code of a launcher that says on stderr which layer it could not have
_BOOT = """\
import sys
sys.path[:0] = sys.argv[2:]
from litany_runtime.confine.checker import main
main(sys.argv[1])
"""


@dataclass(frozen=True, slots=True)
class CheckerPlan:
    """What to start, and what it may reach.

    Attributes:
        argv: the program, by its path, and its arguments.
        folder: what it may write, and where it starts.
        readable: what else it may read.
        isolation: `full` or `kernel`.
    """

    argv: tuple[str, ...]
    folder: str
    readable: tuple[str, ...]
    isolation: str = Isolation.FULL.value


def run_checker(plan: CheckerPlan, timeout_s: float) -> subprocess.CompletedProcess[bytes]:
    """Run a checker to its end, confined.

    Args:
        plan: what to start.
        timeout_s: seconds it may take.

    Raises:
        ConfinementError: a layer cannot be had, so it was not started.
        subprocess.TimeoutExpired: it took longer; it was ended.
        OSError: the interpreter that confines it cannot be started.
    """
    search_path = [os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), *_beside()]
    command = [sys.executable, "-I", "-S", "-B", "-X", "utf8", "-c", _BOOT, json.dumps(asdict(plan))]
    with subprocess.Popen(
        [*command, *search_path],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={},
        cwd="/",
        start_new_session=True,
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=timeout_s)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode == _NOT_CONFINED:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            told = json.loads(stderr)
            raise ConfinementError(Layer(told["layer"]), told["cause"], told["remedy"])
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


def main(plan: str) -> NoReturn:
    """Confine this process and become the checker; for the launcher alone."""
    asked = CheckerPlan(**json.loads(plan))
    try:
        _confine(asked)
        environment = {"HOME": asked.folder, "TMPDIR": asked.folder, "PATH": ""}
        os.execve(asked.argv[0], asked.argv, environment)  # noqa: S606 - what all this is for
    except ConfinementError as error:
        told: dict[str, Any] = {"layer": error.layer, "cause": error.cause, "remedy": error.remedy}
        os.write(2, json.dumps(told).encode())
        os._exit(_NOT_CONFINED)
    except OSError as error:
        os.write(2, f"{asked.argv[0]}: {error.strerror}".encode(errors="replace"))
    os._exit(1)


def _confine(plan: CheckerPlan) -> None:
    must(kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), Layer.PLATFORM, "prctl")
    os.chdir(plan.folder)
    os.umask(0o077)
    abi = landlock.usable_abi()
    denied = seccomp.assemble_denied(kernel.MACHINE) if seccomp.machine_is_known() else None
    if denied is None:
        raise ConfinementError(
            Layer.PLATFORM,
            f"the system call table has no numbers for {kernel.MACHINE}",
            "Use x86_64 or aarch64",
        )
    if plan.isolation == Isolation.FULL:
        spaces = (
            (Layer.USER, kernel.CLONE_NEWUSER),
            (Layer.NET, kernel.CLONE_NEWNET),
            (Layer.IPC, kernel.CLONE_NEWIPC),
            (Layer.UTS, kernel.CLONE_NEWUTS),
        )
        for layer, flag in spaces:
            must(kernel.unshare(flag), layer, "unshare")
    for limit, most in (
        (resource.RLIMIT_DATA, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_S),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(limit)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (least, least))
    identity.forbid_new_privileges()
    if plan.isolation == Isolation.FULL or os.geteuid() == 0:
        identity.empty_bounding_set()
    # Root's files stay its own; what it may do beyond that goes. An ordinary user has nothing that could go.
    must(
        kernel.prctl(kernel.PR_SET_SECUREBITS, identity.SECUREBITS_LOCKED, 0, 0, 0)
        if plan.isolation == Isolation.FULL or os.geteuid() == 0
        else 0,
        Layer.CAPABILITIES,
        "prctl",
    )
    must(kernel.capset(identity.CAPABILITY_HEADER, identity.NO_CAPABILITIES), Layer.CAPABILITIES, "capset")
    _restrict_files(plan, abi)
    must(denied.load(os.getpid()), Layer.SECCOMP, "seccomp")


def _restrict_files(plan: CheckerPlan, abi: int) -> None:
    readable = [each for each in (*LIBRARIES, *plan.readable) if os.path.exists(each)]
    rules = landlock.prepare(abi, readable, [plan.folder])
    executable = struct.pack("=Q", landlock.EXECUTE | landlock.READ_FILE)
    loaders = [each for each in LIBRARIES if os.path.isdir(each)]
    allowed = [
        *rules.shared,
        landlock.Rule(plan.argv[0], executable),
        *(landlock.Rule(each, struct.pack("=Q", landlock.EXECUTE)) for each in loaders),
    ]
    ruleset = must(
        kernel.landlock_create_ruleset(rules.attributes, len(rules.attributes), 0),
        Layer.LANDLOCK,
        "landlock_create_ruleset",
    )
    for rule in allowed:
        at = os.open(rule.path, os.O_PATH | os.O_CLOEXEC)
        beneath = rule.rights + at.to_bytes(4, "little")
        must(
            kernel.landlock_add_rule(ruleset, kernel.LANDLOCK_RULE_PATH_BENEATH, beneath, 0),
            Layer.LANDLOCK,
            "landlock_add_rule",
        )
        os.close(at)
    must(kernel.landlock_restrict_self(ruleset, rules.flags), Layer.LANDLOCK, "landlock_restrict_self")


def _beside() -> list[str]:
    """The folder of `litany_stubs`, which this package imports; in a tree of sources it is another one."""
    import litany_stubs  # noqa: PLC0415 - for its place alone

    return [os.path.dirname(os.path.dirname(os.path.abspath(str(litany_stubs.__file__))))]
