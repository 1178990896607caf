"""How a zygote and its children come to be confined: who they are, what they find, what is refused and why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from confine_kit import DENY, NOBODY, Host, Launch, Task, a_host, launch, readable, search_path
from litany_runtime.confine import ConfinementError, Isolation, Layer, ZygotePlan
from litany_runtime.confine.mounts import check_name
from litany_runtime.confine.paths import read_only_paths
from litany_runtime.program import FilePolicy

AS_ROOT = os.getuid() == 0
USER = NOBODY if AS_ROOT else None
DENIED = (sys.executable, str(DENY))
needs_root = pytest.mark.skipif(not AS_ROOT, reason="only root can start as root")
everywhere = pytest.mark.parametrize(
    ("isolation", "as_root"),
    [
        (Isolation.FULL, False),
        pytest.param(Isolation.FULL, True, marks=needs_root),
        (Isolation.KERNEL, False),
        pytest.param(Isolation.KERNEL, True, marks=needs_root),
    ],
)


def start(host: Host, *tasks: Task, as_root: bool = False, **more: Any) -> Launch:
    given = {"isolation": Isolation.FULL, "worktrees": host.worktrees, "facts": host.facts, **more}
    return launch(list(tasks), user=None if as_root else USER, **given)


def owner_for(isolation: Isolation, *, as_root: bool) -> int | None:
    """Root's own files where they can be mapped, else a user's."""
    return 0 if as_root and isolation is Isolation.FULL else USER


@everywhere
def test_what_programs_need_still_works(isolation: Isolation, as_root: bool) -> None:
    probe = "what_programs_do" if isolation is Isolation.FULL else "what_programs_do_without_a_tmp"
    with a_host(owner_for(isolation, as_root=as_root)) as host:
        row = start(host, Task(probe), as_root=as_root, isolation=isolation).of(probe)
    assert row["kind"] == "reached", row["got"]


@everywhere
def test_what_a_program_writes_belongs_to_the_worktrees_owner(isolation: Isolation, as_root: bool) -> None:
    owner = owner_for(isolation, as_root=as_root)
    with a_host(owner) as host:
        start(host, Task("leave_a_file"), as_root=as_root, isolation=isolation)
        left = (host.worktrees / "one" / "left.txt").stat()
        folder = (host.worktrees / "one" / "left-folder").stat()
    wanted = os.getuid() if owner is None else owner
    assert {left.st_uid, folder.st_uid, left.st_gid} == {wanted}


@everywhere
def test_a_program_is_never_root(isolation: Isolation, as_root: bool) -> None:
    with a_host(owner_for(isolation, as_root=as_root)) as host:
        result = start(host, Task("who_it_is"), as_root=as_root, isolation=isolation)
        found = eval(result.of("who_it_is")["got"])
    assert found["uid"] != 0
    assert found["cwd"] == ("/worktree" if isolation is Isolation.FULL else str(host.worktrees / "one"))
    assert found["umask"] == "0o22"


@needs_root
def test_the_process_is_not_root_outside_either() -> None:
    with a_host(0) as host, running(host, as_root=True) as launcher:
        below = launcher.children(recursive=True)
        assert len(below) == 2
        for each in (launcher, *below):
            status = Path(f"/proc/{each.pid}/status").read_text()
            fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
            assert set(fields["Uid"].split()) == {str(NOBODY)}
            assert fields["Groups"].strip() == ""
        # The last is the child.
        assert fields["CapEff"] == fields["CapPrm"] == fields["CapInh"] == fields["CapAmb"] == "0" * 16
        assert fields["NoNewPrivs"] == "1"
        assert fields["Seccomp"] == "2"
        assert fields["Seccomp_filters"] == "2"


def test_each_child_has_a_tmp_of_its_own() -> None:
    with a_host(USER) as host:
        result = start(host, Task("see_the_last_childs_tmp"), Task("see_the_last_childs_tmp", worktree="two"))
    assert [row["got"] for row in result.rows if row.get("probe")] == ["False", "False"]


def test_children_do_not_share_their_random_state_with_the_host() -> None:
    with a_host(USER) as host:
        result = start(host, Task("nothing"))
    assert result.entered["pid"] == 1


def test_packages_that_were_not_asked_for_are_not_there() -> None:
    with a_host(USER) as host:
        row = start(host, Task("list_other_packages")).of("list_other_packages")
    assert set(eval(row["got"])) <= {"RestrictedPython", "msgpack", "tzdata"}


def test_packages_in_the_hosts_tmp_can_be_read_though_the_childs_own_covers_it() -> None:
    with a_host(USER) as host:
        package = host.root / "outside" / "lib"
        (package / "planted_package").mkdir(parents=True)
        (package / "planted_package" / "__init__.py").write_text("WORD = 'found'")
        (package / "planted_file.py").write_text("# a module of one file")
        paths = (*readable(), package / "planted_package", package / "planted_file.py")
        facts = {**host.facts, "package": str(package)}
        tasks = [Task("read_a_package"), Task("write_a_package"), Task("read_a_host_file")]
        result = start(host, *tasks, read_only=paths, facts=facts)
        assert (package / "planted_package" / "__init__.py").read_text() == "WORD = 'found'"
    assert result.of("read_a_package")["got"] == "('found', '# a module of one file')"
    assert result.of("write_a_package")["kind"] == "held"
    assert result.of("read_a_host_file")["kind"] == "held"


def test_a_package_where_the_worktree_goes_is_refused() -> None:
    result = launch([], user=USER, isolation=Isolation.FULL, read_only=(Path("/worktree/lib"),))
    assert (result.refused["layer"], "/worktree/lib" in result.refused["cause"]) == ("private root", True)


def test_a_program_without_a_worktree_starts_in_the_root() -> None:
    with a_host(USER) as host:
        row = start(host, Task("nothing", worktree=None)).of("nothing")
    assert eval(row["got"])[2] == "/"


def test_a_zygote_without_worktrees_runs_programs_without_files() -> None:
    result = launch([Task("nothing", worktree=None)], user=USER, isolation=Isolation.FULL, worktrees=None)
    assert result.of("nothing")["kind"] == "reached"


def test_a_worktree_that_appears_later_is_found() -> None:
    # The zygote mounts the folder of all worktrees, and agents come after it.
    with a_host(USER) as host:
        before = start(host, Task("nothing", worktree="three")).of("nothing")
        (host.worktrees / "three").mkdir(mode=0o777)
        (host.worktrees / "three").chmod(0o777)
        after = start(host, Task("nothing", worktree="three")).of("nothing")
    assert (before["kind"], before["layer"]) == ("refused", "worktree")
    assert after["kind"] == "reached"


@pytest.mark.parametrize("isolation", [Isolation.FULL, Isolation.KERNEL])
def test_a_symbolic_link_in_place_of_a_worktree_is_refused(isolation: Isolation) -> None:
    with a_host(USER) as host:
        (host.worktrees / "link").symlink_to("two")
        row = start(host, Task("nothing", worktree="link"), isolation=isolation).of("nothing")
    assert (row["kind"], row["layer"]) == ("refused", "worktree")


def test_a_git_that_is_a_symbolic_link_is_refused() -> None:
    with a_host(USER) as host:
        (host.worktrees / "one" / ".git").unlink()
        (host.worktrees / "one" / ".git").symlink_to("notes.txt")
        row = start(host, Task("nothing")).of("nothing")
    assert row["kind"] == "refused"
    assert "symbolic link" in row["cause"]


def test_a_git_that_is_a_folder_is_covered_too() -> None:
    with a_host(USER) as host:
        git = host.worktrees / "one" / ".git"
        git.unlink()
        git.mkdir(mode=0o777)
        (git / "config").write_text(host.secret)
        result = start(host, Task("read_git"), Task("write_git"), Task("remove_git"), Task("rename_git"))
        rows = [row for row in result.rows if row.get("probe")]
        assert {row["kind"] for row in rows} == {"held"}
        assert (git / "config").read_text() == host.secret


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc", "a\0b"])
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(ConfinementError):
        check_name(name)


def test_a_worktree_of_another_user_is_refused_in_words() -> None:
    if not AS_ROOT:
        pytest.skip("only root can make another user's folder")
    with a_host(0) as host:
        (host.worktrees / "one").chmod(0o755)
        row = start(host, Task("nothing")).of("nothing")
        reading = start(host, Task("nothing", files=FilePolicy.READ)).of("nothing")
    assert (row["kind"], row["layer"]) == ("refused", "worktree")
    assert str(NOBODY) in row["cause"]
    assert "chown" in row["remedy"]
    assert reading["kind"] == "reached"


@needs_root
def test_a_file_system_that_cannot_map_owners_is_refused_by_name() -> None:
    with a_host(0) as host:
        for name in ("upper", "work"):
            (host.root / name).mkdir()
        options = f"lowerdir={host.worktrees},upperdir={host.root}/upper,workdir={host.root}/work"
        command = f'mount -t overlay none -o {options} {host.worktrees} && exec "$@"'
        result = start(host, as_root=True, prefix=("unshare", "-m", "sh", "-c", command, "sh"))
    assert result.refused["layer"] == "worktree"
    assert "cannot map owners" in result.refused["cause"]
    assert "ordinary user" in result.refused["remedy"]


# Where a layer cannot be had.


def test_full_isolation_without_user_namespaces_is_refused_with_the_remedy() -> None:
    with a_host(USER) as host:
        result = start(host, Task("nothing"), prefix=(*DENIED, "no-user-namespaces"))
    assert result.code == 9
    assert result.refused["layer"] == "user namespace"
    assert "user.max_user_namespaces is 0" in result.refused["cause"]
    assert "sysctl user.max_user_namespaces" in result.refused["remedy"]
    assert 'isolation = "kernel"' in result.refused["remedy"]
    assert not [row for row in result.rows if row["kind"] == "entered"]


@pytest.mark.parametrize(
    ("denied", "layer"),
    [
        ("unshare=EPERM", "user namespace"),
        ("mount=EPERM", "private root"),
        ("mount_setattr=ENOSYS", "private root"),
        ("landlock_create_ruleset=ENOSYS", "landlock"),
        ("landlock_create_ruleset=EOPNOTSUPP", "landlock"),
        ("seccomp=EINVAL", "seccomp"),
    ],
)
def test_a_refused_call_is_named_and_nothing_runs(denied: str, layer: str) -> None:
    with a_host(USER) as host:
        result = start(host, Task("nothing"), prefix=(*DENIED, denied))
    assert result.refused["layer"] == layer
    assert result.refused["remedy"]
    assert not [row for row in result.rows if row.get("probe")]


@pytest.mark.parametrize("prefix", [(*DENIED, "no-user-namespaces"), (*DENIED, "unshare=EPERM,mount=EPERM")])
def test_kernel_isolation_needs_no_namespaces(prefix: tuple[str, ...]) -> None:
    with a_host(USER) as host:
        row = start(host, Task("who_it_is"), isolation=Isolation.KERNEL, prefix=prefix).of("who_it_is")
    assert row["kind"] == "reached"
    assert {"landlock abi 7", "seccomp"} & set(row["layers"])
    assert "user namespace" not in row["layers"]


@pytest.mark.parametrize("isolation", [Isolation.FULL, Isolation.KERNEL])
@pytest.mark.parametrize("abi", [1, 2])
def test_a_landlock_without_control_of_truncation_is_refused(isolation: Isolation, abi: int) -> None:
    with a_host(USER) as host:
        result = start(host, Task("nothing"), isolation=isolation, landlock_abi=abi)
    assert result.refused["layer"] == "landlock"
    assert f"ABI {abi}" in result.refused["cause"]


def test_only_landlock_and_seccomp_can_be_left_out() -> None:
    with pytest.raises(ValueError, match="private root"):
        ZygotePlan(without=frozenset({Layer.ROOT}))


def test_a_plan_survives_its_journey_to_the_launcher() -> None:
    plan = ZygotePlan(
        Isolation.KERNEL, readable(), Path("/tmp/agents"), 42, frozenset({Layer.SECCOMP}), landlock_abi=3
    )
    assert ZygotePlan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


# Lifetimes.


class running:  # noqa: N801 - reads as the statement it is
    """A launcher under a supervisor of its own, with one child that sleeps."""

    def __init__(self, host: Host, *, as_root: bool = False, isolation: Isolation = Isolation.FULL) -> None:
        tests = str(Path(__file__).parents[1])
        code = (
            "import sys, json, os; sys.path[:0] = json.loads(sys.argv[1]); import confine_kit as kit;"
            "from litany_runtime.confine import Isolation; from pathlib import Path;"
            "kit.launch([kit.Task('sleep_for_ever')], user=json.loads(sys.argv[3]), supervisor=os.getpid(),"
            " isolation=Isolation(sys.argv[4]), worktrees=Path(sys.argv[2]))"
        )
        arguments = [
            json.dumps([tests, *search_path()]),
            str(host.worktrees),
            json.dumps(None if as_root else USER),
            isolation.value,
        ]
        # Groups to lose: root's shell has none.
        groups: dict[str, Any] = {"extra_groups": [4, 4242]} if as_root else {}
        self.supervisor = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], stderr=subprocess.PIPE, **groups
        )
        self._wanted = 3 if isolation is Isolation.FULL else 2

    def __enter__(self) -> psutil.Process:
        below = psutil.Process(self.supervisor.pid).children
        _until(lambda: len(below(recursive=True)) == self._wanted and _asleep(below(recursive=True)[-1]))
        self.everybody = below(recursive=True)
        return below()[0]

    def __exit__(self, *_: object) -> None:
        self.supervisor.kill()
        self.supervisor.wait()
        assert self.supervisor.stderr
        self.supervisor.stderr.close()
        _until(lambda: not any(_alive(each) for each in self.everybody), 1.0)


def _asleep(process: psutil.Process) -> bool:
    """Whether the child has got as far as its probe: it holds nothing but what a child may."""
    try:
        return Path(f"/proc/{process.pid}/wchan").read_text() != "" and (
            "Seccomp_filters:\t2" in Path(f"/proc/{process.pid}/status").read_text()
        )
    except OSError:
        return False


def _until(condition: Any, within_s: float = 20) -> None:
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.01)


@pytest.mark.parametrize("isolation", [Isolation.FULL, Isolation.KERNEL])
def test_killing_the_supervisor_leaves_no_process(isolation: Isolation) -> None:
    with a_host(USER) as host:
        run = running(host, isolation=isolation)
        with run:
            run.supervisor.kill()
            run.supervisor.wait()
            _until(lambda: not any(_alive(each) for each in run.everybody), 1.0)


@pytest.mark.parametrize("which", [0, 1])
def test_killing_the_launcher_or_the_zygote_ends_every_child(which: int) -> None:
    with a_host(USER) as host:
        run = running(host)
        with run:
            run.everybody[which].kill()
            _until(lambda: not any(_alive(each) for each in run.everybody), 1.0)


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


# What programs may read.


def test_the_standard_library_and_our_packages_are_readable_and_little_else() -> None:
    paths = read_only_paths()
    assert Path(os.__file__).resolve().parent in paths
    names = {path.name for path in paths}
    assert {"litany_runtime", "litany_stubs", "RestrictedPython", "msgpack"} <= names
    assert not any(path.name == "site-packages" for path in paths)
    assert all(path == path.resolve() for path in paths)


def test_an_extra_package_brings_what_it_requires() -> None:
    names = {path.name for path in read_only_paths(["hypothesis"])}
    assert {"hypothesis", "sortedcontainers"} <= names


def test_an_extra_package_that_is_not_installed_is_an_error() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        read_only_paths(["no_such_package"])
