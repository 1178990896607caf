"""The same call, whoever makes it: the same verdict, and a record of the same shape.

Every issuer makes every case in a workspace of its own with the same configuration; what is compared is what
the issuer was told and what stands in the records on disk. There is a row for every gate and every stage of
`gates.py`. Where one cannot apply to an issuer, the row says why, and the test asserts that the very same call
of that issuer passes it and leaves the same record as that of every other to whom it does not apply.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import trio

from cli_kit import litany
from litany_engine import open_workspace
from litany_engine.api import OpenWorkspace
from litany_engine.door.calls import Capture, Context, ToolCall
from litany_engine.door.gates import GATES, STAGES
from litany_engine.door.holds import Holds
from litany_engine.door.screens import ScreenVerdict, Withhold
from litany_engine.workspaces.workspace import Workspace
from litany_runtime.wire import Call
from window_kit import AGENT, make_workspace, use

CONFIG = """
[tools]
descriptors = ["tools"]
suspended = ["asleep"]

[roles.default]
grant = ["python", "fine", "asleep", "denied", "asked", "judged", "heavy", "nest"]

[control]
command = ["./control.py"]

[hold]
patience = "50ms"

[budgets]
agent_bytes_in = "20000 B"
agent_calls = 100

[[rules]]
action = "deny"
tool = "denied"
reason = "the operator says no"

[[rules]]
action = "ask"
tool = "asked"
reason = "the operator is asked"
"""

CONTROL = """#!%s
import json, sys
asked = json.load(sys.stdin)
refuse = {"verdict": "refuse", "reason": "the control says no"}
print(json.dumps(refuse if asked["name"] == "judged" else {"verdict": "pass"}))
"""

SAY = "#!/bin/sh\necho out; echo err >&2; exit 3\n"

NEST = """#!%s
import json, subprocess, sys
block = sys.stdin.read().replace("HEAVY", "x" * 30_000)
block = json.dumps(json.loads(block)["call"]).encode()
sys.exit(subprocess.run([sys.executable, "-m", "litany_engine", "invoke"], input=block).returncode)
"""

HEAVY = 30_000
SCREENED = 7

OUTER = frozenset({"model", "litany invoke", "host with a router"})
INNER = frozenset({"program", "nested tool"})
ALL = OUTER | INNER


@dataclass(frozen=True)
class Case:
    """One call that everybody makes.

    Attributes:
        row: the gate or stage that it is about.
        name: the tool.
        input: what is asked of it.
        to: the issuers to whom the row applies.
        because: why not to the others.
        offered: the id that those offer who can.
        late: those make it whose own call has ended who can.
    """

    row: str
    name: str
    input: Any
    to: frozenset[str] = ALL
    because: str = ""
    offered: str | None = None
    late: bool = False


CASES = {
    "no id": Case(
        "id", "fine", {"n": 2}, frozenset({"nested tool"}),
        "the id of an outer call may be any text, and the wire has no place for one: it is minted for a program",
        offered="no/id",
    ),
    "after the end": Case(
        "authority", "fine", {"n": 3}, INNER, "only a call in the name of another can come after its end", late=True
    ),
    "too deep": Case(
        "depth", "python", {"program": "print(1)"}, INNER, "the model, or a host for it, is who composes"
    ),
    "unknown": Case("grant", "nothing_of_that_name", {}),
    "ungranted": Case("grant", "read_file", {"path": "x"}),
    "suspended": Case("availability", "asleep", {}),
    "bad input": Case("schema", "fine", {"n": "x"}),
    "unknown argument": Case("schema", "fine", {"m": 1}),
    "denied": Case("rules", "denied", {}),
    "asked about": Case(
        "rules", "asked", {}, ALL - {"model"}, "the window of a model is parked: nobody waits, nothing is refused"
    ),
    "judged": Case("control", "judged", {"n": 1}),
    "too heavy": Case("budget", "heavy", {"text": "x" * HEAVY}),
    "runs": Case("executor", "fine", {"n": 1}),
    "screened": Case(
        "screens", "fine", {"n": SCREENED}, ALL - {"litany invoke", "nested tool"},
        "screens are functions of a host's process, and these calls are made in a process of their own",
    ),
    "recorded": Case("record", "fine", {"n": 5}),
}  # fmt: skip


def test_every_gate_and_every_stage_has_a_row() -> None:
    assert {case.row for case in CASES.values()} == {each.name for each in (*GATES, *STAGES)}


def test_whom_a_row_does_not_apply_to_is_said_with_a_reason() -> None:
    assert ISSUERS.keys() == ALL
    for case in CASES.values():
        assert (case.to == ALL) == (case.because == "")
        assert case.to


def test_a_program_has_no_way_to_offer_an_id() -> None:
    assert [field.name for field in fields(Call)] == ["seq", "name", "input"]


def make(root: Path) -> Workspace:
    make_workspace(root, CONFIG)
    (root / "tools").mkdir()
    for name in ("fine", "asleep", "denied", "asked", "judged", "heavy", "nest"):
        properties = {"n": {"type": "integer"}, "text": {"type": "string"}}
        schema: Any = {"type": "object", "properties": properties, "additionalProperties": False}
        if name == "nest":
            schema = {"type": "object"}
        descriptor = {"name": name, "command": [f"./{name}"], "input_schema": schema}
        (root / f"tools/{name}.json").write_text(json.dumps(descriptor))
        (root / "tools" / name).write_text(NEST % sys.executable if name == "nest" else SAY)
        (root / "tools" / name).chmod(0o755)
    (root / "control.py").write_text(CONTROL % sys.executable)
    (root / "control.py").chmod(0o755)
    return Workspace(root)


def withhold(call: ToolCall, capture: Capture) -> ScreenVerdict:
    return Withhold("the host says no") if call.input == {"n": SCREENED} else None


def opened(
    workspace: Workspace,
    work: Callable[[OpenWorkspace], Any],
    *,
    routed: bool = False,
    seen: Callable[[Context], Awaitable[None]] | None = None,
) -> Any:
    """Work in an opened workspace, with a screen, and with a router that leaves each call to its tool."""

    async def main() -> Any:
        found: list[OpenWorkspace] = []

        async def router(call: ToolCall, context: Context) -> Capture:
            if seen is not None:
                await seen(context)
            return await found[0].perform(call, context)

        router_or_none = router if routed or seen is not None else None
        async with open_workspace(workspace, router=router_or_none, screens=[withhold]) as ws:
            found.append(ws)
            return await work(ws)

    return trio.run(main)


def light(arguments: Any) -> Any:
    """The arguments as they stand inside the input of another call, which is not to be refused for its weight."""
    return json.loads(json.dumps(arguments).replace("x" * HEAVY, "HEAVY"))


def by_model(workspace: Workspace, case: Case) -> str:
    call_id = case.offered or "toolu_1"
    answers = opened(workspace, lambda ws: ws.window(AGENT, [use(call_id, case.name, **case.input)]))
    return str(answers.results[0].text) if answers.results else f"{answers.end}: {answers.reason}"


def by_program(workspace: Workspace, case: Case) -> str:
    if case.late:
        return late_in_process(workspace, case)
    written = repr(light(case.input)).replace("HEAVY", "' + 'x' * 30_000 + '")
    program = f"import litany_tools\nr = litany_tools.invoke({case.name!r}, {written})\n"
    program += "print(r.refusal.reason if r.refusal else '', end='')"
    return str(opened(workspace, lambda ws: ws.python(program)).stdout.decode())


def late_in_process(workspace: Workspace, case: Case) -> str:
    """By the very function that a program's calls are made with, kept until a later call of the same window."""
    kept: list[Context] = []
    told: list[str] = []

    async def seen(context: Context) -> None:
        kept.append(context)
        if len(kept) == 2:
            assert kept[0].invoke is not None
            end = await kept[0].invoke(case.name, case.input)
            told.append(end.refusal.reason if end.refusal else "")

    reply = [use("toolu_1", "python", program="print(1)"), use("toolu_2", "fine", n=0)]
    opened(workspace, lambda ws: ws.window(AGENT, reply), seen=seen)
    return told[0]


def by_command_line(workspace: Workspace, case: Case, env: dict[str, str] | None = None) -> str:
    block = {"name": case.name, "input": case.input} | ({"id": case.offered} if case.offered else {})
    return litany(
        "invoke", cwd=workspace.root, state=workspace.root, stdin=json.dumps(block), env=env
    ).stdout.removesuffix("\n")


def by_nested_tool(workspace: Workspace, case: Case) -> str:
    if case.late:
        ended = opened(workspace, lambda ws: ws.invoke("fine", {"n": 0}))
        return by_command_line(
            workspace, case, {"LITANY_TOOL_ID": ended.call.id, "LITANY_CONV_BRANCH": AGENT}
        )
    call = {"name": case.name, "input": light(case.input)} | ({"id": case.offered} if case.offered else {})
    end = opened(workspace, lambda ws: ws.invoke("nest", {"call": call}))
    return str(end.stdout.decode().removesuffix("\n"))


def by_routed_host(workspace: Workspace, case: Case) -> str:
    end = opened(workspace, lambda ws: ws.invoke(case.name, case.input, call_id=case.offered), routed=True)
    return end.refusal.reason if end.refusal else ""


ISSUERS = {
    "model": by_model,
    "program": by_program,
    "litany invoke": by_command_line,
    "nested tool": by_nested_tool,
    "host with a router": by_routed_host,
}


@dataclass(frozen=True)
class Seen:
    """What became of a call: the two halves of its record, None when it has none, and what the issuer was told."""

    asked: Any
    ended: Any
    told: str


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Seen]:
    @cache
    def workspace_of(issuer: str) -> Workspace:
        return make(tmp_path_factory.mktemp("w") / "w")

    @cache
    def call(issuer: str, name: str) -> Seen:
        workspace, case = workspace_of(issuer), CASES[name]
        if name == "asked about" and issuer == "model":  # a parked window takes no other call
            workspace = make(tmp_path_factory.mktemp("w") / "w")
        told = ISSUERS[issuer](workspace, case)
        steps = sorted((workspace.root / "steps" / AGENT).iterdir())
        inputs = [json.loads(path.read_text()) for path in steps[-1].glob("tools/*/input.json")]
        found = [each for each in inputs if (each["name"], each["input"]) == (case.name, case.input)]
        if not found:
            return Seen(None, None, told)
        (asked,) = found
        output = steps[-1] / "tools" / asked["id"] / "output.json"
        if name == "asked about" and issuer == "model":
            (question,) = Holds(workspace.root).questions()
            assert (question.id, question.gate, question.parked) == (asked["id"], case.row, True)
        return Seen(asked, json.loads(output.read_text()), told)

    return call


def shape(value: Any) -> Any:
    """The keys and types of a JSON value."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    return [shape(each) for each in value] if isinstance(value, list) else type(value).__name__


def comparable(reason: str) -> str:
    """A refusal without what is each issuer's own: what may be called, what is left, whose call it was."""
    return re.sub(r" Granted: .*|has used \d+|call '[^']*'", "", reason)


@pytest.mark.parametrize("issuer", ISSUERS)
@pytest.mark.parametrize("name", CASES)
def test_the_same_call_has_the_same_verdict_and_the_same_record_from_everyone(
    made: Callable[[str, str], Seen], name: str, issuer: str
) -> None:
    case, seen = CASES[name], made(issuer, name)
    applies = issuer in case.to
    first = next(each for each in ISSUERS if (each in case.to) == applies)
    like = made(first, name)
    if case.row == "id" and applies:
        assert (seen.asked, seen.ended) == (None, None)
        assert seen.told == like.told
        assert "no/id" in seen.told
        return
    asked, ended = seen.asked, seen.ended
    assert asked["parent"] is None if issuer in OUTER else asked["id"].startswith(asked["parent"] + "-")
    assert asked.get("given_id", "no/id") == "no/id"
    own = {"parent": "", "given_id": ""}
    assert shape(asked | own) == shape(like.asked | own)
    assert shape(ended) == shape(like.ended)
    for key in ("outcome", "exit_code", "stdout", "stderr", "data", "sizes"):
        assert ended[key] == like.ended[key], key
    refuses = case.row in {gate.name for gate in GATES} and applies
    assert (ended["refusal"] or {}).get("gate", "") == (case.row if refuses else ended_by(issuer, name))
    if refuses:
        assert comparable(ended["refusal"]["reason"]) == comparable(like.ended["refusal"]["reason"])
        assert comparable(ended["refusal"]["reason"]) == comparable(seen.told)
    elif case.row == "screens" and applies:
        assert (ended["outcome"], ended["stdout"]) == ("failed", "")
        assert "withheld by screen withhold: the host says no" in ended["stderr"]
    elif case.name == "fine":
        found = (ended["outcome"], ended["exit_code"], ended["stdout"], ended["stderr"])
        assert found == ("failed", 3, "out\n", "err\n")
    elif case.name == "python":
        assert (ended["outcome"], ended["stdout"]) == ("completed", "1\n")


def ended_by(issuer: str, name: str) -> str:
    """The gate of a call that the row does not apply to; a parked call is refused for now by the one that holds."""
    return "rules" if (issuer, name) == ("model", "asked about") else ""
