"""Programs that will not stop, and what ends each: (name, source, outcome, a word of the reason or of stderr)."""

from __future__ import annotations

from litany_runtime.outcome import Outcome

HEAD = "print('head')\n"

UNSTOPPABLE = [
    ("tight loop", "while True: pass", Outcome.TIMED_OUT, "the deadline passed"),
    ("C loop", "sum(range(10**12))", Outcome.TIMED_OUT, "the deadline passed"),
    ("huge power", "7 ** 10**8", Outcome.TIMED_OUT, "the deadline passed"),
    ("bad regex", "import re; re.match('(a+)+$', 'a' * 40 + 'b')", Outcome.TIMED_OUT, "the deadline passed"),
    ("memory by one allocation", "x = 'a' * 10**10", Outcome.FAILED, "memory limit 256 MiB"),
    (
        "memory by growth",
        "x = []\nwhile True: x.append(bytearray(1 << 20))",
        Outcome.FAILED,
        "memory limit 256 MiB",
    ),
    (
        "swallowed exceptions",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        Outcome.TIMED_OUT,
        "the deadline passed",
    ),
    ("deep recursion", "def f(n): return f(n + 1) + 1\nf(0)", Outcome.FAILED, "RecursionError"),
    ("print flood", "while True: print('x' * 1000)", Outcome.TIMED_OUT, "the deadline passed"),
]
