"""What of the host's files programs may read: the interpreter's library and the packages they import."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import sys
import sysconfig
import zoneinfo
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

OURS = ("litany_runtime", "litany_stubs", "RestrictedPython", "msgpack")
"""The packages that the child itself runs on."""


def read_only_paths(extra: Sequence[str] = ()) -> tuple[Path, ...]:
    """The paths that a zygote's programs may read, and no others.

    Args:
        extra: import names of the operator's packages; what they require comes along.

    Returns:
        Real paths: the standard library, its extension modules, the time zones, and one folder or file for
        each package. Sorted, and none of them inside another.

    Raises:
        ModuleNotFoundError: an extra package is not installed.
    """
    base = {"platbase": sys.base_exec_prefix}  # a virtual environment has no standard library of its own
    found = {Path(sysconfig.get_path(name, vars=base)) for name in ("stdlib", "platstdlib")}
    found |= {Path(path) for path in zoneinfo.TZPATH if os.path.isdir(path)}
    for name in OURS:
        found |= set(_locations(name))
    for name in (*_with_requirements(extra), "tzdata"):
        found |= set(_locations(name))
    for name in extra:
        if not any(True for _ in _locations(name)):
            raise ModuleNotFoundError(f"no module named {name!r} to give to programs", name=name)
    return _outermost(path.resolve() for path in found)


def _outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    kept: list[Path] = []
    for path in sorted(set(paths)):
        # A package inside the standard library's own folder is listed by itself: its neighbours are covered.
        inside = any(path.is_relative_to(each) for each in kept)
        if not inside or "site-packages" in path.parts:
            kept.append(path)
    return tuple(kept)


def _locations(name: str) -> Iterator[Path]:
    """Where a top-level package or module is; nothing when it is not installed or built in."""
    spec = importlib.util.find_spec(name.partition(".")[0])
    if spec is None:
        return
    if spec.submodule_search_locations:
        yield from map(Path, spec.submodule_search_locations)
    elif spec.origin and os.path.isfile(spec.origin):
        yield Path(spec.origin)


def _with_requirements(names: Sequence[str]) -> set[str]:
    """The import names and, by their installed metadata, those of everything they require."""
    by_name = importlib.metadata.packages_distributions()
    imports: dict[str, set[str]] = {}
    for name, distributions in by_name.items():
        for distribution in distributions:
            imports.setdefault(_normal(distribution), set()).add(name)
    wanted: set[str] = set()
    todo = [name.partition(".")[0] for name in names]
    while todo:
        name = todo.pop()
        if name in wanted:
            continue
        wanted.add(name)
        for distribution in by_name.get(name, ()):
            for requirement in importlib.metadata.requires(distribution) or ():
                # An optional extra's requirement counts when it is installed for another reason only.
                if "extra ==" not in requirement:
                    todo += imports.get(_normal(re.split(r"[^\w.-]", requirement, maxsplit=1)[0]), ())
    return wanted


def _normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()
