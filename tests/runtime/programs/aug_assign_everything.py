class Box:
    def __init__(self): self.n = 1; self._cache = {}; self.items = [1, 2]
b = Box()
b.n += 2; b.n *= 5; b.n **= 2; b.n //= 7; b.n -= 1; b.n %= 13; b.n <<= 3; b.n >>= 1; b.n |= 1; b.n &= 0xFF; b.n ^= 6
b._cache["k"] = 1
b._cache["k"] += 1
b.items[0] += 10
b.items[1:] += [3]
b.items += [4]
print(b.n, b._cache, b.items)
m = [[0] * 3 for _ in range(2)]
m[1][2] += 5
m[-1][0] -= 1
print(m)
