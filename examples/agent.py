"""A model's turns, answered: what it is offered, its replies, a window for each, until it has the last word.

    .venv/bin/python examples/agent.py

The model is a script here, so that this runs anywhere; a provider's client takes its place.
"""

import tempfile
from pathlib import Path
from typing import Any

import trio

from litany_engine import Traits, init_workspace, open_workspace, tool


@tool(traits=Traits(terminal=True))
def hand_in(text: str) -> str:
    """Hand in what was found out; the work is done then."""
    return f"handed in: {text}"


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
            await ws.say("Count the letters.", agent="a")
            while (await ws.advance("a")).due:
                reply = ask(ws.offered("a"), await ws.messages("a"))
                answers = await ws.window("a", reply, model="a-model")
                for result in answers.results:
                    print(f"{result.tool_use_id}: {result.text!r}")
            print(f"the last window: {answers.end}")


if __name__ == "__main__":
    trio.run(main)
