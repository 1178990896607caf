"""The module's doc."""
def f():
    """Doc of f."""
class C:
    """Doc of C."""
    def m(self): "Doc of m."
print(__doc__, f.__doc__, C.__doc__, C.m.__doc__, C().m.__doc__, C.m.__qualname__, f.__name__, f.__module__)
