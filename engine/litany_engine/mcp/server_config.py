"""What an operator says of one server in `litany.toml`: a table `[mcp.NAME]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

SERVER_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}", re.ASCII)
SERVER_NAME_SHAPE = "1 to 32 ASCII letters, digits, _ or -"


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One server whose tools a workspace offers.

    Attributes:
        name: its name in `litany.toml`; its tools are called `<name>_<tool>`.
        command: the program and its arguments.
        env: names of host variables that it gets besides the base that every tool process has.
        tools: the server's own names of those of its tools that are offered; None for all, empty for none.
        timeout_s: the most that one call may take; None leaves it to the other deadlines.
        trust_hints: whether what the server says of its tools may lower requirements, too.
    """

    name: str
    command: tuple[str, ...]
    env: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    timeout_s: float | None = None
    trust_hints: bool = False

    @property
    def prefix(self) -> str:
        """What the names of its tools begin with."""
        return f"{self.name}_"
