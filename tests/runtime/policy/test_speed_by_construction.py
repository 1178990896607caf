"""Ordinary code compiles to CPython's own bytecode: no wrapper, so no cost."""

from __future__ import annotations

import types

import pytest

from litany_runtime.policy import state
from litany_runtime.policy.constants import GUARDS
from litany_runtime.policy.source import _translate

ORDINARY = {
    "attributes": "def f(o, p):\n    o.x = p.y.z\n    o.x += 1\n    del o.q\n    return o.m(p.n)(1).k",
    "items": "def f(a, i):\n    a[i] = a[i + 1]\n    a[i][0] += 2\n    a[1:2] = a[::2]\n    del a[i]\n    return a[i, 1]",
    "iteration": "def f(xs):\n    for a, (b, *c) in xs:\n        yield from c\n    return [x for x in xs if x], {k: v for k, v in xs}, (y for y in xs)",
    "unpacking": "def f(t):\n    a, *b = t\n    (c, d), e = a\n    return f(*b, **e), [*a], {**d}",
    "classes": "class A(B, k=1):\n    x: int = 1\n    def __init__(self, y):\n        self.y = y\n        self._items = []\n        self.__z = 2\n        super().__init__()\n    @property\n    def p(self): return self._items\n    def __add__(self, o): return self.y + o.y",
    "private names of the program": "def f(self):\n    self._mine_alone = self._another_of_mine\n    self._mine_alone += 1\n    return self._name, self._value.x",
    "calls": "print('a', sep='')\nx = len([1])\nf = g(*a, **b)\nsorted(x, key=lambda v: v.k)",
    "strings": "s = f'{x!r:>{w}} {y.z[0]}'\nt = '{} {a:>4}'.format(1, a=2)\nu = '%s' % x\n','.join(x).split()",
    "async": "async def f(a):\n    async with a as b:\n        async for c in b: await c.d\n    return [x async for x in a]",
    "match": "match x:\n    case A(y=1, z=B.C): pass\n    case [1, *r]: pass\n    case {'k': v, **q}: pass\n    case str(s) if s: pass",
    "exceptions": "try:\n    raise ValueError('x') from e\nexcept (A, B) as e:\n    print(e.args)\nelse: pass\nfinally: pass",
    "with": "with open('x') as f, g() as (a, b): f.read()",
    "globals": "def f():\n    global a\n    a = 1\n    def g():\n        nonlocal_ = a\n        return nonlocal_\n    return g",
    "dunders": "x.__name__\nf.__doc__ = ''\nsuper().__init__()\na.__add__(b)",
}


def flat(code: types.CodeType) -> list[object]:
    """Everything about a code object that decides what it does and how fast."""
    parts: list[object] = [code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_flags]
    constants = [c for c in code.co_consts if c is not GUARDS]
    parts += [flat(c) if isinstance(c, types.CodeType) else repr(c) for c in constants]
    return parts


def translate(source: str, private: frozenset[str]) -> types.CodeType:
    code, found = _translate(source.encode(), "program.py", private, ())
    assert code is not None, found
    return code


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_code_is_left_alone(name: str) -> None:
    assert state.prepared is None, "a test process does not prepare"
    import ast

    ours = translate(ORDINARY[name], frozenset({"_target", "_flavour"}))
    theirs = compile(
        ORDINARY[name], "program.py", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
    )
    assert flat(ours) == flat(theirs)


def test_a_private_name_of_a_library_is_looked_at() -> None:
    code = translate("def f(o): return o._target", frozenset({"_target"}))
    inner = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    assert "own" in inner.co_names


def test_a_librarys_name_is_read_in_one_step() -> None:
    code = translate("import math, os.path\ndef f(x): return math.sqrt(x), os.path.join(x)", frozenset())
    inner = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    assert set(inner.co_names) == {"name_math_sqrt", "name_os_path_join"}


@pytest.mark.parametrize(
    "source",
    [
        "def f(x): return math.sqrt(x)\nimport math",  # used before the import
        "import math\nmath = 3\ndef f(x): return math.sqrt(x)",  # another meaning
        "import math\ndef f(math): return math.sqrt(1)",
        "import math\ndef f(x):\n    for math in x: pass\n    return math.sqrt(1)",
        "import math\nif x: import cmath as math\ndef f(x): return math.sqrt(x)",
        "if x: import math\ndef f(x): return math.sqrt(x)",
        "import math\nfrom litany_tools import *\ndef f(x): return math.sqrt(x)",
        "import sys\ndef f(x): return sys.stdout",  # a stream may be replaced
        "import math\ndel math\ndef f(x): return math.sqrt(x)",
    ],
)
def test_a_name_with_another_meaning_is_not(source: str) -> None:
    code = translate(source, frozenset())
    inner = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    assert not any(name.startswith("name_") for name in inner.co_names)
