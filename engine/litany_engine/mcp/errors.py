"""What can be wrong with a connected server; the message names it and says what to do."""

from __future__ import annotations

from litany_runtime.outcome import EXIT_CODES, Outcome


class ServerError(RuntimeError):
    """A server that cannot be used: it does not start, breaks the protocol, or offers what makes no tool."""


class StartStoppedError(ServerError):
    """A stop came while a server was being started.

    Attributes:
        exit_code: what a command exits with that is stopped so.
    """

    exit_code = EXIT_CODES[Outcome.STOPPED]
