import types
ns = types.SimpleNamespace(a=1, _hidden=2); ns.b = 3; print(ns, vars(ns), ns._hidden)
mp = types.MappingProxyType({"a": 1}); print(mp["a"], dict(mp))
try: mp["b"] = 1
except TypeError as e: print(e)
class C: pass
c = C(); c.m = types.MethodType(lambda self, x: (self is c, x), c); print(c.m(3), isinstance(len, types.BuiltinFunctionType), isinstance(lambda: 0, types.FunctionType), isinstance((i for i in ()), types.GeneratorType), isinstance(types, types.ModuleType), types.NoneType is type(None), type(types) is types.ModuleType, int | str, type(int | str) is types.UnionType)
