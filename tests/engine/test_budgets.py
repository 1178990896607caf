"""Budgets: paid before a call runs, never given back, kept through every death."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from door_kit import Place, inside, make_place, record_of
from litany_engine.configuration.config import ConfigError, parse_config
from litany_engine.door.budget_limits import Budgets
from litany_engine.door.budgets import Accounts
from litany_engine.door.calls import CallEnd, Capture, Context, Tool, ToolCall
from litany_engine.door.door import Door
from litany_engine.door.gates import Hold
from litany_engine.door.ledger import Ledger, LedgerError
from litany_engine.door.pending import Pending
from litany_engine.tools.definitions import Traits
from litany_engine.tools.toolset import toolset
from litany_runtime.outcome import Outcome
from litany_stubs.words import Refusal, ToolDeclaration


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def door_of(place: Place, **limits: int) -> Door:
    return Door(accounts=Accounts(place.root, Budgets(**limits)))


def calls(place: Place, door: Door, count: int, name: str = "read_file", agent: str = "a") -> list[CallEnd]:
    async def main() -> list[CallEnd]:
        caller = place.caller(agent=agent)
        return [await door.invoke(name, {"path": "x"}, caller) for _ in range(count)]

    return trio.run(main)


def refused_by(end: CallEnd) -> str:
    return end.refusal.gate if end.refusal else ""


def test_a_budget_lets_so_many_calls_through_and_says_why_the_next_is_refused(place: Place) -> None:
    ends = calls(place, door_of(place, agent_calls=3), 5)
    assert [refused_by(end) for end in ends] == ["", "", "", "budget", "budget"]
    assert ends[3].refusal is not None
    assert "budget of 3 calls (agent_calls)" in ends[3].refusal.reason
    assert len(place.kept.calls) == 3
    assert record_of(ends[3].record)["refusal"]["gate"] == "budget"


def test_nothing_is_a_limit_and_absent_is_none(place: Place) -> None:
    assert refused_by(calls(place, door_of(place, agent_calls=0), 1)[0]) == "budget"
    assert refused_by(calls(place, door_of(place), 1)[0]) == ""
    assert not (place.root / "budgets/agent/b.ledger").exists()
    assert not Budgets()
    assert Budgets(agent_calls=0)


def test_what_was_used_outlives_the_process_that_used_it(place: Place) -> None:
    calls(place, door_of(place, agent_calls=3), 2)
    assert [refused_by(end) for end in calls(place, door_of(place, agent_calls=3), 2)] == ["", "budget"]


def test_a_failing_and_a_stopped_call_get_nothing_back(place: Place) -> None:
    door = door_of(place, agent_calls=2)
    calls(place, door, 1, "fail")
    calls(place, door, 1, "crash")
    assert refused_by(calls(place, door, 1)[0]) == "budget"


def test_a_refused_call_costs_nothing(place: Place) -> None:
    async def refuse(*_: object) -> Refusal | Hold:
        return Refusal("control", "no")

    accounts = Accounts(place.root, Budgets(agent_calls=1))
    calls(place, Door(consult=refuse, accounts=accounts), 5)
    calls(place, Door(accounts=accounts), 3, "nothing_of_that_name")
    assert refused_by(calls(place, Door(accounts=accounts), 1)[0]) == ""


def test_a_tree_shares_what_its_agents_use_and_a_stranger_does_not(place: Place) -> None:
    for agent in ("20260101T000000Z-aaaaaa", "20260101T000000Z-aaaaaa-20260101T000001Z-bbbbbb", "c"):
        (place.root / "steps" / agent).mkdir()
    door = door_of(place, tree_calls=3)
    root = "20260101T000000Z-aaaaaa"
    child = f"{root}-20260101T000001Z-bbbbbb"
    ends = [*calls(place, door, 2, agent=root), *calls(place, door, 2, agent=child)]
    assert [refused_by(end) for end in ends] == ["", "", "", "budget"]
    assert refused_by(calls(place, door, 1, agent="c")[0]) == ""


def test_refused_calls_of_a_program_are_not_charged(place: Place) -> None:
    async def main() -> list[CallEnd]:
        caller = inside(place.caller())
        door = door_of(place, program_calls=3)
        asked = [("read_file", "path"), ("nothing", "path"), ("read_file", "pth"), ("read_file", "path")]
        ends = [await door.invoke(name, {key: "x"}, caller) for name, key in [*asked, *asked]]
        # Another process that makes calls in the name of the same call counts on from where this one is.
        other = inside(caller)
        return [*ends, await door_of(place, program_calls=3).invoke("read_file", {"path": "x"}, other)]

    ends = trio.run(main)
    first = ["", "grant", "schema", ""]
    assert [refused_by(end) for end in ends] == [*first, "", "grant", "schema", "budget", "budget"]


def test_bytes_are_counted_both_ways(place: Place) -> None:
    door = door_of(place, agent_bytes_in=30)  # {"path":"x"} has 12
    assert [refused_by(end) for end in calls(place, door, 4)] == ["", "", "budget", "budget"]
    other = make_place_in(place, "other")
    door = door_of(
        other, agent_bytes_out=20
    )  # "content of x" has 12: what goes past is given, the next is not
    ends = calls(other, door, 4)
    assert [refused_by(end) for end in ends] == ["", "", "budget", "budget"]
    assert ends[1].stdout == b"content of x"
    assert refused_by(calls(other, door_of(other, agent_bytes_out=20), 1)[0]) == "budget"


def make_place_in(place: Place, name: str) -> Place:
    (place.root / name).mkdir()
    return make_place(place.root / name)


def test_pending_calls_are_bounded_and_come_free_when_they_end(place: Place) -> None:
    async def main() -> list[str]:
        door = door_of(place, agent_pending=2)
        caller, found = place.caller(), []
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(door.invoke, "wait", {}, caller)
            await trio.testing.wait_all_tasks_blocked()
            found.append(refused_by(await door.invoke("read_file", {"path": "x"}, caller)))
            await door.stop()
            found.append(refused_by(await door.invoke("read_file", {"path": "x"}, caller)))
        return found

    assert trio.run(main) == ["budget", ""]


def test_calls_in_flight_elsewhere_count_too_and_a_death_frees_their_places(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from litany_engine.door.pending import Pending\n"
        "one = Pending(Path(sys.argv[1])); print(one.take(2), flush=True); time.sleep(600)"
    )
    path = tmp_path / "budgets/agent/a.pending"
    here = Pending(path)
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == b"0\n"
            assert (here.take(2), here.take(2)) == (1, None)
        finally:
            os.kill(other.pid, signal.SIGKILL)
    assert here.take(2) == 0
    here.leave(1)
    assert Pending(path).take(2) == 1  # two doors of one process bound each other, too


def test_what_the_processes_of_one_call_use_together_is_bounded(place: Place) -> None:
    """Each door here is what a `litany invoke` in a tool's process is: it knows nothing of the others."""
    caller = place.caller()  # all in one step
    limits = {"program_pending": 1, "program_bytes_in": 30, "program_bytes_out": 30}

    def elsewhere(**limits: int) -> str:
        async def main() -> str:
            of_its_own = inside(caller)
            return refused_by(await door_of(place, **limits).invoke("read_file", {"path": "x"}, of_its_own))

        return trio.run(main)

    async def while_one_waits() -> str:
        door = door_of(place, **limits)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(door.invoke, "wait", {}, inside(caller))
            await trio.testing.wait_all_tasks_blocked()
            other = inside(caller)
            end = await door_of(place, **limits).invoke("read_file", {"path": "x"}, other)
            await door.stop()
        return refused_by(end)

    assert trio.run(while_one_waits) == "budget"
    assert elsewhere(**limits) == ""
    assert elsewhere(program_bytes_out=12) == "budget"  # "content of x" has 12
    assert elsewhere(**limits) == ""
    assert elsewhere(program_bytes_in=37) == "budget"  # {"path":"x"} has 12, twice, and {} has 2
    assert not (place.root / "budgets").exists()


def test_a_refused_call_gives_its_place_among_those_in_flight_back(place: Place) -> None:
    for end in calls(place, door_of(place, agent_pending=1, tree_calls=0), 3):
        assert end.refusal is not None
        assert "(tree_calls)" in end.refusal.reason  # and not that one is in flight


@pytest.mark.parametrize("scope", ["agent", "tree"])
def test_a_call_that_cannot_be_paid_for_gives_every_place_back(
    place: Place, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    add = Ledger.add

    def full(ledger: Ledger, *line: Any) -> None:
        if ledger.path.parent.name == scope:
            raise OSError(errno.ENOSPC, "No space left on device")
        add(ledger, *line)

    door = door_of(place, agent_pending=1, tree_pending=1)
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "add", full)
        for end in calls(place, door, 3):
            assert end.outcome is Outcome.FAULTED
            assert "No space left" in end.reason
    assert calls(place, door, 1)[0].outcome is Outcome.COMPLETED


def test_a_try_that_cannot_be_paid_for_is_not_made(place: Place) -> None:
    tries = []

    async def execute(call: ToolCall, context: Context) -> Capture:
        tries.append(call)
        (place.root / "budgets/agent/a.ledger").write_text("damaged")
        return Capture(stdout=b"said", exit_code=1, retryable=True)

    place.toolset = toolset([Tool(ToolDeclaration("flaky"), execute, traits=Traits(max_retries=5))])

    async def main() -> CallEnd:
        return await door_of(place, agent_calls=9).invoke("flaky", {}, place.caller())

    end = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0.01))
    assert (end.outcome, end.stdout, len(tries)) == (Outcome.FAILED, b"said", 1)


def test_a_call_that_is_tried_again_is_one_call_in_flight(place: Place) -> None:
    tries = []

    async def execute(call: ToolCall, context: Context) -> Capture:
        tries.append(call)
        return Capture(exit_code=1, retryable=len(tries) < 3)

    place.toolset = toolset([Tool(ToolDeclaration("t"), execute, traits=Traits(max_retries=5))])

    async def main() -> CallEnd:
        return await door_of(place, agent_pending=1).invoke("t", {}, place.caller())

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0.01))
    assert len(tries) == 3


def test_each_try_of_a_call_is_paid_for(place: Place) -> None:
    tries = []

    async def execute(call: ToolCall, context: Context) -> Capture:
        tries.append(call)
        return Capture(exit_code=1, retryable=True)

    flaky = Tool(ToolDeclaration("flaky"), execute, traits=Traits(max_retries=5))
    place.toolset = toolset([flaky])

    async def main() -> CallEnd:
        door = door_of(place, agent_calls=3)
        return await door.invoke("flaky", {}, place.caller())

    end = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0.01))
    assert (end.outcome, len(tries)) == (Outcome.FAILED, 3)


KILLED = """
import os, sys, trio
from pathlib import Path
sys.path[:0] = {path!r}
from door_kit import make_place
from litany_engine.door.budget_limits import Budgets
from litany_engine.door.budgets import Accounts
from litany_engine.door.calls import Capture, Tool
from litany_engine.door.door import Door
from litany_engine.tools.toolset import toolset
from litany_stubs.words import ToolDeclaration

root = Path({root!r})

class Dying(Accounts):
    def reserve(self, *call, **how):
        super().reserve(*call, **how)
        os.kill(os.getpid(), 9)

async def execute(call, context):
    (root / "ran").touch()

place = make_place(root)
place.toolset = toolset([Tool(ToolDeclaration("act"), execute)])
door = Door(accounts=Dying(root, Budgets(agent_calls=1)))
trio.run(door.invoke, "act", {{}}, place.caller())
"""


def test_a_host_killed_between_the_reservation_and_the_call_has_paid(tmp_path: Path) -> None:
    code = KILLED.format(path=sys.path, root=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not (tmp_path / "ran").exists()
    ledger = (tmp_path / "budgets/agent/a.ledger").read_text()
    assert ledger == "c 0 call_1\n"
    accounts = Accounts(tmp_path, Budgets(agent_calls=1))
    caller: Any = type("Caller", (), {"agent": "a", "parent": None})()
    assert isinstance(accounts.reserve(ToolCall("call_2", "x", {}), caller), Refusal)


MANY = """
import sys
from pathlib import Path
from types import SimpleNamespace
from litany_engine.door.budget_limits import Budgets
from litany_engine.door.budgets import Accounts, Reservation
from litany_engine.door.calls import ToolCall

accounts = Accounts(Path(sys.argv[1]), Budgets(agent_calls=100, tree_calls=150))
caller = SimpleNamespace(agent="a", parent=None)
print(sum(isinstance(accounts.reserve(ToolCall("c", "x", {}), caller), Reservation) for _ in range(80)))
"""


def test_processes_of_one_workspace_cannot_both_take_the_last_call(tmp_path: Path) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", MANY, str(tmp_path)], stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    taken = [int(each.communicate()[0]) for each in running]
    assert sum(taken) == 100
    assert len((tmp_path / "budgets/agent/a.ledger").read_text().splitlines()) == 100


def test_nobody_looks_at_a_ledger_while_another_makes_up_its_mind(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budgets/agent/a.ledger")
    with ledger.locked():
        for _ in range(99):
            ledger.add("c", 0, "call")
        with subprocess.Popen([sys.executable, "-c", MANY, str(tmp_path)], stdout=subprocess.PIPE) as other:
            with contextlib.suppress(subprocess.TimeoutExpired):
                other.wait(1.5)  # it would take the last call now, if it did not wait for the lock
            ledger.add("c", 0, "call")
            fcntl.flock(ledger._fd, fcntl.LOCK_UN)
            assert other.stdout is not None
            assert other.stdout.read() == b"0\n"
    ledger.close()


def test_a_long_ledger_is_shortened_and_others_find_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import litany_engine.door.ledger as module

    monkeypatch.setattr(module, "MAX_LEDGER_BYTES", 200)
    one, other = Ledger(tmp_path / "l"), Ledger(tmp_path / "l")
    for number in range(100):
        ledger = one if number % 3 else other
        with ledger.locked():
            assert ledger.calls == number
            ledger.add("c", 2, "call")
    with other.locked():
        assert (other.calls, other.bytes_in) == (100, 200)
    assert (tmp_path / "l").stat().st_size <= 200 + 20
    one.close()
    other.close()


@pytest.mark.parametrize(
    "text", ["c 1", "c 1 x\nc", "c -1 x\n", "z 1 x\n", "c one x\n", "s 1\n", "s 9 -1 9\n", "\xff\n"]
)
def test_a_ledger_that_cannot_be_read_lets_nothing_run(place: Place, text: str) -> None:
    path = place.root / "budgets/agent/a.ledger"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="latin-1")
    for _ in range(2):
        (end,) = calls(place, door_of(place, agent_calls=5), 1)
        assert end.outcome is Outcome.FAULTED
        assert "a.ledger" in end.reason
    assert place.kept.calls == []


def test_a_ledger_that_is_no_file_lets_nothing_run(place: Place) -> None:
    path = place.root / "budgets/agent/a.ledger"
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    (end,) = calls(place, door_of(place, agent_calls=5), 1)
    assert end.outcome is Outcome.FAULTED
    assert "a.ledger is no file" in end.reason
    assert place.kept.calls == []


def test_half_a_line_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    ledger = Ledger(tmp_path / "l")
    with ledger.locked():
        ledger.add("c", 1, "one")
    with monkeypatch.context() as patch, ledger.locked():
        patch.setattr(os, "write", lambda fd, line: write(fd, line[:3]))
        with pytest.raises(LedgerError, match="half a line"):
            ledger.add("c", 1, "two")
    for each in (ledger, Ledger(tmp_path / "l")):
        with each.locked():
            assert each.calls == 1
    assert (tmp_path / "l").read_text() == "c 1 one\n"


def test_a_ledger_that_grew_shorter_lets_nothing_run(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l")
    with ledger.locked():
        ledger.add("c", 1, "call")
    os.truncate(tmp_path / "l", 0)
    with pytest.raises(LedgerError, match="damaged"), ledger.locked():
        pass


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("co"), st.integers(0, 10**12)), max_size=30))
def test_what_is_added_up_is_what_is_read_again(tmp_path_factory: pytest.TempPathFactory, lines: Any) -> None:
    path = tmp_path_factory.mktemp("l") / "l"
    writer, reader = Ledger(path), Ledger(path)
    for kind, amount in lines:
        with writer.locked():
            writer.add(kind, amount, "T-1")
    with reader.locked():
        pass
    assert (reader.calls, reader.bytes_in, reader.bytes_out) == (
        sum(kind == "c" for kind, _ in lines),
        sum(amount for kind, amount in lines if kind == "c"),
        sum(amount for kind, amount in lines if kind == "o"),
    )
    writer.close()
    reader.close()


def test_the_file_says_what_is_a_budget() -> None:
    config = parse_config('[budgets]\nagent_calls = 0\ntree_bytes_in = "1 MiB"\n', Path("/w/litany.toml"))
    assert config.budgets == Budgets(agent_calls=0, tree_bytes_in=2**20)
    with pytest.raises(ConfigError, match=r":2: budgets\.agent_calls"):
        parse_config("[budgets]\nagent_calls = -1\n", Path("/w/litany.toml"))


@pytest.mark.parametrize("value", [-1, 1.5, True])
def test_a_budget_is_a_whole_number(value: Any) -> None:
    with pytest.raises(ValueError, match="agent_calls"):
        Budgets(agent_calls=value)
