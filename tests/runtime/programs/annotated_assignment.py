x: int = 3
y: "list[str]" = []
class A:
    z: float = 1.5
    w: int
print(x, y, A.z, sorted(A.__annotations__))
def f(a: int, *, b: "str" = "q") -> None:
    local: dict[str, int] = {"a": a}
    print(local, b)
f(1)
