"""Runs programs under the language policy alone: no kernel layer, no door.

One server process prepares once and forks for each program, as the zygote does. Run as a script it is the
server; imported it is the client that tests use. What a program did is judged from here: its streams are
files that the server opened, its end is what `waitpid` says.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT_S = 120
"""Far above what any program here takes; a program that hangs fails its test instead of the run."""


@dataclass(frozen=True)
class Run:
    """How one program ended."""

    exit_code: int
    stdout: str
    stderr: str
    exception: str = ""
    violations: tuple[tuple[int, int, str, str, str], ...] = ()
    after: object = None


class PolicyRunner:
    """A server process and its folder; `run` may be called from one thread at a time."""

    def __init__(
        self, python: str = sys.executable, extra_modules: tuple[str, ...] = (), *, plain: bool = False
    ) -> None:
        """Start the server; a `plain` one runs programs with no policy at all, to compare with."""
        self._folder = tempfile.TemporaryDirectory(prefix="litany-policy-")
        self._count = 0
        self._server = subprocess.Popen(
            [
                python,
                "-I",
                "-W",
                "ignore",
                __file__,
                str(ROOT),
                "plain" if plain else ",".join(extra_modules),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={},
        )
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._requests: IO[bytes] = self._server.stdin
        self._answers: IO[bytes] = self._server.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._requests.close()
        self._server.wait(TIMEOUT_S)
        self._answers.close()
        self._folder.cleanup()

    def run(
        self,
        source: str | bytes,
        *,
        worktree: Path | str | None = None,
        files: str = "write",
        tools: str = "",
        trusted: str = "",
    ) -> Run:
        """Run one program.

        Args:
            source: the program.
            worktree: its worktree; a fresh empty folder when None.
            files: its file policy.
            tools: source of its stub module.
            trusted: code of the test's own, run in the child before the policy takes hold; may define
                `before(namespace)` and `after(namespace)`, whose result is the run's `after`.
        """
        self._count += 1
        place = Path(self._folder.name, str(self._count))
        place.mkdir()
        for name in ("tmp", "work"):
            (place / name).mkdir()
        data = source.encode() if isinstance(source, str) else source
        (place / "program.py").write_bytes(data)
        request = {
            "place": str(place),
            "worktree": str(worktree) if worktree else str(place / "work"),
            "files": files,
            "tools": tools,
            "trusted": trusted,
        }
        self._requests.write(json.dumps(request).encode() + b"\n")
        self._requests.flush()
        answer = json.loads(self._answers.readline())
        end = json.loads(
            (place / "end.json").read_text() or "{}"
        )  # empty when the child did not end by itself
        return Run(
            exit_code=answer["exit_code"],
            stdout=(place / "stdout").read_bytes().decode(errors="replace"),
            stderr=(place / "stderr").read_bytes().decode(errors="replace"),
            exception=end.get("exception", ""),
            violations=tuple(tuple(v) for v in end.get("violations", ())),
            after=end.get("after"),
        )


def run_plainly(source: str | bytes, folder: Path, python: str = sys.executable) -> Run:
    """The same program in an ordinary interpreter."""
    path = folder / "program.py"
    path.write_bytes(source.encode() if isinstance(source, str) else source)
    work = folder / "plain-work"
    work.mkdir(exist_ok=True)
    wrapper = (
        "import sys, runpy\n"
        "sys.argv = ['program.py']\n"
        "import ast, asyncio\n"
        f"code = compile(open({str(path)!r}, 'rb').read(), 'program.py', 'exec', flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)\n"
        "import types; main = types.ModuleType('__main__'); sys.modules['__main__'] = main\n"
        "main.__dict__['__file__'] = 'program.py'\n"
        "try:\n"
        "    if code.co_flags & 0x80: asyncio.run(eval(code, main.__dict__))\n"
        "    else: exec(code, main.__dict__)\n"
        "except Exception as error:\n"
        f"    open({str(folder / 'exception')!r}, 'w').write(type(error).__name__)\n"
        "    raise\n"
    )
    done = subprocess.run(
        [python, "-I", "-W", "ignore::DeprecationWarning", "-c", wrapper],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=work,
        timeout=TIMEOUT_S,
        env={"TMPDIR": str(folder)},
        check=False,
    )
    stderr = done.stderr.decode(errors="replace")
    raised = folder / "exception"
    exception = raised.read_text() if raised.exists() else ""
    return Run(done.returncode, done.stdout.decode(errors="replace"), stderr, exception)


# -- the server -----------------------------------------------------------------------------------------------


def _serve(root: str, extra: str) -> None:
    sys.path[:0] = [f"{root}/runtime", f"{root}/stubs"]
    from litany_runtime.policy import prepare

    prepared = None if extra == "plain" else prepare(tuple(m for m in extra.split(",") if m))
    for line in sys.stdin.buffer:
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            try:
                _child(prepared, request)
            finally:
                os._exit(99)
        limit = time.monotonic() + TIMEOUT_S
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() > limit:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.001)
        sys.stdout.write(json.dumps({"exit_code": os.waitstatus_to_exitcode(status)}) + "\n")
        sys.stdout.flush()


def _child(prepared: Any, request: dict[str, str]) -> None:
    import io
    import traceback
    import types

    from litany_runtime.policy import PolicyError, compile_program, execute, namespace
    from litany_runtime.policy import end as policy_end
    from litany_runtime.program import FilePolicy

    place = request["place"]
    end_file = os.open(f"{place}/end.json", os.O_WRONLY | os.O_CREAT, 0o600)
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False))
    for number, name in ((1, "stdout"), (2, "stderr")):
        file = os.open(f"{place}/{name}", os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(file, number)
        os.close(file)
        stream = io.TextIOWrapper(
            io.BufferedWriter(io.FileIO(number, "w")), encoding="utf-8", line_buffering=True
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.argv[:] = ["program.py"]
    stdout, stderr = sys.stdout, sys.stderr
    source = Path(place, "program.py").read_bytes()
    os.chdir(request["worktree"])
    tools = types.ModuleType("litany_tools")
    exec(request["tools"], tools.__dict__)
    end: dict[str, object] = {}
    code = 0
    trusted: dict[str, Any] = {}
    names: dict[str, Any] = {}
    exec(request["trusted"], trusted)
    try:
        if prepared is None:
            main = types.ModuleType("__main__")
            sys.modules["__main__"] = main
            exec(compile(source, "program.py", "exec", dont_inherit=True), main.__dict__)
        else:
            names = namespace(
                prepared,
                tools=tools,
                worktree=request["worktree"],
                files=FilePolicy(request["files"]),
                temporary=f"{place}/tmp",
            )
            if "before" in trusted:
                trusted["before"](names)
            execute(compile_program(source, "program.py"), names)
            if "after" in trusted:
                end["after"] = trusted["after"](names)
    except PolicyError as refusal:
        code = 126
        end["violations"] = [[v.line, v.column, v.rule, v.message, v.hint] for v in refusal.violations]
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
        if not isinstance(stop.code, int) and stop.code is not None:
            stderr.write(f"{stop.code}\n")
    except BaseException as error:  # noqa: BLE001 - whatever the program raised
        code = 1
        end["exception"] = type(error).__name__
        stderr.write("".join(traceback.format_exception(error)))
    import threading

    threading._shutdown()  # type: ignore[attr-defined] # as the interpreter does at its end
    if prepared is not None:
        policy_end(names)
    for each in (sys.stdout, stdout, stderr):
        with contextlib.suppress(ValueError, OSError):
            each.flush()
    os.write(end_file, json.dumps(end).encode())
    os._exit(code & 0xFF)


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2])
