"""A model's turns, answered: what it is offered, its replies, a window for each, until it has the last word.

    .venv/bin/python examples/agent.py

The model is a script here, so that this runs anywhere; a provider's client takes its place.
"""

import tempfile
from pathlib import Path
from typing import Any

import trio

from litany_engine import OpenWorkspace, Traits, init_workspace, open_workspace, tool
from litany_stubs.describe import describe


@tool(traits=Traits(terminal=True))
def hand_in(text: str) -> str:
    """Hand in what was found out; the work is done then."""
    return f"handed in: {text}"


def offered(ws: OpenWorkspace, agent: str) -> list[dict[str, Any]]:
    """What the model may call; of `python`, with all that its programs may call in turn."""
    toolset = ws.toolset(agent)
    tools = []
    for each in toolset.all_permitted(inner=False):
        told = each.declaration.description
        if each.composes:
            told += "\n\n" + describe(toolset.declarations(), budget_chars=8000)
        schema = each.declaration.input_schema
        tools.append({"name": each.declaration.name, "description": told, "input_schema": schema})
    return tools


PROGRAM = """
import litany_tools
for path, text in (("one.txt", "1"), ("two.txt", "22")):
    open(path, "w").write(text)
results = litany_tools.fan_out("read_file", [{"path": "one.txt"}, {"path": "two.txt"}])
print(sum(len(result.stdout) for result in results), "letters")
"""

REPLIES: list[list[dict[str, Any]]] = [
    [
        {"type": "text", "text": "I write two files and count their letters."},
        {"type": "tool_use", "id": "toolu_1", "name": "python", "input": {"program": PROGRAM}},
        {"type": "tool_use", "id": "toolu_2", "name": "bash", "input": {"command": "cat *.txt"}},
    ],
    [{"type": "tool_use", "id": "toolu_3", "name": "hand_in", "input": {"text": "three letters"}}],
]


def ask(tools: list[dict[str, Any]], messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The provider: the blocks of the model's next reply."""
    assert {"python", "hand_in"} <= {each["name"] for each in tools}
    return REPLIES[sum(message["role"] == "assistant" for message in messages)]


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        init_workspace(Path(folder, "work"), agent="a")
        async with open_workspace(Path(folder, "work"), tools=[hand_in]) as ws:
            messages: list[dict[str, Any]] = [{"role": "user", "content": "Count the letters."}]
            while True:
                reply = ask(offered(ws, "a"), messages)
                answers = await ws.window("a", reply, model="a-model")
                results = [result.block() for result in answers.results]
                messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": results}]
                for result in answers.results:
                    print(f"{result.tool_use_id}: {result.text!r}")
                if answers.end != "completed" or not answers.results:
                    break  # finished, stopped, held for the operator; or the model has called nothing
            print(f"the last window: {answers.end}")


if __name__ == "__main__":
    trio.run(main)
