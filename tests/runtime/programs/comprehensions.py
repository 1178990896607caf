print([x for x in range(10) if x % 2 if x > 3], {x: x ** 2 for x in range(3)}, {c for c in "hello" if c not in "l"} == {"h", "e", "o"})
print([(i, j) for i in range(3) for j in range(i)], [[j for j in range(i)] for i in range(3)])
print([a + b for a, b in [(1, 2), (3, 4)]], [*(x for x in "ab")], dict((k, v) for k, v in [("a", 1)]))
x = "outer"; [x for x in range(3)]; print(x)
class C:
    n = 3
    sq = [i ** 2 for i in range(n)]
    print(sq)
print([f() for f in [lambda: i for i in range(3)]])
print({k: [v2 for v2 in v] for k, v in {"a": [1, 2]}.items()})
