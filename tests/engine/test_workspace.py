from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pygit2
import pytest

from litany_engine.configuration.config import Config, ConfigError
from litany_engine.workspaces.git import GitError, Repository
from litany_engine.workspaces.new_workspace import PARTS, ephemeral_workspace, init_workspace
from litany_engine.workspaces.workspace import (
    Workspace,
    WorkspaceError,
    find_workspace,
    is_workspace,
    open_workspace_at,
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return init_workspace(tmp_path / "ws", agent="main")


def everything(folder: Path) -> set[str]:
    return {str(each.relative_to(folder)) for each in folder.rglob("*")}


def worktree_repository(worktree: Path) -> Any:
    return pygit2.Repository(str(worktree))


def test_init_makes_the_parts_and_a_first_agent_on_its_branch(tmp_path: Path) -> None:
    workspace = init_workspace(tmp_path / "deep" / "ws")
    assert {each.name for each in workspace.root.iterdir()} == set(PARTS)
    [agent] = workspace.agents()
    assert workspace.agent().id == agent
    assert workspace.agent().role == "default"
    repository = worktree_repository(workspace.agent().worktree)
    assert repository.head.name == f"refs/heads/agents/{agent}"
    assert repository[repository.head.target].author.name == "litany"
    assert repository.status() == {}
    assert pygit2.Repository(str(workspace.root / "repo.git")).is_bare
    assert (workspace.root / "steps" / agent).is_dir()
    assert (workspace.root / "inbox" / agent).is_dir()
    assert workspace.config == Config()


def test_nothing_but_the_workspace_is_left_beside_it(workspace: Workspace, tmp_path: Path) -> None:
    assert [each.name for each in tmp_path.iterdir()] == ["ws"]


def test_init_in_a_folder_with_files_leaves_them_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/file").write_bytes(b"mine")
    (tmp_path / ".git").write_text("not ours either")
    before = (tmp_path / "sub/file").stat()
    workspace = init_workspace(tmp_path)
    assert (tmp_path / "sub/file").read_bytes() == b"mine"
    assert (tmp_path / "sub/file").stat().st_mtime_ns == before.st_mtime_ns
    assert (tmp_path / ".git").read_text() == "not ours either"
    assert {each.name for each in tmp_path.iterdir()} == {*PARTS, "sub", ".git"}
    assert worktree_repository(workspace.agent().worktree).status() == {}


def test_init_keeps_the_folder_that_somebody_stands_in(tmp_path: Path) -> None:
    inode = tmp_path.stat().st_ino
    init_workspace(tmp_path)
    assert tmp_path.stat().st_ino == inode


def test_init_twice_is_refused_and_changes_nothing(workspace: Workspace) -> None:
    before = everything(workspace.root)
    with pytest.raises(WorkspaceError, match=f"{workspace.root} is a workspace already"):
        init_workspace(workspace.root)
    assert everything(workspace.root) == before


@pytest.mark.parametrize("part", PARTS[:-1])
def test_init_refuses_a_folder_where_a_part_is_in_the_way(tmp_path: Path, part: str) -> None:
    (tmp_path / part).symlink_to("nowhere")
    with pytest.raises(WorkspaceError, match=f"{tmp_path} has {part} in it already"):
        init_workspace(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == [part]


@pytest.mark.parametrize("agent", ["a/b", "../x", "", "a b", "a..b"])
def test_init_refuses_a_malformed_agent_id_before_making_anything(tmp_path: Path, agent: str) -> None:
    with pytest.raises(WorkspaceError, match="agent id"):
        init_workspace(tmp_path / "ws", agent=agent)
    assert list(tmp_path.iterdir()) == []


def test_init_in_a_place_that_is_a_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "ws").write_text("mine")
    with pytest.raises(WorkspaceError, match=r"cannot make a workspace in .*/ws: Not a directory"):
        init_workspace(tmp_path / "ws")
    assert (tmp_path / "ws").read_text() == "mine"


@pytest.mark.parametrize("existing", [True, False])
@pytest.mark.parametrize("step", ["create", "start_agent", "add_worktree", "link_worktree"])
def test_a_failed_init_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, *, existing: bool
) -> None:
    def fail(*_: object) -> None:
        raise GitError("disk full")

    root = tmp_path / "ws" if existing else tmp_path / "deep" / "ws"
    if existing:
        root.mkdir()
        (root / "file").write_text("mine")
    monkeypatch.setattr(Repository, step, fail)
    with pytest.raises(WorkspaceError, match="disk full"):
        init_workspace(root)
    assert everything(tmp_path) == ({"ws", "ws/file"} if existing else set())


def test_an_init_that_fails_half_way_into_place_takes_back_what_it_placed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("mine")
    rename = Path.rename

    def fail_for_the_repository(path: Path, target: Path) -> Path:
        if path.name == "repo.git":
            raise OSError(28, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail_for_the_repository)
    with pytest.raises(WorkspaceError, match="No space left on device"):
        init_workspace(tmp_path)
    assert everything(tmp_path) == {"file"}


KILLED = """
import os, sys
from pathlib import Path
from litany_engine.workspaces import new_workspace
rename, left = Path.rename, int(sys.argv[2])
def dying(path, target):
    global left
    if not left:
        os._exit(9)
    left -= 1
    return rename(path, target)
Path.rename = dying
new_workspace.init_workspace(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("renames", [0, 2, 4])
def test_a_killed_init_leaves_no_folder_that_passes_for_a_workspace(tmp_path: Path, renames: int) -> None:
    (tmp_path / "file").write_text("mine")
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(renames)], check=False)
    assert done.returncode == 9
    assert not is_workspace(tmp_path)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_workspace_is_found_from_inside_it(workspace: Workspace, tmp_path: Path) -> None:
    deep = workspace.agent().worktree / "a" / "b"
    deep.mkdir(parents=True)
    assert find_workspace(deep) == workspace.root
    assert find_workspace(workspace.root) == workspace.root
    assert find_workspace(tmp_path) is None


def test_opening_what_is_no_workspace_says_what_and_what_to_do(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match=f"there is no folder {tmp_path}/absent"):
        open_workspace_at(tmp_path / "absent")
    with pytest.raises(WorkspaceError, match=rf"{tmp_path} is not a workspace .* litany init {tmp_path}"):
        open_workspace_at(tmp_path)
    with pytest.raises(WorkspaceError, match=f"it is inside {workspace.root}: name that"):
        open_workspace_at(workspace.root / "steps")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (["rm", "-r", "steps"], "steps is missing .*mkdir {root}/steps"),
        (["sh", "-c", "rm -r steps && touch steps"], "steps is something else"),
        (["rm", "repo.git/HEAD"], "repo.git/HEAD is missing .*restore"),
        (["rm", "-r", "repo.git"], "repo.git/HEAD is missing .*restore"),
        (["rm", "-r", "repo.git", "steps"], "repo.git/HEAD is missing"),
        (["rm", "-r", "litany.toml", "steps"], "steps is missing"),
    ],
)
def test_a_damaged_workspace_is_found_and_refused_with_what_is_wrong_and_how_to_mend_it(
    workspace: Workspace, damage: list[str], said: str
) -> None:
    inside = workspace.agent().worktree
    subprocess.run(damage, check=True, cwd=workspace.root)
    assert find_workspace(inside) == workspace.root
    with pytest.raises(WorkspaceError) as caught:
        open_workspace_at(workspace.root)
    pattern = f"{workspace.root} is a damaged workspace: {said}".replace("{root}", str(workspace.root))
    assert re.match(pattern, str(caught.value))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_another_users_workspace_is_not_opened(workspace: Workspace) -> None:
    os.chown(workspace.root, 65534, 65534)
    with pytest.raises(WorkspaceError, match="belongs to user 65534 and you are user 0"):
        open_workspace_at(workspace.root)


def test_a_repository_that_is_broken_is_one_line(workspace: Workspace) -> None:
    (workspace.root / "repo.git" / "HEAD").write_text("nonsense")
    (workspace.root / "repo.git" / "refs" / "heads" / "agents" / "main").unlink()
    with pytest.raises(WorkspaceError) as caught:
        open_workspace_at(workspace.root).agent("main")
    assert str(caught.value).count("\n") == 0
    assert str(workspace.root) in str(caught.value)


def test_agents_are_added_with_their_descent_and_role(workspace: Workspace) -> None:
    (workspace.root / "litany.toml").write_text("[roles.reader]\ngrant = ['read_file']\n")
    workspace = open_workspace_at(workspace.root)
    child = workspace.add_agent(role="reader", parent="main")
    assert child.id.startswith("main-")
    assert workspace.agents() == ["main", child.id]
    assert open_workspace_at(workspace.root).agent(child.id) == child
    assert child.role == "reader"
    assert child.worktree.parent == workspace.worktrees


def test_an_agent_cannot_be_added_with_a_role_or_parent_or_id_that_is_not_there(workspace: Workspace) -> None:
    before = everything(workspace.root)
    with pytest.raises(ConfigError, match="role wizard is not declared"):
        workspace.add_agent(role="wizard")
    with pytest.raises(WorkspaceError, match="no agent nobody"):
        workspace.add_agent(parent="nobody")
    with pytest.raises(WorkspaceError, match="agent main exists"):
        workspace.add_agent("main")
    with pytest.raises(WorkspaceError, match="agent id"):
        workspace.add_agent("../main")
    assert everything(workspace.root) == before


def test_an_unknown_agent_is_refused_with_those_there_are(workspace: Workspace) -> None:
    for ask in (workspace.agent, workspace.worktree, workspace.inbox, workspace.cwd):
        with pytest.raises(WorkspaceError, match=r"no agent other in .*; there are: main"):
            ask("other")
        with pytest.raises(WorkspaceError):
            ask("../steps")


def test_with_several_agents_one_must_be_named(workspace: Workspace) -> None:
    workspace.add_agent("second")
    with pytest.raises(WorkspaceError, match="has 2 agents: name one of main, second"):
        workspace.agent()


def test_a_lost_worktree_is_rebuilt_from_its_branch(workspace: Workspace) -> None:
    worktree = workspace.worktree("main")
    subprocess.run(["rm", "-r", worktree], check=True)
    rebuilt = open_workspace_at(workspace.root).worktree("main")
    assert rebuilt == worktree
    assert worktree_repository(rebuilt).status() == {}


def test_a_moved_workspace_works_where_it_is(workspace: Workspace, tmp_path: Path) -> None:
    (workspace.worktree("main") / "file").write_text("mine")
    workspace.root.rename(tmp_path / "moved")
    moved = open_workspace_at(tmp_path / "moved")
    worktree = moved.agent("main").worktree
    assert worktree == tmp_path / "moved/agents/main"
    repository = worktree_repository(worktree)
    assert repository.status() == {"file": pygit2.enums.FileStatus.WT_NEW}
    assert Path(repository.path).is_relative_to(tmp_path / "moved/repo.git")
    assert str(tmp_path / "ws") not in (tmp_path / "moved/repo.git/worktrees/main/gitdir").read_text()


def test_relinking_follows_no_link_that_an_agent_planted(workspace: Workspace, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    planted = workspace.worktree("main") / ".git"
    planted.unlink()
    planted.symlink_to(victim)
    workspace.root.rename(tmp_path / "moved")
    worktree = open_workspace_at(tmp_path / "moved").worktree("main")
    assert victim.read_text() == "precious"
    assert not (worktree / ".git").is_symlink()
    assert worktree_repository(worktree).status() == {}


@pytest.mark.parametrize("damage", ["removed", "emptied", "changed", "linked", "hard-linked", "a pipe"])
def test_a_damaged_git_pointer_is_mended(workspace: Workspace, tmp_path: Path, damage: str) -> None:
    pointer = workspace.worktree("main") / ".git"
    victim = tmp_path / "victim"
    victim.write_text("precious")
    inode = pointer.stat().st_ino
    if damage in ("emptied", "changed"):
        pointer.write_text(
            "" if damage == "emptied" else "gitdir: /elsewhere, for a longer line than before\n" * 9
        )
    else:
        pointer.unlink()
    if damage == "linked":
        pointer.symlink_to(victim)
    elif damage == "hard-linked":
        pointer.hardlink_to(victim)
    elif damage == "a pipe":
        os.mkfifo(pointer)
    worktree = open_workspace_at(workspace.root).worktree("main")
    assert worktree_repository(worktree).head.name == "refs/heads/agents/main"
    assert worktree_repository(worktree).status() == {}
    assert victim.read_text() == "precious"
    if damage in ("emptied", "changed"):  # a running program has this very file covered
        assert pointer.stat().st_ino == inode


def test_a_repository_that_a_tool_made_in_the_worktree_stays(workspace: Workspace) -> None:
    worktree = workspace.worktree("main")
    (worktree / ".git").unlink()
    pygit2.init_repository(str(worktree))
    assert open_workspace_at(workspace.root).worktree("main") == worktree
    assert (worktree / ".git" / "HEAD").is_file()


def test_tools_run_where_the_mark_says_while_that_exists(workspace: Workspace, tmp_path: Path) -> None:
    assert workspace.cwd("main") == workspace.worktree("main")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    workspace.repository.write_mark("cwd", "main", str(elsewhere))
    assert workspace.cwd("main") == elsewhere
    elsewhere.rmdir()
    assert workspace.cwd("main") == workspace.worktree("main")
    workspace.repository.write_mark("cwd", "main", "relative")
    assert workspace.cwd("main") == workspace.worktree("main")
    workspace.repository.drop_mark("cwd", "main")
    workspace.repository.drop_mark("cwd", "main")
    assert workspace.repository.read_mark("cwd", "main") is None


def test_an_agent_without_a_role_is_refused(workspace: Workspace) -> None:
    workspace.repository.drop_mark("role", "main")
    with pytest.raises(WorkspaceError, match="has no role"):
        workspace.agent("main")


def test_marks_and_agents_read_the_same_after_git_packed_them(workspace: Workspace, tmp_path: Path) -> None:
    workspace.repository.write_mark("cwd", "main", str(tmp_path))
    repository = pygit2.Repository(str(workspace.root / "repo.git"))
    repository.compress_references()
    repository.pack()
    for loose in (workspace.root / "repo.git/objects").glob("[0-9a-f][0-9a-f]/*"):
        loose.unlink()
    opened = open_workspace_at(workspace.root)
    assert not (workspace.root / "repo.git/refs/heads/agents/main").exists()
    assert opened.agent("main").role == "default"
    assert opened.cwd("main") == tmp_path
    with pytest.raises(WorkspaceError, match="no agent mai in"):
        opened.agent("mai")


def test_agents_are_the_branches_that_git_itself_lists(workspace: Workspace) -> None:
    workspace.add_agent("packed")
    repository = pygit2.Repository(str(workspace.root / "repo.git"))
    repository.compress_references()
    workspace.add_agent("loose")
    repository.references.create("refs/heads/other", repository.references["refs/heads/agents/packed"].target)
    (workspace.root / "repo.git/refs/heads/agents/main.lock").touch()
    heads = [each.removeprefix("agents/") for each in repository.branches if each.startswith("agents/")]
    assert workspace.agents() == sorted(heads) == ["loose", "main", "packed"]


def test_a_mark_that_is_no_text_is_said(workspace: Workspace) -> None:
    repository = pygit2.Repository(str(workspace.root / "repo.git"))
    repository.references.create("refs/litany/role/main", repository.create_blob(b"\xff"), force=True)
    with pytest.raises(WorkspaceError, match=r"role/main .* is not UTF-8"):
        workspace.agent("main")


QUICK = """
import sys
from pathlib import Path
from litany_engine.workspaces.workspace import open_workspace_at
workspace = open_workspace_at(Path(sys.argv[1]))
workspace.agent("main"), workspace.cwd("main"), workspace.records.open_step("main")
print("pygit2" in sys.modules)
"""


def test_finding_an_agent_does_not_wait_for_git_to_be_imported(workspace: Workspace) -> None:
    done = subprocess.run(
        [sys.executable, "-c", QUICK, workspace.root], check=True, capture_output=True, text=True
    )
    assert done.stdout == "False\n"


def test_an_ephemeral_workspace_stands_in_the_users_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    first, second = ephemeral_workspace(), ephemeral_workspace()
    assert first.root != second.root
    assert first.root.parent == second.root.parent == tmp_path / "state/litany/workspaces"
    assert (tmp_path / "state/litany/workspaces").stat().st_mode & 0o777 == 0o700
    assert open_workspace_at(first.root).agent().role == "default"


@pytest.mark.parametrize("state", ["", "relative"])
def test_a_state_folder_that_is_not_absolute_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", state)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert ephemeral_workspace().root.parent == tmp_path / ".local/state/litany/workspaces"


def test_a_state_folder_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with pytest.raises(WorkspaceError, match="state/litany/workspaces: Not a directory"):
        ephemeral_workspace()
