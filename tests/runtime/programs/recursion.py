import functools, sys
sys.setrecursionlimit(5000)
def fact(n): return 1 if n < 2 else n * fact(n - 1)
print(fact(20), len(str(fact(900))))
@functools.lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(90), fib.cache_info().hits)
@functools.cache
def c(n): return n * 2
print(c(2), c(2), c.cache_info())
def hanoi(n, a="A", b="B", c="C"): return 0 if n == 0 else hanoi(n - 1, a, c, b) + 1 + hanoi(n - 1, c, b, a)
print(hanoi(8))
def deep(n): return deep(n + 1)
try: deep(0)
except RecursionError as e: print("RecursionError")
def perms(s): return [s] if len(s) <= 1 else [c + p for i, c in enumerate(s) for p in perms(s[:i] + s[i + 1:])]
print(perms("abc"))
