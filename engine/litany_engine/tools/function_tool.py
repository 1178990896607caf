'''`@tool`: a Python function becomes a tool.

    @tool
    def count_words(path: Path, minimum: int = 1) -> dict[str, int]:
        """Count the words of a file."""

The name, the description and both schemas come from the function: its name, its docstring, its type hints.
What the types say is checked twice: by the schema gate before the call, and by the conversion here, which
also makes the values what the function was written for (a `Path`, a dataclass, a `datetime`).

The file is not called `tool.py`, because importing a submodule sets the package's attribute of that name, and
`from litany_engine import tool` would give the module.
'''

from __future__ import annotations

import inspect
import json
import logging
import math
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, overload

import msgspec
import trio

from litany_engine.configuration.units import UnitError, time_to_run
from litany_engine.door.answers import MAX_FAULT_CHARS
from litany_engine.door.calls import Capture, Context, Executor, Tool, ToolCall
from litany_engine.tools import in_process
from litany_engine.tools.definitions import Traits
from litany_engine.tools.function_schema import (
    Returns,
    Signature,
    ToolDefinitionError,
    as_json,
    read_signature,
)
from litany_engine.tools.inner_calls import InnerCalls
from litany_engine.tools.tool_name import check_tool_name
from litany_runtime.outcome import EXIT_CODES, Outcome
from litany_stubs.words import JSON, ToolDeclaration

__all__ = ["FunctionTool", "ToolContext", "ToolDefinitionError", "tool"]

MAX_ERROR_CHARS = 4096
"""Characters of an exception's message that reach the model: a page, not a dump of what was being parsed."""

_log = logging.getLogger("litany.tool")


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Who called a tool function and how long it may take; a parameter of this type asks for it.

    Attributes:
        agent: the calling agent's id.
        call_id: this call's id.
        cwd: the agent's working directory; the process's own is somebody else's.
        deadline: absolute, on `time.monotonic()`; `math.inf` for none.
        report: `report(message, fraction=None, *, progress=None, total=None)` tells progress to whoever
            watches, as a fraction or as so much of a total; never raises.
    """

    agent: str
    call_id: str
    cwd: Path
    deadline: float
    report: Callable[..., None]
    _ended: threading.Event = field(default_factory=threading.Event, repr=False)
    _calls: InnerCalls | None = field(default=None, repr=False)

    def remaining_s(self) -> float:
        """Seconds until the deadline, never below zero; `math.inf` without one."""
        return max(0.0, self.deadline - time.monotonic())

    def invoke(self, name: str, arguments: JSON = None) -> Any:
        """Call another tool in the name of this call: the same gates, a record of its own.

        An async function awaits it (`await context.invoke("read_file", {"path": "a"})`); in a sync one it
        returns when that call has ended.

        Args:
            name: the tool's name.
            arguments: its input, a JSON object; none when left out.

        Returns:
            How it ended (`CallEnd`), a refusal or a failure too.

        Raises:
            CallEndedError: in a sync function, this call was ended meanwhile.
            RuntimeError: there is no door, as when the function is called as a function.
        """
        if self._calls is None:
            raise RuntimeError("there is no door behind this context, so no other tool can be called")
        return self._calls.make(name, arguments)

    def stopped(self) -> bool:
        """True once the call is to end: at its deadline, or when it is stopped.

        For functions in a worker thread: a thread cannot be ended from outside, so a long loop looks here
        and returns what it has within two seconds. An async function need not look: it is cancelled.
        """
        return self._ended.is_set()


@dataclass(frozen=True, slots=True)
class FunctionTool(Tool):
    """A tool made of a function; to call it is to call the function, so that it can be tested as one.

    Attributes:
        function: the function.
    """

    function: Callable[..., Any] = field(kw_only=True)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself: no gates, no record."""
        return self.function(*args, **kwargs)


@overload
def tool(function: Callable[..., Any], /) -> FunctionTool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    timeout: float | str | None = None,
    traits: Traits | None = None,
) -> Callable[[Callable[..., Any]], FunctionTool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    timeout: float | str | None = None,
    traits: Traits | None = None,
) -> FunctionTool | Callable[[Callable[..., Any]], FunctionTool]:
    """Make a tool of a function, sync (it runs in a worker thread) or async (it runs under trio).

    Each parameter needs a type hint that says what JSON it takes: the scalars, `Literal`, `Enum`, unions,
    lists, dicts, tuples, `TypedDict`, dataclasses, `msgspec.Struct`, `datetime`, `UUID`, `Path`, `Any`. A
    constraint rides on `Annotated[int, msgspec.Meta(ge=0)]`, a description on `Annotated[int, "what it is"]`
    or in the docstring. A parameter of type `ToolContext` (or without a hint and named `context`) is not the
    model's: it gets the call's context.

    What the function returns becomes the capture: text or bytes are stdout; `None` is success with nothing
    to say; a `Capture` is itself; anything else must be JSON's (dataclasses and the like are converted) and
    is both `data` and, as JSON text, stdout. A return hint of such a type becomes the output schema, and what
    is returned is checked by the hint. pydantic's types are read by pydantic, where the host has it.

    What it raises becomes a failed capture: exit code 1, `name: ExceptionType: message` on stderr. The
    traceback goes to the `litany.tool` logger at level DEBUG, never to the model.

    Args:
        function: the function, when used without brackets.
        name: the tool's name, when it is not the function's.
        description: what the model reads, instead of the docstring's text.
        timeout: the most that one call may take, in seconds or as `"30s"`; other bounds still hold.
        traits: what the tool says of itself besides: whether it may run beside other calls, what it needs.

    Raises:
        ToolDefinitionError: the function cannot be a tool; what to change.
    """
    if function is None:
        return lambda each: _define(each, name, description, timeout, traits)
    return _define(function, name, description, timeout, traits)


def _define(
    function: Callable[..., Any],
    name: str | None,
    description: str | None,
    timeout: float | str | None,
    traits: Traits | None,
) -> FunctionTool:
    if isinstance(function, classmethod):
        raise ToolDefinitionError(
            f"{function.__qualname__} is a method of its class: leave @tool off it, and make the tool of the "
            f"bound method: tools=[tool({'.'.join(function.__qualname__.split('.')[-2:])})]"
        )
    if isinstance(function, staticmethod):
        function = function.__func__
    if isinstance(function, (Tool, type)) or not callable(function):
        raise ToolDefinitionError(f"@tool needs a function, not {function!r}")
    try:
        name = check_tool_name(name if name is not None else getattr(function, "__name__", ""))
    except ValueError as error:
        raise ToolDefinitionError(f"{error}; give another with @tool(name=…)") from None
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ToolDefinitionError(f"tool {name!r} is a generator, but a call has one answer: return a list")
    try:
        timeout_s = None if timeout is None else time_to_run(timeout)
    except UnitError as error:
        raise ToolDefinitionError(f"tool {name!r}: timeout: {error}") from None
    signature = read_signature(function, name, ToolContext)
    declaration = ToolDeclaration(
        name=name,
        description=signature.description if description is None else description,
        input_schema=signature.input_schema,
        output_schema=signature.output_schema,
    )
    return FunctionTool(
        declaration,
        _executor(function, name, signature),
        deadline_s=None if timeout_s is None else lambda _: timeout_s,
        traits=traits or Traits(),
        place=_place(function),
        function=function,
    )


def _place(function: Callable[..., Any]) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return "" if code is None else f"{code.co_filename}:{code.co_firstlineno}"


def _executor(function: Callable[..., Any], name: str, signature: Signature) -> Executor:
    is_async = inspect.iscoroutinefunction(function)
    parameter = signature.context_parameter

    def begin(arguments: dict[str, Any], context: Context) -> Awaitable[Any]:
        if is_async and parameter is None:
            return in_process.in_own_loop(partial(function, **arguments))
        own = tool_context(context)
        if parameter is not None:
            arguments[parameter] = own
        work = partial(function, **arguments)
        return in_process.in_own_loop(work) if is_async else in_thread(work, own, heeds=parameter is not None)

    async def execute(call: ToolCall, context: Context) -> Capture:
        try:
            arguments = signature.arguments(call.input)
        except (msgspec.ValidationError, RecursionError) as error:
            return Capture.failed(f"{name}: {error}")
        try:
            returned = await begin(arguments, context)
        except in_process.LeftBehindError:
            return in_process.LEFT_BEHIND
        except BaseException as error:  # whatever it raises is its own failure
            if _is_cancellation(error):
                raise
            _log.debug("tool %s raised", name, exc_info=True)
            return Capture.failed(f"{name}: {type(error).__name__}: {_message_of(error)}")
        capture = _capture(name, function, returned, signature.returns)
        if not is_async and capture.exit_code == 0 and trio.current_effective_deadline() == -math.inf:
            # It was asked to end, and gave what it had: that is no end of its own.
            return replace(capture, exit_code=EXIT_CODES[Outcome.STOPPED])
        return capture

    return execute


def _is_cancellation(error: BaseException) -> bool:
    """Whether it is trio's, which is the call's stop and never the tool's own."""
    if isinstance(error, BaseExceptionGroup):
        return any(_is_cancellation(each) for each in error.exceptions)
    return isinstance(error, trio.Cancelled)


async def in_thread(work: Callable[[], Any], context: ToolContext, *, heeds: bool) -> Any:
    """Do something in a worker thread, and tell it through its context when it is to end.

    Args:
        work: what to do.
        context: where it looks (`stopped`).
        heeds: it has the context; it is then given a grace to look and return.

    Raises:
        LeftBehindError: the call was cancelled, and it has not ended.
    """

    def tell() -> None:
        context._ended.set()  # noqa: SLF001 - the flag is this module's to raise
        if context._calls is not None:  # noqa: SLF001
            context._calls.end()  # noqa: SLF001

    try:
        return await in_process.in_thread(work, tell if heeds else None)
    finally:
        tell()


def tool_context(context: Context) -> ToolContext:
    """What a function is told of its call."""
    left = context.deadline - trio.current_time()
    return ToolContext(
        agent=context.agent,
        call_id=context.call_id,
        cwd=context.cwd,
        deadline=math.inf if left == math.inf else time.monotonic() + left,
        report=context.report,
        _calls=InnerCalls(context),
    )


def _capture(name: str, function: Callable[..., Any], returned: Any, returns: Returns) -> Capture:
    if isinstance(returned, Capture):
        return returned if returned.data is None else _with_json_data(name, returned, "data")
    capture = Capture()
    if isinstance(returned, bytes):
        capture = Capture(stdout=returned)
    elif isinstance(returned, str) and (returns.text or returns.anything):
        capture = Capture(stdout=_text(returned))
    elif returned is not None:
        capture = _with_json_data(name, Capture(data=returned), "what it returned")
        if capture.outcome is not None:
            return capture
        told = returned if type(returned) is str else json.dumps(capture.data, ensure_ascii=False)
        capture = replace(capture, stdout=_text(told))
    if fault := returns.fault(returned, capture.data):
        place = _place(function)
        where = f" ({place})" if place else ""
        reason = (
            f"tool {name!r} ran to its end, but {fault[:MAX_FAULT_CHARS]}. What the call did stands; "
            f"mend the tool{where}"
        )
        return replace(capture, data=None, outcome=Outcome.FAULTED, reason=reason)
    return capture


def _text(text: str) -> bytes:
    # A lone surrogate has no UTF-8; as an escape it harms nobody.
    return text.encode("utf-8", "backslashreplace")


def _with_json_data(name: str, capture: Capture, place: str) -> Capture:
    """The capture with its data in JSON's domain, or a fault that says where it is not."""
    try:
        return replace(capture, data=as_json(capture.data, place))
    except RecursionError:
        cause = f"{place} contains itself, or is nested too deep"
    except (TypeError, ValueError) as error:
        cause = str(error)
    return Capture(
        outcome=Outcome.FAULTED, reason=f"{name} ran to its end, but its answer is no JSON: {cause}"
    )


def _message_of(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - a broken __str__ is one more thing that a tool may do
        return "(its message cannot be read)"
    return text if len(text) <= MAX_ERROR_CHARS else f"{text[:MAX_ERROR_CHARS]} […]"
