from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litany_engine.configuration.units import (
    UnitError,
    parse_deadline,
    parse_duration,
    parse_size,
    show_duration,
    show_size,
)
from litany_engine.door.arguments import ArgumentCheck
from litany_engine.tools.python_act import DECLARATION


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("5m", 300),
        ("1h30m", 5400),
        ("500ms", 0.5),
        ("1.5s", 1.5),
        (" 2 m 3 s ", 123),
        ("0s", 0),
        ("1m5ms", 60.005),
        ("5 min", 300),
        ("1 hour 30 minutes", 5400),
        ("2hrs5mins1sec", 7501),
        ("90 seconds", 90),
        ("250 milliseconds", 0.25),
        ("1s250msec", 1.25),
    ],
)
def test_a_duration_is_read_in_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "1s\n",
        "\t1s",
        "30",
        "s",
        "1s1m",
        "1s 1s",
        "-1s",
        "1e3s",
        "1d",
        "infs",
        "nans",
        "١s",
        30,
        1.5,
        None,
        True,
        ["1s"],
    ],
)
def test_a_duration_without_its_unit_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(UnitError, match='"30s"'):
        parse_duration(text)


CHECK = ArgumentCheck(DECLARATION)


@given(
    st.one_of(
        st.text("0123456789.hms \n", max_size=12),
        st.from_regex(
            r" *([0-9]{1,3} *(h|hours?|m|min|minutes?|s|secs?|seconds|ms|msec) *){0,3}", fullmatch=True
        ),
    )
)
def test_the_command_line_and_the_schema_have_one_rule_for_deadlines(text: str) -> None:
    accepted = CHECK.fault({"program": "", "deadline": text}) is None
    try:
        seconds = parse_deadline(text)
    except UnitError:
        assert not accepted
    else:
        assert accepted
        assert seconds > 0


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1 B", 1),
        ("64KiB", 65536),
        ("256 MiB", 256 * 1024**2),
        ("1 GiB", 1024**3),
        ("1.5 KiB", 1536),
        ("0 B", 0),
        ("64M", 64 * 1024**2),
        ("64MB", 64 * 1024**2),
        ("64 mb", 64 * 1024**2),
        ("64m", 64 * 1024**2),
        ("64 mib", 64 * 1024**2),
        ("2G", 2 * 1024**3),
        ("1.5 kB", 1536),
        ("1 TiB", 1024**4),
        ("4096b", 4096),
        ("4096 bytes", 4096),
    ],
)
def test_a_size_is_read_in_bytes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "5", "MB", "5 MM", "5 iB", "5 M B", "-5 B", "5 PiB", "0.3 B", "1e3 B", 5, None, False]
)
def test_an_unclear_size_is_refused(text: str) -> None:
    with pytest.raises(UnitError):
        parse_size(text)


@given(st.integers(0, 10**7), st.sampled_from(["B", "KiB", "MiB", "GiB"]))
def test_a_size_is_exact(number: int, unit: str) -> None:
    assert parse_size(f"{number} {unit}") == number * {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[unit]


@given(st.text(max_size=20))
def test_any_text_is_a_unit_or_a_unit_error(text: str) -> None:
    for parse in (parse_duration, parse_size):
        complaint = ""
        try:
            assert parse(text) >= 0
        except UnitError as error:
            complaint = str(error)
        assert len(complaint) < 250


def test_sizes_and_durations_are_shown_briefly() -> None:
    assert [show_size(each) for each in (0, 1023, 1024, 1536, 5 * 2**20)] == [
        "0 B",
        "1023 B",
        "1 KiB",
        "1.5 KiB",
        "5 MiB",
    ]
    shown = [show_duration(each) for each in (0.00001, 0.0123, 1.5, 59.9, 75, 3700)]
    assert shown == ["10 µs", "12.3 ms", "1.5 s", "59.9 s", "1 min 15 s", "1 h 1 min"]
