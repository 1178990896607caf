import asyncio
class ACM:
    async def __aenter__(self): print("aenter"); return 1
    async def __aexit__(self, *a): print("aexit"); return False
class AIter:
    def __init__(self): self.n = 0
    def __aiter__(self): return self
    async def __anext__(self):
        self.n += 1
        if self.n > 3: raise StopAsyncIteration
        return self.n
class Aw:
    def __await__(self):
        yield from asyncio.sleep(0).__await__()
        return "awaited"
async def agen(n):
    for i in range(n):
        yield i
        await asyncio.sleep(0)
async def main():
    async with ACM() as a, ACM(): print(a)
    async for x in AIter(): print(x)
    else: print("else")
    print([x async for x in agen(3)], {x: 1 async for x in agen(2)}, [await asyncio.sleep(0, v) for v in (1, 2)])
    print(await Aw())
    print(await asyncio.gather(*(asyncio.sleep(0.001, i) for i in range(3))))
    async with asyncio.TaskGroup() as tg:
        t1 = tg.create_task(asyncio.sleep(0, "t1")); t2 = tg.create_task(asyncio.sleep(0, "t2"))
    print(t1.result(), t2.result())
    try:
        async with asyncio.timeout(0.01): await asyncio.sleep(5)
    except TimeoutError: print("timeout")
    try: await asyncio.wait_for(asyncio.sleep(5), 0.01)
    except asyncio.TimeoutError: print("wait_for timeout")
    g = agen(3); print(await g.__anext__(), await anext(g)); await g.aclose()
    r = await asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0, 2), return_exceptions=True); print(r)
    return "end"
print(asyncio.run(main()))
