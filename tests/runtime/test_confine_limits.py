"""Every limit of a program: it holds, it is felt as Python feels it, and a death says which one it was."""

from __future__ import annotations

import errno
import os
import signal
from typing import Any

import pytest

from confine_kit import NOBODY, Task, a_host, launch
from litany_runtime.confine import Isolation, explain_death
from litany_runtime.limits import MIB, Limits
from litany_runtime.outcome import Usage

USER = NOBODY if os.getuid() == 0 else None
FREE = 10_000  # a limit that a test does not want to feel


def use(
    probe: str, isolation: Isolation = Isolation.FULL, facts: Any = None, **limits: Any
) -> dict[str, Any]:
    """What one child came to."""
    with a_host(USER) as host:
        task = Task(probe, limits=Limits(**limits))
        result = launch(
            [task, Task("nothing")],
            facts={**host.facts, **(facts or {})},
            user=USER,
            isolation=isolation,
            worktrees=host.worktrees,
        )
        assert result.code == 0, result.stderr
        assert result.of("nothing")["kind"] == "reached", "the next child must run"
        return result.of(probe)


@pytest.mark.parametrize("isolation", [Isolation.FULL, Isolation.KERNEL])
def test_an_allocation_beyond_the_memory_limit_is_a_memory_error(isolation: Isolation) -> None:
    row = use("one_allocation", isolation, {"bytes": 65 * MIB}, memory_bytes=64 * MIB)
    assert row["got"].startswith("MemoryError")
    row = use("one_allocation", isolation, {"bytes": 60 * MIB}, memory_bytes=64 * MIB)
    assert row["got"] == str(60 * MIB)


def test_memory_grows_to_the_limit_and_no_further() -> None:
    row = use("growth", memory_bytes=64 * MIB)
    assert 56 <= int(row["got"]) <= 64
    assert row["peak"] < 64 * MIB + 48 * MIB


def test_a_program_survives_its_memory_error() -> None:
    assert int(use("growth_by_small_objects", memory_bytes=32 * MIB)["got"]) > 10_000


@pytest.mark.parametrize("probe", ["shared_memory", "growing_stack"])
def test_memory_that_no_limit_counts_is_refused(probe: str) -> None:
    row = use(probe, facts={"bytes": MIB})
    assert row["kind"] == "held"
    assert row["errno"] == errno.EPERM


def test_shared_zeros_are_bounded_by_the_address_space() -> None:
    row = use("shared_zeros", facts={"bytes": 1024 * MIB}, memory_bytes=64 * MIB)
    assert int(row["got"]) <= 128 * MIB


@pytest.mark.parametrize("threads", [1, 5, 64])
def test_exactly_so_many_threads_can_live(threads: int) -> None:
    assert int(use("count_threads", threads=threads, memory_bytes=512 * MIB)["got"]) == threads - 1


def test_threads_are_bounded_by_memory_without_namespaces() -> None:
    count = int(use("count_threads", Isolation.KERNEL, threads=4, memory_bytes=64 * MIB)["got"])
    assert 4 < count <= 32


@pytest.mark.parametrize("isolation", [Isolation.FULL, Isolation.KERNEL, Isolation.POLICY])
def test_open_files_are_bounded(isolation: Isolation) -> None:
    opened, number = eval(use("count_files", isolation, open_files=50)["got"])
    assert opened <= 50 - 4
    assert number == errno.EMFILE


@pytest.mark.parametrize("isolation", [Isolation.FULL, Isolation.KERNEL, Isolation.POLICY])
def test_one_file_is_bounded(isolation: Isolation) -> None:
    assert eval(use("write_one_file", isolation, file_bytes=3 * MIB)["got"]) == (3 * MIB, errno.EFBIG)


def test_the_private_tmp_is_bounded_in_size() -> None:
    total, number = eval(use("fill_tmp", tmp_bytes=4 * MIB)["got"])
    assert 3 * MIB <= total <= 4 * MIB
    assert number == errno.ENOSPC


def test_the_private_tmp_is_bounded_in_files() -> None:
    count, number = eval(use("count_tmp_files", tmp_files=100)["got"])
    assert 90 <= count < 100
    assert number == errno.ENOSPC


@pytest.mark.parametrize("probe", ["spin", "spin_and_ignore"])
def test_a_program_out_of_cpu_seconds_is_ended_by_the_kernel(probe: str) -> None:
    limits = Limits(cpu_s=1)
    row = use(probe, cpu_s=1)
    assert row["kind"] == "silent"
    assert explain_death(row["status"], Usage(row["cpu_s"], row["peak"]), limits) == "cpu limit 1 s"


def test_a_program_out_of_stack_is_ended_and_named() -> None:
    row = use("recurse_in_c", memory_bytes=512 * MIB)
    if row["kind"] == "held":  # newer interpreters count their own stack
        assert row["got"].startswith("RecursionError")
        return
    said = explain_death(row["status"], Usage(row["cpu_s"], row["peak"]), Limits())
    assert (row["kind"], said[:8]) == ("silent", "SIGSEGV:")


USED = Usage(cpu_s=0.1, peak_memory_bytes=50 * MIB)


@pytest.mark.parametrize(
    ("number", "usage", "said"),
    [
        (signal.SIGXCPU, USED, "cpu limit 600 s"),
        (signal.SIGKILL, Usage(cpu_s=600.4), "cpu limit 600 s"),
        (
            signal.SIGKILL,
            Usage(peak_memory_bytes=300 * MIB),
            "SIGKILL: from outside the program, which held 300 MiB (memory limit 256 MiB)",
        ),
        (signal.SIGXFSZ, USED, "file size limit 64 MiB"),
        (signal.SIGTERM, USED, "SIGTERM: sent to the program; no limit of its own sends it"),
        (40, USED, "signal 40: sent to the program; no limit of its own sends it"),
    ],
)
def test_a_death_is_named(number: int, usage: Usage, said: str) -> None:
    assert explain_death(int(number), usage, Limits()) == said


CRASHES = ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS")


@pytest.mark.parametrize("name", CRASHES)
def test_a_crash_names_its_signal_and_guesses_no_cause(name: str) -> None:
    said = explain_death(int(signal.Signals[name]), USED, Limits())
    assert said.startswith(f"{name}: ")
    assert len(said) > len(name) + 20
    assert not any(guess in said for guess in ("most likely", "probably", "memory limit"))


def test_every_signal_is_named() -> None:
    for number in range(1, signal.NSIG):
        said = explain_death(number, USED, Limits())
        named = number in {signal.SIGXCPU, signal.SIGXFSZ} or ": " in said
        assert named, (number, said)


def test_a_program_that_exits_by_itself_needs_no_explanation() -> None:
    assert explain_death(3 << 8, USED, Limits()) == ""
