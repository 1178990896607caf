"""The tools of a workspace: the built-in ones, those its operator declared by descriptors, and their states.

States come from `litany.toml`, so that every process of a workspace has the same: what an operator suspends,
no `litany invoke` can call either. A name that no tool of a process has is passed over: a host may bring it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from litany_engine.configuration.config import Config
    from litany_engine.door.calls import Tool
    from litany_engine.tools.loaded import LoadedTools
    from litany_engine.tools.registry import Registry
    from litany_engine.workspaces.workspace import Workspace


def workspace_tools(workspace: Workspace) -> list[Tool]:
    """Every tool that is there without anybody's Python, `python` itself excepted.

    Raises:
        DescriptorError: a descriptor makes no tool.
    """
    from litany_engine.tools.builtins import BUILTIN_TOOLS  # noqa: PLC0415

    tools = list(BUILTIN_TOOLS)
    if workspace.config.descriptors:
        from litany_engine.tools.external import load_external_tools  # noqa: PLC0415  most workspaces have none

        tools += load_external_tools(workspace.config.descriptors)
    return tools


def set_states(
    registry: Registry,
    config: Config,
    loaded: LoadedTools,
    grant: Callable[[str], Iterable[str] | None],
) -> None:
    """Put the tools of a registry into the states that the operator gave them.

    Args:
        registry: the tools of this process.
        config: what the operator decided.
        loaded: where a search writes down what it loads.
        grant: the names that an agent is granted, for the search among what is deferred.
    """
    from litany_engine.tools.registry import State  # noqa: PLC0415  most workspaces have no states

    if config.deferred:
        from litany_engine.tools.search_tools import DECLARATION, search_tools  # noqa: PLC0415

        if DECLARATION.name not in registry.tools:
            registry.register(search_tools(registry, loaded, grant))
    for state, names in ((State.DEFERRED, config.deferred), (State.SUSPENDED, config.suspended)):
        registry.set_state(state, *(name for name in names if name in registry.tools))
