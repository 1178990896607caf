"""Names in grants that no tool has: nearly always slips, and silent ones, for such a name grants nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litany_engine.near import near

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from litany_engine.configuration.config import Role


def unknown_grants(roles: Mapping[str, Role], known: Collection[str]) -> Iterator[str]:
    """Say of each name in a grant that no tool has it.

    Not an error: a host may bring the tool along, and `litany run --tools` does.

    Args:
        roles: the roles of a workspace.
        known: the names of the tools there are.
    """
    for role, settings in roles.items():
        for name in settings.grant or ():
            if name not in known:
                guess = near(name, known)
                yield f"litany.toml: [roles.{role}] grants {name!r}, which no tool here is called{guess}"
