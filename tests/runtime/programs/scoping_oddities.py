x = 1
def f():
    try: print(x)
    except UnboundLocalError as e: print(type(e).__name__)
    x = 2
f()
class A:
    x = 5
    def g(self): return x
    y = [x for _ in range(2)]
print(A().g(), A.y)
def outer():
    v = 1
    def mid():
        nonlocal v
        v = 2
        def inner(): nonlocal v; v += 10
        inner()
    mid(); return v
print(outer())
try: del undefined
except NameError as e: print(e)
def gen():
    x = yield
    while True: x = yield x * 2
g = gen(); next(g); print(g.send(4))
if True: y2 = 3
print(y2); lam = [lambda n=n: n for n in range(2)]; print([l() for l in lam])
def default(a=[]): a.append(1); return a
print(default(), default())
