"""The operator's say on each call: a program of theirs that is asked, and answers pass, refuse or hold.

It is started for one question, in the workspace's folder, without arguments of ours. On stdin it reads one
JSON object:

    {"id", "name", "input", "role", "agent_id", "parent"}     parent: null for a call of the model itself

and it answers with one on stdout, exit code 0:

    {"verdict": "pass"}
    {"verdict": "refuse", "reason": "…"}     for the model
    {"verdict": "hold", "reason": "…"}       for the operator

Anything else is a fault and nothing runs: a crash, an unknown word or key (an attempt to rewrite the input
among them), silence. A fault is the operator's to mend, so it is never put to the model as a refusal that it
might try to talk around. A control may be asked twice about one call and must not count on being asked once.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import trio

from litany_engine.configuration.units import show_duration
from litany_engine.door.gates import ControlFault, Hold, Verdict
from litany_engine.tools.environment import AGENT_VARIABLE, CALL_VARIABLE, WORKSPACE_VARIABLE
from litany_engine.tools.processes import ProcessEnd, ProcessError, run_process
from litany_runtime.limits import KIB
from litany_stubs.words import Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from litany_engine.configuration.config import ControlConfig
    from litany_engine.door.callers import Caller
    from litany_engine.door.calls import ToolCall

MAX_VERDICT_BYTES = 64 * KIB
"""Bytes of each stream that are read: a verdict is one sentence."""

_MAX_SHOWN_CHARS = 400


def consultant(control: ControlConfig) -> Callable[[ToolCall, Caller], Awaitable[Verdict]]:
    """What the door asks: `consult` for one workspace's control."""

    async def ask(call: ToolCall, caller: Caller) -> Verdict:
        return await consult(control, call, caller)

    return ask


async def consult(control: ControlConfig, call: ToolCall, caller: Caller) -> Verdict:
    """Ask the control about one call.

    Args:
        control: the program, and how long it may take.
        call: the call, under the id that its record has.
        caller: who makes it.

    Returns:
        None to let it pass, a refusal, or a hold.

    Raises:
        ControlFault: it gave no verdict; the message says which control and why.
        trio.Cancelled: the call was cancelled while the control was asked; nothing of it is left running.
    """
    name = control.command[0]
    question = _question(name, call, caller)
    environment = {key: value for key, value in os.environ.items() if key != CALL_VARIABLE}
    environment |= {WORKSPACE_VARIABLE: os.fspath(caller.workspace), AGENT_VARIABLE: caller.agent}
    end: ProcessEnd | None = None
    try:
        with trio.move_on_after(control.deadline_s):
            end = await run_process(
                control.command,
                env=environment,
                cwd=caller.workspace,
                stdin=question,
                max_output_bytes=MAX_VERDICT_BYTES,
            )
    except ProcessError as error:
        raise ControlFault(f"control {name}: {error}") from error
    # `run_process` returns when it is cut short, by our deadline or by the caller's scope; the latter wins.
    await trio.lowlevel.checkpoint_if_cancelled()
    if end is None or end.cancelled:
        raise ControlFault(f"control {name} gave no verdict within {show_duration(control.deadline_s)}")
    if end.exit_code != 0:
        said = _shown(end.stderr)
        raise ControlFault(f"control {name} exited with {end.exit_code}" + (f": {said}" if said else ""))
    if end.stdout_dropped:
        raise ControlFault(f"control {name} answered with more than {MAX_VERDICT_BYTES // KIB} KiB")
    try:
        return read_verdict(end.stdout, call)
    except ValueError as error:
        raise ControlFault(f"control {name} gave no verdict: {error}") from error


def read_verdict(answer: bytes, call: ToolCall) -> Verdict:
    """Understand a control's answer.

    Raises:
        ValueError: it is not one of the three shapes at the top of this file; the message says how.
    """
    try:
        verdict = json.loads(answer.decode(), object_pairs_hook=_no_key_twice)
    except RecursionError as error:
        raise ValueError("its answer is nested too deeply") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"its answer is not UTF-8: {_shown(answer)!r}") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"its answer is not one JSON object: {_shown(answer)!r}") from error
    if not isinstance(verdict, dict):
        raise ValueError(f"its answer is not a JSON object: {_shown(answer)!r}")  # noqa: TRY004 - one kind of fault
    word = verdict.get("verdict")
    if not isinstance(word, str) or word not in {"pass", "refuse", "hold"}:
        raise ValueError(
            f'"verdict" must be "pass", "refuse" or "hold", not {json.dumps(word)[:_MAX_SHOWN_CHARS]}'
        )
    if unknown := sorted(verdict.keys() - {"verdict", "reason"}):
        raise ValueError(
            f"it has the unknown key {json.dumps(unknown[0])}; a verdict changes nothing of a call"
        )
    if word == "pass":
        if "reason" in verdict:
            raise ValueError('"pass" carries no reason')
        return None
    reason = verdict.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        raise ValueError(f'"{word}" needs a reason, a text that is not empty')
    if word == "hold":
        return Hold(reason)
    return Refusal("control", f"{call.name!r} was refused by the operator's control: {reason}")


def _question(name: str, call: ToolCall, caller: Caller) -> bytes:
    try:
        return json.dumps(
            {
                "id": call.id,
                "name": call.name,
                "input": call.input,
                "role": caller.role,
                "agent_id": caller.agent,
                "parent": caller.parent.id if caller.parent else None,
            },
            allow_nan=False,
        ).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise ControlFault(
            f"control {name} cannot be asked: the call's input is not JSON: {error}"
        ) from error


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A parser that took the last of two would let an answer say both refuse and pass."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in its answer")
    return found


def _shown(said: bytes) -> str:
    text = " ".join(said.decode(errors="replace").split())
    return text if len(text) <= _MAX_SHOWN_CHARS else text[: _MAX_SHOWN_CHARS - 1] + "…"
