"""`read_file`, and how far a tool that touches files reaches: the agent's worktree and nothing else."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litany_engine.door.calls import Capture
from litany_engine.tools.builtins import APPLY_PATCH, READ_FILE
from litany_engine.tools.builtins.read_file import MAX_FILE_BYTES, _lines
from litany_engine.tools.builtins.worktree_files import FileRefusedError, WorktreeFiles
from tool_kit import AGENT, context_in, run_tool, worktree_in


def read(workspace: Path, path: Any, cwd: Path | None = None, **more: Any) -> Capture:
    return run_tool(READ_FILE, {"path": path, **more}, context_in(workspace, cwd=cwd))


def planted(workspace: Path, content: bytes = b"one\ntwo\nthree\n", name: str = "file.txt") -> Path:
    file = worktree_in(workspace) / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


# Lines.


@pytest.mark.parametrize(
    ("range_", "stdout", "note"),
    [
        ({}, b"one\ntwo\nthree\n", "3 of 3 lines from line 1 of 'file.txt' in {cwd}"),
        ({"limit": 2}, b"one\ntwo\n", "2 of 3 lines from line 1 of 'file.txt' in {cwd}; next offset: 3"),
        ({"offset": 2}, b"two\nthree\n", "2 of 3 lines from line 2 of 'file.txt' in {cwd}"),
        (
            {"offset": 2, "limit": 1},
            b"two\n",
            "1 of 3 lines from line 2 of 'file.txt' in {cwd}; next offset: 3",
        ),
        ({"offset": 3, "limit": 9}, b"three\n", "1 of 3 lines from line 3 of 'file.txt' in {cwd}"),
        ({"offset": 4}, b"", "0 of 3 lines from line 4 of 'file.txt' in {cwd}"),
        (
            {"offset": 10**30, "limit": 10**30},
            b"",
            f"0 of 3 lines from line {10**30} of 'file.txt' in {{cwd}}",
        ),
        ({"limit": 10**30}, b"one\ntwo\nthree\n", "3 of 3 lines from line 1 of 'file.txt' in {cwd}"),
        ({"offset": 2.0}, b"two\nthree\n", "2 of 3 lines from line 2 of 'file.txt' in {cwd}"),
    ],
)
def test_the_lines_are_exact_and_the_note_says_which(
    range_: dict[str, Any], stdout: bytes, note: str, tmp_path: Path
) -> None:
    planted(tmp_path)
    capture = read(tmp_path, "file.txt", **range_)
    assert (capture.stdout, capture.exit_code) == (stdout, 0)
    assert capture.stderr.decode() == note.format(cwd="/worktree") + "\n"


@pytest.mark.parametrize(
    ("content", "lines"),
    [(b"", 0), (b"\n", 1), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2), (b"a\r\nb\x0cc\x85", 2)],
)
def test_only_a_newline_ends_a_line(content: bytes, lines: int, tmp_path: Path) -> None:
    planted(tmp_path, content)
    capture = read(tmp_path, "file.txt")
    assert capture.stdout == content
    assert capture.stderr.decode().startswith(f"{lines} of {lines} lines")


@given(st.binary(max_size=60), st.integers(1, 9))
def test_reading_on_from_the_note_gives_the_whole_file(content: bytes, limit: int) -> None:
    lines = _lines(content)
    assert b"".join(lines) == content
    assert all(line.endswith(b"\n") for line in lines[:-1])
    parts = [lines[start : start + limit] for start in range(0, len(lines), limit)]
    assert b"".join(b"".join(part) for part in parts) == content


@pytest.mark.parametrize("field", ["offset", "limit"])
@pytest.mark.parametrize("value", [0, -1, "1", None, 1.5])
def test_a_range_that_is_none_is_declined_by_the_fields_name(field: str, value: Any, tmp_path: Path) -> None:
    planted(tmp_path)
    capture = read(tmp_path, "file.txt", **{field: value})
    assert capture.exit_code == 1
    assert capture.stderr.decode().startswith(f"read_file: invalid input JSON: read_file: argument '{field}'")


@pytest.mark.parametrize(
    ("given_", "named"), [({}, "'path' is missing"), ({"path": "a", "pat": "b"}, "'pat' is not known")]
)
def test_missing_and_unknown_fields_are_declined(given_: dict[str, str], named: str, tmp_path: Path) -> None:
    capture = run_tool(READ_FILE, given_, context_in(tmp_path))
    assert capture.exit_code == 1
    assert named in capture.stderr.decode()


def test_a_file_of_just_the_limit_is_read_and_one_byte_more_is_not(tmp_path: Path) -> None:
    planted(tmp_path, b"x" * MAX_FILE_BYTES)
    assert len(read(tmp_path, "file.txt", limit=1).stdout) == MAX_FILE_BYTES
    planted(tmp_path, b"x\n" * (MAX_FILE_BYTES // 2) + b"y")
    capture = read(tmp_path, "file.txt", limit=1)  # the file counts, not the part
    assert capture.exit_code == 1
    assert capture.stdout == b""
    assert f"has {MAX_FILE_BYTES + 1} bytes" in capture.stderr.decode()
    assert f"up to {MAX_FILE_BYTES}" in capture.stderr.decode()


# How far it reaches.


@pytest.mark.parametrize(
    "path",
    [
        "file.txt",
        "./file.txt",
        "sub/../file.txt",
        "sub//..//file.txt",
        "inner-link",
        "folder-link/../file.txt",
    ],
)
def test_every_way_to_a_file_of_the_worktree_leads_there(path: str, tmp_path: Path) -> None:
    planted(tmp_path)
    worktree = worktree_in(tmp_path)
    (worktree / "sub" / "deep").mkdir(parents=True)
    (worktree / "inner-link").symlink_to("sub/../file.txt")
    (worktree / "folder-link").symlink_to("sub")
    assert read(tmp_path, path).stdout == b"one\ntwo\nthree\n"


def test_an_absolute_path_in_the_worktree_is_taken(tmp_path: Path) -> None:
    file = planted(tmp_path)
    assert read(tmp_path, str(file)).exit_code == 0
    link = tmp_path / "link-to-workspace"
    link.symlink_to(tmp_path)
    context = context_in(link, cwd=link / "agents" / AGENT)
    assert run_tool(READ_FILE, {"path": str(link / "agents" / AGENT / "file.txt")}, context).exit_code == 0
    assert run_tool(READ_FILE, {"path": str(file)}, context).exit_code == 0


def test_the_path_that_a_confined_program_sees_means_the_same_file(tmp_path: Path) -> None:
    planted(tmp_path)
    assert read(tmp_path, "/worktree/file.txt").stdout == b"one\ntwo\nthree\n"
    assert read(tmp_path, "/worktree/../file.txt").exit_code == 1
    assert read(tmp_path, "/worktreefile.txt").exit_code == 1


def test_relative_paths_start_at_the_working_directory(tmp_path: Path) -> None:
    planted(tmp_path, b"inner\n", "sub/file.txt")
    planted(tmp_path, b"outer\n")
    sub = worktree_in(tmp_path) / "sub"
    assert read(tmp_path, "file.txt", cwd=sub).stdout == b"inner\n"
    assert read(tmp_path, "../file.txt", cwd=sub).stdout == b"outer\n"


def outside(tmp_path: Path) -> tuple[Path, Path]:
    """A workspace with a secret beside the agent's worktree."""
    workspace = tmp_path / "ws"
    worktree_in(workspace)
    secret = tmp_path / "secret.txt"
    secret.write_text("secret\n")
    return workspace, secret


@pytest.mark.parametrize(
    "path",
    [
        "../../../secret.txt",
        "/etc/passwd",
        "{secret}",
        "link",
        "absolute-link",
        "folder/secret.txt",
        "chain",
        "../other/file.txt",
        "/proc/self/environ",
        "/worktree/../../../secret.txt",
        "magic/secret.txt",
    ],
)
def test_nothing_outside_the_worktree_is_read_or_written(path: str, tmp_path: Path) -> None:
    workspace, secret = outside(tmp_path)
    worktree = worktree_in(workspace)
    (worktree / "link").symlink_to("../../../secret.txt")
    (worktree / "absolute-link").symlink_to(secret)
    (worktree / "folder").symlink_to("../../..")
    (worktree / "chain").symlink_to("link")
    (worktree / "magic").symlink_to(f"/proc/{os.getpid()}/cwd")
    path = path.format(secret=secret)
    capture = read(workspace, path)
    assert (capture.exit_code, capture.stdout) == (1, b"")
    assert "outside the agent's worktree" in capture.stderr.decode()
    for body in (
        f"*** Update File: {path}\n-secret\n+changed",
        f"*** Delete File: {path}",
        f"*** Add File: {path}x\n+a",
    ):
        run_tool(APPLY_PATCH, {"input": f"*** Begin Patch\n{body}\n*** End Patch"}, context_in(workspace))
    assert secret.read_text() == "secret\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["secret.txt", "ws"]
    assert sorted(each.name for each in workspace.iterdir()) == ["agents"]


def test_from_a_directory_outside_the_worktree_only_its_own_files_are_reached(tmp_path: Path) -> None:
    workspace, secret = outside(tmp_path)
    file = planted(workspace)
    capture = read(workspace, "secret.txt", cwd=tmp_path)
    assert "outside the agent's worktree" in capture.stderr.decode()
    assert read(workspace, str(file), cwd=tmp_path).exit_code == 0
    assert read(workspace, str(secret), cwd=tmp_path).exit_code == 1


@pytest.mark.parametrize("path", [".git", "./.git", ".git/config", "to-git", "sub/../.git"])
def test_what_belongs_to_git_is_neither_read_nor_written(path: str, tmp_path: Path) -> None:
    worktree = worktree_in(tmp_path)
    (worktree / "sub").mkdir()
    if path.endswith("config"):
        planted(tmp_path, b"own\n", ".git/config")
    else:
        planted(tmp_path, b"own\n", ".git")
    (worktree / "to-git").symlink_to(".git")
    capture = read(tmp_path, path)
    assert "belongs to git" in capture.stderr.decode()
    for body in (
        f"*** Update File: {path}\n-own\n+changed",
        f"*** Add File: {path}/x\n+a",
        f"*** Add File: {path}\n+a",
    ):
        capture = run_tool(
            APPLY_PATCH, {"input": f"*** Begin Patch\n{body}\n*** End Patch"}, context_in(tmp_path)
        )
        assert capture.exit_code == 1
    assert {each.read_bytes() for each in worktree.rglob("*") if each.is_file()} == {b"own\n"}


def test_the_name_of_gits_folder_deeper_down_is_a_name_like_any(tmp_path: Path) -> None:
    planted(tmp_path, b"x\n", "vendored/.git/config")
    assert read(tmp_path, "vendored/.git/config").exit_code == 0


@pytest.mark.parametrize("kind", ["fifo", "socket", "device", "folder"])
def test_what_is_no_regular_file_is_declined_at_once(kind: str, tmp_path: Path) -> None:
    place = worktree_in(tmp_path) / "it"
    if kind == "fifo":
        os.mkfifo(place)  # to open it blocking would wait for a writer for ever
    elif kind == "socket":
        here = os.getcwd()  # noqa: PTH109
        with socket.socket(socket.AF_UNIX) as sock:
            os.chdir(place.parent)  # the name of a socket is short
            try:
                sock.bind("it")
            finally:
                os.chdir(here)
    elif kind == "device":
        try:
            os.mknod(place, 0o20666, os.makedev(1, 5))
        except PermissionError:
            pytest.skip("only root makes devices")
    else:
        place.mkdir()
    capture = read(tmp_path, "it")
    assert (capture.exit_code, capture.stdout) == (1, b"")
    assert ("is a folder" if kind == "folder" else "is no regular file") in capture.stderr.decode()


@pytest.mark.parametrize(
    ("path", "cause"),
    [
        ("gone", "No such file"),
        ("file.txt/x", "Not a directory"),
        ("", "is no path"),
        ("a\0b", "is no path"),
        ("loop", "Too many levels"),
        ("x" * 300, "name too long"),
        ("dangling", "No such file"),
    ],
)
def test_a_path_that_leads_nowhere_is_declined_by_its_cause(path: str, cause: str, tmp_path: Path) -> None:
    planted(tmp_path)
    (worktree_in(tmp_path) / "loop").symlink_to("loop")
    (worktree_in(tmp_path) / "dangling").symlink_to("nothing-here")
    stderr = read(tmp_path, path).stderr.decode()
    assert cause in stderr
    assert "working directory: /worktree)" in stderr
    assert str(tmp_path) not in stderr


def test_a_missing_worktree_is_declined(tmp_path: Path) -> None:
    capture = run_tool(READ_FILE, {"path": "a"}, context_in(tmp_path, cwd=tmp_path, agent="nobody"))
    assert capture.exit_code == 1
    assert "the agent's worktree" in capture.stderr.decode()


def test_a_folder_swapped_for_a_link_while_we_read_never_leads_out(tmp_path: Path) -> None:
    workspace, _ = outside(tmp_path)
    worktree = worktree_in(workspace)
    (worktree / "real").mkdir()
    (worktree / "real" / "secret.txt").write_text("inside\n")
    (worktree / "trap").symlink_to(tmp_path)
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            for source in ("real", "trap"):
                os.rename(worktree / source, worktree / "door")  # noqa: PTH104
                os.rename(worktree / "door", worktree / source)  # noqa: PTH104

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen = set()
    try:
        with WorktreeFiles(worktree, worktree) as files:
            for _ in range(2000):
                try:
                    seen.add(files.read("door/secret.txt", 100)[0])
                except FileRefusedError:
                    seen.add(b"refused")
    finally:
        done.set()
        swapping.join()
    assert b"secret\n" not in seen
    assert seen <= {b"inside\n", b"refused"}


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    planted(tmp_path)
    read(tmp_path, "file.txt")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for path in ("file.txt", "gone", ".", "/etc/passwd", "file.txt/x"):
        read(tmp_path, path)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
