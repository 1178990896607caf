"""The transcript in git: it only grows, whatever the worktree holds, and files ride with the answers."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from litany_engine.rules.paths import PathPattern
from litany_engine.windows.entries import ToolResult, TranscriptError
from litany_engine.windows.staging import MAX_LISTED, MAX_NOTES, MAX_STAGED_FILE_BYTES
from litany_engine.windows.transcript import Transcript
from litany_engine.workspaces.git import GitError
from litany_engine.workspaces.workspace import Workspace
from window_kit import AGENT, assert_git_is_clean, git, make_workspace, transcript_of, use


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "w")


def answer(transcript: Transcript, call_id: str = "c") -> None:
    transcript.append_result(ToolResult(call_id, "done", is_error=False), "completed")


def committed(workspace: Workspace, path: str) -> str:
    return git(workspace, "show", f"agents/{AGENT}:{path}")


def files(workspace: Workspace) -> list[str]:
    return git(workspace, "ls-tree", "-r", "-z", "--name-only", f"agents/{AGENT}").split("\0")[:-1]


def test_entries_are_numbered_by_one_counter_and_read_back(workspace: Workspace) -> None:
    transcript = transcript_of(workspace)
    transcript.append_message("user", "hello é", "d1")
    transcript.append_reply("claude", [use("c", "say", text="\ud800")], 7)
    answer(transcript)
    message, reply, result = transcript.entries()
    assert [each.name for each in (message, reply, result)] == [
        "001-user.md",
        "002-claude.json",
        "003-tool.json",
    ]
    assert message.content == "hello é"
    assert (reply.step, reply.content) == (7, [use("c", "say", text="\ud800")])
    assert result.answered() == ("c",)
    assert_git_is_clean(workspace)


def test_each_entry_is_a_commit_of_its_own(workspace: Workspace) -> None:
    transcript = transcript_of(workspace)
    for n in range(3):
        answer(transcript, f"c{n}")
    subjects = git(workspace, "log", "--format=%s", f"agents/{AGENT}").splitlines()
    assert subjects[:3] == ["Answer c2: completed", "Answer c1: completed", "Answer c0: completed"]


def test_what_a_call_did_to_files_rides_with_its_answer(workspace: Workspace) -> None:
    worktree = workspace.worktree(AGENT)
    transcript = transcript_of(workspace)
    (worktree / "sub").mkdir()
    (worktree / "sub/new").write_text("1")
    (worktree / "gone").write_text("x")
    answer(transcript, "c1")
    (worktree / "sub/new").write_text("2")
    (worktree / "gone").unlink()
    (worktree / "link").symlink_to("/etc/passwd")
    (worktree / "run.sh").write_text("#!/bin/sh\n")
    (worktree / "run.sh").chmod(0o755)
    answer(transcript, "c2")
    changed = git(workspace, "show", "--format=", "--name-status", f"agents/{AGENT}").split()
    assert changed == ["D", "gone", "A", "link", "A", "messages/002-tool.json", "A", "run.sh", "M", "sub/new"]
    assert committed(workspace, "link") == "/etc/passwd"  # the link, never what it leads to
    assert git(workspace, "ls-tree", f"agents/{AGENT}", "run.sh").startswith("100755")
    assert_git_is_clean(workspace)


def left_out(workspace: Workspace) -> str:
    return git(workspace, "log", "-1", "--format=%b", f"agents/{AGENT}")


@pytest.mark.parametrize("place", [".gitignore", "sub/.gitignore", ".git/info/exclude"])
def test_an_agent_s_ignore_rules_hide_nothing(workspace: Workspace, place: str) -> None:
    worktree = workspace.worktree(AGENT)
    (worktree / "sub").mkdir()
    rules = (
        workspace.root / "repo.git" / "info" / "exclude" if place.startswith(".git/") else worktree / place
    )
    rules.write_text("*\n")
    (worktree / "sub/hidden").write_text("1")
    transcript = transcript_of(workspace)
    answer(transcript, "c1")
    assert committed(workspace, "sub/hidden") == "1"
    (worktree / "sub/hidden").write_text("2")
    (worktree / "sub/new").write_text("x")
    answer(transcript, "c2")
    assert committed(workspace, "sub/hidden") == "2"
    assert committed(workspace, "sub/new") == "x"
    (worktree / "sub/hidden").unlink()
    answer(transcript, "c3")
    assert "sub/hidden" not in files(workspace)
    assert_git_is_clean(workspace)


@pytest.mark.parametrize(
    "line", ["* text eol=crlf", "* text=auto", "* ident", "* eol=lf", "[attr]x text\n* x", "* -crlf ident"]
)
def test_an_agent_s_attributes_change_no_byte(workspace: Workspace, line: str) -> None:
    worktree = workspace.worktree(AGENT)
    content = b"a\r\nb\n$Id: mine $\r\n"
    (worktree / "sub").mkdir()
    for each in (worktree, worktree / "sub"):
        (each / ".gitattributes").write_text(line + "\n")
        (each / "file").write_bytes(content)
    answer(transcript_of(workspace))
    for path in ("file", "sub/file"):
        blob = subprocess.run(
            ["git", "-C", workspace.root / "repo.git", "cat-file", "blob", f"agents/{AGENT}:{path}"],
            capture_output=True,
            check=True,
        )
        assert blob.stdout == content


@pytest.mark.parametrize("depth", [89, 99, 100, 101, 150, 400])
def test_no_depth_hides_a_file(workspace: Workspace, depth: int) -> None:
    worktree = workspace.worktree(AGENT)
    folder = worktree / "/".join("d" * depth)
    folder.mkdir(parents=True)
    (folder / "deep").write_text("1")
    (worktree / "other").write_text("1")
    transcript = transcript_of(workspace)
    answer(transcript, "c1")
    path = f"{'d/' * depth}deep"
    assert committed(workspace, path) == "1"
    (folder / "deep").write_text("2")
    (worktree / "other").unlink()
    answer(transcript, "c2")
    assert committed(workspace, path) == "2"
    assert "other" not in files(workspace)
    assert left_out(workspace).strip() == ""


def test_what_has_too_long_a_path_is_named(workspace: Workspace) -> None:
    worktree = workspace.worktree(AGENT)
    fd = os.open(worktree, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("x" * 250, dir_fd=fd)
        below = os.open("x" * 250, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(os.open("secret", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    os.close(fd)
    (worktree / "fine").write_text("x")
    answer(transcript_of(workspace))
    assert files(workspace) == ["fine", "messages/001-tool.json"]
    assert "a path of more than 4000 bytes" in left_out(workspace)


@pytest.mark.parametrize("inner", ["repository", "an empty .git", "a .git file", "a .GIT"])
def test_a_folder_that_looks_like_a_repository_hides_nothing(workspace: Workspace, inner: str) -> None:
    nested = workspace.worktree(AGENT) / "nested"
    nested.mkdir()
    (nested / "f").write_text("1")
    if inner == "repository":
        subprocess.run(["git", "init", "-q", str(nested)], check=True)
    elif inner == "a .git file":
        (nested / ".git").write_text("gitdir: /nowhere\n")
    else:
        (nested / inner.rsplit(maxsplit=1)[-1]).mkdir()
        (nested / inner.rsplit(maxsplit=1)[-1] / "hidden").write_text("x")
    transcript = transcript_of(workspace)
    answer(transcript, "c1")
    assert committed(workspace, "nested/f") == "1"
    (nested / "f").write_text("2")
    (nested / "g").write_text("new")
    answer(transcript, "c2")
    assert committed(workspace, "nested/f") == "2"
    assert committed(workspace, "nested/g") == "new"
    assert "'nested/.g" in left_out(workspace).lower()
    assert_git_is_clean(workspace)


def test_the_operator_s_patterns_leave_files_out_and_are_listed(workspace: Workspace, tmp_path: Path) -> None:
    worktree = workspace.worktree(AGENT)
    for path in (
        "node_modules/a/b.js",
        "src/node_modules/c.js",
        "src/a.pyc",
        "src/a.py",
        "build/out",
        "src/build",
    ):
        (worktree / path).parent.mkdir(parents=True, exist_ok=True)
        (worktree / path).write_text("x")
    patterns = [PathPattern.parse(each) for each in ("**/node_modules", "**/*.pyc", "build")]
    transcript = Transcript(workspace.repository, AGENT, worktree, ignore=patterns)
    result = ToolResult("c", "done", is_error=False)
    transcript.append_result(result, "completed", record=tmp_path)
    assert files(workspace) == ["messages/001-tool.json", "src/a.py", "src/build"]
    listed = json.loads((tmp_path / "uncommitted.json").read_text())
    paths = ["build", "node_modules", "src/a.pyc", "src/node_modules"]
    assert listed == {
        "left_out": [{"path": each, "reason": "[transcript] ignore"} for each in paths],
        "more": 0,
    }


def test_a_pattern_set_later_takes_files_out_of_later_commits(workspace: Workspace) -> None:
    worktree = workspace.worktree(AGENT)
    (worktree / "log").write_text("x")
    answer(transcript_of(workspace), "c1")
    ignoring = Transcript(workspace.repository, AGENT, worktree, ignore=[PathPattern.parse("log")])
    answer(ignoring, "c2")
    assert "log" not in files(workspace)
    assert (worktree / "log").read_text() == "x"


def test_a_record_lists_at_most_so_many_files(workspace: Workspace, tmp_path: Path) -> None:
    for number in range(MAX_LISTED + 5):
        (workspace.worktree(AGENT) / f"{number:04d}.x").write_text("")
    ignoring = Transcript(
        workspace.repository, AGENT, workspace.worktree(AGENT), ignore=[PathPattern.parse("*.x")]
    )
    ignoring.append_result(ToolResult("c", "done", is_error=False), "completed", record=tmp_path)
    listed = json.loads((tmp_path / "uncommitted.json").read_text())
    assert (len(listed["left_out"]), listed["more"]) == (MAX_LISTED, 5)
    assert left_out(workspace).count("not committed: ") == MAX_NOTES + 1
    assert f"and {MAX_LISTED + 5 - MAX_NOTES} more" in left_out(workspace)


def test_git_in_the_worktree_sees_nothing_left_to_commit(workspace: Workspace) -> None:
    worktree = workspace.worktree(AGENT)
    (worktree / "a").write_text("x")
    answer(transcript_of(workspace))
    status = subprocess.run(
        ["git", "-C", str(worktree), "status", "--porcelain"], capture_output=True, text=True, check=True
    )
    assert (status.stdout, status.stderr) == ("", "")


def test_a_change_to_a_past_entry_is_never_committed(workspace: Workspace) -> None:
    transcript = transcript_of(workspace)
    transcript.append_message("user", "the goal", "d1")
    messages = workspace.worktree(AGENT) / "messages"
    (messages / "001-user.md").write_text("another goal")
    (messages / "099-user.md").write_text("forged")
    answer(transcript)
    assert [each.name for each in transcript.entries()] == ["001-user.md", "002-tool.json"]
    assert transcript.entries()[0].content == "the goal"


def test_a_deleted_folder_of_messages_comes_back(workspace: Workspace) -> None:
    transcript = transcript_of(workspace)
    transcript.append_message("user", "one", "d1")
    messages = workspace.worktree(AGENT) / "messages"
    (messages / "001-user.md").unlink()
    messages.rmdir()
    answer(transcript)
    assert [each.name for each in transcript.entries()] == ["001-user.md", "002-tool.json"]
    transcript.mend()
    assert sorted(each.name for each in messages.iterdir()) == ["001-user.md", "002-tool.json"]


@pytest.mark.parametrize("trap", ["link", "file", "fifo"])
def test_nothing_is_written_through_what_takes_the_place_of_messages(
    workspace: Workspace, tmp_path: Path, trap: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    messages = workspace.worktree(AGENT) / "messages"
    if trap == "link":
        messages.symlink_to(outside)
    elif trap == "file":
        messages.write_text("not a folder")
    else:
        os.mkfifo(messages)
    transcript = transcript_of(workspace)
    answer(transcript)
    assert list(outside.iterdir()) == []
    assert messages.is_dir()
    assert not messages.is_symlink()
    assert [each.name for each in transcript.entries()] == ["001-tool.json"]
    assert_git_is_clean(workspace)


def test_a_git_file_planted_in_the_worktree_leads_nowhere(workspace: Workspace, tmp_path: Path) -> None:
    """A program may write `.git`; a commit that followed it would open a repository of the program's making."""
    other = make_workspace(tmp_path / "other")
    before = git(other, "rev-parse", f"agents/{AGENT}")
    worktree = workspace.worktree(AGENT)
    (worktree / ".git").write_text(f"gitdir: {other.root / 'repo.git' / 'worktrees' / AGENT}\n")
    (worktree / "mine").write_text("x")
    answer(transcript_of(workspace))
    assert git(other, "rev-parse", f"agents/{AGENT}") == before
    assert files(workspace) == ["messages/001-tool.json", "mine"]


def test_files_that_git_cannot_hold_are_named_and_left_out(workspace: Workspace) -> None:
    worktree = workspace.worktree(AGENT)
    (worktree / "git~1").write_text("x")
    (worktree / "a\\b").write_text("x")
    (worktree / "fine").write_text("x")
    os.mkfifo(worktree / "fifo")
    (worktree / os.fsdecode(b"raw\xff")).write_text("x")
    nested = worktree / "nested"
    subprocess.run(["git", "init", "-q", str(nested)], check=True)
    (nested / "f").write_text("x")
    (worktree / "fake").mkdir()
    (worktree / "fake/.git").symlink_to("/")
    transcript = transcript_of(workspace)
    for n in range(2):  # what is left out today must not be in the way tomorrow
        answer(transcript, f"c{n}")
        body = git(workspace, "log", "-1", "--format=%b", f"agents/{AGENT}")
        assert "'git~1'" in body
        assert "'nested/.git': git holds nothing of that name" in body
        assert "'fifo': a pipe, not a file" in body
        assert "fine" in files(workspace)
    assert_git_is_clean(workspace)


def test_a_file_over_the_limit_stays_in_the_worktree_alone(workspace: Workspace) -> None:
    with (workspace.worktree(AGENT) / "huge").open("wb") as file:
        file.truncate(MAX_STAGED_FILE_BYTES + 1)
    answer(transcript_of(workspace))
    assert files(workspace) == ["messages/001-tool.json"]
    assert "files over" in git(workspace, "log", "-1", "--format=%b", f"agents/{AGENT}")


def test_a_worktree_that_cannot_be_looked_at_costs_no_answer(workspace: Workspace) -> None:
    worktree = workspace.worktree(AGENT)
    (worktree / "a").write_text("x")
    transcript = transcript_of(workspace)
    answer(transcript, "c1")
    (workspace.root / "repo.git" / "worktrees" / AGENT / "index").write_bytes(b"DIRC nonsense")
    (worktree / "b").write_text("y")
    answer(transcript, "c2")
    assert [each.answered() for each in transcript.entries()] == [("c1",), ("c2",)]
    assert files(workspace) == ["a", "b", "messages/001-tool.json", "messages/002-tool.json"]


def test_an_agent_s_own_commit_is_built_upon(workspace: Workspace) -> None:
    worktree = workspace.worktree(AGENT)
    transcript = transcript_of(workspace)
    answer(transcript, "c1")
    (worktree / "a").write_text("x")
    identity = ["-c", "user.name=a", "-c", "user.email=a@localhost"]
    subprocess.run(["git", "-C", str(worktree), "add", "a"], check=True)
    subprocess.run(["git", "-C", str(worktree), *identity, "commit", "-qm", "mine"], check=True)
    answer(transcript, "c2")
    subjects = git(workspace, "log", "--format=%s", f"agents/{AGENT}").splitlines()
    assert subjects[:3] == ["Answer c2: completed", "mine", "Answer c1: completed"]


def test_lock_files_of_a_dead_git_are_cleared_away(workspace: Workspace) -> None:
    transcript = transcript_of(workspace)
    repo = workspace.root / "repo.git"
    for stale in (repo / f"refs/heads/agents/{AGENT}.lock", repo / f"worktrees/{AGENT}/index.lock"):
        stale.write_text("")
    with pytest.raises(GitError, match="lock"):
        answer(transcript)
    transcript.mend()
    answer(transcript)
    assert len(transcript.entries()) == 1


@pytest.mark.parametrize("kind", ["held", "stopped"])
def test_lock_files_of_a_mark_whose_writer_died_are_cleared_away(workspace: Workspace, kind: str) -> None:
    repository = workspace.repository
    repository.write_mark(kind, AGENT, "before")
    (workspace.root / f"repo.git/refs/litany/{kind}/{AGENT}.lock").write_text("")
    with pytest.raises(GitError, match="lock"):
        repository.write_mark(kind, AGENT, "after")
    transcript_of(workspace).mend()
    repository.write_mark(kind, AGENT, "after")
    assert repository.read_mark(kind, AGENT) == "after"


def test_what_a_program_writes_into_messages_is_not_even_stored(workspace: Workspace) -> None:
    transcript = transcript_of(workspace)
    answer(transcript)
    junk = workspace.worktree(AGENT) / "messages" / "junk"
    junk.write_text("not a message, and nobody else's text")
    answer(transcript, "d")
    blob = git(workspace, "hash-object", str(junk)).strip()
    stored = git(workspace, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    assert blob not in stored
    assert [entry.name for entry in transcript.entries()] == ["001-tool.json", "002-tool.json"]


def test_a_deposit_is_known_again_until_something_else_is_said(workspace: Workspace) -> None:
    transcript = transcript_of(workspace)
    transcript.append_message("user", "x", "0001-abc-user.md")
    assert transcript.has_taken("0001-abc-user.md")
    assert not transcript.has_taken("0001-abc")
    answer(transcript)
    assert not transcript.has_taken("0001-abc-user.md")


@pytest.mark.parametrize("sender", ["tool", "../x", ""])
def test_a_sender_that_cannot_stand_in_a_name_is_refused(workspace: Workspace, sender: str) -> None:
    with pytest.raises(TranscriptError):
        transcript_of(workspace).append_message(sender, "x", "d")
    assert transcript_of(workspace).entries() == []
