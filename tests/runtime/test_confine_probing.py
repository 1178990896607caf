"""What the machine can hold is found out by trying; on a poorer machine the report and the refusal say so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from confine_kit import DENY, NOBODY, search_path, start_as
from litany_runtime.confine import ConfinementError, Isolation
from litany_runtime.confine.probing import Report, Row, probe, require

_PROBE = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
from litany_runtime.confine import ConfinementError, Isolation
from litany_runtime.confine.probing import probe, require
refused = {}
for isolation in (Isolation.FULL, Isolation.KERNEL):
    try:
        require(isolation)
    except ConfinementError as error:
        refused[isolation.value] = [error.layer, error.cause, error.remedy]
print(json.dumps([probe().to_json(), refused]))
"""


def probe_on_a_machine_without(denied: str) -> tuple[dict[str, dict[str, Any]], dict[str, list[str]]]:
    """The rows by layer, and the refusals by isolation, of an ordinary user there."""
    return _probe(NOBODY if os.getuid() == 0 else None, sys.executable, str(DENY), denied)


def _probe(user: int | None, *prefix: str) -> tuple[dict[str, dict[str, Any]], dict[str, list[str]]]:
    first, identity = start_as(user)
    done = subprocess.run(
        [*first, *prefix, sys.executable, "-c", _PROBE, json.dumps(search_path())],
        capture_output=True,
        timeout=60,
        check=False,
        **identity,
    )
    assert done.returncode == 0, done.stderr.decode()
    rows, refused = json.loads(done.stdout)
    return {row["layer"]: row for row in rows}, refused


def test_this_machine_holds_every_layer() -> None:
    # Where this fails, the escape suite cannot show what it is there to show.
    rows, refused = _probe(None)
    assert [row for row in rows.values() if not row["held"] and row["needed_by"]] == []
    assert refused == {}
    assert len(rows) == 13


def test_a_machine_with_every_layer_refuses_nothing() -> None:
    assert require(Isolation.FULL).missing(Isolation.FULL) == ()


def test_the_report_is_json() -> None:
    rows = json.loads(json.dumps(probe().to_json()))
    assert {"layer", "held", "tried", "seen", "remedy", "needed_by"} == set(rows[0])


def test_without_user_namespaces_only_kernel_isolation_can_be_had() -> None:
    rows, refused = probe_on_a_machine_without("no-user-namespaces")
    assert not rows["user namespace"]["held"]
    assert rows["landlock"]["held"]
    assert rows["kernel, all together"]["held"]
    assert list(refused) == ["full"]
    layer, cause, remedy = refused["full"]
    assert layer == "user namespace"
    assert "user.max_user_namespaces is 0" in cause
    assert 'isolation = "kernel"' in remedy


def test_a_namespace_that_gives_no_privileges_is_found_out_by_the_mount() -> None:
    # As Ubuntu's AppArmor rule does it: the namespace is made, and then nothing may be mounted.
    rows, refused = probe_on_a_machine_without("mount=EACCES")
    assert rows["user namespace"]["held"]
    assert not rows["mount namespace"]["held"]
    assert refused["full"][0] == "mount namespace"


@pytest.mark.parametrize(
    ("denied", "layer"),
    [("landlock_create_ruleset=ENOSYS", "landlock"), ("seccomp=EINVAL", "seccomp")],
)
def test_without_landlock_or_seccomp_nothing_can_be_had(denied: str, layer: str) -> None:
    rows, refused = probe_on_a_machine_without(denied)
    assert not rows[layer]["held"]
    assert {each[0] for each in refused.values()} == {layer}
    assert set(refused) == {"full", "kernel"}


def test_the_refusal_is_one_readable_sentence_after_the_other() -> None:
    error = ConfinementError("landlock", "it failed; too old", "Use a newer kernel")
    assert str(error) == "no landlock: it failed; too old. Use a newer kernel."


def test_what_is_only_good_to_have_refuses_nothing() -> None:
    report = Report((Row("control groups", held=False, tried="a group", seen="not delegated"),))
    assert report.missing(Isolation.FULL) == ()
