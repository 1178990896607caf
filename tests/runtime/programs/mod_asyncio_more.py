import asyncio
async def producer(q, n):
    for i in range(n): await q.put(i)
    await q.put(None)
async def consumer(q):
    out = []
    while (x := await q.get()) is not None: out.append(x)
    return out
async def fail(): raise ValueError("boom")
async def main():
    q = asyncio.Queue(2)
    _, got = await asyncio.gather(producer(q, 5), consumer(q)); print(got)
    pq = asyncio.PriorityQueue(); pq.put_nowait((2, "b")); pq.put_nowait((1, "a")); print(await pq.get(), pq.qsize())
    t = asyncio.create_task(asyncio.sleep(10), name="sleeper"); print(t.get_name(), t.done()); await asyncio.sleep(0); t.cancel()
    try: await t
    except asyncio.CancelledError: print("cancelled", t.cancelled())
    done, pending = await asyncio.wait([asyncio.create_task(asyncio.sleep(0, i)) for i in range(2)]); print(len(done), len(pending))
    for c in asyncio.as_completed([asyncio.sleep(0.001, "x")]): print(await c)
    try:
        async with asyncio.TaskGroup() as tg: tg.create_task(fail()); tg.create_task(asyncio.sleep(5))
    except ExceptionGroup as g: print(g.exceptions)
    lock, cond = asyncio.Lock(), asyncio.Condition()
    async with lock, cond: cond.notify_all(); print(lock.locked())
    fut = asyncio.get_running_loop().create_future(); asyncio.get_running_loop().call_soon(fut.set_result, 9); print(await fut)
    fut2 = asyncio.Future(); fut2.add_done_callback(lambda f: print("cb", f.result())); fut2.set_result(1); await asyncio.sleep(0)
    print(await asyncio.shield(asyncio.sleep(0, "s")), asyncio.iscoroutinefunction(main), asyncio.current_task().get_name() != "", len(asyncio.all_tasks()))
    asyncio.get_running_loop().call_later(0.001, print, "later"); await asyncio.sleep(0.01)
    try: await fail()
    except ValueError as e: print(e)
    async with asyncio.timeout(None) as cm: cm.reschedule(None); print(cm.expired())
    b = asyncio.Barrier(1); await b.wait(); s = asyncio.BoundedSemaphore(1); await s.acquire(); s.release()
    return 1
print(asyncio.run(main()))
with asyncio.Runner() as r: print(r.run(asyncio.sleep(0, "runner")))
loop = asyncio.new_event_loop(); print(loop.run_until_complete(asyncio.sleep(0, 5)), loop.time() > 0); loop.close()
class Prio(asyncio.Queue):
    def _init(self, maxsize): self._items = []
    def _put(self, item): self._items.append(item)
    def _get(self): return self._items.pop()
    def qsize(self): return len(self._items)
async def stackq():
    q = Prio(); q.put_nowait(1); q.put_nowait(2); return await q.get()
print(asyncio.run(stackq()))
