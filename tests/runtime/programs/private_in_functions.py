class Node:
    def __init__(self, v): self._target = v; self._args = [v]; self._kwargs = {}; self._loop_count = 0
    def bump(self, other):
        self._target += other._target; other._args[0] = self._target; self._args.append(1); del self._kwargs
        return [n._target for n in (self, other)], (lambda: self._target)(), {n._target: n._args for n in [self]}, max((n for n in [self, other]), key=lambda n: n._target)._target
    def gen(self):
        yield self._target
        for a in self._args: yield a
    async def co(self): return self._target
    def defaults(self, d=None, e=[x._target for x in []]): return (d or self)._target
    @property
    def t(self): return self._target
    @t.setter
    def t(self, v): self._target = v
a, b = Node(1), Node(2)
print(a.bump(b), list(b.gen()), a.defaults(), a.t); a.t = 9; print(a._target, b._args, hasattr(a, "_kwargs"))
import asyncio; print(asyncio.run(a.co()))
def f(x, y):
    def g(): nonlocal x; x = y; return x._target
    return x._target, g(), x._target
print(f(a, b))
global_node = a
def h(): return global_node._target, Node(5)._target, [Node(6)][0]._target, global_node._args[-1]
print(h()); global_node._target, global_node._args = 7, [8]; print(h()[0], global_node._args)
class Frozen(Exception):
    def __init__(self, m): super().__init__(m); self._target = m
try: raise Frozen("q")
except Frozen as e: print(e._target)
def w(n: Node, k=a._target): return k + n._target
print(w(a))
