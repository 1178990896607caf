"""Rules: what each condition means, which rule decides, and what a file that cannot be read says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from litany_engine.configuration.config import ConfigError, parse_config
from litany_engine.door.calls import Capture, Context, Tool, ToolCall
from litany_engine.rules.paths import PathPattern, locate
from litany_engine.rules.rules import Action, Rules, RulesError, Ruling, Subject
from litany_engine.tools.definitions import Provenance, Traits
from litany_stubs.words import ToolDeclaration


async def nothing(call: ToolCall, context: Context) -> Capture:
    return Capture()


def tool(name: str, **traits: Any) -> Tool:
    return Tool(ToolDeclaration(name), nothing, traits=Traits(**traits))


SHELL = tool("shell", command_argument="command")
READ = tool("read", path_argument="path")
PLAIN = tool("plain")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A worktree `tree` with links out and in, beside a folder `secret`."""
    tree = tmp_path / "tree"
    (tree / "src/deep").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/key").write_text("k")
    (tree / "out").symlink_to(tmp_path / "secret")
    (tree / "key").symlink_to(tmp_path / "secret/key")
    (tree / "dangling").symlink_to(tmp_path / "secret/nothing")
    (tree / "loop").symlink_to(tree / "loop")
    (tree / "in").symlink_to(tree / "src")
    (tree / "chain").symlink_to("out")
    (tree / "src/up").symlink_to("../..")
    (tree / "process").symlink_to("/proc/self/cwd")
    (tmp_path / "door").symlink_to(tree)
    return tree


def rules(text: str) -> Rules:
    return parse_config(text, Path("/w/litany.toml")).rules


def judge(
    text: str, tool: Tool, arguments: Any, root: Path = Path("/w/agents/a"), cwd: Path | None = None
) -> Ruling:
    return rules(text).judge(Subject(tool, arguments, cwd or root, root))


def shell(text: str, line: str) -> str:
    return str(judge(text, SHELL, {"command": line}).action)


def rule(action: str, **conditions: str) -> str:
    return f'[[rules]]\naction = "{action}"\n' + "".join(f"{k} = {v!r}\n" for k, v in conditions.items())


GIT = rule("allow", tool="shell", command="git **") + rule("allow", tool="shell", command="ls **")
ASK = 'unmatched = "ask"\n'
DENY_RM = rule("deny", tool="shell", command="rm **")

LINES = [
    (ASK + GIT, "git status", "allow"),
    (ASK + GIT, "git status && ls -l", "allow"),
    (ASK + GIT, "git status; ls | git apply", "allow"),
    (ASK + GIT, "git status && make", "ask"),
    (ASK + GIT, "git log > /tmp/x", "ask"),
    (ASK + GIT, "PATH=. git status", "ask"),
    (ASK + GIT, "git log $(ls)", "allow"),
    (ASK + GIT, "git log $(make)", "ask"),
    (ASK + GIT, "./git status", "ask"),
    (ASK + GIT, "sudo git status", "ask"),
    (ASK + GIT, "git status\nmake", "ask"),
    (ASK + GIT, "git status # && make", "allow"),
    (ASK + GIT, "git commit -m 'a; make'", "allow"),
    (ASK + GIT, "git status `make`", "ask"),
    (ASK + GIT, "for f in *; do git add $f; done", "ask"),
    (ASK + GIT, "case x in x) git status;; esac", "ask"),
    (ASK + GIT, "", "ask"),
    (ASK + GIT, "Git status", "ask"),
    (DENY_RM, "ls", "allow"),
    (DENY_RM, "ls && rm x", "deny"),
    (DENY_RM, "ls | xargs rm", "deny"),
    (DENY_RM, "/bin/rm x", "deny"),
    (DENY_RM, "r''m x", "deny"),
    (DENY_RM, "r\\m x", "deny"),
    (DENY_RM, "$X", "deny"),
    (DENY_RM, "echo $X", "allow"),
    (DENY_RM, "echo rm", "allow"),
    (DENY_RM, "echo 'rm x'", "allow"),
    (DENY_RM, "(cd x; rm y)", "deny"),
    (DENY_RM, "if a; then rm x; fi", "deny"),
    (DENY_RM, "cat <<E\n$(rm x)\nE", "deny"),
    (DENY_RM, "cat <<'E'\n$(rm x)\nE", "allow"),
    (DENY_RM, "bash -c 'rm x'", "deny"),
    (DENY_RM, "curl x | sh", "deny"),
    (DENY_RM, "f() { ls; }; f", "deny"),
    (DENY_RM, "ls 'unclosed", "deny"),
    (GIT + DENY_RM, "git status && rm x", "deny"),
    (rule("allow", tool="shell") + DENY_RM, "rm x", "deny"),
    (rule("allow", tool="*") + rule("deny", tool="shell"), "ls", "deny"),
    (rule("ask", tool="shell", command="git push **") + GIT, "git push", "ask"),
    (GIT + rule("ask", tool="shell", command="git push **"), "git push", "allow"),
    (rule("ask", tool="shell", command="git push **") + GIT, "git status && git push", "ask"),
    (rule("ask", tool="shell", command="git push **"), "git $X", "ask"),
    (rule("allow", tool="sh*"), "ls", "allow"),
    ('unmatched = "deny"\n' + rule("allow", tool="shell"), "case x in x) ls;; esac", "allow"),
    ('unmatched = "deny"\n' + GIT, "git status && make", "deny"),
    ('unmatched = "deny"\n', "ls", "deny"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "action"), LINES)
def test_a_command_line_is_judged_command_by_command(text: str, line: str, action: str) -> None:
    assert shell(text, line) == action


PATHS = [
    ("src/**", "src/x.py", True),
    ("src/**", "./src/deep/../x.py", True),
    ("src/**", "in/x.py", True),
    ("src/**", "in/../src/x", True),
    ("src/**", "srcs/x", False),
    ("src/**", "SRC/x", False),
    ("src/*", "src/deep/x", False),
    ("src/*.py", "src/x.py", True),
    ("src/*.py", "src/x.pyc", False),
    ("**/*.env", ".env/x.env", True),
    ("**/*.env", "a/b/c.env", True),
    ("**", ".", True),
    ("**", "../secret/key", False),
    ("**", "out/key", False),
    ("**", "key", False),
    ("**", "dangling", False),
    ("**", "/worktree/src/x", True),
    ("src/**", "/worktree/src/x", True),
    ("src/**", "/worktree/../src/x", False),
    ("/**", "src/x", True),
    ("/**/secret/**", "out/key", True),
    ("/**/secret/**", "key", True),
    ("/**/secret/**", "dangling", True),
    ("/**/secret/**", "src/../../secret/key", True),
    ("/**/secret/**", "in/../../secret/key", True),
    ("/etc/**", "/etc/passwd", True),
    ("/etc/**", "/etc/../etc/passwd", True),
    ("/etc/**", "//etc//passwd", True),
    ("/etc/**", "etc/passwd", False),
    # Globs: within one name, over any number of names, and what is none.
    ("src/?.py", "src/x.py", True),
    ("src/?.py", "src/xy.py", False),
    ("src/[a-c].py", "src/b.py", True),
    ("src/[!a-c].py", "src/b.py", False),
    ("src/*/x", "src/deep/x", True),
    ("src/*/x", "src/deep/er/x", False),
    ("src/**/x", "src/x", True),
    ("src/**/x", "src/deep/er/x", True),
    ("**/deep/**", "src/deep", True),
    ("**/**", "src/x", True),
    ("*", "src", True),
    ("*", "src/x", False),
    ("*.env", ".env", True),
    ("*.env", "a.env.txt", False),
    ("src/*.py", "src/*.py", True),
    ("src/[*].py", "src/x.py", False),
    ("src", "src", True),
    ("src", "src/", True),
    ("src/", "src", True),
    ("src", "src/x", False),
    # Case, and letters that look alike, count.
    ("SRC/**", "src/x", False),
    ("**/*.ENV", "a.env", False),
    ("/ETC/**", "/etc/passwd", False),
    ("caf\u00e9", "caf\u00e9", True),
    ("caf\u00e9", "cafe\u0301", False),
    # `.` and `..` are taken as the kernel takes them: behind a link, where the link leads.
    ("src/**", "./src/./x", True),
    ("src/**", "src//x", True),
    ("src/**", "src/deep/../../src/x", True),
    ("src/**", "nothing/../src/x", True),
    ("src/**", "src/../../tree/src/x", True),
    ("**", "..", False),
    ("**", "src/../..", False),
    ("src/**", "out/../src/x", False),
    ("**", "out/../tree/src/x", True),
    ("**", "../../../../../../../../etc/passwd", False),
    ("/etc/passwd", "../../../../../../../../../../etc/passwd", True),
    # Links: to files, to folders, to links, in the middle, to what is not there.
    ("**", "chain/key", False),
    ("/**/secret/**", "chain/key", True),
    ("/**/secret/**", "in/up/secret/key", True),
    ("src/**", "in/deep/x", True),
    ("src/**", "out", False),
    ("/**/secret", "out", True),
    ("/**/secret", "out/", True),
    ("/**/secret/nothing", "dangling", True),
    ("key", "key", False),
    ("**", "/worktree/out/key", False),
    ("**", "/worktree/../secret", False),
    ("**", "/worktrees/src/x", False),
    # What a shell would read otherwise is a name like any.
    ("**", "~/x", True),
    ("~/**", "~/x", True),
    ("**", "$HOME/x", True),
    ("src/**", "'src/x'", False),
    ("src/**", "src/a b\nc", True),
    ("src/*", "src/a;b", True),
    ("src/**", "src%2fx", False),
    ("src/**", "src\\x", False),
]


@pytest.mark.parametrize(("pattern", "path", "matches"), PATHS)
def test_a_path_is_judged_by_where_it_leads(root: Path, pattern: str, path: str, matches: bool) -> None:
    place = locate(path, root, root)
    assert place is not None
    assert PathPattern.parse(pattern).matches(place) == matches
    denied = judge(rule("deny", tool="read", path=pattern), READ, {"path": path}, root)
    allowed = judge(ASK + rule("allow", tool="read", path=pattern), READ, {"path": path}, root)
    assert (denied.action, allowed.action) == (
        (Action.DENY, Action.ALLOW) if matches else (Action.ALLOW, Action.ASK)
    )


def test_a_relative_path_starts_at_the_working_directory(root: Path) -> None:
    where = rule("deny", tool="read", path="src/**")
    assert judge(where, READ, {"path": "x"}, root, root / "src/deep").action is Action.DENY
    assert judge(where, READ, {"path": "../../x"}, root, root / "src/deep").action is Action.ALLOW


def test_a_worktree_reached_by_a_link_is_the_worktree(root: Path) -> None:
    door = root.parent / "door"
    assert (
        judge(rule("deny", tool="read", path="src/**"), READ, {"path": "src/x"}, door).action is Action.DENY
    )


@pytest.mark.parametrize(
    "path",
    [
        "loop",
        "loop/x",
        "a\0b",
        "",
        5,
        ["loop"],
        "/proc/self/cwd/src/x",
        "/proc/thread-self/root/etc",
        "/dev/fd/3",
        "process/src/x",
        "/proc/1/cwd/x",
        "x" * 300,
    ],
)
def test_a_path_that_cannot_be_told_is_denied_and_never_allowed(root: Path, path: Any) -> None:
    assert judge(rule("deny", tool="read", path="nowhere"), READ, {"path": path}, root).action is Action.DENY
    assert judge(ASK + rule("allow", tool="read", path="**"), READ, {"path": path}, root).action is Action.ASK


PIECES = [
    "src",
    "deep",
    "..",
    ".",
    "in",
    "out",
    "key",
    "chain",
    "up",
    "tree",
    "secret",
    "",
    "door",
    "dangling",
    "nothing",
]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("/".join))
def test_whatever_the_kernel_finds_is_found_where_it_is(root: Path, path: str) -> None:
    place = locate(path.lstrip("/") or ".", root, root)
    joined = os.path.join(root, path.lstrip("/"))  # noqa: PTH118 - `Path` would drop what `..` means
    if os.path.exists(joined):  # noqa: PTH110
        assert place is not None
        assert os.path.samefile(joined, "/" + "/".join(place.absolute))  # noqa: PTH121


def test_outside_is_what_leads_out_of_the_worktree(root: Path) -> None:
    text = "[[rules]]\naction = 'deny'\ntool = 'read'\noutside = true\n"
    assert judge(text, READ, {"path": "out/key"}, root).action is Action.DENY
    assert judge(text, READ, {"path": "src/x"}, root).action is Action.ALLOW
    assert judge(text, READ, {}, root).action is Action.ALLOW


def test_of_several_paths_one_is_enough_to_deny_and_all_are_needed_to_allow(root: Path) -> None:
    many = tool("many", paths_of=lambda given: given["paths"])
    mixed, inside = {"paths": ["src/x", "out/key"]}, {"paths": ["src/x", "src/y"]}
    deny, allow = rule("deny", tool="many", path="src/**"), ASK + rule("allow", tool="many", path="src/**")
    assert judge(deny, many, mixed, root).action is Action.DENY
    assert judge(allow, many, mixed, root).action is Action.ASK
    assert judge(allow, many, inside, root).action is Action.ALLOW
    assert judge(deny, many, {"path": "cannot be read"}, root).action is Action.DENY


ARGUMENTS = [
    ('arguments = { branch = "release/*" }', {"branch": "release/1"}, True),
    ('arguments = { branch = "release/*" }', {"branch": "main"}, False),
    ('arguments = { branch = "release/*" }', {}, False),
    ('arguments = { force = "true" }', {"force": True}, True),
    ('arguments = { force = "true" }', {"force": False}, False),
    ('arguments = { count = "1?" }', {"count": 12}, True),
    ('arguments = { "options.force" = "true" }', {"options": {"force": True}}, True),
    ('arguments = { "options.force" = "true" }', {"options.force": True}, True),
    ('arguments = { "options.force" = "true" }', {"options": []}, False),
    ('arguments = { a = "x", b = "y" }', {"a": "x", "b": "y"}, True),
    ('arguments = { a = "x", b = "y" }', {"a": "x", "b": "z"}, False),
]


@pytest.mark.parametrize(("condition", "arguments", "applies"), ARGUMENTS)
def test_a_pattern_over_an_argument(condition: str, arguments: Any, applies: bool) -> None:
    ruling = judge(f'[[rules]]\naction = "deny"\n{condition}', PLAIN, arguments)
    assert (ruling.action is Action.DENY) == applies


@settings(deadline=None)
@given(st.permutations(["deny", "allow", "ask"]), st.sampled_from(["allow", "ask", "deny"]))
def test_deny_wins_wherever_it_stands(order: list[str], unmatched: str) -> None:
    text = f'unmatched = "{unmatched}"\n' + "".join(rule(each, tool="plain") for each in order)
    assert judge(text, PLAIN, {}).action is Action.DENY


def test_a_ruling_names_the_line_of_its_rule_and_what_was_in_doubt() -> None:
    ruling = judge(GIT + DENY_RM, SHELL, {"command": "curl x | sh"})
    assert ruling.rule is not None
    assert ruling.rule.place == "/w/litany.toml:9"
    assert "stream" in ruling.doubt


MISTAKES = [
    ('[[rules]]\ntool = "x"', 1, "rules: action", '"allow", "deny" or "ask"'),
    ('[[rules]]\naction = "permit"', 2, "rules: action", '"allow" or "deny" or "ask"'),
    ('[[rules]]\naction = "deny"\ncomand = "rm **"', 3, "rules: comand", "did you mean 'command'?"),
    ('[[rules]]\naction = "deny"\ncommand = "rm \'x"', 3, "rules: command", "split"),
    ('[[rules]]\naction = "deny"\ncommand = ""', 3, "rules: command", "not empty"),
    ('[[rules]]\naction = "deny"\npath = "../x"', 3, "rules: path", "'..'"),
    ('[[rules]]\naction = "deny"\npath = "a**"', 3, "rules: path", "'**'"),
    ('[[rules]]\naction = "deny"\noutside = 1', 3, "rules: outside", "true or false"),
    ('[[rules]]\naction = "deny"\narguments = { a = 1 }', 3, "rules: arguments", "patterns"),
    ('[[rules]]\naction = "deny"\n\n[[rules]]\naction = "deny"\ncommand = "\'"', 6, "rules: command", "split"),
    ('[[rules]]\naction = "deny"\n\n[[rules]]\n# here\naction = "no"', 6, "rules: action", "deny"),
    ('rules = [{ action = "no" }]', 1, "rules: action", "deny"),
    ('[[rules]]\naction = "ask"\ntraits = ["destructiv"]', 3, "rules: traits", "did you mean 'destructive'?"),
    ('[[rules]]\naction = "ask"\ntraits = "destructive"', 3, "rules: traits", '["destructive"]'),
    ('[[rules]]\naction = "ask"\ntraits = []', 3, "rules: traits", "leave it out"),
    ("rules = 5", 1, "rules", "[[rules]]"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "key", "accepted"), MISTAKES)
def test_a_rule_that_cannot_be_read_refuses_the_file_with_its_line(
    text: str, line: int, key: str, accepted: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        rules(text)
    message = str(caught.value)
    assert message.startswith(f"/w/litany.toml:{line}: {key}: ")
    assert accepted in message


@pytest.mark.parametrize("condition", [{"command": "rm **"}, {"path": "x"}])
def test_a_rule_that_can_never_apply_to_the_tool_it_names_is_a_mistake(condition: dict[str, str]) -> None:
    with pytest.raises(RulesError, match=r"litany\.toml:1: .*plain"):
        rules(rule("deny", tool="plain", **condition)).check([SHELL, READ, PLAIN])
    rules(rule("deny", tool="*", **condition)).check([SHELL, READ, PLAIN])


def fails(_: Any) -> bool:
    raise KeyError("input")


TRAITS: list[tuple[dict[str, Any], list[str], tuple[str, str, str]]] = [
    # what deny, ask and allow make of a call that is otherwise denied (deny: allowed)
    ({"destructive": True}, ["destructive"], ("deny", "ask", "allow")),
    ({"destructive": False}, ["destructive"], ("allow", "deny", "deny")),
    ({}, ["read_only"], ("allow", "deny", "deny")),
    ({"read_only": lambda given: given["n"] == 1}, ["read_only"], ("deny", "ask", "allow")),
    ({"read_only": lambda given: given["n"] == 2}, ["read_only"], ("allow", "deny", "deny")),
    ({"destructive": fails}, ["destructive"], ("deny", "ask", "deny")),
    ({"read_only": fails}, ["read_only"], ("deny", "ask", "deny")),
    ({"read_only": lambda _: 1}, ["read_only"], ("deny", "ask", "deny")),
    ({"permissions": frozenset({"network_access"})}, ["network_access"], ("deny", "ask", "allow")),
    ({"permissions": frozenset({"network_access"})}, ["file_write"], ("allow", "deny", "deny")),
    ({"category": "shell"}, ["shell"], ("deny", "ask", "allow")),
    ({"category": "shell"}, ["network"], ("allow", "deny", "deny")),
    ({"destructive": True, "category": "shell"}, ["destructive", "shell"], ("deny", "ask", "allow")),
    ({"destructive": True, "category": "shell"}, ["destructive", "network"], ("allow", "deny", "deny")),
    ({"read_only": True, "provenance": Provenance("s")}, ["read_only"], ("deny", "ask", "deny")),
    (
        {"read_only": True, "provenance": Provenance("s", trusted=True)},
        ["read_only"],
        ("deny", "ask", "allow"),
    ),
    ({"destructive": False, "provenance": Provenance("s")}, ["destructive"], ("deny", "ask", "deny")),
]


@pytest.mark.parametrize(("traits", "named", "verdicts"), TRAITS)
def test_a_rule_names_what_a_tool_says_of_its_calls(
    root: Path, traits: dict[str, Any], named: list[str], verdicts: tuple[str, str, str]
) -> None:
    for action, verdict in zip(("deny", "ask", "allow"), verdicts, strict=True):
        unmatched = "allow" if action == "deny" else "deny"
        text = f'unmatched = "{unmatched}"\n[[rules]]\naction = "{action}"\ntraits = {named!r}'
        assert judge(text, tool("t", **traits), {"n": 1}, root).action == verdict


def test_a_rule_about_a_trait_that_its_tool_never_has_is_a_mistake() -> None:
    text = '[[rules]]\naction = "allow"\ntool = "t"\ntraits = ["read_only"]'
    with pytest.raises(RulesError, match=r"litany\.toml:1: rules: traits: t is never read_only"):
        rules(text).check([tool("t")])
    rules(text).check([tool("t", read_only=fails)])
    rules(text.replace('"t"', '"*"')).check([tool("t")])


def test_a_link_that_is_turned_is_judged_anew(root: Path) -> None:
    text = rule("deny", tool="read", path="/**/secret/**")
    assert judge(text, READ, {"path": "in/key"}, root).action is Action.ALLOW
    (root / "in").unlink()
    (root / "in").symlink_to(root.parent / "secret")
    assert judge(text, READ, {"path": "in/key"}, root).action is Action.DENY
