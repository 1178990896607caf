"""What a program imports, seen from the workspace: which records its calls leave, and what comes back of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from litany_engine import open_workspace_blocking, tool
from litany_engine.blocking import BlockingWorkspace
from litany_engine.door.calls import CallEnd, Capture, Context, Tool, ToolCall
from litany_engine.tools.definitions import Provenance, Traits
from litany_engine.workspaces.new_workspace import init_workspace
from litany_runtime.limits import MIB
from litany_runtime.outcome import Outcome
from litany_stubs.words import ToolDeclaration

CALLS = 1000


class Overtaking:
    """A tool `echo` of whose calls every second one ends only once a later one has begun."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.ended: list[int] = []
        self._next = trio.Event()

    async def execute(self, call: ToolCall, context: Context) -> Capture:
        n = call.input["n"]
        self.begun.append(n)
        self._next.set()
        self._next = following = trio.Event()
        if n % 2 == 0 and len(self.begun) < CALLS:
            with trio.move_on_after(0.05):  # no later one may come: its caller may be the one who waits
                await following.wait()
        self.ended.append(n)
        return Capture(stdout=f"{n}\n".encode())


overtaking = Overtaking()
echo = Tool(
    ToolDeclaration(
        "echo",
        "Say a number again.",
        {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    ),
    overtaking.execute,
    traits=Traits(concurrency_safe=True),
)


@tool
async def fetch(kind: str) -> Capture:
    """Bytes of a kind."""
    return Capture(
        stdout={
            "empty": b"",
            "bytes": b"\xff\x00\xfe",
            "large": b"x" * 16_000_000,
            "too large": b"y" * (17 * MIB),
        }[kind],
        stderr=b"" if kind == "empty" else b"note\xff\n",
    )


HOSTILE = "Quotes ' \" \"\"\" and ''', back\\slashes \\N{DASH} \\, new\nlines,\r{braces}, \u202e. " * 140


# Of a server: only such may have names of any letters.
FROM_A_SERVER = Traits(provenance=Provenance("server"))


def named(name: str, schema: Any = None) -> Tool:
    async def execute(call: ToolCall, context: Context) -> Capture:
        return Capture(stdout=json.dumps([call.name, call.input], sort_keys=True).encode())

    return Tool(ToolDeclaration(name, HOSTILE, schema or {"type": "object"}), execute, traits=FROM_A_SERVER)


ODD_NAMES = ["from", "None", "invoke", "Result", "aio", "a.b", "x-y", "été"]
WIDE = {
    "type": "object",
    "properties": {f"p{n}": {"type": "integer"} for n in range(300)}
    | {name: {"type": "string"} for name in ("class", "self", "_x")},
    "required": ["p7"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingWorkspace]:
    workspace = init_workspace(tmp_path_factory.mktemp("stubs") / "ws", agent="a")
    tools = [echo, fetch, named("wide", WIDE), named("json"), *map(named, ODD_NAMES)]
    with open_workspace_blocking(workspace.root, tools=tools) as opened:
        yield opened


def run(ws: BlockingWorkspace, program: str) -> CallEnd:
    return ws.python(program, agent="a", deadline="60s")


def printed(end: CallEnd) -> str:
    assert end.outcome is Outcome.COMPLETED, (end.outcome, end.reason, end.refusal, end.stderr.decode())
    return end.stdout.decode()


def calls_of(end: CallEnd) -> dict[str, Path]:
    """The records beside a program's own, by the ids of their calls."""
    assert end.record is not None
    prefix = f"{end.call.id}-"
    return {each.name: each for each in end.record.parent.iterdir() if each.name.startswith(prefix)}


def read(record: Path, file: str) -> Any:
    return json.loads((record / file).read_bytes())


# -- many at once ---------------------------------------------------------------------------------------------

THREADS = """
import threading
import litany_tools
found = {}
def work(first):
    for n in range(first, 1000, 16):
        found[n] = litany_tools.echo(n=n).stdout
threads = [threading.Thread(target=work, args=(k,)) for k in range(16)]
for each in threads: each.start()
for each in threads: each.join()
print(sorted(found.items()) == [(n, f"{n}\\n") for n in range(1000)])
"""

GATHER = """
import asyncio
from litany_tools import aio
found = await asyncio.gather(*(aio.echo(n=n) for n in range(1000)))
print([each.stdout for each in found] == [f"{n}\\n" for n in range(1000)])
"""

FAN_OUT = """
import litany_tools
found = litany_tools.fan_out(litany_tools.echo, [{"n": n} for n in range(1000)], limit=16)
print([each.stdout for each in found] == [f"{n}\\n" for n in range(1000)])
"""


@pytest.mark.parametrize("program", [THREADS, GATHER, FAN_OUT], ids=["threads", "gather", "fan_out"])
def test_a_thousand_calls_at_once_leave_a_record_each_and_overtaking_answers_reach_their_callers(
    ws: BlockingWorkspace, program: str
) -> None:
    overtaking.begun.clear()
    overtaking.ended.clear()
    end = run(ws, program)
    assert printed(end) == "True\n"
    assert overtaking.begun != overtaking.ended
    records = calls_of(end)
    assert records.keys() == {f"{end.call.id}-{k}" for k in range(1, CALLS + 1)}
    asked = [read(each, "input.json")["input"]["n"] for each in records.values()]
    assert sorted(asked) == list(range(CALLS))
    answers = [read(each, "output.json") for each in records.values()]
    assert {each["outcome"] for each in answers} == {"completed"}
    assert [each["stdout"] for each in answers] == [f"{n}\n" for n in asked]
    assert end.usage is not None
    assert end.usage.calls == len(end.calls) == CALLS


# -- results of every size ------------------------------------------------------------------------------------


def test_results_that_are_empty_no_text_or_of_16_mb_reach_the_program_whole(ws: BlockingWorkspace) -> None:
    end = run(
        ws,
        "import litany_tools\n"
        "for kind in ('empty', 'bytes', 'large'):\n"
        "    r = litany_tools.fetch(kind=kind)\n"
        "    print(r.ok, len(r.stdout_bytes), r.stdout_bytes[:3], r.stderr_bytes, len(repr(r)) < 500)\n"
        "print(ascii(litany_tools.fetch(kind='bytes').stdout))\n",
    )
    assert printed(end).splitlines() == [
        "True 0 b'' b'' True",
        r"True 3 b'\xff\x00\xfe' b'note\xff\n' True",
        r"True 16000000 b'xxx' b'note\xff\n' True",
        r"'\ufffd\x00\ufffd'",
    ]


def test_of_a_result_over_the_limit_the_program_learns_that_the_call_was_made(ws: BlockingWorkspace) -> None:
    end = run(
        ws,
        "import litany_tools\n"
        "r = litany_tools.fetch(kind='too large')\n"
        "print(r.ok, r.exit_code, r.outcome, len(r.stdout), r.refusal)\nprint(r.stderr)\n",
    )
    first, told = printed(end).split("\n", 1)
    assert first == "False 125 faulted 0 None"
    assert "the call was made and ended (completed, exit code 0)" in told
    assert "Do not repeat the call" in told
    (record,) = calls_of(end).values()
    output = read(record, "output.json")
    assert (output["outcome"], output["exit_code"]) == ("completed", 0)


# -- names ----------------------------------------------------------------------------------------------------


def test_tools_whose_names_python_cannot_spell_are_listed_and_reached_by_invoke(
    ws: BlockingWorkspace,
) -> None:
    end = run(
        ws,
        "import json, litany_tools\n"
        f"for name in {ODD_NAMES!r}:\n"
        "    assert f'invoke({json.dumps(name, ensure_ascii=False)}, ' in litany_tools.__doc__, name\n"
        "    print(litany_tools.invoke(name, {'k': 1}).check().stdout)\n",
    )
    assert [json.loads(line) for line in printed(end).splitlines()] == [
        [each, {"k": 1}] for each in ODD_NAMES
    ]


def test_a_name_with_a_dash_has_a_function_and_a_slip_in_it_a_hint(ws: BlockingWorkspace) -> None:
    end = run(
        ws,
        "import litany_tools\n"
        "print(litany_tools.x_y().check().stdout)\n"
        "print(litany_tools.x_yy(k=1).refusal.reason)\n",
    )
    first, second = printed(end).splitlines()
    assert json.loads(first) == ["x-y", {}]
    assert "(did you mean 'x_y'?)" in second
    assert [each.name for each in end.calls] == ["x-y", "x_yy"]


def test_a_tool_named_like_a_module_of_the_library_hides_nothing(ws: BlockingWorkspace) -> None:
    end = run(
        ws,
        "import json\nfrom litany_tools import aio, json as tool\n"
        "print(json.loads(tool().stdout), json.loads((await aio.json()).stdout))\n",
    )
    assert printed(end) == "['json', {}] ['json', {}]\n"


def test_a_tool_of_three_hundred_parameters_takes_all_that_python_can_spell(ws: BlockingWorkspace) -> None:
    end = run(
        ws,
        "import litany_tools\n"
        "print(litany_tools.wide(p7=1, p299=2, self='s', _x='x').stdout)\n"
        "print(litany_tools.wide(**{f'p{n}': n for n in range(300)}).ok)\n"
        "print(litany_tools.invoke('wide', {'p7': 1, 'class': 'c'}).stdout)\n",
    )
    first, second, third = printed(end).splitlines()
    assert json.loads(first) == ["wide", {"_x": "x", "p299": 2, "p7": 1, "self": "s"}]
    assert second == "True"
    assert json.loads(third) == ["wide", {"class": "c", "p7": 1}]


# -- help -----------------------------------------------------------------------------------------------------


def test_search_finds_a_granted_tool_with_its_signature_and_makes_no_call(ws: BlockingWorkspace) -> None:
    end = run(ws, "import litany_tools\nprint(litany_tools.search('say number'))")
    assert printed(end).startswith("echo(n: int) -> Result[Any]\n    Say a number again")
    assert end.calls == ()


@pytest.mark.parametrize(
    "line",
    ["getattr(litany_tools, 'eho')", "from litany_tools import eho", "from litany_tools import read, eho"],
)
def test_an_import_of_a_misspelt_tool_is_answered_with_the_nearest_and_no_call_is_made(
    ws: BlockingWorkspace, line: str
) -> None:
    end = run(ws, f"import litany_tools\n{line}\n")
    assert (end.outcome, end.exit_code, end.calls) == (Outcome.FAILED, 1, ())
    assert "litany_tools has no " in end.stderr.decode()
    assert "did you mean" in end.stderr.decode()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("echo(n=object())", "echo.n is of type object"),
        ("invoke('echo', {'n': [0, float('nan')]})", "echo.n[1] is nan"),
    ],
)
def test_a_call_that_is_none_is_an_exception_and_never_reaches_the_door(
    ws: BlockingWorkspace, call: str, said: str
) -> None:
    end = run(ws, f"import litany_tools\nlitany_tools.{call}\n")
    assert said in end.stderr.decode()
    assert (end.exit_code, end.calls, calls_of(end)) == (1, (), {})


@pytest.mark.parametrize(
    ("call", "gate", "said"),
    [
        (
            "bsh(command='ls')",
            "grant",
            "'bsh' is not granted to role 'default' (did you mean 'bash'?). Granted: ",
        ),
        ("nothing_like_it(1, 2, a=3)", "grant", "Granted: None, Result, a.b, aio, apply_patch"),
        ("python(program='print(1)')", "depth", "programs do not nest"),
        ("echo()", "schema", "argument 'n' is missing. echo takes: n (integer, required)."),
        ("echo(n='1')", "schema", "argument 'n'"),
        ("fetch(knd='empty')", "schema", "argument 'knd' is not known (did you mean 'kind'?)"),
        (
            "fetch('empty', 1)",
            "schema",
            "fetch() takes 1 positional argument but 2 were given. fetch takes: kind (string, required).",
        ),
        ("fetch('empty', kind='empty')", "schema", "fetch() got multiple values for argument 'kind'."),
        ("invoke('fetch', 'empty', 1)", "schema", "fetch() takes 1 positional argument but 2 were given."),
        ("echo(1, m=2)", "schema", "echo() got an unexpected keyword argument 'm'"),
    ],
)
@pytest.mark.parametrize("where", ["litany_tools", "await litany_tools.aio"])
def test_a_call_that_cannot_be_is_a_recorded_refusal_and_the_program_goes_on(
    ws: BlockingWorkspace, where: str, call: str, gate: str, said: str
) -> None:
    end = run(
        ws,
        f"import litany_tools\nr = {where}.{call}\nprint(r.refusal.gate, r.refusal.reason)\nprint('went on')\n",
    )
    told, went_on = printed(end).splitlines()
    assert went_on == "went on"
    assert told.startswith(f"{gate} ")
    assert said in told
    (summary,) = end.calls
    assert end.record is not None
    record = json.loads((end.record.parent / summary.id / "output.json").read_text())
    assert (record["outcome"], record["refusal"]["gate"]) == ("refused", gate)
    assert record["refusal"]["reason"] == told.removeprefix(f"{gate} ")


def test_positional_arguments_are_recorded_by_name(ws: BlockingWorkspace) -> None:
    end = run(
        ws,
        "import litany_tools as t\nfrom litany_tools import aio\n"
        "t.fetch('empty')\nt.invoke('fetch', 'empty')\nawait aio.fetch('empty')\n"
        "t.fan_out(t.fetch, ['empty', ('empty',)])\nt.echo(7)\n",
    )
    assert printed(end) == ""
    records = calls_of(end)
    asked = [read(records[f"{end.call.id}-{k}"], "input.json")["input"] for k in range(1, 7)]
    assert asked == [{"kind": "empty"}] * 5 + [{"n": 7}]


def test_a_program_may_ask_whether_a_tool_is_there(ws: BlockingWorkspace) -> None:
    end = run(
        ws,
        "import litany_tools\n"
        "print(hasattr(litany_tools, 'bsh'), hasattr(litany_tools.aio, 'bsh'), hasattr(litany_tools, 'bash'))\n"
        "print(getattr(litany_tools, 'bsh', None), 'bsh' in dir(litany_tools))\n",
    )
    assert printed(end) == "False False True\nNone False\n"
    assert end.calls == ()
