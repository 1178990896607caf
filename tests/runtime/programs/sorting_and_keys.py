data = [{"n": "b", "v": 2}, {"n": "a", "v": 2}, {"n": "c", "v": 1}]
print(sorted(data, key=lambda d: (-d["v"], d["n"])), sorted("bAc", key=str.casefold), min(data, key=lambda d: d["v"])["n"], sorted([(1, "b"), (1, "a")]), sorted({3: 1, 1: 2}), list(reversed(sorted([3, 1, 2]))), sorted([True, False, 2]), sorted(["10", "9"], key=int))
data.sort(key=lambda d: d["n"], reverse=True); print([d["n"] for d in data])
try: sorted([1, "a"])
except TypeError as e: print(e)
class K:
    def __init__(self, v): self.v = v
    def __lt__(self, o): return self.v < o.v
print([k.v for k in sorted([K(3), K(1)])], max([K(1), K(4)], key=lambda k: k.v).v)
