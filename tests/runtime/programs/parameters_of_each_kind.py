def f(a, b=2, /, c=3, *args, d, e=5, **kw):
    return (a, b, c, args, d, e, kw)
print(f(1, d=4))
print(f(1, 2, 3, 4, 5, d=6, z=7))
try: f(a=1, d=2)
except TypeError as e: print(type(e).__name__)
def g(*, only): return only
print(g(only=1))
