class V:
    def __init__(self, x, y): self.x, self.y = x, y
    def __add__(self, o): return V(self.x + o.x, self.y + o.y)
    def __sub__(self, o): return V(self.x - o.x, self.y - o.y)
    def __mul__(self, k): return V(self.x * k, self.y * k)
    __rmul__ = __mul__
    def __matmul__(self, o): return self.x * o.x + self.y * o.y
    def __neg__(self): return V(-self.x, -self.y)
    def __abs__(self): return (self.x ** 2 + self.y ** 2) ** 0.5
    def __eq__(self, o): return isinstance(o, V) and (self.x, self.y) == (o.x, o.y)
    def __hash__(self): return hash((self.x, self.y))
    def __bool__(self): return bool(self.x or self.y)
    def __iadd__(self, o): self.x += o.x; self.y += o.y; return self
    def __radd__(self, o): return self if o == 0 else NotImplemented
    def __lt__(self, o): return abs(self) < abs(o)
    def __repr__(self): return f"V({self.x}, {self.y})"
    def __round__(self, n=0): return V(round(self.x, n), round(self.y, n))
    def __divmod__(self, k): return (V(self.x // k, self.y // k), V(self.x % k, self.y % k))
    def __pow__(self, k, m=None): return pow(self.x, k, m)
    def __int__(self): return int(self.x)
    def __float__(self): return float(self.y)
    def __index__(self): return int(self.x)
    def __invert__(self): return "inv"
    def __and__(self, o): return "and"
    def __rshift__(self, o): return "rshift"
    def __format__(self, spec): return f"{self.x:{spec}}|{self.y:{spec}}"
a, b = V(1, 2), V(3, 4)
print(a + b, a - b, a * 3, 3 * a, a @ b, -a, abs(b), a == V(1, 2), a != b, len({a, V(1, 2)}), bool(V(0, 0)))
a += b; print(a, sum([V(1, 1), V(2, 2)]), sorted([V(3, 3), V(1, 1)]), max(a, b), round(V(1.26, 2.34), 1), divmod(V(7, 9), 4))
print(pow(a, 2, 7), int(a), float(a), [10, 20, 30, 40, 50][V(2, 0)], ~a, a & b, a >> b, f"{b:05.1f}", hex(V(255, 0)))
print(a.__add__(b), (5).__add__(6), "a".__len__(), [1].__contains__(1))
