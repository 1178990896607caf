"""Holds: a program waits, an operator answers from another process, and silence is never consent."""

from __future__ import annotations

import json
import os
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from cli_kit import litany, start
from door_kit import Place, inside, make_place, record_of
from litany_engine import init_workspace, open_workspace, tool
from litany_engine.configuration.config import HoldConfig
from litany_engine.door.callers import Caller
from litany_engine.door.calls import CallEnd, Capture, Context, Tool, ToolCall
from litany_engine.door.dead_holds import refuse_dead_holds
from litany_engine.door.door import Door
from litany_engine.door.events import CallHeld
from litany_engine.door.gates import Hold
from litany_engine.door.holds import Answer, HoldError, Holds, Question
from litany_engine.records.show import show_json, show_text
from litany_engine.tools.definitions import Traits
from litany_engine.tools.toolset import toolset
from litany_engine.workspaces.workspace import Workspace
from litany_runtime.outcome import Outcome
from litany_stubs.words import ToolDeclaration
from tool_kit import wait_until
from window_kit import use

ASK = '[[rules]]\naction = "ask"\ntool = "note"\nreason = "says Ann"\n'


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def holding(place: Place, **hold: Any) -> tuple[Door, Holds]:
    """A door whose control holds every call."""

    async def consult(*_: object) -> Hold:
        return Hold("ask Ann")

    holds = Holds(place.root)
    return Door(consult=consult, holds=holds, hold=HoldConfig(**hold)), holds


def wait_and_answer(place: Place, answer: Answer | None, **hold: Any) -> tuple[CallEnd, float]:
    """Make an inner call that is held, answer it after ten seconds, and say how long it took."""

    async def main() -> tuple[CallEnd, float]:
        door, holds = holding(place, **hold)
        began = trio.current_time()
        ends = []

        async def call() -> None:
            ends.append(await door.invoke("read_file", {"path": "x"}, inside(place.caller())))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await trio.sleep(10)
            (question,) = holds.questions()
            assert (question.id, question.waits, question.input) == ("T-1", True, {"path": "x"})
            assert not place.kept.calls
            if answer is not None:
                holds.answer("T-1", answer)
        return ends[0], trio.current_time() - began

    return trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


def test_a_held_call_goes_on_when_the_operator_lets_it(place: Place) -> None:
    end, took = wait_and_answer(place, Answer("pass"))
    assert (end.outcome, end.stdout) == (Outcome.COMPLETED, b"content of x")
    assert took == pytest.approx(10, abs=0.5)
    assert Holds(place.root).questions() == []


def test_a_held_call_is_refused_with_the_operators_reason(place: Place) -> None:
    end, _ = wait_and_answer(place, Answer("refuse", "not on a Friday"))
    assert end.refusal is not None
    assert end.refusal.gate == "control"
    assert "not on a Friday" in end.refusal.reason
    assert record_of(end.record)["refusal"]["gate"] == "control"
    assert place.kept.calls == []


def test_silence_is_a_refusal_once_patience_is_over(place: Place) -> None:
    end, took = wait_and_answer(place, None, patience_s=60)
    assert took == pytest.approx(60, abs=0.5)
    assert end.refusal is not None
    assert "none came within 1 min" in end.refusal.reason
    assert "ask Ann" in end.refusal.reason
    assert place.kept.calls == []
    assert list((place.root / "holds").rglob("*.json")) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"yes",
        b"{}",
        b'{"verdict": "pass"}',
        b'{"verdict": "PASS", "reason": "", "to": ""}',
        b"[1]",
        b"\xff",
    ],
)
def test_only_a_written_pass_to_exactly_this_call_is_consent(place: Place, content: bytes) -> None:
    async def main() -> CallEnd:
        door, holds = holding(place)
        ends = []

        async def call() -> None:
            ends.append(await door.invoke("read_file", {"path": "x"}, inside(place.caller())))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await trio.sleep(1)
            assert holds.questions()
            (place.root / "holds/a/T-1.answer").write_bytes(content)
        return ends[0]

    end = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    assert end.outcome is Outcome.REFUSED
    assert place.kept.calls == []


def test_an_answer_that_was_there_before_the_question_is_none(place: Place) -> None:
    (place.root / "holds/a").mkdir(parents=True)
    (place.root / "holds/a/T-1.answer").write_text('{"verdict": "pass", "reason": "", "to": "x"}')
    end, took = wait_and_answer(place, Answer("refuse"))
    assert end.outcome is Outcome.REFUSED
    assert took == pytest.approx(10, abs=0.5)


def test_a_question_is_answered_once(tmp_path: Path) -> None:
    holds = Holds(tmp_path)
    holds.park(Question("a", "T", "x", {}, "rules", "why", None, "", parked=True))
    holds.answer("T", Answer("refuse"))
    with pytest.raises(HoldError, match="answered a moment ago"):
        holds.answer("T", Answer("pass"))
    with pytest.raises(HoldError, match=r"no call 'U' is held; held: T of a"):
        holds.answer("U", Answer("pass"))


def test_of_two_agents_with_a_call_of_one_id_one_is_named(tmp_path: Path) -> None:
    holds = Holds(tmp_path)
    for agent in ("a", "b"):
        holds.park(Question(agent, "T", "x", {}, "rules", "why", None, "", parked=True))
    with pytest.raises(HoldError, match="--agent"):
        holds.answer("T", Answer("pass"))
    assert holds.answer("T", Answer("pass"), agent="b").agent == "b"


def stopped_while_held(place: Place, deadline: float, *, stop_at: float, pause: bool) -> CallEnd:
    """A `relay` whose inner call is held; then its end."""

    async def main() -> CallEnd:
        async def consult(call: Any, caller: Caller) -> Hold | None:
            return Hold("ask Ann") if caller.parent else None

        holds = Holds(place.root)
        door = Door(consult=consult, holds=holds, hold=HoldConfig(50, pause_clock=pause))
        ends = []

        async def call() -> None:
            asked = {"name": "read_file", "input": {"path": "x"}}
            at = trio.current_time() + deadline
            ends.append(await door.invoke("relay", asked, place.caller(), call_id="T", deadline=at))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await trio.sleep(stop_at)
            await door.stop()
        return ends[0]

    return trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


def test_the_deadline_of_a_program_counts_while_its_call_is_held(place: Place) -> None:
    end = stopped_while_held(place, 5, stop_at=20, pause=False)
    inner = record_of(place.root / "steps/a/001/tools/T-1")
    assert (end.outcome, inner["outcome"]) == (Outcome.TIMED_OUT, "timed_out")
    assert inner["reason"].endswith("held for the operator's answer; it was not run")


def test_a_paused_clock_does_not_end_a_program_while_its_call_is_held(place: Place) -> None:
    end = stopped_while_held(place, 5, stop_at=60, pause=True)
    assert end.outcome is Outcome.COMPLETED  # after patience, 50 s, with 5 s of its own never used
    assert end.data == {"outcome": "refused", "id": "T-1"}


def test_a_stop_ends_a_held_call_and_says_that_it_did_not_run(place: Place) -> None:
    stopped_while_held(place, 500, stop_at=20, pause=True)
    inner = record_of(place.root / "steps/a/001/tools/T-1")
    assert (inner["outcome"], "was not run" in inner["reason"]) == ("stopped", True)
    assert Holds(place.root).questions() == []


def test_what_was_held_is_not_run_by_another_version_of_its_tool(place: Place) -> None:
    async def main() -> CallEnd:
        door, holds = holding(place)
        ends = []

        async def call() -> None:
            ends.append(await door.invoke("read_file", {"path": "x"}, inside(place.caller())))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await trio.sleep(1)
            from dataclasses import replace

            old = place.toolset.tools["read_file"]
            place.toolset.registry.replace(replace(old, composes=False))
            holds.answer("T-1", Answer("pass"))
        return ends[0]

    end = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    assert end.refusal is not None
    assert end.refusal.gate == "availability"
    assert place.kept.calls == []


def test_an_approved_call_does_not_approve_the_calls_inside_it(place: Place) -> None:
    async def main() -> CallEnd:
        door, holds = holding(place, patience_s=30)
        ends = []

        async def call() -> None:
            asked = {"name": "read_file", "input": {"path": "x"}}
            ends.append(await door.invoke("relay", asked, place.caller(), call_id="T"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await trio.sleep(1)
            holds.answer("T", Answer("pass"))
            await trio.sleep(1)
            assert [each.id for each in holds.questions()] == ["T-1"]
        return ends[0]

    end = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    assert end.data == {"outcome": "refused", "id": "T-1"}
    assert [each.name for each in place.kept.calls] == ["relay"]


def test_what_was_held_is_not_run_once_its_parent_has_ended(place: Place) -> None:
    async def main() -> CallEnd:
        door, holds = holding(place)
        caller = inside(place.caller())
        assert caller.parent is not None
        ends = []

        async def call() -> None:
            ends.append(await door.invoke("read_file", {"path": "x"}, caller))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await trio.sleep(1)
            caller.parent.lives = False
            holds.answer("T-1", Answer("pass"))
        return ends[0]

    end = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    assert end.refusal is not None
    assert end.refusal.gate == "authority"
    assert place.kept.calls == []


def test_an_answer_for_good_covers_no_call_that_asks_to_leave_its_confinement(place: Place) -> None:
    async def execute(call: ToolCall, context: Context) -> Capture:
        place.kept.calls.append(call)
        return Capture()

    traits = Traits(escape_argument="free")
    place.toolset = toolset([Tool(ToolDeclaration("shell"), execute, traits=traits)])
    holds = Holds(place.root)
    question = Question("a", "U", "shell", {"free": True}, "rules", "why", None, "", parked=True)
    holds.park(question)
    holds.answer("U", Answer("pass"), remember=True)
    assert holds.remembers(question)

    async def main() -> CallEnd:
        door = Door(holds=holds, hold=HoldConfig(patience_s=5))
        return await door.invoke("shell", {"free": True}, place.caller())

    end = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    assert end.outcome is Outcome.REFUSED
    assert place.kept.calls == []


def test_watchers_are_told_that_a_call_waits(place: Place) -> None:
    seen = []

    async def main() -> None:
        door, _ = holding(place, patience_s=1)
        door.watch(lambda event: seen.append(event) if isinstance(event, CallHeld) else None)
        await door.invoke("read_file", {"path": "x"}, inside(place.caller()))

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    assert [(e.call.id, e.parent, e.gate, e.reason) for e in seen] == [("T-1", "T", "control", "ask Ann")]


# -- in a workspace, with programs ------------------------------------------------------------------------------


@tool
def note(text: str) -> str:
    """Take a note."""
    return f"noted {text}"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = init_workspace(tmp_path / "w", agent="a")
    (made.root / "litany.toml").write_text(ASK)
    (tmp_path / "tools.py").write_text(
        "from litany_engine import tool\n\n@tool\ndef note(text: str) -> str:\n    return f'noted {text}'\n"
    )
    return Workspace(made.root)


PROGRAM = "import litany_tools\nprint('before', flush=True)\nr = litany_tools.note(text='x')\nprint(r.outcome, r.stdout, r.refusal)\n"


def answered_by_the_command_line(workspace: Workspace, *arguments: str) -> CallEnd:
    async def main() -> CallEnd:
        async with open_workspace(workspace, tools=[note]) as ws:
            ends = []

            async def run() -> None:
                ends.append(await ws.python(PROGRAM))

            async with trio.open_nursery() as nursery:
                nursery.start_soon(run)
                await wait_until(lambda: Holds(workspace.root).questions(), 60)
                root = workspace.root
                listed = await trio.to_thread.run_sync(lambda: litany("holds", cwd=root, state=root))
                assert "call_1-1  note  its program waits" in listed.stdout
                assert "says Ann" in listed.stdout
                done = await trio.to_thread.run_sync(
                    lambda: litany("answer", "call_1-1", *arguments, cwd=root, state=root)
                )
                assert (done.returncode, done.stderr) == (0, "")
        return ends[0]

    return trio.run(main)


def test_a_program_waits_and_an_operator_answers_from_another_process(workspace: Workspace) -> None:
    end = answered_by_the_command_line(workspace, "pass")
    assert end.stdout == b"before\ncompleted noted x None\n"


def test_a_program_reads_why_the_operator_refused_its_call(workspace: Workspace) -> None:
    end = answered_by_the_command_line(workspace, "refuse", "--reason", "not today")
    assert end.stdout.startswith(b"before\nrefused")
    assert b"not today" in end.stdout


def test_a_remembered_answer_covers_the_same_call_and_never_a_deny(workspace: Workspace) -> None:
    answered_by_the_command_line(workspace, "pass", "--remember")

    def run(text: str = "x") -> CallEnd:
        async def main() -> CallEnd:
            async with open_workspace(Workspace(workspace.root), tools=[note]) as ws:
                return await ws.python(PROGRAM.replace("'x'", repr(text)))

        return trio.run(main)

    assert run().stdout == b"before\ncompleted noted x None\n"
    with (workspace.root / "litany.toml").open("a") as file:
        file.write('[[rules]]\naction = "deny"\ntool = "note"\n[hold]\npatience = "100ms"\n')
    assert b"denied by a rule" in run().stdout
    (workspace.root / "litany.toml").write_text(ASK + '[hold]\npatience = "100ms"\n')
    assert b"none came within" in run("y").stdout


def test_an_answer_is_not_given_from_inside_a_tool(workspace: Workspace) -> None:
    done = litany(
        "answer",
        "call_1-1",
        "pass",
        cwd=workspace.root,
        state=workspace.root,
        env={"LITANY_TOOL_ID": "call_1-1"},
    )
    assert done.returncode == 126
    assert "operator's" in done.stderr


def test_a_host_that_is_killed_while_it_waits_leaves_a_refusal(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(PROGRAM)
    command = [
        "run",
        "--workspace",
        str(workspace.root),
        "--tools",
        str(tmp_path / "tools.py"),
        str(tmp_path / "p.py"),
    ]
    with start(*command, cwd=tmp_path, state=tmp_path) as host:
        trio.run(wait_until, lambda: Holds(workspace.root).questions(), 60)
        assert host.stderr is not None
        said = host.stderr.readline().decode()
        assert f"litany answer call_1-1 pass --workspace {workspace.root}` " in said
        assert said.endswith("; the program's deadline goes on meanwhile\n")
        step = workspace.root / "steps/a/001"
        _, program, call = show_text(step).splitlines()
        why = "a rule asks about 'note' (litany.toml:1): says Ann"
        assert " ".join(program.split()) == f"call_1 python held its call call_1-1 is held: {why}"
        assert call.split()[:5] == ["└─", "call_1-1", "note", "held", "rules:"]
        (shown,) = show_json(step)["calls"]
        for each in (shown, *shown["calls"]):
            assert (each["running"], each["held"]["call"], each["held"]["gate"]) == (
                False,
                "call_1-1",
                "rules",
            )
        told = litany(
            "show", "call_1-1", "--workspace", str(workspace.root), cwd=tmp_path, state=tmp_path
        ).stdout
        assert f"`litany holds --workspace {workspace.root}` shows how to answer" in told
        assert "running" not in told
        os.kill(host.pid, signal.SIGKILL)
        host.wait()
    assert show_text(step).count("host died") == 2
    holds = Holds(workspace.root)
    assert holds.questions() == []
    with pytest.raises(HoldError, match="no call 'call_1-1' is held"):
        holds.answer("call_1-1", Answer("pass"))
    assert [each.id for each in refuse_dead_holds(workspace.root)] == ["call_1-1"]
    assert refuse_dead_holds(workspace.root) == []
    record = record_of(workspace.root / "steps/a/001/tools/call_1-1")
    assert (record["outcome"], record["refusal"]["gate"]) == ("refused", "rules")
    assert "it was not run" in record["refusal"]["reason"]


def test_a_held_call_of_the_model_parks_its_window_and_finds_its_answer(workspace: Workspace) -> None:
    async def window() -> Any:
        async with open_workspace(Workspace(workspace.root), tools=[note]) as ws:
            return await ws.window("a", [use("t1", "note", text="x"), use("t2", "note", text="y")])

    async def advance() -> Any:
        async with open_workspace(Workspace(workspace.root), tools=[note]) as ws:
            return (await ws.advance("a")).answers

    assert trio.run(window).end == "held"
    (question,) = Holds(workspace.root).questions()
    assert (question.id, question.waits) == ("t1", False)
    assert "t1  note  held" in show_text(
        workspace.root / "steps/a/001"
    )  # and not refused: nobody has said so
    assert trio.run(advance).end == "held"  # asked again, and still nobody has answered
    Holds(workspace.root).answer("t1", Answer("pass"))
    answers = trio.run(advance)
    assert [each.text for each in answers.results] == ["Exit code: 0\nnoted x"]
    assert answers.end == "held"
    Holds(workspace.root).answer("t2", Answer("refuse", "no y"))
    answers = trio.run(advance)
    assert answers.end == "completed"
    assert "no y" in answers.results[0].text
    assert Holds(workspace.root).questions() == []

    steps = workspace.root / "steps/a"
    first, second, third, last = (show_text(steps / f"00{number}").splitlines() for number in (1, 2, 3, 4))
    assert first[0] == "step a/001  1 call, 0 inner calls; goes on in step 002"
    assert first[1].split() == ["t1", "note", "held", "asked", "again", "in", "step", "002"]
    assert second[0].endswith("; goes on from step 001; goes on in step 003")
    assert [line.split()[:3] for line in third[1:]] == [["t1", "note", "completed"], ["t2", "note", "held"]]
    assert last[0].endswith("; goes on from step 003")
    assert last[1].split()[:4] == ["t2", "note", "refused", "126"]
    third_shown = show_json(steps / "003")
    assert (third_shown["continues"], third_shown["continued_in"]) == ("002", "004")
    assert [each["asked_again_in"] for each in third_shown["calls"]] == [None, "004"]
    assert "held: it was asked again in step 002, by the same id" in show_text(steps / "001/tools/t1")


def test_the_command_line_says_how_a_parked_call_is_answered_and_that_it_was(
    workspace: Workspace, tmp_path: Path
) -> None:
    async def window() -> Any:
        async with open_workspace(Workspace(workspace.root), tools=[note]) as ws:
            return await ws.window("a", [use("t1", "note", text="x")])

    trio.run(window)
    here = partial(litany, cwd=workspace.root, state=tmp_path)
    told = here("advance", "--tools", str(tmp_path / "tools.py")).stdout
    assert told.endswith("; `litany answer t1 pass` (or refuse) answers it\n")
    assert "answer  " not in here("holds").stdout
    assert here("holds").stdout.endswith("    to pass `litany answer t1 pass` (or refuse)\n")
    elsewhere = partial(litany, cwd=tmp_path.parent, state=tmp_path)
    option = ("--workspace", str(workspace.root))
    assert f"`litany answer t1 pass --workspace {workspace.root}`" in elsewhere("holds", *option).stdout
    assert [each["answered"] for each in json.loads(here("holds", "--json").stdout)] == [None]
    answered = elsewhere("answer", "t1", "refuse", *option).stdout
    assert f"`litany advance a --workspace {workspace.root}` asks it again" in answered
    assert "    answer  refuse; `litany advance a` asks it again\n" in here("holds").stdout
    assert [each["answered"] for each in json.loads(here("holds", "--json").stdout)] == ["refuse"]
    assert "answered t1" in here("advance", "--tools", str(tmp_path / "tools.py")).stdout
    assert here("holds").stdout.startswith("no call is held")


def test_what_cannot_be_remembered_is_said(workspace: Workspace, tmp_path: Path) -> None:
    here = partial(litany, cwd=workspace.root, state=tmp_path)
    Holds(workspace.root).park(Question("a", "T", "x", {}, "control", "why", None, "", parked=True))
    refused = here("answer", "T", "refuse", "--remember")
    assert refused.returncode == 2
    assert "write a deny rule" in refused.stderr
    passed = here("answer", "T", "pass", "--remember")
    assert passed.returncode == 0
    assert "--remember is for calls that a rule holds" in passed.stderr


def test_an_answer_to_a_parked_call_does_not_cover_another_of_its_id(tmp_path: Path) -> None:
    holds = Holds(tmp_path)
    one = Question("a", "T", "x", {"n": 1}, "rules", "why", None, "", parked=True)
    other = Question("a", "T", "x", {"n": 2}, "rules", "why", None, "", parked=True)
    holds.park(one)
    holds.answer("T", Answer("pass"))
    found = holds.find_answer(other)
    assert found is not None
    assert found.verdict == "refuse"


def test_what_is_held_is_readable_by_its_owner_alone(place: Place) -> None:
    Holds(place.root).park(Question("a", "T", "x", {"secret": 1}, "rules", "why", None, "", parked=True))
    assert (place.root / "holds/a").stat().st_mode & 0o077 == 0
    assert (place.root / "holds/a/T.json").stat().st_mode & 0o077 == 0
    assert json.loads((place.root / "holds/a/T.json").read_text())["input"] == {"secret": 1}
