"""`make demo`: run an example over this repository's own files, then show its record."""

import sys
from pathlib import Path

from litany_engine import open_workspace_blocking
from litany_engine.workspaces.new_workspace import ephemeral_workspace
from litany_engine.workspaces.seed import copy_folder
from litany_engine.records.show import show_text

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "examples" / "line_counts.py"
WINGS = ("stubs", "runtime", "engine")


def main() -> int:
    workspace = ephemeral_workspace()
    worktree = workspace.agent().worktree
    copied = sum(copy_folder(ROOT / wing, worktree / wing).files for wing in WINGS)
    print(f"$ litany run {PROGRAM.relative_to(ROOT)}   # over a copy of {copied} files of this repository\n")
    with open_workspace_blocking(workspace) as ws:
        end = ws.python(PROGRAM.read_text(), deadline="60s")
    sys.stdout.write(end.stdout.decode())
    sys.stderr.write(end.stderr.decode())
    if end.refusal or end.reason:
        print(end.reason or end.refusal.reason, file=sys.stderr)
    print(f"\n{end.outcome} (exit {end.exit_code}) in {end.duration_s * 1000:.0f} ms, {len(end.calls)} calls\n")
    print(f"$ litany show --workspace {workspace.root}\n")
    lines = show_text(end.record.parents[1]).splitlines()
    print("\n".join(lines if len(lines) < 24 else [*lines[:20], f"… {len(lines) - 22} more calls", *lines[-2:]]))
    return end.exit_code


if __name__ == "__main__":
    sys.exit(main())
