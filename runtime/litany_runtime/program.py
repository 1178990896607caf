"""A program: what a child is asked to run, what it asks for, and how it ended."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from litany_runtime.outcome import Outcome, Usage

if TYPE_CHECKING:
    from pathlib import Path

    from litany_stubs.words import JSON, Refusal


class FilePolicy(StrEnum):
    """What a program may do in its agent's worktree."""

    NONE = "none"
    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class Program:
    """One program and what it is run with.

    Attributes:
        source: the program text; UTF-8 or with a PEP 263 cookie. Parsed in the child, never here.
        stubs: the source of its `litany_tools`; "" for a program that has no tools.
        worktree: the agent's worktree on the host, a folder directly under the supervisor's worktree root;
            None for a program without files.
        files: what it may do there.
        filename: the name that tracebacks and refusals show.
    """

    source: bytes
    stubs: str = ""
    worktree: Path | None = None
    files: FilePolicy = FilePolicy.WRITE
    filename: str = "program.py"


class Awaited:
    """What is known of whoever waits for a call's answer; this one waits for ever, and always has room.

    Attributes:
        given_up_at: when it stopped waiting, on trio's clock; `math.inf` while it waits.
    """

    __slots__ = ("given_up_at",)

    def __init__(self) -> None:
        self.given_up_at = math.inf

    async def room(self) -> None:
        """Wait until answers may be made: those made before have been taken, but for a bounded rest."""


@dataclass(frozen=True, slots=True)
class InnerCall:
    """A call that a program asks for.

    Attributes:
        seq: 1, 2, 3, … in the order of asking; the door mints the id.
        name: the tool's name, as the program gave it.
        input: the arguments, a JSON object.
        awaited: whether the program still waits for it, and takes its answers.
    """

    seq: int
    name: str
    input: JSON
    awaited: Awaited = field(default_factory=Awaited)


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How a program ended.

    Attributes:
        outcome: the end.
        exit_code: as `outcome.py` says.
        stdout: what it printed, within `Limits.output_bytes`; a marker stands for a dropped middle.
        stderr: the same for the other stream.
        reason: for an end that was not the program's own, what ended it (`memory limit 256 MiB`); else "".
        refusal: set when `outcome` is `refused`.
        usage: what it used.
        layers: the layers of confinement that held while it ran.
        unread: calls that failed and whose results it did not look at, by their `seq`; as it says itself.
        unsent: calls refused in the child, since it had made all that it may; as it says itself.
    """

    outcome: Outcome
    exit_code: int
    stdout: bytes = b""
    stderr: bytes = b""
    reason: str = ""
    refusal: Refusal | None = None
    usage: Usage = field(default_factory=Usage)
    layers: tuple[str, ...] = ()
    unread: tuple[int, ...] = ()
    unsent: int = 0
