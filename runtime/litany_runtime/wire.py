"""The wire between the supervisor and one child: bytes in, messages out, no I/O.

A frame is a four-byte big-endian length and that many bytes of msgpack: an array of the message's tag and
its fields. The set of messages is closed and split by who may send them; anything else is the other side's
fault and ends the program.

| sender | message | when |
|---|---|---|
| host | `Stubs` | once, first |
| child | `Warm` | once, confined and waiting |
| host | `Run` | once, after `Warm` |
| child | `Warned` | at most once, before any `Call`, if `Run` asks for a look |
| child | `Call` | any number, `seq` = 1, 2, 3, …, after `Run` |
| child | `Cancel` | at most one for each `Call`, after it: its answer is awaited no more |
| host | `Answer` | one for each `Call`, in any order, cancelled ones too |
| child | `Refused` | instead of running: the policy refused the program |
| child | `Ended` | last: the program is over, its output is flushed |

Values (`Call.input`, `Answer.data`) are JSON's domain only: no NaN, no extension types, text keys, integers
of 64 bits, nesting up to `MAX_DEPTH`. The child belongs to the program, so the host believes nothing but the
bytes: a length is checked before anything is allocated for it, a shape before it is used.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from litany_runtime.limits import Limits
    from litany_stubs.words import JSON

MAX_DEPTH = 64
"""Nesting of containers in one value; deeper data is a program's mistake, and recursion is an attack."""

FRAME_OVERHEAD_BYTES = 64 * 1024
"""What a frame may hold beyond its payload: tag, sequence number, the name, a refusal's text."""

MAX_NAME_BYTES = 1024
"""Length of a tool's name on the wire; the engine's own names end at 64 characters."""

MAX_WARNINGS = 50
"""Lines of `Warned`; the child's own look finds fewer."""

MAX_UNREAD = 1000
"""Calls that `Ended.unread` names; a program that does not look at so many failures has been told enough."""

MAX_STUBS_BYTES = 16 * 1024 * 1024
"""Size of the generated `litany_tools`; a hundred tools with long descriptions come to a few hundred KiB."""

_LENGTH = struct.Struct(">I")


def max_frame_from_child(limits: Limits) -> int:
    """The largest frame a child may send, in bytes."""
    return limits.value_bytes + FRAME_OVERHEAD_BYTES


def max_frame_from_host(limits: Limits) -> int:
    """The largest frame the host may send, in bytes: the stubs, the program or an answer."""
    return max(MAX_STUBS_BYTES, limits.source_bytes, limits.value_bytes) + FRAME_OVERHEAD_BYTES


class LocalError(ValueError):
    """This side tried to send what the wire does not carry. `path` names the value, as `$.a[3]`."""

    def __init__(self, message: str, path: str = "$") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path


class RemoteError(ValueError):
    """The other side broke the wire's rules; nothing more of what it sends is read."""


@dataclass(frozen=True, slots=True)
class Warm:
    """The child is confined, has its stubs and waits for its program.

    Attributes:
        layers: the layers of confinement it says hold.
    """

    TAG: ClassVar[int] = 1
    layers: list[str]


@dataclass(frozen=True, slots=True)
class Stubs:
    """What the program will import as `litany_tools`; loaded before the child is warm.

    Attributes:
        code: as `litany_stubs.module.compile_stubs` made it.
    """

    TAG: ClassVar[int] = 7
    code: bytes


@dataclass(frozen=True, slots=True)
class Run:
    """The program to run.

    Attributes:
        source: the program's bytes.
        filename: what tracebacks call it.
        look: say first which of its calls of tools cannot be.
    """

    TAG: ClassVar[int] = 2
    source: bytes
    filename: str
    look: bool


@dataclass(frozen=True, slots=True)
class Warned:
    """What was found in a program's text before it ran, if the host asked for a look.

    Attributes:
        lines: calls of tools that cannot be, one line for each.
    """

    TAG: ClassVar[int] = 9
    lines: list[str]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call.

    Attributes:
        seq: 1, 2, 3, … within the program; not the call's id, which the door mints.
        name: the tool.
        input: its arguments.
    """

    TAG: ClassVar[int] = 3
    seq: int
    name: str
    input: dict[str, JSON]


@dataclass(frozen=True, slots=True)
class Cancel:
    """The program stopped waiting for a call: the host ends it, and answers it as ever.

    The answer may be on its way already; then this changes nothing.

    Attributes:
        seq: which call.
    """

    TAG: ClassVar[int] = 8
    seq: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a call; the fields are those of `litany_stubs.words.Reply`.

    Attributes:
        seq: which call.
        outcome: how it ended.
        exit_code: the tool's.
        stdout: its output.
        stderr: its diagnostics.
        data: its structured output.
        gate: the gate that refused, or "".
        reason: why, or "".
        duration_s: how long it took.
        waited_s: how long of that it waited for its turn.
    """

    TAG: ClassVar[int] = 4
    seq: int
    outcome: str
    exit_code: int
    stdout: bytes
    stderr: bytes
    data: JSON
    gate: str
    reason: str
    duration_s: float
    waited_s: float


@dataclass(frozen=True, slots=True)
class Refused:
    """The policy refused the program.

    Attributes:
        reason: the violations as text, one a line.
    """

    TAG: ClassVar[int] = 5
    reason: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The program is over.

    Attributes:
        exit_code: 0 to 255.
        out_of_memory: True when an uncaught `MemoryError` ended it.
        unread: calls that failed and whose results the program did not look at, by their `seq`.
        unsent: calls that the child's own end refused by their number.
    """

    TAG: ClassVar[int] = 6
    exit_code: int
    out_of_memory: bool
    unread: list[int]
    unsent: int


Message = Stubs | Warm | Run | Warned | Call | Cancel | Answer | Refused | Ended

FROM_HOST: Mapping[int, type[Message]] = {each.TAG: each for each in (Stubs, Run, Answer)}
FROM_CHILD: Mapping[int, type[Message]] = {
    each.TAG: each for each in (Warm, Warned, Call, Cancel, Refused, Ended)
}


class _Field(NamedTuple):
    """What a field of a message must be: of this very type, if any, and whatever the check says besides."""

    name: str
    kind: type | None
    check: Callable[[Any, int], str]


def _is_value(value: JSON, size: int) -> str:
    try:
        check_value(value, size)
    except LocalError as error:
        return str(error)
    return ""


def _is_list_of_text(value: list[object], _size: int) -> str:
    return "" if all(type(each) is str for each in value) else "holds what is not text"


def _is_list_of_numbers(value: list[object], _size: int) -> str:
    return "" if all(type(each) is int for each in value) else "holds what is no whole number"


def _is_name(value: str, _size: int) -> str:
    # A character takes four bytes at most: short names need not be encoded to be measured.
    if len(value) * 4 > MAX_NAME_BYTES and len(value.encode("utf-8", "surrogatepass")) > MAX_NAME_BYTES:
        return f"has over {MAX_NAME_BYTES} bytes"
    return ""


def _is_anything(_value: object, _size: int) -> str:
    return ""


# By the annotation's text: annotations are strings here, and the set is small.
_KINDS: Mapping[str, tuple[type | None, Callable[[Any, int], str]]] = {
    "int": (int, _is_anything),
    "str": (str, _is_anything),
    "bytes": (bytes, _is_anything),
    "bool": (bool, _is_anything),
    "float": (float, _is_anything),
    "list[str]": (list, _is_list_of_text),
    "list[int]": (list, _is_list_of_numbers),
    "dict[str, JSON]": (dict, _is_value),
    "JSON": (None, _is_value),
}


def _field(message: type[Message], name: str, annotation: str) -> _Field:
    kind, check = _KINDS[annotation]
    return _Field(name, kind, _is_name if message is Call and name == "name" else check)


_SHAPES: Mapping[type, tuple[_Field, ...]] = {
    each: tuple(_field(each, field.name, str(field.type)) for field in fields(each))
    for each in (*FROM_HOST.values(), *FROM_CHILD.values())
}


def encode(message: Message, max_frame_bytes: int) -> bytes:
    """The frame of a message.

    Args:
        message: what to send.
        max_frame_bytes: the largest body that the other side takes.

    Raises:
        LocalError: a value outside JSON's domain (its path says where), or a frame over the limit.
    """
    if isinstance(message, Call):
        if fault := _is_name(message.name, 0):
            raise LocalError(f"the tool's name {fault}", path="")
        check_value(message.input, max_frame_bytes)
    elif isinstance(message, Answer):
        check_value(message.data, max_frame_bytes)
    try:
        body: bytes = msgpack.packb([message.TAG, *_values(message)], use_bin_type=True)
    except (ValueError, OverflowError, TypeError, UnicodeEncodeError) as error:
        raise LocalError(f"not for the wire: {error}", path="") from None
    if len(body) > max_frame_bytes:
        raise LocalError(f"{len(body)} bytes encoded, {max_frame_bytes} allowed", path="")
    return _LENGTH.pack(len(body)) + body


def _values(message: Message) -> list[Any]:
    return [getattr(message, field.name) for field in _SHAPES[type(message)]]


def check_value(value: JSON, max_items: int) -> None:
    """Refuse what JSON cannot say.

    Args:
        value: the value.
        max_items: how many values it may hold; one costs a byte at least, so a frame's limit is one for this.

    Raises:
        LocalError: the first offending value, with its path.
    """
    # Breadth first, one level of nesting at a time, without recursion: depth is an attack. Paths cost more
    # than the check, so they are made only once something is wrong.
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        max_items -= len(level)
        if max_items < 0:
            raise LocalError("too large, or it holds itself")
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if item is None or kind is str or kind is bool:
                continue
            if kind is int and -(2**63) <= item < 2**64:
                continue
            if kind is float and math.isfinite(item):
                continue
            if kind is list:
                below += item
            elif kind is dict and all(type(key) is str for key in item):
                below += item.values()
            else:
                raise LocalError(*_fault(value))
        if not below:
            return
        level = below
    raise LocalError(f"nested deeper than {MAX_DEPTH}")


def _fault(value: JSON) -> tuple[str, str]:
    """What is wrong with a value that `check_value` refused, and its path."""
    level: list[tuple[str, Any]] = [("$", value)]
    while level:
        below: list[tuple[str, Any]] = []
        for path, item in level:
            kind = type(item)
            if kind is list:
                below += ((f"{path}[{index}]", each) for index, each in enumerate(item))
            elif kind is dict:
                for key, each in item.items():
                    if type(key) is not str:
                        return f"key {key!r:.80} is not text", path
                    below.append((f"{path}.{key}", each))
            elif kind is int and not -(2**63) <= item < 2**64:
                return "an integer beyond 64 bits; send it as text", path
            elif kind is float and not math.isfinite(item):
                return f"{item} is no JSON number; send null or text", path
            elif item is not None and kind not in {str, bool, int, float}:
                return f"{kind.__name__} is not a JSON value", path
        level = below
    raise AssertionError("a value was refused for no reason")


class Decoder:
    """Frames from bytes that arrive in any pieces.

    Args:
        accepts: the messages the other side may send, by tag (`FROM_HOST` or `FROM_CHILD`).
        max_frame_bytes: the largest body taken; a longer one is refused by its length alone.

    Attributes:
        taken_bytes: the size of all bodies decoded so far.
    """

    def __init__(self, accepts: Mapping[int, type[Message]], max_frame_bytes: int) -> None:
        self._accepts = accepts
        self._max = max_frame_bytes
        self._buffer = bytearray()
        self.taken_bytes = 0

    def feed(self, data: bytes) -> Iterator[Message]:
        """The messages that `data` completes.

        Raises:
            RemoteError: the other side broke the rules; the decoder is of no use afterwards.
        """
        self._buffer += data
        at = 0
        try:
            while len(self._buffer) - at >= _LENGTH.size:
                (length,) = _LENGTH.unpack_from(self._buffer, at)
                if length > self._max:
                    raise RemoteError(f"a frame of {length} bytes; the limit is {self._max}")
                end = at + _LENGTH.size + length
                if len(self._buffer) < end:
                    break
                with memoryview(self._buffer) as view, view[at + _LENGTH.size : end] as body:
                    message = _decode(body, self._accepts)
                at = end
                self.taken_bytes += length
                yield message
        finally:
            del self._buffer[:at]


def _decode(body: memoryview, accepts: Mapping[int, type[Message]]) -> Message:
    try:
        items = msgpack.unpackb(body, raw=False, strict_map_key=True, ext_hook=_refuse_extension)
    except RemoteError:
        raise
    except Exception as error:  # noqa: BLE001 - the set of what msgpack raises on hostile bytes is open
        raise RemoteError(f"not msgpack: {type(error).__name__}") from None
    if type(items) is not list or not items or type(items[0]) is not int or items[0] not in accepts:
        raise RemoteError("no message of this side")
    kind = accepts[items[0]]
    shape = _SHAPES[kind]
    if len(items) != len(shape) + 1:
        raise RemoteError(f"{kind.__name__} has {len(items) - 1} fields, {len(shape)} expected")
    for field, value in zip(shape, items[1:], strict=True):
        if field.kind is not None and type(value) is not field.kind:
            raise RemoteError(
                f"{kind.__name__}.{field.name} is {type(value).__name__}, not {field.kind.__name__}"
            )
        if fault := field.check(value, len(body)):
            raise RemoteError(f"{kind.__name__}.{field.name} {fault}")
    return kind(*items[1:])


def _refuse_extension(code: int, _data: bytes) -> object:
    raise RemoteError(f"msgpack extension type {code}")
