a, *b, c = range(6)
print(a, b, c)
(d, (e, *f)), g = (1, (2, 3, 4)), 5
print(d, e, f, g)
print(*b, sep="-")
print([*b, *"xy"], {*b}, {**{"p": 1}, "q": 2}, (*b, 1))
def h(*args, k=0, **kw): return args, k, kw
print(h(*b, *[9], k=1, **{"z": 3}))
*front, last = "hello"
print(front, last)
for i, *rest in [(1, 2, 3), (4,)]: print(i, rest)
