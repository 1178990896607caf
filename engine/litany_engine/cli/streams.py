"""Which stream is whose: stdout is for what a command says, and nobody else's.

A tool that prints, or starts a process that does, would otherwise write into the middle of a program's
output, or of the one object that `--json` promises. So while a command runs, descriptor 1 is stderr for
everybody, and what the command itself says goes to a copy of the real one. Where tools run, `sys.stdout` is
stderr, too.

An output that cannot be written is an error of its own, apart from all that may go wrong inside: whoever read
it has left (`head` does), or the disk is full.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import ReadableBuffer


class OutputClosedError(RuntimeError):
    """Nobody reads our output any more; there is nobody to say it to."""


class OutputError(RuntimeError):
    """Our output cannot be written; the message says why."""


def why_unwritten(error: OSError) -> str:
    """What an error in writing our output means, in words."""
    if error.errno == errno.EPIPE:
        return "nobody reads its output any more"
    return f"the output cannot be written: {error.strerror}"


def output_error(error: OSError, more: str = "") -> OutputClosedError | OutputError:
    """The same as an exception, with what else is to be said of it."""
    why = why_unwritten(error) + more
    return OutputClosedError(why) if error.errno == errno.EPIPE else OutputError(why)


@contextmanager
def own_stdout() -> Iterator[None]:
    """Keep the real stdout for `sys.stdout`; descriptor 1 is stderr as long as the block lasts.

    Raises:
        OutputClosedError, OutputError: what was printed could not be written.
    """
    _fill_gaps()
    former = sys.stdout
    if (
        not isinstance(former, io.TextIOWrapper) or former is not sys.__stdout__
    ):  # closed, or somebody has put a stream of theirs there
        yield
        return
    saved = os.dup(1)
    os.dup2(2, 1)
    ours = io.TextIOWrapper(
        io.BufferedWriter(_Stdout(saved, "wb")),
        former.encoding,
        "backslashreplace",  # a terminal that cannot show a letter is no reason to show nothing
        line_buffering=former.line_buffering,
    )
    sys.stdout = ours
    try:
        try:
            yield
        finally:
            ours.flush()  # what was printed before an error is shown as well; `--help` ends with SystemExit
    finally:
        sys.stdout = former
        os.dup2(saved, 1)
        with open(os.devnull, "wb") as nothing:  # noqa: PTH123 - a name, not a path
            os.dup2(nothing.fileno(), saved)  # what could not be written is not tried again
        ours.close()


@contextmanager
def stdout_of_tools() -> Iterator[None]:
    """Let what tools print go to stderr as long as the block lasts."""
    with redirect_stdout(sys.stderr):
        yield


class _Stdout(io.FileIO):
    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise output_error(error) from error


def _fill_gaps() -> None:
    """Open the standard descriptors that are closed, or a socket would get their numbers, and the output."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)  # the lowest number that is free is this one
