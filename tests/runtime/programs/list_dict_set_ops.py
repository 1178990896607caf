l = [3, 1, 2]; l.append(4); l.extend([5]); l.insert(0, 0); l.remove(3); l.pop(); l.sort(key=lambda x: -x); l.reverse(); print(l, l.index(2), l.count(1), l[-2:], l[::2], l.copy() is l, l + [9], l * 2, 4 in l, [1, 2] < [1, 3])
l[1:3] = ["a", "b", "c"]; del l[0]; print(l); l.clear(); print(l)
d = {"a": 1}; d["b"] = 2; d.update(c=3); d |= {"d": 4}; print(d, d.get("z"), d.get("z", 0), d.pop("a"), d.setdefault("e", []), list(d), list(d.values()), list(d.items()), "b" in d, {**d, "b": 9}, d | {"x": 0}, len(d), d.popitem(), dict(sorted(d.items(), reverse=True)), {v: k for k, v in d.items()}, max(d, key=d.get), list(reversed(d)))
del d["b"]; print(d)
s = {1, 2, 3}; t = {3, 4}; print(s | t, s & t, s - t, s ^ t, s <= {1, 2, 3, 4}, s.isdisjoint({9}), 1 in s, frozenset(s)); s.add(5); s.discard(1); s.remove(2); s |= {7}; s -= {7}; print(sorted(s))
try: {}["x"]
except KeyError as e: print(repr(e))
try: [][1]
except IndexError as e: print(e)
tup = (1, 2, 3); a, b, c = tup; a, b = b, a; print(a, b, tup.count(1), tup + (4,), tup[::-1], (1,), hash((1, 2)) == hash((1, 2)))
for k in list(d): d.pop(k)
print(d, not d, [] or "empty", [0] and "full", None or 0 or "x", 1 < 2 < 3, 1 if [] else 2)
