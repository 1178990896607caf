from __future__ import annotations
import dataclasses, typing
@dataclasses.dataclass
class Node:
    value: int
    next: Node | None = None
    kids: list[Node] = dataclasses.field(default_factory=list)
def f(x: Undefined, y: list[int] = None) -> Nope: return y
print(Node(1, Node(2)), f.__annotations__, typing.get_type_hints(Node)["value"], [f.type for f in dataclasses.fields(Node)])
