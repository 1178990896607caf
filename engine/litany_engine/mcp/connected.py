"""The servers of a workspace: started when their tools are first wanted, each tool a tool like any other.

    wanted ─► started, shaken hands ─► tools listed, compared with their pins ─► registered
    called ─► started again if it has ended ─► listed again if it says that its list has changed ─► called

What is registered is what was pinned, for as long as the workspace is open: a tool of which its server later
says something else is suspended, and nobody is ever shown the new words.
"""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import trio

from litany_engine.door.calls import Capture, Executor, Tool
from litany_engine.door.in_flight import faulted
from litany_engine.mcp.connection import Connection
from litany_engine.mcp.errors import AnsweredError, ServerError, StartStoppedError
from litany_engine.mcp.listing import Told, UselessToolError, by_name, chosen, make_tool, placeholder
from litany_engine.mcp.pins import Pins, changes
from litany_engine.mcp.reading import brief
from litany_engine.mcp.results import Expected, as_capture
from litany_engine.records.ids import in_tree
from litany_engine.tools.environment import (
    AGENT_VARIABLE,
    CALL_VARIABLE,
    WORKSPACE_VARIABLE,
    tool_environment,
)
from litany_engine.tools.registry import State, ToolsetError
from litany_runtime.outcome import EXIT_CODES, Outcome
from litany_stubs.words import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from litany_engine.door.calls import Context, ToolCall
    from litany_engine.mcp.server_config import ServerConfig
    from litany_engine.tools.registry import Registry
    from litany_engine.workspaces.workspace import Workspace

WITHIN_VARIABLE = "LITANY_SERVERS_OF"
"""In a server's environment: the workspaces whose server it is, one a line.

A server that opens one of them again (`litany mcp` can) would start itself, that one itself, and so on.
"""

_log = logging.getLogger("litany.mcp")


class Servers:
    """The servers that the operator connects a workspace to.

    Args:
        workspace: the workspace.
        registry: where their tools go.
        services: the nursery of what lives as long as the workspace is open.
    """

    def __init__(
        self, workspace: Workspace, registry: Registry, services: Callable[[], trio.Nursery]
    ) -> None:
        self._servers = [
            _Server(each, workspace, registry, services) for each in workspace.config.mcp.values()
        ]
        self._registry = registry
        self._starting: dict[trio.CancelScope, str] = {}

    async def meet(self, agent: str, grant: tuple[str, ...] | None, name: str | None = None) -> None:
        """See to it that what a call may reach is registered.

        Args:
            agent: who calls.
            grant: what the calling role may call; a server of which it may call nothing is not started.
            name: the tool that is called; one of this host's that runs no programs needs no server. None
                when the tools are to be listed.

        Raises:
            ServerError: a server cannot be used.
            StartStoppedError: a stop came first.
            ToolsetError: a tool of a server has a name that is taken.
            RulesError: a rule asks of a tool what it does not have.
        """
        if name is not None and (tool := self._registry.tools.get(name)) is not None and not tool.composes:
            return
        wanted = [each for each in self._servers if not each.registered and each.is_granted(grant)]
        if not wanted:
            return
        errors: list[Exception] = []

        async def register(server: _Server) -> None:
            try:
                await server.register()
            except (ServerError, ValueError) as error:
                errors.append(error)

        with trio.CancelScope() as scope:
            self._starting[scope] = agent
            try:
                async with trio.open_nursery() as nursery:
                    for each in wanted:
                        nursery.start_soon(register, each)
            finally:
                del self._starting[scope]
        if scope.cancelled_caught:
            raise StartStoppedError("stopped while servers were being started; nothing was called")
        if errors:
            raise errors[0]

    def stop(self, selector: str | None) -> None:
        """End the waiting of an agent and its descendants, or of all, for servers that are being started."""
        for scope, agent in self._starting.items():
            if selector is None or in_tree(agent, selector):
                scope.cancel()


class _Server:
    """One server, with the connection that it has at the moment."""

    def __init__(
        self,
        config: ServerConfig,
        workspace: Workspace,
        registry: Registry,
        services: Callable[[], trio.Nursery],
    ) -> None:
        self.registered = False
        self._config = config
        self._workspace = workspace
        self._registry = registry
        self._services = services
        self._connection: Connection | None = None
        self._using = trio.Lock()
        self._pins = Pins(workspace.root, config.name)
        self._pinned: dict[str, Told] = {}

    def is_granted(self, grant: tuple[str, ...] | None) -> bool:
        """Whether a role may call any of its tools."""
        return grant is None or any(name.startswith(self._config.prefix) for name in grant)

    async def register(self) -> None:
        """Start it and register its tools; nothing of it is registered when one of them cannot be.

        Raises:
            ServerError, ToolsetError, RulesError: as `Servers.meet`.
        """
        async with self._using:
            if self.registered:
                return
            with self._named():
                connection = await self._start()
                try:
                    told, nameless = by_name(connection.tools)
                    for each in nameless:
                        _log.warning("server %s: %s, and cannot be offered", self._config.name, each)
                    self._take_in(chosen(self._config, told))
                except BaseException:
                    connection.end("its tools cannot be offered")
                    raise

    def _take_in(self, told: dict[str, Told]) -> None:
        config = self._workspace.config
        kept = self._pins.load()
        pinned = {name: kept.get(name, each) for name, each in told.items()}
        tools: list[Tool] = []
        useless: dict[str, tuple[Tool | None, str]] = {}
        for name, each in pinned.items():
            try:
                tools.append(make_tool(self._config, each, self._executor(each)))
            except UselessToolError as error:
                useless[name] = placeholder(self._config, each, self._executor(each)), str(error)
        self._check([*tools, *(stand_in for stand_in, _ in useless.values() if stand_in is not None)])
        self._workspace.config.rules.check(tools)
        pinned = {name: each for name, each in pinned.items() if name not in useless}
        if pinned.keys() - kept.keys():
            self._pins.save({**kept, **pinned})
        for tool in tools:
            name = tool.declaration.name
            state = State.DEFERRED if name in config.deferred else State.ACTIVE
            self._registry.register(tool, State.SUSPENDED if name in config.suspended else state)
        for name, (stand_in, cause) in useless.items():
            self._suspend_useless(name, stand_in, cause)
        self._pinned = pinned
        self.registered = True
        self._suspend_changed(told)

    def _suspend_useless(self, name: str, stand_in: Tool | None, cause: str) -> None:
        """Keep a tool from being called that cannot be offered, and say why."""
        server = self._config.name
        _log.warning("tool %s of server %s cannot be offered: %s", brief(repr(name)), server, cause)
        if stand_in is not None:
            self._registry.register(stand_in, State.SUSPENDED)
            reason = f"what its server says of it makes no tool: {cause}"
            self._registry.set_state(State.SUSPENDED, stand_in.declaration.name, reason=reason)

    def _check(self, tools: list[Tool]) -> None:
        for tool in tools:
            name = tool.declaration.name
            if (other := self._registry.tools.get(name)) is not None:
                raise ToolsetError(
                    f"two tools are named {name!r} ({tool.place} and {other.place or 'built in'}); give the "
                    "server another name in litany.toml"
                )

    def _executor(self, told: Told) -> Executor:
        ours = self._config.prefix + told.name
        expected = Expected(ours, self._config.name, told.said.get("outputSchema"))

        async def execute(call: ToolCall, context: Context) -> Capture:
            return await self._call(told.name, expected, call, context)

        return execute

    async def _call(self, name: str, expected: Expected, call: ToolCall, context: Context) -> Capture:
        def report(progress: float, total: float | None, message: str) -> None:
            context.report(message, progress=progress, total=total)

        try:
            async with self._using:
                with self._named():
                    connection = await self._ready()
            if self._registry.state(call.name) not in {State.ACTIVE, State.DEFERRED}:
                why = self._registry.reason(call.name)
                return Capture(
                    outcome=Outcome.REFUSED,
                    refusal=Refusal("availability", f"{call.name!r} is suspended for now: {why}."),
                )
        except ServerError as error:
            return faulted(f"{error}. The call was not run.")
        try:
            answer = await connection.call(name, call.input, report)
        except trio.Cancelled:
            return _told_to_cancel(self._config.name, connection.instead)
        except ServerError as error:
            return faulted(
                f"server {self._config.name!r} was lost in the middle of the call: {error}. Whether the call "
                "did anything is unknown; the next call starts the server again"
            )
        return as_capture(expected, answer, context.keep)

    async def _ready(self) -> Connection:
        """A connection that can be called, of a server that says of its tools what it said."""
        connection = self._connection
        if connection is None or not connection.alive:
            connection = await self._start()
            self._suspend_changed(by_name(connection.tools)[0])
        elif connection.changed:
            try:
                told = await connection.list_tools()
            except AnsweredError as error:
                raise ServerError(f"it does not list its tools: {error.message}") from error
            self._suspend_changed(by_name(told)[0])
        return connection

    async def _start(self) -> Connection:
        config = self._config
        root = self._workspace.root
        environment = tool_environment(root, "", "", passed=config.env)
        for own in (WORKSPACE_VARIABLE, AGENT_VARIABLE, CALL_VARIABLE):
            del environment[own]  # it answers calls of every agent, and makes none itself
        within = os.environ.get(WITHIN_VARIABLE, "").split("\n")
        if str(root) in within:
            raise ServerError(
                f"it would be started inside a server of the same workspace, {root}: a workspace is no "
                "server of itself, nor of one that it serves"
            )
        environment[WITHIN_VARIABLE] = "\n".join([*filter(None, within), str(root)])
        connection = Connection(config.command, environment, root)
        await self._services().start(connection.run)
        if not connection.alive:
            raise ServerError(f"it cannot be used: {connection.failure}")
        self._connection = connection
        return connection

    def _suspend_changed(self, told: dict[str, Told]) -> None:
        for name, before in self._pinned.items():
            what = changes(before, told.get(name))
            ours = self._config.prefix + name
            if what and self._registry.state(ours) is not State.SUSPENDED:
                accept = f"to accept what it says now, delete {self._pins.path} in the workspace"
                reason = f"{what} since it was first used here; {accept}"
                self._registry.set_state(State.SUSPENDED, ours, reason=reason)
                _log.warning("%s is suspended: %s", ours, reason)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Say of an error which server it is about, and where that is written down."""
        try:
            yield
        except ServerError as error:
            raise ServerError(
                f"server {self._config.name!r} ([mcp.{self._config.name}] in litany.toml): {error}"
            ) from error


def _told_to_cancel(server: str, instead: str) -> Capture:
    """What there is to say of a call that its server was told to cancel; the door knows what ended it."""
    note = (
        f"[server {server!r} was told to cancel the call; it need not, and what the call has done stands]\n"
    )
    if instead:
        note += f"[{instead}]\n"
    return Capture(stderr=note.encode("utf-8", "backslashreplace"), exit_code=EXIT_CODES[Outcome.STOPPED])
