"""The output streams of a program: what it printed is in the pipe at once, and outlives the child.

CPython keeps a line that is not ended in its own memory, where SIGKILL finds it. Here whatever is written is
handed to the kernel before `write` returns. `print` writes its parts one by one, and a system call for each
would make it several times as slow; so it is given a line's buffer, and one system call at its end, as ever.
"""

from __future__ import annotations

import builtins
import io
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_print = builtins.print


class _Bytes(io.BufferedWriter):
    """The bytes below a stream, for a program that writes those."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write and flush."""
        written = super().write(data)
        self.flush()
        return written


class Stream(io.TextIOWrapper):
    """A text file over a pipe; several buffers over one descriptor, each empty whenever nothing is written.

    Args:
        fd: the descriptor.
        errors: what becomes of text that is no UTF-8.
    """

    def __init__(self, fd: int, errors: str = "strict") -> None:
        raw = io.FileIO(fd, "wb", closefd=False)
        super().__init__(io.BufferedWriter(raw), "utf-8", errors)
        self._bytes = _Bytes(raw)
        self._lines = io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", errors, line_buffering=True)

    @property
    def buffer(self) -> _Bytes:
        """The bytes below."""
        return self._bytes

    def write(self, text: str, /) -> int:
        """Write and flush."""
        written = super().write(text)
        super().flush()
        return written

    def flush(self) -> None:
        """Flush what an exception or an interrupt left in a buffer."""
        super().flush()
        self._lines.flush()
        self._bytes.flush()

    def reconfigure(self, **options: Any) -> None:
        """Change how text is written, but for when it is flushed."""
        super().reconfigure(**options)
        shared = {each: options[each] for each in ("encoding", "errors", "newline") if each in options}
        self._lines.reconfigure(**shared)


def print_at_once(*values: Any, **options: Any) -> None:
    """`print`, to a stream of this module without a system call for each part."""
    stream = options.get("file") if options else None
    if stream is None:
        stream = sys.stdout
    if type(stream) is not Stream:
        _print(*values, **options)
        return
    lines = stream._lines  # noqa: SLF001 - one idea, a class and what prints to it
    if not options:
        try:
            _print(*values, file=lines)
        except BaseException:
            lines.flush()
            raise
        return
    try:
        _print(*values, **{**options, "file": lines})
    finally:
        lines.flush()


def prepare() -> None:
    """Have programs print so; once, in the zygote, before the policy takes the builtins."""
    for each in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(print_at_once, each, getattr(_print, each))
    builtins.print = print_at_once
