class Meta0: pass
class A:
    x = 1
    class Inner:
        v = 2
        def m(self): return "inner"
    def __init_things(self): return "mangled"
    def call(self): return self.__init_things()
    @classmethod
    def create(cls, **kw):
        o = cls()
        for k, v in kw.items(): setattr(o, k, v)
        return o
    def __enter__(self): return self
    def __exit__(self, *a): pass
    def __sizeof__(self): return 100
print(A.Inner.v, A.Inner().m(), A().call(), A.create(p=1, q=2).q, A.x, A().x)
A.x = 5; A.new = lambda self: "patched"; print(A().x, A().new())
a = A(); a.x = 9; print(a.x, A.x); del a.x; print(a.x)
B = A; print(B is A, B().call())
def method(self): return "late"
A.late = method; print(A().late(), a.late())
class Mixin:
    def hi(self): return f"hi {self.name}"
class Named(Mixin, A):
    name = "n"
print(Named().hi(), Named.__mro__[1].__name__)
class WithHash:
    __hash__ = None
    def __eq__(self, o): return True
try: {WithHash()}
except TypeError as e: print(e)
print(type(a).__name__, a.__class__ is A, type(a) is A, isinstance(a, (int, A)))
class Chain:
    def __init__(self): self.ops = []
    def __getattr__(self, n):
        def f(*a): self.ops.append((n, a)); return self
        return f
print(Chain().select("x").where(1).ops)
