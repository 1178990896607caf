type Pair[T] = tuple[T, T]
def first[T](x: list[T]) -> T: return x[0]
class Box[T: (int, str), *Ts, **P]:
    def __init__(self, v: T): self.v = v
    def get(self) -> T: return self.v
print(first([1]), Box(3).get(), Pair.__name__, f"{'nested ' + f"{'quotes'}"}", Box.__name__)
import itertools, typing
print(list(itertools.batched("abcde", 2)))
class C:
    @typing.override
    def f(self): return f"{"x"!r:>5}"
print(C().f(), [x for x in [1, 2] if (lambda: x)()])
