"""CPU-bound programs: under the policy, in plain CPython, and in pydantic-monty where it can run them.

    python benchmarks/cpu.py [--rounds 15] [--json]

Each program prints a checksum and defines `main()`. A round runs every engine once, one after the other, in fresh
processes that live through all rounds; what is compared is the median time of `main()` and the ratio to
plain CPython within the same run: processor time for the policy, which a busy machine disturbs less, and wall
time for monty, whose work is done in a process of its own. monty (a dependency group of its own, `bench`) is shown where it is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

PROGRAMS = {
    "float loop": """
def main():
    x, y, total = 0.5, 0.25, 0.0
    for i in range(300_000):
        x = x * 1.000001 + y / 3.0
        y = y * 0.999999 - x / 7.0
        total += x * y
    return round(total, 3)
""",
    "math in a module": """
import math
def main():
    total = 0.0
    for i in range(150_000):
        total += math.sqrt(i) * math.sin(i) + math.floor(i / 3)
    return round(total, 3)
""",
    "words": """
def main():
    text = "the quick brown fox jumps over the lazy dog and runs away from the bear " * 300
    counts = {}
    for word in text.split():
        key = word.strip(",.").lower()
        counts[key] = counts.get(key, 0) + 1
    for _ in range(40):
        for word in text.split():
            counts[word] = counts.get(word, 0) + len(word.strip("aeiou"))
    lines = ["%s=%d" % (k, v) for k, v in sorted(counts.items(), key=lambda kv: (-kv[1], kv[0]))]
    for _ in range(300):
        s = "-".join(lines).upper().replace("=", ":")
        parts = s.split("-")
    return len(s) + len(parts)
""",
    "sorting": """
def main():
    seed, data = 12345, []
    for i in range(20_000):
        seed = (seed * 1103515245 + 12345) % 2147483648
        data.append((seed % 1000, seed, str(seed)))
    out = 0
    for key in (lambda t: t[1], lambda t: t[2], lambda t: (t[0], -t[1])):
        out += sorted(data, key=key)[10][1]
    for i in range(1, 700):
        j = i
        while j > 0 and data[j - 1][1] > data[j][1]:
            data[j - 1], data[j] = data[j], data[j - 1]
            j -= 1
    return out + data[0][1]
""",
    "attributes": """
class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y
    def add(self, other):
        return Vector(self.x + other.x, self.y + other.y)
    def dot(self, other):
        return self.x * other.x + self.y * other.y
class Body:
    def __init__(self, name):
        self.name = name
        self.position = Vector(0.0, 0.0)
        self.steps = 0
    def step(self, v):
        self.position = self.position.add(v)
        self.steps += 1
        return self.position.dot(v)
def main():
    bodies = [Body(str(i)) for i in range(10)]
    v, total = Vector(0.5, 0.25), 0.0
    for _ in range(6_000):
        for b in bodies:
            total += b.step(v)
    return round(total, 3)
""",
    "private attributes": """
class Account:
    _rate = 0.01
    def __init__(self, owner):
        self._owner = owner
        self._balance = 0.0
        self._history = []
        self.__pin = 1234
    def deposit(self, amount):
        self._check(amount)
        self._balance += amount
        self._history.append(amount)
    def _check(self, amount):
        if amount < 0 or self.__pin != 1234:
            raise ValueError(amount)
    def interest(self):
        return self._balance * self._rate
def main():
    a, total = Account("x"), 0.0
    for i in range(60_000):
        a.deposit(i % 7)
        total += a.interest()
    return round(total, 2), len(a._history)
""",
    "items": """
def main():
    n = 70
    a = [[(i * j) % 7 for j in range(n)] for i in range(n)]
    b = [[(i + j) % 5 for j in range(n)] for i in range(n)]
    c = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            s = 0
            for k in range(n):
                s += a[i][k] * b[k][j]
            c[i][j] += s
    d = {}
    for i in range(50_000):
        d[i % 1000] = d.get(i % 1000, 0) + i
    return c[3][4], d[7]
""",
    "generators": """
def numbers(n):
    for i in range(n):
        yield i
def evens(xs):
    for x in xs:
        if x % 2 == 0:
            yield x
def squares(xs):
    for x in xs:
        yield x * x
def main():
    return sum(squares(evens(numbers(150_000)))) + sum(1 for _ in zip(numbers(50_000), numbers(50_000)))
""",
    "recursion": """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)
def main():
    return fib(22) + sum(depth(200) for _ in range(100))
""",
    "comprehensions": """
def main():
    total = 0
    for r in range(30):
        squares = [x * x for x in range(2_000) if x % 3]
        table = {x: str(x) for x in range(1_000)}
        unique = {x % 17 for x in squares}
        pairs = [(a, b) for a in range(30) for b in range(30) if a < b]
        total += len(squares) + len(table) + len(unique) + len(pairs)
    return total
""",
    "formatting": """
def main():
    out = 0
    for i in range(20_000):
        s = f"{i:05d}|{i / 3:.2f}|{'x' if i % 2 else 'y'}"
        out += len(s) + len("{} {}".format(i, "z"))
    return out
""",
    "exceptions": """
def parse(s):
    try:
        return int(s)
    except ValueError:
        return -1
def main():
    return sum(parse(s) for _ in range(8_000) for s in ("1", "x", "3"))
""",
}


def worker(kind: str) -> None:
    """Time programs as they are asked for: one line in, one line out."""
    import time

    run = {"plain": _plain, "policy": _policy, "monty": _monty}[kind]
    for line in sys.stdin:
        name = json.loads(line)
        try:
            main = run(name)
            main()  # warm: specialised code, filled caches
            wall, cpu = time.perf_counter(), time.process_time()
            value = main()
            cpu = time.process_time() - cpu
            answer = {"wall": time.perf_counter() - wall, "cpu": cpu, "value": repr(value)}
        except Exception as error:  # an engine that cannot run the program says so in the table
            answer = {"error": f"{type(error).__name__}: {error}"[:60]}
        sys.__stdout__.write(json.dumps(answer) + "\n")
        sys.__stdout__.flush()


_made: dict[str, object] = {}


def _plain(name: str):
    if name not in _made:
        scope: dict[str, object] = {"__name__": "__main__"}
        exec(compile(PROGRAMS[name], "program.py", "exec", dont_inherit=True), scope)
        _made[name] = scope["main"]
    return _made[name]


def _policy(name: str):
    from litany_runtime import policy
    from litany_runtime.program import FilePolicy

    if "namespace" not in _made:
        import types

        prepared = policy.prepare()
        _made["namespace"] = policy.namespace(
            prepared, tools=types.ModuleType("litany_tools"), worktree=None, files=FilePolicy.NONE
        )
    if name not in _made:
        scope = _made["namespace"]
        policy.execute(policy.compile_program(PROGRAMS[name].encode()), scope)
        # Later programs bind the same names; each keeps its own functions' globals by being run apart.
        _made[name] = scope["main"]
    return _made[name]


def _monty(name: str):
    import pydantic_monty

    if "pool" not in _made:
        _made["pool"] = pydantic_monty.Monty().__enter__()
    if name not in _made:
        session = _made["pool"].checkout().__enter__()
        session.feed_run(PROGRAMS[name])
        _made[name] = lambda: session.feed_run("main()")
    return _made[name]


def _start(kind: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, "--worker", kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'runtime'}:{ROOT / 'stubs'}", "PYTHONHASHSEED": "0"},
    )


def _ask(process: subprocess.Popen[str], name: str) -> dict[str, object]:
    process.stdin.write(json.dumps(name) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    return json.loads(line) if line else {"error": "the process ended"}


def measure(rounds: int) -> dict[str, dict[str, object]]:
    """Alternate the engines `rounds` times for each program; a process per engine and program."""
    kinds = ["plain", "policy"]
    try:
        import pydantic_monty  # noqa: F401

        kinds.append("monty")
    except ImportError:
        pass
    table: dict[str, dict[str, object]] = {}
    for name in PROGRAMS:
        processes = {kind: _start(kind) for kind in kinds}
        wall: dict[str, list[float]] = {kind: [] for kind in kinds}
        cpu: dict[str, list[float]] = {kind: [] for kind in kinds}
        row: dict[str, object] = {}
        values = {}
        for number in range(rounds):
            order = kinds if number % 2 else kinds[::-1]
            for kind in order:
                answer = _ask(processes[kind], name)
                if "error" in answer:
                    row[f"{kind}_error"] = answer["error"]
                else:
                    wall[kind].append(answer["wall"])
                    cpu[kind].append(answer["cpu"])
                    values[kind] = answer["value"]
        for process in processes.values():
            process.stdin.close()
            process.wait()
        if values["plain"] != values.get("policy"):
            raise SystemExit(f"{name}: the policy changed the result: {values}")
        for kind in kinds:
            if wall[kind]:
                clock = wall if kind == "monty" else cpu
                row[f"{kind}_ms"] = statistics.median(clock[kind]) * 1e3
                row[f"{kind}_ratio"] = statistics.median(clock[kind]) / statistics.median(clock["plain"])
        table[name] = row
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--worker", choices=["plain", "policy", "monty"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker)
        return
    table = measure(options.rounds)
    if options.json:
        print(json.dumps(table, indent=2))
        return
    print(f"| program | plain CPython {sys.version.split()[0]}, ms | policy, ratio | monty, ratio |")
    print("|---|---:|---:|---:|")
    for name, row in table.items():
        monty = (
            f"{row['monty_ratio']:.2f}" if "monty_ratio" in row else row.get("monty_error", "not installed")
        )
        print(f"| {name} | {row['plain_ms']:.1f} | {row['policy_ratio']:.3f} | {monty} |")


if __name__ == "__main__":
    main()
