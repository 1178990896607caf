"""What runs the programs of an open workspace: one supervisor, started by the first program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import Callable

    from litany_engine.workspaces.workspace import Workspace
    from litany_runtime.supervisor import Supervisor


class Programs:
    """The supervisor of a workspace in this process.

    Args:
        workspace: the workspace.
        services: the nursery of what lives as long as the workspace is open.

    Attributes:
        running: the supervisor; None before the first program.
    """

    def __init__(self, workspace: Workspace, services: Callable[[], trio.Nursery]) -> None:
        self._workspace = workspace
        self._services = services
        self._starting = trio.Lock()
        self.running: Supervisor | None = None

    async def supervisor(self) -> Supervisor:
        """The supervisor, which lives until the workspace is closed."""
        async with self._starting:
            if self.running is None:
                self.running = await self._services().start(self._keep)
            return self.running

    async def _keep(self, task_status: trio.TaskStatus[Supervisor]) -> None:
        from litany_runtime.confine import Isolation  # noqa: PLC0415  only programs need it
        from litany_runtime.setup import Setup  # noqa: PLC0415
        from litany_runtime.supervisor import open_supervisor  # noqa: PLC0415

        config = self._workspace.config
        setup = Setup(self._workspace.worktrees, Isolation(config.isolation), config.modules)
        async with open_supervisor(setup) as supervisor:
            task_status.started(supervisor)
            await trio.sleep_forever()
