"""How much may be used in all: by one program, by one agent, by a tree of agents."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Budgets:
    """Limits over many calls. None is no limit; 0 is one, and lets nothing through.

    Attributes:
        program_calls: calls made in the name of one call that reached their tool.
        program_pending: of them in flight at once.
        program_bytes_in: encoded size of their inputs together.
        program_bytes_out: size of their results together.
        agent_calls: calls of one agent that reached their tool, outer and inner, for good.
        agent_pending: calls of one agent in flight at once, in all processes.
        agent_bytes_in: encoded size of their inputs together.
        agent_bytes_out: size of their results together.
        tree_calls: the same of an agent and its descendants.
        tree_pending: the same.
        tree_bytes_in: the same.
        tree_bytes_out: the same.
    """

    program_calls: int | None = None
    program_pending: int | None = None
    program_bytes_in: int | None = None
    program_bytes_out: int | None = None
    agent_calls: int | None = None
    agent_pending: int | None = None
    agent_bytes_in: int | None = None
    agent_bytes_out: int | None = None
    tree_calls: int | None = None
    tree_pending: int | None = None
    tree_bytes_in: int | None = None
    tree_bytes_out: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is no amount."""
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise ValueError(f"budget {each.name} must be a whole number, 0 or more, not {value!r}")

    def __bool__(self) -> bool:
        """Whether anything is limited."""
        return any(getattr(self, each.name) is not None for each in fields(self))

    def of(self, scope: str) -> tuple[int | None, int | None, int | None, int | None]:
        """The limits of a scope: calls, pending, bytes in, bytes out."""
        calls, pending, inward, outward = (
            getattr(self, f"{scope}_{what}") for what in ("calls", "pending", "bytes_in", "bytes_out")
        )
        return calls, pending, inward, outward
