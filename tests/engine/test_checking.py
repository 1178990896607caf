"""A program is judged in confined processes: this one parses nothing of it."""

from __future__ import annotations

import ast
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

from litany_engine import checking, cli, init_workspace
from litany_runtime.confine import ConfinementError, Layer
from litany_runtime.confine.checker import CheckerPlan, run_checker

WRONG = "import litany_tools\nimport socket\nlitany_tools.bash(command=3)\n"

PROBE = """
import json, os, socket, subprocess, sys
host, port, outside = sys.argv[1], int(sys.argv[2]), sys.argv[3]
tried = {
    "network": lambda: socket.create_connection((host, port), 2),
    "read": lambda: open("/etc/passwd").read(),
    "write": lambda: open(outside, "w"),
    "mode": lambda: os.chmod(outside, 0o777),
    "execute": lambda: subprocess.run(["/bin/sh", "-c", "true"], check=True),
    "signal": lambda: os.kill(os.getppid(), 0),
    "namespace": lambda: os.fork() if hasattr(os, "unshare") and os.unshare(0x10000000) else 1 / 0,
    "own folder": lambda: open("mine", "w"),
}
seen = {}
for name, attempt in tried.items():
    try:
        attempt()
        seen[name] = "done"
    except BaseException as error:
        seen[name] = type(error).__name__
print(json.dumps(seen))
"""


def python() -> tuple[str, tuple[str, ...]]:
    """An interpreter in the place of a checker, and what it reads."""
    return os.path.realpath(sys.executable), (sys.prefix, sys.base_prefix)


def test_a_checker_reaches_its_folder_and_nothing_else(tmp_path: Path) -> None:
    own, outside = tmp_path / "own", tmp_path / "outside"
    own.mkdir()
    outside.write_text("kept")
    interpreter, readable = python()
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        argv = (interpreter, "-I", "-S", "-c", PROBE, address[0], str(address[1]), str(outside))
        done = run_checker(CheckerPlan(argv, str(own), readable), 60)
    seen = json.loads(done.stdout)
    assert seen.pop("own folder") == "done"
    assert "done" not in seen.values(), seen
    assert outside.read_text() == "kept"
    assert (own / "mine").exists()


def test_a_checker_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    interpreter, readable = python()
    argv = (interpreter, "-I", "-S", "-c", "while True: pass")
    with pytest.raises(subprocess.TimeoutExpired):
        run_checker(CheckerPlan(argv, str(tmp_path), readable), 0.5)


def check(tmp_path: Path, program: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    root = tmp_path / "w"
    if not root.exists():
        init_workspace(root, agent="a")
    (tmp_path / "p.py").write_text(program)
    code = cli.main(["check", "-w", str(root), str(tmp_path / "p.py")])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_policy_and_the_types_are_judged_together_and_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = ast.parse

    def ours_alone(source: Any, *rest: Any, **named: Any) -> ast.AST:
        assert "bash(command=3)" not in str(source), "parsed in the operator's process"
        return parse(source, *rest, **named)  # type: ignore[no-any-return]

    monkeypatch.setattr(ast, "parse", ours_alone)
    code, out, err = check(tmp_path, WRONG, capsys)
    assert (code, err) == (126, "")
    assert [line.split(":")[1:4:2] for line in out.splitlines()] == [["2", " import"], ["3", " tools"]]


def test_a_program_that_no_parser_can_take_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = check(tmp_path, "x = " + "-" * 500_000 + "1\n", capsys)
    assert code == 126
    assert "nested too deeply" in out


def test_where_it_cannot_be_confined_nothing_is_judged_and_the_layer_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise ConfinementError(Layer.LANDLOCK, "this kernel has none", "Boot with `landlock`")

    monkeypatch.setattr(checking, "run_checker", refuse)
    code, out, err = check(tmp_path, WRONG, capsys)
    assert (code, out.count("\n")) == (126, 1)
    assert "calls of tools were not checked: the type checker cannot be confined here: " in err
    assert "this kernel has none" in err
    monkeypatch.setattr(checking, "open_supervisor", refuse)
    code, out, err = check(tmp_path, "print(1)", capsys)
    assert (code, out) == (125, "")
    assert "was not judged, for it is only parsed confined" in err
    assert "Boot with `landlock`" in err
