r"""A door in memory, so that a program is tested with pytest alone: no workspace, no sandbox, no tools.

    def test_it_counts_the_lines(fake_door):
        fake_door.answers("read_file", "one\ntwo\n")
        assert fake_door.run(PROGRAM).stdout == "2\n"
        assert fake_door.calls == [("read_file", {"path": "notes.txt"})]

The fixture `fake_door` comes with the package (`pytest_plugin.py`). What runs under it runs as this process
does: it is a test of the program's logic, not of its confinement.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import io
import linecache
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import CO_COROUTINE
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

from litany_stubs.client import bind
from litany_stubs.compiling import decorator_of
from litany_stubs.finding import listed
from litany_stubs.module import CODE_NAME, MODULE_NAME, load_stubs
from litany_stubs.names import is_parameter_name
from litany_stubs.render import render
from litany_stubs.values import to_json_value
from litany_stubs.words import JSON, DoorError, Refusal, Reply, ToolDeclaration, unplaced_fault

REFUSED = 126
"""Exit code of a program that was not run."""

_PACKAGE = f"{Path(__file__).parent}{os.sep}"


@dataclass(frozen=True, slots=True)
class Canned:
    """One prepared answer.

    Attributes:
        reply: what comes back; None when the door cannot be reached.
        delay_s: seconds before it comes.
        reason: why the door cannot be reached.
    """

    reply: Reply | None
    delay_s: float = 0.0
    reason: str = ""


Answer: TypeAlias = "str | bytes | dict[str, Any] | list[Any] | Reply | Canned"
"""Text or bytes become stdout; a dict or a list becomes `data`; a `Reply` is taken as it is."""

Answerer: TypeAlias = "Answer | Callable[[dict[str, Any]], Answer]"
"""An answer, or a function from the call's arguments to one."""


class Call(NamedTuple):
    """A call that was made."""

    name: str
    input: dict[str, Any]


class Ran(NamedTuple):
    """What a program did under `FakeDoor.run`."""

    stdout: str
    stderr: str
    exit_code: int


def output(stdout: str | bytes = b"", *, stderr: str | bytes = b"", data: JSON = None) -> Reply:
    """Return the reply of a tool that did its work."""
    return Reply("completed", 0, _bytes(stdout), _bytes(stderr), data)


def failure(stderr: str | bytes = b"", *, exit_code: int = 1, stdout: str | bytes = b"") -> Reply:
    """Return the reply of a tool that failed."""
    return Reply("failed", exit_code, _bytes(stdout), _bytes(stderr))


def refusal(reason: str, *, gate: str = "control") -> Reply:
    """Return the reply to a call that was not run."""
    return Reply("refused", 126, refusal=Refusal(gate, reason))


def late(answer: Answer, delay_s: float) -> Canned:
    """Return an answer that comes after a while."""
    return replace(_canned(answer), delay_s=delay_s)


def unreachable(reason: str = "the supervisor is gone") -> Canned:
    """Return the answer of a door that cannot be reached: the call raises `DoorError`."""
    return Canned(None, reason=reason)


class FakeDoor:
    """A door that answers as a test says and remembers what it was asked.

    Attributes:
        calls: every call made, in the order in which they came, refused ones too.
    """

    def __init__(self, declarations: Sequence[ToolDeclaration] = ()) -> None:
        """Start with no answers.

        Args:
            declarations: the tools of the module that `run` gives a program; without them, every tool that
                has an answer takes any arguments.
        """
        self.calls: list[Call] = []
        self._declarations = tuple(declarations)
        self._answers: dict[str, list[Answerer]] = {}
        self._stubs: str | None = None
        self._modules: tuple[str, ...] | None = None
        self._taken: dict[str, _Taken] = {}
        self._granted: Sequence[str] | None = None
        self._lock = threading.Lock()

    def answers(self, name: str, *answers: Answerer) -> FakeDoor:
        """Say what a tool answers: each call takes the next answer, the last one stays.

        Args:
            name: the tool.
            answers: text, bytes, data, a `Reply` (`output`, `failure`, `refusal`), `late(…)`,
                `unreachable()`, or a function from the call's arguments to one of these.
        """
        if not answers:
            raise ValueError(f"{name}: give at least one answer")
        self._answers[name] = list(answers)
        return self

    def with_stubs(self, stubs: str | Path) -> FakeDoor:
        """Give programs the module that `litany stubs` writes: a wrong parameter is an error here too.

        Args:
            stubs: the module's text, or the file it is in. Without it, a tool takes any arguments.
        """
        self._stubs = stubs.read_text(encoding="utf-8") if isinstance(stubs, Path) else stubs
        return self

    def with_policy(self, modules: Sequence[str] = ()) -> FakeDoor:
        """Judge programs by the language policy before they run, as a run does.

        One that is refused is not run: its exit code is 126, and the reasons are on stderr. What the policy
        decides while a program runs is not played: for that, run it.

        Args:
            modules: what `modules` in `litany.toml` adds.
        """
        self._modules = tuple(modules)
        return self

    def calls_of(self, name: str) -> list[dict[str, Any]]:
        """Return the inputs of all calls of one tool."""
        return [each.input for each in self.calls if each.name == name]

    def call(self, name: str, arguments: Mapping[str, JSON]) -> Reply:
        """Answer one call; safe from any thread.

        Raises:
            DoorError: the test said so.
        """
        found = self._take(name, arguments)
        if found.delay_s:
            time.sleep(found.delay_s)
        return _reply(found)

    async def call_async(self, name: str, arguments: Mapping[str, JSON]) -> Reply:
        """Answer one call under asyncio.

        Raises:
            DoorError: the test said so.
        """
        found = self._take(name, arguments)
        await asyncio.sleep(found.delay_s)
        return _reply(found)

    def module(self) -> ModuleType:
        """Return the `litany_tools` of this door's tools."""
        text = self._stubs
        if text is None:
            declared = {each.name for each in self._declarations}
            open_tools = [
                ToolDeclaration(name, "", {"type": "object", "additionalProperties": True})
                for name in self._answers
                if name not in declared
            ]
            text = render([*self._declarations, *open_tools])
        module = load_stubs(text)
        self._taken = _read_taken(text)
        self._granted = None if self._stubs is None else vars(module)["__tools__"]
        return module

    def run(self, program: str | Path) -> Ran:
        """Run a program in this process with this door behind its `litany_tools`; top-level `await` works.

        Args:
            program: its text, or the file it is in.

        Returns:
            What it printed. One that raises has its traceback on stderr and exit code 1, as in the sandbox;
            one that the language policy refuses, after `with_policy`, has exit code 126.
        """
        name = str(program) if isinstance(program, Path) else "program.py"
        text = program.read_text(encoding="utf-8") if isinstance(program, Path) else program
        if text.endswith(".py") and "\n" not in text:
            raise ValueError(f"{text!r} is taken for a program's text; a file is given as Path({text!r})")
        if refused := self._refused(text, name):
            return Ran("", f"refused by the policy gate: {refused}\n", REFUSED)
        code = compile(text, name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        stdout, stderr, exit_code = io.StringIO(), io.StringIO(), 0
        with contextlib.ExitStack() as stack:
            stack.callback(bind, bind(self))
            stack.callback(_restore, sys.modules.get(MODULE_NAME))
            stack.callback(linecache.cache.pop, name, None)
            linecache.cache[name] = (len(text), None, [f"{line}\n" for line in text.split("\n")], name)
            sys.modules[MODULE_NAME] = self.module()
            stack.enter_context(contextlib.redirect_stdout(stdout))
            stack.enter_context(contextlib.redirect_stderr(stderr))
            try:
                _execute(code, name)
            except SystemExit as end:
                exit_code = _exit_code(end, stderr)
            except Exception as error:  # noqa: BLE001 - the program's own; its traceback is its output
                stderr.write(_report(error, name))
                exit_code = 1
        return Ran(stdout.getvalue(), stderr.getvalue(), exit_code)

    def _refused(self, text: str, name: str) -> str:
        """Why the language policy does not let a program run, one line for each reason; "" when it does."""
        if self._modules is None:
            return ""
        # Only a test that asks for the verdict loads the wing that has it: a program's own path never does.
        from litany_runtime.policy import PolicyError, check  # noqa: PLC0415

        found = check(text.encode("utf-8", "surrogatepass"), name, self._modules)
        return str(PolicyError(sorted(found), name)) if found else ""

    def _take(self, name: str, arguments: Mapping[str, JSON]) -> Canned:
        asked = to_json_value(dict(arguments), name)
        with self._lock:
            self.calls.append(Call(name, asked))
            waiting = self._answers.get(name)
            if waiting is None or (self._granted is not None and name not in self._granted):
                known = (
                    ", ".join(sorted(self._answers if self._granted is None else self._granted)) or "nothing"
                )
                return Canned(refusal(f"no tool {name} is granted; this door answers: {known}", gate="grant"))
            taken = self._taken.get(name)
            if fault := unplaced_fault(asked):
                known = "its order is not known here; say `with_stubs`, or give arguments by name"
                return Canned(refusal(f"{fault}. {taken.told() if taken else known}", gate="schema"))
            if taken and (fault := taken.fault(name, asked)):
                return Canned(refusal(fault, gate="schema"))
            chosen = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return _canned(chosen(asked) if callable(chosen) else chosen)


class _Taken(NamedTuple):
    """What the text of a stub module says that a tool takes."""

    names: tuple[str, ...]
    required: tuple[str, ...]
    is_closed: bool

    def fault(self, name: str, arguments: dict[str, Any]) -> str:
        """Why a real door would not let a call through, as far as the names of its arguments tell; or ""."""
        faults = [f"argument {each!r} is missing" for each in self.required if each not in arguments]
        # A parameter that Python cannot spell is in no signature, and may be there all the same.
        faults += [
            f"argument {each!r} is not known"
            for each in (arguments if self.is_closed else ())
            if each not in self.names and is_parameter_name(each)
        ]
        return f"{name}: {'; '.join(faults)}. {self.told()}" if faults else ""

    def told(self) -> str:
        """What it takes, as a sentence."""
        return f"It takes: {listed(self.names)}."


def _read_taken(text: str) -> dict[str, _Taken]:
    found = {}
    for each in ast.parse(text).body:
        if isinstance(each, ast.FunctionDef) and (decorator := decorator_of(each)) is not None:
            takes = each.args
            names = tuple(one.arg for one in takes.args)
            found[ast.literal_eval(decorator.args[0])] = _Taken(
                names,
                names[: len(names) - len(takes.defaults)],
                takes.kwarg is None and all(one.arg != "lax" for one in decorator.keywords),
            )
    return found


def _canned(answer: Answer) -> Canned:
    if isinstance(answer, Canned):
        return answer
    if isinstance(answer, Reply):
        return Canned(answer)
    if isinstance(answer, (str, bytes)):
        return Canned(output(answer))
    if isinstance(answer, (dict, list)):
        return Canned(output(data=to_json_value(answer, "data")))
    raise TypeError(f"an answer is text, bytes, data or a Reply, not {type(answer).__name__}")


def _reply(found: Canned) -> Reply:
    if found.reply is None:
        raise DoorError(f"the door cannot be reached: {found.reason}")
    return found.reply


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _execute(code: Any, name: str) -> None:
    space: dict[str, Any] = {"__name__": "__main__", "__file__": name}
    if code.co_flags & CO_COROUTINE:
        asyncio.run(eval(code, space))  # noqa: S307 - the program under test
    else:
        exec(code, space)  # noqa: S102 - the program under test


def _exit_code(end: SystemExit, stderr: io.StringIO) -> int:
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    print(end.code, file=stderr)
    return 1


def _report(error: Exception, name: str) -> str:
    """Return the traceback as the sandbox shows it: from the program on, without frames of this package."""
    report = traceback.TracebackException.from_exception(error)
    left: list[traceback.TracebackException | None] = [report]
    seen: set[int] = set()
    while left:
        each = left.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        own = [frame for frame in each.stack if not frame.filename.startswith((_PACKAGE, CODE_NAME))]
        names = [frame.filename for frame in own]
        each.stack = traceback.StackSummary.from_list(own[names.index(name) if name in names else 0 :])
        left += [each.__cause__, each.__context__, *(each.exceptions or ())]
    return "".join(report.format())


def _restore(module: ModuleType | None) -> None:
    if module is None:
        sys.modules.pop(MODULE_NAME, None)
    else:
        sys.modules[MODULE_NAME] = module
