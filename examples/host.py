"""A host of your own: a `@tool` function, a workspace, a program that uses both.

    .venv/bin/python examples/host.py
"""

import tempfile
from pathlib import Path
from typing import Literal

import trio

from litany_engine import Capture, ToolContext, init_workspace, open_workspace, tool

STOCK = {"apple": 3, "pear": 0, "plum": 12}


@tool
def stock(fruit: Literal["apple", "pear", "plum"]) -> dict[str, int]:
    """How much there is of a fruit.

    Args:
        fruit: its name.
    """
    return {"count": STOCK[fruit]}


@tool
async def order(fruit: str, count: int, context: ToolContext) -> Capture:
    """Order a fruit; at most ten at a time."""
    if count > 10:
        return Capture(stderr=f"{count} is more than ten\n".encode(), exit_code=2)
    context.report(f"ordering {count} of {fruit}", 0.5)
    await trio.sleep(0.01)
    return Capture(stdout=f"ordered {count} of {fruit} for {context.agent}\n".encode(), data={"ordered": count})


PROGRAM = """
import litany_tools

for fruit in ("apple", "pear", "plum"):
    count = litany_tools.stock(fruit=fruit).data["count"]
    if count < 5:
        result = litany_tools.order(fruit=fruit, count=12 - count)
        if not result.ok:
            print(f"{fruit}: {result.stderr.strip()}; ordering ten")
            result = litany_tools.order(fruit=fruit, count=10).check()
        print(result.stdout, end="")
"""


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        init_workspace(Path(folder, "shop"), agent="buyer")
        async with open_workspace(Path(folder, "shop"), tools=[stock, order]) as ws:
            end = await ws.python(PROGRAM, deadline="10s")
            print(end.stdout.decode(), end="")
            print(end.stderr.decode(), end="")
            print(f"{end.outcome}, {len(end.calls)} calls:")
            for call in end.calls:
                print(f"  {call.id} {call.name}: {call.outcome}")


if __name__ == "__main__":
    trio.run(main)
