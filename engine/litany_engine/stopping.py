"""How the operator reaches a process that has a workspace open: a socket that dies with its listener.

Every process that has a workspace open listens on `running/<pid>-<random>.sock`. `litany stop` says to each
what to stop and is told which calls ended, once their records say so. A file with a process id would have to
be checked against the reuse of that id, and a signal could only end a whole host; a socket needs neither:
when nobody listens, nobody is there, and the file is swept away.

`litany answer` says its answer to each process in the same way. The kernel names the process that speaks, and
one that runs below a tool call is told no, whatever it says of itself (`ancestry.py`). A file could not be
told apart from one that a tool wrote.

One line of JSON each way: `{"stop": "<agent, call or record>" | null}`, `{"stopped": [ids], "error": null}`;
`{"say": {…}}`, `{"heard": true, "error": null}`.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import struct
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import trio

from litany_engine.door.selection import StopError
from litany_engine.tools.ancestry import inside

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

STOPPED_BY_COMMAND = "stopped by `litany stop`"
"""What the records of calls say that were stopped this way."""

FOLDER = "running"
"""Under the workspace's root, readable by its owner alone: who may connect may stop."""

MAX_LINE_BYTES = 4096
"""Bytes of a request; a selector is an id or a path in the workspace."""

HEARD_S = 10.0
"""How long a process may take to hear what the operator says: it only writes it down."""

ANSWER_S = 30.0
"""How long a process may take to end what it was asked to: the longest grace, and time to write it down."""

_REQUEST_S = 5.0
_SOCKET = re.compile(r"[0-9]{1,10}-[0-9a-z]+\.sock", re.ASCII)
_PEER = struct.Struct("3i")  # struct ucred: pid, uid, gid


@dataclass(frozen=True, slots=True)
class Stopped:
    """What one process did about a stop.

    Attributes:
        pid: the process, as the kernel names the listener.
        calls: the calls it stopped, ended and recorded.
        error: what it could not do, in its words, or "".
    """

    pid: int
    calls: tuple[str, ...]
    error: str = ""


async def serve_stops(
    root: Path,
    stop: Callable[[str | None], Awaitable[tuple[str, ...]]],
    hear: Callable[[dict[str, Any]], bool] = lambda _: False,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Listen for the operator of this workspace until cancelled.

    Args:
        root: the workspace's root folder.
        stop: raises the flags that a selector names and waits for the ends.
        hear: takes what the operator says; whether it was for this process.
        task_status: started once a stop can reach this process.
    """
    folder = root / FOLDER
    name = f"{os.getpid()}-{secrets.token_hex(4)}"
    path = folder / f"{name}.sock"
    listening = trio.socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            with _short_path(folder, name) as address:
                await listening.bind(address)
            listening.listen(16)
            (folder / name).rename(path)  # only now: one that does not answer yet would be swept away
        except OSError as error:
            whose = _whose(folder) if isinstance(error, PermissionError) else ""
            raise StopError(f"{folder}: cannot listen there for stops: {error.strerror}{whose}") from error
        task_status.started()
        await trio.serve_listeners(
            lambda stream: _answer(stream, stop, hear), [trio.SocketListener(listening)]
        )
    finally:
        listening.close()
        with suppress(OSError):  # it was never made, or the whole workspace is gone
            path.unlink()


async def stop_running(root: Path, selector: str | None, *, answer_s: float = ANSWER_S) -> list[Stopped]:
    """Stop what runs in a workspace, in whichever processes it runs.

    Args:
        root: the workspace's root folder.
        selector: an agent, a call or a record; None for everything.
        answer_s: how long each process may take.

    Returns:
        One answer for each process that is there.

    Raises:
        StopError: whether a process is there cannot be seen: silence would be taken for "nothing runs".
    """
    answers: list[Stopped] = []

    async def ask(name: str) -> None:
        answer = await _ask(root / FOLDER, name, selector, answer_s)
        if answer is not None:
            answers.append(answer)

    listeners = _listeners(root / FOLDER)
    async with trio.open_nursery() as nursery:
        for name in listeners:
            nursery.start_soon(ask, name)
    return sorted(answers, key=lambda each: each.pid)


def say_to_running(root: Path, what: dict[str, Any]) -> list[str | None]:
    """Say something to every process that has a workspace open, but not to this one.

    Args:
        root: the workspace's root folder.
        what: an object of JSON.

    Returns:
        For each process that heard it as its own None, for each that would not hear it why.

    Raises:
        StopError: whether a process is there cannot be seen, or it does not answer.
    """
    replies: list[str | None] = []
    for name in _listeners(root / FOLDER):
        if name.startswith(f"{os.getpid()}-"):
            continue
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(HEARD_S)
            try:
                with _short_path(root / FOLDER, name) as address:
                    connection.connect(address)
                connection.sendall(json.dumps({"say": what}).encode() + b"\n")
                with connection.makefile("rb") as lines:
                    reply = json.loads(lines.readline(MAX_LINE_BYTES))
            except (ConnectionError, FileNotFoundError, ValueError):
                continue  # its process is gone, or was on its way out
            except OSError as error:
                raise StopError(f"{root / FOLDER / name}: does not answer: {error}") from error
        if reply.get("error"):
            replies.append(str(reply["error"]))
        elif reply.get("heard"):
            replies.append(None)
    return replies


async def _ask(folder: Path, name: str, selector: str | None, answer_s: float) -> Stopped | None:
    connection = trio.socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _short_path(folder, name) as address:
            await connection.connect(address)
    except (ConnectionRefusedError, FileNotFoundError):
        connection.close()
        with suppress(OSError):  # another user's leftover stays: it harms nobody
            (folder / name).unlink()  # its process is gone, and took the listener with it
        return None
    except PermissionError as error:
        connection.close()
        return Stopped(int(name.partition("-")[0]), (), _closed_to_us(folder / name, error))
    async with trio.SocketStream(connection) as stream:
        pid = _peer(connection)
        with trio.move_on_after(answer_s):
            try:
                await stream.send_all(json.dumps({"stop": selector}).encode() + b"\n")
                answer = json.loads(await _read_line(stream))
                return Stopped(pid, tuple(answer["stopped"]), answer["error"] or "")
            except (trio.BrokenResourceError, ValueError, KeyError, TypeError):
                return Stopped(
                    pid, (), f"process {pid} ended without an answer; its records say what became of it"
                )
        return Stopped(pid, (), f"process {pid} has not ended its calls within {answer_s:g} s")


def _listeners(folder: Path) -> list[str]:
    """The sockets there are, by name; to `Path.glob` a folder that is closed to us would be an empty one."""
    try:
        return sorted(each.name for each in folder.iterdir() if _SOCKET.fullmatch(each.name))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StopError(_closed_to_us(folder, error)) from error


def _closed_to_us(path: Path, error: OSError) -> str:
    """Why nothing can be said of what runs, and who could say it."""
    return f"{path}: cannot be read: {error.strerror}{_whose(path)}; nothing was stopped"


def _whose(path: Path) -> str:
    """Whose a path is, and what follows from that."""
    try:
        owner = path.stat().st_uid
    except OSError:
        owner = path.parent.stat().st_uid
    if owner == os.geteuid():
        return " (it is yours: chmod -R u+rwX)"
    return f" (it belongs to {_user(owner)}, and you are {_user(os.geteuid())}: do this as that user)"


def _user(number: int) -> str:
    import pwd  # noqa: PLC0415 - only on the way to an error

    try:
        return f"user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"user {number}"


async def _answer(
    stream: Any,
    stop: Callable[[str | None], Awaitable[tuple[str, ...]]],
    hear: Callable[[dict[str, Any]], bool],
) -> None:
    async with stream:
        with suppress(trio.BrokenResourceError):
            declined = _why_not(_peer(stream.socket))  # now: later its number may be another process's
            try:
                with trio.fail_after(_REQUEST_S):
                    request = json.loads(await _read_line(stream))
                said = request.get("say")
                selector: Any = request["stop"] if said is None else ()
            except (trio.TooSlowError, ValueError, KeyError, TypeError, AttributeError):
                said, selector = None, ()
            if not isinstance(said, dict) and not (selector is None or isinstance(selector, str)):
                await _say(
                    stream, (), 'the request must be one line of JSON: {"stop": "<agent or call>" or null}'
                )
                return
            if declined:
                await _say(stream, (), declined)
                return
            if isinstance(said, dict):
                await _reply(stream, {"heard": hear(said), "error": None})
                return
            # Shielded: a workspace often closes once its calls have ended, and the answer is still owed.
            with trio.move_on_after(ANSWER_S, shield=True):
                try:
                    stopped = await stop(selector)
                except StopError as error:
                    await _say(stream, (), str(error))
                else:
                    await _say(stream, stopped, None)


def _peer(connection: Any) -> int:
    """The process that connected, by the kernel's word; 0 for one that this process cannot see."""
    pid: int = _PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))[0]
    return pid


def _why_not(pid: int) -> str:
    """Why a process is not taken for the operator's; "" when it may be."""
    below = inside(pid)
    if below is not None:
        return f"this is the operator's to say, and process {pid} is inside {below}"
    if pid and not os.path.exists(f"/proc/{pid}"):  # noqa: PTH110 - a name, not a path
        return f"process {pid} has gone: whose it was cannot be told; nothing was done"
    return ""


async def _say(stream: trio.SocketStream, stopped: tuple[str, ...], error: str | None) -> None:
    await _reply(stream, {"stopped": stopped, "error": error})


async def _reply(stream: trio.SocketStream, reply: dict[str, Any]) -> None:
    await stream.send_all(json.dumps(reply).encode() + b"\n")


async def _read_line(stream: trio.SocketStream) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        chunk = await stream.receive_some(MAX_LINE_BYTES)
        line += chunk
        if not chunk or len(line) > MAX_LINE_BYTES * 16:
            raise ValueError("no line")
    return line


@contextmanager
def _short_path(folder: Path, name: str) -> Iterator[str]:
    """An address for a socket in a folder of any length: an address holds 107 bytes, a path may be longer."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{name}"
    finally:
        os.close(descriptor)
