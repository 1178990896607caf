import pprint, reprlib
pprint.pprint({"b": [1, 2], "a": {"x": "y" * 60, "z": list(range(30))}}, width=60); print(pprint.pformat([1, [2]], indent=2), reprlib.repr(list(range(100)))); pprint.pp({"z": 1, "a": 2})
class R:
    @reprlib.recursive_repr()
    def __repr__(self): return f"<{self!r}>" if False else "<R>"
print(R())
