"""Whether the protocol's own library is there: it is an extra, since most workspaces have no use for it."""

from __future__ import annotations

from importlib.util import find_spec

INSTALL = "pip install 'litany[mcp]'"


class SdkMissingError(RuntimeError):
    """The MCP SDK is not installed; the message says how to mend it."""


def need_sdk(what: str) -> None:
    """Say in one line what is missing, instead of failing somewhere inside an import.

    Args:
        what: what needs it.

    Raises:
        SdkMissingError: it is not installed.
    """
    if find_spec("mcp") is None or find_spec("mcp_types") is None:
        raise SdkMissingError(f"{what} needs the MCP SDK (mcp 2.x), which is not installed: {INSTALL}")
