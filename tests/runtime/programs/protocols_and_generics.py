from typing import Protocol, runtime_checkable, Generic, TypeVar, Optional, Union, Callable, overload, cast, get_type_hints, get_args, get_origin, Literal, TypedDict, Any, Final, Annotated, NewType
T = TypeVar("T")
K = TypeVar("K", bound=int)
class Stack(Generic[T]):
    def __init__(self) -> None: self._items: list[T] = []; self._hidden_thing = 1
    def push(self, x: T) -> None: self._items.append(x)
    def pop(self) -> T: return self._items.pop()
    def __len__(self) -> int: return len(self._items)
s: Stack[int] = Stack(); s.push(1); s.push(2); print(s.pop(), len(s), Stack[int]().pop.__name__)
@runtime_checkable
class Speaks(Protocol):
    def speak(self) -> str: ...
class Duck:
    def speak(self): return "q"
print(isinstance(Duck(), Speaks), isinstance(3, Speaks))
class TD(TypedDict, total=False):
    a: int
    b: str
t: TD = {"a": 1}; print(t, TD.__total__, sorted(TD.__optional_keys__))
def f(x: Optional[int], y: "Union[str, None]" = None) -> "list[dict[str, int]]": ...
print(get_type_hints(f), get_args(dict[str, int]), get_origin(list[int]), get_args(Literal["a", 1]), get_origin(Optional[int]) is Union)
UserId = NewType("UserId", int); print(UserId(5), cast(str, 3), Annotated[int, "meta"].__metadata__)
@overload
def g(x: int) -> int: ...
@overload
def g(x: str) -> str: ...
def g(x): return x
print(g(3), list[int], dict[str, list[int]], int | None, Callable[[int], str])
x: Final = 3
print(isinstance(3, int | str), isinstance("", (int, list)))
