"""The generated module in a confined child: many calls at once, and results of every size and kind."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from litany_runtime.limits import MIB, Limits
from litany_runtime.program import FilePolicy, InnerCall, Program, ProgramEnd
from litany_runtime.setup import Setup
from litany_runtime.supervisor import open_supervisor
from litany_stubs.render import render
from litany_stubs.words import Refusal, Reply, ToolDeclaration

NUMBERED = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
TOOLS = [
    ToolDeclaration("echo", "Say it again.", NUMBERED),
    ToolDeclaration("fetch", "Bytes.", NUMBERED),
    ToolDeclaration("a.b", "A name with a dot.", NUMBERED),
    ToolDeclaration(
        "measure", "Structured.", NUMBERED, {"type": "object", "properties": {"n": {"type": "integer"}}}
    ),
]


class Host:
    """Answers calls and remembers them."""

    def __init__(self) -> None:
        self.calls: list[InnerCall] = []

    async def answer(self, call: InnerCall) -> Reply:
        self.calls.append(call)
        n = call.input["n"]
        if call.name == "fetch":
            return Reply("completed", 0, stdout=[b"", b"\xff\x00", b"x" * (15 * MIB), b"x" * (17 * MIB)][n])
        if call.name == "measure":
            return Reply("completed", 0, stdout=b'{"n": %d}' % n)
        # Answers overtake one another.
        for _ in range(n % 5):
            await trio.lowlevel.checkpoint()
        return Reply("completed", 0, stdout=str(n).encode())


def run(source: str, host: Host, limits: Limits | None = None) -> ProgramEnd:
    async def main() -> ProgramEnd:
        async with open_supervisor(Setup()) as supervisor:
            return await supervisor.run(
                Program(source.encode(), render(TOOLS), None, FilePolicy.NONE),
                limits,
                answer=host.answer,
                deadline=trio.current_time() + 60,
                stop=None,
                output=None,
            )

    return trio.run(main)


THREADS = """
import threading
import litany_tools
found = [None] * 1000
def work(first):
    for n in range(first, 1000, 16):
        found[n] = litany_tools.echo(n=n).stdout
threads = [threading.Thread(target=work, args=(k,)) for k in range(16)]
for each in threads:
    each.start()
for each in threads:
    each.join()
print(found == [str(n) for n in range(1000)])
"""

GATHER = """
import asyncio
from litany_tools import aio
found = await asyncio.gather(*[aio.echo(n=n) for n in range(1000)])
print([each.stdout for each in found] == [str(n) for n in range(1000)])
"""

FAN_OUT = """
import litany_tools
found = litany_tools.fan_out(litany_tools.echo, [{"n": n} for n in range(1000)], limit=16)
print([each.stdout for each in found] == [str(n) for n in range(1000)])
"""


@pytest.mark.parametrize("source", [THREADS, GATHER, FAN_OUT], ids=["threads", "gather", "fan_out"])
def test_a_thousand_calls_at_once_each_reach_the_host_once_and_get_their_own_answer(source: str) -> None:
    host = Host()
    end = run(source, host)
    assert (end.stdout, end.stderr, end.exit_code) == (b"True\n", b"", 0)
    assert sorted(each.input["n"] for each in host.calls) == list(range(1000))
    assert end.usage.calls == 1000


def test_results_that_are_empty_no_text_or_large_come_back_whole() -> None:
    source = """
import litany_tools as t
print([len(t.fetch(n=n).stdout_bytes) for n in range(3)], repr(t.fetch(n=1).stdout), len(repr(t.fetch(n=2))) < 500)
print(t.measure(n=7).data, t.invoke("a.b", {"n": 3}).stdout)
"""
    end = run(source, Host())
    assert end.stderr == b""
    assert end.stdout.decode().splitlines() == [f"[0, 2, {15 * MIB}] '\ufffd\\x00' True", "{'n': 7} 3"]


def test_a_result_over_the_limit_says_that_the_call_was_made_and_must_not_be_repeated() -> None:
    host = Host()
    end = run(
        "import litany_tools as t\nr = t.fetch(n=3)\nprint(r.ok, r.exit_code, r.outcome)\nprint(r.stderr)",
        host,
    )
    first, second = end.stdout.decode().splitlines()[:2]
    assert first == "False 125 faulted"
    assert "was made" in second
    assert "Do not repeat the call" in second
    assert len(host.calls) == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("t.echo(n=b'x')", "echo.n is of type bytes"),
        ("t.echo(n=float('nan'))", "echo.n is nan"),
        ("from litany_tools import eho", "eho"),
        ("t.echo = 1", ""),
        ("t.Result.check = 1", ""),
    ],
)
def test_a_mistake_ends_in_words_and_no_call_is_counted(line: str, said: str) -> None:
    host = Host()
    end = run(f"import litany_tools as t\n{line}\n", host)
    assert end.exit_code != 0
    shown = end.stderr.decode() + (end.refusal.reason if end.refusal else "")
    assert said in shown
    assert (host.calls, end.usage.calls) == ([], 0)


def test_a_traceback_shows_no_path_of_the_host() -> None:
    end = run("import litany_tools as t\nt.echo(n=object())\n", Host())
    assert end.exit_code == 1
    assert str(Path(__file__).parents[2]) not in end.stderr.decode()


def test_calls_work_in_a_loop_beside_an_await_at_the_top_level() -> None:
    program = """
import asyncio
from litany_tools import aio, echo
async def main(): return [r.stdout for r in await asyncio.gather(aio.echo(n=1), aio.echo(n=2))]
print((await aio.echo(n=0)).stdout, asyncio.run(main()), echo(n=3).stdout, await main())
"""
    host = Host()
    end = run(program, host)
    assert (end.stdout.decode(), end.stderr) == ("0 ['1', '2'] 3 ['1', '2']\n", b"")
    assert sorted(call.input["n"] for call in host.calls) == [0, 1, 1, 2, 2, 3]


def test_a_program_without_stubs_runs_and_has_no_tools() -> None:
    async def refuse(call: InnerCall) -> Reply:
        return Reply("refused", 126, refusal=Refusal("grant", f"{call.name} is not granted"))

    async def main() -> ProgramEnd:
        source = (
            b"import litany_tools as t\nprint(t.__all__)\nprint(t.search('x'))\n"
            b"print(t.bash('ls').refusal.reason)\nprint((await t.aio.invoke('y', {})).refusal.gate)\n"
        )
        async with open_supervisor(Setup()) as supervisor:
            return await supervisor.run(Program(source), answer=refuse, deadline=trio.current_time() + 60)

    end = trio.run(main)
    assert end.stderr == b""
    listed, found, *refused = end.stdout.decode().splitlines()
    assert "'fan_out'" in listed
    assert found == "No granted tool matches 'x'. Granted: nothing."
    assert refused == ["bash is not granted", "grant"]
