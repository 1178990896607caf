"""What outlives a host besides the transcript: which call of an agent is held, and that an agent was stopped.

    refs/litany/held/<agent>       {"tool_use_id", "tool", "reason"}: nothing at or after that call has run
    refs/litany/stopped/<agent>    it stays asleep until somebody speaks to it

Every change is a reference that is written or dropped whole, so a mark is there or it is not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litany_engine.workspaces.git import GitError

if TYPE_CHECKING:
    from litany_engine.windows.entries import ToolUse
    from litany_engine.workspaces.git import Repository

_HELD = "held"
_STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Held:
    """A call that waits for the operator.

    Attributes:
        tool_use_id: its id, as the provider gave it.
        reason: what the operator is to know.
    """

    tool_use_id: str
    reason: str


class Marks:
    """The marks of one agent.

    Args:
        repository: the workspace's repository.
        agent: the agent's id.
    """

    def __init__(self, repository: Repository, agent: str) -> None:
        self._repository = repository
        self._agent = agent

    def held(self) -> Held | None:
        """The call that is held, or None.

        Raises:
            GitError: the mark is damaged.
        """
        text = self._repository.read_mark(_HELD, self._agent)
        if text is None:
            return None
        try:
            mark = json.loads(text)
            return Held(str(mark["tool_use_id"]), str(mark.get("reason", "")))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise GitError(
                f"the mark refs/litany/{_HELD}/{self._agent} is damaged: {error}; delete it"
            ) from error

    def hold(self, call: ToolUse, reason: str) -> None:
        """Say that a call is held."""
        mark = {"tool_use_id": call.id, "tool": call.name, "reason": reason}
        self._repository.write_mark(_HELD, self._agent, json.dumps(mark))

    def lift(self) -> None:
        """Say that no call is held."""
        self._drop(_HELD)

    def stopped(self) -> bool:
        """Whether the agent is asleep."""
        return self._repository.read_mark(_STOPPED, self._agent) is not None

    def stop(self) -> None:
        """Send the agent to sleep."""
        self._repository.write_mark(_STOPPED, self._agent, "stopped")

    def wake(self) -> None:
        """Let the agent be woken by whoever speaks to it."""
        self._drop(_STOPPED)

    def _drop(self, kind: str) -> None:
        if self._repository.read_mark(kind, self._agent) is not None:
            self._repository.drop_mark(kind, self._agent)
