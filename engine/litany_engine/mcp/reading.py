"""One line of a server, read as far as it can be read.

A server is a stranger, and not only a hostile one cuts a text within an emoji or writes bytes of another
encoding. What is wrong with a line is named, and what can be read beside it is kept: an answer that is passed
over in silence would leave its call waiting until the deadline.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from litany_stubs.words import JSON

MAX_TOLD_CHARS = 120
"""Characters shown of a server's own words in a fault."""

_RESULT = re.compile(rb'(?<!\\)"(?:result|error)"\s*:')
EDGE_BYTES = 128
"""How near to an end of a line its request's id is looked for.

Every writer of JSON puts the `id` of an answer before or behind the result; what lies within is content."""

_BOM = b"\xef\xbb\xbf"
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_ID = re.compile(rb'(?<!\\)"id"\s*:\s*(?:"(\d{1,18})"|(\d{1,18})(?![\d.eE]))')


@dataclass(frozen=True, slots=True)
class Line:
    """What a line says.

    Attributes:
        value: the JSON value, with what could not be read replaced; None when there is none.
        faults: what is wrong with it; empty for a sound line.
    """

    value: JSON
    faults: tuple[str, ...] = ()


def read_line(line: bytes) -> Line:
    """Read one line as JSON; never raises."""
    faults: list[str] = []
    line = line.removeprefix(_BOM)
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        faults.append(f"byte {error.start} of it is not UTF-8")
        text = line.decode("utf-8", "replace")
    try:
        value = _parse(text, faults)
    except RecursionError:
        return Line(None, (*faults, "it is nested too deep"))
    except json.JSONDecodeError as error:
        return Line(None, (*faults, f"it is not JSON: {brief(error)}"))
    except ValueError:
        return Line(None, (*faults, "a number in it has too many digits to be read"))
    if _SURROGATE_ESCAPE.search(line):
        try:
            value = _without_surrogates(value, faults)
        except RecursionError:
            return Line(None, (*faults, "it is nested too deep"))
    return Line(value, tuple(faults))


def _parse(text: str, faults: list[str]) -> JSON:
    twice: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in items:
            if key in found and not twice:
                twice.append(key)
            found[key] = value
        return found

    try:
        value = json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        if "control character" not in error.msg:
            raise
        twice.clear()
        value = json.loads(text, object_pairs_hook=pairs, strict=False)
        faults.append("a text in it has a control character that is not escaped")
    if twice:
        faults.append(f"an object in it has the key {brief(repr(twice[0][:80]))} twice")
    return value


def _without_surrogates(value: JSON, faults: list[str]) -> JSON:
    """The same value with each lone surrogate as its escape: there is no UTF-8 for it."""
    if isinstance(value, str):
        found = _SURROGATE.search(value)
        if found is None:
            return value
        told = f"a text in it has a lone surrogate, \\u{ord(found.group()):04x}"
        if told not in faults and len(faults) < 5:
            faults.append(told)
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [_without_surrogates(each, faults) for each in value]
    if isinstance(value, dict):
        return {
            _without_surrogates(key, faults): _without_surrogates(each, faults) for key, each in value.items()
        }
    return value


def looks_like_message(line: bytes) -> bool:
    """Whether a line begins as a message does."""
    return line.removeprefix(_BOM).lstrip()[:1] == b"{"


def looks_like_answer(line: bytes) -> bool:
    """Whether a line that is no JSON was meant as an answer, and not as a word in a log."""
    return (
        looks_like_message(line)
        and b'"jsonrpc"' in line
        and (b'"result"' in line or b'"error"' in line)
        and b'"method"' not in line[:EDGE_BYTES]
    )


def ids_in(line: bytes) -> list[int]:
    """The request's id that a line which cannot be parsed names, if it does: before or behind the result."""
    found = [(match.start(), int(match.group(1) or match.group(2))) for match in _ID.finditer(line)]
    result = _RESULT.search(line)
    if found and found[0][0] < EDGE_BYTES and (result is None or found[0][0] < result.start()):
        return [found[0][1]]
    if found and found[-1][0] > len(line) - EDGE_BYTES and result is not None:
        return [found[-1][1]]
    return []


def brief(words: object) -> str:
    """Words of a server in a message of ours: one line, bounded, printable."""
    text = " ".join(str(words)[: 8 * MAX_TOLD_CHARS].encode("utf-8", "backslashreplace").decode().split())
    text = "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in text)
    return text if len(text) <= MAX_TOLD_CHARS else f"{text[:MAX_TOLD_CHARS]} …"


def shown(value: JSON) -> str:
    """A value of a server in a message of ours."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
        return "a huge number"
    return brief(json.dumps(value, ensure_ascii=False))
