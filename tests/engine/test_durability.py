"""`durability`: what is flushed to the device before an answer is given, tried on a device that cannot flush.

A process asks the kernel to fail every fsync of its own (a seccomp filter). Who flushes then fails, and says
so; who does not, does not notice. So it is the kernel that says whether something was flushed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import ctypes, json, platform, struct, sys
from datetime import UTC, datetime
from pathlib import Path
import pygit2
from litany_engine.door.calls import ToolCall
from litany_engine.windows.entries import ToolResult
from litany_engine.workspaces.git import GitError
from litany_engine.records.records import RecordError, Records
from litany_engine.windows.transcript import Transcript
from window_kit import AGENT, make_workspace

FSYNC, FDATASYNC = {"x86_64": (74, 75), "aarch64": (82, 83)}[platform.machine()]
LOAD_NUMBER, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
FAIL_WITH_EIO, ALLOW = 0x00050000 | 5, 0x7FFF0000

def fail_every_flush():
    code = [(LOAD_NUMBER, 0, 0, 0), (IF_EQUAL, 1, 0, FSYNC), (IF_EQUAL, 0, 1, FDATASYNC),
            (RETURN, 0, 0, FAIL_WITH_EIO), (RETURN, 0, 0, ALLOW)]
    program = b"".join(struct.pack("HBBI", *each) for each in code)
    kept = ctypes.create_string_buffer(program)
    filter = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(kept))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    assert libc.prctl(22, 2, filter, 0, 0) == 0, ctypes.get_errno()  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER

durability = sys.argv[2]
workspace = make_workspace(Path(sys.argv[1]))
step = Records(workspace.root / "steps", durability).open_step(AGENT)
transcript = Transcript(workspace.repository, AGENT, workspace.worktree(AGENT), durability)
fail_every_flush()
failed = []
for what, act in {
    "record": lambda: step.claim("c").write_input(ToolCall("c", "x", {}), None, datetime.now(UTC)),
    "transcript": lambda: transcript.append_result(ToolResult("c", "x", False), "completed"),
}.items():
    try:
        act()
    except (RecordError, GitError, OSError):
        failed.append(what)
print(json.dumps(failed))
"""


@pytest.mark.parametrize(("durability", "flushed"), [("none", []), ("call", ["record", "transcript"])])
def test_what_an_answer_depends_on_is_flushed_when_each_call_is_to_be_durable(
    tmp_path: Path, durability: str, flushed: list[str]
) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "w"), durability],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == flushed
