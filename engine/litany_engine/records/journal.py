"""What a call in flight has printed, on disk as it comes: what is left of it when its host dies.

    <record>/so_far.stdout.0        the first bytes of the stream
    <record>/so_far.stdout.131072   a later piece, named for the place of its first byte

A stream is kept in pieces of `PIECE_BYTES`: the first and the last ones. A piece is only ever appended to, so
whatever the moment of a death, a reader finds whole pieces and knows what lies between them. The files go
once `output.json`, which has the streams whole, is there. Nothing is flushed to the device, and a disk that
takes no more ends the journal, not the call.

With screens there is no journal: what a screen takes out of a result must be nowhere.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from litany_engine.records.record_files import read_whole
from litany_runtime.limits import KIB

if TYPE_CHECKING:
    from pathlib import Path

PIECE_BYTES = 64 * KIB
"""Bytes of a piece, and one chunk more at most: about 256 KiB on disk of each stream of a call in flight, of
which a model is shown 4 KiB."""

LAST_PIECES = 2
"""Pieces kept of the end, besides the first: the last may hold a single byte."""

STREAMS = ("stdout", "stderr")

_PREFIX = "so_far."
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


class Journal:
    """The pieces of one record.

    Args:
        folder_fd: descriptor of a folder above the record's.
        prefix: the way from there to the record, with its slash.
    """

    __slots__ = ("_ended", "_folder_fd", "_prefix", "_streams")

    def __init__(self, folder_fd: int, prefix: str) -> None:
        self._folder_fd = folder_fd
        self._prefix = prefix
        self._streams: dict[str, _Pieces] = {}
        self._ended = False

    def add(self, stream: str, chunk: bytes) -> None:
        """Take what a stream gave; never raises for what a disk does."""
        if self._ended:  # a pipe that somebody still holds
            return
        pieces = self._streams.get(stream)
        if pieces is None:
            stem = f"{self._prefix}{_PREFIX}{stream}."
            pieces = self._streams[stream] = _Pieces(self._folder_fd, stem)
        pieces.add(chunk)

    def clear(self) -> None:
        """Take the files away: the call is tried once more, and what its last try gave is what counts."""
        for pieces in self._streams.values():
            pieces.remove()
        self._streams.clear()

    def end(self, *, keep: bool = False) -> None:
        """Take nothing more.

        Args:
            keep: leave the files: the record has no end that holds the streams.
        """
        self._ended = True
        if not keep:
            self.clear()
        for pieces in self._streams.values():
            pieces.close()


class _Pieces:
    """The pieces of one stream."""

    __slots__ = ("_failed", "_fd", "_folder_fd", "_offsets", "_room", "_stem", "_total")

    def __init__(self, folder_fd: int, stem: str) -> None:
        self._folder_fd = folder_fd
        self._stem = stem
        self._fd = -1
        self._total = 0
        self._room = 0
        self._offsets: list[int] = []
        self._failed = False

    def add(self, chunk: bytes) -> None:
        if self._failed:
            return
        try:
            if self._room <= 0:
                self._begin()
            view = memoryview(chunk)
            while view:
                written = os.write(self._fd, view)
                self._total += written
                self._room -= written
                view = view[written:]
        except OSError:
            self._failed = True
            self.close()

    def _begin(self) -> None:
        self.close()
        self._fd = os.open(f"{self._stem}{self._total}", _APPEND, 0o600, dir_fd=self._folder_fd)
        self._offsets.append(self._total)
        self._room = PIECE_BYTES
        if len(self._offsets) > 1 + LAST_PIECES:
            self._unlink(self._offsets.pop(1))

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def remove(self) -> None:
        self.close()
        for each in self._offsets:
            self._unlink(each)

    def _unlink(self, offset: int) -> None:
        with suppress(OSError):
            os.unlink(f"{self._stem}{offset}", dir_fd=self._folder_fd)


def printed_so_far(record: Path) -> dict[str, bytes]:
    """What a record's journal holds of each stream; a line stands for what was not kept."""
    found = _pieces(record)
    return {stream: _joined(found.get(stream, [])) for stream in STREAMS}


def remove_journal(record: Path) -> None:
    """Take a record's journal away, whoever wrote it."""
    for pieces in _pieces(record).values():
        for _, path in pieces:
            with suppress(OSError):
                path.unlink()


def _pieces(record: Path) -> dict[str, list[tuple[int, Path]]]:
    found: dict[str, list[tuple[int, Path]]] = {}
    for path in record.glob(f"{_PREFIX}*"):
        stream, _, offset = path.name.removeprefix(_PREFIX).partition(".")
        if stream in STREAMS and offset.isascii() and offset.isdigit():
            found.setdefault(stream, []).append((int(offset), path))
    return {stream: sorted(pieces) for stream, pieces in found.items()}


def _joined(pieces: list[tuple[int, Path]]) -> bytes:
    text = bytearray()
    end = 0
    for offset, path in pieces:
        try:
            content = read_whole(path)
        except OSError:
            continue
        if offset > end:
            text += f"\n[{offset - end} bytes were printed here and not kept]\n".encode()
        text += content
        end = offset + len(content)
    return bytes(text)
