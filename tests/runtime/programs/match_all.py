import dataclasses, enum
@dataclasses.dataclass
class Point: x: int; y: int
class Color(enum.Enum): RED = 1; GREEN = 2
class Plain:
    __match_args__ = ("a", "b")
    def __init__(self, a, b): self.a, self.b = a, b
def m(v):
    match v:
        case None | True | False: return f"single {v}"
        case 0 | 1: return "small"
        case -1.5: return "neg"
        case "a" "b": return "ab"
        case b"x": return "bytes"
        case Color.RED: return "red"
        case Color(): return f"color {v.name}"
        case Point(0, 0): return "origin"
        case Point(x=0, y=yy): return f"on y {yy}"
        case Point(x, y) if x == y: return f"diag {x}"
        case Point() as p: return f"point {p}"
        case Plain(a, b=bb): return f"plain {a} {bb}"
        case []: return "empty"
        case [x]: return f"one {x}"
        case [1, *rest]: return f"one then {rest}"
        case (a, b, *_, z): return f"{a} {b} .. {z}"
        case {"type": "t", "v": [x, y], **rest}: return f"map {x} {y} {rest}"
        case {"k": int(n)}: return f"int {n}"
        case {}: return "mapping"
        case str() as s: return f"str {s}"
        case int(n) | float(n): return f"num {n}"
        case list() | tuple(): return "seq"
        case _: return "other"
for v in [None, True, 0, -1.5, "ab", b"x", Color.RED, Color.GREEN, Point(0, 0), Point(0, 5), Point(3, 3), Point(1, 2), Plain(1, 2), [], [7], [1, 2, 3], (5, 6, 7, 8), {"type": "t", "v": [1, 2], "q": 9}, {"k": 5}, {"z": 1}, "str", 42, 2.5, set(), [2, 3]]:
    print(m(v))
def command(line):
    match line.split():
        case ["go", ("north" | "south") as d]: return d
        case ["pick", *objs] if objs: return objs
        case _: return None
print(command("go north"), command("pick a b"), command("x"))
import math
match 3.141592653589793:
    case math.pi: print("pi")
match {"a": {"b": [1, {"c": 2}]}}:
    case {"a": {"b": [_, {"c": deep}]}}: print(deep)
