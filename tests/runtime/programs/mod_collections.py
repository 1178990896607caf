from collections import Counter, defaultdict, deque, OrderedDict, ChainMap, UserDict, UserList, UserString
import collections, collections.abc
c = Counter("mississippi"); c.update("ss"); print(c.most_common(2), c["z"], sorted(c.elements())[:3], c + Counter("i"), c - Counter(s=9), sum(c.values()), c.total())
d = defaultdict(list); d["a"].append(1); print(d, d["b"], dict(d), defaultdict(lambda: defaultdict(int))["x"]["y"])
q = deque([1, 2, 3], maxlen=3); q.append(4); q.appendleft(0); q.rotate(1); print(q, q.pop(), q.popleft(), q.maxlen)
o = OrderedDict(a=1, b=2); o.move_to_end("a"); print(o, o.popitem(last=False))
print(ChainMap({"a": 1}, {"a": 2, "b": 3})["b"], isinstance([], collections.abc.Sequence), isinstance({}, collections.abc.Mapping))
class U(UserDict):
    def __setitem__(self, k, v): super().__setitem__(k, v * 2)
u = U(a=1); u["b"] = 2; print(u, u.data)
class L(UserList):
    def first(self): return self[0]
print(L([1, 2]).first(), UserString("{}").format(4), UserString("ab").upper())
