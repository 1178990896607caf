"""An agent's transcript: its messages, replies and results, each an entry, each a commit on its branch.

It is read from the branch and never from the worktree, where a program may write what it likes; and a commit
takes the entries that were there before from the commit before it. So the transcript only grows, whatever
happens in the worktree, and the copies there are for the agent to read.

A result's commit holds, besides its entry, all that the worktree holds at that moment: what a call did to
files rides with the answer that tells of it.

Everything here blocks, for about a millisecond a commit; under trio, call it in a thread. Hold the
executor's lock while you append.
"""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from litany_engine.records.record_files import UNCOMMITTED, encode
from litany_engine.windows.entries import (
    TOOL,
    Entry,
    Side,
    ToolResult,
    TranscriptError,
    number_of,
    origin_fault,
    read_entry,
    reply_fault,
)
from litany_engine.windows.staging import MAX_NOTES, MESSAGES, LeftOut, Staged, as_json
from litany_engine.workspaces.git import AUTHOR, EMAIL, blamed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pygit2

    from litany_engine.records.records import Durability
    from litany_engine.rules.paths import PathPattern
    from litany_engine.workspaces.git import Repository
    from litany_stubs.words import JSON

MAX_SUBJECT_CHARS = 200
"""Characters of a call's id in a commit's subject; a provider may give any text as one."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_DEPOSIT = "Deposit: "


class Transcript:
    """The transcript of one agent.

    Args:
        repository: the workspace's repository.
        agent: the agent's id.
        worktree: its worktree.
        durability: `call`: a commit is on the device before `append_…` returns.
        ignore: patterns of what of the worktree is not committed.
    """

    def __init__(
        self,
        repository: Repository,
        agent: str,
        worktree: Path,
        durability: Durability = "none",
        ignore: Sequence[PathPattern] = (),
    ) -> None:
        self._repository = repository
        self._agent = agent
        self._branch = f"refs/heads/agents/{agent}"
        self._worktree = worktree
        self._durability = durability
        self._ignore = ignore
        self._administration = repository.path / "worktrees" / agent

    def entries(self) -> list[Entry]:
        """Every entry, in order.

        Raises:
            TranscriptError: an entry is damaged.
            GitError: the repository cannot be read.
        """
        with self._repository.opened() as repository:
            folder = self._messages(repository)
            return [] if folder is None else _read(folder)

    def append_message(self, sender: str, text: str, deposit: str) -> Entry:
        """Append a message to the agent.

        Args:
            sender: who sent it.
            text: what it says.
            deposit: the name of its deposit, by which `has_taken` knows it again.

        Raises:
            TranscriptError: the sender cannot stand in a name.
            GitError: it cannot be committed.
        """
        body = text.encode("utf-8", "replace")
        return self._append(
            sender, Side.USER, text, body=body, subject=f"Take a message of {sender}\n\n{_DEPOSIT}{deposit}"
        )

    def has_taken(self, deposit: str) -> bool:
        """Whether the last entry came of that deposit: its driver died before it could take the file away.

        Raises:
            GitError: the repository cannot be read.
        """
        with self._repository.opened() as repository:
            import pygit2  # noqa: PLC0415 - see git.py

            message = repository.references[self._branch].peel(pygit2.Commit).message
        return f"{_DEPOSIT}{deposit}" in message.splitlines()

    def append_reply(self, model: str, content: list[JSON], step: int) -> Entry:
        """Append what the model replied, before any of its calls is made.

        Args:
            model: the model's id.
            content: the blocks of its reply, JSON.
            step: the number of the step that its calls leave their records in.

        Raises:
            TranscriptError: it cannot stand in a transcript.
            GitError: it cannot be committed.
        """
        if fault := reply_fault(content):
            raise TranscriptError(fault)
        body = encode({"content": content, "step": step})
        subject = f"Take a reply of {model}"
        return self._append(model, Side.ASSISTANT, content, body=body, subject=subject, step=step)

    def append_result(
        self, result: ToolResult, how: str, *, final: bool = False, record: Path | None = None
    ) -> Entry:
        """Append the answer to one call, with all that the worktree holds.

        Args:
            result: the answer.
            how: how the call ended, for the history.
            final: it is the last word: the model need not be asked about it.
            record: the call's record, where what the commit lacks of the worktree is listed (`UNCOMMITTED`).

        Raises:
            GitError: it cannot be committed, or the list cannot be written.
        """
        blocks = [result.block()]
        subject = f"Answer {ascii(result.tool_use_id)[1:-1][:MAX_SUBJECT_CHARS]}: {how}"
        body = encode({"content": blocks, "final": True} if final else blocks)
        return self._append(TOOL, Side.TOOL, blocks, body=body, subject=subject, final=final, record=record)

    def mend(self) -> None:
        """Clear up after a host that died: git's lock files that nobody holds, entries the worktree lacks.

        Call it under the executor's lock, which says that the holder of the others is dead.

        Raises:
            GitError: the repository cannot be read.
        """
        for stale in (
            self._repository.path / f"{self._branch}.lock",
            self._repository.path / f"refs/litany/held/{self._agent}.lock",
            self._repository.path / f"refs/litany/stopped/{self._agent}.lock",
            self._administration / "index.lock",
        ):
            with suppress(OSError):
                stale.unlink()
        with self._repository.opened() as repository:
            folder = self._messages(repository)
            if folder is None:
                return
            try:
                present = set(os.listdir(self._worktree / MESSAGES))  # noqa: PTH208 - names are all it takes
            except OSError:
                present = set()
            for each in folder:
                if each.name and each.name not in present and number_of(each.name) is not None:
                    self._lay(each.name, each.read_raw())

    def _append(
        self,
        origin: str,
        side: Side,
        content: JSON,
        *,
        body: bytes,
        subject: str,
        step: int = 0,
        final: bool = False,
        record: Path | None = None,
    ) -> Entry:
        if fault := origin_fault(origin, side):
            raise TranscriptError(fault)
        with self._repository.opened() as repository:
            import pygit2  # noqa: PLC0415 - see git.py

            if self._durability == "call":
                _flush_what_git_writes()
            tip = repository.references[self._branch].peel(pygit2.Commit)
            before = self._messages(repository)
            numbers = [number_of(each.name or "") or 0 for each in before or ()]
            entry = Entry(max(numbers, default=0) + 1, origin, side, content, step, final)
            with self._staged() as staged:
                top = repository.TreeBuilder(staged.tree())
                folder = repository.TreeBuilder() if before is None else repository.TreeBuilder(before)
                blob = repository.create_blob(body)
                folder.insert(entry.name, blob, pygit2.enums.FileMode.BLOB)
                top.insert(MESSAGES, folder.write(), pygit2.enums.FileMode.TREE)
                if record is not None and staged.left_out:
                    (record / UNCOMMITTED).write_bytes(encode(as_json(staged.left_out)))
                author = pygit2.Signature(AUTHOR, EMAIL)
                # The parent is checked by libgit2 against the branch: nobody else's commit is lost.
                repository.create_commit(
                    self._branch,
                    author,
                    author,
                    f"{subject}\n{_notes(staged.left_out)}",
                    top.write(),
                    [tip.id],
                )
                self._lay(entry.name, body)
                staged.keep(entry.name)
        return entry

    @contextmanager
    def _staged(self) -> Iterator[Staged]:
        with blamed(self._repository.path):
            staged = Staged(self._administration, self._worktree, self._ignore)
        try:
            yield staged
        finally:
            staged.free()

    def _messages(self, repository: pygit2.Repository) -> pygit2.Tree | None:
        import pygit2  # noqa: PLC0415 - see git.py

        tree = repository.references[self._branch].peel(pygit2.Commit).tree
        folder = tree[MESSAGES] if MESSAGES in tree else None  # noqa: SIM401 - a tree has no `get`
        return folder if isinstance(folder, pygit2.Tree) else None

    def _lay(self, name: str, body: bytes) -> None:
        """Write an entry's copy into the worktree, through nothing that a program may have put in the way.

        It is a convenience, so whatever is in the way of it is no error.
        """
        with suppress(OSError):
            folder = _real_folder(self._worktree)
            try:
                temporary = f".{name}.{secrets.token_hex(4)}"
                file = os.open(temporary, _CREATE, 0o644, dir_fd=folder)
                try:
                    with open(file, "wb") as opened:  # noqa: PTH123 - a descriptor, not a path
                        opened.write(body)
                    os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
                except OSError:
                    os.unlink(temporary, dir_fd=folder)
            finally:
                os.close(folder)


def _notes(left_out: Sequence[LeftOut]) -> str:
    """What a commit's message says of what it lacks."""
    lines = [str(each) for each in left_out[:MAX_NOTES]]
    if len(left_out) > MAX_NOTES:
        lines.append(f"and {len(left_out) - MAX_NOTES} more")
    return "".join(f"\nnot committed: {line}" for line in lines)


def _real_folder(worktree: Path) -> int:
    """A descriptor of the worktree's `messages`, made anew when something else has taken its place."""
    root = os.open(worktree, _FOLDER)
    try:
        with suppress(FileExistsError):
            os.mkdir(MESSAGES, dir_fd=root)
        try:
            return os.open(MESSAGES, _FOLDER, dir_fd=root)
        except OSError:
            os.unlink(MESSAGES, dir_fd=root)
            os.mkdir(MESSAGES, dir_fd=root)
            return os.open(MESSAGES, _FOLDER, dir_fd=root)
    finally:
        os.close(root)


def _read(folder: pygit2.Tree) -> list[Entry]:
    found = [(number, each) for each in folder if (number := number_of(each.name or "")) is not None]
    found.sort(key=lambda numbered: (numbered[0], numbered[1].name))
    return [read_entry(each.name or "", each.read_raw()) for _, each in found]


def _flush_what_git_writes() -> None:
    """Have libgit2 flush every object and reference before it goes on.

    Its switch is the whole process's, so it is never turned off again: a second workspace that does not ask
    for it pays for the first. The setting of a single repository (core.fsyncObjectFiles) does the same, and
    has git print a warning at every command that an agent runs.
    """
    import pygit2  # noqa: PLC0415 - see git.py

    pygit2.option(pygit2.enums.Option.ENABLE_FSYNC_GITDIR, True)
