"""Calls that were refused or failed are told at the end of the program that did not look."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from litany_engine import open_workspace_blocking
from litany_engine.blocking import BlockingWorkspace
from litany_engine.door.calls import CallEnd, CallSummary
from litany_engine.records.call_counts import MAX_TOLD, told_calls, why_refused
from litany_engine.records.envelope import model_text, whole_envelope
from litany_engine.records.show import show_json, show_text
from litany_engine.workspaces.new_workspace import init_workspace
from litany_runtime.outcome import Outcome
from litany_stubs.words import Refusal

TOLD = (
    "4 calls, 2 refused (bsh: not granted; apply_patch: 'patch' is not known); "
    "3 failed results never looked at (bsh; apply_patch; bash: exit code 3)"
)
PROGRAM = """
import litany_tools as t
t.bsh(command="ls")
t.apply_patch(patch="x")
print(t.bash("exit 3").stdout)
print(t.bash("echo fine").stdout)
"""


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingWorkspace]:
    workspace = init_workspace(tmp_path_factory.mktemp("silent") / "ws", agent="a")
    limits = replace(workspace.config.limits, calls=6)
    with open_workspace_blocking(workspace.root, limits=limits) as opened:
        yield opened


def run(ws: BlockingWorkspace, program: str) -> CallEnd:
    end = ws.python(program, agent="a", deadline="60s")
    assert end.outcome is Outcome.COMPLETED, (end.reason, end.stderr)
    return end


def test_the_end_of_a_program_tells_of_calls_that_were_refused_or_failed_unseen(
    ws: BlockingWorkspace,
) -> None:
    end = run(ws, PROGRAM)
    assert [(each.why, each.unread) for each in end.calls] == [
        ("not granted", True),
        ("'patch' is not known", True),
        ("", True),
        ("", False),
    ]
    for text in (whole_envelope(end).decode(), model_text(end, head_bytes=4, tail_bytes=4)):
        assert text.endswith(f"\n--- calls ---\n{TOLD}\n")
    assert end.record is not None
    for folder in (end.record, end.record.parents[1]):
        row = next(line for line in show_text(folder).splitlines() if line.startswith(end.call.id))
        assert TOLD[:100] in row
    assert f"calls   {TOLD}" in show_text(end.record).splitlines()
    unread = [each.id for each in end.calls if each.unread]
    assert json.loads((end.record / "output.json").read_text())["unread"] == unread
    assert show_json(end.record)["unread"] == unread


LOOKS = ["ok", "exit_code", "outcome", "refusal", "stderr", "stderr_bytes"]


@pytest.mark.parametrize(
    "look",
    [
        f"for r in results: [r.{', r.'.join(LOOKS)}]",
        "print(results)",
        "for r in results:\n    try: r.check()\n    except t.ToolError: pass",
        "for r in results:\n    try: r.json()\n    except ValueError: pass",
    ],
)
def test_a_failure_that_the_program_looked_at_is_told_only_as_a_refusal(
    ws: BlockingWorkspace, look: str
) -> None:
    end = run(ws, f"import litany_tools as t\nresults = [t.bsh(), t.bash('exit 3')]\n{look}\n")
    assert [each.unread for each in end.calls] == [False, False]
    assert model_text(end).endswith("--- calls ---\n2 calls, 1 refused (bsh: not granted)\n")


@pytest.mark.parametrize("look", [*LOOKS, "check()", "json()"])
def test_each_way_to_ask_how_a_call_ended_counts_alone(look: str) -> None:
    from litany_stubs import result
    from litany_stubs.words import Reply

    found: Any = result.Result(Reply("failed", 1, stdout=b"{", number=7))
    result.Result(Reply("completed", 0, number=8))
    result.Result(Reply("failed", 1))  # of a door that does not number its calls
    try:
        _ = (found.stdout, found.stdout_bytes, found.data)
        assert result.unread() == [7]
        with suppress(ValueError, RuntimeError):
            _ = getattr(found, look.removesuffix("()"))() if "(" in look else getattr(found, look)
        assert result.unread() == []
    finally:
        _ = found.ok


def test_nothing_is_told_of_calls_that_went_well_or_were_seen_to_fail(ws: BlockingWorkspace) -> None:
    end = run(ws, "import litany_tools as t\nprint(t.bash('exit 3').ok)\nt.bash('true')\n")
    assert model_text(end) == "Exit code: 0\nFalse\n"
    assert end.record is not None
    assert "unread" not in json.loads((end.record / "output.json").read_text())


def test_calls_beyond_what_a_program_may_make_are_told_though_none_is_recorded(ws: BlockingWorkspace) -> None:
    end = run(ws, "import litany_tools as t\nfor n in range(9): t.bash('true')\nprint('done')\n")
    assert (len(end.calls), end.unrecorded) == (6, 3)
    told = "9 calls, 3 refused (more calls than are looked at, 3 times)"
    assert model_text(end) == f"Exit code: 0\ndone\n--- calls ---\n{told}\n"
    assert end.record is not None
    assert told in show_text(end.record)


def test_a_program_that_raises_is_told_too(ws: BlockingWorkspace) -> None:
    end = ws.python("import litany_tools as t\nt.bsh()\nraise ValueError", agent="a", deadline="60s")
    assert end.outcome is Outcome.FAILED
    assert "\n--- calls ---\n1 call, 1 refused (bsh: not granted)" in model_text(end)


def summary(name: str, why: str) -> CallSummary:
    return CallSummary("c-1", name, Outcome.REFUSED, 126, 0.0, why)


def test_many_kinds_of_refusals_are_told_briefly_and_names_do_nothing_to_a_terminal() -> None:
    many = told_calls([summary(f"t{n}", "no") for n in range(MAX_TOLD + 3)])
    assert many.endswith("t4: no; and 3 more)")
    odd = told_calls([summary("a\x1b[2J\n", "no"), summary("n" * 500, "no")])
    assert odd.isprintable()
    assert len(odd) < 200
    assert told_calls([], 10**18).startswith(f"{10**18} calls, {10**18} refused")


@pytest.mark.parametrize(
    ("gate", "reason", "why"),
    [
        ("schema", "x: argument 'a' is missing. x takes: a (string, required).", "'a' is missing"),
        ("schema", "x: argument 'a' is missing; argument 'b' is not known (did you mean 'a'?). x takes: a.",
         "'b' is not known"),
        ("schema", "x() takes 1 positional argument but 2 were given. x takes: a.",
         "takes 1 positional argument but 2 were given"),
        ("rules", "'x' is denied by a rule of the operator (litany.toml:3): no. Ever.",
         "is denied by a rule of the operator (litany.toml:3): no"),
        ("control", "no\n" * 90, f"{'no ' * 33}…"),
    ],
)  # fmt: skip
def test_a_refusal_in_a_few_words_is_its_first_cause(gate: str, reason: str, why: str) -> None:
    assert why_refused("x", Refusal(gate, reason)) == why
