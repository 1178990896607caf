r"""One reply as one line of JSON, which is what `litany invoke --json` prints; and streams in any JSON.

A stream is text when it is UTF-8, and else base64, which a key beside it says. So a reader with `jq` sees the
output, and no byte is lost: in a reply, in a record and in everything else that has streams.

    {"outcome": "completed", "exit_code": 0,
     "stdout": "hello\n",
     "stderr": "/w==", "stderr_encoding": "base64",
     "data": null, "refusal": null}
"""

from __future__ import annotations

import base64
import binascii
import json
from math import inf
from typing import Any

from litany_stubs.words import Refusal, Reply


class ReplyFormatError(ValueError):
    """The text is no reply; the message says what is wrong with it."""


def stream_fields(name: str, raw: bytes) -> dict[str, str]:
    """Return the fields that hold a stream in a JSON object: its name, and `<name>_encoding` for base64."""
    try:
        return {name: raw.decode("utf-8")}
    except UnicodeDecodeError:
        return {name: base64.b64encode(raw).decode("ascii"), f"{name}_encoding": "base64"}


def decode_stream(text: str, encoding: str) -> bytes:
    """Undo `stream_fields`: of the text of a stream, and of its encoding, `utf-8` where nothing is said.

    Raises:
        ReplyFormatError: an encoding of another name, or text that is not in it.
    """
    try:
        if encoding == "utf-8":
            return text.encode("utf-8")
        if encoding == "base64":
            return base64.b64decode(text, validate=True)
    except (UnicodeEncodeError, binascii.Error, ValueError) as error:
        raise ReplyFormatError(f"a stream is not {encoding}: {error}") from None
    raise ReplyFormatError(f"a stream's encoding is {encoding!r}; it must be 'utf-8' or 'base64'")


def reply_to_object(reply: Reply) -> dict[str, Any]:
    """Return a reply as a JSON object."""
    refusal = reply.refusal
    return {
        "outcome": str(reply.outcome),
        "exit_code": reply.exit_code,
        **stream_fields("stdout", reply.stdout),
        **stream_fields("stderr", reply.stderr),
        "data": reply.data,
        "duration_s": round(reply.duration_s, 6),
        "waited_s": round(reply.waited_s, 6),
        "refusal": None if refusal is None else {"gate": refusal.gate, "reason": refusal.reason},
    }


def reply_from_object(found: Any) -> Reply:
    """Undo `reply_to_object`; keys of other names are left alone, so that a record may hold more.

    Raises:
        ReplyFormatError: a key is missing or of another type.
    """
    if not isinstance(found, dict):
        raise ReplyFormatError(f"a reply is a JSON object, not {type(found).__name__}")
    refusal = found.get("refusal")
    if refusal is not None:
        if not isinstance(refusal, dict):
            raise ReplyFormatError("refusal must be an object with gate and reason, or null")
        refusal = Refusal(gate=_take(refusal, "gate", str), reason=_take(refusal, "reason", str))
    return Reply(
        outcome=_take(found, "outcome", str),
        exit_code=_take(found, "exit_code", int),
        stdout=_take_stream(found, "stdout"),
        stderr=_take_stream(found, "stderr"),
        data=found.get("data"),
        refusal=refusal,
        duration_s=_take_seconds(found, "duration_s"),
        waited_s=_take_seconds(found, "waited_s"),
    )


def encode_reply(reply: Reply) -> str:
    """Return a reply as one line of JSON, in ASCII so that no terminal or pipe can spoil it.

    Raises:
        ValueError: `data` is outside JSON's domain.
    """
    return json.dumps(reply_to_object(reply), allow_nan=False, separators=(",", ":"))


def decode_reply(text: str | bytes) -> Reply:
    """Read what `encode_reply` wrote.

    Raises:
        ReplyFormatError: it is not JSON, or not a reply.
    """
    try:
        found = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ReplyFormatError(f"not JSON: {error}") from None
    return reply_from_object(found)


def _no_constant(name: str) -> Any:
    raise ReplyFormatError(f"{name} is no JSON value")


def _take_stream(found: dict[str, Any], name: str) -> bytes:
    key = f"{name}_encoding"
    return decode_stream(_take(found, name, str), _take(found, key, str) if key in found else "utf-8")


def _take_seconds(found: dict[str, Any], key: str) -> float:
    """A time; one that is not there, as in what others wrote, is none."""
    seconds = found.get(key, 0)
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < inf:
        raise ReplyFormatError(f"{key} must be seconds, 0 or more")
    return float(seconds)


def _take(found: dict[str, Any], key: str, kind: type) -> Any:
    value = found.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ReplyFormatError(f"{key} must be {kind.__name__}, not {type(value).__name__}")
    return value
