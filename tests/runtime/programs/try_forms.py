def f(x):
    try:
        if x == 0: return "ret"
        if x == 1: raise KeyError("k")
        if x == 2: raise ValueError("v") from TypeError("cause")
        if x == 3: assert x == 4, "asserted"
    except KeyError as e: return ("key", e.args)
    except (ValueError, TypeError) as e: return ("val", repr(e), repr(e.__cause__), e.__suppress_context__)
    except AssertionError as e: return str(e)
    else: return "else"
    finally: print("finally", x)
for i in range(5): print(f(i))
def g():
    for i in range(3):
        try:
            if i == 1: continue
            if i == 2: break
            print(i)
        finally: print("f", i)
    else: print("no break")
g()
try:
    try: 1 / 0
    except ZeroDivisionError: raise RuntimeError("second")
except RuntimeError as e: print(repr(e.__context__), e.__cause__)
try: e
except NameError as err: print(err)
