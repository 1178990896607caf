class A:
    def __init__(self, x): self.x = x
    def f(self): return ["A"]
class B(A):
    def __init__(self, x): A.__init__(self, x)
    def f(self): return ["B"] + A.f(self)
class C(A):
    def f(self): return ["C"] + super(C, self).f()
class D(B, C):
    def f(self): return ["D"] + super().f()
print(D(1).f(), D(2).x)
print([k.__name__ for k in D.__mro__], [k.__name__ for k in D.mro()], [k.__name__ for k in D.__bases__])
