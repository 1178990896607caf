"""Module views: what is listed, nothing more, read-only; extra modules; the stub module."""

from __future__ import annotations

import importlib
import sys
import types

import pytest

from litany_runtime.policy import check
from litany_runtime.policy.absent import NAME_HINTS, SUBSTITUTES, name_hint
from litany_runtime.policy.modules import MODULES, NAMES, exists
from policy_runner import PolicyRunner


@pytest.mark.parametrize("module", MODULES)
def test_a_view_has_the_listed_names_and_no_other(module: str, policy: PolicyRunner) -> None:
    run = policy.run(f"import {module} as m\nprint(*[n for n in dir(m) if not n.startswith('_')])")
    assert set(run.stdout.split()) == NAMES[module]


def test_every_listed_name_exists_in_this_python() -> None:
    for module, entries in MODULES.items():
        real = importlib.import_module(module)
        for entry in entries.split():
            if exists(entry):
                assert hasattr(real, entry.partition("@")[0]), f"{module}.{entry}"


def test_no_view_lists_a_module_under_a_plain_name() -> None:
    for module, entries in MODULES.items():
        real = importlib.import_module(module)
        for entry in entries.split():
            value = getattr(real, entry.partition("@")[0], None)
            assert not isinstance(value, types.ModuleType), f"{module}.{entry}"


def public_names(real: types.ModuleType) -> set[str]:
    """What a module documents (`__all__`), or else what it defines under a public name."""
    listed = getattr(real, "__all__", None)
    if listed is not None:
        return set(listed)
    home = real.__name__
    return {
        name
        for name, value in vars(real).items()
        if name[0] != "_"
        and not isinstance(value, types.ModuleType)
        and getattr(value, "__module__", home) in {home, None, "_" + home}
    }


def test_each_public_name_of_a_module_is_offered_or_has_a_substitute() -> None:
    unknown = [
        f"{module}.{name}"
        for module in MODULES
        for name in sorted(public_names(importlib.import_module(module)) - NAMES[module])
        if name_hint(module, name) is None and f"{module}.{name}" not in MODULES
    ]
    assert unknown == []


def test_each_module_of_the_library_is_offered_or_has_a_substitute() -> None:
    public = {name for name in sys.stdlib_module_names if name[0] != "_"}
    assert sorted(public - set(MODULES) - set(SUBSTITUTES)) == []


def test_no_name_is_both_offered_and_refused() -> None:
    both = [
        f"{module}.{name}" for module, names in NAME_HINTS.items() for name in names if name in NAMES[module]
    ]
    assert both == []


def test_no_substitute_is_advised_for_a_module_that_is_there() -> None:
    assert not set(SUBSTITUTES) & set(MODULES)


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_an_entry_of_a_later_version_waits_for_it(version: str) -> None:
    parsed = tuple(int(part) for part in version.split("."))
    assert exists("batched@3.12", parsed) == (parsed >= (3, 12))
    assert exists("chain", parsed)


@pytest.mark.parametrize(("version", "there"), [((3, 11, 2), False), ((3, 11, 4), True), ((3, 12, 0), True)])
def test_an_entry_of_a_later_micro_version_waits_for_it(version: tuple[int, ...], there: bool) -> None:
    assert exists("data_filter@3.11.4", version) is there
    assert exists("batched@3.12", version) is (version >= (3, 12))


def test_an_entry_of_just_the_running_version_is_there() -> None:
    assert exists("name@" + ".".join(map(str, sys.version_info[:3])))


def test_a_module_that_the_operator_added_is_there_as_it_is() -> None:
    assert [v.rule for v in check(b"import colorama")] == ["import"]
    assert check(b"import wave, wave.x\nfrom wave import anything", extra_modules=("wave",)) == []
    with PolicyRunner(extra_modules=("wave",)) as runner:
        assert (
            runner.run("import wave; print(wave.Error.__name__, wave.struct is not None)").stdout
            == "Error True\n"
        )
        refused = runner.run("import audioop")
        assert refused.violations[0][2] == "import"


TOOLS = """
import json as _json, json
_secret = 1
def fetch(url): return "got " + url
class Result:
    ok = True
import types
aio = types.ModuleType("litany_tools.aio")
async def _fetch(url): return "async " + url
aio.fetch = _fetch
aio.__all__ = ["fetch"]
__all__ = ["fetch", "Result", "aio"]
"""


def test_the_stub_module_is_imported_in_every_form(policy: PolicyRunner) -> None:
    program = """
import litany_tools, asyncio
import litany_tools as t
from litany_tools import fetch, aio
from litany_tools import *
print(fetch("a"), litany_tools.fetch("b"), t.aio is aio, Result.ok, asyncio.run(aio.fetch("c")))
print([n for n in dir(litany_tools) if not n.startswith("_")])
for attempt in (lambda: litany_tools.json, lambda: litany_tools._secret, lambda: litany_tools.nope):
    try: print(attempt())
    except AttributeError as e: print("AttributeError")
try: from litany_tools import nope
except ImportError as e: print("ImportError")
try: litany_tools.fetch = None
except AttributeError as e: print("read-only")
"""
    run = policy.run(program, tools=TOOLS)
    assert run.stdout.splitlines() == [
        "got a got b True True async c",
        "['Result', 'aio', 'fetch']",
        "AttributeError",
        "AttributeError",
        "AttributeError",
        "ImportError",
        "read-only",
    ], run.stderr


def test_streams_may_be_replaced_and_nothing_else_of_sys(policy: PolicyRunner) -> None:
    run = policy.run(
        "import sys, io\nold = sys.stdout\nsys.stdout = io.StringIO()\nprint('hidden')\nsys.stdout = old\nprint('shown')\n"
        "try: sys.maxsize = 3\nexcept AttributeError as e: print(e)"
    )
    assert run.stdout.startswith("shown\nsys.maxsize cannot be set")


LOOPS_BESIDE = {
    "run": "asyncio.run(main())",
    "run twice": "asyncio.run(main()); asyncio.run(main())",
    "run in a function": "def f(): asyncio.run(main())\nf()",
    "a runner": "with asyncio.Runner() as r: r.run(main()); r.run(main())",
    "a loop": "loop = asyncio.new_event_loop()\nloop.run_until_complete(main())\nloop.close()",
    "with tasks outside": "t = asyncio.create_task(main())\nasyncio.run(main())\nawait t",
    "in a class body": "class A: asyncio.run(main())",
    "in text": "exec('asyncio.run(main())')",
}


@pytest.mark.parametrize("way", LOOPS_BESIDE)
def test_a_loop_runs_beside_an_await_at_the_top_level(way: str, policy: PolicyRunner) -> None:
    program = (
        "import asyncio\nasync def main():\n    await asyncio.sleep(0)\n    print('main')\n"
        f"await asyncio.sleep(0)\n{LOOPS_BESIDE[way]}\n"
        "await asyncio.sleep(0)\nprint(asyncio.current_task() is not None, asyncio.get_event_loop().is_running())"
    )
    run = policy.run(program)
    assert run.exit_code == 0, run.stderr
    assert set(run.stdout.splitlines()[:-1]) == {"main"}
    assert run.stdout.splitlines()[-1] == "True True"


INSIDE_A_COROUTINE = {
    "run": "asyncio.run(main())",
    "a runner": "asyncio.Runner().run(main())",
    "a loop": "asyncio.new_event_loop().run_until_complete(main())",
}


@pytest.mark.parametrize("awaits", [True, False])
@pytest.mark.parametrize("way", INSIDE_A_COROUTINE)
def test_no_loop_runs_inside_a_coroutine(way: str, awaits: bool, policy: PolicyRunner) -> None:
    start = "await outer()" if awaits else "asyncio.run(outer())"
    program = (
        "import asyncio\nasync def main(): print('ran')\nasync def outer():\n    def f():\n"
        f"        {INSIDE_A_COROUTINE[way]}\n    f()\n{start}"
    )
    run = policy.run(program)
    assert run.exception == "RuntimeError", run
    assert "ran" not in run.stdout


def test_the_loop_of_the_top_level_says_what_to_write(policy: PolicyRunner) -> None:
    run = policy.run(
        "import asyncio\nasync def main(): pass\nawait main()\nasyncio.get_event_loop().run_until_complete(main())"
    )
    assert run.exception == "RuntimeError"
    assert "write `await main()`" in run.stderr
