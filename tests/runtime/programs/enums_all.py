from enum import Enum, IntEnum, Flag, auto, unique, StrEnum
class Color(Enum):
    RED = 1
    GREEN = "g"
    ALIAS = 1
    def describe(self): return f"{self.name}={self.value}"
    @property
    def upper(self): return self.name.upper()
    @classmethod
    def default(cls): return cls.RED
print(list(Color), Color.RED, repr(Color.RED), Color("g"), Color["RED"], Color.ALIAS is Color.RED, Color.RED.describe(), Color.GREEN.upper, Color.default(), len(Color), Color.RED in Color)
print([c.value for c in Color], Color.__members__["ALIAS"], {Color.RED: 1}[Color.RED], isinstance(Color.RED, Color), Color.RED.name)
class Num(IntEnum): ONE = 1; TWO = 2
print(Num.ONE + 1, Num.TWO > Num.ONE, sorted(Num), f"{Num.ONE}", Num.TWO == 2, [10, 20, 30][Num.ONE])
class Perm(Flag): R = auto(); W = auto(); X = auto(); RW = R | W
print(Perm.R | Perm.X, Perm.RW, Perm.R in Perm.RW, ~Perm.R, bool(Perm.R & Perm.W))
class S(StrEnum): A = auto(); B = "bee"
print(S.A, S.B == "bee", S.A.upper(), f"{S.B:>5}")
class Auto(Enum):
    @staticmethod
    def _generate_next_value_(name, start, count, last): return name.lower()
    X = auto(); Y = auto()
print([a.value for a in Auto])
class Planet(Enum):
    EARTH = (1, 2)
    def __init__(self, m, r): self.m, self.r = m, r
    @property
    def g(self): return self.m / self.r
print(Planet.EARTH.g, Planet.EARTH.value)
class M(Enum):
    A = 1
    @classmethod
    def _missing_(cls, value): return cls.A
print(M("zzz"))
try: Color(99)
except ValueError as e: print(e)
try:
    @unique
    class U(Enum): A = 1; B = 1
except ValueError as e: print(e)
E2 = Enum("E2", "P Q R"); print(list(E2)); print(Enum("E3", {"A": 5}).A.value)
