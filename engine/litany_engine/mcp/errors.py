"""What can be wrong with a connected server; the message names it and says what to do."""

from __future__ import annotations


class ServerError(RuntimeError):
    """A server that cannot be used: it does not start, breaks the protocol, or offers what makes no tool."""
