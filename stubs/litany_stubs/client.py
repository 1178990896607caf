"""What a generated `litany_tools` calls: the door behind it, calls, many calls at once, search.

One process runs one program and has one door, so the door is bound to the process (`bind`) and not to a
module: the generated text then holds no secret and no address, and the same text works in the confined
child, against a workspace on the host and in a test. Nothing here is reachable from a program but the names
that the generated module re-exports.

This module is on the path of the confined child. `asyncio` and `threading` are imported by the calls that
need them, and by then a program that uses them has them loaded.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast, overload

from litany_stubs.finding import more_of, parameters, search
from litany_stubs.result import UNSET, Result, ToolError, Unset, unread
from litany_stubs.values import to_json_value
from litany_stubs.words import Door, DoorError, unplaced

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence

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
    "fan_out",
    "invoke",
    "offer",
    "search",
    "sent",
    "tool",
    "unread",
]

MAX_FAN_OUT = 32
"""Calls that one `fan_out` may have in flight: each takes a thread, and a program may have 64 of them."""

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F")

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


class Tool:
    """What stands behind a generated function.

    Attributes:
        name: the tool's exact name.
        function: takes arguments as the signature says and returns them by name.
        parse: read stdout as JSON into `data` when the tool gave no data.
        lax: the tool's schema accepts names that it does not list.
    """

    __slots__ = ("function", "lax", "name", "parse")

    def __init__(self, name: str, function: Callable[..., Any], *, parse: bool, lax: bool) -> None:
        self.name = name
        self.function = function
        self.parse = parse
        self.lax = lax

    def takes(self) -> tuple[str, ...]:
        """Return the names of its parameters, in the order of the signature."""
        return parameters(self.function.__code__)

    def by_name(self, positional: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
        """Return a call's arguments by name; those that have no place are told to the door as such."""
        try:
            found: dict[str, Any] = self.function(*positional, **named)
        except TypeError as error:  # of Python's own binding: the function does nothing else
            return self._with_a_slip(str(error), positional, named)
        return found

    def _with_a_slip(self, why: str, positional: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
        """Return arguments that the signature does not take, so that the door says what is wrong.

        What is missing or not known, the schema tells best. The door cannot see what was given twice or has
        no name, nor a misspelt name that the schema would let through: there Python's own words are sent.
        """
        names = self.takes()
        unknown = {each: value for each, value in named.items() if each not in names}
        placed = dict(zip(names, positional, strict=False))
        apart = [value for each, value in placed.items() if each in named] + list(positional[len(names) :])
        given = placed | named
        if self.lax and unknown and more_of(self.function.__code__) is None:
            given = {each: value for each, value in given.items() if each not in unknown}
            return given | _unplaced(why, [*apart, *unknown.values()])
        return given | _unplaced(why, apart) if apart else given


_offered: dict[str, Tool] = {}
_by_function: dict[str, str] = {}


def offer(tools: Mapping[str, Tool]) -> None:
    """Make these the tools whose signatures `invoke` and `fan_out` know; of the module loaded last."""
    _offered.clear()
    _offered.update(tools)
    _by_function.clear()
    _by_function.update({each.function.__name__: name for name, each in tools.items()})


def tool(name: str, *, parse: bool = False, lax: bool = False) -> Callable[[F], F]:
    """Return the decorator that makes a generated function call its tool.

    Args:
        name: the tool's exact name.
        parse: as `Tool.parse`.
        lax: as `Tool.lax`.
    """

    def decorate(function: Any) -> Any:
        behind = Tool(name, function, parse=parse, lax=lax)

        def stub(*positional: Any, **named: Any) -> Result[Any]:
            return Result(bound().call(name, _input(name, behind.by_name(positional, named))), parse=parse)

        return _dressed(stub, function, behind)

    return decorate


def _dressed(stub: Any, function: Any, behind: Tool) -> Any:
    stub.__name__ = stub.__qualname__ = function.__name__
    stub.__doc__ = function.__doc__
    stub.__wrapped__ = function
    stub.__litany__ = behind
    return stub


def sent(arguments: dict[str, Any]) -> Result[Any]:
    """Return the arguments, which is all that a generated function does; its decorator makes the call.

    To a type checker they are the result, since that is what the decorated function returns.
    """
    return cast("Result[Any]", arguments)


@overload
def invoke(name: str, arguments: Mapping[str, Any] | None = None) -> Result[Any]: ...
@overload
def invoke(name: str, /, *positional: Any, **named: Any) -> Result[Any]: ...
def invoke(*positional: Any, **named: Any) -> Result[Any]:
    """Call any granted tool by its exact name; for names and parameters that Python cannot spell.

    Args:
        positional: the name, then one dict of arguments, or the arguments in the order of the signature.
        named: arguments by name.

    Raises:
        TypeError, ValueError: an argument is not JSON's; no call was made.
        DoorError: the door cannot be reached.
    """
    name, arguments = _invoked(positional, named)
    return Result(bound().call(name, _input(name, arguments)))


@overload
async def aio_invoke(name: str, arguments: Mapping[str, Any] | None = None) -> Result[Any]: ...
@overload
async def aio_invoke(name: str, /, *positional: Any, **named: Any) -> Result[Any]: ...
async def aio_invoke(*positional: Any, **named: Any) -> Result[Any]:
    """Call any granted tool by its exact name, under asyncio; arguments as `invoke` takes them.

    Raises:
        TypeError, ValueError: an argument is not JSON's; no call was made.
        DoorError: the door cannot be reached.
    """
    name, arguments = _invoked(positional, named)
    return Result(await bound().call_async(name, _input(name, arguments)))


def as_async(function: Callable[P, Result[T]]) -> Callable[P, Coroutine[Any, Any, Result[T]]]:
    """Return the asyncio twin of a generated function: same name, same parameters, awaited."""
    behind: Tool = function.__litany__  # type: ignore[attr-defined]
    name, parse = behind.name, behind.parse

    async def twin(*positional: Any, **named: Any) -> Result[Any]:
        arguments = _input(name, behind.by_name(positional, named))
        return Result(await bound().call_async(name, arguments), parse=parse)

    made: Callable[P, Coroutine[Any, Any, Result[T]]] = _dressed(twin, behind.function, behind)
    return made


def ungranted(name: str) -> Callable[..., Result[Any]]:
    """Return what stands for a tool that the module does not have: its calls are the door's to refuse."""

    def stub(*positional: Any, **named: Any) -> Result[Any]:
        return Result(bound().call(name, _input(name, _without_order(name, positional, named))))

    stub.__name__ = stub.__qualname__ = name
    return stub


def aio_ungranted(name: str) -> Callable[..., Coroutine[Any, Any, Result[Any]]]:
    """Return the same under asyncio."""

    async def stub(*positional: Any, **named: Any) -> Result[Any]:
        return Result(await bound().call_async(name, _input(name, _without_order(name, positional, named))))

    stub.__name__ = stub.__qualname__ = name
    return stub


@overload
def fan_out(
    tool: Callable[..., Result[T]], arguments: Iterable[Any], *, limit: int = 8
) -> list[Result[T]]: ...
@overload
def fan_out(tool: str, arguments: Iterable[Any], *, limit: int = 8) -> list[Result[Any]]: ...
def fan_out(
    tool: Callable[..., Result[Any]] | str, arguments: Iterable[Any], *, limit: int = 8
) -> list[Result[Any]]:
    """Call one tool once for each item of `arguments`, several at a time; results are in its order.

    A tool that fails fails in its own slot and stops no other.

    Args:
        tool: a function of this module, or a tool's exact name.
        arguments: for each call a dict of arguments by name, a tuple of arguments in the order of the
            signature, or the first argument alone.
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

    def work(carried: type[BaseException]) -> None:
        while True:
            with lock:
                slot = next(left, None) if not errors else None
            if slot is None:
                return
            try:
                answers[slot] = calls[slot]()
            except carried as error:  # carried to the caller, who raises it once the others have ended
                with lock:
                    errors[slot] = error
                return

    helpers = [
        threading.Thread(target=work, args=(BaseException,), daemon=True)
        for _ in range(min(limit, len(calls)) - 1)
    ]
    started = []
    for helper in helpers:
        try:
            helper.start()
        except RuntimeError:  # no more threads to be had: fewer at a time is still right
            break
        started.append(helper)
    # The caller's own thread is one of the workers, so an interrupt reaches it in a call or in a join, and a
    # limit of 1 needs no thread at all. An interrupt is raised at once: it ends the program, and so the calls
    # of the others; to wait for them would use up the time that `finally` blocks have.
    try:
        work(Exception)
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
    arguments: Iterable[Any],
    *,
    limit: int = 8,
) -> list[Result[T]]: ...
@overload
async def aio_fan_out(tool: str, arguments: Iterable[Any], *, limit: int = 8) -> list[Result[Any]]: ...
async def aio_fan_out(
    tool: Callable[..., Coroutine[Any, Any, Result[Any]]] | str,
    arguments: Iterable[Any],
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
    arguments: Iterable[Any],
    limit: int,
    *,
    awaited: bool = False,
) -> list[Callable[[], Any]]:
    if type(limit) is not int or not 1 <= limit <= MAX_FAN_OUT:
        raise ValueError(f"fan_out: limit must be a whole number from 1 to {MAX_FAN_OUT}, not {limit!r}")
    if isinstance(arguments, (str, bytes, dict)):
        raise TypeError(
            "fan_out: arguments are a list with an item for each call, such as "
            f"[{{'path': 'a'}}, {{'path': 'b'}}], not one {type(arguments).__name__}"
        )
    # Every item is looked at before the first call is made.
    items = [_item(each, f"fan_out: arguments[{index}]") for index, each in enumerate(arguments)]
    if isinstance(tool, str):
        general: Callable[..., Any] = aio_invoke if awaited else invoke
        return [partial(general, tool, *positional, **named) for positional, named in items]
    if not callable(tool):
        raise TypeError(
            f"fan_out: the tool is of type {type(tool).__name__}; pass litany_tools.<tool> or its name"
        )
    return [partial(tool, *positional, **named) for positional, named in items]


def _item(item: Any, place: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of one call of a `fan_out`: those by their place, and those by name."""
    if isinstance(item, dict):
        return (), _input(place, item)
    if type(item) is tuple:
        return tuple(to_json_value(list(item), place)), {}
    return (to_json_value(item, place),), {}


def _invoked(positional: tuple[Any, ...], named: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the tool that `invoke` was given and its arguments by name."""
    if positional:
        name, *rest = positional
    elif "name" in named:
        name, rest = named.pop("name"), []
    else:
        raise TypeError("invoke() missing 1 required positional argument: 'name'")
    name = _name(name)
    if name not in _offered:  # the name of a function stands for its tool, when no tool has that name itself
        name = _by_function.get(name, name)
    behind = _offered.get(name)
    if not rest and named.keys() == {"arguments"} and not (behind and "arguments" in behind.takes()):
        rest = [named.pop("arguments")]
    if not rest:
        return name, named
    if len(rest) > 1 or not (rest[0] is None or isinstance(rest[0], dict)):
        by_name = _without_order(name, rest, named) if behind is None else behind.by_name(rest, named)
        return name, by_name
    arguments = {**named, **(rest[0] or {})}
    twice = [each for each in named if each in (rest[0] or {})]
    if twice:
        why = f"invoke() got multiple values for argument {twice[0]!r}"
        arguments |= _unplaced(why, [named[each] for each in twice])
    return name, arguments


def _without_order(name: str, positional: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a tool whose parameters have no order here."""
    if not positional:
        return named
    why = f"{name}() takes its arguments by name: it has no function in litany_tools, which would order them"
    return named | _unplaced(why, positional)


def _unplaced(why: str, values: Sequence[Any]) -> dict[str, Any]:
    return unplaced(why, [each for each in values if type(each) is not Unset])


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
