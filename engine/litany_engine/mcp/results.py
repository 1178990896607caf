"""From what a server answered to a capture. Nothing is dropped without a word.

An answer that is not what the protocol says is a fault that names each thing wrong with it, and what can be
read beside that is kept: a text that stands next to a content of an unknown kind is still the tool's text.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from litany_engine.door.calls import Capture
from litany_engine.mcp import wrapped
from litany_engine.mcp.reading import brief, shown
from litany_runtime.outcome import Outcome
from litany_stubs.values import to_json_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from litany_engine.mcp.exchange import Answer
    from litany_stubs.words import JSON

    Keep = Callable[[str, str | bytes], None] | None

MAX_FAULTS = 5
"""Faults of one answer that are told: a content of a thousand parts may have a thousand."""

MAX_ERROR_DATA_CHARS = 2000
"""Characters shown of what a server adds to an error."""


class Expected:
    """What is known of a tool when its answer is read.

    Args:
        name: the tool's name in the workspace.
        server: the server's name.
        output_schema: the output schema as the server says it; None when it says none.
    """

    def __init__(self, name: str, server: str, output_schema: JSON = None) -> None:
        self.name = name
        self.server = server
        self.promises = output_schema is not None
        self.wraps = output_schema is not None and wrapped.is_wrapped(output_schema)


def as_capture(expected: Expected, answer: Answer, keep: Keep) -> Capture:
    """What a call gave.

    Text is stdout, structured content is data. Of a result that is an error the text is stderr, and the exit
    code 1. An image or any other content is kept in the call's record, and stderr names it with its size.

    Args:
        expected: what is known of the tool.
        answer: what its server answered.
        keep: writes a file into the call's record; None when there is none.
    """
    if answer.error is not None and answer.result is None:
        return _failed(expected, answer)
    read = _Reading(answer.faults, keep)
    if isinstance(answer.result, dict):
        read.result(answer.result)
    text = "\n".join(read.texts)
    notes = "".join(f"[{note}]\n" for note in read.notes)
    if read.is_error:
        capture = Capture(stderr=_bytes((f"{text}\n" if text else "") + notes), exit_code=1)
    else:
        capture = Capture(stdout=_bytes(text), stderr=_bytes(notes))
    if read.faults:
        return _unreadable(expected, capture, read.faults)
    try:
        data = to_json_value(read.structured, "$")
    except (TypeError, ValueError, RecursionError) as error:
        return _faulted(expected, capture, f"but its structured content is no JSON: {error}")
    if expected.promises and data is None and not read.is_error:
        return _faulted(
            expected, capture, "but gave no structured content, and its output schema promises some"
        )
    if expected.wraps and not read.is_error and isinstance(data, dict):
        more = sorted(data.keys() - {wrapped.KEY})
        if wrapped.KEY not in data:
            return _faulted(
                expected,
                capture,
                f"but its structured content has no `{wrapped.KEY}`, as its output schema says",
            )
        data = data[wrapped.KEY]
        if more:
            told = (
                f"[structured content has more than `{wrapped.KEY}`: {brief(', '.join(more))}; not shown]\n"
            )
            capture = replace(capture, stderr=capture.stderr + _bytes(told))
    if read.is_bare:
        told_as_json = _bytes(json.dumps(data, ensure_ascii=False))
        if read.is_error:
            capture = replace(capture, stderr=told_as_json + b"\n" + capture.stderr)
        else:
            capture = replace(capture, stdout=told_as_json)
    return replace(capture, data=data)


class _Reading:
    """What can be read of a result, and what is wrong with the rest.

    Attributes:
        faults: what is wrong.
        texts: its texts, in their order.
        notes: a line on each content that is more than text.
        structured: its structured content.
        is_error: whether the tool says that it failed.
        is_bare: whether there is no content besides the structured.
    """

    def __init__(self, faults: tuple[str, ...], keep: Keep) -> None:
        self.faults = list(faults)
        self.texts: list[str] = []
        self.notes: list[str] = []
        self.structured: JSON = None
        self.is_error = False
        self.is_bare = False
        self._keep = keep

    def result(self, result: dict[str, JSON]) -> None:
        """Read the result of a call."""
        kind = result.get("resultType", "complete")
        if kind != "complete":
            self.faults.append(f"its `resultType` is {shown(kind)}: it asks for what is not given here")
        self.is_error = result.get("isError") is True
        if not isinstance(result.get("isError"), bool | None):
            self.faults.append(f"its `isError` is {shown(result['isError'])}, not true or false")
        self.structured = result.get("structuredContent")
        content = result.get("content")
        if isinstance(content, list):
            for number, each in enumerate(content, 1):
                self._content(number, each)
        elif content is not None:
            self.faults.append(f"its `content` is {shown(content)}, not a list")
        elif self.structured is not None:
            self.is_bare = True
            self.notes.append("the answer has structured content alone; it is shown as JSON")
        elif kind == "complete":
            told = "null" if "content" in result else "missing"
            self.faults.append(f"its `content` is {told}, and it has no structured content")

    def _content(self, number: int, content: JSON) -> None:
        if not isinstance(content, dict):
            self.faults.append(f"content {number} is {shown(content)}, not an object")
            return
        kind = content.get("type")
        read = _KINDS.get(kind) if isinstance(kind, str) else None
        if read is not None:
            read(self, number, content)
        elif "type" not in content:
            self.faults.append(f"content {number} has no `type`")
        elif isinstance(kind, str):
            self.faults.append(f"content {number} is of a kind that is not known, {brief(repr(kind))}")
        else:
            self.faults.append(f"the `type` of content {number} is {shown(kind)}, not a text")

    def _text(self, number: int, content: dict[str, JSON]) -> None:
        if self._is_text(number, content, "text"):
            self.texts.append(content["text"])

    def _link(self, number: int, content: dict[str, JSON]) -> None:
        if not self._is_text(number, content, "uri"):
            return
        size = content.get("size")
        told = f", {size} bytes" if isinstance(size, int | float) and not isinstance(size, bool) else ""
        self.notes.append(f"content {number}: a link to {brief(content['uri'])}{told}")

    def _medium(self, number: int, content: dict[str, JSON]) -> None:
        if self._is_text(number, content, "data"):
            what = f"{content['type']} ({brief(content.get('mimeType'))})"
            self.notes.append(self._kept(number, what, content["data"]))

    def _resource(self, number: int, content: dict[str, JSON]) -> None:
        resource = content.get("resource")
        if not isinstance(resource, dict):
            told = f"is {shown(resource)}, not an object" if "resource" in content else "is missing"
            self.faults.append(f"the `resource` of content {number} {told}")
            return
        uri = brief(resource.get("uri"))
        if isinstance(resource.get("text"), str):
            self.texts.append(resource["text"])
            length = len(resource["text"].encode("utf-8", "replace"))
            self.notes.append(f"content {number}: the text of {uri}, {length} bytes")
        elif isinstance(resource.get("blob"), str):
            what = f"{uri} ({brief(resource.get('mimeType'))})"
            self.notes.append(self._kept(number, what, resource["blob"]))
        else:
            self.faults.append(f"the `resource` of content {number} has neither a `text` nor a `blob`")

    def _is_text(self, number: int, content: dict[str, JSON], key: str) -> bool:
        if isinstance(content.get(key), str):
            return True
        told = f"is {shown(content[key])}, not a text" if key in content else "is missing"
        self.faults.append(f"the `{key}` of content {number} {told}")
        return False

    def _kept(self, number: int, what: str, encoded: str) -> str:
        try:
            content = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            return f"content {number}: {what}, {len(encoded)} characters that are no base64, not shown"
        told = f"content {number}: {what}, {len(content)} bytes"
        if self._keep is None:
            return f"{told}, not shown"
        name = f"content-{number}.bin"
        self._keep(name, content)
        return f"{told}, kept as {name} in the call's record"

    KINDS = {  # noqa: RUF012 - a table
        "text": _text,
        "image": _medium,
        "audio": _medium,
        "resource": _resource,
        "resource_link": _link,
    }


_KINDS = _Reading.KINDS


def _failed(expected: Expected, answer: Answer) -> Capture:
    """What a call gave that its server answered with an error of the protocol."""
    error = answer.error if isinstance(answer.error, dict) else {}
    words = error.get("message")
    message = words if isinstance(words, str) else ""
    more = error.get("data")
    data = "" if more is None else f" {json.dumps(more, ensure_ascii=False)[:MAX_ERROR_DATA_CHARS]}"
    told = f"{expected.name}: error {shown(error.get('code'))} of its server: {message}{data}"
    if not answer.faults:
        return Capture.failed(told)
    readable = Capture(stderr=_bytes(f"{told}\n")) if message else Capture()
    return _unreadable(expected, readable, list(answer.faults))


def _unreadable(expected: Expected, capture: Capture, faults: list[str]) -> Capture:
    told = "; ".join(faults[:MAX_FAULTS])
    if len(faults) > MAX_FAULTS:
        told += f"; and {len(faults) - MAX_FAULTS} more"
    kept = " What could be read of it is kept." if capture.stdout or capture.stderr else ""
    reason = (
        f"what server {expected.server!r} answered is no result of a tool call: {told}.{kept} "
        "Whether the call did anything is unknown; the server goes on"
    )
    return replace(capture, outcome=Outcome.FAULTED, reason=reason)


def _faulted(expected: Expected, capture: Capture, what: str) -> Capture:
    reason = f"{expected.name} ran to its end, {what}"
    return replace(capture, outcome=Outcome.FAULTED, reason=reason)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
