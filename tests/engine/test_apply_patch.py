"""`apply_patch`: the grammar with each of its declines, the matching, and all or nothing on disk."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litany_engine.door.calls import Capture
from litany_engine.tools.builtins import APPLY_PATCH
from litany_engine.tools.builtins import apply_patch as apply_patch_module
from litany_engine.tools.builtins.patch_grammar import Operation, PatchError, parse_patch
from litany_engine.tools.builtins.patch_match import apply_hunks
from tool_kit import context_in, run_tool, worktree_in

FILE = "alpha\nbeta\ngamma\ndelta\nepsilon\n"


def wrap(body: str) -> str:
    return f"*** Begin Patch\n{body}\n*** End Patch"


def patch(workspace: Path, body: str, cwd: Path | None = None) -> Capture:
    return run_tool(APPLY_PATCH, {"input": wrap(body)}, context_in(workspace, cwd=cwd))


def planted(workspace: Path, content: str | bytes = FILE, name: str = "f") -> Path:
    file = worktree_in(workspace) / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def tree(workspace: Path) -> dict[str, bytes | None]:
    """Everything in the worktree: content of files, None for the rest."""
    root = worktree_in(workspace)
    return {
        str(each.relative_to(root)): each.read_bytes() if each.is_file() and not each.is_symlink() else None
        for each in root.rglob("*")
    }


def update(text: str, hunks: str) -> str:
    (operation,) = parse_patch(wrap(f"*** Update File: f\n{hunks}"))
    return apply_hunks(operation, text)[0]


# The grammar.


def test_every_kind_of_operation_is_read() -> None:
    operations = parse_patch(
        "\n\n"
        + wrap(
            "*** Add File: new dir/a.txt\n+one\n+\n++two\n"
            "*** Delete File: old\n"
            "*** Update File: src\n*** Move to: dst\n@@ class A\n@@ def f\n keep\n-gone\n+come\n\n@@\n-x\n*** End of File\n\n"
            "*** Update File: other\n+at the end\n*** End of File"
        )
        + "\n  \n"
    )
    add, delete, move, other = operations
    assert (add.op, add.path, add.lines) == ("add", "new dir/a.txt", ["one", "", "+two"])
    assert (delete.op, delete.path) == ("delete", "old")
    assert (move.op, move.path, move.move_to) == ("update", "src", "dst")
    first, second = move.hunks
    assert first.anchors == ["class A", "def f"]
    assert first.body == [(" ", "keep"), ("-", "gone"), ("+", "come"), (" ", "")]
    assert (second.anchors, second.body, second.at_end) == ([], [("-", "x")], True)
    assert other.hunks[0].at_end


DECLINES = {
    "missing-begin": ("*** Update File: f\n-a\n*** End Patch", "must begin with the line '*** Begin Patch'"),
    "empty": ("", "must begin with"),
    "begin-not-exact": (" *** Begin Patch\n*** Delete File: f\n*** End Patch", "must begin with"),
    "missing-end": ("*** Begin Patch\n*** Delete File: f", "must end with the line '*** End Patch'"),
    "only-begin": ("*** Begin Patch", "must end with"),
    "end-not-exact": ("*** Begin Patch\n*** Delete File: f\n*** End Patch.", "must end with"),
    "no-operations": (wrap("").replace("\n\n", "\n"), "has no operation"),
    "unknown-line-at-the-start": (wrap("hello"), "line 2: 'hello' is not understood"),
    "unknown-header": (wrap("*** Rename File: f"), "line 2: '*** Rename File: f' is not understood"),
    "unknown-line-after-delete": (wrap("*** Delete File: f\n-x"), "line 3: '-x' is not understood"),
    "unknown-line-in-add": (wrap("*** Add File: g\n+a\nb"), "line 4: 'b' is not understood"),
    "unknown-line-in-update": (wrap("*** Update File: f\n@@\nb"), "line 4: 'b' is not understood"),
    "anchor-without-a-space": (wrap("*** Update File: f\n@@def\n-a"), "line 3: '@@def' is not understood"),
    "line-after-end-of-file": (
        wrap("*** Update File: f\n-a\n*** End of File\n-b"),
        "line 5: '-b' is not understood",
    ),
    "blank-between-operations": (wrap("*** Delete File: f\n\n*** Delete File: g"), "line 3: is blank"),
    "blank-before-the-first": (wrap("\n*** Delete File: f"), "line 2: is blank"),
    "blank-in-add": (wrap("*** Add File: g\n+a\n\n+b"), "line 4: is blank; a line that begins with '+'"),
    "move-at-the-start": (
        wrap("*** Move to: g"),
        "line 2: '*** Move to:' must follow the header of an update",
    ),
    "move-after-add": (wrap("*** Add File: g\n*** Move to: h"), "line 3: '*** Move to:' must follow"),
    "move-after-a-hunk": (
        wrap("*** Update File: f\n-a\n*** Move to: h"),
        "line 4: '*** Move to:' must follow",
    ),
    "move-twice": (wrap("*** Update File: f\n*** Move to: g\n*** Move to: h\n-a"), "line 4: '*** Move to:'"),
    "update-without-hunks": (wrap("*** Update File: f"), "line 2: the update of 'f' has no hunk"),
    "move-without-hunks": (
        wrap("*** Update File: f\n*** Move to: g"),
        "line 2: the update of 'f' has no hunk",
    ),
    "update-without-hunks-before-another": (
        wrap("*** Update File: f\n*** Delete File: g"),
        "line 2: the update of 'f' has no hunk",
    ),
    "update-opened-again": (
        wrap("*** Update File: f\n-a\n*** Update File: f\n-b"),
        "line 4: 'f' was opened for update at line 2 already; put all of its hunks under one header",
    ),
    "update-opened-again-before-everything-else": (
        wrap("hello\n*** Update File: f\n*** Update File: f"),
        "line 4: 'f' was opened for update at line 3 already",
    ),
    "add-without-lines": (wrap("*** Add File: g"), "line 2: 'g' is added without a line"),
    "hunk-of-context-only": (wrap("*** Update File: f\n a\n b"), "line 3: this hunk of 'f' changes nothing"),
    "hunk-of-an-anchor-only": (wrap("*** Update File: f\n@@ a"), "line 3: this hunk of 'f' changes nothing"),
    "empty-hunk": (wrap("*** Update File: f\n-a\n@@"), "line 4: this hunk of 'f' changes nothing"),
    "insertion-nowhere": (
        wrap("*** Update File: f\n+a"),
        "line 3: this hunk of 'f' only adds lines and does not say",
    ),
    "end-of-file-first": (
        wrap("*** Update File: f\n*** End of File"),
        "'*** End of File' must follow the lines",
    ),
    "end-of-file-twice": (
        wrap("*** Update File: f\n-a\n*** End of File\n*** End of File"),
        "must follow the lines",
    ),
    "no-path": (wrap("*** Delete File: "), "line 2: '*** Delete File:' names no file"),
    "no-new-path": (wrap("*** Update File: f\n*** Move to: \n-a"), "line 3: '*** Move to:' names no file"),
    "deleted-and-added": (
        wrap("*** Delete File: f\n*** Add File: f\n+a"),
        "line 3: 'f' is in the operation at line 2 already",
    ),
    "one-path-spelled-twice": (
        wrap("*** Delete File: f\n*** Delete File: ./x/../f"),
        "is in the operation at line 2",
    ),
    "moved-onto-an-added-file": (
        wrap("*** Add File: g\n+a\n*** Update File: f\n*** Move to: g\n-a"),
        "line 4: 'g' is in the operation at line 2 already",
    ),
    "moved-onto-itself": (
        wrap("*** Update File: f\n*** Move to: f\n-a"),
        "'f' is in the operation at line 2 already",
    ),
    "long-line-is-shortened": (wrap("x" * 5000), "line 2: '" + "x" * 120 + "…' is not understood"),
}


@pytest.mark.parametrize(("text", "message"), DECLINES.values(), ids=DECLINES)
def test_a_patch_outside_the_grammar_is_declined_and_nothing_is_written(
    text: str, message: str, tmp_path: Path
) -> None:
    planted(tmp_path)
    planted(tmp_path, "g\n", "x/keep")
    before = tree(tmp_path)
    capture = run_tool(APPLY_PATCH, {"input": text}, context_in(tmp_path))
    stderr = capture.stderr.decode()
    assert (capture.exit_code, capture.stdout, capture.data) == (1, b"", None)
    assert stderr.startswith("apply_patch: ")
    assert message in stderr
    assert "nothing was written; working directory: /worktree)" in stderr
    assert str(tmp_path) not in stderr
    assert tree(tmp_path) == before


@given(st.text(alphabet="*+-@ \nabFile:EndUpdtcoPh", max_size=200))
def test_no_text_breaks_the_parser(text: str) -> None:
    for each in (text, wrap(text), wrap(f"*** Update File: f\n{text}")):
        with suppress(PatchError):
            assert parse_patch(each)


# Matching.


@pytest.mark.parametrize(
    ("hunks", "result"),
    [
        (" alpha\n-beta\n+BETA\n gamma", "alpha\nBETA\ngamma\ndelta\nepsilon\n"),
        ("-alpha", "beta\ngamma\ndelta\nepsilon\n"),
        ("@@ beta\n-gamma", "alpha\nbeta\ndelta\nepsilon\n"),
        ("@@ beta\n+new", "alpha\nbeta\nnew\ngamma\ndelta\nepsilon\n"),
        ("@@ alpha\n@@ gamma\n+new", "alpha\nbeta\ngamma\nnew\ndelta\nepsilon\n"),
        ("+last\n*** End of File", FILE + "last\n"),
        (" epsilon\n+last\n*** End of File", FILE + "last\n"),
        ("-alpha\n@@\n-gamma\n@@\n-epsilon", "beta\ndelta\n"),
        ("-alpha\n-beta\n-gamma\n-delta\n-epsilon", ""),
        ("-alpha\n+alpha\n+two", "alpha\ntwo\nbeta\ngamma\ndelta\nepsilon\n"),
    ],
)
def test_hunks_are_applied_where_they_match(hunks: str, result: str) -> None:
    assert update(FILE, hunks) == result


@pytest.mark.parametrize(
    ("text", "hunks", "rung", "result"),
    [
        ("a\nb\n", "-b\n+c", "exact", "a\nc\n"),
        ("a  \nb\t\n", " a\n-b\n+c", "trailing whitespace ignored", "a  \nc\n"),
        ("\ta\n    b\n", " a\n-  b\n+c", "surrounding whitespace ignored", "\ta\nc\n"),
        ("say “hi” — now\nb\n", ' say "hi" - now\n-b\n+c', "typography ignored", "say “hi” — now\nc\n"),
        ("a\u00a0b\nx\n", " a b\n-x\n+c", "typography ignored", "a\u00a0b\nc\n"),
    ],
)
def test_looser_readings_are_tried_in_order_and_keep_the_files_own_context(
    text: str, hunks: str, rung: str, result: str
) -> None:
    (operation,) = parse_patch(wrap(f"*** Update File: f\n{hunks}"))
    changed, (applied,) = apply_hunks(operation, text)
    assert (changed, applied.rung) == (result, rung)
    assert (applied.matched is None) == (rung == "exact")


def test_an_exact_match_is_taken_before_a_looser_one_that_comes_first() -> None:
    assert update("  x\nx\n", "-x\n+y") == "  x\ny\n"


@pytest.mark.parametrize(
    ("text", "hunks", "message"),
    [
        ("x\nx\n", "-x", "the line 'x': 2 places match from line 1 on (exact); add an anchor"),
        (" x\n\tx\n", "-x", "2 places match from line 1 on (surrounding whitespace ignored)"),
        ("x\nx\na\n", "@@ x\n-a", "the anchor 'x': 2 places match from line 1 on (exact); make it longer"),
        ("a\n", "-b", "the line 'b': not in the file from line 1 on; read the file again"),
        ("a\n", "-a\n-b", "the line 'a' and the 1 after it: not in the file"),
        ("a\n", "@@ b\n-a", "the anchor 'b': not in the file"),
        (
            "a\nb\n",
            "-b\n@@\n-a",
            "hunk 2 (line 4 of the patch): the line 'a': only at line 1, before the end",
        ),
        (
            "a\nb\n",
            "@@ b\n-a",
            "the line 'a': only at line 1, before the end of the previous hunk or anchor",
        ),
        ("a\nb\n", "-a\n*** End of File", "not at the end of the file, but at line 1"),
        ("", "-a", "not in the file"),
        ("a\n", "-a\n-a", "not in the file"),
    ],
)
def test_no_place_or_more_than_one_is_declined(text: str, hunks: str, message: str) -> None:
    with pytest.raises(PatchError) as caught:
        update(text, hunks)
    assert message in str(caught.value)
    assert str(caught.value).startswith("'f', hunk ")


def test_uniqueness_counts_from_the_last_hunk_on() -> None:
    assert update("x\na\nx\n", "-a\n@@\n-x\n+y") == "x\ny\n"
    assert update("x\nm\nx\n", "@@ m\n-x") == "x\nm\n"


def test_end_of_file_picks_the_last_of_several() -> None:
    assert update("x\na\nx\n", "-x\n*** End of File") == "x\na\n"


@pytest.mark.parametrize(
    ("text", "hunks", "result"),
    [
        ("a\nb", "-b\n+c", "a\nc"),
        ("a\nb", "-a", "b"),
        ("a", "-a", ""),
        ("", "+a\n*** End of File", "a\n"),
        ("\n", "-\n+a", "a\n"),
        ("a\r\nb\r\n", "-b\n+c", "a\r\nc\r\n"),
        ("a\r\nb\r\n", "-b\r\n+c\r", "a\r\nc\r\n"),
        ("a\r\nb\n", "-b\n+c", "a\r\nc\n"),
    ],
)
def test_the_files_line_endings_stay_as_they_are(text: str, hunks: str, result: str) -> None:
    assert update(text, hunks) == result


LINES = st.lists(
    st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=6), max_size=12
)


@st.composite
def edits(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """A file's lines, each marked so that it is the only one of its kind, and the lines after some edit."""
    old = [f"{number}:{line}" for number, line in enumerate(draw(LINES))]
    new: list[str] = []
    for line in [*old, None]:
        new += [f"+{added}" for added in draw(st.lists(st.sampled_from("abc"), max_size=2))]
        if line is not None and draw(st.booleans()):
            new.append(line)
    return old, new


def diff(old: list[str], new: list[str]) -> str:
    """One hunk that holds the whole file: kept lines as context, the rest as removed and added."""
    body, at = [], 0
    for line in new:
        if line.startswith("+"):
            body.append(f"+{line}")
            continue
        while old[at] != line:
            body.append(f"-{old[at]}")
            at += 1
        body.append(f" {line}")
        at += 1
    body += [f"-{line}" for line in old[at:]]
    return "\n".join(body)


@given(edits(), st.booleans(), st.booleans())
def test_any_edit_written_as_a_patch_gives_that_edit(
    edit: tuple[list[str], list[str]], ends_in_newline: bool, pinned: bool
) -> None:
    old, new = edit
    if old == new or (not old and not pinned):
        return
    text = "\n".join(old) + ("\n" if old and ends_in_newline else "")
    hunks = diff(old, new) + ("\n*** End of File" if pinned else "")
    keeps = ends_in_newline or not old
    assert update(text, hunks) == "\n".join(new) + ("\n" if new and keeps else "")


# On disk.


def test_a_whole_patch_is_applied_and_told(tmp_path: Path) -> None:
    planted(tmp_path)
    planted(tmp_path, "x\n", "old")
    planted(tmp_path, "m \nn\n", "src")
    capture = patch(
        tmp_path,
        "*** Add File: new/deep/a\n+one\n+two\n"
        "*** Delete File: old\n"
        "*** Update File: f\n@@ beta\n-gamma\n+GAMMA\n"
        "*** Update File: src\n*** Move to: moved/dst\n m\n-n\n+N",
    )
    assert (capture.exit_code, capture.stderr) == (0, b"")
    assert tree(tmp_path) == {
        "new": None,
        "new/deep": None,
        "new/deep/a": b"one\ntwo\n",
        "f": b"alpha\nbeta\nGAMMA\ndelta\nepsilon\n",
        "moved": None,
        "moved/dst": b"m \nN\n",
    }
    assert capture.data == {
        "status": "applied",
        "root": "/worktree",
        "files": [
            {"path": "new/deep/a", "op": "add"},
            {"path": "old", "op": "delete"},
            {"path": "f", "op": "update", "hunks": [{"rung": "exact", "line": 3}]},
            {
                "path": "src",
                "op": "update",
                "moved_to": "moved/dst",
                "hunks": [{"rung": "trailing whitespace ignored", "line": 1, "matched": ["m ", "n"]}],
            },
        ],
    }
    schema: Any = APPLY_PATCH.declaration.output_schema
    assert jsonschema_rs.validator_for(schema).is_valid(capture.data)


BLOCKED = {
    "add-when-it-exists": ("*** Add File: f\n+a", "'f' cannot be added: it is there already"),
    "add-when-a-folder-exists": ("*** Add File: folder\n+a", "'folder' cannot be added: it is there already"),
    "add-over-a-link": ("*** Add File: link\n+a", "'link' cannot be added: it is a symbolic link"),
    "add-over-a-dangling-link": (
        "*** Add File: dangling\n+a",
        "'dangling' cannot be added: it is a symbolic link",
    ),
    "add-below-a-file": ("*** Add File: f/x\n+a", "'f/x': Not a directory"),
    "add-a-folder": ("*** Add File: new/\n+a", "'new/' names a folder"),
    "add-a-name-too-long": (f"*** Add File: {'n' * 300}\n+a", "name too long, it may have 255 bytes"),
    "add-a-name-of-too-many-bytes": (f"*** Add File: {'é' * 128}\n+a", "name too long"),
    "add-below-a-name-too-long": (f"*** Add File: new/{'n' * 300}/x\n+a", "name too long"),
    "add-a-path-too-long": (f"*** Add File: {'n/' * 2100}x\n+a", "File name too long"),
    "move-to-a-name-too-long": (f"*** Update File: f\n*** Move to: {'n' * 300}\n-alpha", "name too long"),
    "update-when-missing": ("*** Update File: gone\n-a", "'gone' cannot be updated: there is no such file"),
    "update-in-a-missing-folder": (
        "*** Update File: no/gone\n-a",
        "'no/gone' cannot be updated: there is no such",
    ),
    "update-a-folder": ("*** Update File: folder\n-a", "'folder' cannot be updated: it is a folder"),
    "update-a-link": ("*** Update File: link\n-alpha", "'link' is a symbolic link"),
    "update-a-pipe": ("*** Update File: pipe\n-a", "'pipe' is no regular file"),
    "update-what-is-no-text": ("*** Update File: binary\n-a", "'binary' is not UTF-8 (byte 1)"),
    "update-that-matches-nothing": ("*** Update File: f\n-zeta", "not in the file"),
    "delete-when-missing": ("*** Delete File: gone", "'gone' cannot be deleted: there is no such file"),
    "delete-a-folder": ("*** Delete File: folder", "'folder' cannot be deleted: it is a folder"),
    "move-onto-a-file": (
        "*** Update File: f\n*** Move to: g\n-alpha",
        "'g' cannot be moved to: it is there already",
    ),
    "move-onto-a-link": (
        "*** Update File: f\n*** Move to: dangling\n-alpha",
        "'dangling' cannot be moved to: it is a sym",
    ),
    "move-outside": (
        "*** Update File: f\n*** Move to: ../x\n-alpha",
        "'../x' lies outside the agent's worktree",
    ),
    "one-file-through-a-linked-folder": (
        "*** Update File: folder/h\n-h\n+1\n*** Update File: folder-link/h\n-h\n+2",
        "'folder-link/h' and 'folder/h' are one file",
    ),
    "a-file-as-another-files-folder": (
        "*** Add File: n\n+a\n*** Add File: n/m\n+a",
        "'n/m' needs a folder 'n', which the patch makes a file",
    ),
    "no-utf8": ("*** Add File: n\n+\udc80", "surrogates not allowed"),
}


@pytest.mark.parametrize(("body", "message"), BLOCKED.values(), ids=BLOCKED)
def test_what_the_files_do_not_allow_is_declined_and_nothing_at_all_is_written(
    body: str, message: str, tmp_path: Path
) -> None:
    planted(tmp_path)
    planted(tmp_path, "g\n", "g")
    planted(tmp_path, "h\n", "folder/h")
    planted(tmp_path, b"a\xff\n", "binary")
    worktree = worktree_in(tmp_path)
    (worktree / "link").symlink_to("f")
    (worktree / "dangling").symlink_to("nothing-here")
    (worktree / "folder-link").symlink_to("folder")
    os.mkfifo(worktree / "pipe")
    before = tree(tmp_path)
    # The good operations before and after it are not applied either.
    capture = patch(tmp_path, f"*** Add File: good\n+a\n{body}\n*** Add File: good2\n+a")
    assert capture.exit_code == 1
    assert message in capture.stderr.decode()
    assert "nothing was written" in capture.stderr.decode()
    assert tree(tmp_path) == before


def test_deleting_a_link_leaves_what_it_leads_to(tmp_path: Path) -> None:
    file = planted(tmp_path)
    (worktree_in(tmp_path) / "link").symlink_to(file)
    assert patch(tmp_path, "*** Delete File: link").exit_code == 0
    assert tree(tmp_path) == {"f": FILE.encode()}


def test_paths_start_at_the_working_directory_and_the_answer_names_it(tmp_path: Path) -> None:
    planted(tmp_path, FILE, "sub/f")
    sub = worktree_in(tmp_path) / "sub"
    capture = patch(tmp_path, "*** Update File: f\n-alpha\n*** Add File: ../up\n+a", cwd=sub)
    assert capture.data["root"] == "/worktree/sub"
    assert set(tree(tmp_path)) == {"sub", "sub/f", "up"}
    declined = patch(tmp_path, "*** Delete File: gone", cwd=sub)
    assert "working directory: /worktree/sub" in declined.stderr.decode()


def test_an_absolute_path_in_the_worktree_is_taken(tmp_path: Path) -> None:
    file = planted(tmp_path)
    assert patch(tmp_path, f"*** Update File: {file}\n-alpha").exit_code == 0
    assert patch(tmp_path, "*** Update File: /worktree/f\n-beta").exit_code == 0
    assert file.read_text() == "gamma\ndelta\nepsilon\n"


def test_an_update_keeps_the_files_permissions_but_no_set_uid(tmp_path: Path) -> None:
    file = planted(tmp_path)
    file.chmod(0o4751)
    assert patch(tmp_path, "*** Update File: f\n-alpha").exit_code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o751
    assert patch(tmp_path, "*** Update File: f\n*** Move to: g\n-beta").exit_code == 0
    assert stat.S_IMODE((worktree_in(tmp_path) / "g").stat().st_mode) == 0o751


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files for others")
def test_what_root_makes_belongs_to_whom_the_folder_belongs(tmp_path: Path) -> None:
    os.chown(worktree_in(tmp_path), 65534, 65534)
    assert patch(tmp_path, "*** Add File: new/deep/a\n+a").exit_code == 0
    made = [worktree_in(tmp_path) / each for each in ("new", "new/deep", "new/deep/a")]
    assert [each.stat().st_uid for each in made] == [65534] * 3


def test_a_file_too_large_to_edit_is_declined_with_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apply_patch_module, "MAX_TARGET_BYTES", len(FILE))
    file = planted(tmp_path)
    assert patch(tmp_path, "*** Update File: f\n+x\n*** End of File").exit_code == 0
    capture = patch(tmp_path, "*** Update File: f\n-x")
    assert f"has {len(FILE) + 2} bytes; a file to update has up to {len(FILE)}" in capture.stderr.decode()
    assert file.read_text() == FILE + "x\n"


def test_a_fault_of_the_disk_says_what_was_written_and_leaves_no_half_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(tmp_path)
    planted(tmp_path, "g\n", "g")
    replace = os.replace

    def full(source: str, target: str, **kwargs: Any) -> None:
        if target == "g":
            raise OSError(28, "No space left on device")
        replace(source, target, **kwargs)

    monkeypatch.setattr(os, "replace", full)
    capture = patch(tmp_path, "*** Update File: f\n-alpha\n*** Update File: g\n-g\n+G\n*** Add File: h\n+a")
    assert capture.exit_code == 1
    assert (
        "writing 'g' failed: No space left on device; written before: 'f'; not: 'g', 'h'"
        in capture.stderr.decode()
    )
    assert "nothing was written" not in capture.stderr.decode()
    assert tree(tmp_path) == {"f": FILE.removeprefix("alpha\n").encode(), "g": b"g\n"}


@pytest.mark.parametrize("given_", [{}, {"input": 7}, {"input": "x", "more": 1}, {"patch": "x"}])
def test_another_input_is_declined(given_: dict[str, Any], tmp_path: Path) -> None:
    capture = run_tool(APPLY_PATCH, given_, context_in(tmp_path))
    assert capture.exit_code == 1
    assert capture.stderr.startswith(b"apply_patch: invalid input JSON: ")


def test_an_operation_says_itself() -> None:
    assert parse_patch(wrap("*** Delete File: f")) == [Operation("delete", "f", 2)]
