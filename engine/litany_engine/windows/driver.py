"""Driving agents: answering a model's reply, and going on after any death.

One process at a time drives an agent, under the executor's lock, which goes with the process. So a driver
that has the lock knows that whatever is unfinished was left by the dead, unless a mark says that it is held,
and it finishes that before anything else:

    mend git's leftovers ─► complete dead records ─► settle the unanswered ─► (held: ask again) ─► deliver

Everything that it knows is read from disk each time. Two drives in a row do the same as one.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import trio

from litany_engine.door.arguments import detach
from litany_engine.interrupts import uninterrupted
from litany_engine.records.dead_records import complete_dead_records
from litany_engine.records.ids import agent_id_fault, in_tree, record_name
from litany_engine.records.links import link_steps
from litany_engine.records.recorded import inner_calls, load_call
from litany_engine.records.records import step_name, step_numbers
from litany_engine.windows.entries import (
    Side,
    TranscriptError,
    history,
    origin_fault,
    reply_fault,
    standing,
    tool_uses,
)
from litany_engine.windows.inbox import deposit, deposits
from litany_engine.windows.lock import executor_lock
from litany_engine.windows.marks import Held, Marks
from litany_engine.windows.settlement import died, record_of
from litany_engine.windows.transcript import Transcript
from litany_engine.windows.window import Answers, Asked, Bounds, Flag, Window, WindowEnd
from litany_runtime.outcome import STOP_RAISED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from litany_engine.door.callers import Caller
    from litany_engine.door.door import Door
    from litany_engine.records.recorded import RecordedCall
    from litany_engine.records.records import Step
    from litany_engine.windows.entries import Standing, ToolResult, ToolUse
    from litany_engine.workspaces.workspace import Agent, Workspace
    from litany_stubs.words import JSON


@dataclass(frozen=True, slots=True)
class Advance:
    """What a drive of an agent did, and where the agent stands.

    Attributes:
        agent: its id.
        records: the records of dead calls that were completed.
        settled: what the model will read of the calls that a dead host left unanswered.
        answers: what a held window gave when its call was asked again; None when nothing was held.
        delivered: how many messages were taken from the inbox.
        held: why the agent is parked, or "".
        due: it is the model's turn. Never so of an agent that was stopped, until somebody other than the
            agents it started speaks to it; nor of one that has finished, until anybody does.
        finished: the last word is the result of a terminal tool.
    """

    agent: str
    records: tuple[Path, ...] = ()
    settled: tuple[ToolResult, ...] = ()
    answers: Answers | None = None
    delivered: int = 0
    held: str = ""
    due: bool = False
    finished: bool = False


@dataclass(slots=True)
class _Found:
    """What a driver finds once the dead are settled."""

    standing: Standing
    held: Held | None
    records: tuple[Path, ...]
    settled: tuple[ToolResult, ...]


class Driver:
    """Drives the agents of a workspace in this process.

    Args:
        workspace: what is on disk.
        door: what every call goes through.
        caller: who calls, for an agent and a step.
    """

    def __init__(self, workspace: Workspace, door: Door, caller: Callable[[Agent, Step], Caller]) -> None:
        self._workspace = workspace
        self._door = door
        self._caller = caller
        self._flags: list[Flag] = []
        self._looked: set[str] = set()  # the agents whose records of dead calls were completed by us

    async def window(self, agent: Agent, content: JSON, model: str) -> Answers:
        """Take a reply of the model and answer its calls.

        Raises:
            LockHeld: another process, or another task, drives the agent.
            TranscriptError: the reply cannot stand in a transcript, or the agent is held.
            GitError: the repository cannot be read or written.
            RecordError: no step can be opened.
        """
        return await uninterrupted(partial(self._window, agent, content, model))

    async def _window(self, agent: Agent, content: JSON, model: str) -> Answers:
        content, fault = detach(content)
        if fault := fault or reply_fault(content) or origin_fault(model, Side.ASSISTANT):
            raise TranscriptError(f"this reply cannot be taken: {fault}")
        workspace = self._workspace
        with self._driving(agent) as flag:
            transcript = self._transcript(agent)
            found = await self._recovered(agent, transcript, look_at_records=agent.id not in self._looked)
            if found.held is not None:
                raise TranscriptError(
                    f"agent {agent.id} is held at call {found.held.tool_use_id!r} ({found.held.reason}): "
                    "advance it once the call is answered, or the control would answer otherwise"
                )
            step = workspace.records.open_step(agent.id)
            await trio.to_thread.run_sync(transcript.append_reply, model, content, step.number)
            self._marks(agent).wake()
            calls = tool_uses(content)
            return await self._answer(agent, transcript, step, flag, Asked(calls, alone=len(calls) == 1))

    async def advance(self, agent: Agent) -> Advance:
        """Settle what a dead host left, ask again about a held call, and deliver what waits.

        Raises:
            LockHeld: another process, or another task, drives the agent.
            TranscriptError: its transcript cannot be gone on with.
            GitError: the repository cannot be read or written.
            RecordError: a record cannot be completed.
        """
        return await uninterrupted(partial(self._advance, agent))

    async def _advance(self, agent: Agent) -> Advance:
        workspace = self._workspace
        with self._driving(agent) as flag:
            transcript = self._transcript(agent)
            found = await self._recovered(agent, transcript, look_at_records=True)
            done = Advance(agent.id, found.records, found.settled)
            if found.held is not None:
                step = workspace.records.open_step(agent.id)
                calls, reply = found.standing.unanswered, found.standing.reply
                self._link(step, found)
                alone = reply is not None and len(reply.calls()) == 1
                asked = Asked(calls, alone, found.held.tool_use_id)
                answers = await self._answer(agent, transcript, step, flag, asked)
                done = replace(done, answers=answers)
                if answers.end is WindowEnd.HELD:
                    return replace(done, held=answers.reason)
            return await trio.to_thread.run_sync(self._deliver, agent, transcript, done)

    async def messages(self, agent: Agent) -> list[dict[str, JSON]]:
        """An agent's transcript as the messages that a provider is sent.

        Raises:
            TranscriptError: an entry is damaged.
            GitError: the repository cannot be read.
        """
        return history(await trio.to_thread.run_sync(self._transcript(agent).entries))

    async def say(self, agent: Agent, text: str, sender: str) -> None:
        """Put a message into an agent's inbox.

        Raises:
            TranscriptError: the sender cannot stand in a name.
            OSError: it cannot be written.
        """
        await trio.to_thread.run_sync(deposit, self._workspace.inbox(agent.id), sender, text)

    async def stop(self, selector: str | None, *, reason: str = STOP_RAISED) -> tuple[str, ...]:
        """Stop calls as `Door.stop` does, and the windows of the agents meant, until all is answered.

        Returns:
            The ids of the calls that were ended, and of those that were kept from beginning.

        Raises:
            StopError: the id names several calls.
        """
        chosen = [each for each in self._flags if selector is None or in_tree(each.agent, selector)]
        for each in chosen:
            each.raised = True
        stopped = await self._door.stop(selector, reason=reason)
        for each in chosen:
            await each.ended.wait()
        await trio.to_thread.run_sync(self._mark_stopped, selector, [each.agent for each in chosen])
        return (*stopped, *(call for each in chosen for call in each.felled))

    @contextmanager
    def _driving(self, agent: Agent) -> Iterator[Flag]:
        """Hold the executor's lock, and have a flag up that a stop can raise."""
        with executor_lock(self._workspace.inbox(agent.id)):
            flag = Flag(agent.id)
            self._flags.append(flag)
            try:
                yield flag
            finally:
                self._flags.remove(flag)
                try:
                    if flag.raised:
                        self._marks(agent).stop()
                finally:
                    flag.ended.set()  # whatever fails, a stop that waits for this comes back

    async def _answer(
        self, agent: Agent, transcript: Transcript, step: Step, flag: Flag, asked: Asked
    ) -> Answers:
        config = self._workspace.config
        window = Window(
            self._door,
            self._caller(agent, step),
            transcript,
            self._marks(agent),
            bounds=Bounds(config.output_head_bytes, config.output_tail_bytes),
            together=config.concurrency,
            flag=flag,
        )
        with closing(step):
            return await window.run(asked)

    async def _recovered(self, agent: Agent, transcript: Transcript, *, look_at_records: bool) -> _Found:
        work = partial(self._recover, agent, transcript, look_at_records=look_at_records)
        found = await trio.to_thread.run_sync(work)
        self._looked.add(agent.id)
        return found

    def _recover(self, agent: Agent, transcript: Transcript, *, look_at_records: bool) -> _Found:
        """Do what is left to do of hosts that died. Blocks; under the lock."""
        workspace = self._workspace
        transcript.mend()
        records = complete_dead_records(workspace.root / "steps" / agent.id) if look_at_records else []
        now = standing(transcript.entries())
        if now.fault:
            raise TranscriptError(
                f"the transcript of agent {agent.id} is broken: {now.fault}; no provider would take it"
            )
        marks = self._marks(agent)
        held = marks.held()
        if held is not None and held.tool_use_id not in {call.id for call in now.unanswered}:
            marks.lift()  # it was answered, or never asked: nothing waits for it
            held = None
        settled: list[ToolResult] = []
        # Nothing at or after a held call has run; what is unanswered before it ran beside what came first.
        ids = [call.id for call in now.unanswered]
        dead = now.unanswered[: len(ids) if held is None else ids.index(held.tool_use_id)]
        if dead:
            if not look_at_records:
                records = complete_dead_records(workspace.root / "steps" / agent.id)
            for call in dead:
                result = self._died(agent, now, call)
                transcript.append_result(result, "its host died")
                settled.append(result)
            now = standing(transcript.entries())
        return _Found(now, held, tuple(records), tuple(settled))

    def _died(self, agent: Agent, now: Standing, call: ToolUse) -> ToolResult:
        steps = self._workspace.root / "steps" / agent.id
        config = self._workspace.config

        def load(number: int, call_id: str) -> RecordedCall | None:
            folder = steps / step_name(number) / "tools" / call_id
            return load_call(folder) if folder.is_dir() else None

        assert now.reply is not None  # it asked for the call
        recorded = record_of(call, now.reply.step, step_numbers(steps), load)
        inner = () if recorded is None else inner_calls(recorded.path)
        return died(call, recorded, config.output_head_bytes, config.output_tail_bytes, inner)

    def _link(self, step: Step, found: _Found) -> None:
        """Point from the step in which the held call was asked last to the one in which it is asked again."""
        assert found.held is not None
        first = found.standing.reply.step if found.standing.reply else step.number
        call_id = record_name(found.held.tool_use_id)
        for number in range(step.number - 1, first - 1, -1):
            before = step.path.with_name(step_name(number))
            if (before / "tools" / call_id).is_dir():
                link_steps(before, step.path, call_id)
                return

    def _deliver(self, agent: Agent, transcript: Transcript, done: Advance) -> Advance:
        """Take what waits in the inbox into the transcript. Blocks; under the lock."""
        delivered = 0
        spoken_to = False
        for each in deposits(self._workspace.inbox(agent.id)):
            if not transcript.has_taken(each.name):
                transcript.append_message(each.sender, each.path.read_text(errors="replace"), each.name)
                delivered += 1
            each.path.unlink()
            spoken_to = spoken_to or not in_tree(each.sender, agent.id)
        marks = self._marks(agent)
        if spoken_to:
            marks.wake()
        now = standing(transcript.entries())
        due = now.model_is_due and not marks.stopped()
        return replace(done, delivered=delivered, due=due, finished=now.finished)

    def _mark_stopped(self, selector: str | None, agents: list[str]) -> None:
        """Mark who must not be woken by what its children send: those meant, and who waits for them."""
        repository = self._workspace.repository
        if selector is not None:
            if agent_id_fault(selector) or not repository.has_agent(selector):
                return  # a call was meant, not an agent
            meant = [each for each in repository.agents() if in_tree(each, selector)]
        elif agents:
            meant = [each for each in repository.agents() if any(in_tree(agent, each) for agent in agents)]
        else:
            return
        for each in meant:
            Marks(repository, each).stop()

    def _transcript(self, agent: Agent) -> Transcript:
        workspace = self._workspace
        return Transcript(
            workspace.repository,
            agent.id,
            workspace.worktree(agent.id),
            workspace.config.durability,
            workspace.config.ignore,
        )

    def _marks(self, agent: Agent) -> Marks:
        return Marks(self._workspace.repository, agent.id)
