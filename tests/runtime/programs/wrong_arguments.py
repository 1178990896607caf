import sys, operator, dataclasses
@dataclasses.dataclass
class D: a: int = 1; b: str = "x"
print(hasattr(D(), "__dataclass_fields__"), list(D.__dataclass_fields__), list(getattr(D(), "__dataclass_fields__", {})), D(2).__dataclass_fields__["a"].name, getattr(3, "__dataclass_fields__", None))
for w in (lambda: getattr(), lambda: getattr(1), lambda: getattr(1, 2), lambda: getattr(1, "a", 2, 3), lambda: getattr(1, name="a"), lambda: setattr(), lambda: setattr(1, "a"), lambda: setattr(1, 2, 3), lambda: delattr(1), lambda: delattr(1, 2), lambda: hasattr(1), lambda: hasattr(1, 2), lambda: vars(1), lambda: vars(1, 2), lambda: operator.attrgetter(x=1), lambda: operator.attrgetter(), lambda: operator.attrgetter(1), lambda: operator.attrgetter("a", x=1), lambda: operator.methodcaller(), lambda: operator.methodcaller(1), lambda: operator.attrgetter("_x")(3), lambda: operator.attrgetter("_x")(), lambda: operator.attrgetter("_x")(1, 2), lambda: operator.methodcaller("_x")(), lambda: type(), lambda: type(1, 2), lambda: eval("1", 2), lambda: eval(1), lambda: exec(1), lambda: setattr(object(), "a", 1), lambda: getattr(object(), "nope"), lambda: type("A", (), {}, x=1)):
    try: print("no error", w())
    except Exception as e: print(type(e).__name__, e)
