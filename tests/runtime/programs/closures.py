def make():
    fs = []
    for i in range(3):
        def f(i=i): return i
        fs.append(f)
    return fs
print([f() for f in make()])
def counter():
    c = 0
    def inc(by=1): nonlocal c; c += by; return c
    def get(): return c
    return inc, get
inc, get = counter(); inc(); inc(5); print(get())
compose = lambda *fs: (lambda x: [x := f(x) for f in fs][-1])
print(compose(lambda v: v + 1, lambda v: v * 2)(3))
def outer():
    x = "o"
    class C:
        y = x
        def m(self): return x + self.y
    return C().m()
print(outer())
f = lambda: undefined_name
try: f()
except NameError as e: print(e)
def memo(fn, _cache={}):
    def w(n):
        if n not in _cache: _cache[n] = fn(n)
        return _cache[n]
    return w
print(memo(lambda n: n ** 2)(4))
f.calls = 3; f._private_count = 1; f._private_count += 1; print(f.calls, f._private_count)
