class A:
    """doc"""
    x: int = 1
    def __init__(self): self.a = 1; self._b = 2
    def m(self, q: int = 3) -> str: "mdoc"
a = A(); print(vars(a), a.__dict__, sorted(k for k in vars(A) if not k.startswith("__")), A.__name__, A.m.__name__, A.m.__doc__, A.m.__annotations__, A.__annotations__, a.__class__.__name__, a.__class__ is A, A.__bases__, A.__mro__, callable(a.m), hasattr(a, "__dict__"), hasattr(a, "__len__"), isinstance(a, object), type(a).__name__, [n for n in dir(a) if not n.startswith("__")], A.__module__, a.m.__qualname__, str(A), "A object" in repr(a))
a.__dict__["dynamic"] = 5; a.__dict__.update(z=6); print(a.dynamic, a.z, "dynamic" in a.__dict__)
def f(a, b=2): "fd"
f.attr = 1; print(f.__name__, f.__doc__, f.__dict__, f.attr); f.__name__ = "g"; f.__doc__ = "new"; print(f.__name__, f.__doc__)
print(type(3).__name__, type(a) == A, (3).__class__, "".__class__, [].__class__.__name__, type(None).__name__, Exception("x").__class__.__name__)
for name in ("a", "_b", "nope"): print(getattr(a, name, "default"))
print({k: getattr(a, k) for k in ("a", "m") if not callable(getattr(a, k))}, id(a) == id(a))
