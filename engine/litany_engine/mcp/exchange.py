"""The client's half of MCP as a machine without I/O: requests out, lines in, answers where they belong.

It knows no process and no clock, so that every message that a server could send can be tried in a test.

    request ─► pending ─► answered once: a result or an error, with what is wrong with the message
                      └─► given up: the server is told (`notifications/cancelled`), a late answer is dropped

Whatever a server sends, one of three things comes of it:

- it concerns a request in flight: that request is answered, at once, with the faults of the message;
- it is a notification or a request of the server's: it is heard, or declined;
- it is neither: it is passed over, since many servers log to stdout, and remembered, so that a call that gets
  no answer can say what came instead.

An answer that names no request, or that cannot be parsed far enough to know, is given to the one request that
is in flight, as a fault and never as its result: it may have been meant for one that was given up. With
several in flight it could be anyone's, and nothing is guessed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
import trio

from litany_engine.mcp.reading import (
    EDGE_BYTES,
    brief,
    ids_in,
    looks_like_answer,
    looks_like_message,
    read_line,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from litany_stubs.words import JSON

METHOD_NOT_FOUND = -32601
UNSUPPORTED_PROTOCOL_VERSION = -32022

NEVER_CANCELLED = frozenset({"initialize", "server/discover"})
"""Requests that the protocol does not let a client cancel."""

_DECLINED = {
    "roots/list": (-32600, "List roots not supported"),
    "sampling/createMessage": (-32600, "Sampling not supported"),
    "elicitation/create": (-32600, "Elicitation not supported"),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered to one request.

    Attributes:
        result: what stands under `result`; None when there is none.
        error: what stands under `error`; None when there is none.
        faults: what is wrong with the message; empty for a sound one.
    """

    result: JSON = None
    error: JSON = None
    faults: tuple[str, ...] = ()


@dataclass(eq=False, slots=True)
class Request:
    """A request in flight.

    Attributes:
        id: as it stands in the message.
        method: what is asked.
        progress: gets `progress`, `total` and `message` of the server's notifications.
        settled: set once there is an answer, or none will come.
        answer: the answer; None when the connection ended first.
        passed_over: how many lines had been passed over when it was made.
    """

    id: int
    method: str
    progress: Callable[[float, float | None, str], None] | None
    passed_over: int
    settled: trio.Event = field(default_factory=trio.Event)
    answer: Answer | None = None


class Exchange:
    """Requests in flight, and what the lines of a server mean for them.

    Args:
        send: puts one message on its way; what it raises comes out of `request`.

    Attributes:
        stamp: what `_meta` of each request says besides.
        changed: the server said that its list of tools has changed.
    """

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._pending: dict[int, Request] = {}
        self._last_id = 0
        self._passed_over = 0
        self._last_passed_over = ""
        self._overlong_known = False
        self.stamp: Mapping[str, JSON] = {}
        self.changed = False

    def request(
        self,
        method: str,
        params: Mapping[str, JSON] | None = None,
        progress: Callable[[float, float | None, str], None] | None = None,
    ) -> Request:
        """Ask the server for something."""
        self._last_id += 1
        made = Request(self._last_id, method, progress, self._passed_over)
        meta = {**self.stamp, "progressToken": made.id} if progress is not None else dict(self.stamp)
        said = {**(params or {}), "_meta": meta} if meta else dict(params or {})
        message = {"jsonrpc": "2.0", "id": made.id, "method": method}
        self._send(_line({**message, "params": said} if said else message))
        self._pending[made.id] = made
        return made

    def notify(self, method: str, params: Mapping[str, JSON] | None = None) -> None:
        """Tell the server something."""
        message: dict[str, JSON] = {"jsonrpc": "2.0", "method": method}
        self._send(_line({**message, "params": dict(params)} if params else message))

    def give_up(self, request: Request) -> None:
        """Wait no longer for an answer, and tell the server so."""
        if self._pending.pop(request.id, None) is not None and request.method not in NEVER_CANCELLED:
            self.notify("notifications/cancelled", {"requestId": request.id, "reason": "caller cancelled"})

    def close(self) -> None:
        """No more answers will come."""
        for each in self._pending.values():
            each.settled.set()
        self._pending.clear()

    def instead(self, request: Request) -> str:
        """What the server sent since a request was made that is no answer to any; "" for nothing."""
        count = self._passed_over - request.passed_over
        if not count:
            return ""
        lines = "a line that is" if count == 1 else f"{count} lines that are"
        return f"meanwhile it sent {lines} no message, the last: {self._last_passed_over}"

    def receive(self, line: bytes) -> None:
        """Take in one line of the server; never raises."""
        read = read_line(line)
        if isinstance(read.value, dict):
            self._message(read.value, read.faults)
        elif isinstance(read.value, list) and any(isinstance(each, dict) for each in read.value):
            for each in read.value:  # a batch, as the version of 2025-03-26 has it
                if isinstance(each, dict):
                    self._message(each, read.faults)
        elif read.value is None and looks_like_answer(line):
            self._unparsed(line, read.faults)
        else:
            self._pass_over(brief(line[:1000].decode("utf-8", "replace")))

    def overlong(self, part: bytes, limit: int, *, ended: bool) -> None:
        """Take in a part of a line that is too long to be read.

        Args:
            part: its head, or its end.
            limit: the longest that is read.
            ended: whether the part is its end; the head has been taken in before.
        """
        if not ended:
            self._overlong_known = False
        if self._overlong_known:
            return
        ids = ids_in(b'"result":' + part[-EDGE_BYTES:] if ended else part[:EDGE_BYTES])
        waits = not ids and not ended and looks_like_message(part)  # then its end may say whose it is
        whose = [self._pending[each] for each in ids if each in self._pending]
        if not ids and not waits and len(self._pending) == 1:
            whose = list(self._pending.values())
        if len(whose) == 1:
            self._overlong_known = True
            told = f"it is a message of more than {limit} bytes, the most that is read"
            self._settle(whose[0], Answer(faults=(told,)))
        elif ended:
            self._pass_over(f"a message of more than {limit} bytes")

    def _unparsed(self, line: bytes, faults: tuple[str, ...]) -> None:
        ids = ids_in(line)
        named = [self._pending[each] for each in ids if each in self._pending]
        if len(named) == 1 or (not ids and len(self._pending) == 1):
            self._settle((named or list(self._pending.values()))[0], Answer(faults=faults))
        else:
            self._pass_over(brief(line[:1000].decode("utf-8", "replace")))

    def _message(self, message: dict[str, JSON], faults: tuple[str, ...]) -> None:
        number = _id_of(message.get("id"))
        answers = "result" in message or "error" in message
        if answers and number in self._pending:
            self._answer(self._pending[number], message, faults)
        elif answers and ("id" not in message or message["id"] is None or number is None):
            self._nameless(message, faults)
        elif answers:
            if not 0 < (number or 0) <= self._last_id:  # else it is a late or a second answer
                self._pass_over(f"an answer to a request {shown(message['id'])}, which was never made")
        elif isinstance(message.get("method"), str):
            self._heard(message)
        elif number in self._pending and "method" not in message:
            told = "it has neither a result nor an error"
            self._settle(self._pending[number], Answer(faults=(*faults, told)))
        else:
            self._pass_over(brief(msgspec.json.encode(sorted(message)).decode()))

    def _answer(self, request: Request, message: dict[str, JSON], faults: tuple[str, ...]) -> None:
        result, error = message.get("result"), message.get("error")
        found = [*faults]
        if "jsonrpc" not in message:
            found.append("its `jsonrpc` is missing")
        elif message["jsonrpc"] != "2.0":
            found.append(f'its `jsonrpc` is {shown(message["jsonrpc"])}, not "2.0"')
        if error is not None:
            if result is not None:
                found.append("it has both a result and an error")
            found += _error_faults(error)
        elif "result" not in message:
            found.append("its `error` is null")
        elif result is None:
            found.append("its `result` is null")
        elif not isinstance(result, dict):
            found.append(f"its `result` is {shown(result)}, not an object")
        self._settle(request, Answer(result, error, tuple(found)))

    def _nameless(self, message: dict[str, JSON], faults: tuple[str, ...]) -> None:
        error = message.get("error")
        named = "has no `id`" if "id" not in message else f"has the `id` {shown(message['id'])}"
        told = f"it {named}, so it names no request"
        if isinstance(error, dict):
            told += f"; it says: error {shown(error.get('code'))}: {shown(error.get('message'))}"
        if len(self._pending) == 1:
            self._settle(next(iter(self._pending.values())), Answer(faults=(*faults, told)))
        else:
            self._pass_over(f"an answer of which {told}")

    def _heard(self, message: dict[str, JSON]) -> None:
        method, number = message["method"], message.get("id")
        if "id" in message:
            if isinstance(number, str | int) and not isinstance(number, bool):
                self._reply(number, method)
        elif method == "notifications/tools/list_changed":
            self.changed = True
        elif method == "notifications/progress":
            self._progressed(message.get("params"))

    def _reply(self, number: str | int, method: str) -> None:
        reply: dict[str, JSON] = {"jsonrpc": "2.0", "id": number}
        if method == "ping":
            reply["result"] = {}
        else:
            code, words = _DECLINED.get(method, (METHOD_NOT_FOUND, f"{brief(method)} is not supported"))
            reply["error"] = {"code": code, "message": words}
        try:
            self._send(_line(reply))
        except (msgspec.MsgspecError, OverflowError, UnicodeError):
            self._pass_over(f"a request {brief(method)} with an id that cannot be repeated")

    def _progressed(self, params: JSON) -> None:
        """Hand on a report of progress; one that is none is nobody's fault but is nothing to hand on."""
        if not isinstance(params, dict):
            return
        request = self._pending.get(_id_of(params.get("progressToken")) or 0)
        progress, total = _number(params.get("progress")), _number(params.get("total"))
        if request is None or request.progress is None or progress is None:
            return
        words = params.get("message")
        request.progress(progress, total, words if isinstance(words, str) else "")

    def _settle(self, request: Request, answer: Answer) -> None:
        del self._pending[request.id]
        request.answer = answer
        request.settled.set()

    def _pass_over(self, what: str) -> None:
        self._passed_over += 1
        self._last_passed_over = what


def _line(message: Mapping[str, JSON]) -> bytes:
    return msgspec.json.encode(message) + b"\n"


def _id_of(value: JSON) -> int | None:
    """A request's number as a server repeats it: some make a text or a fraction of it."""
    if isinstance(value, str) and len(value) <= 18 and value.isascii() and value.isdecimal():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: JSON) -> float | None:
    """A finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _error_faults(error: JSON) -> list[str]:
    if not isinstance(error, dict):
        return [f"its `error` is {shown(error)}, not an object"]
    found = []
    code, words = error.get("code"), error.get("message")
    if isinstance(code, bool) or not isinstance(code, int):
        found.append(f"the `code` of its error is {shown(code)}, not a whole number")
    if not isinstance(words, str):
        found.append(f"the `message` of its error is {shown(words)}, not a text")
    return found
