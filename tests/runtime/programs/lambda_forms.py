add = lambda a, /, b=2, *c, d=4, **e: (a, b, c, d, e)
print(add(1), add(1, 3, 5, d=6, x=7))
print((lambda: (yield))().send(None))
print(sorted([3, 1, 2], key=lambda v: -v))
