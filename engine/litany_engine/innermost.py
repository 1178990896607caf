"""The exception that a nursery made a group around."""

from __future__ import annotations


def innermost(error: BaseException) -> BaseException:
    """The one exception in groups of one, which is how a nursery hands it on; or the error itself."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
