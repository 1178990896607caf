"""The door that an operator's `litany.toml` makes of what the gates can do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litany_engine.door.door import Door
from litany_engine.door.execution import Deadlines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from litany_engine.configuration.config import Config
    from litany_engine.door.calls import Executor
    from litany_engine.door.decisions import Decisions
    from litany_engine.door.screens import Screen
    from litany_engine.records.disk_use import DiskUse


def configured_door(
    root: Path,
    config: Config,
    decisions: Decisions,
    screens: Sequence[Screen],
    router: Executor | None,
    *,
    disk: DiskUse,
) -> Door:
    """The door of a workspace in this process.

    Args:
        root: the workspace's root folder.
        config: what the operator decided.
        decisions: the same on disk, watched.
        screens: the host's functions over results, in their order.
        router: the host's own answers to calls; None for the tools'.
        disk: what the records take on disk, and may.
    """
    consult = None
    if config.control is not None:
        from litany_engine.door.control import consultant  # noqa: PLC0415  most workspaces have no control

        consult = consultant(config.control)
    accounts = None
    if config.budgets:
        from litany_engine.door.budgets import Accounts  # noqa: PLC0415  most workspaces have no budgets

        accounts = Accounts(root, config.budgets)
    return Door(
        Deadlines(config.default_deadline_s, config.maximum_deadline_s),
        consult,
        rules=config.rules,
        accounts=accounts,
        holds=decisions.holds,
        decisions=decisions,
        hold=config.hold,
        screens=screens,
        concurrency=config.concurrency,
        router=router,
        disk=disk,
    )
