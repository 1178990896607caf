"""The page on stubs shows a module as it is generated."""

from __future__ import annotations

import re
from pathlib import Path

from litany_stubs.render import render
from litany_stubs.testing import FakeDoor
from stubs_kit import declared

PAGE = Path(__file__).parents[2] / "docs" / "stubs.md"
SHOWN = ("edit_file", "create_issue", "list-events")


def test_the_module_on_the_page_is_the_one_that_is_generated() -> None:
    match = re.search(
        r"<!-- module:.*?-->\n```python\n(.*?)```\n", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    assert match is not None
    assert match[1] == render([declared(name) for name in SHOWN])


def test_the_limits_on_the_page_are_those_of_the_code() -> None:
    from litany_stubs import python_types, values
    from litany_stubs.client import MAX_FAN_OUT

    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"longer than {python_types.INLINE_CHARS} characters" in page
    assert f"at most {python_types.MAX_DEFINITIONS} named types" in page
    assert f"more than {python_types.MAX_WEIGHT:,} keys" in page
    assert f"(1 to {MAX_FAN_OUT})" in page
    assert f"more than {values.MAX_NESTING} levels" in page


def test_the_test_on_the_page_passes(fake_door: FakeDoor) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    example = next(each for each in blocks if "def test_it_counts_lines" in each)
    program = "import litany_tools as t\nprint(len(t.read_file(path='notes.txt').stdout.splitlines()))"
    space: dict[str, object] = {"PROGRAM": program}
    exec(example, space)
    space["test_it_counts_lines"](fake_door)  # type: ignore[operator]
