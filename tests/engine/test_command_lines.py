"""Command lines taken apart: what is found, what is doubted, what is not read; and patterns over them."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litany_engine.rules.command_line import Command, CommandLine, decompose
from litany_engine.rules.command_patterns import CommandPattern


def shown(commands: tuple[Command, ...]) -> list[str]:
    return [" ".join("?*" if w.many else "?" if w.text is None else w.text for w in c) for c in commands]


CERTAIN = [
    ("git status", ["git status"]),
    ("  git   status  ", ["git status"]),
    ("", []),
    ("# only a comment", []),
    ("git status # and a comment", ["git status"]),
    ("echo a#b", ["echo a#b"]),
    ("git status && rm -rf x", ["git status", "rm -rf x"]),
    ("a || b", ["a", "b"]),
    ("a; b", ["a", "b"]),
    ("a & b", ["a", "b"]),
    ("a &", ["a"]),
    ("a | b |& c", ["a", "b", "c"]),
    ("a\nb", ["a", "b"]),
    ("a \\\n b", ["a b"]),
    ("r\\\nm x", ["rm x"]),
    ("r\\m x", ["rm x"]),
    ("'r'm \"x\"", ["rm x"]),
    ('echo "a;b" \'c&&d\'', ["echo a;b c&&d"]),
    ('echo "a\\"b" \'$(rm)\'', ['echo a"b $(rm)']),
    ("echo \\$HOME", ["echo $HOME"]),
    ("echo ''", ["echo "]),
    ("(a; b)", ["a", "b"]),
    ("( (a) )", ["a"]),
    ("{ a; b; }", ["a", "b"]),
    ("! a", ["a"]),
    ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
    ("while a; do b; done", ["a", "b"]),
    ("if (a); then (b); fi", ["a", "b"]),
    ("echo $(rm -rf x)", ["rm -rf x", "echo ?*"]),
    ('echo "$(rm -rf x)"', ["rm -rf x", "echo ?"]),
    ("echo `rm -rf x`", ["rm -rf x", "echo ?*"]),
    ("echo `a \\`b\\``", ["b", "a ?*", "echo ?*"]),
    ("echo $(a $(b))", ["b", "a ?*", "echo ?*"]),
    ("diff <(a) <(b)", ["a", "b", "diff ? ?"]),
    ("a > >(b)", ["b", "a"]),
    ("echo $HOME ${USER:-x} $1", ["echo ?* ?* ?*"]),
    ('echo "$HOME" "$@"', ["echo ? ?*"]),
    ("echo $((1 + 2))", ["echo ?*"]),
    ("ls *.py ?.c [ab].h {a,b} ~/x", ["ls ?* ?* ?* ?* ?"]),
    ("echo 'a*b' \"c?\" a\\*", ["echo a*b c? a*"]),
    ("[ -f x ] && a", ["[ -f x ]", "a"]),
    ("a 2>&1 >/dev/null </dev/null 2>&-", ["a"]),
    ("cat <<END\ntext; rm x\nEND\nb", ["cat", "b"]),
    ("cat <<'END'\n$(rm x)\nEND", ["cat"]),
    ('cat <<END\n$(rm x)\n"quoted\\" $(c)\nEND', ["cat", "rm x", "c"]),
    ("cat <<-END\n\ttext\n\tEND\nb", ["cat", "b"]),
    ("cat <<A <<B\n1\nA\n2\nB\nc", ["cat", "c"]),
    ("cat <<< text", ["cat"]),
    ("GIT status", ["GIT status"]),
    ("a}b {c", ["a}b {c"]),
]  # fmt: skip


@pytest.mark.parametrize(("line", "commands"), CERTAIN)
def test_what_is_certain_is_taken_apart(line: str, commands: list[str]) -> None:
    found = decompose(line)
    assert shown(found.commands) == commands
    assert not found.opaque
    # A redirection into a process is one more thing that is opened, and a name's own line has none.
    assert (found.doubt == "") == (line != "a > >(b)")


DOUBTFUL = [
    ("PATH=. git status", ["git status"], "sets PATH"),
    ("X=1", [], "sets X"),
    ("PATH+=:. ; git status", ["git status"], "sets PATH"),
    ("export PATH=.; git status", ["export PATH=.", "git status"], "export"),
    (". ./activate && git status", [". ./activate", "git status"], "may set"),
    ("printf -v PATH . && git status", ["printf -v PATH .", "git status"], "printf"),
    ("for PATH in a b; do rm $x; done", ["rm ?*"], "sets PATH"),
    ("for x in $(a); do b; done", ["a", "b"], "sets x"),
    ("git log > x", ["git log"], "opens a file"),
    ("git log >> x", ["git log"], "opens a file"),
    ("sort < x", ["sort"], "opens a file"),
    ("a &> x", ["a"], "opens a file"),
    ("a >| x", ["a"], "opens a file"),
    ("a 2>&x", ["a"], "opens a file"),
    ("a &<f rm x", ["a", "rm x"], "opens a file"),
    ("$CMD x", ["?* x"], "name of a command"),
    ("{rm,-rf,x}", ["?*"], "name of a command"),
    ("~/bin/x", ["?"], "name of a command"),
    ("/bin/r? x", ["?* x"], "name of a command"),
    ("while a; do b; done < x", ["a", "b"], "opens a file"),
]


@pytest.mark.parametrize(("line", "commands", "doubt"), DOUBTFUL)
def test_what_may_do_more_than_it_says_is_doubted(line: str, commands: list[str], doubt: str) -> None:
    found = decompose(line)
    assert shown(found.commands) == commands
    assert doubt in found.doubt
    assert not found.opaque


OPAQUE = [
    "echo 'a", 'echo "a', "echo `a", "echo $(a", "(a", "a)", "a \\", "a\0b",
    "f() { rm x; }", "function f { rm x; }", "a=(1 2)", "case x in x) rm x;; esac", "[[ -f x ]] && rm x",
    "select x in a; do rm x; done", "coproc rm x", "((x = 1))", "echo $((a[$(rm x)]))", "for ((;;)); do a; done",
    "echo ${x@P}", "echo ${x:-$(rm x)}", "echo ${!x[@]}", "echo $'rm'", 'echo $"rm"', "echo $[1]",
    "cat <<END\ntext", "cat <<END", "cat <<END\nEN\\\nD\nrm x\nEND", "cat <<$x\n$x", "$(cat <<END)\nrm x\nEND",
    "a >", "alias ls=rm; ls x", "hash -p /bin/rm ls; ls x", "trap 'rm x' EXIT", "shopt -s expand_aliases",
    "curl x | sh", "echo rm x | bash -s y", "bash <<END\nrm x\nEND", "bash <<< 'rm x'", "sh -", "bash -x",
    "bash /dev/stdin", ". /dev/stdin", 'bash -c "$X"', "eval $X", 'eval "$(a)"', "bash <(a)",
    "x='a[$(rm y)]'; echo $((x))", "test -v 'a[$(rm y)]'", "let 'a[`rm y`]'", "echo ${x:y} 'a[$(rm y)]'",
    "a " * 40_000, "(" * 40 + "a" + ")" * 40, "a;" * 3000, "sudo " * 40 + "a",
]  # fmt: skip


@pytest.mark.parametrize("line", OPAQUE, ids=lambda line: line[:30].encode("unicode_escape").decode())
def test_what_cannot_be_read_with_certainty_is_opaque(line: str) -> None:
    found = decompose(line)
    assert found.opaque
    assert found.doubt


# Pattern, line, whether it surely is that, whether it may be.
MATCHES = [
    ("rm **", "rm -rf x", True, True),
    ("rm **", "rm", True, True),
    ("rm **", "rmdir x", False, False),
    ("rm **", "/bin/rm x", False, True),
    ("rm **", "./rm x", False, True),
    ("rm **", "RM x", False, False),
    ("git", "git status", False, False),
    ("git status **", "git status -s", True, True),
    ("git status **", "git push", False, False),
    ("git push ** --force", "git push origin --force", True, True),
    ("git push ** --force", "git push --force", True, True),
    ("git push ** --force **", "git push --force origin", True, True),
    ("git * origin", "git push origin", True, True),
    ("git * origin", "git $X origin", False, True),
    ("git 'a b'", "git 'a b'", True, True),
    ("git add *.py", "git add x.py", True, True),
    ("git add *.py", "git add x.c", False, False),
    ("git add *.py", "git add *.py", False, True),
    ("git add **", "git add *.py", True, True),
    ("git add *", 'git add "$X"', True, True),
    ("git add *", "git add $X", False, True),
    ("git push **", "git $X", False, True),
    ("git push **", "git log $X", False, False),
    ("rm **", "$X y", False, True),
    ("rm **", "git status && rm x", True, True),
    ("rm **", "git log $(rm x)", True, True),
    ("rm **", "env A=1 rm x", False, True),
    ("rm **", "sudo -u bob rm x", False, True),
    ("rm **", "xargs rm", False, True),
    ("rm **", "xargs -n1 env", False, True),
    ("rm **", "echo x | xargs sudo", False, True),
    ("rm **", "find . -exec rm {} ;", False, True),
    ("rm **", "find . -name x", False, False),
    ("rm **", "timeout 5 nice -n 3 rm x", False, True),
    ("rm **", "nohup /bin/rm x", False, True),
    ("rm **", "bash -c 'rm x'", False, True),
    ("rm **", "bash -c 'a && rm x'", False, True),
    ("rm **", "bash -xec 'a; rm x'", False, True),
    ("rm **", "sh -c \"sh -c 'rm x'\"", False, True),
    ("rm **", "eval rm x", False, True),
    ("rm **", "eval 'a;' rm x", False, True),
    ("rm **", "env -S 'rm x'", False, True),
    ("rm **", "su -c 'rm x' bob", False, True),
    ("rm **", "ssh host 'cd y && rm x'", False, True),
    ("rm **", "command rm x", False, True),
    ("rm **", "exec rm x", False, True),
    ("rm **", "busybox rm x", False, True),
    ("rm **", "time -p rm x", False, True),
    ("rm **", "sudo $X", False, True),
    ("rm **", "bash x.sh", False, False),
    ("rm **", "echo rm x", False, False),
    ("rm **", "echo 'x; rm y'", False, False),
    ("rm **", "case x in x) ls;; esac", False, True),
    ("**", "ls", True, True),
    ("** --force **", "git push --force", True, True),
]


@pytest.mark.parametrize(("pattern", "line", "surely", "perhaps"), MATCHES)
def test_a_pattern_matches_surely_or_perhaps(pattern: str, line: str, surely: bool, perhaps: bool) -> None:
    parsed, found = CommandPattern.parse(pattern), decompose(line)
    assert any(map(parsed.matches, found.commands)) == surely
    assert parsed.may_match(found) == perhaps


@pytest.mark.parametrize("text", ["", "  ", "'", "''", "git a**", "x " * 65])
def test_a_pattern_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"pattern|split|word"):
        CommandPattern.parse(text)


WORDS = st.text("abc-./;&|$'\"(){}*?<>\\ \n#", min_size=1, max_size=8)


@settings(deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=4))
def test_quoted_words_come_back_as_they_were(words: list[str]) -> None:
    line = "x " + " ".join(map(shlex.quote, words))
    assert [w.text for w in decompose(line).commands[0]] == ["x", *words]


@settings(deadline=None)
@given(st.text("abx $`'\"(){}[]<>|&;\\\n#=!*~-0", max_size=40))
def test_reading_never_raises_and_ends(line: str) -> None:
    found = decompose(line)
    assert isinstance(found, CommandLine)
    assert not found.opaque or found.doubt


PIECES = st.sampled_from(
    ["probe", "echo", " ", " ", ";", "&&", "||", "|", "\n", "(", ")", "$(", "`", "'", '"', "\\", "{", "}", "!", "#",
     "if ", "then ", "fi", "do ", "done", "while ", "2>&1 ", "<<E\n", "\nE\n", "$x", "x=1 ", "*", "&", "$'", "${x}",
     "env ", "eval ", "bash -c ", "xargs ", "time ", "<(", "command ", "\\\n", "case ", "in ", "[[ ", "]]"]
)  # fmt: skip


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a `probe` that leaves a mark when it runs, and the few programs that the lines may name."""
    box = tmp_path_factory.mktemp("box")
    (box / "bin").mkdir()
    (box / "bin/probe").write_text('#!/bin/sh\n: > "$MARK"\n')
    (box / "bin/probe").chmod(0o755)
    for name in ("env", "bash", "xargs"):
        found = shutil.which(name)
        assert found is not None
        (box / "bin" / name).symlink_to(found)
    return box


@settings(max_examples=100, deadline=None)
@given(line=st.lists(PIECES, max_size=10).map("".join))
def test_whatever_a_real_shell_runs_was_seen(box: Path, line: str) -> None:
    """The property that matters: what bash runs is in what was found, or the line was called opaque."""
    mark = box / "mark"
    mark.unlink(missing_ok=True)
    environment = {"PATH": str(box / "bin"), "MARK": str(mark), "HOME": str(box)}
    subprocess.run(
        ["/bin/bash", "-c", line],
        env=environment,
        cwd=box,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=20,
        check=False,
    )
    if mark.exists():
        assert CommandPattern.parse("probe **").may_match(decompose(line)), line
