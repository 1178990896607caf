data = [1, 2, 3, 4, 5]
if (n := len(data)) > 3: print(n)
print([y for x in data if (y := x * 2) > 4], y)
while (data and (last := data.pop()) > 2): print(last)
def f(a, b=(c := 5)): return a + b
print(f(1), c)
print(f"{(z := 3)}", z)
