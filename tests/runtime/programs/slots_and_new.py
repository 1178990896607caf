class Pt:
    __slots__ = ("x", "y", "_z")
    def __init__(self, x, y): self.x, self.y, self._z = x, y, 3
p = Pt(1, 2); print(p.x, p._z, Pt.__slots__)
try: p.w = 1
except AttributeError: print("no dict")
class Singleton:
    _instance = None
    def __new__(cls, *a):
        if cls._instance is None: cls._instance = super().__new__(cls)
        return cls._instance
print(Singleton() is Singleton())
class Meter(float):
    def __new__(cls, v): return super().__new__(cls, v * 2)
    def __repr__(self): return f"{float(self)}m"
print(Meter(2), Meter(2) + 1)
class UpperStr(str):
    def __new__(cls, v): return str.__new__(cls, v.upper())
print(UpperStr("abc"), UpperStr("a{}").format(3), len(UpperStr("xy")))
class L(list):
    def total(self): return sum(self)
l = L([1, 2]); l.append(3); print(l.total(), l, L.__name__)
