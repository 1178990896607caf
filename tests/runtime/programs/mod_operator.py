import operator as op
from operator import itemgetter, attrgetter, methodcaller
class P:
    def __init__(self, n, a): self.n, self.a, self._k, self.sub = n, a, a, self
    def grow(self, by): return self.a + by
    def format(self): return "fmt"
ps = [P("b", 2), P("a", 1)]
print([p.n for p in sorted(ps, key=attrgetter("a"))], [p.n for p in sorted(ps, key=attrgetter("n", "a"))], itemgetter(1)([5, 6]), itemgetter("a", "b")({"a": 1, "b": 2}), methodcaller("grow", 3)(ps[0]), methodcaller("format")(ps[0]), attrgetter("sub.sub.n")(ps[0]), attrgetter("_k")(ps[0]), methodcaller("upper")("x"), op.mul(3, 4), op.contains([1], 1), op.getitem([1, 2], 0), op.truth([]), op.neg(1), op.concat([1], [2]), methodcaller("format", 5)("<{}>"))
try: attrgetter("zz")(ps[0])
except AttributeError as e: print(e)
