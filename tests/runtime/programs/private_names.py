class Account:
    _registry = {}
    __secret = "s"
    def __init__(self, n): self._n = n; self.__pin = 1234; self._dirty_flag = False; Account._registry[n] = self; self._target = 1; self._args = (2,)
    def check(self, pin): return pin == self.__pin and Account.__secret == "s"
    def _helper(self): return self._target + self._args[0]
    def run(self): return self._helper()
def _module_helper(x): return x + 1
_CONST = 5; _ = 9
a = Account("n"); print(a.check(1234), a.run(), _module_helper(_CONST), _, list(Account._registry), hasattr(a, "_Account__pin"))
a._late = 7; print(a._late); del a._late; a._dirty_flag |= True; print(a._dirty_flag, vars(a)["_n"])
for _ in range(2): pass
print(_)
def _f(_a, __b=2): return _a + __b
print(_f(1), _f(1, __b=5), a.__dict__["_Account__pin"])
def outer(o): return o._target
print(outer(a), [o._args for o in [a]], (lambda q: q._target)(a), Account("z")._target)
