"""A workspace opened in this process: the Python interface, and what the commands are made of.

    async with open_workspace("work", tools=[weather]) as ws:
        end = await ws.python("import litany_tools; print(litany_tools.weather(city='Oslo').stdout)")

Everything that is called here goes through the one door. What runs programs is started by the first program,
so that a call of another tool costs none of it.
"""

from __future__ import annotations

import math
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from litany_engine.configuration.units import time_to_run
from litany_engine.door.callers import Caller, Parent
from litany_engine.door.calls import Capture
from litany_engine.door.configured import configured_door
from litany_engine.door.dead_holds import refuse_dead_holds
from litany_engine.door.decisions import Decisions, refuse_held_settings
from litany_engine.door.holds import Holds
from litany_engine.interrupts import uninterrupted
from litany_engine.programs import Programs
from litany_engine.stopping import STOPPED_BY_COMMAND, serve_stops
from litany_engine.tools.ancestry import inside
from litany_engine.tools.loaded import LoadedTools
from litany_engine.tools.offered import offered_declaration, offered_tools
from litany_engine.tools.python_act import PYTHON, Seat, python_tool
from litany_engine.tools.toolset import Toolset, toolset
from litany_engine.tools.workspace_tools import set_states, workspace_tools
from litany_engine.tools.worktree_quota import WorktreeLimit
from litany_engine.workspaces.workspace import Workspace, open_workspace_at
from litany_runtime.outcome import EXIT_CODES, STOP_RAISED, Outcome

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    from litany_engine.door.calls import CallEnd, Context, Executor, Tool, ToolCall
    from litany_engine.door.events import Event
    from litany_engine.door.screens import Screen
    from litany_engine.mcp.connected import Servers
    from litany_engine.records.records import Step
    from litany_engine.windows.driver import Advance, Driver
    from litany_engine.windows.window import Answers
    from litany_engine.workspaces.workspace import Agent
    from litany_runtime.limits import Limits
    from litany_stubs.words import JSON


class InsideACallError(RuntimeError):
    """A tool's process would do what is the operator's, in the workspace that its call belongs to."""

    exit_code = EXIT_CODES[Outcome.REFUSED]


class OpenWorkspace:
    """A workspace with its door, made by `open_workspace`.

    Attributes:
        workspace: what is on disk.
        looks: whether a program's text is looked at before it runs; its calls of tools that cannot be are
            told to watchers, as reports of its call that begin with "warning: ".
    """

    def __init__(
        self,
        workspace: Workspace,
        tools: Iterable[Tool],
        limits: Limits | None,
        screens: Sequence[Screen],
        router: Executor | None,
    ) -> None:
        config = workspace.config
        self.workspace = workspace
        self.looks = False
        self._limits = limits or config.limits
        self._services: trio.Nursery | None = None
        self._agents: dict[str, Agent] = {}
        self._programs = Programs(workspace, self._lasting)
        python = python_tool(self._seat, self._programs.supervisor)
        self._tools = toolset([*workspace_tools(workspace), python, *tools])
        self._toolsets: dict[tuple[str, str], Toolset] = {}
        self._loaded = LoadedTools(workspace.root)
        if config.deferred or config.suspended:
            set_states(self._tools.registry, config, self._loaded, self._grant)
        self._servers: Servers | None = None
        if config.mcp:
            from litany_engine.mcp.connected import Servers  # noqa: PLC0415  most workspaces have no servers

            self._servers = Servers(workspace, self._tools.registry, self._lasting)
        config.rules.check(self._tools.tools.values())
        files = [*config.descriptors, *config.command_files(workspace.root)]
        if config.descriptors:
            from litany_engine.tools.external import started_files  # noqa: PLC0415  as above

            files += started_files(config.descriptors)
        self._decisions = Decisions(workspace.root, files, Holds(workspace.root))
        disk = workspace.records.disk
        self._door = configured_door(workspace.root, config, self._decisions, screens, router, disk=disk)
        self._inside = inside()
        self._driver: Driver | None = None

    async def python(
        self,
        program: str,
        *,
        agent: str | None = None,
        deadline: float | str | None = None,
        on_output: Callable[[str, bytes], None] | None = None,
    ) -> CallEnd:
        """Run a program as an agent.

        Args:
            program: its source text.
            agent: whose tools and worktree it has; the only agent when None.
            deadline: how long it may run, in seconds or as `"30s"`; the operator's maximum still holds.
            on_output: `on_output(stream, chunk)` gets what it prints as it prints it.

        Returns:
            How it ended: outcome, exit code, what it printed, its calls, its usage, and where its record is.

        Raises:
            WorkspaceError: there is no such agent, or none was named and there are several.
            RecordError: no step can be opened for it.
            trio.Cancelled: the caller was cancelled; the program has ended, and its record says why.
        """
        return await self.invoke(PYTHON, python_input(program, deadline), agent=agent, on_output=on_output)

    async def invoke(
        self,
        name: str,
        arguments: JSON,
        *,
        agent: str | None = None,
        deadline: float | str | None = None,
        on_output: Callable[[str, bytes], None] | None = None,
        call_id: str | None = None,
    ) -> CallEnd:
        """Make one call as an agent, in a step of its own.

        Args:
            name: the tool's name.
            arguments: its input, a JSON object.
            agent: who calls; the only agent when None.
            deadline: how long it may take, in seconds or as `"30s"`.
            on_output: gets output as it comes, from tools that relay it.
            call_id: the id of the call when its issuer has one; minted when None.

        Returns:
            How it ended. A refusal and a failing tool are ends, not exceptions.

        Raises:
            WorkspaceError: there is no such agent, or none was named and there are several.
            UnitError: the deadline is none.
            RecordError: no step can be opened for it.
            ServerError: it may reach the tools of an MCP server that cannot be used.
            trio.Cancelled: the caller was cancelled; the call has ended, and its record says why.
        """
        end = await self.invoke_end(
            name, arguments, agent=agent, deadline=deadline, on_output=on_output, call_id=call_id
        )
        await trio.lowlevel.checkpoint_if_cancelled()
        return end

    async def invoke_end(
        self,
        name: str,
        arguments: JSON,
        *,
        agent: str | None = None,
        deadline: float | str | None = None,
        on_output: Callable[[str, bytes], None] | None = None,
        call_id: str | None = None,
    ) -> CallEnd:
        """Make one call as `invoke` does, for a caller whom a cancellation must not cost the call's end."""
        # Before there is a step, which a mistake in it would leave empty; and all that follows counts.
        ends_at = trio.current_time() + (math.inf if deadline is None else time_to_run(deadline))
        self._refuse_inside()
        who = self.agent(agent)
        await self._meet(who, name)
        step = self.workspace.records.open_step(who.id)
        with closing(step):
            invoke = partial(
                self._door.invoke,
                name,
                arguments,
                self._caller(who, step),
                # One outer call a step: numbered as the step is, an id names one call of the agent for good.
                call_id=f"call_{step.number}" if call_id is None else call_id,
                deadline=ends_at,
                output=on_output,
            )
            return await uninterrupted(invoke)

    async def invoke_inside(
        self, agent: str | None, parent: str, name: str, arguments: JSON, *, call_id: str | None = None
    ) -> CallEnd:
        """Make one call in the name of a call that runs in another process of this workspace.

        Args:
            agent: whose call that is.
            parent: its id.
            name: the tool's name.
            arguments: its input.
            call_id: an id of the form `<parent>-<k>`; minted when None.

        Raises:
            WorkspaceError: there is no such agent.
            RecordError: that is no call's id, or that call has no record.
            trio.Cancelled: the caller was cancelled; the call has ended, and its record says why.
        """
        who = self.agent(agent)
        await self._meet(who, name)
        with closing(self.workspace.records.step_of(who.id, parent)) as step:
            lives = not (step.tools / parent / "output.json").exists()
            # When its deadline is, only its own process knows; none is later than the maximum from now.
            caller = replace(self._caller(who, step), parent=Parent(parent, lives=lives))
            bound = trio.current_time() + min(self.workspace.config.maximum_deadline_s, caller.deadline_s)
            end = await self._door.invoke(name, arguments, caller, call_id=call_id, deadline=bound)
        await trio.lowlevel.checkpoint_if_cancelled()
        return end

    async def perform(self, call: ToolCall, context: Context) -> Capture:
        """Do what the tool itself would do; for a router that leaves a call to it.

        Args:
            call: the call, as the router got it.
            context: its context.
        """
        tool = self._tools.tools.get(call.name)
        if tool is None:
            return Capture.failed(f"no tool {call.name!r} is here")
        return await tool.execute(call, context)

    async def stop(self, selector: str | None = None, *, reason: str = STOP_RAISED) -> tuple[str, ...]:
        """Raise the stop flag of what runs in this process and wait until its ends are recorded.

        Args:
            selector: an agent (its descendants are covered), a call's id or its record; None for everything.
            reason: why, for the records.

        Returns:
            The ids of the outermost calls that were stopped.

        Raises:
            StopError: the id names several calls.
        """
        if self._servers is not None:
            self._servers.stop(selector)
        # Without a driver no window is open; one that is named stays asleep only if a driver marks it so.
        if self._driver is None and selector is None:
            return await self._door.stop(selector, reason=reason)
        return await self._drives().stop(selector, reason=reason)

    async def window(self, agent: str | None, content: JSON, *, model: str = "model") -> Answers:
        """Take a reply of the agent's model into its transcript and answer the calls in it, in their order.

        What a dead host left unanswered is settled first. Each result is committed with what its call did to
        files before the next call begins; calls of tools that are safe beside others run together.

        Args:
            agent: whose reply it is; the only agent when None.
            content: the blocks of the reply, as the provider gave them.
            model: the model's id, for the transcript.

        Returns:
            The results for the model, and whether the window was completed, finished (its one call has the
            last word, and the model is not asked again), stopped or is held.

        Raises:
            WorkspaceError: there is no such agent.
            LockHeld: another process, or another task, drives the agent.
            TranscriptError: the reply cannot stand in a transcript, or the agent is held.
            GitError: the repository cannot be read or written.
        """
        self._refuse_inside()
        who = self.agent(agent)
        await self._meet(who)
        return await self._drives().window(who, content, model)

    async def advance(self, agent: str | None = None) -> Advance:
        """Settle what a dead host left, ask again about a held call, and deliver what waits in the inbox.

        Args:
            agent: which agent; the only one when None.

        Returns:
            What was done, and whether it is the model's turn.

        Raises:
            WorkspaceError: there is no such agent.
            LockHeld: another process, or another task, drives the agent.
            TranscriptError: its transcript cannot be gone on with.
            GitError: the repository cannot be read or written.
        """
        self._refuse_inside()
        who = self.agent(agent)
        await self._meet(who)
        return await self._drives().advance(who)

    async def connect(self, agent: str | None = None) -> None:
        """Start the MCP servers that an agent may call, so that `toolset` has their tools; calls do so too.

        Args:
            agent: which agent; the only one when None.

        Raises:
            WorkspaceError: there is no such agent.
            ServerError: one of them cannot be used.
            ToolsetError, RulesError: its tools cannot stand beside the others.
        """
        await self._meet(self.agent(agent))

    async def say(self, text: str, *, agent: str | None = None, sender: str = "user") -> None:
        """Leave a message for an agent; `advance` delivers it, and wakes one that was stopped.

        Args:
            text: the message.
            agent: for whom; the only agent when None.
            sender: from whom, a name or an agent's id.

        Raises:
            WorkspaceError: there is no such agent.
            TranscriptError: the sender is no name.
            OSError: it cannot be written.
        """
        self._refuse_inside()
        await self._drives().say(self.agent(agent), text, sender)

    async def messages(self, agent: str | None = None) -> list[dict[str, JSON]]:
        """What was said so far, as the messages that a provider is sent: `{"role", "content": [blocks]}`.

        Args:
            agent: whose transcript; the only agent's when None.

        Raises:
            WorkspaceError: there is no such agent.
            TranscriptError: an entry is damaged.
            GitError: the repository cannot be read.
        """
        return await self._drives().messages(self.agent(agent))

    def offered(self, agent: str | None = None) -> list[dict[str, JSON]]:
        """What an agent's model is offered now: `{"name", "description", "input_schema"}` of each tool.

        The description of `python` tells of all that its programs may call. Servers that are not connected
        yet have no tools: `connect` first.
        """
        toolset = self.toolset(agent)
        told = (offered_declaration(tool, toolset) for tool in offered_tools(toolset))
        return [
            {"name": each.name, "description": each.description, "input_schema": dict(each.input_schema)}
            for each in told
        ]

    def hear(self, said: dict[str, JSON]) -> bool:
        """Take what the operator says to this process: an answer to a held call, or to changed settings."""
        return self._decisions.hear(said)

    def running(self) -> tuple[ToolCall, ...]:
        """The calls in flight in this process."""
        return self._door.running()

    def watch(self, watcher: Callable[[Event], None]) -> Callable[[], None]:
        """Tell `watcher` of every call's start, progress and end; returns what ends it."""
        return self._door.watch(watcher)

    def agent(self, agent: str | None = None) -> Agent:
        """An agent of the workspace; without an id, the only one.

        Raises:
            WorkspaceError: there is no such agent, or none was named and there are several.
        """
        if agent is None:  # asked each time: there may be another one by now
            found = self.workspace.agent()
            return self._agents.setdefault(
                found.id, found
            )  # its role is what it was when it was first asked for
        known = self._agents.get(agent)
        if known is None:
            known = self._agents[agent] = self.workspace.agent(agent)
        return known

    def toolset(self, agent: str | None = None) -> Toolset:
        """What the door permits an agent at this moment."""
        who, config = self.agent(agent), self.workspace.config
        # What is loaded differs from agent to agent; else those of a role share what is rendered for them.
        key = (who.role, who.id if config.deferred else "")
        found = self._toolsets.get(key)
        if found is None:
            loaded = partial(self._loaded.of, who.id) if config.deferred else None
            found = self._toolsets[key] = self._tools.granted(config.role(who.role).grant, loaded)
        return found

    def _grant(self, agent: str) -> Iterable[str] | None:
        return self.workspace.config.role(self.agent(agent).role).grant

    def _refuse_inside(self) -> None:
        """Keep a tool's process from what is the operator's, in the workspace that its call belongs to."""
        if self._inside is None or (self._inside.claims and not self._inside.reaches(self.workspace.root)):
            return
        raise InsideACallError(
            f"this process is inside {self._inside}, and its calls are that call's: make them with "
            "`litany invoke`"
        )

    async def _meet(self, agent: Agent, name: str | None = None) -> None:
        """Have the tools of MCP servers there, if a call of `name`, or a list of tools, may want them."""
        if self._servers is not None:
            await self._servers.meet(agent.id, self.workspace.config.role(agent.role).grant, name)

    def _lasting(self) -> trio.Nursery:
        assert self._services is not None  # calls are made inside the block
        return self._services

    def _drives(self) -> Driver:
        if self._driver is None:
            from litany_engine.windows.driver import Driver  # noqa: PLC0415  a host without transcripts needs none

            self._driver = Driver(self.workspace, self._door, self._caller)
        return self._driver

    def _caller(self, agent: Agent, step: Step) -> Caller:
        return Caller(
            workspace=self.workspace.root,
            agent=agent.id,
            role=agent.role,
            cwd=self.workspace.cwd(agent.id),
            toolset=self.toolset(agent.id),
            step=step,
            deadline_s=self.workspace.config.role(agent.role).deadline_s,
        )

    def _seat(self, agent: str) -> Seat:
        return Seat(
            stubs=self.toolset(agent).stubs(),
            worktree=self.workspace.worktree(agent),
            files=self.workspace.config.role(self.agent(agent).role).files,
            limits=self._limits,
            quota=WorktreeLimit(self.workspace.config.worktree_bytes, self.workspace.config.worktree_files),
            looks=self.looks,
        )


def python_input(program: str, deadline: float | str | None) -> dict[str, JSON]:
    """The input of a `python` call."""
    return {"program": program} if deadline is None else {"program": program, "deadline": deadline}


@asynccontextmanager
async def open_workspace(
    path: Path | str | Workspace,
    *,
    tools: Iterable[Tool] = (),
    limits: Limits | None = None,
    screens: Sequence[Screen] = (),
    router: Executor | None = None,
) -> AsyncIterator[OpenWorkspace]:
    """Open a workspace for as long as the block lasts.

    Args:
        path: its folder, made before by `litany init` or `init_workspace`.
        tools: more tools, for this process: functions under `@tool`.
        limits: what one program may use, instead of what `litany.toml` says.
        screens: functions over the results of calls, in their order.
        router: answers every call in the place of the tools' own executors; `OpenWorkspace.perform` is what
            they would have done.

    Raises:
        WorkspaceError: it is no workspace.
        ConfigError: its `litany.toml` is not understood.
        ToolsetError, SchemaError, DescriptorError: its tools cannot stand together.
        RulesError: a rule asks of a tool what it does not have.
        RuntimeError: the caller does not run under trio.
    """
    if not trio.lowlevel.in_trio_task():
        raise RuntimeError(
            "open_workspace is for hosts under trio, and this is none. Under asyncio: async with "
            "open_workspace_asyncio(...) as ws; elsewhere: with open_workspace_blocking(...) as ws"
        )
    workspace = path if isinstance(path, Workspace) else open_workspace_at(Path(path))
    refuse_held_settings(workspace.root)
    refuse_dead_holds(workspace.root)
    opened = OpenWorkspace(workspace, tools, limits, screens, router)
    raised: BaseException | None = None
    try:
        async with trio.open_nursery() as services:
            opened._services = services  # noqa: SLF001  one idea, a class and the function that makes it
            try:
                stop = partial(opened.stop, reason=STOPPED_BY_COMMAND)
                await services.start(serve_stops, workspace.root, stop, opened.hear)
                yield opened
            except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  raised below, as it was
                raised = error
            with suppress(OSError):
                opened._decisions.hold_again()  # noqa: SLF001  as above
            services.cancel_scope.cancel()
    except* KeyboardInterrupt:  # one more, while this was closing
        raised = raised or KeyboardInterrupt()
    if raised is not None:
        raise raised
