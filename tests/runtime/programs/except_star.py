import traceback
def show(e, d=0):
    if isinstance(e, BaseExceptionGroup):
        return f"{type(e).__name__}({e.message!r},[{','.join(show(x) for x in e.exceptions)}])"
    return repr(e)
def chain(e):
    return [show(e), e.__context__ and show(e.__context__), e.__cause__ and show(e.__cause__), e.__suppress_context__, [l.split(",")[1] for l in traceback.format_tb(e.__traceback__)]]
def run(make, *handlers):
    log = []
    try:
        try:
            raise make()
        except* ValueError as e:
            log.append(("V", show(e))); handlers[0](e)
        except* (TypeError, KeyError) as e:
            log.append(("T", show(e))); handlers[1](e)
        else: log.append("else")
        finally: log.append("finally")
    except BaseException as x:
        print(log, chain(x)); return
    print(log)
EG, BEG = ExceptionGroup, BaseExceptionGroup
def ok(e): pass
def new(e): raise RuntimeError("new")
def same(e): raise e
def frm(e): raise OSError("x") from e
groups = [
 lambda: EG("a", [ValueError(1)]), lambda: EG("a", [ValueError(1), TypeError(2)]),
 lambda: EG("a", [ValueError(1), EG("b", [ValueError(2), KeyError(3), OSError(4)]), OSError(5)]),
 lambda: ValueError(1), lambda: TypeError(1), lambda: OSError(1), lambda: BEG("a", [ValueError(1), KeyboardInterrupt()]), lambda: KeyboardInterrupt(),
 lambda: EG("a", [OSError(1)]),
]
for g in groups:
    for h1 in (ok, new, same, frm):
        for h2 in (ok, new, same):
            run(g, h1, h2)
def bare(make):
    try:
        try: raise make()
        except* ValueError: raise
        except* OSError as e: pass
    except BaseException as x: print("bare", chain(x))
for g in groups: bare(g)
def nested():
    try:
        try:
            raise EG("o", [ValueError(1), TypeError(2), KeyError(3)])
        except* ValueError as e:
            try: raise EG("i", [TypeError(4), OSError(5)])
            except* TypeError as f: print("inner", show(f), show(e))
    except* OSError as e: print("os", show(e), chain(e))
    except* TypeError: print("t")
    except* KeyError: print("k")
nested()
class MyEG(ExceptionGroup):
    def derive(self, excs): return MyEG(self.message, excs)
try: raise MyEG("m", [ValueError(1), TypeError(2)])
except* TypeError as e: print(type(e).__name__, show(e))
except* ValueError as e: print(type(e).__name__, show(e))
e = EG("n", [ValueError(1), TypeError(2)]); e.add_note("note")
try:
    try: raise e
    except* ValueError as v: print(v.__notes__)
except EG as r: print(show(r), r.__notes__, r is e)
for bad in (ExceptionGroup, 3, "x", (ValueError, ExceptionGroup), (ValueError, 3)):
    try:
        try: raise EG("z", [ValueError(1)])
        except* bad: print("no")
    except TypeError as t: print(t, show(t.__context__))
def gen():
    try: yield 1
    except* ValueError as e: yield show(e)
    finally: print("gen done")
g = gen(); next(g); print(g.throw(ValueError("thrown"))); g.close()
g = gen(); next(g); g.close()
class A:
    try: raise EG("c", [ValueError(9)])
    except* ValueError as e: x = show(e)
    y = 1
print(A.x, [n for n in vars(A) if "star" in n])
import asyncio
async def main():
    async def fail(x): raise x
    try:
        async with asyncio.TaskGroup() as tg:
            tg.create_task(fail(ValueError("a"))); tg.create_task(fail(TypeError("b")))
    except* ValueError as e: print("async", show(e))
    except* TypeError as e: print("async", show(e)); await asyncio.sleep(0)
asyncio.run(main())
try:
    for i in range(3):
        try: raise EG("l", [ValueError(i)])
        except* ValueError as e:
            for j in range(2):
                if j: break
            def f(): return 3
            print(i, f())
finally: print([n for n in globals() if "star" in n])
try: exec("try: pass\nexcept* ValueError: return")
except SyntaxError as e: print(e.msg)
try: exec("for i in ():\n try: pass\n except* ValueError: break")
except SyntaxError as e: print(e.msg)
exec("try: raise ValueError(5)\nexcept* ValueError as e: print(show(e))")
try: e
except NameError as n: print(n)
except AttributeError as n: print(n)
