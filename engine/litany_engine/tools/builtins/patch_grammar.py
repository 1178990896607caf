"""The text of a patch, read into operations. Pure: what the files hold is looked at in `patch_match.py`.

    *** Begin Patch
    *** Add File: notes/new.md
    +each line of a new file begins with a plus
    *** Delete File: old.txt
    *** Update File: src/app.py
    *** Move to: src/main.py
    @@ def run():
     a line that stays begins with a space
    -a line that goes
    +a line that comes
    *** End of File
    *** End Patch

Whatever else stands in it is refused with its line number: a model that meant something by it should know
that it was not understood, before anything is written.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field

BEGIN = "*** Begin Patch"
END = "*** End Patch"
ADD = "*** Add File: "
DELETE = "*** Delete File: "
UPDATE = "*** Update File: "
MOVE = "*** Move to: "
END_OF_FILE = "*** End of File"
ANCHOR = "@@"

_SHOWN_CHARS = 120


class PatchError(ValueError):
    """A patch that is not applied; the message says where and why."""


@dataclass(slots=True)
class Hunk:
    """One change of an update.

    Attributes:
        line: where in the patch it begins, counted from 1.
        anchors: lines to find first, in order; the change lies below the last of them.
        body: (sign, text) of each line: ` ` stays, `-` goes, `+` comes.
        at_end: the lines that stay and go are the last of the file.
    """

    line: int
    anchors: list[str] = field(default_factory=list)
    body: list[tuple[str, str]] = field(default_factory=list)
    at_end: bool = False

    @property
    def old(self) -> list[str]:
        """The lines that the file must hold."""
        return [text for sign, text in self.body if sign != "+"]


@dataclass(slots=True)
class Operation:
    """What a patch does to one file.

    Attributes:
        op: `add`, `delete` or `update`.
        path: the file, as written.
        line: where in the patch its header stands.
        lines: the content of an added file.
        hunks: the changes of an update.
        move_to: the file's new path.
    """

    op: str
    path: str
    line: int
    lines: list[str] = field(default_factory=list)
    hunks: list[Hunk] = field(default_factory=list)
    move_to: str | None = None


def parse_patch(text: str) -> list[Operation]:
    """Read a patch.

    Args:
        text: the patch; blank lines before its first and after its last line are allowed.

    Returns:
        Its operations in order, no two of which touch one path.

    Raises:
        PatchError: it is not of this grammar.
    """
    lines = text.split("\n")
    first, last = 0, len(lines)
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    if first == last or lines[first].rstrip("\r") != BEGIN:
        raise PatchError(f"the patch must begin with the line {BEGIN!r}")
    if last - first < 2 or lines[last - 1].rstrip("\r") != END:
        raise PatchError(f"the patch must end with the line {END!r}")
    numbered = [(index + 1, lines[index]) for index in range(first + 1, last - 1)]
    _refuse_reopened(numbered)
    reader = _Reader()
    for number, line in numbered:
        reader.take(number, line)
    reader.finish()
    if not reader.operations:
        raise PatchError("the patch has no operation: nothing stands between its first and last line")
    _refuse_paths_used_twice(reader.operations)
    return reader.operations


def _refuse_reopened(lines: list[tuple[int, str]]) -> None:
    """A second header for one file is the commonest slip; said before the declines that it leads to."""
    opened: dict[str, int] = {}
    for number, line in lines:
        if line.startswith(UPDATE):
            path = line.removeprefix(UPDATE).strip()
            if path in opened:
                raise PatchError(
                    f"line {number}: {path!r} was opened for update at line {opened[path]} already; "
                    f"put all of its hunks under one header, separated by {ANCHOR!r}"
                )
            opened[path] = number


def _refuse_paths_used_twice(operations: list[Operation]) -> None:
    used: dict[str, int] = {}
    for operation in operations:
        for path in filter(None, (operation.path, operation.move_to)):
            name = posixpath.normpath(path)
            if name in used:
                raise PatchError(
                    f"line {operation.line}: {path!r} is in the operation at line {used[name]} already; "
                    "a file may be in one operation only, as its source or as its new path"
                )
            used[name] = operation.line


class _Reader:
    """Takes the lines between begin and end, one at a time."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._fresh = False  # the line before was an update's header

    def take(self, number: int, line: str) -> None:
        fresh, self._fresh = self._fresh, False
        if line.startswith((ADD, DELETE, UPDATE)):
            self._open(number, line)
        elif line.startswith(MOVE):
            if not fresh:
                raise PatchError(f"line {number}: {MOVE.strip()!r} must follow the header of an update")
            self.operations[-1].move_to = _path(number, line, MOVE)
        elif not self.operations:
            raise self._unknown(number, line, "an operation's header")
        else:
            operation = self.operations[-1]
            if operation.op == "add":
                self._add(operation, number, line)
            elif operation.op == "delete":
                raise self._unknown(number, line, "the next operation's header")
            else:
                self._update(operation, number, line)

    def finish(self) -> None:
        """Check the operation that ends here."""
        if not self.operations:
            return
        operation = self.operations[-1]
        if operation.op == "add" and not operation.lines:
            raise PatchError(
                f"line {operation.line}: {operation.path!r} is added without a line; "
                "each line of a new file begins with '+'"
            )
        if operation.op == "update" and not operation.hunks:
            raise PatchError(f"line {operation.line}: the update of {operation.path!r} has no hunk")
        for hunk in operation.hunks:
            self._check(hunk, operation)

    def _open(self, number: int, line: str) -> None:
        self.finish()
        op, header = next(
            (op, header)
            for op, header in (("add", ADD), ("delete", DELETE), ("update", UPDATE))
            if line.startswith(header)
        )
        self.operations.append(Operation(op, _path(number, line, header), number))
        self._fresh = op == "update"

    def _add(self, operation: Operation, number: int, line: str) -> None:
        if not line.startswith("+"):
            raise self._unknown(number, line, "a line that begins with '+'")
        operation.lines.append(line[1:])

    def _update(self, operation: Operation, number: int, line: str) -> None:
        hunk = operation.hunks[-1] if operation.hunks else None
        if line == ANCHOR or line.startswith(f"{ANCHOR} "):
            # Anchors that follow one another narrow the place step by step; after a body a new hunk begins.
            if hunk is None or hunk.body or hunk.at_end:
                hunk = Hunk(number)
                operation.hunks.append(hunk)
            if anchor := line.removeprefix(ANCHOR)[1:]:
                hunk.anchors.append(anchor)
        elif line.rstrip("\r") == END_OF_FILE:
            if hunk is None or not hunk.body or hunk.at_end:
                raise PatchError(f"line {number}: {END_OF_FILE!r} must follow the lines of a hunk")
            hunk.at_end = True
        elif hunk is not None and hunk.at_end:
            if line.strip():
                raise self._unknown(number, line, f"{ANCHOR!r} or the next operation's header")
        elif line == "" or line[0] in " -+":
            if hunk is None:
                hunk = Hunk(number)
                operation.hunks.append(hunk)
            hunk.body.append((line[:1] or " ", line[1:]))  # an empty line is an empty line that stays
        else:
            raise self._unknown(number, line, "a line that begins with ' ', '-' or '+'")

    @staticmethod
    def _check(hunk: Hunk, operation: Operation) -> None:
        if all(sign == " " for sign, _ in hunk.body):
            raise PatchError(f"line {hunk.line}: this hunk of {operation.path!r} changes nothing")
        if not hunk.old and not hunk.anchors and not hunk.at_end:
            raise PatchError(
                f"line {hunk.line}: this hunk of {operation.path!r} only adds lines and does not say where; "
                f"give it a line of context, an anchor ({ANCHOR} and a line of the file), or {END_OF_FILE!r}"
            )

    @staticmethod
    def _unknown(number: int, line: str, wanted: str) -> PatchError:
        if not line.strip():
            return PatchError(f"line {number}: is blank; {wanted} is expected here")
        shown = line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…"
        return PatchError(f"line {number}: {shown!r} is not understood; {wanted} is expected here")


def _path(number: int, line: str, header: str) -> str:
    path = line.removeprefix(header).strip()
    if not path:
        raise PatchError(f"line {number}: {header.strip()!r} names no file")
    return path
