"""What a tool process finds in its environment.

An allow-list, since the host's environment is where operators keep their keys: a tool that needs one is
given it by name. Who calls is told by three variables, and by these alone; what the model wrote never is.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

BASE_VARIABLES = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TMPDIR", "TZ"},
)
"""Passed on from the host when set, as is every `LC_…`: what a program needs to find and to speak."""

WORKSPACE_VARIABLE = "LITANY_CONV_REPO"
AGENT_VARIABLE = "LITANY_CONV_BRANCH"
CALL_VARIABLE = "LITANY_TOOL_ID"


def tool_environment(
    workspace: Path,
    agent: str,
    call_id: str,
    *,
    passed: Iterable[str] = (),
    host: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The environment of one tool process.

    Args:
        workspace: the workspace's root folder.
        agent: the calling agent's id.
        call_id: the id of the call that the process answers.
        passed: more variables of the host that the operator lets this tool have, by name.
        host: the host's environment; this process's own unless given.

    Returns:
        A new dict.
    """
    host = os.environ if host is None else host
    names = BASE_VARIABLES.union(passed)
    environment = {key: value for key, value in host.items() if key in names or key.startswith("LC_")}
    environment.setdefault("PATH", os.defpath)
    return {
        **environment,
        WORKSPACE_VARIABLE: os.fspath(workspace),
        AGENT_VARIABLE: agent,
        CALL_VARIABLE: call_id,
    }
