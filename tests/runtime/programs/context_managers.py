class CM:
    def __init__(self, name, swallow=False): self.name, self.swallow = name, swallow
    def __enter__(self): print("enter", self.name); return self.name
    def __exit__(self, kind, value, tb): print("exit", self.name, kind.__name__ if kind else None, value); return self.swallow
with CM("a") as a, CM("b") as b: print(a, b)
with CM("c", True): raise ValueError("swallowed")
try:
    with (CM("d") as d, CM("e")): 1 / 0
except ZeroDivisionError as e: print("out", e)
from contextlib import contextmanager, suppress, ExitStack, closing, nullcontext, redirect_stdout
@contextmanager
def managed(x):
    print("before"); 
    try: yield x * 2
    finally: print("after")
with managed(4) as v: print(v)
with suppress(KeyError): {}["x"]
with ExitStack() as stack:
    print([stack.enter_context(managed(i)) for i in range(2)])
    stack.callback(print, "callback")
with nullcontext(5) as n: print(n)
import io
buf = io.StringIO()
with redirect_stdout(buf): print("captured")
print(repr(buf.getvalue()))
with CM("t") as (x): print(x)
