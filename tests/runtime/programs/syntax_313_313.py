import copy, random, warnings
class A[T = int]: pass
print(A.__name__)
@warnings.deprecated("old")
def f(): return 1
with warnings.catch_warnings():
    warnings.simplefilter("ignore"); print(f())
class R:
    def __init__(self, v): self.v = v
    def __replace__(self, **k): return R(k["v"])
print(copy.replace(R(1), v=2).v)
