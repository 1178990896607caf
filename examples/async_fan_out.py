"""Calls that are awaited together are in flight together. Top-level `await` works.

    litany run examples/async_fan_out.py
"""

import asyncio
import time

from litany_tools import aio

started = time.monotonic()
async with asyncio.TaskGroup() as group:
    waits = [group.create_task(aio.bash(command=f"sleep 0.4; echo {number}")) for number in range(5)]
took = time.monotonic() - started

print("answers:", [int(wait.result().stdout) for wait in waits])
print("five calls of 0.4 s each took", "less than 1.5 s" if took < 1.5 else f"{took:.1f} s")
