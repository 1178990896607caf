import copy
class N:
    def __init__(self): self.l = [1]; self.me = self; self._p = 1
    def __repr__(self): return f"N({self.l})"
n = N(); s = copy.copy(n); d = copy.deepcopy(n); n.l.append(2); print(s, d, d.me is d, s.me is n, d._p)
class C:
    def __init__(self, v): self.v = v
    def __copy__(self): return C("copied")
    def __deepcopy__(self, memo): return C("deep")
print(copy.copy(C(1)).v, copy.deepcopy(C(1)).v, copy.deepcopy({"a": [1, {2}]}), copy.copy([1]), copy.deepcopy(lambda: 1)())
class St:
    def __init__(self): self.a = 1; self.b = 2
    def __getstate__(self): return {"a": self.a}
    def __setstate__(self, st): self.__dict__.update(st); self.b = "restored"
print(vars(copy.copy(St())))
