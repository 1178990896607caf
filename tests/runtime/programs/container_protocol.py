class Ring:
    def __init__(self, *items): self._items = list(items)
    def __len__(self): return len(self._items)
    def __getitem__(self, i):
        if isinstance(i, slice): return Ring(*self._items[i])
        return self._items[i % len(self._items)]
    def __setitem__(self, i, v): self._items[i % len(self._items)] = v
    def __delitem__(self, i): del self._items[i % len(self._items)]
    def __contains__(self, v): return v in self._items
    def __iter__(self): return iter(self._items)
    def __reversed__(self): return reversed(self._items)
    def __missing__(self, k): return k
    def __call__(self, *a): return ("called", a)
    def __str__(self): return "Ring" + str(self._items)
r = Ring(1, 2, 3)
r[4] = "x"; print(r[4], r[-1], len(r), 3 in r, list(r), list(reversed(r)), r(1, 2), str(r[1:]))
del r[0]; print(str(r), [*r])
class D(dict):
    def __missing__(self, k): self[k] = v = k * 2; return v
d = D(a=1); print(d["a"], d["bb"], d)
class Count:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n <= 0: raise StopIteration
        self.n -= 1; return self.n
print(list(Count(3)), next(Count(9)), next(Count(0), "none"), max(Count(4)))
