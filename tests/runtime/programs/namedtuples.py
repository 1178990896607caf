from collections import namedtuple
from typing import NamedTuple
P = namedtuple("P", "x y z", defaults=[0])
p = P(1, 2)
print(p, p._replace(x=5), p._asdict(), P._fields, P._make([7, 8, 9]), p.x + p[1], *p, P._field_defaults)
class Emp(NamedTuple):
    """An employee."""
    name: str
    id: int = 3
    def label(self): return f"{self.name}#{self.id}"
e = Emp("Al"); print(e, e.label(), e == ("Al", 3), Emp.__doc__, e._asdict(), e._replace(id=4))
a, b = e; print(a, b)
class Sub(namedtuple("Base", "v")):
    __slots__ = ()
    def __new__(cls, v): return super().__new__(cls, v * 2)
    @property
    def double(self): return self.v * 2
print(Sub(4), Sub(4).double)
try: p.x = 3
except AttributeError as e: print(type(e).__name__)
