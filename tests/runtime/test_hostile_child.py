"""A child that has broken out of the language is still only a child: with the policy off, from the host's side."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest
import trio

from litany_runtime.limits import MIB, Limits
from litany_runtime.outcome import Outcome
from litany_runtime.program import InnerCall, ProgramEnd
from litany_runtime.run import MAX_UNSENT
from litany_stubs.words import Reply
from runtime_kit import Bench, open_bench

FRAME = "import os, struct, msgpack\ndef send(items):\n    b = msgpack.packb(items)\n    os.write(3, struct.pack('>I', len(b)) + b)\n"


def run_hostile(folder: Path, source: str, **options: object) -> tuple[ProgramEnd, ProgramEnd]:
    """Run a program without the policy, and an ordinary one after it; both ends."""

    async def main() -> tuple[ProgramEnd, ProgramEnd]:
        async with open_bench(folder, language_layer=False) as bench:
            return await bench.run(source, **options), await bench.run("print('next')")  # type: ignore[arg-type]

    return trio.run(main)


@pytest.mark.parametrize(
    ("name", "source", "reason"),
    [
        (
            "garbage",
            "import os; os.write(3, b'\\0\\0\\0\\x08garbage!')",
            "not msgpack|no message of this side",
        ),
        ("a huge frame", "import os; os.write(3, b'\\xff' * 8)", "the limit is"),
        (
            "a host's message",
            FRAME + "send([4, 1, 'completed', 0, b'', b'', None, '', ''])",
            "no message of this side",
        ),
        ("a second warm", FRAME + "send([1, ['all']])", "out of turn"),
        ("a number that skips", FRAME + "send([3, 5, 'echo', {}])", "call 5 after call 0"),
        (
            "a number again",
            FRAME + "send([3, 1, 'echo', {}]); send([3, 1, 'echo', {}])",
            "call 1 after call 1",
        ),
        ("a number below", FRAME + "send([3, 0, 'echo', {}])", "call 0 after call 0"),
        ("the end of a call that was not made", FRAME + "send([8, 1])", "cancelled call 1, which it has not"),
        ("the end of no call", FRAME + "send([8, -1])", "cancelled call -1, which it has not made"),
        (
            "the end of a call twice",
            FRAME + "send([3, 1, 'nap', {}]); send([8, 1]); send([8, 1])",
            "cancelled call 1 again",
        ),
        ("an end of a wrong type", FRAME + "send([8, '1'])", "Cancel.seq is str"),
        ("a wrong type", FRAME + "send([3, 1, 7, {}])", "Call.name is int"),
        (
            "a deep value",
            FRAME + "v = 1\nfor _ in range(70): v = [v]\nsend([3, 1, 'echo', {'a': v}])",
            "nested deeper",
        ),
        (
            "a value that is not JSON's",
            FRAME + "send([3, 1, 'echo', {'a': b'x'}])",
            "bytes is not a JSON value",
        ),
        ("a long name", FRAME + "send([3, 1, 'x' * 2000, {}])", "name has over"),
        (
            "a refusal of what has made calls",
            FRAME + "send([3, 1, 'echo', {}]); send([5, 'program.py:1: not so'])",
            "says that it was refused",
        ),
    ],
)
def test_what_breaks_the_wire_ends_that_program_and_nothing_else(
    tmp_path: Path, name: str, source: str, reason: str
) -> None:
    end, after = run_hostile(tmp_path, f"print('kept')\n{source}\nimport time; time.sleep(20)")
    assert (end.outcome, end.exit_code, end.stdout) == (Outcome.KILLED, 137, b"kept\n"), name
    assert "rules of the wire" in end.reason
    assert any(each in end.reason for each in reason.split("|")), end.reason
    assert after.stdout == b"next\n"


def test_calls_over_the_limits_end_the_program(tmp_path: Path) -> None:
    flood = FRAME + "for n in range(1, 10): send([3, n, 'echo', {'text': 'x'}])\nimport time; time.sleep(20)"
    end, _ = run_hostile(tmp_path, flood, limits=Limits(calls=5))
    assert (end.outcome, end.reason) == (Outcome.KILLED, "limit of 5 calls (calls)")
    assert end.usage.calls == 5
    naps = flood.replace("'echo'", "'nap'")
    end, _ = run_hostile(tmp_path, naps, limits=Limits(pending_calls=3))
    assert (end.outcome, end.reason) == (Outcome.KILLED, "limit of 3 calls at once (pending_calls)")
    assert end.usage.calls == 3
    big = (
        FRAME
        + "for n in range(1, 10): send([3, n, 'echo', {'text': 'x' * 1000}])\nimport time; time.sleep(20)"
    )
    end, _ = run_hostile(tmp_path, big, limits=Limits(total_value_bytes=4000))
    assert (end.outcome, end.reason) == (
        Outcome.KILLED,
        "limit of 4000 bytes over all values (total_value_bytes)",
    )


def test_a_child_that_never_reads_its_answers_ends_at_its_deadline(tmp_path: Path) -> None:
    source = (
        FRAME
        + "for n in range(1, 200): send([3, n, 'echo', {'text': 'x' * 100000}])\nimport time; time.sleep(20)"
    )
    end, after = run_hostile(tmp_path, source, deadline_s=2)
    assert end.outcome is Outcome.TIMED_OUT
    assert after.stdout == b"next\n"


def test_a_child_that_never_reads_its_answers_costs_its_host_one_value_and_no_more(tmp_path: Path) -> None:
    """Each call asks for little and is answered with much; as many as may be are asked for before the first."""
    limits = Limits(value_bytes=4 * MIB)
    answered = 0

    async def answer(call: InnerCall) -> Reply:
        nonlocal answered
        await trio.lowlevel.checkpoint()  # here the door's gates and its turn would be
        await call.awaited.room()
        answered += 1
        return Reply("completed", 0, stdout=bytes(1 * MIB))

    source = (
        FRAME + "for n in range(1, 4000): send([3, n, 'echo', {'text': 'x' * 1000}])\n"
        "import time; time.sleep(20)"
    )

    async def main() -> tuple[ProgramEnd, int]:
        async with open_bench(tmp_path, language_layer=False) as bench:
            await bench.run("print('warm')")
            before = psutil.Process().memory_info().rss
            stop = trio.Event()
            grown = 0

            async def watch() -> None:
                nonlocal grown
                for _ in range(20):
                    await trio.sleep(0.1)
                    grown = max(grown, psutil.Process().memory_info().rss - before)
                stop.set()

            async with trio.open_nursery() as nursery:
                nursery.start_soon(watch)
                end = await bench.run(source, answer=answer, limits=limits, stop=stop)
            return end, grown

    end, grown = trio.run(main)
    assert end.outcome is Outcome.STOPPED
    assert answered <= 6  # four make up a value, one goes beyond it, and one may be in the socket
    assert grown < 32 * MIB


def test_a_program_that_is_slow_to_read_gets_every_answer(tmp_path: Path) -> None:
    """Answers of six times the largest value wait for a program that reads them late, and sends meanwhile."""
    source = """
import asyncio, time
from litany_tools import aio
async def main():
    calls = [asyncio.create_task(aio.echo(text="x" * 500_000)) for _ in range(48)]
    await asyncio.sleep(0.05)
    time.sleep(0.5)
    print(sum([len((await each).stdout) for each in calls]))
asyncio.run(main())
"""

    async def main() -> ProgramEnd:
        async with open_bench(tmp_path) as bench:
            return await bench.run(source, limits=Limits(value_bytes=4 * MIB))

    end = trio.run(main)
    assert (end.outcome, end.stdout) == (Outcome.COMPLETED, b"24000000\n"), end.stderr


def test_a_child_that_closes_every_descriptor_has_ended(tmp_path: Path) -> None:
    end, after = run_hostile(
        tmp_path, "import os, time\nos.closerange(0, 100)\ntime.sleep(20)", deadline_s=10
    )
    assert end.outcome in {Outcome.FAILED, Outcome.KILLED, Outcome.TIMED_OUT, Outcome.FAULTED}
    assert after.stdout == b"next\n"


def test_a_forged_end_is_checked_against_the_kernel_s_word(tmp_path: Path) -> None:
    end, _ = run_hostile(tmp_path, FRAME + "send([6, 0, False, [], 0])\nos._exit(9)")
    assert (end.outcome, end.exit_code) == (Outcome.FAILED, 9)


def test_what_a_child_says_of_its_results_is_kept_to_the_calls_that_it_made(tmp_path: Path) -> None:
    end, _ = run_hostile(
        tmp_path, FRAME + f"send([6, 0, False, [-1, 0, 1, 1, 2**63], {2**64 - 1}])\nos._exit(0)"
    )
    assert (end.outcome, end.unread, end.unsent) == (Outcome.COMPLETED, (), MAX_UNSENT)
    for odd in ("['x']", "[True]", "[1.5]", "{}"):
        end, _ = run_hostile(tmp_path, FRAME + f"send([6, 0, False, {odd}, 0])\nimport time; time.sleep(20)")
        assert end.outcome is Outcome.KILLED
        assert "rules of the wire: Ended.unread" in end.reason


def test_warnings_that_nobody_asked_for_or_that_come_twice_are_out_of_turn(tmp_path: Path) -> None:
    end, _ = run_hostile(tmp_path, FRAME + "send([9, ['x']])\nimport time; time.sleep(20)")
    assert (end.outcome, end.reason) == (
        Outcome.KILLED,
        "it broke the rules of the wire: Warned out of turn",
    )
    heard: list[str] = []
    end, _ = run_hostile(
        tmp_path, FRAME + "send([9, ['x']])\nimport time; time.sleep(20)", warned=heard.append
    )
    assert (end.outcome, heard) == (Outcome.KILLED, [])  # its own, of which there is one, came before


def test_a_child_that_says_it_ended_and_lives_on_is_killed(tmp_path: Path) -> None:
    end, _ = run_hostile(
        tmp_path, FRAME + "send([6, 0, False, [], 0])\nimport time\ntime.sleep(20)\nos._exit(0)"
    )
    assert (end.outcome, end.exit_code) == (Outcome.KILLED, 137)


def test_calls_after_the_last_word_go_nowhere(tmp_path: Path) -> None:
    seen: list[str] = []

    async def answer(call: object) -> object:
        seen.append(str(call))
        raise AssertionError

    source = (
        FRAME
        + "b = b''\nfor items in ([6, 0, False, [], 0], [3, 1, 'echo', {}]):\n    p = msgpack.packb(items)\n    b += struct.pack('>I', len(p)) + p\nos.write(3, b)\nos._exit(0)"
    )
    end, _ = run_hostile(tmp_path, source, answer=answer)
    assert end.outcome is Outcome.COMPLETED
    assert seen == []


def test_a_child_cannot_fork_exec_or_reach_the_zygote(tmp_path: Path) -> None:
    source = """
import os, signal, socket
def attempt(what, action):
    try:
        action()
    except BaseException as error:
        print(what, type(error).__name__)
    else:
        print(what, 'DONE')
attempt('fork', os.fork)
attempt('exec', lambda: os.execv('/proc/self/exe', ['x']))
attempt('kill 1', lambda: os.kill(1, signal.SIGKILL))
attempt('socket', socket.socket)
for path in ('/etc/passwd', '/proc/self/environ', '/sys/kernel', '/root/.bashrc', '/var', '/bin/sh', '/usr/bin/env'):
    attempt(path, lambda: os.stat(path))
print(os.getuid() != 0, os.getgid() != 0, dict(os.environ), sorted(os.listdir('.')))
"""
    end, after = run_hostile(tmp_path, source)
    lines = end.stdout.decode().splitlines()
    assert not [each for each in lines if each.endswith("DONE")], lines
    assert len(lines) == 12, end
    assert lines[-1] == "True True {} []"
    assert after.stdout == b"next\n"


def test_the_host_s_memory_does_not_grow_with_a_flood(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_bench(tmp_path, language_layer=False) as bench:
            await bench.run("print('warm')")
            await _flood(bench)

    async def _flood(bench: Bench) -> None:
        before = psutil.Process(os.getpid()).memory_info().rss
        end = await bench.run("import os\nb = b'x' * 65536\nwhile True: os.write(1, b)", deadline_s=1)
        grown = psutil.Process(os.getpid()).memory_info().rss - before
        assert end.outcome is Outcome.TIMED_OUT
        assert grown < 32 * MIB

    trio.run(main)
