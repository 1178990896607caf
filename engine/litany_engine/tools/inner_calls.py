"""Calls that a function of the host makes in the name of its own call, from wherever the function runs.

An async function awaits them, under trio or under asyncio; a sync one runs in a thread and waits there. Each
is an inner call like a program's: the same gates, a record of its own, dead once the call that made it ended.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import trio

if TYPE_CHECKING:
    from collections.abc import Callable

    from litany_engine.door.calls import CallEnd, Context, Invoke
    from litany_stubs.words import JSON


class CallEndedError(RuntimeError):
    """The call in whose name another was made is ended, and the other with it."""


class InnerCalls:
    """Makes the inner calls of one call. Made in trio's thread.

    Args:
        context: the call's.
    """

    def __init__(self, context: Context) -> None:
        self._invoke: Invoke | None = context.invoke
        self._call_id = context.call_id
        self._token = trio.lowlevel.current_trio_token()
        self._scopes: set[trio.CancelScope] = set()

    def make(self, name: str, arguments: JSON) -> Any:
        """Make one; its `CallEnd`, or what gives it when it is awaited.

        Raises:
            RuntimeError: there is no door.
        """
        if not isinstance(name, str):
            raise TypeError(f"invoke takes a tool's name as a string, not {type(name).__name__}")
        if self._invoke is None:
            raise RuntimeError("there is no door behind this context, so no other tool can be called")
        given = {} if arguments is None else arguments
        if trio.lowlevel.in_trio_task():
            return self._call(name, given)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return trio.from_thread.run(self._call, name, given, trio_token=self._token)
        return self._in_asyncio(loop, name, given)

    def end(self) -> None:
        """End those that are in flight; called in trio's thread."""
        for scope in tuple(self._scopes):
            scope.cancel()

    async def _call(self, name: str, arguments: JSON, scope: trio.CancelScope | None = None) -> CallEnd:
        assert self._invoke is not None
        scope = scope or trio.CancelScope()
        self._scopes.add(scope)
        try:
            with scope:
                return await self._invoke(name, arguments)
        finally:
            self._scopes.discard(scope)
        raise CallEndedError(f"call {self._call_id!r} is ended, and its call of {name!r} with it")

    async def _in_asyncio(self, loop: asyncio.AbstractEventLoop, name: str, arguments: JSON) -> CallEnd:
        answer: asyncio.Future[CallEnd] = loop.create_future()
        scope = trio.CancelScope()

        def settle(set_answer: Callable[[Any], None], value: object) -> None:
            if not answer.done():
                set_answer(value)

        async def do() -> None:
            try:
                settled: tuple[Callable[[Any], None], object] = (
                    answer.set_result,
                    await self._call(name, arguments, scope),
                )
            except Exception as error:  # noqa: BLE001  whatever it is, the function that awaits gets it
                settled = (answer.set_exception, error)
            with suppress(RuntimeError):  # the loop is closed, and nobody awaits
                loop.call_soon_threadsafe(settle, *settled)

        self._token.run_sync_soon(lambda: trio.lowlevel.spawn_system_task(do) and None)
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            with suppress(trio.RunFinishedError):
                self._token.run_sync_soon(scope.cancel)
                with suppress(Exception):  # its end is recorded before whoever gave it up goes on
                    await asyncio.shield(answer)
            raise
