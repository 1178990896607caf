import asyncio
async def f(x):
    await asyncio.sleep(0)
    return x * 2
print(await f(4))
results = await asyncio.gather(f(1), f(2))
print(results)
async with asyncio.Lock(): print("locked")
