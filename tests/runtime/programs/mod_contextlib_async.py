import contextlib, asyncio
@contextlib.asynccontextmanager
async def acm(x):
    print("in"); yield x; print("out")
class Res:
    async def aclose(self): print("aclosed")
    def close(self): print("closed")
async def main():
    async with acm(3) as v: print(v)
    async with contextlib.AsyncExitStack() as s: await s.enter_async_context(acm(4)); s.push_async_callback(asyncio.sleep, 0)
    async with contextlib.aclosing(Res()): pass
asyncio.run(main())
with contextlib.closing(Res()): pass
class D(contextlib.ContextDecorator):
    def __enter__(self): print("D in"); return self
    def __exit__(self, *a): print("D out"); return False
@D()
def f(): print("body")
f()
@contextlib.contextmanager
def cm():
    try: yield
    except ValueError: print("handled")
with cm(): raise ValueError
import sys, io
with contextlib.redirect_stderr(io.StringIO()) as e: print("x", file=sys.stderr)
print(repr(e.getvalue()))
with contextlib.chdir("."): pass
with contextlib.suppress(ZeroDivisionError, KeyError): 1 / 0
