"""Kill a busy host at random moments, again and again, and look at what is left after each death.

    python tests/soak/kill_test.py --kills 200

One host drives twenty agents; each answers replies that run a program of fifty calls, change a file and run a
process. It is sent SIGKILL at a random moment. Then, from outside: nothing of it still runs; each agent is
opened again; no answer that was given is lost or changed; no call ran twice; no call whose end is recorded is
said to be unknown; every file of every record is whole; git finds nothing wrong.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

import psutil  # noqa: E402
import trio  # noqa: E402

from litany_engine import Capture, init_workspace, open_workspace  # noqa: E402
from litany_engine.door.calls import Context, Tool, ToolCall  # noqa: E402
from litany_engine.windows.settlement import DIED_AFTER, DIED_UNKNOWN, DIED_WHILE, NOT_RUN_DIED  # noqa: E402
from litany_engine.workspaces.workspace import Workspace, open_workspace_at  # noqa: E402
from litany_stubs.words import ToolDeclaration  # noqa: E402
from window_kit import assert_git_is_clean, assert_well_formed, results_in, use  # noqa: E402

PROGRAM = """
import litany_tools
for n in range({calls}):
    litany_tools.note()
open('seen', 'a').write('x')
print('all made')
"""

ORPHANS_S = 10.0
"""How long after a death its processes may take to be gone, on a machine that is busy with the next thing."""

PROGRESS_S = 20.0
"""How long a host may take to come to where it is to be killed; it is killed then wherever it is."""

NOTE_BYTES = 16
"""About the length of one line of the file that the noting tool writes."""

TOLD = (DIED_AFTER, DIED_UNKNOWN, DIED_WHILE, NOT_RUN_DIED)
"""What the results begin with that are given for the calls of a host that died."""

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: orphans become our children, so that they are seen


@dataclass
class Found:
    """What was found, over all deaths.

    Attributes:
        deaths: hosts killed.
        answers: results that were committed by a living host.
        settled: results that a driver gave for calls of a dead one, by what they say.
        records: records at the end.
        ran: calls of the noting tool that ran.
    """

    deaths: int = 0
    answers: int = 0
    settled: Counter[str] = field(default_factory=Counter)
    records: int = 0
    ran: int = 0


def kill_hosts(root: Path, *, kills: int, agents: int, calls: int, seed: int, fsck_every: int = 1) -> Found:
    """Do the whole test in a folder; an assertion fails when anything is wrong."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    dice = random.Random(seed)
    names = [f"agent{n}" for n in range(agents)]
    workspace = init_workspace(root, agent=names[0])
    for name in names[1:]:
        workspace.add_agent(name)
    found = Found()
    before: dict[str, list[Any]] = {name: [] for name in names}
    whole: set[Path] = set()  # steps that were looked at: a record does not change once it has its end
    for number in range(kills):
        run_and_kill(root, agents, calls, dice)
        found.deaths += 1
        workspace = open_workspace_at(root)
        given = {name: results_in(workspace, name) for name in names}
        for name in names:
            assert given[name][: len(before[name])] == before[name], f"{name}: an answer is lost or changed"
            found.answers += len(given[name]) - len(before[name])
        steps = {path for path in (root / "steps").glob("*/*") if path not in whole}
        ended = ended_calls(steps)
        trio.run(advance_all, root, names)
        for name in names:
            now = results_in(workspace, name)
            assert now[: len(given[name])] == given[name], f"{name}: settling changed an answer"
            for call, is_error, text in now[len(given[name]) :]:
                kind = next(each for each in TOLD if text.startswith(each))
                found.settled[kind.partition(":")[0]] += 1
                assert is_error
                assert (kind == DIED_AFTER) == ((name, call) in ended), f"{name} {call}: {text}"
            before[name] = now
        last = number == kills - 1
        if last or number % fsck_every == 0:
            for name in names:
                assert_well_formed(workspace, name)
            assert_git_is_clean(workspace)
        found.ran = check_effects(workspace, steps)
        found.records += check_records(steps)
        whole |= steps
        if (number + 1) % 10 == 0:
            print(f"{number + 1} killed, {found.records} records whole", flush=True)
    return found


def run_and_kill(root: Path, agents: int, calls: int, dice: random.Random) -> None:
    """One host, from its start to its death, and to the end of everything it had started."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, __file__, "--host", str(root), "--calls", str(calls)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"busy\n", "the host did not come up"
        # By what was done rather than by time, so that a slow machine is killed in the same places.
        target = size_of(root / "effects") + dice.randrange(3 * NOTE_BYTES * agents * calls)
        until = time.monotonic() + PROGRESS_S
        while size_of(root / "effects") < target and time.monotonic() < until:
            time.sleep(0.002)
        time.sleep(dice.uniform(0, 0.1))
        host.send_signal(signal.SIGKILL)
    until = time.monotonic() + ORPHANS_S
    while left := living_children():
        assert time.monotonic() < until, f"still running after their host: {left}"
        time.sleep(0.02)


def size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def living_children() -> list[str]:
    """What is below this process; the dead are reaped on the way."""
    left = []
    for each in psutil.Process().children(recursive=True):
        try:
            if each.status() == psutil.STATUS_ZOMBIE and each.ppid() == os.getpid():
                os.waitpid(each.pid, os.WNOHANG)
            elif each.status() != psutil.STATUS_ZOMBIE:
                left.append(" ".join([str(each.pid), *each.cmdline()])[:120])
        except (psutil.Error, ChildProcessError):
            continue
    return left


async def advance_all(root: Path, names: list[str]) -> None:
    async with open_workspace(root) as ws:
        for name in names:
            await ws.advance(name)


def ended_calls(steps: set[Path]) -> set[tuple[str, str]]:
    """The calls in these steps whose end was recorded: agent and id, which is used once."""
    return {(path.parts[-5], path.parent.name) for step in steps for path in step.glob("tools/*/output.json")}


def check_records(steps: set[Path]) -> int:
    number = 0
    for record in (each for step in steps for each in step.glob("tools/*")):
        number += 1
        for path in record.iterdir():
            if path.suffix == ".json" and not path.name.startswith("."):
                json.loads(path.read_text())
        assert (record / "output.json").exists(), f"{record} has no end"
    return number


def check_effects(workspace: Workspace, steps: set[Path]) -> int:
    """Nothing ran twice, and whatever is recorded as completed did run."""
    lines = (workspace.root / "effects").read_text().split("\n")[:-1]
    twice = [line for line, times in Counter(lines).items() if times > 1]
    assert not twice, f"ran twice: {twice[:5]}"
    ran = set(lines)
    for path in (each for step in steps for each in step.glob("tools/*-*/output.json")):
        if json.loads(path.read_text())["outcome"] == "completed":
            assert f"{path.parts[-5]}/{path.parts[-4]}/{path.parent.name}" in ran, f"{path} did not run"
    return len(lines)


async def be_a_busy_host(root: Path, calls: int) -> None:
    """Drive every agent, without an end."""
    effects = os.open(root / "effects", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    async def note(call: ToolCall, context: Context) -> Capture:
        os.write(effects, f"{context.agent}/{context.record.parts[-3]}/{call.id}\n".encode())
        await trio.lowlevel.checkpoint()
        return Capture()

    tool = Tool(ToolDeclaration("note", "Note that it ran.", {"type": "object", "properties": {}}), note)
    async with open_workspace(root, tools=[tool]) as ws:

        async def drive(agent: str) -> None:
            await ws.advance(agent)
            made = (
                random.randrange(calls) + 1
            )  # the first is shorter, so that agents are not all at one place
            while True:
                # Ids that no other window of this agent has, so that an effect can be told from every other.
                number = len(list((root / "steps" / agent).iterdir())) + 1
                await ws.window(
                    agent,
                    [
                        use(f"p{number}", "python", program=PROGRAM.format(calls=made)),
                        use(f"b{number}", "bash", command="echo x >> lines; sleep 0.02; echo done"),
                        use(f"n{number}", "note"),
                    ],
                )
                made = calls

        async with trio.open_nursery() as nursery:
            for agent in ws.workspace.agents():
                nursery.start_soon(drive, agent)
            while len(ws.running()) < 2:  # noqa: ASYNC110 - what is waited for sets no event
                await trio.sleep(0.01)
            print("busy", flush=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--agents", type=int, default=20)
    parser.add_argument("--calls", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--host", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.host:
        trio.run(be_a_busy_host, args.host, args.calls)
        return
    print(f"seed {args.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="litany-kill-") as folder:
        found = kill_hosts(
            Path(folder) / "w",
            kills=args.kills,
            agents=args.agents,
            calls=args.calls,
            seed=args.seed,
            fsck_every=10,
        )
    print(
        f"{found.deaths} hosts killed; {found.answers} answers given, {found.records} records, {found.ran} notes"
    )
    for kind, times in found.settled.most_common():
        print(f"{times:6}  settled: {kind}")


if __name__ == "__main__":
    main()
