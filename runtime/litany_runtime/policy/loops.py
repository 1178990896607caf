"""Event loops beside the one in which a program's top level runs.

A program that awaits at its top level runs as a coroutine of a loop, so `asyncio.run(main())` further down
would find a loop that is running. There it means what it says in any other program: this part of the program
waits for `main`. While it does, the outer loop stands still, as it would for any call that takes its time.
Inside an `async def` it is the library's RuntimeError, as everywhere.
"""

from __future__ import annotations

import asyncio
import functools
import sys
from asyncio import events, runners
from typing import TYPE_CHECKING, Any

from litany_runtime.policy import constants

if TYPE_CHECKING:
    from collections.abc import Callable

AWAITING = 0x80 | 0x100 | 0x200
"""`inspect.CO_COROUTINE`, `CO_ITERABLE_COROUTINE`, `CO_ASYNC_GENERATOR`: code that a loop runs."""


def _is_called_at_the_top_level() -> bool:
    """Whether the innermost coroutine on the stack is the program's top level."""
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if code.co_flags & AWAITING:
            return code.co_name == constants.MODULE_CODE and constants.is_programs(code)
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _beside(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function that runs a loop be called at the top level of a program that awaits there."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        outer = events._get_running_loop()
        if outer is None or not _is_called_at_the_top_level():
            return function(*args, **kwargs)
        if args and args[0] is outer:
            raise RuntimeError("This event loop is already running (write `await main()` at the top level)")
        events._set_running_loop(None)
        try:
            return function(*args, **kwargs)
        finally:
            events.set_event_loop(outer)
            events._set_running_loop(outer)

    return call


def mend() -> None:
    """Change the functions that run a loop. Before anything is sealed."""
    library: Any = asyncio
    library.run = runners.run = _beside(runners.run)
    for cls, names in (
        (asyncio.Runner, ("run", "close")),
        (asyncio.BaseEventLoop, ("run_forever", "run_until_complete")),
    ):
        for name in names:
            setattr(cls, name, _beside(vars(cls)[name]))
