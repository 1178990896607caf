"""`doctest` for programs: runs the examples in the docstrings of the program's functions and classes.

The library's finds objects through their modules and runs what it finds with the interpreter's own `exec`.
Here an example is text that the program evaluates: judged as the program is, in a copy of its names.
"""

from __future__ import annotations

import contextlib
import functools
import io
import re
import sys
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from litany_runtime.policy import evaluation, ownership

if TYPE_CHECKING:
    from collections.abc import Iterator

NORMALIZE_WHITESPACE = 1 << 2
ELLIPSIS = 1 << 3
SKIP = 1 << 4
IGNORE_EXCEPTION_DETAIL = 1 << 5
FLAGS = {
    "NORMALIZE_WHITESPACE": NORMALIZE_WHITESPACE,
    "ELLIPSIS": ELLIPSIS,
    "SKIP": SKIP,
    "IGNORE_EXCEPTION_DETAIL": IGNORE_EXCEPTION_DETAIL,
}
"""Options that change how an example is run and compared, with the library's own numbers."""

_DIRECTIVE = re.compile(r"#\s*doctest:\s*([^\n]*)")
_TRACEBACK = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n)*(?P<said>\S[\s\S]*)")
_LINE = "*" * 70


_CACHED = type(functools.lru_cache(len))


class _Counts(NamedTuple):
    failed: int
    attempted: int


class TestResults(_Counts):
    """How many examples failed, and how many there were; since Python 3.13 those that were skipped count."""

    skipped: int

    def __new__(cls, failed: int, attempted: int, *, skipped: int = 0) -> Self:
        made = super().__new__(cls, failed, attempted)
        made.skipped = skipped
        return made

    def __repr__(self) -> str:
        skipped = f", skipped={self.skipped}" if self.skipped and COUNTS_SKIPPED else ""
        return f"TestResults(failed={self.failed}, attempted={self.attempted}{skipped})"


COUNTS_SKIPPED = sys.version_info >= (3, 13)


class Example(NamedTuple):
    """One example of a docstring.

    Attributes:
        source: the statements.
        want: what they print, or the traceback they end with.
        flags: the options that hold for it.
    """

    source: str
    want: str
    flags: int


def examples_in(text: str, flags: int) -> Iterator[Example]:
    """The examples of one docstring.

    Raises:
        ValueError: a line of an example has no space after its prompt.
    """
    lines = text.expandtabs().splitlines()
    at = 0
    while at < len(lines):
        stripped = lines[at].lstrip(" ")
        if not (stripped.startswith(">>> ") or stripped == ">>>"):
            if stripped.startswith(">>>"):
                raise ValueError(f"a docstring's prompt lacks a space after it: {stripped!r}")
            at += 1
            continue
        indent = len(lines[at]) - len(stripped)
        source = [stripped[4:]]
        at += 1
        while at < len(lines) and re.match(r"\.\.\.( |$)", lines[at][indent:]):
            source.append(lines[at][indent + 4 :])
            at += 1
        want: list[str] = []
        while at < len(lines) and lines[at].strip() and not lines[at].lstrip(" ").startswith(">>>"):
            want.append(lines[at][indent:])
            at += 1
        body = "\n".join(source) + "\n"
        yield Example(body, "".join(line + "\n" for line in want), _flags_of(body, flags))


def _flags_of(source: str, flags: int) -> int:
    for directive in _DIRECTIVE.findall(source):
        for word in directive.replace(",", " ").split():
            flag = FLAGS.get(word[1:], 0)
            flags = flags | flag if word[0] == "+" else flags & ~flag
    return flags


def _is_same(want: str, got: str, flags: int) -> bool:
    want = re.sub(r"(?m)^<BLANKLINE>\s*?$", "", want)
    if want == got:
        return True
    if flags & NORMALIZE_WHITESPACE:
        want, got = " ".join(want.split()), " ".join(got.split())
    if flags & ELLIPSIS:
        return _fits(want.split("..."), got)
    return want == got


def _fits(pieces: list[str], got: str) -> bool:
    """Whether a text consists of pieces with anything between them; takes time in proportion to the text."""
    first, *rest = pieces
    if not rest:
        return first == got
    *middle, last = rest
    if not got.startswith(first) or not got.endswith(last) or len(got) < len(first) + len(last):
        return False
    at, end = len(first), len(got) - len(last)
    for piece in middle:
        found = got.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


RAISED = "Exception raised:\n"


def _run(example: Example, name: str, names: dict[str, Any]) -> tuple[bool, str]:
    """Whether one example did as it says, and what it printed or raised."""
    out = io.StringIO()
    said = ""
    try:
        with contextlib.redirect_stdout(out):
            evaluation.exec_(evaluation.compile_(example.source, f"<doctest {name}>", "single"), names)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the example's own, told as the library tells it
        said = "".join(traceback.format_exception_only(error))
    got = out.getvalue()
    if not said:
        return _is_same(example.want, got, example.flags), got
    expected = _TRACEBACK.search(example.want)
    if expected is None:
        return False, f"{RAISED}Traceback (most recent call last):\n    ...\n{said}"
    wanted = expected["said"]
    if example.flags & IGNORE_EXCEPTION_DETAIL:
        wanted, said = (text.split(":")[0].strip().rpartition(".")[2] for text in (wanted, said))
    return _is_same(wanted, said, example.flags), said


def _texts(name: str, thing: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    """The docstrings of one of the program's objects and of what is inside it, by name."""
    if isinstance(thing, (staticmethod, classmethod)):
        thing = thing.__func__
    if isinstance(thing, property):
        thing = thing.fget
    wrapped = getattr(thing, "__wrapped__", None) if isinstance(thing, _CACHED) else None
    thing = wrapped or thing
    own_class = isinstance(thing, type) and ownership.is_own_class(thing)
    if not (own_class or ownership.is_own_function(thing)):
        return
    if type(thing.__doc__) is str:
        yield name, thing.__doc__
    if own_class and depth < MAX_DEPTH:
        for inner, value in sorted(ownership.class_dict(thing).items(), key=lambda item: str(item[0])):
            yield from _texts(f"{name}.{inner}", value, depth + 1)


MAX_DEPTH = 20
"""Classes inside classes that are looked into."""


def _report(example: Example, name: str, got: str) -> str:
    def part(title: str, text: str) -> str:
        body = "".join(f"    {line}\n" for line in text.splitlines())
        return f"{title}:\n{body}" if body else f"{title.replace('Expected', 'Expected nothing')}\n"

    place = f'File "program.py", line ?, in {name}\n{part("Failed example", example.source)}'
    if got.startswith(RAISED):
        return f"{_LINE}\n{place}{part('Exception raised', got.removeprefix(RAISED))}"
    shown = part("Got", got) if got else "Got nothing\n"
    return f"{_LINE}\n{place}{part('Expected', example.want)}{shown}"


def _test(name: str, text: str, names: dict[str, Any], flags: int, *, verbose: bool) -> TestResults:
    failed = attempted = skipped = 0
    for example in examples_in(text, flags):
        attempted += COUNTS_SKIPPED or not example.flags & SKIP
        if example.flags & SKIP:
            skipped += 1
            continue
        if verbose:
            sys.stdout.write(f"Trying:\n    {example.source}Expecting:\n    {example.want or 'nothing'}\n")
        passed, got = _run(example, name, names)
        if not passed:
            failed += 1
            sys.stdout.write(_report(example, name, got))
        elif verbose:
            sys.stdout.write("ok\n")
    return TestResults(failed, attempted, skipped=skipped)


def run_program(
    m: Any = None,
    name: Any = None,
    globs: Any = None,
    verbose: Any = None,
    report: Any = True,
    optionflags: int = 0,
    extraglobs: Any = None,
    raise_on_error: Any = False,
    exclude_empty: Any = False,
) -> TestResults:
    """Run the examples in the docstrings of the program, and return how many failed."""
    if m is not None:
        raise TypeError("doctest.testmod() tests the program itself here (leave out the module)")
    program = ownership.program_globals()
    verbose = "-v" in sys.argv if verbose is None else bool(verbose)
    texts = [("__main__", program["__doc__"])] if type(program.get("__doc__")) is str else []
    for each in sorted(k for k in list(program) if type(k) is str):
        thing = program[each]
        texts += _texts(f"__main__.{each}", thing)
    failed: list[tuple[int, int, str]] = []
    total = TestResults(0, 0)
    for where, text in texts:
        scope = dict(program if globs is None else globs) | dict(extraglobs or {}) | {"__name__": "__main__"}
        done = _test(where, text, scope, optionflags, verbose=verbose)
        total = TestResults(
            total.failed + done.failed, total.attempted + done.attempted, skipped=total.skipped + done.skipped
        )
        if done.failed:
            failed.append((*done, where))
    if failed and report:
        items = "item" if COUNTS_SKIPPED and len(failed) == 1 else "items"
        sys.stdout.write(f"{_LINE}\n{len(failed)} {items} had failures:\n")
        for wrong, of, where in failed:
            sys.stdout.write(f"  {wrong:2d} of {of:3d} in {where}\n")
        sys.stdout.write(f"***Test Failed*** {total.failed} failures.\n")
    elif verbose and report:
        sys.stdout.write(f"{total.attempted} tests passed.\nTest passed.\n")
    return total


def run_docstring_examples(
    f: Any,
    globs: Any,
    verbose: Any = False,
    name: Any = "NoName",
    compileflags: Any = None,
    optionflags: int = 0,
) -> None:
    """Run the examples of one object's docstring, or of a text; print what fails."""
    texts = [(str(name), f)] if isinstance(f, str) else list(_texts(str(name), f))
    for where, text in texts[:1]:
        _test(where, text, dict(globs), optionflags, verbose=bool(verbose))


def stand_ins() -> dict[str, Any]:
    """`module.name` → what a program gets under that name."""
    offered: dict[str, Any] = {
        "testmod": run_program,
        "run_docstring_examples": run_docstring_examples,
        "TestResults": TestResults,
        **FLAGS,
    }
    TestResults.__module__ = "doctest"
    return {f"doctest.{name}": value for name, value in offered.items()}
