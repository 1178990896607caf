"""How to test a program with pytest alone: copy this file and say what your tools answer.

    pytest examples/testing        (in a clone: .venv/bin/pytest, after `make demo`)

The fixture `fake_door` comes with litany. Nothing is sandboxed and no tool runs.
"""

from pathlib import Path

from litany_stubs.testing import failure, refusal

PROGRAM = Path(__file__).with_name("release_notes.py")
LOG = "a1 Add search\nb2 Fix a crash\nc3 Add export\n"


def test_it_sorts_changes_into_features_and_fixes(fake_door):
    fake_door.answers("git_log", LOG).answers("write_file", "")
    assert fake_door.run(PROGRAM).stdout == "2 features, 1 fixes\n"
    assert fake_door.calls_of("write_file") == [
        {"path": "NOTES.md", "content": "## New\n- Add search\n- Add export\n\n## Fixed\n- Fix a crash\n"}
    ]


def test_it_says_so_when_it_may_not_write(fake_door):
    fake_door.answers("git_log", LOG).answers("write_file", refusal("NOTES.md is kept by hand"))
    assert fake_door.run(PROGRAM).stdout == "The notes were not written: NOTES.md is kept by hand\n"


def test_it_writes_nothing_when_the_log_cannot_be_read(fake_door):
    fake_door.answers("git_log", failure("fatal: bad revision 'v1.2'", exit_code=128)).answers("write_file", "")
    ran = fake_door.run(PROGRAM)
    assert ran.exit_code == 1
    assert "exit code 128: \"fatal: bad revision 'v1.2'\"" in ran.stderr
    assert fake_door.calls_of("write_file") == []
