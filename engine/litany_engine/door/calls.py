"""A call on its way through the door: what is asked, by whom, what came back.

Pure data. The sequence of gates is `door.py`; what a finished call leaves on disk is `records.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from litany_engine.tools.definitions import Traits
from litany_runtime.outcome import Outcome, Usage
from litany_stubs.words import JSON, Refusal, ToolDeclaration

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from litany_runtime.deadline import Deadline
    from litany_runtime.program import Awaited


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call as asked.

    Attributes:
        id: one path component, the name of its record; `T-k` for the k-th inner call of `T`.
        name: the tool's name as asked.
        input: the arguments, a JSON object.
        given: the id that its issuer gave it, when that is another text (`ids.py`); else "".
    """

    id: str
    name: str
    input: JSON
    given: str = ""

    @property
    def given_id(self) -> str:
        """The id that its issuer knows it by."""
        return self.given or self.id


@dataclass(frozen=True, slots=True)
class Capture:
    """What an executor returns.

    Attributes:
        stdout: output bytes.
        stderr: diagnostic bytes.
        exit_code: 0 for success.
        data: structured output, JSON's domain, or None.
        outcome: None when the exit code tells it (0 completed, else failed); set by an executor whose
            work was ended from outside (`timed_out`, `stopped`, `killed`) or that failed itself (`faulted`).
        usage: set by an executor that ran a program or process and measured it.
        reason: what ended the work, when `outcome` is set.
        refusal: set with `outcome=refused` by an executor that would not start (a program's policy).
        layers: for a program, the layers of confinement that held while it ran.
        retryable: this failure may not happen again; meaningless without `Traits.max_retries`.
        unread: ids of inner calls that failed and whose results the program did not look at.
        unsent: calls of a program that were refused before they reached the door.
    """

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int = 0
    data: JSON = None
    outcome: Outcome | None = None
    usage: Usage | None = None
    reason: str = ""
    refusal: Refusal | None = None
    layers: tuple[str, ...] = ()
    retryable: bool = False
    unread: tuple[str, ...] = ()
    unsent: int = 0

    @classmethod
    def failed(cls, message: str) -> Capture:
        """What a tool gives that says no: exit code 1 and one message on stderr."""
        return cls(stderr=f"{message}\n".encode("utf-8", "backslashreplace"), exit_code=1)


class Invoke(Protocol):
    """Makes an inner call."""

    def __call__(self, name: str, arguments: JSON, awaited: Awaited | None = None, /) -> Awaitable[CallEnd]:
        """Make it."""


@dataclass(frozen=True, slots=True)
class Context:
    """Who called, and what bounds the call. Identity comes from here, never from the model's input.

    Attributes:
        workspace: the workspace's root folder.
        agent: the calling agent's id.
        call_id: this call's id.
        cwd: the agent's working directory.
        deadline: absolute, on trio's clock (`trio.current_time()`); `math.inf` for none.
        report: `report(message, fraction=None, *, progress=None, total=None)` tells progress to whoever
            watches, as a fraction or as so much of a total; never raises.
        record: the folder of this call's record.
        invoke: makes an inner call of this one through the same door; dead once this call has ended. Takes
            the tool's name, its input and, of a program that waits for it, what is known of its waiting.
        keep: `keep(name, content)` writes a file of the call's own into its record.
        output: `output(stream, chunk)` takes output as it comes, for whoever watches and for the record of a
            call whose host dies; None when neither wants it.
        clock: the call's own deadline, which may move while the operator is waited for; None outside a door.
        outside: real paths out of the agent's worktree that the operator lets this call reach.
    """

    workspace: Path
    agent: str
    call_id: str
    cwd: Path
    deadline: float
    report: Callable[..., None]
    record: Path
    invoke: Invoke | None = None
    keep: Callable[[str, str | bytes], None] | None = None
    output: Callable[[str, bytes], None] | None = None
    clock: Deadline | None = None
    outside: frozenset[str] = frozenset()


class Executor(Protocol):
    """Runs one prepared call. Cancellation (trio's) is the stop: clean up, bounded, and let it through."""

    async def __call__(self, call: ToolCall, context: Context) -> Capture:
        """Run the call; a failing tool is a capture with a non-zero exit code, not an exception."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A declaration and the executor behind it.

    Attributes:
        declaration: what is shown and checked.
        execute: what runs.
        composes: True for a tool that runs programs; a program may not call it (depth).
        deadline_s: reads from a checked input the seconds that the call itself asks for, or None when it asks
            for nothing; it may shorten what the operator allows, never lengthen it.
        traits: what it says of itself besides.
        place: the file that declares it, with its line where it has one; "" for a tool of litany's own.
    """

    declaration: ToolDeclaration
    execute: Executor
    composes: bool = False
    deadline_s: Callable[[JSON], float | None] | None = None
    traits: Traits = field(default_factory=Traits)
    place: str = ""


@dataclass(frozen=True, slots=True)
class CallSummary:
    """What is kept in memory of an ended inner call; its streams are in its record alone.

    Attributes:
        id: the call's id.
        name: the tool's name as asked.
        outcome: how it ended.
        exit_code: as the outcome says.
        duration_s: monotonic seconds from reaching the door to its end.
        why: why it was refused, in a few words; "" for any other end.
        unread: it failed, and the program that made it did not look at its result.
    """

    id: str
    name: str
    outcome: Outcome
    exit_code: int
    duration_s: float
    why: str = ""
    unread: bool = False


@dataclass(frozen=True, slots=True)
class CallEnd:
    """How a call ended.

    Attributes:
        call: the call as asked.
        outcome: the end.
        exit_code: as the outcome says.
        stdout: whole output bytes.
        stderr: whole diagnostic bytes.
        data: structured output or None.
        refusal: set when refused.
        reason: what ended it, for an end that was not the tool's own.
        started_at: wall clock, UTC, when it reached the door.
        ended_at: wall clock, UTC.
        duration_s: monotonic seconds between the two.
        usage: what a program used, or None.
        layers: the layers of confinement that held around a program; none for other tools.
        record: the folder of its record, or None when its id could not be claimed.
        calls: its inner calls in the order of their ends, refused ones too.
        unrecorded: inner calls besides these that were refused by their number and have no record.
        agent: who made it.
        parent: the id of the call it belongs to, or None.
        waited_s: of `duration_s`, how long it waited for its turn among the calls of its program.
    """

    call: ToolCall
    outcome: Outcome
    exit_code: int
    started_at: datetime
    ended_at: datetime
    duration_s: float
    stdout: bytes = b""
    stderr: bytes = b""
    data: JSON = None
    refusal: Refusal | None = None
    reason: str = ""
    usage: Usage | None = None
    layers: tuple[str, ...] = ()
    record: Path | None = None
    calls: tuple[CallSummary, ...] = ()
    unrecorded: int = 0
    agent: str = ""
    parent: str | None = None
    waited_s: float = 0.0
