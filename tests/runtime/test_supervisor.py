"""A program runs in a child, its calls are answered, and it ends in time, whatever it does."""

from __future__ import annotations

import contextlib
import encodings.aliases
import errno
import math
import os
import re
import shutil
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NoReturn

import psutil
import pytest
import trio

from litany_runtime import zygote_process
from litany_runtime.deadline import Deadline
from litany_runtime.limits import MIB, Limits
from litany_runtime.outcome import Outcome
from litany_runtime.program import InnerCall, Program
from litany_stubs.render import render
from litany_stubs.words import Refusal, Reply
from runtime_kit import TOOLS, Bench, echo, open_bench


def with_bench(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run an async test with a bench that has a worktree."""

    def run(tmp_path: Path, **kwargs: Any) -> None:
        async def main() -> None:
            async with open_bench(tmp_path) as bench:
                with trio.fail_after(60):
                    await test(bench, **kwargs)

        trio.run(main)

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    return run


@with_bench
async def test_what_a_program_prints_comes_back_on_the_stream_it_printed_to(bench: Bench) -> None:
    end = await bench.run("import sys\nprint(1)\nprint('é', file=sys.stderr)")
    assert (end.outcome, end.exit_code, end.stdout, end.stderr) == (
        Outcome.COMPLETED,
        0,
        b"1\n",
        "é\n".encode(),
    )
    assert end.usage.cpu_s > 0
    assert end.usage.peak_memory_bytes > MIB


ENCODINGS = sorted(set(encodings.aliases.aliases.values()) - {"mbcs", "oem"})


@with_bench
async def test_each_encoding_of_the_library_is_there_in_a_confined_child(bench: Bench) -> None:
    program = f"""
import codecs, io
for name in {ENCODINGS!r}:
    codecs.lookup(name)
for name, text in {{"shift_jis": "テスト", "gbk": "测试", "big5": "測試", "euc_kr": "시험", "iso2022_jp_2": "テ测시"}}.items():
    data = text.encode(name)
    stream = io.TextIOWrapper(io.BytesIO(data), encoding=name)
    print(data.decode(name), codecs.getreader(name)(io.BytesIO(data)).read() == stream.read() == text)
"""
    end = await bench.run(program)
    assert end.stderr == b""
    assert end.stdout.decode() == "テスト True\n测试 True\n測試 True\n시험 True\nテ测시 True\n"


@with_bench
async def test_output_is_relayed_while_the_program_runs(bench: Bench) -> None:
    seen = trio.Event()

    def output(stream: str, data: bytes) -> None:
        assert (stream, data) == ("stdout", b"first\n")
        seen.set()

    async def answer(_: InnerCall) -> Reply:
        await seen.wait()  # it would wait for ever if output came only at the end
        return Reply("completed", 0)

    source = "import litany_tools\nprint('first')\nlitany_tools.echo(text='x')"
    end = await bench.run(source, answer=answer, output=output)
    assert end.outcome is Outcome.COMPLETED


@with_bench
async def test_calls_are_answered_and_counted(bench: Bench) -> None:
    end = await bench.run(
        "import litany_tools\nfor n in range(3): print(litany_tools.echo(text=f'<{n}>').stdout)"
    )
    assert end.stdout == b"<0>\n<1>\n<2>\n"
    assert end.usage.calls == 3


@with_bench
async def test_a_refusal_is_a_value_and_the_program_goes_on(bench: Bench) -> None:
    async def refuse(_: InnerCall) -> Reply:
        return Reply("refused", 126, refusal=Refusal("grant", "echo is not granted"))

    end = await bench.run(
        "import litany_tools\nr = litany_tools.echo(text='')\nprint(r.ok, r.exit_code, r.refusal.gate)",
        answer=refuse,
    )
    assert end.stdout == b"False 126 grant\n"


@with_bench
async def test_an_exception_in_the_host_s_answer_is_a_faulted_call_not_a_dead_supervisor(
    bench: Bench,
) -> None:
    async def broken(_: InnerCall) -> Reply:
        raise RuntimeError("the host broke")

    end = await bench.run(
        "import litany_tools\nr = litany_tools.echo(text='')\nprint(r.exit_code, r.stderr)", answer=broken
    )
    assert end.stdout.startswith(b"125 ")
    assert b"the host broke" in end.stdout


@with_bench
async def test_top_level_await_and_async_calls_work(bench: Bench) -> None:
    end = await bench.run(
        "import asyncio\nfrom litany_tools import aio\n"
        "async def main():\n    return await asyncio.gather(*(aio.echo(text=str(n)) for n in range(20)))\n"
        "print([r.stdout for r in await main()] == [str(n) for n in range(20)])"
    )
    assert (end.stdout, end.stderr) == (b"True\n", b"")


@with_bench
async def test_main_guard_holds_and_stdin_is_empty(bench: Bench) -> None:
    end = await bench.run("import sys\nif __name__ == '__main__':\n    print(repr(sys.stdin.read()))")
    assert (end.stdout, end.stderr) == (b"''\n", b"")


@with_bench
async def test_a_program_that_raises_shows_its_own_lines_and_no_frame_of_ours(bench: Bench) -> None:
    end = await bench.run("print('before')\ndef f(x):\n    return 1 / x\nf(0)\n")
    assert (end.outcome, end.exit_code, end.stdout) == (Outcome.FAILED, 1, b"before\n")
    text = end.stderr.decode()
    assert 'File "program.py", line 4, in <module>' in text
    assert "return 1 / x" in text
    assert text.endswith("ZeroDivisionError: division by zero\n")
    assert "litany_runtime" not in text


@with_bench
async def test_a_chain_of_exceptions_shows_no_frame_of_ours_either(bench: Bench) -> None:
    source = (
        "import litany_tools\ndef call():\n    litany_tools.echo(text=b'x')\n"
        "try:\n    call()\nexcept TypeError as error:\n    raise ValueError('second') from error\n"
    )
    end = await bench.run(source)
    text = end.stderr.decode()
    assert (end.outcome, end.exit_code) == (Outcome.FAILED, 1)
    assert "direct cause" in text
    assert 'File "program.py", line 3, in call' in text
    assert "litany_runtime" not in text
    assert "litany_stubs" not in text


@with_bench
async def test_a_traceback_through_the_library_shows_no_path_of_the_host(bench: Bench) -> None:
    end = await bench.run("import json\njson.loads('{')")
    text = end.stderr.decode()
    assert re.search(r'File "python3\.\d+/json/decoder\.py", line \d+, in \w+\n    \S', text), text
    assert str(Path(os.__file__).parent) not in text


@with_bench
async def test_a_call_that_fails_on_its_way_shows_nothing_of_the_way(bench: Bench) -> None:
    source = (
        "import litany_tools\nheld = []\nfor size in (4000, 40):\n    try:\n"
        "        while True: held.append(bytearray(size))\n    except MemoryError: pass\nlitany_tools.echo(text='')"
    )
    end = await bench.run(source, limits=Limits(memory_bytes=32 * MIB))
    text = end.stderr.decode()
    assert re.fullmatch(
        r'Traceback \(most recent call last\):\n  File "program.py", line 7, in <module>\n'
        r"    litany_tools.echo\(text=''\)\n(    [~^]+\n)?MemoryError(: .*)?\n",
        text,
    ), text


def test_a_traceback_through_an_added_package_shows_no_path_of_the_host(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_bench(tmp_path, modules=("attr",)) as bench:
            end = await bench.run("import attr\nattr.fields(5)")
            text = end.stderr.decode()
            assert re.search(r'File "attr/_make\.py", line \d+, in fields\n', text), text
            assert str(Path(psutil.__file__).parents[1]) not in text

    trio.run(main)


@with_bench
async def test_a_top_level_await_that_raises_shows_no_event_loop(bench: Bench) -> None:
    end = await bench.run("import asyncio\nawait asyncio.sleep(0)\n1 / 0\n")
    text = end.stderr.decode()
    assert text.startswith(
        'Traceback (most recent call last):\n  File "program.py", line 3, in <module>\n'
    ), text
    assert "asyncio" not in text


@with_bench
async def test_a_program_s_own_traceback_has_its_lines_and_no_frame_of_ours(bench: Bench) -> None:
    source = (
        "import litany_tools, traceback\ntry:\n    litany_tools.echo(text=b'x')\n"
        "except TypeError:\n    print(traceback.format_exc())"
    )
    end = await bench.run(source)
    text = end.stdout.decode()
    assert "File \"program.py\", line 3, in <module>\n    litany_tools.echo(text=b'x')\n" in text
    assert "litany_stubs" not in text
    assert text.count("File ") == 1


@with_bench
async def test_a_host_that_cannot_take_the_output_gets_its_own_exception(bench: Bench) -> None:
    def broken(_: str, __: bytes) -> None:
        raise ZeroDivisionError("the host's")

    with pytest.raises(ZeroDivisionError, match="the host's"):
        await bench.run("print(1)\nwhile True: pass", output=broken, deadline_s=300)  # nor is it waited for
    assert (await bench.run("print('next')")).stdout == b"next\n"


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("raise SystemExit", 0),
        ("import sys; sys.exit(3)", 3),
        ("raise SystemExit('no')", 1),
        ("import sys; sys.exit(-1)", 255),
    ],
)
def test_exit_codes_are_cpython_s(tmp_path: Path, source: str, code: int) -> None:
    async def main() -> None:
        async with open_bench(tmp_path) as bench:
            end = await bench.run(source)
            assert end.exit_code == code
            assert end.outcome is (Outcome.FAILED if code else Outcome.COMPLETED)

    trio.run(main)


@with_bench
async def test_a_loop_past_its_deadline_ends_in_time_and_keeps_its_output(bench: Bench) -> None:
    await bench.run("pass")
    began = trio.current_time()
    end = await bench.run("print('kept')\nwhile True: pass", deadline_s=0.5)
    assert (end.outcome, end.exit_code) == (Outcome.TIMED_OUT, 124)
    assert end.stdout == b"kept\n"
    assert trio.current_time() - began < 5  # a bound for a loaded machine; the benchmark measures


@with_bench
async def test_c_code_past_its_deadline_is_killed(bench: Bench) -> None:
    await bench.run("pass")  # the zygote's start counts, and is not what is tried here
    # A grace is for a stop, which comes unannounced; in this one the program would come to its second line.
    limits = Limits(grace_s=300)
    zygote = bench.supervisor._zygote
    source = "print('kept')\ntry:\n    sum(range(3 * 10**8))\nfinally:\n    print('went on')"
    end = await bench.run(source, deadline_s=0.5, limits=limits)
    assert (end.outcome, end.exit_code, end.stdout) == (Outcome.TIMED_OUT, 124, b"kept\n")
    assert zygote is not None
    assert not zygote.dead, "its end was everyone's"


@with_bench
async def test_a_stop_after_the_deadline_is_not_the_cause(bench: Bench) -> None:
    stop, deadline = trio.Event(), Deadline()

    def output(_: str, data: bytes) -> None:
        if b"over" in data:
            stop.set()
        else:
            deadline.no_later_than(trio.current_time())

    source = (
        "import time\ntry:\n    print('on', flush=True)\n    while True: pass\n"
        "finally:\n    print('over', flush=True)\n    time.sleep(0.02)\n    print('cleaned')"
    )
    end = await bench.run(source, deadline=deadline, stop=stop, output=output)
    assert (end.outcome, end.reason) == (Outcome.TIMED_OUT, "the deadline passed")
    assert end.stdout.startswith(b"on\n")


@with_bench
async def test_a_stopped_program_runs_its_finally_blocks_and_keeps_what_it_printed(bench: Bench) -> None:
    stop = trio.Event()

    def output(_: str, data: bytes) -> None:
        if b"started" in data:
            stop.set()

    source = "try:\n    print('started')\n    while True: pass\nfinally:\n    print('cleaned')"
    end = await bench.run(source, stop=stop, output=output)
    assert (end.outcome, end.exit_code, end.stdout) == (Outcome.STOPPED, 143, b"started\ncleaned\n")


@with_bench
async def test_a_program_that_swallows_the_stop_is_killed_after_the_grace(bench: Bench) -> None:
    stop = trio.Event()
    source = (
        "while True:\n    try:\n        print('on', flush=True)\n        while True: pass\n"
        "    except BaseException: print('no', flush=True)"
    )
    end = await bench.run(source, stop=stop, limits=Limits(grace_s=0.2), output=lambda *_: stop.set())
    assert end.outcome is Outcome.STOPPED
    assert end.stdout == b"on\nno\non\n"


@with_bench
async def test_a_program_that_is_stopped_in_a_call_does_not_go_on_behind_it(bench: Bench) -> None:
    """The call has its answer, too, and sooner than the interrupt is there."""
    for call in ("litany_tools.nap()", "await litany_tools.aio.nap()", "litany_tools.fan_out('nap', [{}])"):
        for _ in range(3):
            stop = trio.Event()

            async def answer(_: InnerCall, stop: trio.Event = stop) -> Reply:
                stop.set()
                await trio.sleep_forever()
                raise AssertionError

            end = await bench.run(f"import litany_tools\n{call}\nprint('went on')", stop=stop, answer=answer)
            assert (end.outcome, end.stdout) == (Outcome.STOPPED, b"")
            assert end.stderr.strip().endswith(b"KeyboardInterrupt")


UNENDED = """
import sys
print("a", end="")
print("b", "c", sep="-", end=",", file=None)
sys.stdout.write("d")
sys.stdout.writelines(["e", "f"])
sys.stdout.buffer.write(b"g")
class Odd:
    def __str__(self):
        raise ValueError
try:
    print("h", Odd())
except ValueError:
    pass
print("i", end="", file=sys.stderr)
sys.stderr.write("j")
"""


@with_bench
async def test_a_line_that_is_not_ended_is_kept_of_a_program_that_is_killed(bench: Bench) -> None:
    stop, heard = trio.Event(), bytearray()

    def output(stream: str, data: bytes) -> None:
        if stream == "stderr":
            heard.extend(data)
        if heard == b"ij":
            stop.set()

    in_c_code = "sum(range(10**12))"  # which an interrupt cannot reach
    end = await bench.run(UNENDED + in_c_code, stop=stop, limits=Limits(grace_s=0.1), output=output)
    assert (end.outcome, end.stdout, end.stderr) == (Outcome.STOPPED, b"ab-c,defgh ", b"ij")


@pytest.mark.parametrize("death", ["os._exit(3)", "os.kill(os.getpid(), 9)"])
def test_a_line_that_is_not_ended_is_kept_of_a_program_that_dies(tmp_path: Path, death: str) -> None:
    async def main() -> None:
        async with open_bench(tmp_path, language_layer=False) as bench:
            end = await bench.run(f"{UNENDED}\nimport os\n{death}")
            assert end.outcome is not Outcome.COMPLETED
            assert (end.stdout, end.stderr) == (b"ab-c,defgh ", b"ij")

    trio.run(main)


@with_bench
async def test_print_is_as_ever(bench: Bench) -> None:
    source = """
import contextlib, io, sys
print("one", 2, None, sep="|", flush=True)
print()
print(*"xy", sep="\\n")
with contextlib.redirect_stdout(io.StringIO()) as kept:
    print("elsewhere", end="!")
print(kept.getvalue(), file=sys.stdout)
for wrong in ({"foo": 1}, {"sep": 1}, {"end": b""}):
    try:
        print("x", **wrong)
    except TypeError as error:
        print(error)
sys.stdout.reconfigure(encoding="latin-1")
print("\\xe9", end="")
sys.stdout.write("\\xe9\\n")
list(map(print, "zw"))
print(print.__name__, isinstance(sys.stdout, io.TextIOWrapper), sys.stdout.fileno())
sys.stdout.close()
print("closed")
"""
    end = await bench.run(source.replace("\\\\", "\\"))
    assert end.stdout == (
        b"one|2|None\n\nx\ny\nelsewhere!\n'foo' is an invalid keyword argument for print()\n"
        b"sep must be None or a string, not int\nend must be None or a string, not bytes\n"
        b"\xe9\xe9\nz\nw\nprint True 1\n"
    )
    assert b"ValueError: I/O operation on closed file" in end.stderr


@with_bench
async def test_a_stop_before_the_start_runs_nothing(bench: Bench) -> None:
    stop = trio.Event()
    stop.set()
    end = await bench.run("print('ran')", stop=stop)
    assert (end.outcome, end.stdout) == (Outcome.STOPPED, b"")


@with_bench
async def test_calls_in_flight_are_cancelled_when_the_program_is(bench: Bench) -> None:
    await bench.run("pass")  # the zygote's start counts, and is not what is tried here
    cancelled: list[str] = []

    async def answer(call: InnerCall) -> Reply:
        try:
            await trio.sleep_forever()
        finally:
            cancelled.append(call.name)
        raise AssertionError

    end = await bench.run("import litany_tools\nlitany_tools.nap()", answer=answer, deadline_s=0.5)
    assert end.outcome is Outcome.TIMED_OUT
    assert cancelled == ["nap"]


@pytest.mark.parametrize(
    "call",
    [
        "litany_tools.nap()",
        "litany_tools.fan_out('nap', [{}] * 4)",
        "litany_tools.fan_out('nap', [{}] * 4, limit=1)",
        "await litany_tools.aio.nap()",
        "await at_work()",
        "await litany_tools.aio.fan_out('nap', [{}] * 4)",
    ],
)
def test_an_interrupt_of_any_call_runs_finally_and_shows_the_program_alone(tmp_path: Path, call: str) -> None:
    """Whatever the others of a `fan_out` take: their tools heed no cancellation for longer than the grace."""
    at_work = "async def at_work():\n    litany_tools.nap()\n"
    source = f"import litany_tools\n{at_work}try:\n    {call}\nfinally:\n    print('cleaned')"

    @with_bench
    async def run(bench: Bench) -> None:
        stop, in_flight = trio.Event(), 4 if "fan_out" in call and "limit" not in call else 1
        waiting = 0

        async def answer(_: InnerCall) -> Reply:
            nonlocal waiting
            waiting += 1
            if waiting == in_flight:
                stop.set()
            with trio.CancelScope(shield=True):
                await trio.sleep(1.5)
            return Reply("completed", 0)

        end = await bench.run(source, stop=stop, answer=answer, limits=Limits(grace_s=1))
        assert (end.outcome, end.stdout) == (Outcome.STOPPED, b"cleaned\n"), end.stderr
        lines = end.stderr.decode().splitlines()
        assert lines[-1].startswith("KeyboardInterrupt")
        shown = {each.split(",")[0].strip() for each in lines if each.startswith("  File")}
        assert shown == {'File "program.py"'}, end.stderr.decode()

    run(tmp_path)


@with_bench
async def test_a_call_that_a_program_makes_while_it_is_being_ended_is_refused(bench: Bench) -> None:
    stop, asked = trio.Event(), []

    async def answer(call: InnerCall) -> Reply:
        asked.append(call.name)
        return Reply("completed", 0)

    source = (
        "import litany_tools\ntry:\n    print('on', flush=True)\n    while True: pass\n"
        "finally:\n    end = litany_tools.echo(text='x')\n    print(end.exit_code, end.refusal.gate)"
    )
    end = await bench.run(source, stop=stop, answer=answer, output=lambda *_: stop.set())
    assert (end.outcome, end.stdout) == (Outcome.STOPPED, b"on\n126 stop\n")
    assert asked == []


@with_bench
async def test_a_program_is_not_complete_while_a_call_it_did_not_wait_for_is_running(bench: Bench) -> None:
    finished: list[str] = []

    async def answer(call: InnerCall) -> Reply:
        await trio.sleep(0.3)
        finished.append(call.name)
        return Reply("completed", 0)

    source = (
        "import threading, litany_tools\n"
        "threading.Thread(target=litany_tools.echo, kwargs={'text': 'x'}, daemon=True).start()\n"
        "import time; time.sleep(0.1)"
    )
    end = await bench.run(source, answer=answer)
    assert end.outcome is Outcome.COMPLETED, end.stderr
    assert finished == ["echo"]


@with_bench
async def test_a_call_that_nobody_waits_for_is_waited_for_until_the_deadline_and_no_longer(
    bench: Bench,
) -> None:
    await bench.run("pass")
    cancelled: list[str] = []

    async def answer(call: InnerCall) -> Reply:
        try:
            await trio.sleep_forever()
        finally:
            cancelled.append(call.name)
        raise AssertionError

    source = (
        "import threading, time, litany_tools\n"
        "threading.Thread(target=litany_tools.nap, daemon=True).start()\ntime.sleep(0.1)\nprint('done')"
    )
    end = await bench.run(source, answer=answer, deadline_s=1.0)
    assert (end.outcome, end.stdout, cancelled) == (Outcome.TIMED_OUT, b"done\n", ["nap"])


@with_bench
async def test_a_program_that_fails_waits_for_no_call(bench: Bench) -> None:
    cancelled: list[str] = []

    async def answer(call: InnerCall) -> Reply:
        try:
            await trio.sleep_forever()
        finally:
            cancelled.append(call.name)
        raise AssertionError

    source = (
        "import threading, time, litany_tools\n"
        "threading.Thread(target=litany_tools.nap, daemon=True).start()\ntime.sleep(0.1)\nraise KeyError(1)"
    )
    end = await bench.run(source, answer=answer, deadline_s=30)
    assert (end.outcome, cancelled) == (Outcome.FAILED, ["nap"])


@with_bench
async def test_nothing_of_one_program_reaches_the_next(bench: Bench) -> None:
    await bench.run("leak = 1\nimport json\ntry:\n    json.leak = 1\nexcept Exception: pass")
    end = await bench.run("import json\nprint('leak' in dir(), hasattr(json, 'leak'))")
    assert end.stdout == b"False False\n", end


@with_bench
async def test_one_allocation_over_the_memory_limit_is_a_memory_error(bench: Bench) -> None:
    end = await bench.run("print('kept')\nx = 'a' * 10**10", limits=Limits(memory_bytes=64 * MIB))
    assert (end.outcome, end.exit_code, end.stdout) == (Outcome.FAILED, 1, b"kept\n")
    assert b"MemoryError" in end.stderr
    assert end.reason == "memory limit 64 MiB"


@with_bench
async def test_a_flood_of_output_is_kept_at_both_ends(bench: Bench) -> None:
    source = "for n in range(200_000): print(n)"
    end = await bench.run(source, limits=Limits(output_bytes=1000))
    assert end.outcome is Outcome.COMPLETED
    assert end.stdout.startswith(b"0\n1\n2\n")
    assert end.stdout.endswith(b"199999\n")
    assert b"bytes dropped here: output limit" in end.stdout
    assert len(end.stdout) < 1200


@with_bench
async def test_a_source_over_the_limit_is_refused_before_a_child_is_taken(bench: Bench) -> None:
    end = await bench.run(b"#" * 2000, limits=Limits(source_bytes=1000))
    assert (end.outcome, end.exit_code) == (Outcome.REFUSED, 126)
    assert end.refusal is not None
    assert "source_bytes" in end.refusal.reason


@with_bench
async def test_the_policy_s_refusal_names_the_line(bench: Bench) -> None:
    end = await bench.run("x = 1\nimport socket\n")
    assert (end.outcome, end.exit_code) == (Outcome.REFUSED, 126)
    assert end.refusal is not None
    assert end.refusal.gate == "policy"
    assert "program.py:2:" in end.refusal.reason


@with_bench
async def test_a_result_over_the_limit_tells_the_program_that_the_call_was_made(bench: Bench) -> None:
    async def answer(_: InnerCall) -> Reply:
        return Reply("completed", 0, stdout=b"x" * 5000)

    source = "import litany_tools\nr = litany_tools.echo(text='')\nprint(r.exit_code, r.stderr)"
    end = await bench.run(source, answer=answer, limits=Limits(value_bytes=4000))
    assert b"125 " in end.stdout
    assert b"Do not repeat the call" in end.stdout


@with_bench
async def test_what_a_program_is_sent_counts_as_much_as_what_it_sends(bench: Bench) -> None:
    async def answer(_: InnerCall) -> Reply:
        return Reply("completed", 0, stdout=b"x" * 1000)

    source = "import litany_tools\nfor n in range(99): print(litany_tools.nap().outcome, flush=True)"
    end = await bench.run(source, answer=answer, limits=Limits(total_value_bytes=4000))
    assert (end.outcome, end.reason) == (
        Outcome.KILLED,
        "limit of 4000 bytes over all values (total_value_bytes)",
    )
    outcomes = end.stdout.decode().split()
    assert outcomes[:3] == ["completed"] * 3
    assert set(outcomes[3:]) == {"faulted"}, "the fourth call was made; its result did not fit any more"
    assert end.usage.calls < 99


@with_bench
async def test_files_are_the_worktree_s(bench: Bench) -> None:
    assert bench.worktree is not None
    (bench.worktree / "a.txt").write_text("alpha")
    end = await bench.run("print(open('a.txt').read())\nopen('b.txt', 'w').write('beta')")
    assert (end.stdout, end.stderr) == (b"alpha\n", b"")
    assert (bench.worktree / "b.txt").read_text() == "beta"


@with_bench
async def test_when_the_zygote_dies_the_program_faults_and_the_next_one_runs(bench: Bench) -> None:
    async def kill_the_zygote(_: InnerCall) -> Reply:
        for each in psutil.Process().children():
            each.send_signal(signal.SIGKILL)
        await trio.sleep_forever()
        raise AssertionError

    end = await bench.run("print('on')\nimport litany_tools\nlitany_tools.nap()", answer=kill_the_zygote)
    assert (end.outcome, end.exit_code, end.stdout) == (Outcome.FAULTED, 125, b"on\n")
    assert (await bench.run("print('next')")).stdout == b"next\n"


@with_bench
async def test_programs_run_side_by_side(bench: Bench) -> None:
    ends: dict[int, bytes] = {}

    async def one(n: int) -> None:
        ends[n] = (
            await bench.run(f"import litany_tools\nprint(litany_tools.echo(text='{n}').stdout)")
        ).stdout

    async with trio.open_nursery() as nursery:
        for n in range(12):
            nursery.start_soon(one, n)
    assert ends == {n: f"{n}\n".encode() for n in range(12)}


def test_a_cancelled_host_leaves_nothing_behind(tmp_path: Path) -> None:
    async def main() -> None:
        with trio.move_on_after(1.0):
            async with open_bench(tmp_path) as bench:
                await bench.run("while True: pass")

    trio.run(main)


@pytest.mark.parametrize("function", ["socket.socketpair", "subprocess.Popen"])
def test_a_zygote_that_cannot_be_started_is_a_fault_that_leaves_no_descriptor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    async def main() -> None:
        async with open_bench(tmp_path) as bench:
            before = open_descriptors()
            with monkeypatch.context() as patch:
                patch.setattr(f"litany_runtime.zygote_process.{function}", too_many)
                end = await bench.run("print(1)")
            assert (end.outcome, end.exit_code) == (Outcome.FAULTED, 125)
            assert end.reason == "the zygote could not be started: Too many open files"
            assert open_descriptors() == before
            assert (await bench.run("print(2)")).stdout == b"2\n"

    trio.run(main)


@pytest.mark.parametrize("successes", [0, 1])
def test_a_child_that_cannot_be_made_is_a_fault_that_leaves_no_descriptor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, successes: int
) -> None:
    pipe2 = os.pipe2
    made = iter(range(10))

    def some(flags: int) -> tuple[int, int]:
        return pipe2(flags) if next(made) < successes else too_many()

    async def main() -> None:
        async with open_bench(tmp_path, warm=0) as bench:
            await bench.run("pass")
            before = open_descriptors()
            with monkeypatch.context() as patch:
                patch.setattr(os, "pipe2", some)
                end = await bench.run("print(1)")
            assert end.outcome is Outcome.FAULTED
            assert end.reason == "a child could not be made: Too many open files"
            assert open_descriptors() == before
            assert (await bench.run("print(2)")).stdout == b"2\n"

    trio.run(main)


def test_a_pipe_that_a_stranger_holds_delays_no_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new_child, held = zygote_process._new_child, contextlib.ExitStack()

    def with_a_stranger(key: int, kind: zygote_process.Kind) -> Any:
        child, theirs = new_child(key, kind)
        for fd in theirs[1:]:
            held.callback(os.close, os.dup(fd))
        return child, theirs

    monkeypatch.setattr(zygote_process, "_new_child", with_a_stranger)
    waited_for: list[str] = []

    async def let_go() -> None:
        await trio.sleep(20)
        waited_for.append("the stranger")
        held.close()

    async def main() -> None:
        async with open_bench(tmp_path) as bench, trio.open_nursery() as nursery:
            nursery.start_soon(let_go)
            end = await bench.run("print('kept')")
            assert (end.outcome, end.stdout) == (Outcome.COMPLETED, b"kept\n")
            nursery.cancel_scope.cancel()

    with held:
        trio.run(main)
    assert waited_for == []


def open_descriptors() -> list[str]:
    return sorted(each.name for each in Path("/proc/self/fd").iterdir())


def too_many(*_: object, **_how: object) -> NoReturn:
    raise OSError(errno.EMFILE, "Too many open files")


@pytest.mark.parametrize("language_layer", [True, False])
def test_an_end_names_the_layers_that_held(tmp_path: Path, language_layer: bool) -> None:
    async def main() -> None:
        async with open_bench(tmp_path, language_layer=language_layer) as bench:
            end = await bench.run("print(1)")
            assert ("language policy" in end.layers) is language_layer
            assert "seccomp" in end.layers

    trio.run(main)


@with_bench
async def test_no_two_programs_draw_the_same_random_numbers(bench: Bench) -> None:
    # The module re-seeds itself in a forked child; what a child inherits must not show.
    source = (
        "import random, uuid, secrets, tempfile\nprint(random.random(), uuid.uuid4(), secrets.token_hex(4))"
    )
    drawn = [(await bench.run(source)).stdout.split() for _ in range(3)]
    assert len({each for line in drawn for each in line}) == 9


@pytest.mark.parametrize("damage", ["removed", "a symbolic link", "a file"])
def test_a_worktree_that_is_gone_is_a_fault_in_one_line(tmp_path: Path, damage: str) -> None:
    async def main() -> None:
        async with open_bench(tmp_path) as bench:
            assert bench.worktree is not None
            bench.worktree.rmdir()
            if damage == "a symbolic link":
                bench.worktree.symlink_to("/etc")
            elif damage == "a file":
                bench.worktree.write_text("")
            end = await bench.run("print(open('passwd').read())")
            assert (end.outcome, end.exit_code, end.stdout) == (Outcome.FAULTED, 125, b"")
            assert "worktree" in end.reason
            assert "defect" not in end.reason
            assert len(end.reason.splitlines()) == 1

    trio.run(main)


@pytest.mark.parametrize("change", ["made again", "replaced", "made for the first time"])
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_warm_child_never_sees_a_git_that_changed(tmp_path: Path, kind: str, change: str) -> None:
    look = (
        "import os\n"
        "found = []\n"
        "for folder, _, files in os.walk('.'):\n"
        "    found += [open(os.path.join(folder, each)).read() for each in files]\n"
        "print(found)"
    )

    def make(at: Path) -> None:
        (at if kind == "file" else at / "config").parent.mkdir(exist_ok=True)
        (at if kind == "file" else at / "config").write_text("secret")

    def remove(at: Path) -> None:
        at.unlink() if kind == "file" else shutil.rmtree(at)

    async def main() -> None:
        async with open_bench(tmp_path, language_layer=False) as bench:
            assert bench.worktree is not None
            git = bench.worktree / ".git"
            if change != "made for the first time":
                make(git)
            assert b"secret" not in (await bench.run(look)).stdout
            while not any(bench.supervisor._warm.values()):  # noqa: ASYNC110 - it has covered what is there
                await trio.sleep(0.01)
            if change == "made again":
                remove(git)
            elif change == "replaced":
                git.rename(tmp_path / "old")
            make(git)
            end = await bench.run(look)
            assert end.outcome is Outcome.COMPLETED, end
            assert b"secret" not in end.stdout

    trio.run(main)


@with_bench
async def test_a_memory_limit_that_no_child_can_live_with_is_named(bench: Bench) -> None:
    end = await bench.run("print(1)", limits=Limits(memory_bytes=1024))
    assert (end.outcome, end.exit_code) == (Outcome.FAULTED, 125)
    assert "limits.memory" in end.reason
    assert len(end.reason.splitlines()) == 1


def test_a_module_that_is_not_installed_is_named(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_bench(tmp_path, modules=("no_such_module",)) as bench:
            end = await bench.run("print(1)")
            assert end.outcome is Outcome.FAULTED
            assert "`modules`" in end.reason
            assert "no_such_module" in end.reason

    trio.run(main)


async def a_child_waits(bench: Bench) -> None:
    """Wait until a child is warm for the next program."""
    with trio.fail_after(30):
        while not any(bench.supervisor._warm.values()):  # noqa: ASYNC110 - it tells nobody
            await trio.sleep(0.01)


@with_bench
async def test_a_worktree_that_was_made_anew_is_the_one_that_a_program_has(bench: Bench) -> None:
    assert bench.worktree is not None
    await bench.run("open('old.txt', 'w')")
    await a_child_waits(bench)
    bench.worktree.rename(bench.worktree.with_name("away"))
    bench.worktree.mkdir()
    end = await bench.run("import os\nprint(os.listdir('.'))\nopen('new.txt', 'w').write('here')")
    assert (end.stdout, end.stderr) == (b"[]\n", b"")
    assert (bench.worktree / "new.txt").read_text() == "here"


@pytest.mark.parametrize(("ending", "code"), [("", 0), ("print('last')", 0), ("sys.exit(3)", 3)])
def test_a_program_that_holds_on_to_its_last_byte_ends_as_it_says(
    tmp_path: Path, ending: str, code: int
) -> None:
    source = (
        "import sys\nheld = []\nfor size in (4000, 40):\n    try:\n        while True: held.append(bytearray(size))\n"
        f"    except MemoryError: pass\n{ending}"
    )

    async def main() -> None:
        async with open_bench(tmp_path) as bench:
            end = await bench.run(source, limits=Limits(memory_bytes=32 * MIB))
            assert (end.outcome, end.exit_code, end.reason) == (
                Outcome.FAILED if code else Outcome.COMPLETED,
                code,
                "",
            )

    trio.run(main)


@pytest.mark.parametrize(
    "reply",
    [
        Reply("completed", 0, data={"\udc80": math.nan}),
        Reply("completed", 0, data={"k" * 200_000: math.nan}),
        Reply("completed", 0, data={"k" * 200_000: {"\udc80" * 200_000: [2**70]}}),
        Reply("completed" * 20_000, 0, data=1),
        Reply("completed", 2**70, data=1),
    ],
    ids=["a name that is no text", "a long name", "long names", "a long outcome", "a large exit code"],
)
def test_whatever_a_reply_holds_the_program_is_told_that_the_call_was_made(
    tmp_path: Path, reply: Reply
) -> None:
    async def answer(_: InnerCall) -> Reply:
        return reply

    async def main() -> None:
        async with open_bench(tmp_path) as bench:
            end = await bench.run(
                "import litany_tools\nprint(litany_tools.echo(text='').stderr)\nprint('on')",
                answer=answer,
                limits=Limits(value_bytes=100_000),
            )
            assert end.outcome is Outcome.COMPLETED
            assert b"cannot be delivered" in end.stdout
            assert b"Do not repeat the call" in end.stdout
            assert end.stdout.endswith(b"on\n")

    trio.run(main)


def test_a_child_that_does_not_take_its_program_ends_at_the_deadline(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_bench(tmp_path, warm=1) as bench:
            await bench.run("print(1)")
            await a_child_waits(bench)
            waiting = max(psutil.Process().children(recursive=True), key=lambda each: each.create_time())
            waiting.send_signal(signal.SIGSTOP)
            with trio.fail_after(30):
                end = await bench.run(b"#" * 1_000_000, deadline_s=0.5)
            assert end.outcome is Outcome.TIMED_OUT
            assert (await bench.run("print(2)")).stdout == b"2\n"

    trio.run(main)


@with_bench
async def test_stubs_that_no_frame_holds_are_a_fault_in_one_line(bench: Bench) -> None:
    stubs = f"{render(TOOLS)}\nX = {'x' * 17 * MIB!r}\n"
    end = await bench.supervisor.run(Program(b"print(1)", stubs), answer=echo, deadline=math.inf)
    assert (end.outcome, end.exit_code) == (Outcome.FAULTED, 125)
    assert "stubs" in end.reason
    assert len(end.reason.splitlines()) == 1


def test_an_interrupt_that_hits_a_task_of_the_supervisor_is_the_host_s(tmp_path: Path) -> None:
    went_on = []

    async def hit() -> None:
        signal.raise_signal(signal.SIGINT)
        went_on.append(True)

    async def main() -> None:
        async with open_bench(tmp_path) as bench:
            bench.supervisor.attend(hit)
            await trio.sleep_forever()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            trio.run(main)
    finally:
        signal.signal(signal.SIGINT, before)
    assert went_on


@pytest.mark.parametrize("name", [b"no \xff text", b"new\nline", b"\xc3\xa9" * 100])
def test_a_worktree_may_be_on_any_path_that_the_system_has(tmp_path: Path, name: bytes) -> None:
    async def main() -> None:
        async with open_bench(tmp_path / os.fsdecode(name)) as bench:
            end = await bench.run("open('a.txt', 'w').write('alpha')\nprint(open('a.txt').read())")
            assert (end.stdout, end.stderr, end.reason) == (b"alpha\n", b"", "")
            assert bench.worktree is not None
            assert (bench.worktree / "a.txt").read_text() == "alpha"

    trio.run(main)


@pytest.mark.parametrize(
    "calls",
    [
        (
            "import asyncio, litany_tools\n"
            "await asyncio.gather(*[litany_tools.aio.echo(text='') for _ in range(9)])"
        ),
        "import litany_tools\nlitany_tools.fan_out('echo', [{'text': ''}] * 9, limit=9)",
        "import litany_tools\nprint([litany_tools.echo(text='') for _ in range(9)])",
    ],
    ids=["tasks", "threads", "one after another"],
)
def test_answers_that_do_not_fit_into_its_memory_end_a_program_at_once(tmp_path: Path, calls: str) -> None:
    async def answer(_: InnerCall) -> Reply:
        return Reply("completed", 0, stdout=b"x" * 8 * MIB)

    async def main() -> None:
        async with open_bench(tmp_path) as bench:
            with trio.fail_after(60):
                end = await bench.run(
                    calls, answer=answer, limits=Limits(memory_bytes=48 * MIB), deadline_s=300
                )
            assert end.outcome is Outcome.FAILED
            assert b"memory" in end.stderr.lower(), end.stderr

    trio.run(main)
