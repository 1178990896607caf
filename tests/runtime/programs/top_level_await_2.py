import asyncio
async def ticks():
    for i in range(3): yield i
async for t in ticks(): print(t)
q = asyncio.Queue()
async def worker(name):
    while True:
        item = await q.get()
        if item is None: q.task_done(); return
        print(name, item); q.task_done()
task = asyncio.create_task(worker("w"))
for i in range(3): q.put_nowait(i)
q.put_nowait(None)
await q.join(); await task
loop = asyncio.get_running_loop()
print(loop.is_running(), await loop.run_in_executor(None, lambda: 5), await asyncio.to_thread(sum, [1, 2]))
sem = asyncio.Semaphore(2); ev = asyncio.Event(); ev.set(); await ev.wait()
async with sem: print("sem")
raise LookupError("async end")
