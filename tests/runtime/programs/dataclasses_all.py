from dataclasses import dataclass, field, asdict, astuple, replace, fields, is_dataclass, KW_ONLY, InitVar
from typing import ClassVar
@dataclass(order=True, frozen=True)
class P:
    x: int
    y: int = 0
    tags: tuple = field(default_factory=tuple, compare=False, repr=False)
p = P(1, 2)
print(p, p == P(1, 2), p < P(2), hash(p) == hash(P(1, 2)), asdict(p), astuple(p), replace(p, y=9), [f.name for f in fields(P)], is_dataclass(P))
try: p.x = 3
except Exception as e: print(type(e).__name__, e)
@dataclass
class Base:
    a: int
    _private: int = 5
    kind: ClassVar[str] = "k"
    _: KW_ONLY
    b: list = field(default_factory=list)
    scale: InitVar[int] = 1
    def __post_init__(self, scale): self.a *= scale
@dataclass
class Child(Base):
    c: str = "c"
print(Base(2, scale=3), Child(1, b=[1], c="z"), Base.kind)
@dataclass(slots=True, eq=False)
class S:
    v: int = 1
    _w: int = 2
    def total(self): return self.v + self._w
s = S(); print(s, s.total())
try: s.other = 1
except AttributeError as e: print(type(e).__name__)
@dataclass
class Tree:
    value: int
    left: "Tree | None" = None
    right: "Tree | None" = None
    def depth(self): return 1 + max((t.depth() for t in (self.left, self.right) if t), default=0)
print(Tree(1, Tree(2, Tree(3))).depth(), Tree(1))
try: Base()
except TypeError as e: print(e)
@dataclass(frozen=True)
class F:
    v: int
    def __post_init__(self): object.__setattr__(self, "v", self.v * 2)
print(F(4))
match p:
    case P(x, y): print(x, y)
