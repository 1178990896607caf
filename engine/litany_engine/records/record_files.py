"""The files of a record: how they are written, and what `output.json` holds.

A stream is a text when its bytes are UTF-8, else base64 with a key beside it that says so: whole either way,
so that offsets into a stream mean bytes of what the tool wrote.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import stat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from litany_stubs.reply_json import stream_fields

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from litany_engine.door.calls import CallEnd
    from litany_stubs.words import JSON

UNCOMMITTED = "uncommitted.json"
"""The file of a record that lists what the commit of its result lacks of the worktree: paths and reasons."""

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_encode = msgspec.json.Encoder().encode


class RecordError(RuntimeError):
    """A record cannot be written or found; the message says which and why."""


def put(folder_fd: int, prefix: str, name: str, content: bytes, *, durable: bool, where: Path) -> None:
    """Write a file whole: under a temporary name, then renamed. Nothing is left of a failed one.

    Args:
        folder_fd: descriptor of a folder above the file's.
        prefix: the way from there to the file's folder, with its slash, or empty.
        name: the file's name.
        content: all of it.
        durable: flush the file before the rename and its folder after.
        where: the file's folder, for the message.

    Raises:
        RecordError: the file cannot be written.
    """
    temporary = f"{prefix}.{name}"
    try:
        file = os.open(temporary, _CREATE, 0o644, dir_fd=folder_fd)
        try:
            written = os.write(file, content)
            while written < len(content):
                written += os.write(file, content[written:])
            if durable:
                os.fsync(file)
        finally:
            os.close(file)
        os.rename(temporary, prefix + name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
        if durable:
            _flush(prefix or ".", folder_fd)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder_fd)
        raise RecordError(f"cannot write the record {where / name}: {error.strerror}") from error


def put_once(folder: Path, name: str, content: bytes) -> bool:
    """Write a file whole unless it is there, and flush it; what a writer that died left behind is removed.

    Returns:
        Whether this call wrote it.

    Raises:
        RecordError: the file cannot be written.
    """
    temporary = folder / f".{name}.{secrets.token_hex(4)}"
    try:
        try:
            temporary.write_bytes(content)
            flush(temporary)
            (folder / name).hardlink_to(temporary)  # unlike a rename, a link is never made over a file
        finally:
            temporary.unlink(missing_ok=True)
            (folder / f".{name}").unlink(missing_ok=True)
        flush(folder)
    except FileExistsError:
        return False
    except OSError as error:
        raise RecordError(f"cannot write the record {folder / name}: {error.strerror}") from error
    return True


def read_whole(path: Path) -> bytes:
    """All of a regular file: a pipe would be waited for, and a device has no end.

    Raises:
        OSError: it cannot be read, or is something else.
    """
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return file.read()


def flush(*paths: Path) -> None:
    """Flush files and folders to the device; a flushed folder keeps the names in it through a power cut."""
    for path in paths:
        _flush(str(path))


def encode(value: JSON) -> bytes:
    """JSON text of a value, whatever it is: a call is recorded as asked even when no gate would let it pass.

    The encoder is chosen for speed and refuses what JSON text cannot say in UTF-8 (a lone surrogate, which a
    model can write as an escape); the standard library's then escapes it.
    """
    try:
        return _encode(value)
    except (ValueError, TypeError, RecursionError):
        try:
            return json.dumps(value, default=repr, skipkeys=True).encode()
        except (ValueError, TypeError, RecursionError) as error:
            return json.dumps(
                {key: _short(each, error) for key, each in value.items()}
                if isinstance(value, dict)
                else str(error)
            ).encode()


def _short(value: Any, error: Exception) -> Any:
    return value if isinstance(value, (str, int, float, type(None))) else f"not recorded: {error}"


FILES = {"stdout": "stdout", "stderr": "stderr", "data": "data.json"}
"""The file in a record that holds a part of the output which is not in `output.json`."""


def output_of(end: CallEnd, apart: Mapping[str, bytes] = MappingProxyType({})) -> dict[str, JSON]:
    """What `output.json` says of a call's end.

    Args:
        end: how it ended.
        apart: of `FILES`, the parts that stand in files of their own, with their content.
    """
    usage = end.usage
    return {
        "outcome": end.outcome,
        "exit_code": end.exit_code,
        **stream_fields("stdout", b"" if "stdout" in apart else end.stdout),
        **stream_fields("stderr", b"" if "stderr" in apart else end.stderr),
        "data": None if "data" in apart else end.data,
        **(
            {"apart": {name: hashlib.sha256(content).hexdigest() for name, content in apart.items()}}
            if apart
            else {}
        ),
        "refusal": end.refusal and {"gate": end.refusal.gate, "reason": end.refusal.reason},
        "reason": end.reason,
        "started_at": end.started_at.isoformat(),
        "ended_at": end.ended_at.isoformat(),
        "duration_s": round(end.duration_s, 6),
        **({"waited_s": waited_s} if (waited_s := round(end.waited_s, 3)) else {}),
        "sizes": {"stdout": len(end.stdout), "stderr": len(end.stderr)},
        "usage": usage
        and {"cpu_s": usage.cpu_s, "peak_memory_bytes": usage.peak_memory_bytes, "calls": usage.calls},
        **({"layers": end.layers} if end.layers else {}),
        **({"unread": unread} if (unread := [each.id for each in end.calls if each.unread]) else {}),
        **({"unrecorded": end.unrecorded} if end.unrecorded else {}),
    }


def _flush(path: str, folder_fd: int | None = None) -> None:
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder_fd)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
