import abc, threading, copy, dataclasses, typing, enum, collections
from abc import ABCMeta, abstractmethod
class Shape(metaclass=ABCMeta):
    @abstractmethod
    def area(self): ...
try: Shape()
except TypeError as e: print("abstract")
class Sq(Shape):
    def __init__(self, s): self.s = s
    def area(self): return self.s ** 2
print(Sq(3).area(), isinstance(Sq(1), Shape), type(Shape), type(Shape) is ABCMeta, isinstance(Shape, ABCMeta), isinstance(Sq, type), issubclass(ABCMeta, type))
class X(metaclass=abc.ABCMeta): pass
class Y(metaclass=type): z = 1
print(Y.z, ABCMeta("Z", (), {"q": 1}).q, ABCMeta("W", (), {}).__name__)
class Plugin:
    registry = {}
    def __init_subclass__(cls, /, key=None, **kw):
        super().__init_subclass__(**kw)
        cls._key = key
        Plugin.registry[key or cls.__name__.lower()] = cls
class A(Plugin, key="a"): pass
class B(Plugin): pass
class C(A): pass
print(sorted(Plugin.registry), A._key, C._key, Plugin.registry["a"] is A)
class Base:
    @classmethod
    def __init_subclass__(cls): print("sub", cls.__name__)
class D(Base): pass
try:
    class Bad(Base, x=1): pass
except TypeError as e: print("TypeError")
class Mixed(Plugin, typing.Generic[typing.TypeVar("T")]): pass
print(sorted(Plugin.registry))
class Field:
    def __set_name__(self, owner, name):
        self.name = name; self._attr = "_" + name
        print("named", owner.__name__, name)
    def __get__(self, obj, cls=None):
        if obj is None: return self
        return obj.__dict__.get(self._attr)
    def __set__(self, obj, value): obj.__dict__[self._attr] = value
class M:
    x = Field(); y = Field()
m = M(); m.x = 3; print(m.x, m.y, M.x.name)
class Positive(Field):
    def __set_name__(self, owner, name):
        super().__set_name__(owner, name)
        print("positive", name)
class N: p = Positive()
f = Field()
print(hasattr(f, "__set_name__"))
f.__set_name__(M, "later"); M.later = f; M.later; print(f.name)
class Fails:
    def __set_name__(self, owner, name): raise ValueError("bad name")
try:
    class O: q = Fails()
except Exception as e: print(type(e).__name__, e, e.__cause__, getattr(e, "__notes__", None))
class R:
    def __init__(self, n): self.n = n
    def __del__(self): print("deleted", self.n)
r = R(1); del r
def scope(): r2 = R(2); return 5
scope()
lst = [R(3)]; lst.clear()
class Table:
    __tablename__ = "users"
    __table_args__ = {"schema": "x"}
    __abstract__ = True
    def __custom__(self): return "custom"
print(Table.__tablename__, Table().__tablename__, getattr(Table, "__tablename__"), Table().__custom__(), hasattr(Table, "__nope__"), vars(Table)["__tablename__"])
t = Table(); t.__mark__ = 4; print(t.__mark__, copy.copy(t).__mark__); setattr(t, "__other__", 5); print(vars(t)); del t.__other__
class Worker(threading.Thread):
    def run(self):
        print("run", self._target is not None, self._args, self._kwargs)
        if self._target: self.result = self._target(*self._args, **self._kwargs)
w = Worker(target=lambda a, b=1: a + b, args=(2,), kwargs={"b": 3}); w.start(); w.join(); print(w.result)
class Named:
    __name__ = "named"
print(Named().__name__, Named.__name__)
P = collections.namedtuple("P", "a b"); print(P(1, 2).__getnewargs__())
@dataclasses.dataclass
class DC: a: int = 1
print(hasattr(DC(), "__dataclass_fields__"), hasattr(3, "__dataclass_fields__"))
T1 = type("T1", (), {"x": 1, "f": lambda self: self.x, "_p": 2})
print(T1, T1().f(), T1()._p, T1.__name__, T1.__module__, T1.__qualname__)
T2 = type("T2", (T1,), dict(y=5, __init__=lambda self, v: setattr(self, "v", v), __repr__=lambda self: f"T2({self.v})"))
print(T2(7), T2.__mro__[1] is T1, issubclass(T2, T1), type(T2(1)) is T2)
print(type("E", (Exception,), {})("boom"), type("P2", (Plugin,), {}, key="dyn")._key, type("S", (), {"__slots__": ("a",)}).__slots__, type("Gen", (M,), {"z": Field()}).z.name)
def make(name, **attrs): return type(name, (object,), attrs)
print(make("Q", a=1).a, type(make("Q2")).__name__)
class Meta2(type("Dyn", (), {"base": True})): pass
print(Meta2.base)
def __helper__(x): return x * 2
__config__ = {"a": 1}
print(__helper__(4), __config__)
for bad in (lambda: type("A", (), []), lambda: type(1, (), {}), lambda: type("A", [], {}), lambda: type(), lambda: type("A", ()), lambda: type("A", (1,), {}), lambda: type("A", (bool,), {})):
    try: bad()
    except TypeError as e: print("TypeError")
keep = R(9)
print("end")
