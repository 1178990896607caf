import functools, operator
print(functools.reduce(operator.add, [1, 2, 3]), functools.partial(pow, 2)(5), sorted([3, 1], key=functools.cmp_to_key(lambda a, b: a - b)))
@functools.total_ordering
class V:
    def __init__(self, v): self.v = v
    def __eq__(self, o): return self.v == o.v
    def __lt__(self, o): return self.v < o.v
print(V(1) <= V(2), V(3) > V(2), max(V(1), V(5)).v)
class C:
    @functools.cached_property
    def p(self): print("once"); return 3
    @functools.lru_cache
    def q(self, x): return x
    half = functools.partialmethod(lambda self, a, b: (a, b), 1)
c = C(); print(c.p, c.p, c.q(2), c.half(5))
@functools.singledispatch
def show(x): return f"obj {x}"
@show.register
def _(x: int): return f"int {x}"
@show.register(list)
def _(x): return f"list {len(x)}"
print(show(1), show([1]), show("s"), show.dispatch(bool)(True))
class D:
    @functools.singledispatchmethod
    def m(self, x): return "any"
    @m.register
    def _(self, x: str): return "str"
print(D().m(1), D().m("s"))
p = functools.partial(int, base=2); print(p("101"), p.func.__name__, p.args, p.keywords)
