import functools
def trace(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        print("call", fn.__name__, args, kwargs)
        return fn(*args, **kwargs)
    return wrapper
def repeat(n):
    def deco(fn):
        def w(*a): return [fn(*a) for _ in range(n)]
        w.__name__ = fn.__name__
        return w
    return deco
@trace
@repeat(2)
def hello(x):
    "Greets."
    return x * 2
print(hello(3), hello.__name__, hello.__wrapped__.__name__)
def add_repr(cls):
    cls.__repr__ = lambda self: f"<{type(self).__name__} {vars(self)}>"
    return cls
@add_repr
class P:
    def __init__(self): self.v = 1
print(P())
