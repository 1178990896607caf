"""Reading a file whose path somebody wrote into a configuration: whole, bounded, and never waiting.

A pipe in place of a file would be waited on for ever, and a device has no end.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from litany_runtime.limits import KIB

if TYPE_CHECKING:
    from pathlib import Path


class FileFault(ValueError):  # noqa: N818 - it says what is wrong with a file, for whoever names the file
    """A file that cannot be taken: what is wrong with it, without its name."""


def read_regular(path: Path, max_bytes: int) -> bytes:
    """Everything in a regular file.

    Args:
        path: the file; a link to one will do.
        max_bytes: the most that is taken.

    Raises:
        FileNotFoundError: there is none.
        FileFault: it cannot be read, is of another kind, or is larger.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISREG(mode):
                raise FileFault("is a folder" if stat.S_ISDIR(mode) else "is not a regular file")
            with open(descriptor, "rb", closefd=False) as file:
                content = file.read(max_bytes + 1)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise FileFault(f"cannot be read: {error.strerror}") from error
    if len(content) > max_bytes:
        raise FileFault(f"is larger than {max_bytes // KIB} KiB, the most that is read of it")
    return content
