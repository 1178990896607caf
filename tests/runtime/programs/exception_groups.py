try: raise ExceptionGroup("g", [ValueError(1), TypeError("t"), ExceptionGroup("inner", [KeyError("k")])])
except ExceptionGroup as g:
    a, b = g.split(ValueError)
    print(g.message, len(g.exceptions), a.exceptions, [type(x).__name__ for x in b.exceptions], g.subgroup(KeyError).exceptions)
raise ExceptionGroup("end", [OSError("o")])
