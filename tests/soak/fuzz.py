"""Call the C types that a program can reach with objects whose special methods change them.

    python tests/soak/fuzz.py --programs 20000 --seed 1

Each program is made from a seed, runs under the language policy in a child of its own, and fails when a signal
ended it. A failure prints the seed and the program, which go into `tests/native_crashers.py` once mended.
The interpreter runs with CPython's debug allocator (`-X dev`), so that freed memory does not look alive.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

from policy_runner import PolicyRunner  # noqa: E402

PREAMBLE = """
import array, asyncio, collections, contextvars, copy, csv, functools, heapq, io, itertools, json, operator, struct
import weakref, xml.etree.ElementTree as ET
left = 40
def act():
    global left
    left -= 1
    if left > 0:
        try: random_act()
        except BaseException: pass
class E:
    def __init__(self, n=1): self.n = n
    def __index__(self): act(); return self.n
    def __float__(self): act(); return 1.0
    def __eq__(self, other): act(); return self.n % 2 == 0
    def __lt__(self, other): act(); return self.n % 3 == 0
    def __hash__(self): return 1
    def __repr__(self): act(); return "e"
    def __bool__(self): act(); return True
    def __add__(self, other): act(); return 1
    __radd__ = __add__
    def __call__(self, *a, **k): act(); return self.n
class S(str):
    def __len__(self): act(); return 1
    def __eq__(self, other): act(); return False
    def __hash__(self): return 1
def gen(n):
    for i in range(n):
        act()
        yield E(i)
class R(io.RawIOBase):
    reads = 0
    def readable(self): return True
    def writable(self): return True
    def seekable(self): return True
    def readinto(self, b):
        act()
        self.reads += 1
        b[:1] = b"x"
        return int(self.reads < 50)
    def write(self, b): act(); return len(b)
"""

MAKERS = (
    "array.array('i', range(50))",
    "array.array('d', range(50))",
    "bytearray(b'abc' * 50)",
    "memoryview(bytearray(b'abc' * 50))",
    "[E(i) for i in range(30)]",
    "collections.deque(E(i) for i in range(30))",
    "collections.OrderedDict((E(i), E(i)) for i in range(10))",
    "collections.Counter(E(i) for i in range(5))",
    "collections.defaultdict(E(), {E(i): i for i in range(5)})",
    "{E(i): E(i) for i in range(10)}",
    "{E(i) for i in range(10)}",
    "ET.fromstring('<r>' + '<a>x</a>' * 20 + '</r>')",
    "ET.XMLPullParser(['start', 'end'])",
    "io.BytesIO(b'abc\\n' * 50)",
    "io.StringIO('abc\\n' * 50)",
    "io.BufferedReader(R(), 16)",
    "io.BufferedWriter(R(), 16)",
    "io.TextIOWrapper(io.BufferedReader(R(), 16))",
    "struct.Struct('??i')",
    "csv.reader(gen(5))",
    "itertools.groupby(gen(9))",
    "itertools.tee(gen(9))[0]",
    "itertools.zip_longest(gen(3), gen(5))",
    "contextvars.copy_context()",
    "functools.partial(E(), E(), a=E())",
    "json.JSONEncoder(default=E())",
    "asyncio.new_event_loop().create_future()",
)

ARGUMENTS = (
    "E(0)", "E(1)", "E(25)", "S('a')", "b'a'", "gen(9)", "[E(1), E(2)]", "0", "-1", "3", "None", "'a'",
    "slice(E(0), E(9), E(2))", "slice(None, None, 2)", "E", "act", "R()", "random.choice(things)",
)  # fmt: skip

BINARY = [
    "lt",
    "le",
    "eq",
    "ne",
    "gt",
    "ge",
    "add",
    "mul",
    "mod",
    "contains",
    "getitem",
    "iadd",
    "imul",
    "and_",
    "or_",
    "xor",
    "sub",
]


def program(seed: int) -> str:
    """One program, the same for the same seed."""
    rng = random.Random(seed)
    makers = rng.sample(MAKERS, 3)
    lines = [PREAMBLE, f"import random\nrandom.seed({seed})", f"things = [{', '.join(makers)}]"]
    lines.append(
        "def argument():\n    return random.choice((" + ", ".join(f"lambda: {a}" for a in ARGUMENTS) + "))()"
    )
    lines.append("binary = (" + ", ".join(f"operator.{name}" for name in BINARY) + ")")
    lines.append(STEPS)
    return "\n".join(lines)


STEPS = """
SKIPPED = {"run_forever", "run_until_complete", "get_loop"}
names = {id(t): [n for n in dir(t) if n[0] != "_" and n not in SKIPPED] for t in things}
def random_act():
    thing = random.choice(things)
    kind = random.randrange(8)
    if kind < 4:
        names_of = names[id(thing)]
        if names_of:
            found = getattr(thing, random.choice(names_of))
            if callable(found): found(*(argument() for _ in range(random.choice((0, 0, 1, 1, 2, 3)))))
    elif kind == 4: random.choice(binary)(thing, argument())
    elif kind == 5:
        if random.random() < .3: del thing[argument()]
        else: thing[argument()] = argument()
    elif kind == 6: random.choice((list, repr, len, hash, copy.copy, copy.deepcopy, sorted, next, sum, bytes, bool))(thing)
    else:
        for _, _ in zip(range(5), thing): act()
for _ in range(30):
    left = 40
    try: random_act()
    except BaseException: pass
"""


def fuzz(programs: int, seed: int, *, debug: bool = True) -> list[tuple[int, int]]:
    """Run programs; the seeds and signals of those that a signal ended."""
    found = []
    with (
        tempfile.TemporaryDirectory() as folder,
        PolicyRunner(_python(folder) if debug else sys.executable) as runner,
    ):
        for each in range(seed, seed + programs):
            run = runner.run(program(each))
            if (
                run.exit_code < 0 and -run.exit_code != signal.SIGKILL
            ):  # SIGKILL: the runner's own, after its time
                found.append((each, -run.exit_code))
    return found


def _python(folder: str) -> str:
    """An interpreter with the debug allocator, which `-I` hides from the environment."""
    path = Path(folder, "python")
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -X dev -X faulthandler=0 "$@"\n')
    path.chmod(0o700)
    return os.fspath(path)


def main() -> int:
    """Fuzz as told on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = fuzz(options.programs, options.seed)
    for seed, number in found:
        print(f"seed {seed}: {signal.Signals(number).name}\n{program(seed)}")
    print(f"{options.programs} programs, {len(found)} ended by a signal")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
