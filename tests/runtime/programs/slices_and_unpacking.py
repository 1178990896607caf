l = list(range(10)); l[2:5] = []; l[::2] = [0] * len(l[::2]); del l[-2:]; print(l, l[slice(1, 3)], l[-1:], "hello"[::-1], l[5:1:-1], (1, 2, 3)[:-1])
class S:
    def __getitem__(self, k): return k
s = S(); print(s[1], s[1:2], s[::3], s[1, 2], s[1:2, ..., None], s[()], s["a"])
a = b = [1]; a += [2]; print(b); i, l2 = 0, [0, 0]; i, l2[i] = 1, 9; print(l2, i)
(x, y), z = [1, 2], 3; [p, q] = "ab"; print(x, y, z, p, q)
d = {}; d["a"], d["b"] = 1, 2; print(d); h, (*t, u) = 1, "xyz"; print(h, t, u)
try: a, b = [1]
except ValueError as e: print(e)
try: a, *b, c = [1]
except ValueError as e: print(e)
for k, (v, w) in {"a": (1, 2)}.items(): print(k, v, w)
print(*map(lambda kv: kv[0] * kv[1], {"a": 2}.items()), [*range(3)][-1], {**{}}, [[*r] for r in zip(*[[1, 2], [3, 4]])])
