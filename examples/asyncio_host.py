"""A host under asyncio: its tools are tasks of its own event loop, and a time-out ends what it waits for.

    .venv/bin/python examples/asyncio_host.py
"""

import asyncio
import tempfile
from pathlib import Path

from litany_engine import init_workspace, open_workspace_asyncio, tool

PRICES: asyncio.Queue[float] = asyncio.Queue()


@tool
async def price(fruit: str) -> dict[str, float]:
    """Wait for the next price of a fruit."""
    return {fruit: await PRICES.get()}


PROGRAM = """
import litany_tools
for fruit in ("apple", "pear"):
    print(litany_tools.price(fruit=fruit).data, flush=True)
"""


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        init_workspace(Path(folder, "shop"), agent="buyer")
        async with open_workspace_asyncio(Path(folder, "shop"), tools=[price]) as ws:
            await PRICES.put(1.5)
            await PRICES.put(2.25)
            end = await ws.python(PROGRAM)
            print(end.stdout.decode(), end="")
            await PRICES.put(1.75)
            try:
                async with asyncio.timeout(3):
                    await ws.python(PROGRAM)
            except TimeoutError:
                print("no price of a pear; the program was ended")


if __name__ == "__main__":
    asyncio.run(main())
