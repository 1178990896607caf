"""`except*` on every Python version: CPython's meaning (`programs/except_star.py`), whatever a group answers."""

from __future__ import annotations

import pytest

from litany_runtime.policy import check
from policy_attacks import PREAMBLE
from policy_runner import PolicyRunner

HOSTILE = {
    # what `split` or another method does → how the statement ends
    "no pair": ("split = lambda self, wanted: 5", "TypeError"),
    "one": ("split = lambda self, wanted: (self,)", "TypeError"),
    "a list": ("split = lambda self, wanted: [self, None]", "TypeError"),
    "a dict": ("split = lambda self, wanted: {0: self, 1: None}", "TypeError"),
    "no exceptions": ("split = lambda self, wanted: (7, 8)", "TypeError"),
    "a class": ("split = lambda self, wanted: (ValueError, None)", "TypeError"),
    "nothing": ("split = lambda self, wanted: (None, None)", "none"),
    "more than a pair": ("split = lambda self, wanted: (None, self, 3)", "ExceptionGroup"),
    "another's": ("split = lambda self, wanted: (ExceptionGroup('q', [OSError()]), None)", "none"),
    "itself": ("split = lambda self, wanted: (self, self)", "ExceptionGroup"),
    "no method": ("split = 5", "TypeError"),
    "derives nothing": ("derive = lambda self, excs: 5", "TypeError"),
    "says other parts": ("exceptions = property(lambda self: (1, 2))", "none"),
    "raises": ("def split(self, wanted): raise OSError('x')", "OSError"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_groups_own_split_is_not_believed(what: str, policy: PolicyRunner) -> None:
    body, ends = HOSTILE[what]
    run = policy.run(f"""
class H(ExceptionGroup):
    {body}
def attempt():
    try: raise H("h", [ValueError(1), TypeError(2)])
    except* ValueError: pass
    except* TypeError: pass
try: attempt(); print("none")
except BaseException as e: print(type(e).__name__)
""")
    assert (run.stdout, run.exit_code) == (f"{ends}\n", 0), run


WAYS = {
    "the state in globals": """
def look():
    for name, value in list(globals().items()):
        if name.startswith('_litany_'):
            for n in dir(value):
                try: got = getattr(value, n)
                except Exception: continue
                if 'guards' in repr(got): escaped(n, got)
            try: globals()[name] = Own()
            except Exception: pass
try: raise ExceptionGroup('a', [ValueError(1)])
except* ValueError as e: look()
""",
    "types by a descriptor": """
class Meta: pass
class T:
    @property
    def __name__(self): escaped()
    def __eq__(self, o): return True
    __hash__ = object.__hash__
try: raise ExceptionGroup('a', [ValueError(1)])
except* T(): escaped()
""",
    "a guard in the frame": """
import traceback
try:
    try: raise ExceptionGroup('a', [ValueError(1)])
    except* ValueError as e: raise e
except ExceptionGroup as e:
    t = e.__traceback__
    escaped(getattr(t, 'tb_frame'))
""",
    "the reserved name in text": """
try: raise ExceptionGroup('a', [ValueError(1)])
except* ValueError as e: escaped(eval('_litany_star1'))
""",
    "types in a subclass of tuple": """
class T(tuple):
    def __iter__(self): return iter((ExceptionGroup,))
try: raise ExceptionGroup('a', [ValueError(1)])
except* T((ValueError,)): pass
try: raise ExceptionGroup('a', [ExceptionGroup('b', [ValueError(1)])])
except* T((TypeError,)) as e: escaped(e)
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_way_out_by_groups_is_closed(way: str, policy: PolicyRunner) -> None:
    run = policy.run(PREAMBLE + WAYS[way])
    assert "ESCAPED" not in run.stdout
    assert run.exit_code in {0, 1, 126}, f"died: {run}"


def test_names_and_attributes_of_every_clause_are_judged() -> None:
    found = check(
        b"try: a.__globals__\nexcept* b.__globals__ as __builtins__: c.__globals__\nelse: d.__globals__\n"
        b"finally: e.__globals__"
    )
    assert [(v.line, v.rule) for v in found] == [
        (1, "dunder-attribute"),
        (2, "dunder-name"),
        (2, "dunder-attribute"),
        (2, "dunder-attribute"),
        (3, "dunder-attribute"),
        (4, "dunder-attribute"),
    ]


@pytest.mark.parametrize("word", ["return", "break", "continue"])
def test_a_jump_out_of_a_clause_is_a_syntax_error(word: str) -> None:
    source = f"def f():\n  for i in []:\n    try: pass\n    except* ValueError: {word}"
    assert [v.rule for v in check(source.encode())] == ["syntax"]
