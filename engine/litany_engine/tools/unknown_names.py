"""Names of tools in `litany.toml` that no tool has: nearly always slips, and silent ones: they do nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litany_engine.near import near
from litany_engine.rules.globs import glob

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from litany_engine.configuration.config import Config


def unknown_names(config: Config, known: Collection[str]) -> Iterator[str]:
    """Say of each name in a grant, a rule, or a list of deferred or suspended tools, that no tool has it.

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
    for rule in config.rules.rules:
        if any(glob(rule.tool, each) for each in known) or _may_be_a_servers(rule.tool, config):
            continue
        meant = near(rule.tool, known)
        yield f"{rule.place}: a rule is about {rule.tool!r}, which no tool here is called{meant}"


def _may_be_a_servers(pattern: str, config: Config) -> bool:
    """Whether a tool of an MCP server may have such a name; which it has is known once it is started."""
    if "*" in pattern:
        return bool(config.mcp)
    return any(pattern.startswith(each.prefix) for each in config.mcp.values())
