from abc import ABC, abstractmethod
class Shape(ABC):
    def __init__(self, name): self._name = name
    @abstractmethod
    def area(self): ...
    @property
    @abstractmethod
    def sides(self): ...
    def describe(self): return f"{self._name}: {self.area():.2f} {self.sides}"
class Sq(Shape):
    def __init__(self, s): super().__init__("sq"); self._side = s
    def area(self): return self._side ** 2
    @property
    def sides(self): return 4
print(Sq(3).describe())
try: Shape("x")
except TypeError as e: print("abstract", sorted(Shape.__abstractmethods__))
@Shape.register
class Other: pass
print(isinstance(Other(), Shape), issubclass(Other, Shape))
from collections.abc import Sequence, MutableMapping, Iterator
class Seq(Sequence):
    def __init__(self, d): self._d = d
    def __len__(self): return len(self._d)
    def __getitem__(self, i): return self._d[i]
s = Seq([1, 2, 3, 2]); print(s.index(2), s.count(2), 3 in s, list(reversed(s)))
class LowerDict(MutableMapping):
    def __init__(self, **k): self._store = {}; self.update(k)
    def __getitem__(self, k): return self._store[k.lower()]
    def __setitem__(self, k, v): self._store[k.lower()] = v
    def __delitem__(self, k): del self._store[k.lower()]
    def __iter__(self): return iter(self._store)
    def __len__(self): return len(self._store)
d = LowerDict(A=1); d["B"] = 2; print(dict(d), d.pop("a"), d.get("zz", 0), "B" in d, d.setdefault("c", 5))
