for i in range(3):
    for j in range(3):
        if j == 2: break
        if i == j: continue
        print(i, j)
    else: print("never")
else: print("done")
n = 5
while n:
    n -= 1
    if n == 2: break
else: print("no")
print(n, "even" if n % 2 == 0 else "odd"); assert n == 2, "msg"
for (a, b), c in [((1, 2), 3)]: print(a, b, c)
for x in (y := [1, 2]): pass
print(x, y); pass; ...
if not []: print("empty")
elif 1: print("never")
else: print("never")
try:
    assert False, {"detail": 1}
except AssertionError as e: print(e.args)
del n
try: n
except NameError: print("gone")
global_list = []
def g(x, acc=global_list): acc.append(x); return acc
g(1); print(g(2))
print([1, 2, 3][1:][0], "abc"[-1], {"a": {"b": 1}}["a"]["b"], (1, 2)[0], [[1]][0][0], not True, ~5, -+-3, 2 ** 3 ** 2, 5 // 2 * 2, 1 | 2 ^ 3 & 1, 1 << 4 >> 2, 3 != 4 is not None)
