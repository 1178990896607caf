"""A call's way through the gates, with the waits for the operator on it.

A hold of a call that the model itself made in a window parks it: the question is written down, and when the
window is gone on with, the call is asked again and finds the answer. Every other held call waits here, in its
own task, for as long as the operator's patience says; its program waits with it, alive.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import trio

from litany_engine.configuration.config import HoldConfig
from litany_engine.configuration.units import show_duration
from litany_engine.door.events import CallHeld
from litany_engine.door.gates import GATES, Admission, Hold, Verdict, subject_of
from litany_engine.door.holds import Answer, Question
from litany_stubs.words import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from litany_engine.door.events import Event
    from litany_engine.door.holds import Holds
    from litany_engine.door.in_flight import Running


MAX_SHOWN_PATHS = 5
"""Paths that are shown with the reason of a hold; the question on file has them all."""


class Judging:
    """How calls are taken through the gates in this process.

    Args:
        holds: questions and answers; None when nobody can be asked: a hold is then the end of it.
        config: how long to wait, and whether the clock stands meanwhile.
        tell: tells whoever watches.
    """

    def __init__(self, holds: Holds | None, config: HoldConfig, tell: Callable[[Event], None]) -> None:
        self._holds = holds
        self._config = config
        self._tell = tell

    async def judge(self, asked: Admission, running: Running, *, parks: bool) -> Verdict:
        """Take a call through the gates.

        Args:
            asked: what the gates look at.
            running: the call in flight.
            parks: whoever issued the call parks it when it is held, instead of waiting here.

        Returns:
            None to let it run, a refusal, or a hold that nobody waits for.
        """
        for gate in GATES:
            verdict = gate.judge(asked)
            if verdict is None:
                continue
            if not isinstance(verdict, Refusal | Hold):
                verdict = await verdict
            if isinstance(verdict, Hold):
                verdict = await self._settle(replace(verdict, gate=gate.name), asked, running, parks=parks)
            if verdict is not None:
                return verdict
        if parks and self._holds is not None:
            self._holds.forget(running.caller.agent, running.call.id)
        return None

    async def _settle(self, hold: Hold, asked: Admission, running: Running, *, parks: bool) -> Verdict:
        """What becomes of a hold: the operator's answer, earlier or waited for; itself when nobody waits."""
        holds, config = self._holds, self._config
        if holds is None:
            return hold
        outside = subject_of(asked).outside
        hold = replace(hold, reason=hold.reason + _leads(outside))
        question = _question(asked, running, hold, outside, parks=parks)
        answer = _earlier_answer(holds, question, hold)
        if answer is None and parks:
            holds.park(question)
            return hold
        if answer is None:
            self._tell(CallHeld(running.call, question.agent, question.parent, hold.gate, hold.reason))
            with _held(running, config, holds, question):
                answer = await _wait(holds, question, config)
        verdict = _as_verdict(answer, question, config) or _still_stands(asked)
        if verdict is None:
            asked.outside = outside  # what the operator was shown, and nothing that a link leads to by now
        return verdict


def _leads(outside: tuple[str, ...]) -> str:
    """Where a call's paths lead that leave the worktree: the operator's answer is about that, too."""
    if not outside:
        return ""
    more = f" and {len(outside) - MAX_SHOWN_PATHS} more" if len(outside) > MAX_SHOWN_PATHS else ""
    return f"; it leads out of the worktree, to {', '.join(outside[:MAX_SHOWN_PATHS])}{more}"


def _question(
    asked: Admission, running: Running, hold: Hold, outside: tuple[str, ...], *, parks: bool
) -> Question:
    assert asked.prepared is not None  # only gates behind the schema hold
    caller, call = asked.caller, asked.prepared.call
    return Question(
        agent=caller.agent,
        id=call.id,
        name=call.name,
        input=call.input,
        gate=hold.gate,
        reason=hold.reason,
        parent=caller.parent.id if caller.parent else None,
        record="" if running.record is None else str(running.record.path.relative_to(caller.workspace)),
        parked=parks,
        outside=outside,
    )


def _earlier_answer(holds: Holds, question: Question, hold: Hold) -> Answer | None:
    if hold.coverable and holds.remembers(question):
        return Answer("pass")
    return holds.find_answer(question) if question.parked else None


@contextmanager
def _held(running: Running, config: HoldConfig, holds: Holds, question: Question) -> Iterator[None]:
    """Keep the question on file, and the clocks of all that waits standing if the operator wants it so."""
    with ExitStack() as kept:
        kept.enter_context(holds.asking(question))
        running.held = True
        began = trio.current_time()
        if config.pause_clock:
            for clock in (running.clock, *(running.caller.parent.clocks if running.caller.parent else ())):
                clock.pause()
                kept.callback(clock.resume)
        yield
        running.held = False
        running.held_s += trio.current_time() - began


async def _wait(holds: Holds, question: Question, config: HoldConfig) -> Answer | None:
    with trio.move_on_after(config.patience_s):
        return await holds.answer_to(question)
    return None


def _as_verdict(answer: Answer | None, question: Question, config: HoldConfig) -> Refusal | None:
    if answer is not None and answer.verdict == "pass":
        return None
    if answer is not None:
        why = f": {answer.reason}" if answer.reason else ""
        return Refusal(question.gate, f"{question.name!r} was held, and the operator refused it{why}")
    patience = show_duration(config.patience_s)
    return Refusal(
        question.gate,
        f"{question.name!r} was held for the operator's answer ({question.reason}), and none came within "
        f"{patience}; silence is no consent, and it was not run",
    )


def _still_stands(asked: Admission) -> Refusal | None:
    """While a call was held its caller may have ended, or its tool have been taken away or replaced."""
    parent, prepared = asked.caller.parent, asked.prepared
    assert prepared is not None
    if parent is not None and not parent.lives:
        return Refusal("authority", f"call {parent.id!r} ended while this one was held; nothing was run.")
    if not prepared.stands(inner=asked.inner):
        return Refusal(
            "availability",
            f"{prepared.call.name!r} was replaced or taken away while the call was held; make it again.",
        )
    return None
