"""Program text between files, JSON and the runtime: bytes in a file, text in a call, bytes for the parser.

A call's input is text. The parser that reads the program in the child takes bytes, and believes an encoding
declared on the first two lines (PEP 263). So text that declares one is encoded in it, and a file that
declares one comes through a call unchanged.
"""

from __future__ import annotations

import codecs
import io
import tokenize
from typing import TYPE_CHECKING

from litany_stubs.words import Refusal

if TYPE_CHECKING:
    from pathlib import Path


class SourceError(ValueError):
    """A program file that cannot be had as text; the message is one line with file and place."""


class NoSourceError(SourceError):
    """There is no such program file, or it cannot be opened."""


def read_bytes(path: Path, max_bytes: int) -> bytes:
    """Read a program file as it is.

    Raises:
        NoSourceError: it cannot be opened. One that is too large is cut just above `max_bytes`.
    """
    try:
        with path.open("rb") as file:
            return file.read(max_bytes + 1)
    except OSError as error:
        raise NoSourceError(f"{path}: cannot be read: {error.strerror}") from error


def read_source(path: Path, max_bytes: int) -> str:
    """Read a program file as text.

    Args:
        path: the file.
        max_bytes: the largest that is read.

    Raises:
        SourceError: it cannot be opened, is too large, or is not in the encoding it declares.
    """
    return decode_source(read_bytes(path, max_bytes), str(path), max_bytes)


def decode_source(content: bytes, name: str, max_bytes: int) -> str:
    """Make text of a program's bytes.

    Raises:
        SourceError: it is too large, or is not in the encoding it declares.
    """
    if len(content) > max_bytes:
        raise SourceError(
            f"{name}: the program is larger than {max_bytes} bytes, the limit `source` in litany.toml"
        )
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SourceError(
            f"{name}:{line}: byte 0x{content[error.start]:02x} is not {error.encoding}; save the file as "
            "UTF-8, or declare its encoding on the first line (PEP 263)"
        ) from error
    except (SyntaxError, LookupError) as error:
        first = content.split(b"\n", 1)[0][:80]
        raise SourceError(f"{name}:1: no encoding that Python knows, or not UTF-8: {first!r}") from error


def encode_source(text: str) -> bytes | Refusal:
    """Make bytes of a program's text, in the encoding that it declares, UTF-8 otherwise."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(text.encode("utf-8", "replace")).readline)
    except (SyntaxError, LookupError):
        encoding = "utf-8"  # the parser says what is wrong with the declaration, with its line
    try:
        return text.encode("utf-8" if encoding == "utf-8-sig" else encoding)
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        where = f"character U+{ord(text[error.start]):04X} on line {line}"
        named = codecs.lookup(encoding).name
        return Refusal(
            "policy", f"{where} is not in {named}, the program's encoding; take it out, or that declaration"
        )
