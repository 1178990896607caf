"""Try which layers of confinement hold on this machine: each by an attempt that it has to stop."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from litany_engine.cli.common import FAULTED, add_json, add_workspace, given_workspace, warn_of_unknown_names
from litany_engine.plain_text import plain_lines

if TYPE_CHECKING:
    import argparse

    from litany_engine.configuration.config import Config
    from litany_runtime.confine.probing import Row
    from litany_stubs.words import Reply

EXAMPLE = """\
example:
  litany doctor

exit code: 0 when the isolation that is asked for can be had here, and the modules, else 125
"""

MODULE_S = 60.0
"""Seconds that the import of one of the operator's modules may take: large packages take some."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `litany doctor` takes."""
    add_workspace(parser)
    add_json(parser, "one object {isolation, held, layers, modules, worktree}")


def main(args: argparse.Namespace) -> int:
    """Try, and say what was seen."""
    from litany_engine.configuration.config import Config
    from litany_engine.tools.worktree_quota import kernel_quota
    from litany_runtime.confine import Isolation
    from litany_runtime.confine.probing import probe

    workspace = given_workspace(args)
    config = Config() if workspace is None else workspace.config
    if workspace is not None:
        warn_of_unknown_names(workspace)
    report = probe(None if workspace is None else workspace.worktrees)
    missing = report.missing(Isolation(config.isolation))
    faults = {} if missing else _module_faults(config)
    held, why = kernel_quota(Path() if workspace is None else workspace.worktrees)
    if args.json:
        told = {
            "isolation": config.isolation,
            "held": not missing and not faults,
            "layers": report.to_json(),
            "modules": list(config.modules),
            "module_faults": faults,
            "worktree": {
                "limit_bytes": config.worktree_bytes,
                "limit_files": config.worktree_files,
                "kernel_limit_bytes": held,
                "kernel": why,
            },
        }
        print(json.dumps(told, indent=2))
    else:
        _tell(report.rows, missing, config, faults)
        _tell_quota(config, held, why)
    return FAULTED if missing or faults else 0


def _module_faults(config: Config) -> dict[str, str]:
    """Which modules of `litany.toml` programs cannot import here, each with why: by importing them."""
    import trio

    from litany_runtime.confine import Isolation
    from litany_runtime.outcome import Outcome
    from litany_runtime.program import Program
    from litany_runtime.setup import Setup
    from litany_runtime.supervisor import open_supervisor

    async def no_calls(_: object) -> Reply:
        raise RuntimeError("it makes no calls")

    async def fault(name: str) -> str:
        setup = Setup(None, Isolation(config.isolation), (name,), warm=0)
        async with open_supervisor(setup) as supervisor:
            deadline = trio.current_time() + MODULE_S
            program = Program(f"import {name}".encode())
            end = await supervisor.run(program, config.limits, answer=no_calls, deadline=deadline)
        if end.outcome is Outcome.COMPLETED:
            return ""
        said = end.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        return (end.refusal.reason if end.refusal else end.reason) or said or f"it {end.outcome}"

    return {name: why for name in config.modules if (why := trio.run(fault, name))}


def _tell_quota(config: Config, held: int | None, why: str) -> None:
    """Say what bounds a worktree on disk, and who holds it to that."""
    from litany_engine.configuration.units import show_size

    print(
        f"\nA worktree may take {show_size(config.worktree_bytes)} in {config.worktree_files} files: counted "
        "while programs run, at their calls and at their ends."
    )
    if held is None:
        print(f"No limit of the kernel's own holds it besides: {why}.")
    else:
        print(f"Besides, the kernel holds the folder of worktrees to {show_size(held)} ({why}).")


def _tell(rows: tuple[Row, ...], missing: tuple[Row, ...], config: Config, faults: dict[str, str]) -> None:
    width = max(len(row.layer) for row in rows)
    for row in rows:
        state = "held" if row.held else "MISSING" if row in missing else "not held"
        print(f"{row.layer:<{width}}  {state:<8}  {row.tried}: {row.seen}")
        if not row.held and row.remedy:
            print(f"{'':<{width}}            {row.remedy}")
    if config.modules:
        print(f"\nlitany.toml widens the language layer by: {', '.join(config.modules)}.")
        print("Programs reach all that these modules do; the kernel layer still holds them.")
    for name, why in faults.items():
        print(f"{name} cannot be imported by programs here, so none is run: {plain_lines(why)}")
        print("    Install it beside litany, or take it out of `modules`.")
    version = ".".join(map(str, sys.version_info[:3]))
    if missing:
        print(
            f'\nPython {version}: isolation "{config.isolation}" cannot be had here, so programs are not run.'
        )
    else:
        print(f'\nPython {version}: isolation "{config.isolation}" can be had here.')
