"""A program checked against its stubs before it runs: wrong, missing and unknown arguments, unknown tools.

The checker is ty (extra `litany[check]`); docs/decisions/0040-type-checker.md says why. It sees the program,
the generated module and this package, and nothing else of the machine. Only what it says of the tools is
reported: a program is a script, and a stranger's opinion of its style is noise. For the same reason two
kinds of complaint are left out because they are seldom true of what would be sent: a dict built up in a
variable is never a typed dict to a checker, and a `list[int]` is never a `list[float]`.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import tempfile
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from litany_stubs.module import MODULE_NAME

if TYPE_CHECKING:
    from collections.abc import Callable

if TYPE_CHECKING:
    from collections.abc import Sequence

TIMEOUT_S = 30.0
"""Seconds that the checker may take; it needs a twentieth of one for an ordinary program."""

PROGRAM_NAME = "program.py"

_OFFERED = frozenset(
    {"UNSET", "DoorError", "Result", "ToolError", "Unset", "aio", "fan_out", "invoke", "search"}
)
_FOUND = re.compile(r"Expected `(?P<expected>.+)`, found `(?P<found>.+)`$")
_PREFIX = re.compile(r"^Argument (to function `[^`]+` )?is incorrect: ")

_OF_THE_CALL = re.compile("argument|parameter|overload")


class CheckerError(RuntimeError):
    """There is no type checker, or it did not do its work; the message says what to do."""


class Finding(NamedTuple):
    """One thing that is wrong with a program's use of its tools.

    Attributes:
        line: from 1.
        column: from 1.
        message: the tool, the parameter, what is wrong.
    """

    line: int
    column: int
    message: str


def find_checker() -> str | None:
    """Return the path of an installed ty, or None."""
    beside = Path(sys.executable).with_name("ty")
    return str(beside) if beside.is_file() else shutil.which("ty")


Start: TypeAlias = "Callable[[list[str], Path, float], subprocess.CompletedProcess[bytes]]"
"""How the checker is started: its command, the folder that it works in, the seconds that it may take."""


def check_types(program_source: str, stub_source: str, *, timeout_s: float = TIMEOUT_S) -> list[Finding]:
    """Check a program of one's own against the text of its `litany_tools`; nothing of it is run.

    For a stranger's program `ask_checker` and `judge` are called apart, each in a confined process: Python's
    parser and the checker's read what they are given.

    Args:
        program_source: the program.
        stub_source: what `render` returned for its toolset.
        timeout_s: seconds the checker may take.

    Returns:
        What is wrong, by place. Empty as well for a program that is no Python: the policy says that better.

    Raises:
        CheckerError: ty is not installed, failed, or took too long.
    """
    return judge(program_source, stub_source, lambda: ask_checker(program_source, stub_source, timeout_s))


def judge(program_source: str, stub_source: str, said: Callable[[], list[Said]]) -> list[Finding]:
    """Pick what the checker said of the tools, and say it for whoever wrote the program.

    Args:
        program_source: the program.
        stub_source: what `render` returned for its toolset.
        said: what `ask_checker` returned; asked for only when the program uses its tools.
    """
    try:
        tree = ast.parse(program_source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    uses = _Uses(tree, program_source, stub_source)
    if not uses.aliases:
        return []
    judged = [finding for each in uses.without_echoes(said()) if (finding := uses.judge(each)) is not None]
    return sorted(set(judged))


class Said(NamedTuple):
    """What the checker said, and the place it stands at (line from 1, column from 0)."""

    text: str
    start: tuple[int, int]


def _unconfined(command: list[str], folder: Path, timeout_s: float) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=timeout_s, check=False)


def ask_checker(
    program_source: str, stub_source: str, timeout_s: float = TIMEOUT_S, start: Start = _unconfined
) -> list[Said]:
    """Ask the checker about a program.

    Args:
        program_source: the program.
        stub_source: what `render` returned for its toolset.
        timeout_s: seconds the checker may take.
        start: how it is started.

    Returns:
        All that it says.

    Raises:
        CheckerError: it is not installed, failed, or took too long.
    """
    checker = find_checker()
    if checker is None:
        raise CheckerError("no type checker is installed; `pip install 'litany[check]'` adds one")
    with tempfile.TemporaryDirectory(prefix="litany-check-") as folder:
        root = Path(folder)
        (root / PROGRAM_NAME).write_text(program_source, encoding="utf-8", newline="")
        (root / f"{MODULE_NAME}.py").write_text(stub_source, encoding="utf-8")
        # Its own empty configuration, so that no pyproject.toml above has a say.
        (root / "ty.toml").write_text("", encoding="utf-8")
        command = [
            *(
                str(Path(checker).resolve()),
                "check",
                PROGRAM_NAME,
                "--output-format",
                "gitlab",
                "--no-progress",
                "--exit-zero",
            ),
            *("--color", "never", "--project", str(root), "--python", sys.prefix),
            *("--extra-search-path", str(Path(__file__).parents[1])),
            *("--python-version", f"{sys.version_info[0]}.{sys.version_info[1]}"),
        ]
        try:
            done = start(command, root, timeout_s)
        except subprocess.TimeoutExpired:
            raise CheckerError(
                f"the type checker took more than {timeout_s:g} s; the program was not checked"
            ) from None
        except OSError as error:
            raise CheckerError(f"the type checker {checker} cannot be started: {error.strerror}") from error
    try:
        return [_read(each) for each in json.loads(done.stdout)]
    except (ValueError, KeyError, TypeError) as error:
        said = done.stderr.decode("utf-8", "replace").strip()[-500:]
        raise CheckerError(
            f"the type checker gave no findings that can be read ({error!r}); it said: {said}"
        ) from None


def _read(found: Any) -> Said:
    begin = found["location"]["positions"]["begin"]
    text = found["description"].removeprefix(f"{found['check_name']}: ")
    return Said(text, (begin["line"], begin["column"] - 1))


class _Uses:
    """Where a program uses its tools, and what a complaint at a place is about."""

    def __init__(self, tree: ast.Module, source: str, stub_source: str) -> None:
        self._lines = re.split("\r\n|\r|\n", source)
        stubs = ast.parse(stub_source).body
        self._parameters = {
            each.name: [one.arg for one in each.args.args]
            for each in stubs
            if isinstance(each, ast.FunctionDef) and each.name not in _OFFERED
        }
        self._tools = sorted(self._parameters)
        aio = {"invoke", "fan_out", *self._tools}
        self._names = {"": _listed(stubs), "aio": aio}
        self.aliases: dict[str, str] = {}
        self._imports: list[ast.ImportFrom] = []
        self._calls: list[ast.Call] = []
        self._attributes: list[ast.Attribute] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for each in node.names:
                    if each.name.split(".")[0] == MODULE_NAME:
                        self.aliases[each.asname or MODULE_NAME] = ""
            elif isinstance(node, ast.ImportFrom) and node.module == MODULE_NAME:
                self._imports.append(node)
                self.aliases.update({each.asname or each.name: each.name for each in node.names})
            elif isinstance(node, ast.Call):
                self._calls.append(node)
            elif isinstance(node, ast.Attribute):
                self._attributes.append(node)

    def without_echoes(self, said: list[Said]) -> list[Said]:
        """Leave out "this dict is wrong" where something is said of a key in it."""
        given = [argument for call in self._calls for argument in _given(call)]
        kept = []
        for each in said:
            place = self._place(each)
            whole = [node for node in given if _start(node) == place and isinstance(_value(node), ast.Dict)]
            closer = [other for other in said if other is not each and _within(whole, self._place(other))]
            if not (closer and "found `dict[" in each.text):
                kept.append(each)
        return kept

    def judge(self, said: Said) -> Finding | None:
        """Return what to report of one complaint, or None when it is not about the tools."""
        message = self._message(said, self._place(said))
        return None if message is None else Finding(said.start[0], said.start[1] + 1, message)

    def _message(self, said: Said, place: tuple[int, int]) -> str | None:
        if any(_holds(each, place) for each in self._imports) or self._is_unknown(place):
            return self._with_guess(said.text)
        call = self._innermost_call(place)
        if call is None:
            return said.text if "Result[" in said.text else None
        node, name = call
        if "Coroutine[" in said.text and "Result[" in said.text:
            return f"{name}: await it first; its result comes with `await {name}(...)`"
        if "Result[" in said.text and "no attribute" in said.text:
            return said.text
        given = next((each for each in _given(node) if _holds(each, place)), None)
        if given is not None and _doubtful(said.text, _value(given)):
            return None
        if given is None and not _OF_THE_CALL.search(said.text):
            return None  # of what is done with the result: that a failed tool has no data, for one
        text = _PREFIX.sub("", said.text)
        if text.endswith("| Unset`, found `None`"):
            text += ", which is sent as null; leave the argument out"
        parameter = self._parameter(node, name, given)
        return f"{name}, argument {parameter}: {text}" if parameter else f"{name}: {text}"

    def _parameter(self, call: ast.Call, name: str, given: ast.expr | ast.keyword | None) -> str | None:
        """Return which parameter an argument is for, or None when it is for none or nobody can tell."""
        if isinstance(given, ast.keyword):
            return given.arg
        before = call.args[: call.args.index(given)] if given is not None else []
        names = self._parameters.get(name.removeprefix("aio."), [])
        if (
            given is None
            or len(before) >= len(names)
            or any(isinstance(each, ast.Starred) for each in before)
        ):
            return None
        return names[len(before)]

    def _is_unknown(self, place: tuple[int, int]) -> bool:
        """Whether a name that the module, or its `aio`, does not have is asked of it at a place."""
        return any(
            _start(each) == place
            and (owner := self._owner(each.value)) is not None
            and each.attr not in self._names[owner]
            for each in self._attributes
        )

    def _owner(self, value: ast.expr) -> str | None:
        """Return "" for the module, "aio" for that of it, None for all else."""
        if isinstance(value, ast.Name) and self.aliases.get(value.id) == "":
            return ""
        return "aio" if self._tool_of(value) == "aio" else None

    def _innermost_call(self, place: tuple[int, int]) -> tuple[ast.Call, str] | None:
        found = None
        for each in self._calls:
            name = self._tool_of(each.func)
            if name and _holds(each, place) and (found is None or _start(each) >= _start(found[0])):
                found = (each, name)
        return found

    def _tool_of(self, function: ast.expr) -> str | None:
        """Return `read_file` or `aio.read_file` for what a call calls, or None when it is no tool."""
        parts: list[str] = []
        while isinstance(function, ast.Attribute):
            parts.insert(0, function.attr)
            function = function.value
        if not isinstance(function, ast.Name) or function.id not in self.aliases:
            return None
        first = self.aliases[function.id]
        named = [first, *parts] if first else parts
        return ".".join(named) if 1 <= len(named) <= 2 and (len(named) == 1 or named[0] == "aio") else None

    def _with_guess(self, text: str) -> str:
        named = re.findall(r"`([^`]+)`", text)
        close = get_close_matches(named[-1], [*self._tools, *_OFFERED], 3, 0.6) if named else []
        if close:
            return f"{text}; did you mean {' or '.join(close)}?"
        listed = ", ".join(self._tools[:20]) + (", ..." if len(self._tools) > 20 else "")
        return f"{text}; the tools are: {listed or 'none'}"

    def _place(self, said: Said) -> tuple[int, int]:
        """Turn the checker's column (characters) into the syntax tree's (UTF-8 bytes)."""
        line, column = said.start
        if not 0 < line <= len(self._lines):
            return line, column
        return line, len(self._lines[line - 1][:column].encode("utf-8", "surrogatepass"))


def _listed(stubs: list[ast.stmt]) -> set[str]:
    """What a stub module lists in `__all__`."""
    for each in stubs:
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "__all__":
            return set(ast.literal_eval(each.value))
    return set(_OFFERED)


def _holds(node: ast.expr | ast.keyword | ast.stmt, place: tuple[int, int]) -> bool:
    return _start(node) <= place < (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)


def _given(call: ast.Call) -> list[ast.expr | ast.keyword]:
    return [*call.args, *call.keywords]


def _value(argument: ast.expr | ast.keyword) -> ast.expr:
    return argument.value if isinstance(argument, ast.keyword) else argument


def _within(nodes: Sequence[ast.expr | ast.keyword], place: tuple[int, int]) -> bool:
    return any(_holds(each, place) for each in nodes)


def _start(node: ast.expr | ast.keyword | ast.stmt) -> tuple[int, int]:
    return (node.lineno, node.col_offset)


def _doubtful(text: str, value: ast.expr) -> bool:
    """Whether a complaint about an argument is of a kind that is seldom true."""
    match = _FOUND.search(text)
    if match is None:
        return False
    expected, found = match["expected"], match["found"]
    if "dict[" in found and not isinstance(value, (ast.Dict, ast.List)):
        return True
    inner = _inside("list", found)
    if inner is None:
        return False
    lists = [_inside("list", each) for each in _split(expected)]
    wanted = {part for each in lists if each is not None for part in _split(each)}
    if "float" in wanted:
        wanted.add("int")
    return bool(wanted) and set(_split(inner)) <= wanted


def _inside(kind: str, text: str) -> str | None:
    return text[len(kind) + 1 : -1] if text.startswith(f"{kind}[") and text.endswith("]") else None


def _split(text: str) -> list[str]:
    return (
        text.split(" | ")
        if "[" not in text
        else [each for each in re.split(r" \| (?![^\[]*\])", text) if each]
    )
