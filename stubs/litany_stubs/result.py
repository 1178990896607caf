"""What a stub returns: a failing tool is a value, and its streams are really split."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Generic, Never, TypeVar, final

if TYPE_CHECKING:
    from litany_stubs.words import Refusal, Reply

T_co = TypeVar("T_co", covariant=True)

SHOWN_CHARS = 200
"""Characters of a stream or of data that a `repr` or an exception shows: a message, never a flood."""

SHOWN_WAIT_S = 0.05
"""Seconds of waiting that a `repr` mentions: less is how long any call may wait on a busy machine."""

_NOTHING: Any = object()

_unread: dict[int, None] = {}


def unread() -> list[int]:
    """Return the numbers of the calls that failed and whose results nobody has asked how they ended."""
    return list(_unread)


class _Fixed(type):
    """A class that a program cannot patch."""

    def __setattr__(cls, name: str, value: object) -> None:
        # Dunder names are Python's own bookkeeping (`__parameters__`), and a program cannot say them.
        if not name.startswith("__"):
            raise AttributeError(f"{cls.__name__}.{name} is read-only")
        super().__setattr__(name, value)

    def __delattr__(cls, name: str) -> Never:
        raise AttributeError(f"{cls.__name__}.{name} is read-only")


@final
class Unset(metaclass=_Fixed):
    """The type of `UNSET`, the default of every optional parameter: the argument is not sent at all.

    None is an argument like any other and is sent as null where the tool's schema allows it.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET = Unset()


@final
class Result(Generic[T_co], metaclass=_Fixed):
    """What one call came back as.

    Attributes:
        stdout: the tool's output as text; bytes that are no UTF-8 show as U+FFFD, see `stdout_bytes`.
        stderr: the tool's diagnostics as text, or the reason of a refusal.
        stdout_bytes: the output as it came.
        stderr_bytes: the diagnostics as they came.
        exit_code: 0 for success; 126 refused, 124 timed out, 125 harness fault, else the tool's own.
        ok: True when the exit code is 0.
        outcome: `completed`, `failed`, `timed_out`, `faulted`, `refused`, `stopped` or `killed`.
        data: the tool's structured output, or None.
        refusal: why the call was not run, with `gate` and `reason`; None when it ran.
        duration_s: seconds that it took, its wait for a turn included.
        waited_s: seconds of these that it waited for other calls to end.
    """

    __slots__ = ("_data", "_parse", "_reply", "_stderr", "_stdout")

    _reply: Reply
    _parse: bool
    _stdout: str | None
    _stderr: str | None
    _data: Any

    def __init__(self, reply: Reply, *, parse: bool = False) -> None:
        """Wrap a reply.

        Args:
            reply: what the door answered.
            parse: the tool declares an output schema, so its stdout is read as JSON when it gave no data.
        """
        fix = object.__setattr__
        fix(self, "_reply", reply)
        fix(self, "_parse", parse)
        fix(self, "_stdout", None)
        fix(self, "_stderr", None)
        fix(self, "_data", _NOTHING)
        if reply.exit_code and reply.number:
            _unread[reply.number] = None

    def _seen(self) -> None:
        """Note that the program asked how the call ended; its output alone does not tell a failure."""
        if self._reply.exit_code:
            _unread.pop(self._reply.number, None)

    @property
    def stdout(self) -> str:
        """The tool's output as text."""
        if self._stdout is None:
            object.__setattr__(self, "_stdout", self._reply.stdout.decode("utf-8", "replace"))
        return self._stdout or ""

    @property
    def stderr(self) -> str:
        """The tool's diagnostics as text, or the reason of a refusal."""
        self._seen()
        if self._stderr is None:
            text = self._reply.stderr.decode("utf-8", "replace")
            if not text and self._reply.refusal is not None:
                text = self._reply.refusal.reason
            object.__setattr__(self, "_stderr", text)
        return self._stderr or ""

    @property
    def stdout_bytes(self) -> bytes:
        """The output as it came."""
        return self._reply.stdout

    @property
    def stderr_bytes(self) -> bytes:
        """The diagnostics as they came."""
        self._seen()
        return self._reply.stderr

    @property
    def exit_code(self) -> int:
        """0 for success."""
        self._seen()
        return self._reply.exit_code

    @property
    def ok(self) -> bool:
        """Whether the exit code is 0."""
        self._seen()
        return self._reply.exit_code == 0

    @property
    def outcome(self) -> str:
        """How the call ended, one of the closed set of outcomes."""
        self._seen()
        return self._reply.outcome

    @property
    def refusal(self) -> Refusal | None:
        """Why the call was not run, or None when it ran."""
        self._seen()
        return self._reply.refusal

    @property
    def duration_s(self) -> float:
        """Seconds that the call took, its wait for a turn included."""
        return self._reply.duration_s

    @property
    def waited_s(self) -> float:
        """Seconds of these that it waited for other calls to end: those of its tool may run one at a time."""
        return self._reply.waited_s

    @property
    def data(self) -> T_co | None:
        """The structured output; stdout read as JSON when the tool's schema says so; else None."""
        if self._data is _NOTHING:
            data = self._reply.data
            if data is None and self._parse and not self._reply.exit_code:
                try:
                    data = json.loads(self._reply.stdout)
                except (ValueError, RecursionError):
                    data = None
            object.__setattr__(self, "_data", data)
        found: T_co | None = self._data
        return found

    def json(self) -> Any:
        """Read stdout as JSON.

        Raises:
            ValueError: stdout is not JSON; the message shows its beginning.
        """
        try:
            return json.loads(self._reply.stdout)
        except ValueError as error:
            raise ValueError(
                f"stdout is not JSON ({error}): {_clip(self.stdout)}; exit code {self.exit_code}"
                + (f", stderr: {_clip(self.stderr)}" if self.stderr else "")
            ) from None

    def check(self) -> Result[T_co]:
        """Return this result when it is ok.

        Raises:
            ToolError: it is not; the exception carries this result as `result`.
        """
        if not self.ok:
            raise ToolError(self)
        return self

    def __repr__(self) -> str:
        parts = [f"exit_code={self.exit_code}"]
        if self.refusal is not None:
            parts.append(f"refusal={self.refusal.gate}: {_clip(self.refusal.reason)}")
        elif self.outcome not in {"completed", "failed"}:
            parts.append(f"outcome={self.outcome}")
        if self._reply.stdout:
            parts.append(f"stdout={_clip_bytes(self._reply.stdout)}")
        if self._reply.stderr:
            parts.append(f"stderr={_clip_bytes(self._reply.stderr)}")
        if self._reply.data is not None:
            parts.append(f"data={_clip_data(self._reply.data)}")
        if self._reply.waited_s >= SHOWN_WAIT_S:
            parts.append(f"duration_s={self.duration_s:.3g}, waited_s={self.waited_s:.3g}")
        return f"Result({', '.join(parts)})"

    def __setattr__(self, name: str, value: object) -> Never:
        raise AttributeError(f"a Result is read-only: {name} cannot be set")

    def __delattr__(self, name: str) -> Never:
        raise AttributeError(f"a Result is read-only: {name} cannot be deleted")


class ToolError(RuntimeError):
    """What `Result.check()` raises.

    Attributes:
        result: the result that was not ok.
    """

    __module__ = "litany_tools"  # where a program has it from, and what its tracebacks say

    def __init__(self, result: Result[Any]) -> None:
        self.result = result
        if result.refusal is not None:
            text = f"refused by {result.refusal.gate}: {_clip(result.refusal.reason, 2000)}"
        else:
            ended = "" if result.outcome == "failed" else f" ({result.outcome})"
            said = result.stderr.strip() or result.stdout.strip()
            text = f"exit code {result.exit_code}{ended}" + (f": {_clip(said)}" if said else "")
        super().__init__(text)


def _clip(text: str, limit: int = SHOWN_CHARS) -> str:
    return repr(text) if len(text) <= limit else f"{text[:limit]!r}... ({len(text):,} characters)"


def _clip_bytes(raw: bytes) -> str:
    if len(raw) <= SHOWN_CHARS:
        return repr(raw.decode("utf-8", "replace"))
    return f"{raw[:SHOWN_CHARS].decode('utf-8', 'replace')!r}... ({len(raw):,} bytes)"


def _clip_data(data: Any) -> str:
    # A repr of the whole is made only when the whole is small: a big value is named by its kind and size.
    if isinstance(data, dict) and (len(data) > 20 or not all(map(_is_small, data.values()))):
        keys = ", ".join(map(_clip_key, list(data)[:10]))
        return f"<dict of {len(data):,}: {keys}{', ...' if len(data) > 10 else ''}>"
    if isinstance(data, list) and (len(data) > 10 or not all(map(_is_small, data))):
        return f"<list of {len(data):,}>"
    text = repr(data) if not isinstance(data, str) else _clip(data)
    return text if len(text) <= 2 * SHOWN_CHARS else text[: 2 * SHOWN_CHARS] + "..."


def _clip_key(key: str) -> str:
    return repr(key) if len(key) <= 20 else repr(key[:20]) + "..."


def _is_small(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= 40
    if isinstance(value, int):
        return value.bit_length() <= 64
    return not isinstance(value, (dict, list)) or not value
