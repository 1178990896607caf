"""The system call filters, run by an interpreter of the tests' own and compared with the tables they are made from."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litany_runtime.confine.seccomp import ARCHITECTURES, Filter, assemble
from litany_runtime.confine.syscalls import (
    ABSENT,
    ALLOWED,
    NEWEST_NUMBER,
    OWN_PID,
    SETUP,
    Absent,
    Call,
    Condition,
    Masked,
    NotAllOf,
    Null,
    OneOf,
    Setup,
)

ALLOW, KILL = 0x7FFF0000, 0x80000000
PID = 4711
MACHINES = sorted(ARCHITECTURES)
machines = pytest.mark.parametrize("machine", MACHINES)
LOW = 0xFFFFFFFF
EVERY: list[Call | Setup | Absent] = [*ALLOWED, *SETUP, *ABSENT]


def run(program: bytes, number: int, arguments: tuple[int, ...] = (), arch: int | None = None) -> int:
    """What the kernel would return: a BPF machine with the few instructions that the filters use."""
    words = struct.pack("=IIQ6Q", number & LOW, arch or 0, 0, *(*arguments, *([0] * 6))[:6])
    steps = list(struct.iter_unpack("=HBBI", program))
    at = accumulator = 0
    while True:
        code, true, false, operand = steps[at]
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("=I", words, operand)
        elif code == 0x54:
            accumulator &= operand
        elif code == 0x15:
            at += true if accumulator == operand else false
        elif code == 0x35:
            at += true if accumulator >= operand else false
        else:
            assert code == 0x06
            return int(operand)


def in_the_zygote(machine: str, number: int, *arguments: int, private_root: bool = True) -> int:
    program = assemble(machine, private_root=private_root).zygote.program
    return run(program, number, arguments, ARCHITECTURES[machine])


def in_a_program(machine: str, number: int, *arguments: int, private_root: bool = True) -> int:
    """The stricter of the two answers; as in the kernel, a lower action is stricter."""
    filters = assemble(machine, private_root=private_root)
    child = bytearray(filters.child.program)
    for place in filters.child._pid_places:
        struct.pack_into("=I", child, place, PID)
    arch = ARCHITECTURES[machine]
    return min(
        run(filters.zygote.program, number, arguments, arch), run(bytes(child), number, arguments, arch)
    )


def refused(code: int) -> int:
    return 0x50000 | code


def number_of(call: Call, machine: str) -> int:
    number = getattr(call, machine)
    assert isinstance(number, int)
    return number


def passes(test: Condition, arguments: tuple[int, ...]) -> bool:
    """The table's meaning, said once more and differently."""
    word = arguments[test.argument]
    if isinstance(test, OneOf):
        return word & LOW in {PID if value == OWN_PID else value for value in test.values}
    if isinstance(test, Masked):
        return word & test.mask == test.value
    if isinstance(test, NotAllOf):
        return bool(~word & test.bits)
    assert isinstance(test, Null)
    return word == 0


words = st.one_of(
    st.sampled_from(
        [0, 1, 2, 3, 4, 5, 7, 0x1000, 0x3D0F00, 0x7D0F00, 0x5412, 0x541B, 0o4755, 0o644, PID, 1 << 32, LOW]
    ),
    st.integers(0, 2**64 - 1),
)


@settings(max_examples=300, deadline=None)
@given(
    machine=st.sampled_from(MACHINES),
    number=st.integers(0, NEWEST_NUMBER + 20),
    arguments=st.tuples(*[words] * 6),
    private_root=st.booleans(),
)
def test_the_filters_say_what_the_tables_say(
    machine: str, number: int, arguments: tuple[int, ...], private_root: bool
) -> None:
    wanted = refused(errno.EPERM if number <= NEWEST_NUMBER else errno.ENOSYS)
    for call in ALLOWED:
        if getattr(call, machine) == number and (private_root or not call.private_root):
            fine = all(passes(test, arguments) for test in call.tests)
            wanted = ALLOW if fine else refused(call.refusal)
    for absent in ABSENT:
        if getattr(absent, machine) == number:
            wanted = refused(absent.refusal)
    assert in_a_program(machine, number, *arguments, private_root=private_root) == wanted


@machines
def test_every_allowed_call_can_be_made(machine: str) -> None:
    for call in ALLOWED:
        if getattr(call, machine) is None:
            continue
        arguments = [0] * 6
        for test in call.tests:
            if isinstance(test, OneOf):
                arguments[test.argument] |= PID if test.values[0] == OWN_PID else test.values[0]
            elif isinstance(test, Masked):
                arguments[test.argument] |= test.value
        assert in_a_program(machine, number_of(call, machine), *arguments) == ALLOW, call.name


@machines
def test_what_set_up_needs_is_the_zygotes_and_never_a_programs(machine: str) -> None:
    for setup in SETUP:
        number = getattr(setup, machine)
        assert in_the_zygote(machine, number) == ALLOW, setup.name
        assert in_a_program(machine, number) == refused(errno.EPERM), setup.name


@machines
def test_a_call_of_another_architecture_ends_the_process(machine: str) -> None:
    filters = assemble(machine, private_root=True)
    for each in (filters.zygote, filters.child):
        assert run(each.program, 1, (), 0x40000003) == KILL


def test_the_x32_twins_are_refused() -> None:
    for number in (0x40000000, 0x40000000 | 39, 0x40000000 | 520, LOW):
        assert in_a_program("x86_64", number) == refused(errno.EPERM)


@machines
def test_only_its_own_pid_can_be_signalled(machine: str) -> None:
    for name in ("kill", "tgkill"):
        call = next(each for each in ALLOWED if each.name == name)
        number = number_of(call, machine)
        assert in_a_program(machine, number, PID) == ALLOW
        for pid in (0, 1, PID + 1, LOW, 2**64 - 1):
            assert in_a_program(machine, number, pid) == refused(errno.EPERM)
        assert in_the_zygote(machine, number, 99) == ALLOW


@machines
def test_a_terminal_cannot_be_written_to_by_a_disguised_command(machine: str) -> None:
    number = number_of(next(each for each in ALLOWED if each.name == "ioctl"), machine)
    for command in (0x5412, 0x5412 | 1 << 32, 0x541C, 0x5414):
        assert in_a_program(machine, number, 0, command) == refused(errno.ENOTTY)
    assert in_a_program(machine, number, 0, 0x541B) == ALLOW


@machines
def test_only_a_thread_can_be_cloned(machine: str) -> None:
    number = number_of(next(each for each in ALLOWED if each.name == "clone"), machine)
    assert in_a_program(machine, number, 0x3D0F00) == ALLOW
    assert in_a_program(machine, number, 0x7D0F00) == ALLOW  # musl
    for flags in (0, 17, 0x4111, 0x1200011, 0x3D0F00 | 0x10000000, 0x3D0F00 | 0x20000, 0x3C0F00):
        assert in_a_program(machine, number, flags) == refused(errno.EPERM)


MODES = {"open": 2, "openat": 3, "mkdir": 1, "mkdirat": 2, "chmod": 1, "fchmod": 1, "fchmodat": 2}


@pytest.mark.parametrize(
    ("machine", "name"),
    [
        (machine, call.name)
        for machine in MACHINES
        for call in ALLOWED
        if call.name in MODES and getattr(call, machine) is not None
    ],
)
def test_no_mode_sets_an_id(machine: str, name: str) -> None:
    call = next(each for each in ALLOWED if each.name == name)
    argument = MODES[name]
    for mode, answer in ((0o644, ALLOW), (0o1777, ALLOW), (0o4755, refused(1)), (0o2755, refused(1))):
        arguments = [0] * 6
        arguments[argument] = mode
        assert in_a_program(machine, number_of(call, machine), *arguments) == answer


@machines
def test_without_a_root_of_its_own_a_program_changes_no_modes_and_times(machine: str) -> None:
    for call in ALLOWED:
        if call.private_root and getattr(call, machine) is not None:
            number = number_of(call, machine)
            assert in_a_program(machine, number, private_root=True) == ALLOW
            assert in_a_program(machine, number, private_root=False) == refused(errno.EPERM)


@machines
def test_no_number_is_listed_twice(machine: str) -> None:
    numbers = [getattr(each, machine) for each in EVERY]
    listed = [each for each in numbers if each is not None]
    assert len(set(listed)) == len(listed)
    assert max(listed) <= NEWEST_NUMBER


def test_every_call_says_why_it_is_there() -> None:
    assert all(each.why for each in EVERY)


@machines
def test_the_filters_are_small(machine: str) -> None:
    # The kernel takes 4096 steps, and each costs a quarter of a microsecond when the filter is loaded.
    filters = assemble(machine, private_root=True)
    assert len(filters.zygote.program) // 8 < 240
    assert len(filters.child.program) // 8 < 70


@machines
def test_the_numbers_are_the_kernels(machine: str) -> None:
    header = {
        "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        "aarch64": Path("/usr/include/asm-generic/unistd.h"),
    }[machine]
    if not header.exists():
        pytest.skip("no kernel headers here")
    found = {
        name: int(number) for name, number in re.findall(r"__NR(?:3264)?_(\w+) (\d+)\n", header.read_text())
    }
    found.setdefault("newfstatat", found.get("fstatat", -1))
    checked = 0
    for each in EVERY:
        number = getattr(each, machine)
        if number is not None and each.name in found:
            assert found[each.name] == number, each.name
            checked += 1
    assert checked > 100


def test_a_filter_is_loaded_from_memory_that_stays() -> None:
    filters = assemble("x86_64", private_root=True)
    assert isinstance(filters.child, Filter)
    count, address = struct.unpack("=HxxxxxxQ", filters.child._header)
    assert count == len(filters.child.program) // 8
    assert address
