"""What the operator decided on disk, watched while calls run.

A tool runs as the user who owns the workspace and may write all of it: `litany.toml`, the descriptors of
tools, the control, an agent's role, an answer to a held call. What a process decides with is read once,
when it opens the workspace. A file that changed while a call ran is named in the call's result and held:
until the operator has looked at it nothing more is run by its new text.

    holds/settings.json    {"call", "agent", "since", "was": {name: text | null}}

`litany answer litany.toml pass` takes the files as they are, `refuse` puts back what they were. A process
that held a change remembers it until it hears the answer, so a later call that removes or rewrites that file
changes nothing: it is written again. Answers and remembered calls that the operator was not heard to give are
taken away at once; there is nothing to be asked.

Who kills the host first is not seen here. The kernel layer is what will hold a tool; this names what it did.
"""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from litany_engine.configuration.regular_file import FileFault, read_regular
from litany_engine.door.holds import FOLDER, HoldError, Holds
from litany_engine.records.record_files import encode
from litany_engine.stopping import say_to_running
from litany_engine.tools.ancestry import inside
from litany_engine.tools.processes import tool_processes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SETTINGS_ID = "litany.toml"
"""What `litany holds` and `litany answer` call a change of the settings."""

MAX_KEPT_BYTES = 1024 * 1024
"""Largest file that is kept whole to be put back: a configuration is written by hand."""

MAX_HELD_BYTES = 256 * MAX_KEPT_BYTES
"""Largest file of held changes that is read: it has the text of each file that changed."""

_UNKEPT = "\0"
"""What the text of a file begins with that was not kept: the rest says why, and tells it from others."""

_HELD = "settings.json"
_ROLES = "repo.git/refs/litany/role"
_TO_DO = (
    f"look at it, then `litany answer {SETTINGS_ID} pass` takes it as it is, "
    "and `refuse` puts back what it was"
)
_Stamp = tuple[int, int, int, int] | None


class SettingsHeldError(RuntimeError):
    """What decides who may do what was changed while a call ran; the message says what to do about it."""


class Decisions:
    """The operator's decisions, as one process that has a workspace open knows them.

    Args:
        root: the workspace's root folder.
        files: the files that decide besides `litany.toml`: descriptors of tools and folders of them, what
            they start, the control.
        holds: the questions and answers of this process.

    Attributes:
        holds: the same.
    """

    def __init__(self, root: Path, files: Iterable[Path], holds: Holds) -> None:
        self._root = root
        self.holds = holds
        self._files = tuple(dict.fromkeys((root / "litany.toml", *files)))
        self._held: dict[str, str | None] = {}
        self._held_by = "?", "?"
        self._stamps: dict[Path, _Stamp] = {}
        self._known: dict[str, str | None] = {}
        self._roles: dict[str, str] = {}
        self._answers: set[Path] = set()
        self._fault = ""
        self._started = tool_processes.started
        self.holds.read_remembered()
        self.settle()

    def settle(self) -> None:
        """Take everything as it is; for a moment in which no call runs. What is held is not taken."""
        if self._held or (self._root / FOLDER / _HELD).exists():
            return
        for path in self._all_files():
            if self._is_new(path):
                self._known[_name(self._root, path)] = _text(path)
        if self._is_new(self._root / _ROLES) or self._is_new(self._root / "repo.git/packed-refs"):
            self._roles = _roles(self._root)
        self._answers = set(_answers(self._root))
        new = [path for path in _remembered(self._root) if self._is_new(path)]
        if new:
            self.holds.read_remembered()

    def hear(self, said: dict[str, Any]) -> bool:
        """Take what the operator says to this process; whether it was for it."""
        if said.get("settings") is True:
            self._held.clear()
            with suppress(OSError):
                _release(self._root)
            self.settle()
            self._fault = ""
            return True
        return self.holds.hear(said)

    def fault(self) -> str:
        """Why the control is not asked: what it is may have been changed. "" when it may be asked."""
        if self._fault and not held_settings(self._root):
            self._fault = ""
        return self._fault

    def look(self, call_id: str, agent: str) -> list[str]:
        """Name what changed while a call ran, and hold it.

        Args:
            call_id: the call that just ended.
            agent: whose it is.

        Returns:
            One line for each kind of change; for whoever reads the call's result.
        """
        started = tool_processes.started
        if started == self._started and not tool_processes.running:
            return []  # a program that is confined reaches none of these files
        self._started = started
        try:
            notes = [*self._changed(call_id, agent), *self.hold_again()]
        except OSError as error:
            notes = [
                f"{FOLDER}/{_HELD} cannot be written ({error.strerror}): what changed is held in this process"
            ]
        return [*notes, *self._forged_answers(), *self._forged_memory()]

    def hold_again(self) -> list[str]:
        """Write down what this process holds, if a call has taken that away or changed it.

        Returns:
            A line that says so, if it was.

        Raises:
            OSError: it cannot be written.
        """
        self._held = {
            name: was for name, was in self._held.items() if _current(self._root, name) != was
        }  # what is as it was again needs no answer
        if not self._held:
            return []
        held = held_settings(self._root)
        if held is not None and all(held["was"].get(name, held) == was for name, was in self._held.items()):
            return []
        _hold(self._root, *self._held_by, self._held)
        return [f"{FOLDER}/{_HELD} was not as this process wrote it, and is written again"]

    def _all_files(self) -> list[Path]:
        """The files that decide, those in folders of descriptors one by one, those that are gone too."""
        found = dict.fromkeys(self._files)
        for path in self._files:
            if path.is_dir():
                found.pop(path)
                found.update(dict.fromkeys(path.glob("*.json")))
        found.update(dict.fromkeys(self._root / name for name in self._known))
        return list(found)

    def _changed(self, call_id: str, agent: str) -> list[str]:
        was: dict[str, str | None] = {}
        for path in self._all_files():
            name = _name(self._root, path)
            if self._is_new(path) and _text(path) != self._known.get(name):
                was[name] = self._known.get(name)
        now = _roles(self._root)
        for each, value in self._roles.items():
            if now.get(each, value) != value:
                was[f"{_ROLES}/{each}"] = value
        self._roles = now
        if not was:
            return []
        names = ", ".join(was)
        self._held, self._held_by = {**was, **self._held}, (call_id, agent)
        self._fault = f"{names} changed while {call_id} of {agent} ran; {_TO_DO}"
        _hold(self._root, call_id, agent, self._held)
        return [f"{names} changed while this call ran: what was in force stays so, and the change is held"]

    def _forged_answers(self) -> list[str]:
        found = []
        for path in _answers(self._root):
            if path not in self._answers and not self.holds.was_told(
                path.parent.name, path.stem, _text(path)
            ):
                with suppress(OSError):
                    path.unlink()
                    found.append(
                        f"an answer to the held call {path.stem}, which was not the operator's, is taken away"
                    )
        return found

    def _forged_memory(self) -> list[str]:
        found = []
        for path in _remembered(self._root):
            if not self._is_new(path):
                continue
            lines = (_text(path) or "").splitlines()
            known = self.holds.remembered(path.parent.name)
            if not known.issuperset(lines):
                with suppress(OSError):
                    path.write_text("".join(f"{line}\n" for line in lines if line in known))
                    found.append(f"what the operator did not say is taken out of {_name(self._root, path)}")
            self._is_new(path)
        return found

    def _is_new(self, path: Path) -> bool:
        stamp = _stamp(path)
        new = path not in self._stamps or self._stamps[path] != stamp
        self._stamps[path] = stamp
        return new


def held_settings(root: Path) -> dict[str, Any] | None:
    """The change of settings that waits for the operator, if what changed is not as it was again."""
    held = _text(root / FOLDER / _HELD, MAX_HELD_BYTES)
    if held is None:
        return None
    try:
        found = json.loads(held)
        same = all(_current(root, name) == was for name, was in found["was"].items())
    except (ValueError, KeyError, TypeError, AttributeError):
        return {"call": "?", "agent": "?", "since": "?", "was": {}}
    if same:
        with suppress(OSError):
            _release(root)
        return None
    return dict(found)


def refuse_held_settings(root: Path) -> None:
    """Let nothing run by settings that a call may have changed.

    Raises:
        SettingsHeldError: there are such, and the operator has not looked at them yet.
    """
    held = held_settings(root)
    if held is not None:
        names = ", ".join(held["was"]) or f"{FOLDER}/{_HELD} is damaged: something"
        raise SettingsHeldError(
            f"{root}: {names} changed while {held['call']} of {held['agent']} ran; {_TO_DO}"
        )


def answer_settings(root: Path, verdict: str) -> list[str]:
    """Take changed settings as they are, or put back what they were.

    Args:
        root: the workspace's root folder.
        verdict: `pass` or `refuse`.

    Returns:
        The names of what changed.

    Raises:
        HoldError: nothing was changed, what was there cannot be put back, or this process is below a call.
    """
    if (below := inside()) is not None:
        raise HoldError(f"this is inside {below}: what decides is the operator's to change")
    held = held_settings(root)
    if held is None:
        raise HoldError("no change of the settings is held")
    for name, was in held["was"].items() if verdict != "pass" else ():
        try:
            _put_back(root, name, was)
        except OSError as error:
            raise HoldError(f"{name} cannot be put back: {error.strerror}") from error
    say_to_running(root, {"settings": True})  # first: who holds the change would write it again
    _release(root)
    return list(held["was"])


def _put_back(root: Path, name: str, was: str | None) -> None:
    """Give a file the text that it had; a link or a folder in its place is taken away, not followed."""
    path = root / name
    if was is not None and was.startswith(_UNKEPT):
        raise HoldError(
            f"{name} was not kept, because it {was[1:].split(' (')[0]}: put it back yourself, then pass"
        )
    if was is not None and name.startswith(f"{_ROLES}/"):
        was = f"{was}\n"  # as git itself writes it
    if path.is_dir() and not path.is_symlink():
        _put_aside(path)
    if was is None:
        path.unlink(missing_ok=True)
        return
    mode = path.lstat().st_mode & 0o777 if path.is_file() and not path.is_symlink() else 0o644
    temporary = path.with_name(f"{path.name}.lock")
    temporary.unlink(missing_ok=True)
    temporary.write_text(was, encoding="utf-8", errors="surrogateescape", newline="")
    temporary.chmod(mode)
    temporary.rename(path)


def _hold(root: Path, call_id: str, agent: str, was: dict[str, str | None]) -> None:
    earlier = held_settings(root)
    if earlier is not None:
        was = {**earlier["was"], **was}  # what this process knows, before what a call may have written there
    told = {"call": call_id, "agent": agent, "since": datetime.now(UTC).isoformat(), "was": was}
    folder = root / FOLDER
    if not folder.is_dir():
        _put_aside(folder)
    folder.mkdir(mode=0o700, exist_ok=True)
    temporary = folder / f".{_HELD}.{os.getpid()}"
    temporary.write_bytes(encode(told))
    if (folder / _HELD).is_dir():
        _put_aside(folder / _HELD)
    temporary.rename(folder / _HELD)


def _release(root: Path) -> None:
    """Hold the settings no more."""
    path = root / FOLDER / _HELD
    if path.is_dir():
        _put_aside(path)
    path.unlink(missing_ok=True)


def _put_aside(path: Path) -> None:
    """Move what a call made in the place of another kind of file out of the way; it may hold anything."""
    with suppress(FileNotFoundError):
        path.rename(path.with_name(f".{path.name}.{secrets.token_hex(4)}"))


def _current(root: Path, name: str) -> str | None:
    prefix = f"{_ROLES}/"
    return _roles(root).get(name.removeprefix(prefix)) if name.startswith(prefix) else _text(root / name)


def _roles(root: Path) -> dict[str, str]:
    """The object that each agent's role is, in a file of its own or in a line among many."""
    found = {}
    prefix = f"{_ROLES.removeprefix('repo.git/')}/"
    for line in (_text(root / "repo.git/packed-refs") or "").splitlines():
        value, _, name = line.partition(" ")
        if name.startswith(prefix):
            found[name.removeprefix(prefix)] = value
    with suppress(OSError):
        for name in os.listdir(root / _ROLES):  # noqa: PTH208 - names, not paths
            if not name.endswith(".lock"):
                found[name] = (_text(root / _ROLES / name) or "").strip()
    return found


def _answers(root: Path) -> list[Path]:
    return [each for each in (root / FOLDER).glob("*/*.answer") if not each.name.startswith(".")]


def _remembered(root: Path) -> list[Path]:
    return list((root / FOLDER).glob("*/remembered.jsonl"))


def _name(root: Path, path: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _stamp(path: Path) -> _Stamp:
    try:
        seen = path.stat()
    except OSError:
        return None
    return seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns


def _text(path: Path, most: int = MAX_KEPT_BYTES) -> str | None:
    """A file's text, or None when there is none; of one that cannot be kept, what tells it from others."""
    try:
        content = read_regular(path, most)
    except FileNotFoundError:
        return None
    except FileFault as fault:
        return f"{_UNKEPT}{fault} {_stamp(path)}"
    return content.decode("utf-8", "surrogateescape")
