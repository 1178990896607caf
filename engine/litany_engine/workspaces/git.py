"""What a workspace keeps in git: agents as branches with worktrees, and marks as references.

A mark is a reference `refs/litany/<kind>/<agent>` to a blob with a value. The branches `agents/<id>` are the
only registry of agents.

All of it is libgit2's work, through pygit2, with one exception. Importing pygit2 takes about 60 ms, which a
command that makes one call would spend to learn that its agent exists and what its marks say. Those facts are
read here from git's own files while they are loose, as they are until somebody runs `git gc`.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pygit2

AUTHOR = "litany"
EMAIL = "litany@localhost"

_AGENTS = "refs/heads/agents/"
_PACKED_AGENT = re.compile(rf"^[0-9a-f]+ {_AGENTS}([^/\n]+)$".encode(), re.MULTILINE)
_OBJECT_ID = re.compile(rb"[0-9a-f]{40}")
_BLOB = re.compile(rb"blob [0-9]+\0")
_NO_LINK = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class GitError(RuntimeError):
    """The repository did not do what was asked; the message says what and where."""


class Repository:
    """The bare repository of a workspace.

    Args:
        path: its folder, `repo.git`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path) -> Repository:
        """Make a bare repository.

        Raises:
            GitError: it cannot be made.
        """
        with blamed(path):
            import pygit2  # noqa: PLC0415 - see the top of the file

            pygit2.init_repository(str(path), bare=True, initial_head="agents/none")
        return cls(path)

    def agents(self) -> list[str]:
        """The ids of all agents, sorted: root ids begin with their time."""
        found = set(_PACKED_AGENT.findall(self._packed()))
        try:
            with os.scandir(self.path / _AGENTS) as loose:
                found.update(os.fsencode(each.name) for each in loose if each.is_file())
        except FileNotFoundError:
            pass  # all are packed
        except OSError as error:
            raise GitError(f"git repository {self.path}: {error}") from error
        return sorted(each.decode(errors="replace") for each in found if not each.endswith(b".lock"))

    def has_agent(self, agent: str) -> bool:
        """Whether there is an agent of that (well-formed) id."""
        return self._has_reference(_AGENTS + agent)

    def start_agent(self, agent: str, role: str) -> None:
        """Start an agent: its role is marked, then its branch begins with an empty commit.

        In this order, because the branch is what makes an agent: a host that dies in between leaves a mark
        that nobody reads, never an agent whose role is unknown.

        Raises:
            GitError: it cannot be made, or exists.
        """
        self.write_mark("role", agent, role)
        with self.opened() as repository:
            import pygit2  # noqa: PLC0415 - see the top of the file

            author = pygit2.Signature(AUTHOR, EMAIL)
            tree = repository.TreeBuilder().write()
            commit = repository.create_commit(None, author, author, f"Start agent {agent}\n", tree, [])
            repository.create_reference(_AGENTS + agent, commit)

    def add_worktree(self, agent: str, path: Path) -> None:
        """Check an agent's branch out at a path that does not exist; what is left of an older one is dropped.

        Raises:
            GitError: it cannot be made.
        """
        administration = self.path / "worktrees" / agent
        with self.opened() as repository:
            if administration.exists():
                shutil.rmtree(administration)
            path.parent.mkdir(exist_ok=True)
            repository.add_worktree(agent, str(path), repository.references[_AGENTS + agent])

    def link_worktree(self, agent: str, path: Path) -> None:
        """Point a worktree and its repository at each other where they do not, so that git works in it.

        A workspace may have been moved, and a tool may have removed or changed the worktree's `.git`. A
        folder of that name is another repository's and stays.

        Raises:
            GitError: a file cannot be read or written.
        """
        administration = self.path / "worktrees" / agent
        there, back = os.fsencode(f"gitdir: {administration}\n"), os.fsencode(f"{path}/.git\n")
        points_back = _says(administration / "gitdir", back)
        if (points_back and _says(path / ".git", there)) or not administration.is_dir():
            return
        with blamed(self.path):
            _point(path / ".git", there)
            if points_back:
                return
            # libgit2 writes this one absolute, too; relative, it needs no mending again.
            (administration / "commondir").write_bytes(b"../..\n")
            (administration / "gitdir").write_bytes(back)  # last: while it differs, all of this is done again

    def read_mark(self, kind: str, agent: str) -> str | None:
        """The value of a mark, or None when the agent has no such mark.

        Raises:
            GitError: the repository cannot be read, or the mark is no text.
        """
        name = f"refs/litany/{kind}/{agent}"
        if not self._has_reference(name):
            return None
        value = self._loose_blob(name)
        if value is None:
            with self.opened() as repository:
                value = repository[repository.references[name].target].read_raw()
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise GitError(f"the mark {name} in {self.path} is not UTF-8 text") from error

    def write_mark(self, kind: str, agent: str, value: str) -> None:
        """Set a mark.

        Raises:
            GitError: it cannot be written.
        """
        with self.opened() as repository:
            blob = repository.create_blob(value.encode())
            repository.references.create(f"refs/litany/{kind}/{agent}", blob, force=True)

    def drop_mark(self, kind: str, agent: str) -> None:
        """Take a mark away; one that is not there is no error."""
        with self.opened() as repository:
            name = f"refs/litany/{kind}/{agent}"
            if name in repository.references:
                repository.references.delete(name)

    def _has_reference(self, name: str) -> bool:
        """Whether there is a reference: git keeps it as a file, or as a line among many."""
        try:
            if (self.path / name).is_file():
                return True
        except OSError as error:
            raise GitError(f"git repository {self.path}: {error}") from error
        return f" {name}\n".encode() in self._packed()

    def _packed(self) -> bytes:
        try:
            return (self.path / "packed-refs").read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise GitError(f"git repository {self.path}: {error}") from error

    def _loose_blob(self, reference: str) -> bytes | None:
        """A blob that a loose reference names and a loose file holds; None when libgit2 must be asked."""
        try:
            target = (self.path / reference).read_bytes().strip()
            if not _OBJECT_ID.fullmatch(target):
                return None
            name = target.decode()
            content = zlib.decompress((self.path / "objects" / name[:2] / name[2:]).read_bytes())
        except (OSError, zlib.error):
            return None
        header = _BLOB.match(content)
        return content[header.end() :] if header else None

    @contextmanager
    def opened(self) -> Iterator[pygit2.Repository]:
        """The repository itself, for the length of a block; what git raises in it becomes a `GitError`."""
        with blamed(self.path):
            import pygit2  # noqa: PLC0415 - see the top of the file

            repository = pygit2.Repository(str(self.path), pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
            try:
                yield repository
            finally:
                repository.free()


def _says(file: Path, line: bytes) -> bool:
    """Whether a plain file, and nothing that leads to one, holds this line."""
    try:
        with open(os.open(file, _NO_LINK), "rb") as opened:  # noqa: PTH123 - a descriptor, not a path
            return opened.read(len(line) + 2).rstrip(b"/\n") == line.rstrip(b"/\n")
    except OSError:
        return False


def _point(pointer: Path, line: bytes) -> None:
    """Have a worktree's `.git` be a file with this line.

    It is in the hands of the agent. A plain file is written in place: a program that runs has it covered, and
    would lose the cover with the file. Anything else, such as a planted link, is replaced.
    """
    with suppress(OSError), open(os.open(pointer, _NO_LINK | os.O_RDWR), "r+b", buffering=0) as opened:  # noqa: PTH123
        status = os.fstat(opened.fileno())
        if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
            opened.truncate()
            opened.write(line)
            return
    if pointer.is_dir() and not pointer.is_symlink():
        return
    temporary = pointer.with_name(f".git-{secrets.token_hex(4)}")
    with temporary.open("xb") as file:
        file.write(line)
    temporary.replace(pointer)


@contextmanager
def blamed(path: Path) -> Iterator[None]:
    """Turn whatever git or the file system raises into one line that names the repository."""
    import pygit2  # noqa: PLC0415 - see the top of the file

    try:
        yield
    except (pygit2.GitError, OSError, KeyError, ValueError) as error:
        raise GitError(f"git repository {path}: {error}") from error
