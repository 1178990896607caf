"""Sources that are hostile or strange: a clear refusal or a correct run, in bounded time."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from litany_runtime.policy import check
from litany_runtime.policy.source import MAX_SOURCE_BYTES
from policy_runner import ROOT, PolicyRunner

LIMIT_S = 60

# Each is an expression for the source's bytes; the judging process may be lost without harm.
SOURCES = {
    "parentheses": ("b'(' * 5000 + b')' * 5000", {"too-deep", "syntax"}),
    "unclosed parentheses": ("b'(' * 100000", {"too-deep", "syntax"}),
    "brackets": ("b'[' * 3000 + b']' * 3000", {"too-deep", "syntax"}),
    "unary minus": ("b'-' * 3600 + b'1'", {"too-deep", ""}),
    "more unary minus": ("b'-' * 200000 + b'1'", {"too-deep"}),
    "a long sum": ("b'x=' + b'+'.join([b'1'] * 10000)", {"too-deep"}),
    "attributes": ("b'x' + b'.a' * 20000", {"too-deep"}),
    "calls": ("b'x' + b'()' * 20000", {"too-deep"}),
    "subscripts": ("b'x' + b'[0]' * 20000", {"too-deep"}),
    "nested blocks": (
        "b''.join(b' ' * i + b'if 1:\\n' for i in range(150)) + b' ' * 150 + b'pass'",
        {"too-deep", "syntax"},
    ),
    "nested functions": (
        "b''.join(b' ' * i + b'def f():\\n' for i in range(95)) + b' ' * 95 + b'pass'",
        {"too-deep", "syntax", ""},
    ),
    "lambdas": ("b'lambda:' * 5000 + b'1'", {"too-deep"}),
    "else-ifs": ("b'if x: pass\\n' + b'elif x: pass\\n' * 5000", {"too-deep", ""}),
    "comparisons": ("b'x' + b'<x' * 50000", {""}),
    "boolean chain": ("b' and '.join([b'x'] * 50000)", {""}),
    "f-string nesting": ("b'f\"{' * 200 + b'1' + b'}\"' * 200", {"syntax", "too-deep"}),
    "five megabytes of text": ("b'x = \"' + b'a' * 5_000_000 + b'\"'", {"too-large"}),
    "four megabytes of text": ("b'x = \"' + b'a' * 4_000_000 + b'\"'", {""}),
    "five megabytes of names": ("b'x = [' + b'abc,' * 1_250_000 + b']'", {"too-large"}),
    "a megabyte of names": ("b'x = [' + b'abc,' * 250_000 + b']'", {""}),
    "a million lines": ("b'\\n' * 1_000_000 + b'x = 1'", {""}),
    "a million comments": ("b'#\\n' * 1_000_000", {""}),
    "too many bytes": (f"b'#' * {MAX_SOURCE_BYTES + 1}", {"too-large"}),
    "null byte": ("b'x = 1\\0'", {"syntax"}),
    "null byte in a string": ("b'x = \"\\0\"'", {"syntax"}),
    "only null bytes": ("b'\\0' * 1000", {"syntax"}),
    "not utf-8": ("b'x = \"\\xff\"'", {"encoding", "syntax"}),
    "unknown encoding": ("b'# coding: klingon\\nx = 1'", {"encoding", "syntax"}),
    "a codec that is no text": ("b'# coding: rot13\\nk = 1'", {"encoding", "syntax", "import", ""}),
    "latin-1": ("'# coding: latin-1\\nx = \"é\"'.encode('latin-1')", {""}),
    "utf-16": ("'x = 1'.encode('utf-16')", {"encoding", "syntax"}),
    "byte order mark": ("b'\\xef\\xbb\\xbfx = 1'", {""}),
    "byte order mark and another encoding": (
        "b'\\xef\\xbb\\xbf# coding: latin-1\\nx = 1'",
        {"encoding", "syntax"},
    ),
    "carriage returns": ("b'x = 1\\ry = 2\\r\\nz = 3'", {""}),
    "code after a carriage return in a comment": ("b'# harmless\\rimport ctypes'", {"import"}),
    "form feed": ("b'\\x0cx = 1'", {""}),
    "empty": ("b''", {""}),
    "only a comment": ("b'# x'", {""}),
    "unclosed string": ('b\'"""\'', {"syntax"}),
    "bad indentation": ("b'if x:\\npass'", {"syntax"}),
    "tabs and spaces": ("b'if x:\\n\\ty\\n        z'", {"syntax"}),
    "a huge number": ("b'x = ' + b'9' * 100000", {"syntax", ""}),
    "a huge power": ("b'def f(): return 9 ** 9 ** 9'", {""}),
    "surrogate escape": ("b'x = \"\\\\ud800\"'", {""}),
    "many violations": ("b'x.__globals__\\n' * 20000", {"dunder-attribute"}),
}

JUDGE = """
import json, sys, time
sys.path[:0] = [sys.argv[1] + "/runtime", sys.argv[1] + "/stubs"]
from litany_runtime.policy import check
source = eval(sys.argv[2])
start = time.monotonic()
found = check(source)
print(json.dumps([[v.line, v.column, v.rule, v.message, v.hint] for v in found[:3]] + [[len(found), time.monotonic() - start]]))
"""


@pytest.mark.parametrize("name", SOURCES)
def test_a_strange_source_is_judged_in_bounded_time(name: str) -> None:
    expression, rules = SOURCES[name]
    done = subprocess.run(
        [sys.executable, "-I", "-c", JUDGE, str(ROOT), expression],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *found, (_, seconds) = json.loads(done.stdout)
    assert seconds < LIMIT_S / 2
    assert (found[0][2] if found else "") in rules, found
    for _, _, _, message, hint in found:
        assert message
        assert hint
        assert "Traceback" not in message


@pytest.mark.parametrize("terms", [500, 900])
def test_a_program_as_deep_as_cpython_runs_it_runs_here(terms: int, policy: PolicyRunner) -> None:
    source = "print(" + "+".join(["1"] * terms) + ")"
    assert policy.run(source).stdout == f"{terms}\n"


def test_a_refused_source_in_a_child_is_a_refusal_and_no_crash(policy: PolicyRunner) -> None:
    for source in (b"-" * 100_000 + b"1", b"x = '\0'", b"# coding: klingon\nx", b"(" * 5000):
        run = policy.run(source)
        assert run.exit_code == 126
        assert run.violations


def test_check_never_raises_on_arbitrary_bytes() -> None:
    from hypothesis import given, settings
    from hypothesis import strategies as st

    fragments = st.sampled_from(
        [
            b"def ",
            b"class ",
            b"x",
            b".",
            b"__",
            b"(",
            b")",
            b":",
            b"\n",
            b" ",
            b"match ",
            b"case ",
            b"f'{",
            b"}'",
            b"\0",
            b"\xff",
            b"# coding: ",
            b"lambda",
            b"=",
            b"*",
            b"import ",
            b"_litany_",
            b"\t",
            b"\\",
        ]
    )

    @settings(max_examples=300, deadline=None)
    @given(st.one_of(st.binary(max_size=200), st.lists(fragments, max_size=40).map(b"".join)))
    def never_raises(source: bytes) -> None:
        for violation in check(source):
            assert violation.line >= 0
            assert violation.column >= 0
            assert violation.rule
            assert violation.hint

    never_raises()
