"""Calls that wait for the operator, and the operator's answers: files in the workspace, its owner's alone.

    holds/<agent>/<call-id>.json      the question: the call, which gate holds it and why, since when
    holds/<agent>/<call-id>.answer    the answer to a parked call, written by `litany answer`
    holds/<agent>/remembered.jsonl    calls that the operator answered for good

A program's call waits in its process, which holds a lock on the question: the lock goes with the process,
so a question that nobody holds is one whose host has ended. Its answer is said to that process, through the
socket on which it listens (`stopping.py`), and kept in its memory: a tool may write any file that its user
may, and a file does not tell who wrote it. A call of the model itself is parked (`window.py`): nobody
waits, and when the call is asked again it finds the answer here. Processes that have the workspace open are
told of such an answer first, and take away those that they were not told of (`decisions.py`).

Only a "pass" for exactly this call, asked by this gate, is consent. Silence, a late answer, an answer to
another call under the same id, one from below a tool call, a file that cannot be read: none of them is.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import weakref
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import trio

from litany_engine.records.ids import agent_id_fault, call_id_fault, record_name
from litany_engine.records.record_files import RecordError, encode
from litany_engine.stopping import say_to_running
from litany_engine.tools.ancestry import inside

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from litany_stubs.words import JSON

FOLDER = "holds"
"""Under the workspace's root."""

MAX_REASON_BYTES = 16 * 1024
"""Longest reason of an answer: it goes through a socket as one line, and a model reads it."""

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Largest question or answer that is read: a question holds a call's input."""

_REMEMBERED = "remembered.jsonl"
_HERE: weakref.WeakSet[Holds] = weakref.WeakSet()
"""Those of this process: each hears what is said here."""
_TOLD: set[tuple[str, str, str, str]] = set()
"""What the operator was heard to say in this process of parked calls: workspace, agent, call, digest."""


class HoldError(RuntimeError):
    """What the operator says cannot be done: there is no such question, or it was answered."""


@dataclass(frozen=True, slots=True)
class Question:
    """A call that waits for the operator.

    Attributes:
        agent: whose call.
        id: the call's id.
        name: the tool.
        input: what is asked of it.
        gate: the gate that holds it.
        reason: why, for the operator.
        parent: the call it belongs to, or None.
        since: when it was asked, ISO 8601.
        record: the folder of its record, relative to the workspace.
        parked: nobody waits: the call is asked again when it is answered.
        outside: real paths out of the agent's worktree that the call names; a pass lets it reach these.
        waits: a process waits for the answer.
    """

    agent: str
    id: str
    name: str
    input: JSON
    gate: str
    reason: str
    parent: str | None
    since: str = field(default_factory=lambda: datetime.now(UTC).isoformat(), compare=False, kw_only=True)
    record: str
    parked: bool = False
    outside: tuple[str, ...] = ()
    waits: bool = False

    @property
    def is_dead(self) -> bool:
        """Whether the host that waited for the answer has ended. A parked call has nobody who waits."""
        return not self.waits and not self.parked


@dataclass(frozen=True, slots=True)
class Answer:
    """What the operator said.

    Attributes:
        verdict: `pass` or `refuse`.
        reason: for whoever made the call; may be empty with `pass`.
    """

    verdict: Literal["pass", "refuse"]
    reason: str = ""


class _Waiting:
    """A question whose answer this process waits for."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.answer: Answer | None = None
        self.answered = trio.Event()
        self._token = trio.lowlevel.current_trio_token()

    def take(self, answer: Answer) -> None:
        """Take the answer, in whichever thread it comes."""
        self.answer = answer
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self.answered.set)


class Holds:
    """The questions and answers of one workspace.

    Args:
        root: the workspace's root folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folder = root / FOLDER
        self._waiting: dict[tuple[str, str], _Waiting] = {}
        self._remembered: dict[str, set[str]] | None = None
        _HERE.add(self)

    # -- asking

    def find_answer(self, question: Question) -> Answer | None:
        """Take the operator's answer to a call that was parked before, if it was to exactly this call."""
        path = self._path(question.agent, question.id)
        if not path.exists():
            with suppress(OSError):
                path.with_suffix(".answer").unlink()  # there before the question: nobody was asked
            return None
        answer = self._answer(question)
        if answer is not None:
            self._drop(question.agent, question.id)
        return answer

    def park(self, question: Question) -> None:
        """Write a question down, for whoever asks again.

        Raises:
            RecordError: it cannot be written.
        """
        with self._put(question):
            pass

    @contextmanager
    def asking(self, question: Question) -> Iterator[None]:
        """Keep a question on file while a process waits for the answer.

        Raises:
            RecordError: it cannot be written.
        """
        key = question.agent, question.id
        with self._put(question):
            self._waiting[key] = _Waiting(question)
            try:
                yield
            finally:
                del self._waiting[key]
                self._drop(question.agent, question.id)

    async def answer_to(self, question: Question) -> Answer:
        """Wait for the answer, inside of `asking`; bounded by whoever calls."""
        waiting = self._waiting[question.agent, question.id]
        await waiting.answered.wait()
        assert waiting.answer is not None
        return waiting.answer

    def remembers(self, question: Question) -> bool:
        """Whether the operator has passed exactly this call of this agent for good."""
        return _digest(replace(question, gate="")) in self.remembered(question.agent)

    def remembered(self, agent: str) -> set[str]:
        """The calls of an agent that pass for good: read once, then as the operator is heard to say."""
        if self._remembered is None:
            self.read_remembered()
        assert self._remembered is not None
        return self._remembered.setdefault(agent, set())

    def read_remembered(self) -> None:
        """Take what is on file of calls that pass for good."""
        self._remembered = {}
        for path in self._folder.glob(f"*/{_REMEMBERED}"):
            with suppress(OSError, UnicodeDecodeError):
                self._remembered[path.parent.name] = set(path.read_text().splitlines())

    def hear(self, said: dict[str, Any]) -> bool:
        """Take what the operator says to this process; whether the call that it is about waits here."""
        try:
            agent, call_id, to = said["agent"], said["id"], said["to"]
            answer = Answer("pass" if said["verdict"] == "pass" else "refuse", str(said["reason"]))
            if said["remember"] is True:
                self.remembered(agent).add(str(said["remembered"]))
            if said["parked"] is True:
                _TOLD.add((str(self._root), agent, call_id, to))
                return False
            waiting = self._waiting.get((agent, call_id))
        except (KeyError, TypeError, OSError):
            return False
        if waiting is None or waiting.answer is not None:
            return False
        other = Answer("refuse", "the operator's answer was to another call of this id")
        waiting.take(answer if to == _digest(waiting.question) else other)
        return True

    def was_told(self, agent: str, call_id: str, written: str | None) -> bool:
        """Whether an answer to a parked call, as it stands in its file, is one that the operator gave."""
        try:
            to = json.loads(written or "").get("to")
        except (ValueError, AttributeError, RecursionError):
            return False
        return (str(self._root), agent, call_id, to) in _TOLD

    # -- answering

    def answered(self, question: Question) -> Answer | None:
        """The operator's answer to a parked call that nobody has asked again yet; it stays where it is."""
        return self._answer(question)

    def questions(self) -> list[Question]:
        """What waits for the operator, the oldest first; nothing whose host has ended is among it."""
        return sorted((each for each in self._all() if not each.is_dead), key=lambda each: each.since)

    def answer(
        self, call_id: str, answer: Answer, *, agent: str | None = None, remember: bool = False
    ) -> Question:
        """Answer a question.

        Args:
            call_id: the call's id, or the one that its provider gave it.
            answer: what the operator says.
            agent: whose call; needed when several agents have one of that id.
            remember: pass the same call of the agent from now on, where a rule asks.

        Returns:
            What was answered.

        Raises:
            HoldError: there is no such question, there are several, it was answered, nobody waits for it any
                more, or this process is below a tool call.
            StopError: whether a process is there to be told cannot be seen.
        """
        if (below := inside()) is not None:
            raise HoldError(f"this is inside {below}: an answer to a held call is the operator's to give")
        names = {call_id, record_name(call_id)}
        found = [q for q in self.questions() if q.id in names and agent in {None, q.agent}]
        if len(found) != 1:
            waiting = ", ".join(f"{q.id} of {q.agent}" for q in self.questions()) or "nothing"
            several = f"several agents hold a call {call_id!r}; name one with --agent"
            none = f"no call {call_id!r} is held; held: {waiting}"
            raise HoldError(several if found else none)
        (question,) = found
        if len(answer.reason.encode()) > MAX_REASON_BYTES:
            raise HoldError(f"the reason is longer than {MAX_REASON_BYTES} bytes; say it shorter")
        remember = remember and answer.verdict == "pass"
        said = {
            "agent": question.agent,
            "id": question.id,
            "to": _digest(question),
            "verdict": answer.verdict,
            "reason": answer.reason,
            "remember": remember,
            "remembered": _digest(replace(question, gate="")),
            "parked": question.parked,
        }
        here = [each for each in list(_HERE) if each._root == self._root]  # noqa: SLF001 - its own class
        taken = sum(each.hear(said) for each in here) > 0  # all of them hear it
        replies = [] if taken else say_to_running(self._root, said)
        if question.parked:
            self._write_answer(question, answer)
        elif not taken and None not in replies:
            why = "; ".join(each for each in replies if each) or "it does not wait any more"
            raise HoldError(f"call {question.id} of {question.agent} was not answered: {why}")
        if remember:
            with (self._folder / question.agent / _REMEMBERED).open("a") as file:
                file.write(f"{said['remembered']}\n")
        return question

    def _write_answer(self, question: Question, answer: Answer) -> None:
        path = self._path(question.agent, question.id).with_suffix(".answer")
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            said = {"verdict": answer.verdict, "reason": answer.reason, "to": _digest(question)}
            temporary.write_bytes(encode(said))
            path.hardlink_to(temporary)  # unlike a rename, a link is never made over an answer
        except FileExistsError:
            raise HoldError(f"call {question.id} of {question.agent} was answered a moment ago") from None
        except OSError as error:
            raise HoldError(f"{path}: the answer cannot be written: {error.strerror}") from error
        finally:
            temporary.unlink(missing_ok=True)

    def sweep(self) -> list[Question]:
        """Remove the questions of hosts that have ended, and say which they were: those calls did not run."""
        dead = [each for each in self._all() if each.is_dead]
        for each in dead:
            self._drop(each.agent, each.id)
        return dead

    # -- files

    def _all(self) -> list[Question]:
        paths = [each for each in self._folder.glob("*/*.json") if not each.name.startswith(".")]
        return [question for each in paths if (question := self._read(each)) is not None]

    @contextmanager
    def _put(self, question: Question) -> Iterator[None]:
        path = self._path(question.agent, question.id)
        content = encode({key: value for key, value in asdict(question).items() if key != "waits"})
        temporary = path.with_name(f".{path.name}")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise RecordError(f"cannot write down that {question.id} is held: {error.strerror}") from error
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with os.fdopen(os.dup(file), "wb") as out:
                    out.write(content)
                if (said := self._said(question)) is not None and said.get("to") != _digest(question):
                    path.with_suffix(".answer").unlink(missing_ok=True)  # to another call of this id
                temporary.rename(path)
            except OSError as error:
                raise RecordError(
                    f"cannot write down that {question.id} is held: {error.strerror}"
                ) from error
            yield
        finally:
            os.close(file)

    def _read(self, path: Path) -> Question | None:
        try:
            with path.open("rb") as file:
                found = json.loads(file.read(MAX_FILE_BYTES))
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    waits = False
                except OSError:
                    waits = True
            found["outside"] = tuple(map(str, found.get("outside", ())))
            return Question(**found, waits=waits)
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return None

    def _answer(self, question: Question) -> Answer | None:
        said = self._said(question)
        if said is None:
            return None
        reason = said.get("reason", "")
        if not isinstance(reason, str) or said.get("verdict") not in {"pass", "refuse"}:
            return Answer("refuse", "the operator's answer cannot be read")
        if said.get("to") != _digest(question):
            return Answer("refuse", "the operator's answer was to another call of this id")
        return Answer("pass" if said["verdict"] == "pass" else "refuse", reason)

    def _said(self, question: Question) -> dict[str, Any] | None:
        """What stands in an answer; nothing that can be understood is an empty object."""
        try:
            with self._path(question.agent, question.id).with_suffix(".answer").open("rb") as file:
                said = json.loads(file.read(MAX_FILE_BYTES))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError):
            return {}
        return said if isinstance(said, dict) else {}

    def forget(self, agent: str, call_id: str) -> None:
        """Remove the question of a call that nobody needs to be asked about any more."""
        self._drop(agent, call_id)

    def _drop(self, agent: str, call_id: str) -> None:
        path = self._path(agent, call_id)
        for each in (path, path.with_suffix(".answer")):
            with suppress(OSError):
                each.unlink(missing_ok=True)

    def _path(self, agent: str, call_id: str) -> Path:
        if fault := agent_id_fault(agent) or call_id_fault(call_id):
            raise HoldError(fault)
        return self._folder / agent / f"{call_id}.json"


def _digest(question: Question) -> str:
    """What makes two questions the same to an operator."""
    what = [question.name, question.input, question.gate, *question.outside]
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()
