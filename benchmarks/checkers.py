"""Type checkers on a program and its stubs: how long the whole command takes, which planted mistakes it finds.

    python benchmarks/checkers.py [--bin DIR] [--rounds N]

DIR is where `ty`, `mypy` and `pyright` are installed (one not there is left out). Cold is without a cache of the
checker's own; warm with the one that a run over another program and the same module left, which is what a check
before every run would find. The files themselves are in the page cache in both.
docs/decisions/0040-type-checker.md rests on this.
"""

import argparse
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from litany_stubs.render import render
from stubs_kit import corpus, declared

FEW = ["add", "open_object", "tuples", "formats", "bounds", "plot"]

# A line each; the comment says what is wrong with it.
PROGRAM = """\
import asyncio
import litany_tools as t
from litany_tools import aio

t.add(a="1", b=2)  # a wrong type
t.add(a=1)  # a missing argument
t.add(a=1, b=2, c=3)  # an unknown argument
t.add(1, 2)  # positional arguments
t.ad(a=1, b=2)  # a misspelt tool
t.open_object(c={"x": 1, "y": 1})  # a wrong key in a dict
t.formats(a=None)  # null where it is not accepted
t.add(a=1, b=2).output  # a misspelt attribute of a result
t.add(a=1, b=2).check().stdout + 1  # text used as a number
t.plot(kind="pie chart", x=[1], y=[1])  # a value that is not in the enum


async def main():
    await aio.add(a=None, b=1)  # a wrong type under asyncio
    aio.add(a=1, b=2).stdout  # a forgotten await
    return await asyncio.gather(aio.add(a=1, b=2), aio.formats())


whole = [1, 2]
t.plot(kind="line", x=whole, y=whole)
print(t.add(a=1, b=2).exit_code, t.fan_out(t.add, [{"a": 1, "b": 2}])[0].ok, asyncio.run(main()))
"""
SEVERAL = """\
import litany_tools as t
t.add(a="1", c=3)  # a wrong type, an unknown argument, a missing one
t.plot(kind="lin", x=[1])  # a wrong value, a missing argument
t.add(a=1, bb=2)  # a missing and an unknown argument
"""
MISTAKES_IN_SEVERAL = 7
PLANTED = {n: line.split("# ")[1] for n, line in enumerate(PROGRAM.splitlines(), 1) if "# " in line}

STUBS = ROOT / "stubs"


def commands(folder: Path) -> dict[str, list[str]]:
    interpreter = sys.executable
    return {
        "ty": [
            *("ty", "check", "program.py", "--output-format", "concise", "--project", str(folder)),
            *("--python", sys.prefix, "--extra-search-path", str(STUBS)),
        ],
        "mypy": [
            *("mypy", "program.py", "--check-untyped-defs", "--python-executable", interpreter),
            *("--cache-dir", str(folder / "cache")),
        ],
        "pyright": ["pyright", "program.py", "--pythonpath", interpreter],
    }


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def of(samples: list[tuple[float, float]]) -> str:
    wall, cpu = zip(*samples)
    return f"{statistics.median(wall):.2f} s (least {min(wall):.2f}; processor {statistics.median(cpu):.2f})"


def measure(bin_dir: Path, module: str, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "program.py").write_text(PROGRAM)
        (folder / "litany_tools.py").write_text(module)
        (folder / "ty.toml").touch()
        (folder / "mypy.ini").write_text(f"[mypy]\nmypy_path = {STUBS}\n")
        (folder / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{STUBS}"]}}')
        for checker, command in commands(folder).items():
            found = shutil.which(checker, path=bin_dir)
            if found is None:
                print(f"  {checker:<8} not in {bin_dir}")
                continue
            times: dict[str, list[tuple[float, float]]] = {"cold": [], "warm": []}
            for _ in range(rounds):
                shutil.rmtree(folder / "cache", ignore_errors=True)
                for kind in times:
                    (folder / "program.py").write_text(f"{PROGRAM}# {kind}\n")
                    began, before = time.perf_counter(), cpu_s()
                    done = subprocess.run([found, *command[1:]], cwd=folder, capture_output=True, text=True)
                    times[kind].append((time.perf_counter() - began, cpu_s() - before))
            lines = {int(n) for n in re.findall(r"program\.py:(\d+)(?::\d+)?[: ]", done.stdout + done.stderr)}
            told = "  ".join(f"{kind} {of(each)}" for kind, each in times.items())
            (folder / "program.py").write_text(SEVERAL)
            done = subprocess.run([found, *command[1:]], cwd=folder, capture_output=True, text=True)
            several = len(re.findall(r"program\.py:\d+(?::\d+)?(?:: error| - error)", done.stdout))
            print(
                f"  {checker:<8} {told}  {len(lines & PLANTED.keys())} of {len(PLANTED)} mistakes, "
                f"{several} of {MISTAKES_IN_SEVERAL} where a call has several"
            )
            for n in sorted(PLANTED.keys() - lines):
                print(f"           not found: {PLANTED[n]}")
            for n in sorted(lines - PLANTED.keys()):
                print(f"           also said of line {n}: {PROGRAM.splitlines()[n - 1].strip()}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bin", type=Path, default=Path(sys.executable).parent, metavar="DIR")
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    everything = [each for each in corpus() if each.name.isidentifier()]
    for name, declarations in (("6", [declared(each) for each in FEW]), (str(len(everything)), everything)):
        print(f"a module of {name} tools, {len(render(declarations)) // 1024} KiB")
        measure(given.bin, render(declarations), given.rounds)


if __name__ == "__main__":
    main()
