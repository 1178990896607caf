import threading, queue, time
from concurrent.futures import ThreadPoolExecutor, as_completed, wait, Future
import concurrent.futures
n = 0; lock = threading.Lock()
def work(k):
    global n
    for _ in range(100):
        with lock: n += k
ts = [threading.Thread(target=work, args=(1,), name=f"t{i}") for i in range(3)]
for t in ts: t.start()
for t in ts: t.join()
print(n, ts[0].name, ts[0].is_alive(), threading.current_thread().name, threading.active_count())
q = queue.Queue()
class W(threading.Thread):
    def __init__(self, q): super().__init__(daemon=True); self._q = q; self._seen = []; self._jobs_done = 0
    def run(self):
        while (x := self._q.get()) is not None: self._seen.append(x); self._jobs_done += 1; self._q.task_done()
w = W(q); w.start(); [q.put(i) for i in range(3)]; q.join(); q.put(None); w.join(); print(w._seen, w._jobs_done)
with ThreadPoolExecutor(max_workers=3) as ex:
    print(list(ex.map(lambda x: x * x, range(4))), ex.submit(pow, 2, 5).result(), sorted(f.result() for f in as_completed([ex.submit(str, i) for i in range(3)])))
    f = ex.submit(lambda: 1 / 0)
    print(type(f.exception()).__name__, concurrent.futures.wait([f]).done == {f})
ev = threading.Event(); threading.Timer(0.001, ev.set).start(); print(ev.wait(5))
loc = threading.local(); loc.x = 1; loc._y = 2; print(loc.x + loc._y)
c = threading.Condition(); b = threading.Barrier(2); s = threading.Semaphore(2); r = threading.RLock()
with c: c.notify()
with r, r: print("rlock")
with s: print("sem")
try: queue.Queue().get_nowait()
except queue.Empty: print("empty")
pq = queue.PriorityQueue(); pq.put(2); pq.put(1); print(pq.get(), queue.LifoQueue(2).maxsize, queue.SimpleQueue().empty())
class LQ(queue.Queue):
    def _init(self, m): self.q = []
    def _put(self, x): self.q.insert(0, x)
    def _get(self): return self.q.pop()
    def _qsize(self): return len(self.q)
l = LQ(); l.put(1); l.put(2); print(l.get(), l.qsize())
