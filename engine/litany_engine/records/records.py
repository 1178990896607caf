"""Records: the files every call leaves in its step, written so that a reader never sees half of one.

    steps/<agent>/<NNN>/tools/<call-id>/
        input.json                    before anything runs: the call as asked, its parent, when
        program.py, litany_tools.py   a `python` call: what it ran, what it could call
        stdout, stderr, data.json     what is too large for output.json, shared by content (`blobs.py`)
        so_far.stdout.0 …             what it has printed, while it runs (`journal.py`)
        output.json                   once it ended

The exclusive creation of `<call-id>/` is the lock on the id: whoever makes the folder owns the id, in this
process and in any other, and nothing is ever written over. Each file is written under a temporary name and
renamed, so `input.json` without `output.json` has one meaning: the call was in flight when its host died.

A record costs one mkdir and two create-write-rename rounds, and an inner call waits for it; so names are
resolved from a descriptor of the `tools` folder instead of from the root, and the next free number is
remembered. What is remembered is only where to look first: the folder decides.

Reading back is `recorded.py`.
"""

from __future__ import annotations

import fcntl
import os
import re
import threading
import weakref
from typing import TYPE_CHECKING, Literal

from litany_engine.records.blobs import SHARED_BYTES, Blobs
from litany_engine.records.disk_use import BLOCK_BYTES, DiskUse
from litany_engine.records.ids import agent_id_fault, call_id_fault, inner_id
from litany_engine.records.journal import Journal
from litany_engine.records.record_files import FILES, RecordError, encode, flush, output_of, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from litany_engine.door.calls import CallEnd, ToolCall
    from litany_stubs.words import JSON

__all__ = [
    "ClaimRefused",
    "Durability",
    "Record",
    "RecordError",
    "Records",
    "Step",
    "step_name",
    "step_numbers",
]

Durability = Literal["none", "call"]
"""`call`: a record is on the device before the call goes on; `none`: the operating system may still hold it.

Either way a record outlives the host process; only `call` outlives a power cut.
"""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_STEP_NAME = re.compile(r"[0-9]{3}|[1-9][0-9]{3,}", re.ASCII)


class ClaimRefused(ValueError):  # noqa: N818 - it is an answer to whoever offered the id, not a fault of ours
    """An offered call id is malformed or taken; the message says so in words for whoever offered it."""


def step_name(number: int) -> str:
    """The folder name of a step: three digits, more beyond 999."""
    return f"{number:03d}"


def step_numbers(folder: Path) -> list[int]:
    """The numbers of the steps in an agent's folder, ascending; other names there are not steps."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are all that is wanted, and there may be many
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RecordError(f"cannot read the steps in {folder}: {error.strerror}") from error
    return sorted(int(name) for name in names if _STEP_NAME.fullmatch(name) and int(name))


class Records:
    """The `steps` folder of one workspace.

    Args:
        steps_dir: the folder; made by `init_workspace`.
        durability: whether files are flushed to the device.
        disk: counts what is written; None counts for nobody.
    """

    def __init__(self, steps_dir: Path, durability: Durability = "none", disk: DiskUse | None = None) -> None:
        self.steps_dir = steps_dir
        self.durability: Durability = durability
        self.disk = disk or DiskUse(steps_dir.parent)
        self.blobs = Blobs(steps_dir.parent, durable=durability == "call")
        self._next: dict[str, int] = {}

    def open_step(self, agent: str) -> Step:
        """Open the next step of an agent: the least free number above the ones there, made exclusively.

        Raises:
            RecordError: the folder cannot be made.
        """
        folder = self._agent_folder(agent)
        number = self._next.get(agent) or max(step_numbers(folder), default=0) + 1
        try:
            while True:
                try:
                    (folder / step_name(number)).mkdir()
                    break
                except FileExistsError:
                    number += 1
                except FileNotFoundError:
                    folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RecordError(f"cannot open a step of agent {agent}: {folder}: {error.strerror}") from error
        self._next[agent] = number + 1
        step = Step(agent, number, folder / step_name(number), self)
        self.disk.add(2 * BLOCK_BYTES)
        if self.durability == "call":
            flush(step.path, folder, self.steps_dir)
        return step

    def current_step(self, agent: str) -> Step:
        """The step in flight of an agent: its highest number on disk, derived and never stored.

        Raises:
            RecordError: there is none; names the agent and the workspace.
        """
        folder = self._agent_folder(agent)
        number = max(step_numbers(folder), default=0)
        if not number:
            raise RecordError(
                f"agent {agent} has no step in {self.steps_dir.parent}; "
                "whoever issues a call opens its step first"
            )
        return Step(agent, number, folder / step_name(number), self)

    def step_of(self, agent: str, call_id: str) -> Step:
        """The step in which an agent's call left its record, the latest first.

        The id is taken as an id and nothing else: what names a folder in another way is not looked for.

        Raises:
            RecordError: the id is malformed, or the agent has no such record.
        """
        folder = self._agent_folder(agent)
        if fault := call_id_fault(call_id):
            raise RecordError(fault)
        for number in reversed(step_numbers(folder)):
            if (folder / step_name(number) / "tools" / call_id).is_dir():
                return Step(agent, number, folder / step_name(number), self)
        raise RecordError(f"agent {agent} has no call {call_id} in {self.steps_dir}")

    def _agent_folder(self, agent: str) -> Path:
        if fault := agent_id_fault(agent):
            raise RecordError(fault)
        return self.steps_dir / agent


class Step:
    """One step's folder, where its calls leave their records. Safe from any thread; close it or let it go.

    Attributes:
        agent: whose step it is.
        number: from 1.
        path: the step's folder.
    """

    def __init__(self, agent: str, number: int, path: Path, records: Records) -> None:
        self.agent = agent
        self.number = number
        self.path = path
        self.tools = path / "tools"
        self._durable = records.durability == "call"
        self._disk = records.disk
        self._blobs = records.blobs
        try:
            self.tools.mkdir(exist_ok=True)
            self._fd = os.open(self.tools, _FOLDER)
            # Held by whoever may still write here, and let go by the kernel when the last of them has died.
            fcntl.flock(self._fd, fcntl.LOCK_SH)
        except OSError as error:
            raise RecordError(f"cannot keep records in {self.tools}: {error.strerror}") from error
        self._let_go = weakref.finalize(self, os.close, self._fd)
        self._lock = threading.Lock()
        self._next: dict[str, int] = {}

    def close(self) -> None:
        """Let go of the folder; a call that comes later is refused its record. Again changes nothing."""
        self._fd = -1  # before it is closed: its number will soon be another file's
        self._let_go()
        self._disk.flush()

    def claim(self, call_id: str) -> Record:
        """Take a call id that was offered from outside.

        Raises:
            ClaimRefused: it is malformed, or its record exists.
            RecordError: the folder cannot be made.
        """
        if fault := call_id_fault(call_id):
            raise ClaimRefused(fault)
        record = self._make(call_id)
        if record is None:
            raise ClaimRefused(
                f"call id {call_id} is taken in step {step_name(self.number)} of {self.agent}; "
                "offer an id that was not used in this step"
            )
        return record

    def mint_outer(self) -> Record:
        """Take the next of `call_1`, `call_2`, … for an outer call that came without an id."""
        return self._mint("call_{}".format)

    def mint_inner(self, parent_id: str) -> Record:
        """Take the next inner id of a call: `T-k`, k = 1, 2, … without gaps, whoever else is minting.

        Raises:
            RecordError: the folder cannot be made.
        """
        return self._mint(lambda k: inner_id(parent_id, k))

    def _mint(self, name: Callable[[int], str]) -> Record:
        series = name(0)
        with self._lock:  # one thread of ours at a time; other processes are told apart by mkdir alone
            k = self._next.get(series) or self._first_free(name)
            while (record := self._make(name(k))) is None:
                k += 1
            self._next[series] = k + 1
            return record

    def _first_free(self, name: Callable[[int], str]) -> int:
        """Where a series ends. It has no gaps, so doubling and halving find its end in few looks.

        A process that makes one call of a program's ten thousand would else try every folder before its own.
        """
        if not self._taken(name(1)):
            return 1
        low, high = 1, 2
        while self._taken(name(high)):
            low, high = high, high * 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._taken(name(middle)) else (low, middle)
        return high

    def _taken(self, name: str) -> bool:
        try:
            os.stat(name, dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise RecordError(f"cannot look at the record {self.tools / name}: {error.strerror}") from error
        return True

    def _make(self, call_id: str) -> Record | None:
        try:
            os.mkdir(call_id, dir_fd=self._fd)
        except FileExistsError:
            return None
        except OSError as error:
            raise RecordError(f"cannot make the record {self.tools / call_id}: {error.strerror}") from error
        if self._durable:
            os.fsync(self._fd)
        self._disk.add(BLOCK_BYTES)
        return Record(self, call_id)


class Record:
    """The record of one call, owned by whoever claimed its id.

    Attributes:
        call_id: the id.
        path: the record's folder.
    """

    __slots__ = ("_journal", "_step", "call_id", "ended", "path")

    def __init__(self, step: Step, call_id: str) -> None:
        self._step = step  # keeps the step's descriptor open
        self.call_id = call_id
        self.path = step.tools / call_id
        self.ended = False
        self._journal: Journal | None = None

    def journal(self) -> Journal:
        """Where what the call prints is kept until its end is written; the same one each time."""
        if self._journal is None:
            self._journal = Journal(self._step._fd, f"{self.call_id}/")  # noqa: SLF001 - as in `_put`
        return self._journal

    def write_input(self, call: ToolCall, parent: str | None, at: datetime) -> None:
        """Write `input.json`, before anything of the call runs.

        Raises:
            RecordError: the file cannot be written; the call must not run.
        """
        asked = {
            "id": call.id,
            **({"given_id": call.given} if call.given else {}),
            "name": call.name,
            "input": call.input,
            "parent": parent,
            "at": at.isoformat(),
        }
        self._put("input.json", encode(asked))

    def write_text(self, name: str, text: str | bytes) -> None:
        """Write one of a `python` call's own files, `program.py` or `litany_tools.py`.

        Raises:
            RecordError: the file cannot be written; the program must not run.
        """
        content = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        if len(content) < SHARED_BYTES or not self._share(name, content):
            self._put(name, content)

    def write_output(self, end: CallEnd) -> None:
        """Write `output.json`, once: an answer that comes after the end changes nothing.

        Raises:
            RecordError: the file cannot be written, or the record has ended before.
        """
        if self.ended:
            raise RecordError(f"the record {self.path} has ended; a late answer is not written over it")
        try:
            self._put("output.json", encode(self._output(end)))
            self.ended = True
        finally:
            if self._journal is not None:
                self._journal.end(keep=not self.ended)

    def _output(self, end: CallEnd) -> dict[str, JSON]:
        """What `output.json` says, with what is large in files beside it that records share."""
        large: dict[str, bytes] = {}
        if len(end.stdout) >= SHARED_BYTES:
            large["stdout"] = end.stdout
        if len(end.stderr) >= SHARED_BYTES:
            large["stderr"] = end.stderr
        if end.data is not None and len(data := encode(end.data)) >= SHARED_BYTES:
            large["data"] = data
        shared = {name: content for name, content in large.items() if self._share(FILES[name], content)}
        return output_of(end, shared)

    def _share(self, name: str, content: bytes) -> bool:
        """Put a content into the record as a link to what records share; whether that can be done here."""
        step = self._step
        try:
            written = step._blobs.link(content, step._fd, f"{self.call_id}/{name}")  # noqa: SLF001 - as in `_put`
        except OSError as error:
            raise RecordError(f"cannot write the record {self.path / name}: {error.strerror}") from error
        if written:
            step._disk.add(written)  # noqa: SLF001 - as in `_put`
        return written is not None

    def _put(self, name: str, content: bytes) -> None:
        put(self._step._fd, f"{self.call_id}/", name, content, durable=self._step._durable, where=self.path)  # noqa: SLF001 - one idea, two classes
        self._step._disk.add(len(content))  # noqa: SLF001 - as above
