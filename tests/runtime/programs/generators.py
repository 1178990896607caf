def count(n):
    i = 0
    while i < n:
        got = yield i
        if got: i = got
        i += 1
    return "done"
g = count(5)
print(next(g), g.send(2), list(g))
def deleg():
    r = yield from count(2)
    yield r
print(list(deleg()))
def closing():
    try: yield 1
    except GeneratorExit: print("closed"); raise
    finally: print("fin")
c = closing(); next(c); c.close()
def thrown():
    try: yield
    except ValueError as e: yield f"caught {e}"
t = thrown(); next(t); print(t.throw(ValueError("v")))
print(sum(x * x for x in range(10)), list(zip(range(3), (c for c in "abc"))))
def flat(t):
    for x in t:
        if isinstance(x, list): yield from flat(x)
        else: yield x
print(list(flat([1, [2, [3, [4]]]])))
def fib():
    a, b = 0, 1
    while True: yield a; a, b = b, a + b
from itertools import islice
print(list(islice(fib(), 15)))
try: next(g)
except StopIteration as s: print(s.value)
