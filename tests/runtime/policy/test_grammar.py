"""Programs from a grammar of accepted constructs mean here what they mean under CPython.

Each example is one program of several statements, run twice: by a plain interpreter and under the policy.
The grammar builds programs whose output shows what happened: every block prints, every exception is printed
by type. Loops are bounded by construction.
"""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policy_runner import PolicyRunner

PREAMBLE = """
import math, functools, operator, collections, itertools, dataclasses
class Box:
    total = 0
    def __init__(self, v=0): self.v = v; self._target = [v]; self._mine = {"k": v}
    def __repr__(self): return f"Box({self.v!r})"
    def __eq__(self, o): return isinstance(o, Box) and self.v == o.v
    def __hash__(self): return hash(self.v)
    def __add__(self, o): return Box(self.v + (o.v if isinstance(o, Box) else o))
    def __getitem__(self, i): return self._target[i % len(self._target)]
    def __setitem__(self, i, x): self._target[i % len(self._target)] = x
    def __iter__(self): yield from self._target
    def __len__(self): return len(self._target)
    def __enter__(self): print("in"); return self
    def __exit__(self, *a): print("out", a[0] and a[0].__name__); return self.v == 1
    @property
    def twice(self): return self.v * 2
    @classmethod
    def make(cls, v): return cls(v)
    def push(self, x): self._target.append(x); Box.total += 1; return self
def gen(n):
    for i in range(n):
        got = yield i
        if got: print("got", got)
def show(*a):
    try: print(*a)
    except Exception as e: print(type(e).__name__)
a, b, c = 1, [2, 3], Box(4)
d = {"x": 1, "y": [5]}
s = "text"
"""

names = st.sampled_from(["a", "b", "c", "d", "s", "e", "_p", "_q"])
attributes = st.sampled_from(
    ["v", "twice", "_target", "_mine", "_late", "real", "total", "__class__", "__doc__", "x"]
)
literals = st.sampled_from(
    [
        "0",
        "1",
        "-3",
        "2.5",
        "'q'",
        "''",
        "None",
        "True",
        "[1, 2]",
        "(3,)",
        "{'k': 1}",
        "{1, 2}",
        "b'z'",
        "...",
        "1j",
        "10 ** 20",
    ]
)
binary = st.sampled_from(
    ["+", "-", "*", "//", "%", "<", "==", "in", "is", "and", "or", "|", "&", "<<", "!=", "not in", "/", "**"]
)


def expressions() -> st.SearchStrategy[str]:
    def extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.tuples(inner, binary, inner).map(
                lambda t: f"({t[0]} {t[1]} {t[2]})" if t[1] not in {"**", "<<", "*"} else f"({t[0]} {t[1]} 2)"
            ),
            st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
            st.tuples(inner, attributes).map(lambda t: f"({t[0]}).{t[1]}"),
            st.tuples(inner, inner).map(lambda t: f"({t[0]})[{t[1]}]"),
            inner.map(lambda e: f"[*({e},), {e}]"),
            inner.map(lambda e: f"[z for z in ({e},) if z is not {e}]"),
            inner.map(lambda e: f"sorted({{str(z): z for z in [{e}]}})"),
            inner.map(lambda e: f"f'{{{e}!r:>5.20}} {{{e}}}'"),
            inner.map(lambda e: f"'{{}} {{0!r:.9}}'.format({e})" if "'" not in e else f"repr({e})"),
            inner.map(lambda e: f"str({e})[:20].upper()"),
            inner.map(lambda e: f"(lambda q, *r, k=2: (q, r, k))({e}, {e})"),
            inner.map(lambda e: f"(w := {e})"),
            inner.map(lambda e: f"Box({e})"),
            inner.map(lambda e: f"Box.make({e}).push({e})._target"),
            inner.map(lambda e: f"getattr({e}, 'v', 'none')"),
            inner.map(lambda e: f"type({e}).__name__"),
            inner.map(lambda e: f"isinstance({e}, (int, Box))"),
            inner.map(lambda e: f"hasattr({e}, '_target')"),
            inner.map(lambda e: f"list(map(lambda z: (z,), [{e}]))"),
            inner.map(lambda e: f"functools.reduce(operator.add, [[{e}], [1]])"),
            inner.map(lambda e: f"operator.attrgetter('v')({e})"),
            inner.map(lambda e: f"collections.Counter([{e!s}.__class__.__name__]).most_common(1)"),
            inner.map(lambda e: f"max([{e}, {e}], key=repr)"),
            inner.map(lambda e: f"next(iter([{e}]))"),
            inner.map(lambda e: f"len({e})"),
            inner.map(lambda e: f"math.floor({e})"),
            inner.map(lambda e: f"vars(Box({e}))"),
            inner.map(lambda e: f"(not {e})"),
        )

    return st.recursive(st.one_of(names, literals), extend, max_leaves=6)


targets = st.sampled_from(
    [
        "a",
        "e",
        "_p",
        "c.v",
        "c._late",
        "c._target",
        "b[0]",
        "d['x']",
        "d['n']",
        "c[0]",
        "a, e",
        "a, *e",
        "(a, _p), e",
        "[_q, a]",
        "c._mine['k']",
        "b[1:]",
    ]
)


def indent(block: str) -> str:
    return "\n".join("    " + line for line in block.splitlines())


def statements() -> st.SearchStrategy[str]:
    expression = expressions()
    simple = st.one_of(
        expression.map(lambda e: f"show({e})"),
        st.tuples(targets, expression).map(lambda t: f"{t[0]} = {t[1]}\nprint(a, c)"),
        st.tuples(
            st.sampled_from(["a", "c.v", "c._target", "b[0]", "d['x']", "c[0]", "c._mine['k']"]),
            st.sampled_from(["+=", "-=", "*=", "|=", "//="]),
            st.sampled_from(["1", "[1]", "'q'", "Box(1)", "2.0"]),
        ).map(lambda t: f"{t[0]} {t[1]} {t[2]}\nprint(a, b, c, d)"),
        expression.map(lambda e: f"assert {e}, 'no'"),
        expression.map(lambda e: f"raise ValueError({e})"),
        st.just("del c._late"),
        st.just("x: int = 3\nprint(x)"),
        st.just("pass"),
        expression.map(lambda e: f"print({e}, {e}, sep='-', end='.\\n')"),
    )

    def extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        block = st.lists(inner, min_size=1, max_size=3).map("\n".join)
        return st.one_of(
            st.tuples(expression, block, block).map(
                lambda t: f"if {t[0]}:\n{indent(t[1])}\nelse:\n{indent(t[2])}"
            ),
            st.tuples(block, block).map(
                lambda t: (
                    f"for i, (_p, *e) in enumerate([(1, 2), (3,)]):\n{indent(t[0])}\nelse:\n{indent(t[1])}"
                )
            ),
            block.map(lambda t: f"n = 2\nwhile n:\n    n -= 1\n    if n == 9: break\n{indent(t)}"),
            st.tuples(block, block).map(
                lambda t: (
                    f"try:\n{indent(t[0])}\nexcept (ValueError, TypeError) as err:\n    print('caught', type(err).__name__)\n{indent(t[1])}\nexcept Exception as err:\n    print('other', type(err).__name__, err.__context__ is None)\nelse:\n    print('else')\nfinally:\n    print('finally')"
                )
            ),
            block.map(lambda t: f"with Box(1) as w1, Box(2):\n{indent(t)}"),
            st.tuples(block, expression).map(
                lambda t: (
                    f"def f(p, /, q=1, *r, k=2, **o):\n    global a, e, b, c, d, w, _p, _q, n, x, i, w1, zz, err\n{indent(t[0])}\n    return {t[1]}\nshow(f(1, k=3))".replace(
                        "    x: int = 3", "    x = 3"
                    )
                )
            ),
            block.map(
                lambda t: (
                    f"class K(Box):\n    y = 1\n    def m(self):\n        return super().__len__()\n    print('body')\nshow(K(3).m(), K.y, K.__name__)\n{t}"
                )
            ),
            st.tuples(expression, block).map(
                lambda t: (
                    f"match {t[0]}:\n    case 0 | None:\n        print('zero')\n    case [m1, *_]:\n        print('seq', m1)\n    case {{'k': m2, **m3}}:\n        print('map', m2, m3)\n    case Box(v=m4) if m4:\n        print('box', m4)\n    case str() as m5:\n        print('str', m5)\n    case _:\n{indent(indent(t[1]))}"
                )
            ),
            block.map(lambda t: f"g = gen(3)\nshow(next(g), g.send('sent'), list(g))\n{t}"),
            block.map(
                lambda t: (
                    f"@functools.lru_cache\ndef cached(z): print('once'); return z\nshow(cached(1), cached(1))\n{t}"
                )
            ),
            block.map(
                lambda t: (
                    f"@dataclasses.dataclass(order=True)\nclass D:\n    p: int = 1\n    _q: list = dataclasses.field(default_factory=list)\nshow(D(), D(2) > D(1), dataclasses.asdict(D(5)))\n{t}"
                )
            ),
        )

    return st.recursive(simple, extend, max_leaves=5)


programs = st.lists(statements(), min_size=1, max_size=4).map(
    lambda parts: PREAMBLE + "\n".join(parts) + "\n"
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(source=programs)
def test_a_generated_program_means_the_same(source: str, policy: PolicyRunner, plain: PolicyRunner) -> None:
    try:
        compile(source, "program.py", "exec")
    except SyntaxError:  # a name that is global and annotated, say: no program
        return
    expected = plain.run(source)
    got = policy.run(source)
    assert not got.violations, got.violations
    assert (got.stdout, got.exit_code, got.exception) == (
        expected.stdout,
        expected.exit_code,
        expected.exception,
    )
