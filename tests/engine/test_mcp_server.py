"""litany as an MCP server: what a client is offered, what it is answered, and how its calls end."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra litany[mcp] is not installed")

import mcp_types
import trio
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from cli_kit import COMMAND, environment, litany, start
from litany_engine.workspaces.new_workspace import init_workspace
from litany_engine.workspaces.workspace import Workspace
from mcp_kit import good
from stop_kit import tool_processes
from tool_kit import wait_until

TOOLS = '''
from litany_engine import ToolContext, tool

@tool
def stock(fruit: str) -> dict[str, int]:
    """How much there is of a fruit."""
    return {"count": len(fruit)}

@tool
def numbers() -> list[int]:
    """Numbers."""
    return [1, 2]

@tool
def slow(context: ToolContext) -> str:
    """Says how far it is."""
    print("a tool prints")
    context.report("half", 0.5)
    context.report("nearly", 0.9)
    return "there"
'''


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "tools.py").write_text(TOOLS)
    return init_workspace(tmp_path / "ws", agent="a")


def arguments(workspace: Workspace, *more: str) -> list[str]:
    return ["mcp", "--workspace", str(workspace.root), *more]


@asynccontextmanager
async def client(workspace: Workspace, *more: str, hear: Any = None) -> AsyncIterator[ClientSession]:
    """A client as others write it, with the server that it has started."""
    program, *rest = [*COMMAND, *arguments(workspace, *more)]
    with Path("/dev/null").open("w") as nothing:  # noqa: ASYNC230 - no file waits there
        async with (
            stdio_client(
                StdioServerParameters(command=program, args=rest, env=environment(workspace.root.parent)),
                nothing,
            ) as (read, write),
            ClientSession(read, write, message_handler=hear) as session,
        ):
            await session.initialize()
            yield session


def served(
    workspace: Workspace, do: Callable[[ClientSession], Awaitable[Any]], *more: str, hear: Any = None
) -> Any:
    async def main() -> Any:
        async with client(workspace, *more, hear=hear) as session:
            return await do(session)

    return trio.run(main)


def text(result: mcp_types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, mcp_types.TextContent)
    return content.text


def outcomes(workspace: Workspace) -> dict[str, Any]:
    """The ends on record, by call."""
    found = (workspace.root / "steps").glob("*/*/tools/*/output.json")
    return {each.parent.name: json.loads(each.read_text()) for each in found}


def test_the_agents_tools_are_offered_python_first_with_what_it_can_reach(workspace: Workspace) -> None:
    tools = served(
        workspace, lambda session: session.list_tools(), "--tools", str(workspace.root.parent / "tools.py")
    )
    names = [each.name for each in tools.tools]
    assert names[0] == "python"
    assert names[1:] == sorted(names[1:])
    assert {"bash", "read_file", "apply_patch", "stock"} <= set(names)
    assert "stock(fruit: str) -> Result[" in tools.tools[0].description
    by_name = {each.name: each for each in tools.tools}
    assert by_name["stock"].input_schema["required"] == ["fruit"]
    assert by_name["stock"].output_schema["type"] == "object"
    assert by_name["numbers"].output_schema is None  # what is no object is no structured content
    assert by_name["read_file"].annotations.read_only_hint is True
    assert by_name["bash"].annotations.destructive_hint is True


def test_what_the_role_is_not_granted_is_not_offered_and_refused_by_the_door(workspace: Workspace) -> None:
    (workspace.root / "litany.toml").write_text('[roles.default]\ngrant = ["read_file"]')

    async def do(session: ClientSession) -> Any:
        return (await session.list_tools()).tools, await session.call_tool("bash", {"command": "true"})

    tools, end = served(workspace, do)
    assert [each.name for each in tools] == ["read_file"]
    assert (end.is_error, text(end)) == (True, "'bash' is not granted to role 'default'. Granted: read_file.")
    assert outcomes(workspace)["call_1"]["refusal"]["gate"] == "grant"


def test_only_what_the_operator_names_is_offered_and_programs_reach_the_rest(workspace: Workspace) -> None:
    async def do(session: ClientSession) -> Any:
        program = "import litany_tools\nprint(litany_tools.bash(command='echo inside').stdout, end='')"
        return (
            (await session.list_tools()).tools,
            await session.call_tool("bash", {"command": "true"}),
            await session.call_tool("python", {"program": program}),
        )

    tools, other, end = served(workspace, do, "--only", "python")
    assert [each.name for each in tools] == ["python"]
    assert (other.is_error, text(other)) == (True, "'bash' is not offered here; offered: python.")
    assert (end.is_error, text(end)) == (False, "Exit code: 0\ninside\n")


def test_an_answer_is_the_envelope_and_the_data(workspace: Workspace) -> None:
    async def do(session: ClientSession) -> Any:
        return (
            await session.call_tool("stock", {"fruit": "plum"}),
            await session.call_tool("numbers"),
            await session.call_tool("bash", {"command": "echo no >&2; exit 3"}),
            await session.call_tool("stock", {"froit": "plum"}),
        )

    stock, numbers, bash, wrong = served(workspace, do, "--tools", str(workspace.root.parent / "tools.py"))
    assert (text(stock), stock.structured_content, stock.is_error) == (
        'Exit code: 0\n{"count": 4}', {"count": 4}, False,
    )  # fmt: skip
    assert (text(numbers), numbers.structured_content) == ("Exit code: 0\n[1, 2]", None)
    assert (text(bash), bash.is_error) == ("Exit code: 3\n--- stderr ---\nno\n", True)
    assert (wrong.is_error, "did you mean 'fruit'?" in text(wrong)) == (True, True)


def test_each_call_is_a_step_of_its_own(workspace: Workspace) -> None:
    async def do(session: ClientSession) -> None:
        for _ in range(2):
            await session.call_tool("bash", {"command": "true"})

    served(workspace, do)
    assert [each.name for each in sorted((workspace.root / "steps" / "a").iterdir())] == ["001", "002"]
    assert set(outcomes(workspace)) == {"call_1", "call_2"}


def test_progress_is_told_to_a_client_that_asks_for_it(workspace: Workspace) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async def do(session: ClientSession) -> Any:
        await session.call_tool("slow")
        await session.call_tool("slow", progress_callback=hear)
        await wait_until(
            lambda: told and told[-1][2] == "nearly"
        )  # the SDK tells its host in a task of its own

    served(workspace, do, "--tools", str(workspace.root.parent / "tools.py"))
    assert told[-1] == (0.9, 1.0, "nearly")  # the latest wins, and it always arrives
    assert [each[0] for each in told] == sorted(each[0] for each in told)


def test_what_an_inner_call_reports_is_progress_of_its_program(workspace: Workspace) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async def do(session: ClientSession) -> Any:
        program = "import litany_tools\nlitany_tools.slow()"
        await session.call_tool("python", {"program": program}, progress_callback=hear)
        await wait_until(lambda: told and told[-1][2] == "nearly")

    served(workspace, do, "--tools", str(workspace.root.parent / "tools.py"))
    assert told[-1] == (0.9, 1.0, "nearly")


def test_a_client_that_cancels_stops_its_call_and_what_it_printed_is_kept(workspace: Workspace) -> None:
    async def do(session: ClientSession) -> Any:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(
                session.call_tool, "bash", {"command": "echo begun; touch on; trap '' TERM; sleep 1000"}
            )
            await wait_until((workspace.root / "agents" / "a" / "on").exists, 30)
            nursery.cancel_scope.cancel()
        return await session.call_tool("bash", {"command": "echo after"})

    assert text(served(workspace, do)) == "Exit code: 0\nafter\n"
    end = outcomes(workspace)["call_1"]
    assert (end["outcome"], end["exit_code"], end["stdout"]) == ("stopped", 143, "begun\n")
    assert tool_processes(workspace) == []


def request(number: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


HELLO = (
    request(
        1,
        "initialize",
        protocolVersion="2025-11-25",
        capabilities={},
        clientInfo={"name": "raw", "version": "0"},
    )
    + b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
)


def waiting(process: subprocess.Popen[bytes], workspace: Workspace) -> None:
    """Have a call in flight whose process is there."""
    assert process.stdin is not None
    call = request(2, "tools/call", name="bash", arguments={"command": "echo begun; touch on; sleep 1000"})
    process.stdin.write(HELLO + call)
    process.stdin.flush()
    trio.run(wait_until, (workspace.root / "agents" / "a" / "on").exists, 30)


def test_a_client_that_leaves_stops_its_calls(workspace: Workspace, tmp_path: Path) -> None:
    with start(*arguments(workspace), cwd=tmp_path, state=tmp_path) as process:
        waiting(process, workspace)
        process.communicate(timeout=30)
        assert process.returncode == 0
    end = outcomes(workspace)["call_1"]
    assert (end["outcome"], end["stdout"]) == ("stopped", "begun\n")
    assert tool_processes(workspace) == []


def test_a_client_that_is_killed_stops_its_calls(workspace: Workspace, tmp_path: Path) -> None:
    """Its pipes close both at once, and no word is said."""
    with start(*arguments(workspace), cwd=tmp_path, state=tmp_path) as process:
        waiting(process, workspace)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.close()
        process.wait(30)
    assert outcomes(workspace)["call_1"]["outcome"] == "stopped"
    assert tool_processes(workspace) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_calls_answers_them_and_ends_the_server(
    workspace: Workspace, tmp_path: Path, number: signal.Signals
) -> None:
    with start(*arguments(workspace), cwd=tmp_path, state=tmp_path) as process:
        waiting(process, workspace)
        process.send_signal(number)
        assert process.stdout is not None
        answers = [json.loads(line) for line in process.stdout]
        assert process.wait(30) == 143
    assert answers[-1]["id"] == 2
    assert answers[-1]["result"]["isError"] is True
    assert answers[-1]["result"]["content"][0]["text"].startswith("Exit code: 143\nbegun\n")
    assert outcomes(workspace)["call_1"]["outcome"] == "stopped"
    assert tool_processes(workspace) == []


def test_a_stop_from_elsewhere_is_an_answer_and_the_server_goes_on(
    workspace: Workspace, tmp_path: Path
) -> None:
    with start(*arguments(workspace), cwd=tmp_path, state=tmp_path) as process:
        waiting(process, workspace)
        assert (
            litany("stop", "--workspace", str(workspace.root), cwd=tmp_path, state=tmp_path).returncode == 0
        )
        out, _ = process.communicate(timeout=30)
    assert json.loads(out.splitlines()[-1])["result"]["isError"] is True


def test_nothing_but_the_protocol_is_on_stdout_and_stdin_is_nobody_elses(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "noisy.py").write_text(
        "import os, sys\nfrom litany_engine import tool\nprint('as it is loaded')\n\n"
        "@tool\ndef noisy() -> str:\n    'Writes everywhere.'\n"
        "    print('printed')\n    os.write(1, b'written')\n    os.system('echo from a shell')\n"
        "    return repr(sys.stdin.read())\n"
    )
    with start(
        *arguments(workspace, "--tools", str(tmp_path / "noisy.py")), cwd=tmp_path, state=tmp_path
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(
            b"this is no message\n" + HELLO + request(2, "tools/call", name="noisy", arguments={})
        )
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        rest, said = process.communicate(timeout=30)
    assert [each["id"] for each in answers] == [1, 2]
    assert answers[1]["result"]["content"][0]["text"] == "Exit code: 0\n''"
    assert rest == b""
    for words in (b"as it is loaded", b"printed", b"written", b"from a shell"):
        assert words in said


def test_a_held_call_waits_for_the_operator_and_the_client_is_told(
    workspace: Workspace, tmp_path: Path
) -> None:
    (workspace.root / "litany.toml").write_text('[[rules]]\naction = "ask"\ntool = "bash"')
    told: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async def do(session: ClientSession) -> Any:
        ends: list[Any] = []

        async def ask() -> None:
            ends.append(await session.call_tool("bash", {"command": "echo let"}, progress_callback=hear))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await wait_until(lambda: told, 30)
            await trio.to_thread.run_sync(
                lambda: litany(
                    "answer",
                    "call_1",
                    "pass",
                    "--workspace",
                    str(workspace.root),
                    cwd=tmp_path,
                    state=tmp_path,
                )
            )
        return ends[0]

    assert text(served(workspace, do)) == "Exit code: 0\nlet\n"
    assert told[0] is not None
    assert told[0].startswith("waits for the operator's answer: a rule asks about 'bash'")


def test_a_client_is_told_when_its_tools_have_changed(workspace: Workspace) -> None:
    (workspace.root / "litany.toml").write_text('[tools]\ndeferred = ["apply_patch"]')
    heard: list[Any] = []

    async def hear(message: Any) -> None:
        heard.append(message)

    async def do(session: ClientSession) -> Any:
        before = {each.name for each in (await session.list_tools()).tools}
        await session.call_tool("search_tools", {"query": "patch"})
        await wait_until(lambda: heard)
        return before, {each.name for each in (await session.list_tools()).tools}

    before, after = served(workspace, do, hear=hear)
    assert after - before == {"apply_patch"}
    assert isinstance(heard[0], mcp_types.ToolListChangedNotification)


def test_tools_of_servers_are_passed_on(tmp_path: Path) -> None:
    async def do(session: ClientSession) -> Any:
        names = [each.name for each in (await session.list_tools()).tools]
        return names, await session.call_tool("s_add", {"a": 1, "b": 1})

    names, end = served(good(tmp_path), do)
    assert "s_add" in names
    assert end.structured_content == {"sum": 2}


def test_the_newest_protocol_is_spoken_without_a_handshake(workspace: Workspace) -> None:
    async def main() -> Any:
        program, *rest = [*COMMAND, *arguments(workspace)]
        async with (
            stdio_client(
                StdioServerParameters(command=program, args=rest, env=environment(workspace.root.parent))
            ) as (read, write),
            ClientSession(read, write) as session,
        ):
            await session.discover()
            return session.protocol_version, await session.call_tool("bash", {"command": "echo new"})

    version, end = trio.run(main)
    assert version == "2026-07-28"
    assert text(end) == "Exit code: 0\nnew\n"


def test_a_server_that_cannot_be_used_is_told_to_the_client(tmp_path: Path) -> None:
    workspace = init_workspace(tmp_path / "ws", agent="a")
    (workspace.root / "litany.toml").write_text('[mcp.s]\ncommand = ["false"]')

    async def do(session: ClientSession) -> str:
        with pytest.raises(Exception, match="it cannot be used: it ended with exit code 1") as caught:
            await session.list_tools()
        return str(caught.value)

    assert "[mcp.s] in litany.toml" in served(workspace, do)


@pytest.mark.parametrize(
    ("more", "words", "code"),
    [
        (["--agent", "nobody"], "nobody", 125),
        (["--budget", "3"], "--budget must be at least 200 characters", 2),
        (
            ["--only", "pyhton"],
            "--only pyhton: the agent is granted no such tool (did you mean 'python'?)",
            2,
        ),
        (["--tools", "gone.py"], "there is no such file", 2),
    ],
)
def test_a_mistake_is_one_line_before_anything_is_served(
    workspace: Workspace, tmp_path: Path, more: list[str], words: str, code: int
) -> None:
    done = litany(*arguments(workspace, *more), cwd=tmp_path, state=tmp_path)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (code, "", 1)
    assert words in done.stderr


def test_inside_a_tool_call_nobody_is_served(workspace: Workspace, tmp_path: Path) -> None:
    done = litany(*arguments(workspace), cwd=tmp_path, state=tmp_path, env={"LITANY_TOOL_ID": "call_1"})
    assert (done.returncode, done.stdout) == (126, "")
