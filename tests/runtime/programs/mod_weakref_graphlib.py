import weakref, graphlib
class O:
    def m(self): return 1
    def __repr__(self): return "O"
o = O(); r = weakref.ref(o); print(r() is o, weakref.getweakrefcount(o)); p = weakref.proxy(o); print(p.m()); d = weakref.WeakValueDictionary(a=o); k = weakref.WeakKeyDictionary({o: 1}); print(len(d), len(k), weakref.WeakMethod(o.m)()())
f = weakref.finalize(o, print, "finalized"); del o, p; print(r(), len(d), f.alive)
print(list(graphlib.TopologicalSorter({"c": {"b"}, "b": {"a"}}).static_order()))
try: list(graphlib.TopologicalSorter({"a": {"b"}, "b": {"a"}}).static_order())
except graphlib.CycleError as e: print(e.args[0])
