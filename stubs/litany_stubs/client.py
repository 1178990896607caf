"""What a generated `litany_tools` calls: the door behind it, calls, many calls at once, search.

One process runs one program and has one door, so the door is bound to the process (`bind`) and not to a
module: the generated text then holds no secret and no address, and the same text works in the confined
child, against a workspace on the host and in a test. Nothing here is reachable from a program but the names
that the generated module re-exports.

This module is on the path of the confined child. `asyncio` and `threading` are imported by the calls that
need them, and by then a program that uses them has them loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from litany_stubs.finding import CO_VARARGS, listed, more_of, search
from litany_stubs.result import UNSET, Result, ToolError, Unset
from litany_stubs.values import to_json_value
from litany_stubs.words import Door, DoorError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

__all__ = [
    "UNSET",
    "DoorError",
    "Result",
    "ToolError",
    "Unset",
    "aio_fan_out",
    "aio_invoke",
    "as_async",
    "bind",
    "call",
    "fan_out",
    "invoke",
    "search",
]

MAX_FAN_OUT = 32
"""Calls that one `fan_out` may have in flight: each takes a thread, and a program may have 64 of them."""

P = ParamSpec("P")
T = TypeVar("T")

_NOTHING: Mapping[str, Any] = {}

UNNAMED = " without a name"
"""What an argument by its place is called when the door is asked: no tool has one of such a name."""

MISSING = Unset()
"""What a parameter that must be given is until it is (`compiling.py`): not sent, so that the door tells."""

_door: Door | None = None


def bind(door: Door | None) -> Door | None:
    """Make `door` the one that every stub of this process calls; return the one it replaces."""
    global _door
    former, _door = _door, door
    return former


def bound() -> Door:
    """Return the bound door; outside the sandbox, the door of the workspace that the environment names.

    Raises:
        DoorError: there is neither.
    """
    if _door is None:
        from litany_stubs.workspace_door import door_from_environment  # noqa: PLC0415 - never in the child

        bind(door_from_environment())
    assert _door is not None
    return _door


def call(
    name: str,
    arguments: dict[str, Any],
    *,
    parse: bool = False,
    lax: bool = False,
    more: Mapping[str, Any] = _NOTHING,
    positional: Sequence[Any] = (),
) -> Result[Any]:
    """Make one call; arguments that are `UNSET` are left out.

    Args:
        name: the tool's exact name.
        arguments: the call's input.
        parse: read stdout as JSON into `data` when the tool gave no data.
        lax: the tool's schema accepts names that it does not list.
        more: arguments of names that it does not list.
        positional: arguments given without a name.

    Raises:
        TypeError, ValueError: an argument is not JSON's; no call was made.
        DoorError: the door cannot be reached.
    """
    if more or positional:
        arguments |= _unplaced(name, tuple(arguments), more, positional, lax=lax)
    return Result(bound().call(name, _input(name, arguments)), parse=parse)


def invoke(name: str, arguments: Mapping[str, Any] | None = None) -> Result[Any]:
    """Call any granted tool by its exact name; for names and parameters that Python cannot spell.

    Raises:
        TypeError, ValueError: an argument is not JSON's; no call was made.
        DoorError: the door cannot be reached.
    """
    return Result(bound().call(_name(name), _input(name, arguments)))


async def aio_invoke(name: str, arguments: Mapping[str, Any] | None = None) -> Result[Any]:
    """Call any granted tool by its exact name, under asyncio.

    Raises:
        TypeError, ValueError: an argument is not JSON's; no call was made.
        DoorError: the door cannot be reached.
    """
    return Result(await bound().call_async(_name(name), _input(name, arguments)))


def as_async(
    function: Callable[P, Result[T]], *, parse: bool = False, lax: bool = False
) -> Callable[P, Coroutine[Any, Any, Result[T]]]:
    """Return the asyncio twin of a generated function: same name, same parameters, awaited."""
    code = function.__code__
    names = code.co_varnames[: code.co_kwonlyargcount]
    takes_more = more_of(code) is not None
    asks_the_door = bool(code.co_flags & CO_VARARGS)  # loaded for a program: `compiling.py`
    optional = function.__kwdefaults__ or {}
    required = [] if asks_the_door else [each for each in names if each not in optional]
    name: str = function.__name__

    async def twin(*positional: Any, **arguments: Any) -> Result[Any]:
        for each in required:
            if each not in arguments:
                raise TypeError(f"aio.{name}() missing the required argument {each!r}")
        unknown = {} if takes_more else {each: arguments[each] for each in arguments if each not in names}
        if unknown or positional:
            arguments |= _unplaced(name, names, unknown, positional, lax=lax or not asks_the_door)
        return Result(await bound().call_async(name, _input(name, arguments)), parse=parse)

    twin.__name__ = twin.__qualname__ = name
    twin.__doc__ = function.__doc__
    return twin


def ungranted(name: str) -> Callable[..., Result[Any]]:
    """Return what stands for a tool that the module does not have: its calls are the door's to refuse."""

    def tool(*positional: Any, **arguments: Any) -> Result[Any]:
        arguments |= _by_place(positional)
        return Result(bound().call(name, _input(name, arguments)))

    tool.__name__ = tool.__qualname__ = name
    return tool


def aio_ungranted(name: str) -> Callable[..., Coroutine[Any, Any, Result[Any]]]:
    """Return the same under asyncio."""

    async def tool(*positional: Any, **arguments: Any) -> Result[Any]:
        arguments |= _by_place(positional)
        return Result(await bound().call_async(name, _input(name, arguments)))

    tool.__name__ = tool.__qualname__ = name
    return tool


@overload
def fan_out(
    tool: Callable[..., Result[T]], arguments: Sequence[Mapping[str, Any]], *, limit: int = 8
) -> list[Result[T]]: ...
@overload
def fan_out(tool: str, arguments: Sequence[Mapping[str, Any]], *, limit: int = 8) -> list[Result[Any]]: ...
def fan_out(
    tool: Callable[..., Result[Any]] | str, arguments: Sequence[Mapping[str, Any]], *, limit: int = 8
) -> list[Result[Any]]:
    """Call one tool once for each item of `arguments`, several at a time; results are in its order.

    A tool that fails fails in its own slot and stops no other.

    Args:
        tool: a function of this module, or a tool's exact name.
        arguments: one mapping of arguments for each call.
        limit: calls in flight at once, 1 to 32.

    Raises:
        TypeError, ValueError: an item is not a tool's arguments; calls already under way are waited for.
        DoorError: the door cannot be reached.
    """
    import threading  # noqa: PLC0415 - not every program needs it

    calls = _slots(tool, arguments, limit)
    answers: list[Any] = [None] * len(calls)
    errors: dict[int, BaseException] = {}
    left = iter(range(len(calls)))
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                slot = next(left, None) if not errors else None
            if slot is None:
                return
            try:
                answers[slot] = calls[slot]()
            except BaseException as error:  # noqa: BLE001 - carried to the caller, who raises it
                with lock:
                    errors[slot] = error
                return

    helpers = [threading.Thread(target=work, daemon=True) for _ in range(min(limit, len(calls)) - 1)]
    started = []
    for helper in helpers:
        try:
            helper.start()
        except RuntimeError:  # no more threads to be had: fewer at a time is still right
            break
        started.append(helper)
    # The caller's own thread is one of the workers, so an interrupt reaches it in a call or in a join, and a
    # limit of 1 needs no thread at all.
    try:
        work()
        for helper in started:
            helper.join()
    except BaseException:
        with lock:
            left = iter(())
        raise
    if errors:
        raise errors[min(errors)]
    return answers


@overload
async def aio_fan_out(
    tool: Callable[..., Coroutine[Any, Any, Result[T]]],
    arguments: Sequence[Mapping[str, Any]],
    *,
    limit: int = 8,
) -> list[Result[T]]: ...
@overload
async def aio_fan_out(
    tool: str, arguments: Sequence[Mapping[str, Any]], *, limit: int = 8
) -> list[Result[Any]]: ...
async def aio_fan_out(
    tool: Callable[..., Coroutine[Any, Any, Result[Any]]] | str,
    arguments: Sequence[Mapping[str, Any]],
    *,
    limit: int = 8,
) -> list[Result[Any]]:
    """Call one tool once for each item of `arguments` under asyncio; as `fan_out`, which see."""
    import asyncio  # noqa: PLC0415 - whoever awaits this has it loaded

    calls = _slots(tool, arguments, limit, awaited=True)
    answers: list[Any] = [None] * len(calls)
    left = iter(range(len(calls)))

    async def work() -> None:
        for slot in left:
            answers[slot] = await calls[slot]()

    workers = [asyncio.ensure_future(work()) for _ in range(min(limit, len(calls)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for each in workers:
            each.cancel()
    return answers


def _slots(
    tool: Callable[..., Any] | str,
    arguments: Sequence[Mapping[str, Any]],
    limit: int,
    *,
    awaited: bool = False,
) -> list[Callable[[], Any]]:
    if type(limit) is not int or not 1 <= limit <= MAX_FAN_OUT:
        raise ValueError(f"fan_out: limit must be a whole number from 1 to {MAX_FAN_OUT}, not {limit!r}")
    # Every item is looked at before the first call is made.
    items = [_input(f"fan_out: arguments[{index}]", each) for index, each in enumerate(arguments)]
    if isinstance(tool, str):
        general: Callable[..., Any] = aio_invoke if awaited else invoke
        return [_later(general, tool, each) for each in items]
    if not callable(tool):
        raise TypeError(
            f"fan_out: the tool is of type {type(tool).__name__}; pass litany_tools.<tool> or its name"
        )
    return [_spread(tool, each) for each in items]


def _later(general: Callable[..., Any], name: str, arguments: Mapping[str, Any]) -> Callable[[], Any]:
    return lambda: general(name, arguments)


def _spread(tool: Callable[..., Any], arguments: Mapping[str, Any]) -> Callable[[], Any]:
    return lambda: tool(**arguments)


def _unplaced(
    name: str, known: Sequence[str], more: Mapping[str, Any], positional: Sequence[Any], *, lax: bool
) -> dict[str, Any]:
    """Return arguments that have no place in a tool's signature as the door is to refuse them.

    Raises:
        TypeError: the tool's schema accepts names that it does not list, so the door would let them through,
            and a misspelt argument would be one that was not given.
    """
    if lax:
        takes = f"; it takes {listed(known)}"
        if positional:
            raise TypeError(f"{name}() takes its arguments by name{takes}")
        raise TypeError(f"{name}() got an unexpected argument {next(iter(more))!r}{takes}")
    return {**_by_place(positional), **more}


def _by_place(positional: Sequence[Any]) -> dict[str, Any]:
    return {f"argument {place}{UNNAMED}": each for place, each in enumerate(positional, 1)}


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(
            f"invoke takes a tool's name as a string, not {type(name).__name__}: invoke('name', {{...}})"
        )
    return name


def _input(name: str, arguments: Any) -> dict[str, Any]:
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise TypeError(
            f"{name}: arguments are a dict such as {{'path': 'a.txt'}}, not {type(arguments).__name__}"
        )
    sent = {key: value for key, value in arguments.items() if type(value) is not Unset}
    found: dict[str, Any] = to_json_value(sent, name)
    return found
