class Positive:
    def __init__(self, name): self.name = "_" + name
    def __get__(self, obj, owner=None):
        if obj is None: return self
        return getattr(obj, self.name, 0)
    def __set__(self, obj, value):
        if value < 0: raise ValueError(f"{self.name[1:]} must be >= 0")
        setattr(obj, self.name, value)
    def __delete__(self, obj): delattr(obj, self.name)
class Item:
    price = Positive("price"); qty = Positive("qty")
    def __init__(self, p, q): self.price, self.qty = p, q
i = Item(3, 4); print(i.price * i.qty, vars(i)); del i.price; print(i.price)
try: i.qty = -1
except ValueError as e: print(e)
class cached:
    def __init__(self, fn): self.fn = fn
    def __get__(self, obj, owner): v = self.fn(obj); obj.__dict__[self.fn.__name__] = v; return v
class C:
    @cached
    def heavy(self): print("computing"); return 42
c = C(); print(c.heavy, c.heavy)
