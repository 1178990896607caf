"""What a transcript says: its entries, the calls in them, and whether each call has its one answer.

    messages/NNN-<sender>.md     a message to the agent (the user's side)
    messages/NNN-<model>.json    what the model replied: {"content": [blocks], "step": N, "usage": …}
    messages/NNN-tool.json       a result: [{"type": "tool_result", "tool_use_id", "content", "is_error"}];
                                 the last word: {"content": [the same], "final": true}

One counter numbers all of them. A provider takes a history only when every `tool_use` is answered, once,
before anything else is said; so that is checked over the whole of it. Nothing here does I/O, and nothing is
kept: what is unanswered is read from the entries each time, so settling twice changes nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from litany_stubs.words import JSON

TOOL = "tool"
"""The origin of tool results; no model may be called that."""

ORIGIN_SHAPE = "1 to 120 ASCII letters, digits or _ . : = + @ -, the first a letter or a digit"

_NAME = re.compile(r"([0-9]{3}|[1-9][0-9]{3,})-([A-Za-z0-9][A-Za-z0-9_.:=+@-]{0,119})\.(md|json)", re.ASCII)


class TranscriptError(RuntimeError):
    """A transcript cannot be read, or not be gone on with; the message says where, and what to do."""


class Side(StrEnum):
    """Who speaks in an entry."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call that a model's reply asks for.

    Attributes:
        id: the call's id, as the provider gave it.
        name: the tool's name as asked.
        input: the arguments as asked.
    """

    id: str
    name: str
    input: JSON


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model reads for one call.

    Attributes:
        tool_use_id: the id of the call it answers.
        text: the envelope, or the reason why there is none.
        is_error: whether the call did not do what was asked.
    """

    tool_use_id: str
    text: str
    is_error: bool

    def block(self) -> dict[str, JSON]:
        """The block of content that a provider is sent."""
        return {
            "type": "tool_result",
            "tool_use_id": self.tool_use_id,
            "content": [{"type": "text", "text": self.text}],
            "is_error": self.is_error,
        }


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry.

    Attributes:
        number: its place.
        origin: the sender, the model, or `tool`.
        side: who speaks.
        content: the blocks of a reply or of results; the text of a message.
        step: of a reply: the number of the step that its calls leave their records in.
        final: of a result: it is the last word, which the model need not be asked about.
    """

    number: int
    origin: str
    side: Side
    content: JSON
    step: int = 0
    final: bool = False

    @property
    def name(self) -> str:
        """Its file's name."""
        return entry_name(self.number, self.origin, self.side)

    def calls(self) -> tuple[ToolUse, ...]:
        """The calls that it asks for, in the order in which they are to be answered."""
        return tool_uses(self.content) if self.side is Side.ASSISTANT else ()

    def answered(self) -> tuple[str, ...]:
        """The ids of the calls that it answers."""
        return tuple(block["tool_use_id"] for block in self.content) if self.side is Side.TOOL else ()


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a transcript stands.

    Attributes:
        fault: why no provider would take it and no new entry can mend it, or "".
        reply: the last reply of the model, or None.
        unanswered: the calls of that reply without a result, in the order of their emission.
        model_is_due: the last word is neither the model's nor a final result, so that it is the model's turn.
        finished: the last word is a final result.
    """

    fault: str
    reply: Entry | None
    unanswered: tuple[ToolUse, ...]
    model_is_due: bool
    finished: bool = False


def standing(entries: Sequence[Entry]) -> Standing:
    """Check the pairing of calls and results over a whole history, and say where it stands."""
    reply: Entry | None = None
    open_calls: dict[str, ToolUse] = {}
    fault = ""
    for entry in entries:
        if entry.side is Side.TOOL:
            for answered in entry.answered():
                if open_calls.pop(answered, None) is None:
                    fault = fault or f"{entry.name} answers {answered!r}, which is not open there"
            continue
        if open_calls:
            fault = fault or f"{entry.name} comes before the answer to {', '.join(map(repr, open_calls))}"
            open_calls = {}
        if entry.side is Side.ASSISTANT:
            reply = entry
            open_calls = {call.id: call for call in entry.calls()}
    sound = bool(entries) and not fault and not open_calls
    finished = sound and entries[-1].final
    due = sound and not finished and entries[-1].side is not Side.ASSISTANT
    return Standing(fault, reply, tuple(open_calls.values()), due, finished)


def history(entries: Iterable[Entry]) -> list[dict[str, JSON]]:
    """A transcript as the messages that a provider is sent: two sides, by turns.

    What is said to the model between two replies (results, messages) is one message of the user's side.
    """
    messages: list[dict[str, Any]] = []
    for entry in entries:
        role = "assistant" if entry.side is Side.ASSISTANT else "user"
        blocks = [{"type": "text", "text": entry.content}] if entry.side is Side.USER else entry.content
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        else:
            messages.append({"role": role, "content": [*blocks]})
    return messages


def tool_uses(content: Iterable[JSON]) -> tuple[ToolUse, ...]:
    """The calls in a reply's blocks, in their order; other blocks are passed over."""
    return tuple(
        ToolUse(block["id"], block["name"], block.get("input", {}))
        for block in content
        if isinstance(block, dict) and block.get("type") == "tool_use"
    )


def reply_fault(content: object) -> str:
    """Why a reply's content cannot be taken into a transcript, or ""."""
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        return "the content of a reply is a list of blocks, each an object"
    for block in content:
        if block.get("type") == "tool_use":
            for key in ("id", "name"):
                if not isinstance(block.get(key), str) or not block[key]:
                    return (
                        f"a tool_use block has no {key}: each has an id and a name, texts that are not empty"
                    )
    twice = [call_id for call_id, times in Counter(use.id for use in tool_uses(content)).items() if times > 1]
    if twice:
        return f"two tool_use blocks have the id {twice[0]!r}: no result could say which it answers"
    return ""


def origin_fault(origin: object, side: Side) -> str:
    """Why a sender or a model cannot stand in an entry's name, or ""."""
    if not isinstance(origin, str) or not _NAME.fullmatch(f"001-{origin}.md"):
        shown = ascii(origin)[:80]
        return f"{shown} cannot name an entry's origin; use {ORIGIN_SHAPE}"
    if (origin == TOOL) != (side is Side.TOOL):
        return f"the origin {TOOL!r} is that of tool results, and of nothing else"
    return ""


def entry_name(number: int, origin: str, side: Side) -> str:
    """The file name of an entry."""
    return f"{number:03d}-{origin}.{'md' if side is Side.USER else 'json'}"


def number_of(name: str) -> int | None:
    """The number in an entry's file name; None for a file that is no entry."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found and int(found[1]) else None


def read_entry(name: str, body: bytes) -> Entry:
    """Read one entry.

    Raises:
        TranscriptError: it is none, or its body is not what its name says.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise TranscriptError(f"messages/{name} is no entry of a transcript")
    number, origin, extension = int(found[1]), found[2], found[3]
    if extension == "md":
        return Entry(number, origin, Side.USER, body.decode("utf-8", "replace"))
    try:
        content: Any = json.loads(body)
        return _results(number, content) if origin == TOOL else _reply(number, origin, content)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TranscriptError(f"messages/{name} is damaged: {error}") from error


def _reply(number: int, origin: str, content: Any) -> Entry:
    step = content.get("step", 0)
    if fault := reply_fault(content["content"]):
        raise ValueError(fault)
    return Entry(number, origin, Side.ASSISTANT, content["content"], step if isinstance(step, int) else 0)


def _results(number: int, content: Any) -> Entry:
    blocks = content["content"] if isinstance(content, dict) else content
    if not isinstance(blocks, list) or not all(isinstance(block["tool_use_id"], str) for block in blocks):
        raise ValueError("it has no list of tool results")
    final = isinstance(content, dict) and content.get("final") is True
    return Entry(number, TOOL, Side.TOOL, blocks, final=final)
