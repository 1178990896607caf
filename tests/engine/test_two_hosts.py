"""Two host processes in one workspace at the same time: what each did is on disk, under an id of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from litany_engine.workspaces.new_workspace import init_workspace

PROGRAMS = 20

HOST = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from litany_engine import open_workspace_blocking, tool

root, name, programs = sys.argv[1], sys.argv[2], int(sys.argv[3])

@tool
def double(number: int) -> int:
    return 2 * number

PROGRAM = "import litany_tools\\nprint({said!r}, [litany_tools.double(number=k).data for k in range(3)])"

with open_workspace_blocking(root, tools=[double]) as ws:
    ws.python("pass", agent=name)  # what runs programs is up
    print("ready", flush=True)
    sys.stdin.readline()

    def run(number):
        said = f"{name}-{number}"
        end = ws.python(PROGRAM.format(said=said), agent=("one", "two")[number % 2])
        return said, str(end.record), str(end.outcome), end.stdout.decode()

    with ThreadPoolExecutor(4) as pool:
        print(json.dumps(list(pool.map(run, range(programs)))), flush=True)
"""


def test_two_hosts_run_twenty_programs_each_as_two_agents_and_no_record_is_lost_or_shared(
    tmp_path: Path,
) -> None:
    workspace = init_workspace(tmp_path / "ws", agent="one")
    workspace.add_agent("two")
    command = [sys.executable, "-c", HOST, str(workspace.root)]
    hosts = [
        subprocess.Popen(
            [*command, name, str(PROGRAMS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in ("one", "two")
    ]
    try:
        for host in hosts:
            assert host.stdout is not None
            assert host.stdout.readline() == "ready\n"
        for host in hosts:
            assert host.stdin is not None
            host.stdin.write("go\n")
            host.stdin.flush()
        ends = [end for host in hosts for end in json.loads(host.communicate(timeout=120)[0])]
    finally:
        for host in hosts:
            host.kill()
            host.communicate()

    assert len(ends) == 2 * PROGRAMS
    assert len({record for _, record, _, _ in ends}) == len(ends), "a record is shared"
    for said, record, outcome, stdout in ends:
        assert (outcome, stdout) == ("completed", f"{said} [0, 2, 4]\n")
        assert json.loads((Path(record) / "output.json").read_text())["stdout"] == stdout
        assert said in (Path(record) / "program.py").read_text()
    for agent in ("one", "two"):
        records = [*(workspace.root / "steps" / agent).glob("*/tools/*")]
        assert len(records) == 1 + PROGRAMS * (1 + 3), "a record is lost"
        ids = [json.loads((record / "input.json").read_text())["id"] for record in records]
        assert sorted(ids) == sorted({record.name for record in records}), "an id is shared"
        assert all((record / "output.json").is_file() for record in records)
