"""The system call filters: the tables of `syscalls.py` as BPF programs.

There are two, and the kernel takes the stricter answer. The first holds the whole allow-list and is loaded in
the zygote, once: every child has it from its birth. The second is small, is loaded by the child when its
set-up is done, and takes back what only the zygote and the set-up need. One filter, loaded by each child,
would do the same; but the kernel translates a filter to machine code when it is loaded, a quarter of a
microsecond for each instruction, and that would be the largest single cost of a child.

The numbers are a balanced tree of comparisons, not a list: the kernel runs a filter once for every number
when it is loaded, to know which it need not ask about later.
"""

from __future__ import annotations

import ctypes
import struct
from typing import TYPE_CHECKING, NamedTuple

from litany_runtime.confine import kernel
from litany_runtime.confine.syscalls import (
    ABSENT,
    ALLOWED,
    CLONE,
    CLONE3,
    DENIED,
    NAMESPACE_FLAGS,
    NEWEST_NUMBER,
    OWN_PID,
    SETUP,
    Condition,
    Masked,
    NotAllOf,
    Null,
    OneOf,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_AND = 0x54  # BPF_ALU | BPF_AND | BPF_K
_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K
_STEP_BYTES = 8
_OPERAND_AT = 4
_FARTHEST = 255  # a jump's distance is one byte

_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_KILL_PROCESS = 0x80000000
_REFUSE = _ERRNO | 1  # EPERM
_UNKNOWN = _ERRNO | 38  # ENOSYS

# Offsets in struct seccomp_data: the number, the architecture, the instruction pointer, six arguments.
_NUMBER = 0
_ARCH = 4
_ARGUMENTS = 16

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The AUDIT_ARCH value of each machine that the tables have numbers for."""

_X32_BIT = 0x40000000

_Target = int | str
"""Where a step goes: over so many steps, or to a label."""


class _Step(NamedTuple):
    """One BPF instruction: operation, operand, where to go if true and if false."""

    code: int
    operand: int = 0
    true: _Target = 0
    false: _Target = 0


class _Decision(NamedTuple):
    """What to do with a number: return an action, or let tests of the arguments choose.

    Attributes:
        action: what to return when all tests pass.
        tests: none for most calls.
        refusal: what to return when one fails.
    """

    action: int
    tests: tuple[Condition, ...] = ()
    refusal: int = _REFUSE


class Filter:
    """An assembled filter, ready to be loaded: in memory that the kernel can read it from."""

    __slots__ = ("_header", "_memory", "_pid_places", "program")

    def __init__(self, steps: list[_Step]) -> None:
        self.program = _pack(steps)
        self._memory = ctypes.create_string_buffer(self.program, len(self.program))
        self._pid_places = [
            _STEP_BYTES * i + _OPERAND_AT for i, step in enumerate(steps) if step.operand == OWN_PID
        ]
        self._header = struct.pack("=HxxxxxxQ", len(steps), ctypes.addressof(self._memory))

    def load(self, pid: int) -> int:
        """Confine this process for good; the result of the call. Needs no_new_privs.

        Args:
            pid: this process's own pid, as its pid namespace has it: the only one it may signal.
        """
        for place in self._pid_places:
            struct.pack_into("=I", self._memory, place, pid)
        return kernel.seccomp(kernel.SECCOMP_SET_MODE_FILTER, 0, self._header)


class Filters(NamedTuple):
    """The two filters of one architecture.

    Attributes:
        zygote: the whole allow-list, with what set-up needs.
        child: what takes that back.
    """

    zygote: Filter
    child: Filter


def machine_is_known() -> bool:
    """Whether the tables have this machine's numbers."""
    return kernel.MACHINE in ARCHITECTURES


def assemble(machine: str, *, private_root: bool) -> Filters:
    """The filters for one architecture.

    Args:
        machine: `x86_64` or `aarch64`, as `kernel.MACHINE` says.
        private_root: whether the program has a root of its own (isolation `full`).
    """
    first: dict[int, _Decision] = {}
    second: dict[int, _Decision] = {}
    for call in ALLOWED:
        number = getattr(call, machine)
        if number is None or (call.private_root and not private_root):
            continue
        tested = _Decision(_ALLOW, call.tests, _ERRNO | call.refusal)
        first[number] = _Decision(_ALLOW) if call.late else tested
        if call.late:
            second[number] = tested
    for setup in SETUP:
        first[getattr(setup, machine)] = _Decision(_ALLOW)
        second[getattr(setup, machine)] = _Decision(_REFUSE)
    for absent in ABSENT:
        number = getattr(absent, machine)
        if number is not None:
            first[number] = _Decision(_ERRNO | absent.refusal)
    zygote = _program(machine, first, otherwise=_REFUSE, beyond=_UNKNOWN)
    child = _program(machine, second, otherwise=_ALLOW, beyond=_ALLOW)
    return Filters(Filter(zygote), Filter(child))


def assemble_denied(machine: str) -> Filter:
    """The filter of a trusted program over hostile text: what it has no use for is refused, the rest allowed.

    Args:
        machine: `x86_64` or `aarch64`, as `kernel.MACHINE` says.
    """
    decisions = {
        number: _Decision(_REFUSE)
        for _, *numbers in DENIED
        if (number := numbers[("x86_64", "aarch64").index(machine)]) is not None
    }
    # Its flags are in memory, where no filter can look; libraries fall back on `clone`, whose flags it sees.
    decisions[CLONE3] = _Decision(_UNKNOWN)
    decisions[CLONE[machine]] = _Decision(_ALLOW, (Masked(0, NAMESPACE_FLAGS, 0),))
    return Filter(_program(machine, decisions, otherwise=_ALLOW, beyond=_UNKNOWN))


def _program(machine: str, decisions: Mapping[int, _Decision], otherwise: int, beyond: int) -> list[_Step]:
    spans: list[tuple[int, _Decision]] = []

    def span(first: int, decision: _Decision) -> None:
        if not spans or spans[-1][1] != decision:
            spans.append((first, decision))

    for number in range(NEWEST_NUMBER + 1):
        span(number, decisions.get(number, _Decision(otherwise)))
    span(NEWEST_NUMBER + 1, _Decision(beyond))
    if machine == "x86_64":
        span(_X32_BIT, _Decision(_REFUSE))  # the x32 twins of every call
    return _resolve(
        [
            (None, _Step(_LOAD, _ARCH)),
            # A call of another architecture has other numbers: no answer to it is right.
            (None, _Step(_EQUAL, ARCHITECTURES[machine], 0, _label(_KILL_PROCESS))),
            (None, _Step(_LOAD, _NUMBER)),
            *_tree(spans),
            *_blocks(decision for _, decision in spans if decision.tests),
        ]
    )


_Line = tuple[str | None, _Step]
"""A step with the label that others reach it by."""


def _label(decision: _Decision | int) -> str:
    """The label of a decision's steps, or of an action's return."""
    if isinstance(decision, int):
        return f"return {decision:#x}"
    return f"tests {decision!r}" if decision.tests else _label(decision.action)


def _tree(spans: list[tuple[int, _Decision]]) -> list[_Line]:
    """A binary search: one comparison for each border between two spans."""
    middle = len(spans) // 2
    left, right = spans[:middle], spans[middle:]
    lower: list[_Line] = _tree(left) if len(left) > 1 else []
    upper: list[_Line] = _tree(right) if len(right) > 1 else []
    step = _Step(
        _AT_LEAST,
        right[0][0],
        len(lower) if upper else _label(right[0][1]),
        0 if lower else _label(left[0][1]),
    )
    return [(None, step), *lower, *upper]


def _blocks(decisions: Iterable[_Decision]) -> list[_Line]:
    """The tests of each decision once."""
    lines: list[_Line] = []
    for decision in dict.fromkeys(decisions):
        label: str | None = _label(decision)
        for i, test in enumerate(decision.tests):
            last = i == len(decision.tests) - 1
            for step in _test(test, _label(decision.action) if last else 0, _label(decision.refusal)):
                lines.append((label, step))
                label = None
    return lines


def _test(test: Condition, passed: _Target, failed: str) -> list[_Step]:
    """The steps of one test; `passed` is a label, or 0 to go on after the last step."""
    low = _ARGUMENTS + 8 * test.argument  # both architectures are little-endian
    if isinstance(test, OneOf):
        count = len(test.values)
        return [
            _Step(_LOAD, low),
            *(
                _Step(_EQUAL, value, passed or count - 1 - i, failed if i == count - 1 else 0)
                for i, value in enumerate(test.values)
            ),
        ]
    if isinstance(test, Masked):
        return [_Step(_LOAD, low), _Step(_AND, test.mask), _Step(_EQUAL, test.value, passed, failed)]
    if isinstance(test, NotAllOf):
        return [_Step(_LOAD, low), _Step(_AND, test.bits), _Step(_EQUAL, test.bits, failed, passed)]
    assert isinstance(test, Null)
    high = low + 4
    return [
        _Step(_LOAD, low),
        _Step(_EQUAL, 0, 0, failed),
        _Step(_LOAD, high),
        _Step(_EQUAL, 0, passed, failed),
    ]


def _resolve(lines: list[_Line]) -> list[_Step]:
    """Add the returns at the end and turn labels into distances."""
    wanted = [
        target
        for _, step in lines
        for target in (step.true, step.false)
        if isinstance(target, str) and target.startswith("return ")
    ]
    lines += [(each, _Step(_RETURN, int(each.removeprefix("return "), 16))) for each in dict.fromkeys(wanted)]
    places = {label: place for place, (label, _) in enumerate(lines) if label}

    def distance(target: _Target, place: int) -> int:
        steps = target if isinstance(target, int) else places[target] - place - 1
        assert 0 <= steps <= _FARTHEST, f"{target} is too far away"
        return steps

    return [
        _Step(step.code, step.operand, distance(step.true, place), distance(step.false, place))
        for place, (_, step) in enumerate(lines)
    ]


def _pack(steps: list[_Step]) -> bytes:
    return b"".join(
        struct.pack("=HBBI", step.code, step.true, step.false, step.operand & 0xFFFFFFFF) for step in steps
    )
