"""What a program's traceback shows: its own frames, with its own lines, and the library's; none of ours.

However the traceback is made: by the end of the program, `traceback.format_exc()`, `logging.exception`. All
of them take their frames from one function of the library, which is wrapped in the zygote.
"""

from __future__ import annotations

import asyncio
import linecache
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgpack
import RestrictedPython

import litany_runtime
import litany_stubs
from litany_stubs.module import CODE_NAME as STUBS_CODE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType, ModuleType

_LIBRARY = f"{Path(os.__file__).parent}{os.sep}"
_LIBRARY_SHOWN = f"{Path(os.__file__).parent.name}{os.sep}"
"""The standard library is shown as `python3.11/…`: where the host keeps it is nobody's business."""


def _folders(package: ModuleType) -> tuple[str, ...]:
    folder = Path(str(package.__file__)).parent
    return tuple(f"{each}{os.sep}" for each in dict.fromkeys((folder, folder.resolve())))


_PACKAGES = (litany_runtime, litany_stubs, msgpack, RestrictedPython)
_OURS = (
    *(folder for each in _PACKAGES for folder in _folders(each)),
    f"{msgpack.__name__}{os.sep}",  # its compiled parts
    STUBS_CODE,
)
"""What a call of a tool leads through."""

_WAITS = (
    *_folders(litany_stubs),
    STUBS_CODE,
    *(f"{folder}channel.py" for folder in _folders(litany_runtime)),
)
"""Where a call waits: the library's parts that it waits with are not the program's either."""

_program = ""


def prepare() -> None:
    """Wrap the library's function, once, in the zygote."""
    extract: Callable[..., traceback.StackSummary]
    folders = {_LIBRARY: _LIBRARY_SHOWN}
    for each in filter(None, sys.path):
        folders.setdefault(f"{each.rstrip(os.sep)}{os.sep}", "")  # packages are shown as they are imported
    extract = traceback.StackSummary._extract_from_extended_frame_gen  # type: ignore[attr-defined]  # noqa: SLF001

    def shown(
        cls: type[traceback.StackSummary], frames: Iterable[Any], /, **options: Any
    ) -> traceback.StackSummary:
        summary: traceback.StackSummary = extract.__func__(cls, _of_the_program(frames), **options)  # type: ignore[attr-defined]
        for frame in summary:
            for folder, as_shown in folders.items():
                if frame.filename.startswith(folder):
                    _ = frame.line  # read now, by the file's real name
                    frame.filename = as_shown + frame.filename.removeprefix(folder)
                    break
        return summary

    traceback.StackSummary._extract_from_extended_frame_gen = classmethod(shown)  # type: ignore[attr-defined]  # noqa: SLF001
    traceback.TracebackException(ValueError, ValueError("warm"), None)


def begin(program: str, source: bytes) -> None:
    """Know a program by its name, and its lines."""
    global _program  # noqa: PLW0603 - one process, one program
    _program = program
    text = source.decode("utf-8", "replace")
    # A line ends where Python says, which is at a newline alone, and each has one, the last too.
    linecache.cache[program] = (len(text), None, [f"{line}\n" for line in text.split("\n")], program)


def _of_the_program(frames: Iterable[tuple[FrameType, Any]]) -> Iterator[tuple[FrameType, Any]]:
    """Without our frames, and without what led to the program: an event loop's, when it awaits at its top."""
    kept = []
    waits = False
    for each in frames:
        name = each[0].f_code.co_filename
        if name.startswith(_OURS):
            waits = waits or name.startswith(_WAITS)
        elif not (waits and name.startswith(_LIBRARY)):
            waits = False
            kept.append(each)
    names = [frame.f_code.co_filename for frame, _ in kept]
    if _program in names:
        yield from kept[names.index(_program) :]
    elif not (names and names[0] == asyncio.runners.__file__):  # it led to the program and did not come back
        yield from kept
