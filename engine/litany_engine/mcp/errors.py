"""What can be wrong with a connected server; the message names it and says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litany_runtime.outcome import EXIT_CODES, Outcome

if TYPE_CHECKING:
    from litany_stubs.words import JSON


class ServerError(RuntimeError):
    """A server that cannot be used: it does not start, breaks the protocol, or offers what makes no tool."""


class StartStoppedError(ServerError):
    """A stop came while a server was being started.

    Attributes:
        exit_code: what a command exits with that is stopped so.
    """

    exit_code = EXIT_CODES[Outcome.STOPPED]


class AnsweredError(Exception):
    """A server answered a request with an error of the protocol.

    Attributes:
        code: its number.
        message: its words.
        data: what it adds.
    """

    def __init__(self, code: int, message: str, data: JSON = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
