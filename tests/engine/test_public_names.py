"""What `litany_engine` gives a host, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import litany_engine


@pytest.mark.parametrize("name", litany_engine.__all__)
def test_each_public_name_is_there_and_is_no_module(name: str) -> None:
    assert type(getattr(litany_engine, name)).__name__ != "module"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        litany_engine.nothing  # noqa: B018


def test_importing_the_package_imports_no_other_distribution() -> None:
    code = "import sys; import litany_engine; print(sorted(m for m in sys.modules if m.partition('.')[0] in "
    code += "('trio', 'msgspec', 'pygit2', 'jsonschema_rs', 'msgpack', 'psutil', 'RestrictedPython')))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
