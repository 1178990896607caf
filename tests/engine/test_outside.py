"""Paths out of the worktree: what an operator lets a call reach, it reaches, and nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import trio

from litany_engine import open_workspace
from litany_engine.api import OpenWorkspace
from litany_engine.door.calls import CallEnd
from litany_engine.door.holds import Answer, Holds, Question
from litany_engine.tools.builtins.worktree_files import FileRefusedError, WorktreeFiles
from litany_engine.workspaces.workspace import Workspace
from tool_kit import wait_until
from window_kit import AGENT, make_workspace, use

ASK = '[[rules]]\naction = "ask"\noutside = true\n'


@pytest.fixture
def far(tmp_path: Path) -> Path:
    """A folder that is no agent's, with a file and a link in it."""
    folder = tmp_path / "far"
    folder.mkdir()
    (folder / "notes.txt").write_text("far away\n")
    (folder / "other.txt").write_text("other\n")
    (folder / "link.txt").symlink_to("other.txt")
    return folder


def configured(tmp_path: Path, config: str) -> Workspace:
    return make_workspace(tmp_path / "w", config)


def answered(
    workspace: Workspace, name: str, arguments: Any, verdict: Any = "pass"
) -> tuple[CallEnd, Question]:
    """A call of a host that is held, answered while it waits."""

    async def main() -> tuple[CallEnd, Question]:
        async with open_workspace(workspace) as ws:
            return await held(ws, name, arguments, verdict)

    return trio.run(main)


async def held(
    ws: OpenWorkspace, name: str, arguments: Any, verdict: Any = "pass"
) -> tuple[CallEnd, Question]:
    ends: list[CallEnd] = []
    holds = Holds(ws.workspace.root)

    async def call() -> None:
        ends.append(await ws.invoke(name, arguments))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(call)
        await wait_until(holds.questions)
        (question,) = holds.questions()
        holds.answer(question.id, Answer(verdict))
    return ends[0], question


def add(path: object, line: str = "new") -> dict[str, str]:
    return {"input": f"*** Begin Patch\n*** Add File: {path}\n+{line}\n*** End Patch"}


def test_a_pass_lets_the_call_read_what_was_shown(tmp_path: Path, far: Path) -> None:
    workspace = configured(tmp_path, ASK)
    end, question = answered(workspace, "read_file", {"path": str(far / "notes.txt")})
    assert (end.exit_code, end.stdout) == (0, b"far away\n")
    assert question.outside == (str(far / "notes.txt"),)
    assert question.reason.endswith(f"; it leads out of the worktree, to {far / 'notes.txt'}")


def test_a_refusal_lets_it_read_nothing(tmp_path: Path, far: Path) -> None:
    end, _ = answered(configured(tmp_path, ASK), "read_file", {"path": str(far / "notes.txt")}, "refuse")
    assert end.refusal is not None
    assert b"far" not in end.stdout


def test_a_link_out_of_the_worktree_is_shown_where_it_leads(tmp_path: Path, far: Path) -> None:
    workspace = configured(tmp_path, ASK)
    (workspace.worktree(AGENT) / "near.txt").symlink_to(far / "link.txt")
    end, question = answered(workspace, "read_file", {"path": "near.txt"})
    assert question.outside == (str(far / "other.txt"),)
    assert end.stdout == b"other\n"


def test_the_next_call_is_asked_about_again(tmp_path: Path, far: Path) -> None:
    workspace = configured(tmp_path, ASK)

    async def main() -> list[CallEnd]:
        async with open_workspace(workspace) as ws:
            path = {"path": str(far / "notes.txt")}
            return [(await held(ws, "read_file", path, verdict))[0] for verdict in ("pass", "refuse")]

    first, second = trio.run(main)
    assert (first.exit_code, second.exit_code) == (0, 126)


def test_a_program_s_call_reaches_what_was_passed(tmp_path: Path, far: Path) -> None:
    workspace = configured(tmp_path, ASK)
    program = (
        "import litany_tools\n"
        f"print(litany_tools.read_file(path={str(far / 'notes.txt')!r}).stdout, end='')\n"
        "print(litany_tools.read_file(path='/worktree/in').stdout)\n"
    )
    (workspace.worktree(AGENT) / "in").write_text("inside")
    end, question = answered(workspace, "python", {"program": program})
    assert question.parent is not None
    assert end.stdout == b"far away\ninside\n"


def test_a_patch_writes_where_it_was_let_and_nowhere_else(tmp_path: Path, far: Path) -> None:
    workspace = configured(tmp_path, ASK)
    end, question = answered(workspace, "apply_patch", add(far / "deep/new.txt"))
    assert (end.exit_code, question.outside) == (0, (str(far / "deep/new.txt"),))
    assert (far / "deep/new.txt").read_text() == "new\n"
    patch = (
        f"*** Begin Patch\n*** Update File: {far}/notes.txt\n*** Move to: moved.txt\n-far away\n+near\n"
        f"*** Delete File: {far}/other.txt\n*** Add File: here.txt\n+here\n*** End Patch"
    )
    end, question = answered(workspace, "apply_patch", {"input": patch})
    assert end.exit_code == 0, end.stderr
    assert question.outside == (str(far / "notes.txt"), str(far / "other.txt"))
    assert sorted(each.name for each in far.iterdir()) == ["deep", "link.txt"]
    assert (workspace.worktree(AGENT) / "moved.txt").read_text() == "near\n"
    assert (workspace.worktree(AGENT) / "here.txt").read_text() == "here\n"


def test_deleting_a_link_deletes_the_link_and_not_what_it_leads_to(tmp_path: Path, far: Path) -> None:
    workspace = configured(tmp_path, ASK)
    (workspace.worktree(AGENT) / "near.txt").symlink_to(far / "notes.txt")
    patch = "*** Begin Patch\n*** Delete File: near.txt\n*** End Patch"
    end, _ = answered(workspace, "apply_patch", {"input": patch})
    assert end.exit_code == 0
    assert (far / "notes.txt").exists()
    assert not (workspace.worktree(AGENT) / "near.txt").is_symlink()


def test_a_link_that_was_turned_after_the_answer_leads_nowhere(tmp_path: Path, far: Path) -> None:
    workspace = configured(tmp_path, ASK)
    link = workspace.worktree(AGENT) / "near.txt"
    link.symlink_to(far / "notes.txt")

    async def main() -> Any:
        async with open_workspace(workspace) as ws:
            await ws.window(AGENT, [use("c", "read_file", path="near.txt")])
            Holds(workspace.root).answer("c", Answer("pass"))
            link.unlink()
            link.symlink_to(far / "other.txt")
            return (await ws.advance(AGENT)).answers

    (result,) = trio.run(main).results
    assert result.is_error
    assert "other\n" not in result.text
    assert "the operator's answer was to another call" in result.text


def test_a_parked_call_reaches_what_was_passed(tmp_path: Path, far: Path) -> None:
    workspace = configured(tmp_path, ASK)

    async def main() -> Any:
        async with open_workspace(workspace) as ws:
            await ws.window(AGENT, [use("c", "read_file", path=str(far / "notes.txt"))])
            Holds(workspace.root).answer("c", Answer("pass"))
            return (await ws.advance(AGENT)).answers

    (result,) = trio.run(main).results
    assert result.text.startswith("Exit code: 0\nfar away\n")


def test_a_folder_on_the_way_that_became_a_link_is_not_followed(tmp_path: Path, far: Path) -> None:
    worktree = tmp_path / "worktree"
    worktree.mkdir()
    shown = frozenset({str(far / "notes.txt"), str(far / "new.txt")})
    with WorktreeFiles(worktree, worktree, shown) as files:
        assert files.read(str(far / "notes.txt"), 100)[0] == b"far away\n"
        with pytest.raises(FileRefusedError, match="outside"):
            files.read(str(far / "other.txt"), 100)
        with pytest.raises(FileRefusedError, match="outside"), files.parent(str(far / "link.txt")):
            pass
        far.rename(tmp_path / "away")
        far.symlink_to(tmp_path / "away")
        with pytest.raises(FileRefusedError, match="outside"):
            files.read(str(far / "notes.txt"), 100)
        with pytest.raises(FileRefusedError), files.parent(str(far / "new.txt")):
            pass


def test_without_an_answer_an_ask_rule_about_a_tool_opens_nothing(tmp_path: Path, far: Path) -> None:
    workspace = configured(tmp_path, "")

    async def main() -> CallEnd:
        async with open_workspace(workspace) as ws:
            return await ws.invoke("read_file", {"path": str(far / "notes.txt")})

    end = trio.run(main)
    assert end.exit_code == 1
    assert b"outside the agent's worktree" in end.stderr


@pytest.mark.parametrize(
    ("deny", "exit_code"), [("", 0), ('[[rules]]\naction = "deny"\npath = "/**/notes.txt"\n', 126)]
)
def test_an_allow_rule_that_says_outside_lets_paths_out_unless_denied(
    tmp_path: Path, far: Path, deny: str, exit_code: int
) -> None:
    config = f'[[rules]]\naction = "allow"\noutside = true\npath = "{far}/notes.txt"\n{deny}'
    workspace = configured(tmp_path, config)

    async def main() -> list[CallEnd]:
        async with open_workspace(workspace) as ws:
            names = ("notes.txt", "other.txt")
            return [await ws.invoke("read_file", {"path": str(far / name)}) for name in names]

    named, other = trio.run(main)
    assert named.exit_code == exit_code
    assert (other.exit_code, other.stdout) == (1, b"")


def test_an_allow_rule_that_does_not_say_outside_lets_none_out(tmp_path: Path, far: Path) -> None:
    workspace = configured(tmp_path, '[[rules]]\naction = "allow"\ntool = "read_file"\n')

    async def main() -> CallEnd:
        async with open_workspace(workspace) as ws:
            return await ws.invoke("read_file", {"path": str(far / "notes.txt")})

    assert trio.run(main).exit_code == 1


def test_a_remembered_pass_covers_the_same_real_path(tmp_path: Path, far: Path) -> None:
    workspace = configured(tmp_path, ASK + '[hold]\npatience = "100ms"\n')
    link = workspace.worktree(AGENT) / "near.txt"
    link.symlink_to(far / "notes.txt")
    holds = Holds(workspace.root)
    digest_of = Question(
        AGENT, "x", "read_file", {"path": "near.txt"}, "rules", "", None, record="", parked=True
    )
    holds.park(Question(**{**_fields(digest_of), "outside": (str(far / "notes.txt"),)}))
    holds.answer("x", Answer("pass"), remember=True)

    async def main() -> list[CallEnd]:
        async with open_workspace(workspace) as ws:
            ends = [await ws.invoke("read_file", {"path": "near.txt"})]
            link.unlink()
            link.symlink_to(far / "other.txt")
            return [*ends, await ws.invoke("read_file", {"path": "near.txt"})]

    same, turned = trio.run(main)
    assert same.stdout == b"far away\n"
    assert turned.exit_code == 126


def _fields(question: Question) -> dict[str, Any]:
    return {name: getattr(question, name) for name in question.__slots__ if name != "waits"}


def test_an_outside_question_is_kept_on_file_with_its_paths(tmp_path: Path, far: Path) -> None:
    workspace = configured(tmp_path, ASK)

    async def main() -> None:
        async with open_workspace(workspace) as ws:
            await ws.window(AGENT, [use("c", "read_file", path=str(far / "notes.txt"))])

    trio.run(main)
    (path,) = (workspace.root / "holds" / AGENT).glob("*.json")
    assert json.loads(path.read_text())["outside"] == [str(far / "notes.txt")]
    path.write_text(json.dumps({**json.loads(path.read_text()), "outside": 3}))
    assert Holds(workspace.root).questions() == []  # damaged: nothing is answered by it


def test_many_reads_outside_leave_no_descriptor_open(tmp_path: Path, far: Path) -> None:
    worktree = tmp_path / "worktree"
    worktree.mkdir()
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(20):
        with WorktreeFiles(worktree, worktree, frozenset({str(far / "notes.txt")})) as files:
            files.read(str(far / "notes.txt"), 100)
            with pytest.raises(FileRefusedError):
                files.read("/etc/passwd", 100)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
