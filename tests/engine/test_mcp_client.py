"""Tools of connected MCP servers: offered like any other, called through the door, ended with their call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra litany[mcp] is not installed")

import trio

from cli_kit import COMMAND, litany, start
from litany_engine import open_workspace
from litany_engine import tool as local_tool
from litany_engine.api import OpenWorkspace
from litany_engine.door.calls import CallEnd
from litany_engine.door.events import CallReport
from litany_engine.mcp.errors import ServerError, StartStoppedError
from litany_engine.rules.rules import RulesError
from litany_engine.tools.registry import ToolsetError
from litany_engine.tools.unknown_names import unknown_names
from litany_engine.workspaces.workspace import open_workspace_at
from litany_runtime.outcome import Outcome
from mcp_kit import call, good, raw, tool, within
from tool_kit import processes_with, unique_sleep, wait_until


def output(end: CallEnd) -> Any:
    assert end.record is not None
    return json.loads((end.record / "output.json").read_text())


def started(tmp_path: Path) -> int:
    return len(list((tmp_path / "seen").glob("started-*")))


def test_a_servers_tool_is_called_and_recorded_like_any_other(tmp_path: Path) -> None:
    end = call(good(tmp_path), "s_add", {"a": 2, "b": 3})
    assert (end.outcome, end.exit_code, end.stdout, end.data) == (
        Outcome.COMPLETED, 0, b'{"sum": 5}', {"sum": 5},
    )  # fmt: skip
    assert output(end)["data"] == {"sum": 5}


def test_a_program_calls_it_by_its_types(tmp_path: Path) -> None:
    program = "import litany_tools\nr = litany_tools.s_add(a=1, b=2)\nprint(r.ok, r.data['sum'])"
    end = within(good(tmp_path), lambda ws: ws.python(program))
    assert (end.stdout, [each.name for each in end.calls]) == (b"True 3\n", ["s_add"])


def test_an_input_that_its_schema_refuses_never_reaches_the_server(tmp_path: Path) -> None:
    end = call(good(tmp_path), "s_add", {"a": "two"})
    assert end.refusal is not None
    assert end.refusal.gate == "schema"
    assert "argument 'b' is missing" in end.refusal.reason


def test_texts_are_stdout(tmp_path: Path) -> None:
    assert call(good(tmp_path), "s_say").stdout == b"one\ntwo"


def test_an_error_of_the_tool_is_a_failed_call_with_its_text(tmp_path: Path) -> None:
    end = call(good(tmp_path), "s_no")
    assert (end.outcome, end.exit_code) == (Outcome.FAILED, 1)
    assert (end.stdout, end.stderr) == (b"", b"it cannot be done\n")


def test_an_error_of_the_protocol_is_a_failed_call_with_its_number(tmp_path: Path) -> None:
    end = call(good(tmp_path), "s_error")
    assert (end.outcome, end.exit_code) == (Outcome.FAILED, 1)
    assert end.stderr == b"s_error: error 0 of its server: no tool error\n"


def test_data_that_breaks_the_servers_own_schema_is_a_fault(tmp_path: Path) -> None:
    end = call(good(tmp_path), "s_wrong")
    assert end.outcome is Outcome.FAULTED
    assert "output schema promises: $['n']" in end.reason


def test_data_that_was_promised_and_is_not_there_is_a_fault(tmp_path: Path) -> None:
    end = call(good(tmp_path), "s_silent")
    assert end.outcome is Outcome.FAULTED
    assert "gave no structured content" in end.reason


def test_contents_of_other_kinds_are_named_with_their_size_and_kept(tmp_path: Path) -> None:
    end = call(good(tmp_path), "s_show")
    assert end.stdout == b"see:\ninside"
    assert end.stderr.decode().splitlines() == [
        "[content 2: image (image/png), 100 bytes, kept as content-2.bin in the call's record]",
        "[content 3: a link to https://example.org/more, 7 bytes]",
        "[content 4: the text of file:///x, 6 bytes]",
        "[content 5: audio (audio/wav), 10 characters that are no base64, not shown]",
    ]
    assert end.record is not None
    assert (end.record / "content-2.bin").read_bytes() == b"\x89PNG" + bytes(96)


def test_progress_reaches_whoever_watches(tmp_path: Path) -> None:
    async def do(ws: OpenWorkspace) -> list[tuple[str, float | None]]:
        seen: list[Any] = []
        ws.watch(seen.append)
        await ws.invoke("s_steps", {})
        return [(each.message, each.fraction) for each in seen if isinstance(each, CallReport)]

    assert within(good(tmp_path), do) == [("a quarter", 0.25), ("three quarters", 0.75)]


def test_a_stop_tells_the_server_to_cancel_and_says_so(tmp_path: Path) -> None:
    async def do(ws: OpenWorkspace) -> CallEnd:
        ends: list[CallEnd] = []

        async def wait() -> None:
            ends.append(await ws.invoke("s_wait", {}))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await wait_until((tmp_path / "seen" / "waiting").exists, 30)
            await ws.stop()
        # The server lives on, and answers the next call.
        await wait_until((tmp_path / "seen" / "cancelled").exists)
        assert (await ws.invoke("s_say", {})).exit_code == 0
        return ends[0]

    end = within(good(tmp_path), do)
    assert (end.outcome, end.exit_code) == (Outcome.STOPPED, 143)
    assert b"was told to cancel the call" in end.stderr
    assert started(tmp_path) == 1


def test_the_deadline_of_a_call_tells_the_server_to_cancel(tmp_path: Path) -> None:
    async def do(ws: OpenWorkspace) -> CallEnd:
        await ws.connect()
        end = await ws.invoke("s_wait", {}, deadline="300ms")
        await wait_until((tmp_path / "seen" / "cancelled").exists)
        return end

    assert within(good(tmp_path), do).outcome is Outcome.TIMED_OUT


def test_a_program_that_stops_waiting_tells_the_server_to_cancel_and_may_call_it_again(
    tmp_path: Path,
) -> None:
    async def do(ws: OpenWorkspace) -> CallEnd:
        program = """
import asyncio
from litany_tools import aio
call = asyncio.create_task(aio.s_wait())
await asyncio.sleep(0.5)
call.cancel()
print((await aio.s_say()).exit_code)
"""
        end = await ws.python(program, deadline="60s")
        await wait_until((tmp_path / "seen" / "cancelled").exists)
        return end

    end = within(good(tmp_path), do)
    assert end.stdout == b"0\n", end.stderr
    assert [(each.name, each.outcome) for each in end.calls] == [
        ("s_wait", Outcome.STOPPED),
        ("s_say", Outcome.COMPLETED),
    ]


def test_the_deadline_of_a_program_cancels_what_it_has_in_flight_at_a_server(tmp_path: Path) -> None:
    async def do(ws: OpenWorkspace) -> CallEnd:
        await ws.python("pass")  # what runs programs is there, and so is the server
        program = "import litany_tools\nprint('begun', flush=True)\nlitany_tools.s_wait()"
        end = await ws.python(program, deadline="3s")
        await wait_until((tmp_path / "seen" / "cancelled").exists)
        return end

    end = within(good(tmp_path), do)
    assert (end.outcome, end.stdout) == (Outcome.TIMED_OUT, b"begun\n")
    assert [(each.name, each.outcome) for each in end.calls] == [("s_wait", Outcome.TIMED_OUT)]


def test_a_window_answers_a_call_of_a_servers_tool(tmp_path: Path) -> None:
    reply = [{"type": "tool_use", "id": "toolu_1", "name": "s_add", "input": {"a": 1, "b": 4}}]
    answers = within(good(tmp_path), lambda ws: ws.window("a", reply))
    assert [(each.tool_use_id, each.text) for each in answers.results] == [
        ("toolu_1", 'Exit code: 0\n{"sum": 5}')
    ]


def test_the_commands_know_a_servers_tools(tmp_path: Path) -> None:
    workspace = str(good(tmp_path).root)

    def run(*arguments: str) -> str:
        done = litany(*arguments, "--workspace", workspace, cwd=tmp_path, state=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    assert "s_add                Adds two numbers" in run("tool")
    assert "s_add(a: int, b: int)" in run("describe")
    assert "def s_add(" in run("stubs")
    assert run("tool", "s_add", "--input", '{"a": 1, "b": 2}') == '{"sum": 3}'


def test_a_grant_of_a_servers_tool_is_no_slip(tmp_path: Path) -> None:
    workspace = good(tmp_path, rest='[roles.default]\ngrant = ["s_add", "z_add"]')
    assert [each.split("'")[1] for each in unknown_names(workspace.config, {"bash"})] == ["z_add"]


def test_a_server_dies_with_its_host(tmp_path: Path) -> None:
    workspace = good(tmp_path)
    with start(
        "tool", "s_wait", "--input", "{}", "-w", str(workspace.root), cwd=tmp_path, state=tmp_path
    ) as host:
        trio.run(wait_until, (tmp_path / "seen" / "waiting").exists, 30)
        assert processes_with(str(tmp_path / "seen"))
        host.kill()
        host.wait()
        trio.run(wait_until, lambda: not processes_with(str(tmp_path / "seen")), 30)


def test_the_timeout_of_a_server_bounds_each_of_its_calls(tmp_path: Path) -> None:
    async def do(ws: OpenWorkspace) -> CallEnd:
        end = await ws.invoke("s_wait", {})
        bound = ws.toolset().tools["s_wait"].deadline_s
        assert bound is not None
        assert bound({}) == 0.3
        return end

    assert within(good(tmp_path, more='timeout = "300ms"'), do).outcome is Outcome.TIMED_OUT


def test_a_server_that_dies_in_the_middle_of_a_call_is_started_again_by_the_next(tmp_path: Path) -> None:
    async def do(ws: OpenWorkspace) -> tuple[CallEnd, CallEnd]:
        return await ws.invoke("s_die", {}), await ws.invoke("s_say", {})

    died, after = within(good(tmp_path), do)
    assert died.outcome is Outcome.FAULTED
    assert (
        "server 's' was lost in the middle of the call: it ended with exit code 9; it said: out of luck"
        in (died.reason)
    )
    assert (after.outcome, started(tmp_path)) == (Outcome.COMPLETED, 2)


def test_nothing_that_a_server_has_started_outlives_the_workspace(tmp_path: Path) -> None:
    sleep = unique_sleep()

    async def do(ws: OpenWorkspace) -> None:
        end = await ws.invoke("s_fork", {"argv": ["sleep", sleep]})
        assert end.stdout == b"forked"
        await wait_until(lambda: processes_with(sleep))

    within(good(tmp_path), do)
    assert processes_with(sleep) == []
    assert processes_with(str(tmp_path / "seen")) == []


def test_a_server_that_is_not_wanted_is_not_started(tmp_path: Path) -> None:
    workspace = good(tmp_path, rest='[roles.default]\ngrant = ["python", "bash"]')

    async def do(ws: OpenWorkspace) -> None:
        assert (await ws.invoke("bash", {"command": "true"})).exit_code == 0
        assert (await ws.python("print(1)")).exit_code == 0

    within(workspace, do)
    assert started(tmp_path) == 0


def test_a_call_of_another_tool_starts_no_server(tmp_path: Path) -> None:
    assert call(good(tmp_path), "bash", {"command": "true"}).exit_code == 0
    assert started(tmp_path) == 0


def test_a_servers_tools_are_one_step_of_the_grant(tmp_path: Path) -> None:
    workspace = good(tmp_path, rest='[roles.default]\ngrant = ["s_say"]')
    assert call(workspace, "s_say").exit_code == 0
    end = call(workspace, "s_no")
    assert end.refusal is not None
    assert (end.refusal.gate, "Granted: s_say." in end.refusal.reason) == ("grant", True)


def test_only_the_tools_that_the_operator_names_are_there(tmp_path: Path) -> None:
    async def do(ws: OpenWorkspace) -> list[str]:
        await ws.connect()
        return [name for name in ws.toolset().tools if name.startswith("s_")]

    assert within(good(tmp_path, more='tools = ["say", "add"]'), do) == ["s_add", "s_say"]
    assert within(good(tmp_path, more="tools = []"), do) == []


def test_a_tool_that_the_operator_names_and_the_server_has_not_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        ServerError, match=r"server 's' .*has no tool 'sya', which \[mcp.s\] tools names; it has add"
    ):
        call(good(tmp_path, more='tools = ["sya"]'), "s_say")


def test_a_server_gets_of_the_environment_what_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_ONE", "1")
    monkeypatch.setenv("SECRET_TWO", "2")
    seen = json.loads(call(good(tmp_path, more='env = ["SECRET_ONE"]'), "s_variables").stdout)
    assert (seen.get("SECRET_ONE"), "SECRET_TWO" in seen) == ("1", False)
    ours = {"LITANY_PROCESS_TREE", "LITANY_SERVERS_OF"}  # none that says who calls
    assert {name for name in seen if name.startswith("LITANY_")} == ours


def test_hints_of_a_server_raise_requirements_and_lower_none(tmp_path: Path) -> None:
    async def traits(ws: OpenWorkspace) -> tuple[Any, Any]:
        await ws.connect()
        tools = ws.toolset().tools
        return tools["s_add"].traits, tools["s_scrub"].traits

    add, scrub = within(good(tmp_path), traits)
    assert (add.is_read_only({}), add.is_destructive({}), add.is_concurrency_safe({})) == (False, True, False)
    assert add.permissions == {"network_access"}
    assert scrub.is_destructive({})
    add, scrub = within(good(tmp_path, more="trust_hints = true"), traits)
    assert (add.is_read_only({}), add.is_destructive({}), add.is_concurrency_safe({})) == (True, False, True)
    assert add.permissions == frozenset()
    assert scrub.is_destructive({})


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    @local_tool
    def s_say() -> str:
        """Says it here."""
        return "here"

    with pytest.raises(ToolsetError, match="two tools are named 's_say'"):
        within(good(tmp_path), lambda ws: ws.connect(), tools=[s_say])


def test_a_rule_that_asks_of_it_what_it_has_not_is_an_error(tmp_path: Path) -> None:
    workspace = good(tmp_path, rest='[[rules]]\naction = "deny"\ntool = "s_say"\ncommand = "rm **"')
    with pytest.raises(RulesError, match="s_say takes no command line"):
        call(workspace, "s_say")


def test_a_rule_denies_it_by_its_arguments(tmp_path: Path) -> None:
    rule = '[[rules]]\naction = "deny"\ntool = "s_*"\narguments = { a = "7*" }'
    workspace = good(tmp_path, rest=rule)
    end = call(workspace, "s_add", {"a": 70, "b": 1})
    assert end.refusal is not None
    assert end.refusal.gate == "rules"


def test_it_may_be_deferred_and_suspended(tmp_path: Path) -> None:
    workspace = good(tmp_path, rest='[tools]\ndeferred = ["s_say"]\nsuspended = ["s_no"]')

    async def do(ws: OpenWorkspace) -> None:
        for name, words in (("s_say", "is not loaded"), ("s_no", "is suspended for now.")):
            end = await ws.invoke(name, {})
            assert end.refusal is not None
            assert words in end.refusal.reason
        assert b"s_say" in (await ws.invoke("search_tools", {"query": "parts"})).stdout
        assert (await ws.invoke("s_say", {})).exit_code == 0

    within(workspace, do)


def test_a_stop_ends_the_waiting_for_a_server_that_does_not_start(tmp_path: Path) -> None:
    async def do(ws: OpenWorkspace) -> None:
        async with trio.open_nursery() as nursery:
            errors: list[Exception] = []

            async def ask() -> None:
                try:
                    await ws.connect()
                except StartStoppedError as error:
                    errors.append(error)

            nursery.start_soon(ask)
            await wait_until(lambda: processes_with(str(tmp_path / "script.json")), 30)
            await ws.stop("another")
            assert not errors
            await ws.stop("a")
        assert "stopped while servers were being started" in str(errors[0])
        assert processes_with(str(tmp_path / "script.json")) == []

    within(raw(tmp_path, {"initialize": {"silence": True}}), do)


def test_a_server_that_lists_nothing_readable_is_ended_at_once(tmp_path: Path) -> None:
    async def do(ws: OpenWorkspace) -> None:
        with pytest.raises(ServerError):
            await ws.connect()
        await wait_until(lambda: not processes_with(str(tmp_path / "script.json")))

    within(raw(tmp_path, {"tools/list": {"tools": "many"}}), do)


def test_a_list_that_could_not_be_read_is_asked_for_again(tmp_path: Path) -> None:
    """A change must not slip through because the first look at it failed."""
    changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'
    script = {
        "tools/list": {"once": {"tools": [tool()]}, "then": {"error": {"code": 1, "message": "not now"}}},
        "tools/call": {"raw": changed, "then": {"content": []}},
    }

    async def do(ws: OpenWorkspace) -> None:
        assert (await ws.invoke("s_t", {})).outcome is Outcome.COMPLETED
        for _ in range(2):
            end = await ws.invoke("s_t", {})
            assert (end.outcome, "it does not list its tools: not now" in end.reason) == (
                Outcome.FAULTED,
                True,
            )

    within(raw(tmp_path, script), do)


def test_two_calls_of_one_server_are_in_flight_together(tmp_path: Path) -> None:
    async def do(ws: OpenWorkspace) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ws.invoke, "s_wait", {})
            await wait_until((tmp_path / "seen" / "waiting").exists, 30)
            assert (await ws.invoke("s_say", {})).exit_code == 0
            await ws.stop()

    within(good(tmp_path), do)


def test_a_workspace_is_opened_while_a_server_cannot_be_started(tmp_path: Path) -> None:
    workspace = good(tmp_path)
    text = (
        (workspace.root / "litany.toml").read_text().replace("command = [", 'command = ["/no/such/program", ')
    )
    (workspace.root / "litany.toml").write_text(text)

    async def do() -> None:
        async with open_workspace(workspace.root) as ws:
            assert (await ws.invoke("bash", {"command": "true"})).exit_code == 0
            before = set((workspace.root / "steps").rglob("*"))
            with pytest.raises(
                ServerError, match=r"'s' \(\[mcp.s\] in litany.toml\): .*cannot start '/no/such/program'"
            ):
                await ws.python("print(1)")
            assert set((workspace.root / "steps").rglob("*")) == before

    trio.run(do)


def test_a_workspace_that_is_its_own_server_is_an_error_and_not_a_chain_without_end(tmp_path: Path) -> None:
    workspace = good(tmp_path)
    command = json.dumps([*COMMAND, "mcp", "--workspace", str(workspace.root)])
    (workspace.root / "litany.toml").write_text(f"[mcp.s]\ncommand = {command}")
    with pytest.raises(ServerError, match="inside a server of the same workspace"):
        call(open_workspace_at(workspace.root), "s_say")
    assert processes_with(str(workspace.root)) == []
