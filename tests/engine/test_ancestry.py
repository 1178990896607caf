"""A process below a tool call is told by what it cannot take off, however it got there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import trio

from litany_engine.tools import ancestry
from litany_engine.tools.ancestry import Claim, inside
from litany_engine.tools.processes import ProcessError, run_process
from tool_kit import wait_until

ENGINE = Path(ancestry.__file__).parents[2]
ASK = f"""
import sys
sys.path[:0] = {[str(ENGINE), *(each for each in sys.path if each.endswith(("runtime", "stubs")))]!r}
from litany_engine.tools.ancestry import inside
found = inside()
import os
with open(sys.argv[1] + ".new", "w") as file:
    file.write("outside" if found is None else f"{{found}}")
os.rename(sys.argv[1] + ".new", sys.argv[1])
"""
WHOSE = Claim("/w", "a", "call_7")
ORPHAN = """(setsid env -i sh -c 'touch ready; while [ -e /proc/$0/exe ]; do sleep .05; done; exec $ASK' $PPID &)
while [ ! -e ready ]; do sleep .05; done; k=$PPID; s=$(cut -d' ' -f4 /proc/$k/stat); kill -9 $s $k"""
"""Asks once its keeper and the spawner above it are gone."""


def told(tmp_path: Path, script: str, claim: Claim | None = WHOSE, asked: str = ASK) -> str:
    """What a Python process says of itself that a script starts as $ASK."""
    seen = tmp_path / "seen"
    program = tmp_path / "ask.py"
    program.write_text(asked)
    ask = f"{sys.executable} -I {program} {seen}"

    async def main() -> str:
        command = script.replace("$ASK", ask)
        try:
            await run_process(["bash", "-c", command], env=dict(os.environ), cwd=tmp_path, claim=claim)
        except ProcessError:  # its keeper was killed
            await wait_until(seen.exists, 30)
        return seen.read_text()

    return trio.run(main)


def test_this_process_is_below_no_call() -> None:
    assert inside() is None
    assert inside(os.getpid()) is None


@pytest.mark.parametrize(
    "script",
    [
        "$ASK",
        "env -u LITANY_TOOL_ID -u LITANY_PROCESS_TREE $ASK",
        "env -i $ASK",
        "(setsid nohup env -i $ASK >/dev/null 2>&1 &) ; while [ ! -e seen ]; do sleep .05; done",
        "ulimit -x 5; env -i $ASK",
    ],
)
def test_a_call_is_told_whatever_its_process_did_to_itself(tmp_path: Path, script: str) -> None:
    assert told(tmp_path, script) == "tool call 'call_7'"


@pytest.mark.parametrize(
    "script",
    [
        ORPHAN,
        "ulimit -x 5; " + ORPHAN,
        # Without CAP_SYS_RESOURCE the limit stays; with it, the filter tells.
        ORPHAN.replace("exec $ASK", 'exec bash -c "ulimit -x unlimited; exec $ASK" 2>/dev/null'),
    ],
)
def test_who_killed_its_keeper_and_the_spawner_is_still_told(tmp_path: Path, script: str) -> None:
    assert told(tmp_path, script).startswith("a tool call (")


def test_the_filter_is_there_where_it_can_be_had(tmp_path: Path) -> None:
    status = Path("/proc/self/status").read_text()
    (capabilities,) = [line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")]
    may_filter = bool(int(capabilities, 16) >> 21 & 1)  # CAP_SYS_ADMIN
    asked = ASK.replace("import inside", "import _filtered").replace("inside()", "_filtered(None) or None")
    expected = "True" if may_filter else "outside"
    assert told(tmp_path, "$ASK", asked=asked) == expected
    (tmp_path / "seen").unlink()
    assert told(tmp_path, "$ASK", None, asked=asked) == "outside"


def test_a_keeper_of_ones_own_making_claims_no_other_call(tmp_path: Path) -> None:
    forged = tmp_path / "forged.py"
    forged.write_text(
        "import os, subprocess, sys\n"
        f"sys.path[:0] = {[each for each in sys.path if each]!r}\n"
        "import trio\n"
        "from pathlib import Path\n"
        "from litany_engine.tools.ancestry import Claim\n"
        "from litany_engine.tools.processes import run_process\n"
        "whose = Claim('/w', *sys.argv[1:3])\n"
        "trio.run(lambda: run_process(sys.argv[3:], env=dict(os.environ), cwd=Path('.'), claim=whose))\n"
    )
    run = f"{sys.executable} {forged}"
    assert told(tmp_path, f"{run} a call_8 $ASK") == "tool call 'call_7'"
    (tmp_path / "seen").unlink()
    assert told(tmp_path, f"{run} b call_7-1 $ASK") == "tool call 'call_7'"
    (tmp_path / "seen").unlink()
    assert told(tmp_path, f"{run} a call_7-1 $ASK") == "tool call 'call_7-1'"


def test_a_server_is_below_its_workspace_and_the_operators_own_program_below_nothing(tmp_path: Path) -> None:
    assert told(tmp_path, "env -i $ASK", Claim(str(tmp_path))) == f"a server of workspace {tmp_path}"
    (tmp_path / "seen").unlink()
    assert told(tmp_path, "env -i $ASK", None) == "outside"
