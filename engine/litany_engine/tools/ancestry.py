"""Whether a process runs below a tool call, told by what the kernel keeps of it and not by what it says.

The environment of a tool names its call, and whoever wants to be somebody else clears it. So it is asked:

| sign | what takes it off |
|---|---|
| a keeper (`keeper.py`) among the ancestors, with the call it keeps | killing that keeper |
| a spawner as the next ancestor: its keeper was killed | killing the spawner, too |
| the limit on file locks that a keeper sets | CAP_SYS_RESOURCE |
| the answer to one option of `prctl` that a keeper's filter gives | nothing |

A second fork, `setsid` and `nohup` take off none of them: orphans go to their keeper. The last is there
where litany runs with CAP_SYS_ADMIN, which is where the one before it could be taken off. A process that
another daemon starts on request (`systemd-run`, `at`, `tmux send-keys`) is below no call.

A claim is believed from the outermost keeper inwards: what a tool starts is below its keeper, so a keeper of
its own making can only claim less.
"""

from __future__ import annotations

import ctypes
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litany_engine.tools import keeper

if TYPE_CHECKING:
    from pathlib import Path

MAX_ANCESTORS = 1000
"""Ancestors that are looked at: far above the depth of any tree of processes that does something."""

MAX_CLAIM_BYTES = 65536
"""Largest claim that is read: a path and two ids."""

_KEEPER = b"/litany_engine/tools/keeper.py"


@dataclass(frozen=True, slots=True)
class Claim:
    """Whose process a keeper keeps.

    Attributes:
        workspace: the workspace's root folder.
        agent: the agent's id; "" for a server, which answers calls of every agent.
        call: the call's id; "" for a server.
    """

    workspace: str
    agent: str = ""
    call: str = ""

    def encode(self) -> bytes:
        """As a keeper holds it."""
        return json.dumps([self.workspace, self.agent, self.call]).encode()

    def __str__(self) -> str:
        if self.call:
            return f"tool call {self.call!r}"
        return f"a server of workspace {self.workspace}"


@dataclass(frozen=True, slots=True)
class Inside:
    """What a process runs below.

    Attributes:
        claims: the calls and servers, outermost first; none when their keepers are gone or cannot be read.
        sign: how it was told, for a message.
    """

    claims: tuple[Claim, ...]
    sign: str

    @property
    def call(self) -> Claim | None:
        """The innermost call; None when it is below no call, or below one that cannot be told."""
        return next((each for each in reversed(self.claims) if each.call), None)

    def reaches(self, workspace: Path) -> Claim | None:
        """The innermost claim of a workspace, if it is one of those that this process runs below."""
        here = _place(str(workspace))
        return next((each for each in reversed(self.claims) if _place(each.workspace) == here), None)

    def __str__(self) -> str:
        found = self.call or (self.claims[-1] if self.claims else None)
        return f"a tool call ({self.sign})" if found is None else str(found)


def inside(pid: int | None = None) -> Inside | None:
    """What a process runs below.

    Args:
        pid: the process; this one when None.

    Returns:
        None when it is below no tool call and no server of litany's.
    """
    claims, orphaned = _claims(os.getpid() if pid is None else pid)
    if claims:
        return Inside(tuple(claims), "its keeper says so")
    if orphaned:
        return Inside((), "an ancestor keeps the processes of tools")
    if (locks := _lock_limit(pid)) is not None:
        return Inside((), f"its limit on file locks, `ulimit -x`, is {locks}, as for what a tool starts")
    if _filtered(pid):
        return Inside((), "it has the system call filter of what a tool starts")
    return None


def _claims(pid: int) -> tuple[list[Claim], bool]:
    """The claims of the keepers above a process that may be believed; whether one of them cannot be told."""
    found: list[Claim] = []
    keepers = []
    for each in _ancestors(pid):
        if _is_keeper(each):
            keepers.append(each)
            found += _claim(each)
    believed: list[Claim] = []
    for claim in reversed(found):
        here = _place(claim.workspace)
        before = next((each for each in reversed(believed) if _place(each.workspace) == here), None)
        if before is None or not before.call or _descends(claim, before):
            believed.append(claim)
    # The operator's control has a keeper without a claim, and above it the spawner. One alone is a spawner
    # whose keeper is gone.
    return believed, len(keepers) == 1 and not found


def _place(folder: str) -> tuple[int, int] | str:
    """What two names of one folder have in common."""
    try:
        found = os.stat(folder)  # noqa: PTH116 - a name, not a path
    except OSError:
        return folder
    return found.st_dev, found.st_ino


def _descends(claim: Claim, before: Claim) -> bool:
    return claim.agent == before.agent and f"{claim.call}-".startswith(f"{before.call}-")


def _ancestors(pid: int) -> list[int]:
    found: list[int] = []
    while len(found) < MAX_ANCESTORS:
        pid = _parent(pid)
        if pid <= 0:
            break
        found.append(pid)
    return found


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - each start of a command asks this
            line = file.read()
        return int(line[line.rindex(b")") + 2 :].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _is_keeper(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 - as above
            arguments = file.read(65536).split(b"\0")
    except OSError:
        return False
    return len(arguments) > 4 and arguments[1:4] == [b"-I", b"-S", b"-B"] and arguments[4].endswith(_KEEPER)


def _claim(pid: int) -> list[Claim]:
    folder = f"/proc/{pid}/fd"
    with suppress(OSError, ValueError, TypeError):
        for name in os.listdir(folder):  # noqa: PTH208 - names, not paths
            path = f"{folder}/{name}"
            if os.readlink(path) == f"/memfd:{keeper.CLAIM_FILE} (deleted)":  # noqa: PTH115 - as above
                with open(path, "rb") as file:  # noqa: PTH123 - as above
                    return [Claim(*json.loads(file.read(MAX_CLAIM_BYTES)))]
    return []


def _lock_limit(pid: int | None) -> int | None:
    """The hard limit on file locks, if there is one."""
    with suppress(OSError):
        with open(f"/proc/{'self' if pid is None else pid}/limits", "rb") as file:  # noqa: PTH123 - as above
            lines = file.read().splitlines()
        for line in lines:
            if line.startswith(b"Max file locks") and (hard := line.split()[4]) != b"unlimited":
                return int(hard)
    return None


def _filtered(pid: int | None) -> bool:
    """Whether a process has a keeper's filter: asked of the kernel by the process itself, else counted."""
    filters = _filters("self" if pid is None else pid)
    if pid is not None and pid != os.getpid():
        # Only where keepers could set one. Who has more filters than the host is below something, at least.
        return os.geteuid() == 0 and filters > _filters("self")
    if not filters:
        return False
    ctypes.set_errno(0)
    answer = ctypes.CDLL(None, use_errno=True).prctl(keeper.MARK_OPTION, 0, 0, 0, 0)
    return answer == -1 and ctypes.get_errno() == keeper.MARK_ANSWER


def _filters(pid: int | str) -> int:
    """How many system call filters a process has; one for all where the kernel does not count them."""
    with suppress(OSError, ValueError):
        with open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123 - as above
            status = file.read()
        _, found, rest = status.partition(b"\nSeccomp_filters:")
        if found:
            return int(rest.split(None, 1)[0])
        return int(b"\nSeccomp:\t2" in status)
    return 0
