"""The python act: run the program a model wrote, and answer the calls it makes through the door.

What it ran and what it could call are in its record before the child starts. Only what the program prints
comes back; what its calls answered is theirs alone, and in their own records.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import trio

from litany_engine.configuration.units import DURATION_PATTERN, DURATION_SHAPE, parse_deadline
from litany_engine.door.calls import CallEnd, Capture, Context, Tool, ToolCall
from litany_engine.records.envelope import with_reason
from litany_engine.tools.definitions import Traits
from litany_engine.tools.source import encode_source
from litany_engine.tools.worktree_quota import Watch
from litany_runtime.outcome import Outcome
from litany_runtime.program import FilePolicy, Program
from litany_stubs.words import Refusal, Reply, ToolDeclaration

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from litany_engine.tools.worktree_quota import WorktreeLimit
    from litany_runtime.limits import Limits
    from litany_runtime.program import InnerCall
    from litany_runtime.supervisor import Supervisor
    from litany_stubs.words import JSON

BREACH_EXIT_CODE = 128 + 9
"""Exit code of a program that was ended for what it took of the disk: as of one that the kernel killed."""

PYTHON = "python"
"""The tool's name."""

WARNING = "warning: "
"""What a report begins with that tells of a call in a program's text that cannot be."""

DECLARATION = ToolDeclaration(
    name=PYTHON,
    description=(
        "Run a Python program. It calls the other tools as functions: `import litany_tools`, then for "
        "example `litany_tools.read_file(path=...)`, which returns a Result with stdout, stderr, exit_code, "
        "ok and data; a failing tool is a Result, not an exception. Only what the program prints comes back. "
        "Top-level `await` works. The working directory is yours; there is no network and no other file."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "program": {"type": "string", "description": "The program's source text."},
            "deadline": {
                "description": f"Seconds as a number, or {DURATION_SHAPE}: how long it may run.",
                "type": ["number", "string"],
                "exclusiveMinimum": 0,
                "pattern": DURATION_PATTERN,
                "allOf": [{"pattern": "[1-9]"}],
            },
        },
        "required": ["program"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True, slots=True)
class Seat:
    """Where an agent's programs run.

    Attributes:
        stubs: the source of `litany_tools` for the agent, from the toolset that the door reads.
        worktree: the agent's worktree.
        files: what its programs may do there.
        limits: what one program may use.
        quota: what the worktree may take on disk; None for no limit.
        looks: whether whoever watches is told first which calls in a program's text cannot be.
    """

    stubs: str
    worktree: Path
    files: FilePolicy
    limits: Limits
    quota: WorktreeLimit | None = None
    looks: bool = False


def python_tool(seat: Callable[[str], Seat], supervisor: Callable[[], Awaitable[Supervisor]]) -> Tool:
    """The `python` tool of a workspace.

    Args:
        seat: where the programs of an agent run, asked at each call.
        supervisor: what runs them; started by the first call that needs it.
    """

    async def execute(call: ToolCall, context: Context) -> Capture:
        source = encode_source(call.input["program"])
        if isinstance(source, Refusal):
            return Capture(outcome=Outcome.REFUSED, refusal=source)
        place = seat(context.agent)
        assert context.keep is not None
        context.keep("program.py", source)
        context.keep("litany_tools.py", place.stubs)
        program = Program(source, place.stubs, place.worktree, place.files)
        return await _run(program, place, context, supervisor)

    return Tool(
        DECLARATION,
        execute,
        composes=True,
        deadline_s=requested_deadline_s,
        traits=Traits(destructive=True),  # what it does is what all the tools together can do
    )


def requested_deadline_s(arguments: JSON) -> float | None:
    """The seconds that a checked input of `python` asks for, or None."""
    asked = arguments.get("deadline")
    return parse_deadline(asked) if isinstance(asked, str) else asked


def reply_of(end: CallEnd) -> Reply:
    """What a program gets for a call: whole streams, and in words what ended it if that was not the tool."""
    stderr = with_reason(end.stderr, end)
    return Reply(
        end.outcome,
        end.exit_code,
        end.stdout,
        stderr,
        end.data,
        end.refusal,
        duration_s=end.duration_s,
        waited_s=end.waited_s,
    )


async def _run(
    program: Program, place: Seat, context: Context, supervisor: Callable[[], Awaitable[Supervisor]]
) -> Capture:
    from litany_runtime.confine import ConfinementError  # noqa: PLC0415  the other acts start without it

    failed: dict[int, str] = {}
    watch = None
    if place.quota is not None and place.files is FilePolicy.WRITE:
        watch = Watch(place.worktree, place.quota)

    async def answer(inner: InnerCall) -> Reply:
        assert context.invoke is not None
        if watch is not None:
            await watch.at_a_call(stop)
        end = await context.invoke(inner.name, inner.input, inner.awaited)
        if end.exit_code:
            failed[inner.seq] = end.call.id
        return reply_of(end)

    async with _stop_instead_of_cancel() as stop, _watched(watch, stop):
        try:
            runs = await supervisor()
            end = await runs.run(
                program,
                place.limits if watch is None else await watch.begin(place.limits),
                answer=answer,
                deadline=context.clock or context.deadline,
                stop=stop,
                output=context.output,
                warned=(lambda line: context.report(f"{WARNING}{line}")) if place.looks else None,
            )
        except ConfinementError as error:
            return Capture(outcome=Outcome.FAULTED, reason=f"the program was not run: {error}")
        note = "" if watch is None else await watch.at_the_end()
    capture = Capture(
        stdout=end.stdout,
        stderr=end.stderr,
        exit_code=end.exit_code,
        outcome=end.outcome,
        usage=end.usage,
        reason=end.reason,
        refusal=end.refusal,
        layers=end.layers,
        unread=tuple(failed[each] for each in end.unread if each in failed),
        unsent=end.unsent,
    )
    if watch is not None and watch.breach and end.outcome is Outcome.STOPPED:
        return replace(capture, outcome=Outcome.KILLED, exit_code=BREACH_EXIT_CODE, reason=watch.breach)
    if note:
        before = b"" if not end.stderr or end.stderr.endswith(b"\n") else b"\n"
        return replace(
            capture, stderr=end.stderr + before + f"[{note}]\n".encode("utf-8", "backslashreplace")
        )
    return capture


@asynccontextmanager
async def _watched(watch: Watch | None, stop: trio.Event) -> AsyncIterator[None]:
    """Look at what a program's worktree takes for as long as the block lasts."""
    if watch is None:
        yield
        return
    raised: Exception | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch.keep, stop)
        try:
            yield
        except Exception as error:  # noqa: BLE001  raised below, outside the nursery that would wrap it
            raised = error
        nursery.cancel_scope.cancel()
    if raised is not None:
        raise raised


@asynccontextmanager
async def _stop_instead_of_cancel() -> AsyncIterator[trio.Event]:
    """Turn the cancellation of this task into the program's stop flag.

    A program that is cancelled in the middle would lose what it printed; one that is stopped ends in bounded
    time and hands it over. The block is shielded, and the supervisor's cascade is what bounds it.
    """
    stop = trio.Event()

    async def raise_flag_when_cancelled(
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        task_status.started()
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            stop.set()  # not let through: the nursery would raise it, and what the program printed be lost

    async with trio.open_nursery() as nursery:
        await nursery.start(raise_flag_when_cancelled)
        with trio.CancelScope(shield=True):
            yield stop
        nursery.cancel_scope.cancel()
