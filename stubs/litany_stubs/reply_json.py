r"""One reply as one line of JSON: what `litany invoke --json` prints and what a record holds.

Streams are text when they are UTF-8 and base64 when they are not; the flag beside each says which. So a
reader with `jq` sees the output, and no byte is lost.

    {"outcome": "completed", "exit_code": 0,
     "stdout": "hello\n", "stdout_encoding": "utf-8",
     "stderr": "", "stderr_encoding": "utf-8",
     "data": null, "refusal": null}
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from litany_stubs.words import Refusal, Reply


class ReplyFormatError(ValueError):
    """The text is no reply; the message says what is wrong with it."""


def encode_stream(raw: bytes) -> tuple[str, str]:
    """Return a stream as text and the name of its encoding, `utf-8` or `base64`."""
    try:
        return raw.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return base64.b64encode(raw).decode("ascii"), "base64"


def decode_stream(text: str, encoding: str) -> bytes:
    """Undo `encode_stream`.

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
    stdout, stdout_encoding = encode_stream(reply.stdout)
    stderr, stderr_encoding = encode_stream(reply.stderr)
    refusal = reply.refusal
    return {
        "outcome": str(reply.outcome),
        "exit_code": reply.exit_code,
        "stdout": stdout,
        "stdout_encoding": stdout_encoding,
        "stderr": stderr,
        "stderr_encoding": stderr_encoding,
        "data": reply.data,
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
        stdout=decode_stream(_take(found, "stdout", str), _take(found, "stdout_encoding", str)),
        stderr=decode_stream(_take(found, "stderr", str), _take(found, "stderr_encoding", str)),
        data=found.get("data"),
        refusal=refusal,
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


def _take(found: dict[str, Any], key: str, kind: type) -> Any:
    value = found.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ReplyFormatError(f"{key} must be {kind.__name__}, not {type(value).__name__}")
    return value
