"""Names of tools in `litany.toml` that no tool has: nearly always slips, and silent ones: they do nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litany_engine.near import near

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from litany_engine.configuration.config import Config


def unknown_grants(config: Config, known: Collection[str]) -> Iterator[str]:
    """Say of each name in a grant, or in a list of deferred or suspended tools, that no tool has it.

    Not an error: a host may bring the tool along, and `litany run --tools` does.

    Args:
        config: the configuration of a workspace.
        known: the names of the tools there are.
    """
    lists = [(f"[roles.{role}] grants", settings.grant or ()) for role, settings in config.roles.items()]
    lists += [("[tools] defers", config.deferred), ("[tools] suspends", config.suspended)]
    for where, names in lists:
        for name in names:
            if name not in known and not any(name.startswith(each.prefix) for each in config.mcp.values()):
                yield f"litany.toml: {where} {name!r}, which no tool here is called{near(name, known)}"
