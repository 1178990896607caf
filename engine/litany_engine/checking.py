"""A program judged without being run, in confined processes: parsing hostile text is attack enough.

The policy's verdict, and what the type checker's words mean for the program's calls, come from a child like
any program's: the parser runs there. The type checker is a process of its own under its own confinement.
What the child says is a stranger's text: it is taken apart as such.
"""

from __future__ import annotations

import base64
import json
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import trio

from litany_runtime.confine import ConfinementError, Isolation
from litany_runtime.confine.checker import CheckerPlan, run_checker
from litany_runtime.limits import MIB, Limits
from litany_runtime.outcome import Outcome
from litany_runtime.policy.violations import Violation
from litany_runtime.program import InnerCall, Program
from litany_runtime.setup import Setup
from litany_runtime.supervisor import open_supervisor
from litany_stubs.typecheck import CheckerError, Said, ask_checker, find_checker
from litany_stubs.words import Reply

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence
    from pathlib import Path

    from litany_engine.configuration.config import Config

CHECK_S = 60.0
"""Seconds that the judging may take: a program of the largest size takes ten."""

CHECK_MEMORY_BYTES = 1024 * MIB
"""What the parser may allocate: a program of the default size limit takes a quarter of it at worst."""

MAX_SHOWN = 1000
"""Findings that are told of one program."""

_JUDGE = """\
import base64, json
asked = json.loads(base64.b64decode({asked!r}))
from litany_runtime.policy import check
source = base64.b64decode(asked["source"])
found = [
    [each.line, each.column, each.rule, each.message, each.hint]
    for each in check(source, asked["name"], asked["modules"])
]
if asked["said"] is not None:
    from litany_stubs.typecheck import Said, judge
    said = [Said(text, tuple(start)) for text, start in asked["said"]]
    found += [
        [each.line, each.column, "tools", each.message, ""]
        for each in judge(asked["text"], asked["stubs"], lambda: said)
    ]
print(json.dumps(sorted(found)[:{most}]))
"""
"""Runs in the child in the place of a program: ours, without the language layer, which it is about."""


class CheckError(RuntimeError):
    """A program could not be judged; the message says why and what to do."""


async def check_program(
    source: bytes, text: str, name: str, config: Config, stubs: str | None
) -> tuple[list[Violation], str]:
    """Say what is wrong with a program, without running it and without parsing it in this process.

    Args:
        source: its bytes.
        text: the same, decoded.
        name: what it is called in messages.
        config: the operator's settings.
        stubs: the text of its `litany_tools`; None and its calls are not checked.

    Returns:
        What is wrong, by place; and why its calls of tools were not checked, or "".

    Raises:
        CheckError: it cannot be judged here.
    """
    isolation = Isolation(config.isolation)
    said, unchecked = None, ""
    if stubs is not None and "litany_tools" in text:
        try:
            said = await trio.to_thread.run_sync(_ask, text, stubs, isolation)
        except CheckerError as error:
            unchecked = str(error)
    asked: dict[str, Any] = {
        "source": base64.b64encode(source).decode(),
        "text": text,
        "name": name,
        "modules": list(config.modules),
        "stubs": stubs,
        "said": None if said is None else [[*each] for each in said],
    }
    return await _judge(asked, isolation), unchecked


def _ask(text: str, stubs: str, isolation: Isolation) -> list[Said]:
    def start(command: list[str], folder: Path, timeout_s: float) -> subprocess.CompletedProcess[bytes]:
        plan = CheckerPlan(tuple(command), str(folder), _read_by(command), isolation.value)
        try:
            return run_checker(plan, timeout_s)
        except ConfinementError as error:
            raise CheckerError(f"the type checker cannot be confined here: {error}") from error

    return ask_checker(text, stubs, start=start)


def _read_by(command: Sequence[str]) -> tuple[str, ...]:
    """What the checker's own command names: the environment, and where `litany_stubs` is."""
    named = [each for option, each in pairwise(command) if option.startswith("--")]
    return tuple(dict.fromkeys([sys.prefix, sys.base_prefix, *(each for each in named if each[:1] == "/")]))


async def _judge(asked: dict[str, Any], isolation: Isolation) -> list[Violation]:
    program = _JUDGE.format(asked=base64.b64encode(json.dumps(asked).encode()), most=MAX_SHOWN).encode()
    limits = Limits(
        memory_bytes=CHECK_MEMORY_BYTES, source_bytes=len(program), output_bytes=64 * MIB, calls=0
    )
    setup = Setup(None, isolation, warm=0, language_layer=False)

    async def no_calls(_: InnerCall) -> Reply:
        return Reply("refused", 126)

    try:
        async with open_supervisor(setup) as supervisor:
            deadline = trio.current_time() + CHECK_S
            end = await supervisor.run(
                Program(program, filename="judging"), limits, answer=no_calls, deadline=deadline
            )
    except ConfinementError as error:
        raise CheckError(f"the program was not judged, for it is only parsed confined: {error}") from error
    if end.outcome is not Outcome.COMPLETED:
        said = end.stderr.decode(errors="replace").strip().rpartition("\n")[2][-300:]
        why = end.reason or said or f"exit code {end.exit_code}"
        raise CheckError(f"the program could not be judged: the process that parsed it {end.outcome}: {why}")
    try:
        return [
            Violation(int(line), int(column), str(rule), str(message), str(hint))
            for line, column, rule, message, hint in json.loads(end.stdout)
        ]
    except (ValueError, TypeError) as error:
        raise CheckError("the program could not be judged: what parsed it gave no answer") from error


def why_unchecked(*, has_tools: bool) -> str:
    """Why calls of tools are not checked here, or ""."""
    if find_checker() is None:
        return "no type checker is installed (pip install 'litany[check]')"
    if not has_tools:
        return "this is no workspace (name one with --workspace, or tools with --tools)"
    return ""
