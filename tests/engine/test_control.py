"""The operator's control: real programs that pass, refuse, hold, crash, dawdle, flood and lie."""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from door_kit import Place, inside, make_place
from litany_engine.configuration.config import ControlConfig
from litany_engine.door.callers import Caller
from litany_engine.door.calls import CallEnd, ToolCall
from litany_engine.door.control import MAX_VERDICT_BYTES, consult, consultant, read_verdict
from litany_engine.door.door import Door
from litany_engine.door.gates import ControlFault, Hold
from litany_runtime.outcome import Outcome
from litany_stubs.words import Refusal

CALL = ToolCall("T", "bash", {"command": "ls"})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def control(tmp_path: Path, body: str, *, deadline_s: float = 20.0) -> ControlConfig:
    script = tmp_path / "control.py"
    script.write_text(f"#!{sys.executable} -IS\n{body}\n")
    script.chmod(0o755)
    return ControlConfig((str(script),), deadline_s)


def answering(tmp_path: Path, answer: Any) -> ControlConfig:
    return control(tmp_path, f"print({json.dumps(answer)!r})")


def ask(config: ControlConfig, caller: Caller, call: ToolCall = CALL) -> Any:
    return trio.run(consult, config, call, caller)


def fault(config: ControlConfig, caller: Caller) -> str:
    with pytest.raises(ControlFault) as caught:
        ask(config, caller)
    message = str(caught.value)
    assert message.startswith(f"control {config.command[0]}")
    assert "\n" not in message
    return message


def test_a_pass_lets_the_call_go_on(place: Place, tmp_path: Path) -> None:
    assert ask(answering(tmp_path, {"verdict": "pass"}), place.caller()) is None


def test_a_refusal_names_the_tool_and_gives_the_reason_to_the_model(place: Place, tmp_path: Path) -> None:
    verdict = ask(answering(tmp_path, {"verdict": "refuse", "reason": "not on a Friday"}), place.caller())
    assert verdict == Refusal("control", "'bash' was refused by the operator's control: not on a Friday")


def test_a_hold_carries_its_reason_to_the_operator(place: Place, tmp_path: Path) -> None:
    assert ask(answering(tmp_path, {"verdict": "hold", "reason": "ask Ada"}), place.caller()) == Hold(
        "ask Ada"
    )


def test_the_control_is_told_the_call_and_who_makes_it(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LITANY_TOOL_ID", "forged")
    monkeypatch.setenv("OPERATOR_KEY", "the control is the operator's own")
    body = """
import json, os, sys
names = ("LITANY_CONV_REPO", "LITANY_CONV_BRANCH", "LITANY_TOOL_ID", "OPERATOR_KEY")
told = {"argv": sys.argv[1:], "cwd": os.getcwd(), "env": [os.environ.get(name) for name in names]}
json.dump(told | {"asked": json.load(sys.stdin)}, open(__file__ + ".told", "w"))
print('{"verdict": "pass"}')
"""
    caller = place.caller()
    inner = inside(caller)
    config = control(tmp_path, body)
    ask(config, inner, ToolCall("T-1", "bash", {"command": "ä\ud800"}))
    told = json.loads((tmp_path / "control.py.told").read_text())
    assert told == {
        "argv": [],
        "cwd": str(caller.workspace),
        "env": [str(caller.workspace), caller.agent, None, "the control is the operator's own"],
        "asked": {
            "id": "T-1",
            "name": "bash",
            "input": {"command": "ä\ud800"},
            "role": caller.role,
            "agent_id": caller.agent,
            "parent": "T",
        },
    }
    ask(config, caller)
    assert json.loads((tmp_path / "control.py.told").read_text())["asked"]["parent"] is None


def test_the_operators_own_arguments_are_passed(place: Place, tmp_path: Path) -> None:
    config = control(tmp_path, "import sys\nprint(sys.argv[1])")
    assert ask(ControlConfig((*config.command, '{"verdict": "pass"}')), place.caller()) is None


def test_a_control_that_reads_nothing_of_a_large_call_still_answers(place: Place, tmp_path: Path) -> None:
    call = ToolCall("T", "bash", {"command": "x" * 2_000_000})
    assert ask(answering(tmp_path, {"verdict": "pass"}), place.caller(), call) is None


def test_a_control_that_is_not_there_is_a_fault(place: Place, tmp_path: Path) -> None:
    fault(ControlConfig((str(tmp_path / "absent"),)), place.caller())
    (tmp_path / "plain").write_text("no program")
    fault(ControlConfig((str(tmp_path / "plain"),)), place.caller())


def test_a_control_that_crashes_is_a_fault_with_what_it_said(place: Place, tmp_path: Path) -> None:
    message = fault(control(tmp_path, "raise SystemExit('no\\n  policy file')"), place.caller())
    assert message.endswith("exited with 1: no policy file")


def test_an_approval_from_a_control_that_then_fails_is_none(place: Place, tmp_path: Path) -> None:
    body = """print('{"verdict": "pass"}', flush=True)\nraise SystemExit(3)"""
    assert "exited with 3" in fault(control(tmp_path, body), place.caller())


def test_a_control_that_a_signal_ends_is_a_fault(place: Place, tmp_path: Path) -> None:
    body = """print('{"verdict": "pass"}', flush=True)\nimport os; os.kill(os.getpid(), 9)"""
    assert "exited with 137" in fault(control(tmp_path, body), place.caller())


def test_a_control_that_does_not_answer_in_time_is_a_fault_and_is_ended(place: Place, tmp_path: Path) -> None:
    body = """import os, time
open(__file__ + ".pid", "w").write(str(os.getpid()))
print('{"verdict": "pass"}', flush=True)
time.sleep(60)"""
    message = fault(control(tmp_path, body, deadline_s=0.5), place.caller())
    assert message.endswith("gave no verdict within 500 ms")
    assert not psutil.pid_exists(int((tmp_path / "control.py.pid").read_text() or 0))


def test_a_control_that_answers_without_end_is_a_fault(place: Place, tmp_path: Path) -> None:
    body = f"""print('{{"verdict": "pass"}}' + ' ' * {MAX_VERDICT_BYTES * 4})"""
    assert fault(control(tmp_path, body), place.caller()).endswith("answered with more than 64 KiB")


def test_a_call_that_is_stopped_while_the_control_is_asked_stops_and_is_no_fault(
    place: Place, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "asked")
    body = f"open({str(tmp_path / 'asked')!r}, 'w').write('asked')\nimport time; time.sleep(60)"
    config = control(tmp_path, body)

    async def main() -> bool:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(consult, config, CALL, place.caller())
                async with await trio.open_file(tmp_path / "asked") as pipe:
                    await pipe.read()
                scope.cancel()
        return scope.cancelled_caught

    assert trio.run(main) is True


BAD = [
    b"",
    b"pass",
    b'"pass"',
    b"[]",
    b"null",
    b"\xff",
    b"{}",
    b'{"verdict": "allow"}',
    b'{"verdict": null}',
    b'{"verdict": ["pass"]}',
    b'{"verdict": "PASS"}',
    b'{"verdict": "pass", "reason": "fine"}',
    b'{"verdict": "pass", "reason": null}',
    b'{"verdict": "pass", "input": {}}',
    b'{"verdict": "refuse"}',
    b'{"verdict": "refuse", "reason": ""}',
    b'{"verdict": "hold", "reason": " "}',
    b'{"verdict": "hold", "reason": 3}',
    b'{"verdict": "refuse", "reason": "no", "verdict": "pass"}',
    b'{"verdict": "refuse", "verdict": "pass"}',
    b'{"verdict": "pass"} {"verdict": "pass"}',
    b'{"verdict": "pass"}\nthank you',
    b"[" * 100_000,
]


@pytest.mark.parametrize("answer", BAD, ids=lambda answer: repr(answer[:50]))
def test_an_answer_of_another_shape_is_no_verdict(answer: bytes) -> None:
    with pytest.raises(ValueError) as caught:
        read_verdict(answer, CALL)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


@given(
    st.binary(max_size=30)
    | st.dictionaries(
        st.sampled_from(["verdict", "reason", "x"]), st.sampled_from(["pass", "refuse", "hold", "", None, 1])
    ).map(lambda each: json.dumps(each).encode())
)
def test_only_the_exact_word_passes(answer: bytes) -> None:
    try:
        verdict = read_verdict(answer, CALL)
    except ValueError:
        return
    assert verdict is not None or json.loads(answer) == {"verdict": "pass"}


def through_the_door(place: Place, config: ControlConfig, name: str) -> CallEnd:
    async def main() -> CallEnd:
        door = Door(consult=consultant(config))
        return await door.invoke(name, {"path": "x"}, place.caller())

    return trio.run(main)


def test_through_the_door_a_fault_runs_nothing_and_is_recorded_as_ours(place: Place, tmp_path: Path) -> None:
    end = through_the_door(place, control(tmp_path, "print('maybe')"), "read_file")
    assert (end.outcome, end.exit_code) == (Outcome.FAULTED, 125)
    assert "gave no verdict" in end.reason
    assert place.kept.calls == []
    assert end.record is not None
    assert json.loads((end.record / "output.json").read_bytes())["outcome"] == "faulted"


def test_through_the_door_an_ungranted_call_never_consults_the_control(place: Place, tmp_path: Path) -> None:
    end = through_the_door(place, control(tmp_path, "open(__file__ + '.asked', 'w')"), "no_such_tool")
    assert end.refusal is not None
    assert end.refusal.gate == "grant"
    assert not (tmp_path / "control.py.asked").exists()


def test_through_the_door_a_pass_runs_the_call(place: Place, tmp_path: Path) -> None:
    end = through_the_door(place, answering(tmp_path, {"verdict": "pass"}), "read_file")
    assert end.stdout == b"content of x"


def test_a_call_that_is_not_json_is_a_fault_before_anything_is_asked(place: Place, tmp_path: Path) -> None:
    config = control(tmp_path, "open(__file__ + '.asked', 'w')")
    with pytest.raises(ControlFault, match="not JSON"):
        ask(config, place.caller(), ToolCall("T", "bash", {"x": math.nan}))
    assert not (tmp_path / "control.py.asked").exists()
