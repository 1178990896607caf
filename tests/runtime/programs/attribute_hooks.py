class Dyn:
    def __init__(self): self.real = 1
    def __getattr__(self, name):
        if name.startswith("dyn_"): return name[4:]
        raise AttributeError(f"no {name}")
    def __setattr__(self, name, value): print("set", name); super().__setattr__(name, value)
    def __delattr__(self, name): print("del", name); super().__delattr__(name)
    def __dir__(self): return ["a", "b"]
d = Dyn(); print(d.dyn_x, d.real, hasattr(d, "zip"), dir(d)); d.v = 2; del d.v
try: d.nope
except AttributeError as e: print(e)
class Immutable:
    __slots__ = ("_v",)
    def __init__(self, v): object.__setattr__(self, "_v", v)
    def __setattr__(self, *a): raise AttributeError("immutable")
    @property
    def v(self): return self._v
i = Immutable(3); print(i.v)
try: i.v2 = 1
except AttributeError as e: print(e)
class Attr(dict):
    def __getattr__(self, k):
        try: return self[k]
        except KeyError: raise AttributeError(k) from None
    def __setattr__(self, k, v): self[k] = v
a = Attr(x=1); a.y = 2; print(a.x, a.y, a, getattr(a, "zz", "def"))
print(getattr(d, "real"), getattr(d, "missing", None), setattr(d, "q", 5), d.q, delattr(d, "q"))
