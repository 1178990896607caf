from __future__ import annotations
import typing, os.path, collections
T = typing.Optional[int]
class A:
    x: typing.List[int] = []
    y: collections.abc.Sequence = ()
    def f(self, p: os.path.sep, q: typing.Any = None) -> typing.Dict[str, int]:
        local: typing.Set[int] = set()
        return {}
print(A.__annotations__, A.f.__annotations__, typing.get_type_hints(A)["x"])
async def g(*a: typing.Any, **k: typing.Tuple[int]) -> typing.Iterator[A]: yield 1
print(g.__annotations__)
