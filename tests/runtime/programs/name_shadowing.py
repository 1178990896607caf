list_ = list; type_ = type; id = 5; sum = lambda *a: "mine"; print(id, sum(1))
def f(type, input, open, format, str="s"): return type, input, open, format, str
print(f(1, 2, 3, 4))
class K: type = "t"; format = "f"; id = 3; print(type, format)
print(K.type, K().format)
math = "not the module"; print(math.upper())
def g():
    import math
    return math.floor(2.5)
print(g(), math)
def compile(x): return f"compiled {x}"
def exec(x): return "exec " + x
print(compile("a"), exec("b"))
eval = 3; globals = {"a": 1}; locals = [2]; print(eval, globals, locals)
def h(vars, dir): return vars + dir
print(h(1, 2)); print = print; print("still")
for dict in [1]: pass
input = "text"; obj = K(); parser = 3; gen = [1]; print(input, parser, gen, dict)
class HasNames:
    def __init__(self): self.obj = 1; self.parser = 2; self.gen = 3; self.opener = 4; self.mro = 5; self.format = lambda x: x; self.get_loop = 6
    def add_reader(self): return "r"
h = HasNames(); print(h.obj, h.parser, h.gen, h.opener, h.mro, h.format(7), h.get_loop, h.add_reader())
