"""From what a server answered to a capture. Nothing is dropped without a word."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

import mcp_types

from litany_engine.door.calls import Capture
from litany_engine.door.in_flight import faulted
from litany_stubs.values import to_json_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from litany_stubs.words import ToolDeclaration


def as_capture(
    declaration: ToolDeclaration,
    result: mcp_types.CallToolResult,
    keep: Callable[[str, str | bytes], None] | None,
) -> Capture:
    """What a call gave.

    Text is stdout, structured content is data, an error is exit code 1. An image or any other content is
    kept in the call's record, and stderr names it with its size.

    Args:
        declaration: the tool as it was registered.
        result: what its server answered.
        keep: writes a file into the call's record; None when there is none.
    """
    texts: list[str] = []
    notes: list[str] = []
    for number, each in enumerate(result.content, 1):
        text = _text_of(each)
        if text is not None:
            texts.append(text)
        if not isinstance(each, mcp_types.TextContent):
            notes.append(_note(number, each, keep))
    try:
        data = to_json_value(result.structured_content, "$")
    except (TypeError, ValueError, RecursionError) as error:
        return faulted(f"{declaration.name} ran to its end, but its structured content is no JSON: {error}")
    if declaration.output_schema is not None and data is None and not result.is_error:
        return faulted(
            f"{declaration.name} ran to its end, but gave no structured content, and its output schema "
            "promises some"
        )
    return Capture(
        stdout="\n".join(texts).encode("utf-8", "backslashreplace"),
        stderr="".join(f"[{note}]\n" for note in notes).encode("utf-8", "backslashreplace"),
        exit_code=1 if result.is_error else 0,
        data=data,
    )


def _text_of(content: mcp_types.ContentBlock) -> str | None:
    if isinstance(content, mcp_types.TextContent):
        return content.text
    if isinstance(content, mcp_types.EmbeddedResource) and isinstance(
        content.resource, mcp_types.TextResourceContents
    ):
        return content.resource.text
    return None


def _note(
    number: int, content: mcp_types.ContentBlock, keep: Callable[[str, str | bytes], None] | None
) -> str:
    """What a content that is no plain text is, in a line."""
    if isinstance(content, mcp_types.ResourceLink):
        told = "" if content.size is None else f", {content.size} bytes"
        return f"content {number}: a link to {content.uri}{told}"
    if isinstance(content, mcp_types.EmbeddedResource):
        resource = content.resource
        if isinstance(resource, mcp_types.TextResourceContents):
            length = len(resource.text.encode("utf-8", "replace"))
            return f"content {number}: the text of {resource.uri}, {length} bytes"
        return _kept(number, f"{resource.uri} ({resource.mime_type})", resource.blob, keep)
    if isinstance(content, mcp_types.ImageContent | mcp_types.AudioContent):
        return _kept(number, f"{content.type} ({content.mime_type})", content.data, keep)
    size = len(content.model_dump_json().encode())
    return f"content {number}: {content.type}, {size} bytes, not shown"


def _kept(number: int, what: str, encoded: str, keep: Callable[[str, str | bytes], None] | None) -> str:
    try:
        content = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return f"content {number}: {what}, {len(encoded)} characters that are no base64, not shown"
    told = f"content {number}: {what}, {len(content)} bytes"
    if keep is None:
        return f"{told}, not shown"
    name = f"content-{number}.bin"
    keep(name, content)
    return f"{told}, kept as {name} in the call's record"
