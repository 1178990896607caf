"""The same call, whoever makes it: the same verdict, and a record of the same shape.

Every issuer makes every case in a workspace of its own with the same configuration; what is compared is read
from the records on disk.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import trio

from cli_kit import litany
from litany_engine import open_workspace
from litany_engine.api import OpenWorkspace
from litany_engine.door.calls import Capture, Context, ToolCall
from litany_engine.door.gates import GATES
from litany_engine.workspaces.workspace import Workspace
from window_kit import AGENT, make_workspace, use

CONFIG = """
[tools]
descriptors = ["tools"]

[roles.default]
grant = ["python", "fine", "denied", "judged", "heavy", "nest"]

[control]
command = ["./control.py"]

[budgets]
agent_bytes_in = "20000 B"
agent_calls = 100

[[rules]]
action = "deny"
tool = "denied"
reason = "the operator says no"
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

# The case, the call, and the gate that refuses it; "" for one that runs.
CASES: dict[str, tuple[str, Any, str]] = {
    "unknown": ("nothing_of_that_name", {}, "grant"),
    "ungranted": ("read_file", {"path": "x"}, "grant"),
    "bad input": ("fine", {"n": "x"}, "schema"),
    "unknown argument": ("fine", {"m": 1}, "schema"),
    "denied": ("denied", {}, "rules"),
    "judged": ("judged", {"n": 1}, "control"),
    "too heavy": ("heavy", {"text": "x" * HEAVY}, "budget"),
    "runs": ("fine", {"n": 1}, ""),
}

ELSEWHERE = {
    "id": "who may offer an id is another question; tests/engine/test_attackers.py has the ids",
    "authority": "only a call inside another can come too late; test_attackers.py",
    "depth": "only a call inside another can be too deep; test_attackers.py",
    "availability": "a state is set in a process, and not all issuers are in one; test_registry.py",
}


def test_every_gate_is_compared_here_or_tested_elsewhere() -> None:
    compared = {gate for _, _, gate in CASES.values()} - {""}
    assert compared | ELSEWHERE.keys() == {gate.name for gate in GATES}


def make(root: Path) -> Workspace:
    make_workspace(root, CONFIG)
    (root / "tools").mkdir()
    for name in ("fine", "denied", "judged", "heavy", "nest"):
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


def opened(workspace: Workspace, work: Callable[[OpenWorkspace], Any], *, routed: bool = False) -> None:
    async def main() -> None:
        found: list[OpenWorkspace] = []

        async def router(call: ToolCall, context: Context) -> Capture:
            return await found[0].perform(call, context)

        async with open_workspace(workspace, router=router if routed else None) as ws:
            found.append(ws)
            await work(ws)

    trio.run(main)


def light(arguments: Any) -> Any:
    """The arguments as they stand inside the input of another call, which is not to be refused for its weight."""
    return json.loads(json.dumps(arguments).replace("x" * HEAVY, "HEAVY"))


def by_model(workspace: Workspace, name: str, arguments: Any) -> None:
    opened(workspace, lambda ws: ws.window(AGENT, [use("toolu_1", name, **arguments)]))


def by_program(workspace: Workspace, name: str, arguments: Any) -> None:
    written = repr(light(arguments)).replace("HEAVY", "' + 'x' * 30_000 + '")
    program = f"import litany_tools\nlitany_tools.invoke({name!r}, {written})"
    opened(workspace, lambda ws: ws.python(program))


def by_command_line(workspace: Workspace, name: str, arguments: Any) -> None:
    block = json.dumps({"name": name, "input": arguments})
    litany("invoke", cwd=workspace.root, state=workspace.root, stdin=block)


def by_nested_tool(workspace: Workspace, name: str, arguments: Any) -> None:
    call = {"name": name, "input": light(arguments)}
    opened(workspace, lambda ws: ws.invoke("nest", {"call": call}))


def by_routed_host(workspace: Workspace, name: str, arguments: Any) -> None:
    opened(workspace, lambda ws: ws.invoke(name, arguments), routed=True)


ISSUERS = {
    "model": by_model,
    "program": by_program,
    "litany invoke": by_command_line,
    "nested tool": by_nested_tool,
    "host with a router": by_routed_host,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], tuple[Any, Any]]:
    @cache
    def workspace_of(issuer: str) -> Workspace:
        return make(tmp_path_factory.mktemp("w") / "w")

    @cache
    def call(issuer: str, case: str) -> tuple[Any, Any]:
        """The two halves of the record that an issuer's call left."""
        workspace = workspace_of(issuer)
        name, arguments, _ = CASES[case]
        ISSUERS[issuer](workspace, name, arguments)
        steps = sorted((workspace.root / "steps" / AGENT).iterdir())
        inputs = [json.loads(path.read_text()) for path in steps[-1].glob("tools/*/input.json")]
        (asked,) = [each for each in inputs if (each["name"], each["input"]) == (name, arguments)]
        return asked, json.loads((steps[-1] / "tools" / asked["id"] / "output.json").read_text())

    return call


@pytest.mark.parametrize("issuer", ISSUERS)
@pytest.mark.parametrize("case", CASES)
def test_the_same_call_has_the_same_verdict_and_the_same_record_from_everyone(
    made: Callable[[str, str], tuple[Any, Any]], case: str, issuer: str
) -> None:
    asked, ended = made(issuer, case)
    asked_by_model, ended_by_model = made("model", case)
    assert asked.keys() == asked_by_model.keys()
    assert ended.keys() == ended_by_model.keys()
    assert (asked["parent"] is None) == (issuer in {"model", "litany invoke", "host with a router"})
    gate = CASES[case][2]
    assert (ended["refusal"] or {}).get("gate", "") == gate
    for key in ("outcome", "exit_code", "stdout", "stderr", "data", "sizes"):
        assert ended[key] == ended_by_model[key], key
    if gate:
        # What may be called is told to each as it is for him: a program may not call `python`.
        shown, as_model = (
            re.sub(r" Granted: .*|has used \d+", "", each["refusal"]["reason"])
            for each in (ended, ended_by_model)
        )
        assert shown == as_model
    else:
        assert (ended["outcome"], ended["exit_code"], ended["stdout"], ended["stderr"]) == (
            "failed",
            3,
            "out\n",
            "err\n",
        )
