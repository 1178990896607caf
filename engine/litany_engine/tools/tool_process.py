"""A tool that is a process: `bash` and every external program, from its context to its capture."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import trio

from litany_engine.door.calls import Capture
from litany_engine.plain_text import plain
from litany_engine.tools.ancestry import Claim
from litany_engine.tools.environment import tool_environment
from litany_engine.tools.processes import ProcessEnd, ProcessError, run_process
from litany_runtime.outcome import DEADLINE_PASSED, STOP_RAISED, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from litany_engine.door.calls import Context


async def run_tool_process(
    argv: Sequence[str], context: Context, *, stdin: bytes = b"", passed: Iterable[str] = ()
) -> Capture:
    """Run a process as the call of `context`: in the agent's directory, with the environment of a tool.

    Args:
        argv: program and arguments.
        context: who called.
        stdin: what the process may read.
        passed: names of more variables of the host that it gets.

    Returns:
        Its streams and exit code. A death by a signal that we did not send is `killed`; a cancelled process
        is `stopped` or `timed_out`, with the output so far; one that cannot be started is `faulted`.
    """
    try:
        end = await run_process(
            argv,
            env=tool_environment(context.workspace, context.agent, context.call_id, passed=passed),
            cwd=context.cwd,
            stdin=stdin,
            output=context.output,
            claim=Claim(str(context.workspace), context.agent, context.call_id),
        )
    except ProcessError as error:
        return Capture(error.stdout, error.stderr, outcome=Outcome.FAULTED, reason=str(error))
    outcome, reason = _outcome(end, context.deadline)
    stderr = end.stderr
    if end.left:
        stderr += _told_left(end)
    if end.survivors:
        stderr += f"\n[{end.survivors} processes were left that do not answer to SIGKILL]\n".encode()
    return Capture(end.stdout, stderr, end.exit_code, outcome=outcome, reason=reason, usage=end.usage)


def _told_left(end: ProcessEnd) -> bytes:
    """What was ended with the tool; its exit code says nothing of that."""
    named = ", ".join(plain(each) for each in end.left_commands)
    more = end.left - len(end.left_commands)
    named += f" and {more} more" if more > 0 else ""
    told = f"[ended with the call, which leaves nothing running: {named}]\n"
    return (b"\n" if end.stderr and not end.stderr.endswith(b"\n") else b"") + told.encode()


def _outcome(end: ProcessEnd, deadline: float) -> tuple[Outcome | None, str]:
    if end.cancelled:
        if trio.current_time() >= deadline:
            return Outcome.TIMED_OUT, DEADLINE_PASSED
        return Outcome.STOPPED, STOP_RAISED
    if end.signal is not None:
        return Outcome.KILLED, f"ended by signal {end.signal} ({signal.strsignal(end.signal)})"
    return None, ""
