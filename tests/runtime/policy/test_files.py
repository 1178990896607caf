"""Files: the worktree and a private folder, nothing else, whatever the way to ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy_runner import PolicyRunner

READS = {
    "open": "open({p!r}).read()",
    "open bytes": "open({p!r}.encode(), 'rb').read()",
    "pathlib": "import pathlib; pathlib.Path({p!r}).read_text()",
    "os.listdir": "import os; os.listdir(os.path.dirname({p!r}))",
    "os.scandir": "import os; list(os.scandir(os.path.dirname({p!r})))",
    "pathlib.iterdir": "import pathlib; list(pathlib.Path({p!r}).parent.iterdir())",
    "os.stat": "import os; os.stat({p!r})",
    "os.lstat": "import os; os.lstat({p!r})",
    "os.access": "import os; os.access({p!r}, os.R_OK) or 1 / 0",
    "os.chdir": "import os; os.chdir(os.path.dirname({p!r}))",
    "pathlib.stat": "import pathlib; pathlib.Path({p!r}).stat()",
    "sqlite3": "import sqlite3; sqlite3.connect({p!r}).execute('select 1')",
    "sqlite3 uri": "import sqlite3; sqlite3.connect('file:' + {p!r} + '?mode=ro', uri=True)",
    "sqlite3 attach": "import sqlite3; sqlite3.connect(':memory:').execute('attach ' + repr({p!r}) + ' as x')",
    "gzip": "import gzip; gzip.open({p!r}).read()",
    "bz2": "import bz2; bz2.open({p!r}).read()",
    "lzma": "import lzma; lzma.open({p!r}).read()",
    "zipfile": "import zipfile; zipfile.ZipFile({p!r})",
    "tarfile": "import tarfile; tarfile.open({p!r})",
    "shutil.copy": "import shutil; shutil.copy({p!r}, 'here')",
    "os.link": "import os; os.link({p!r}, 'here')",
    "os.symlink": "import os; os.symlink({p!r}, 'here'); open('here').read()",
    "io.open": "import io; io.open({p!r}).read()",
    "ElementTree": "import xml.etree.ElementTree as ET; ET.parse({p!r})",
    "logging": "import logging; logging.FileHandler({p!r})",
    "relative": "import os; open(os.path.relpath({p!r})).read()",
    "str subclass": "class S(str):\n    def startswith(self, *a): return False\n    def __str__(self): return 'here'\nopen(S({p!r})).read()",
    "own path object": "class P:\n    n = 0\n    def __fspath__(self): self.n += 1; return 'here' if self.n == 1 else {p!r}\nopen('here', 'w').close()\nimport os\np = P()\nos.remove(p)\nos.remove(p)",
}
WRITES = {
    "open": "open({p!r}, 'w').write('changed')",
    "append": "open({p!r}, 'a').write('changed')",
    "update": "open({p!r}, 'r+').write('changed')",
    "pathlib": "import pathlib; pathlib.Path({p!r}).write_text('changed')",
    "os.remove": "import os; os.remove({p!r})",
    "pathlib.unlink": "import pathlib; pathlib.Path({p!r}).unlink()",
    "os.rename": "import os; os.rename({p!r}, 'here')",
    "os.replace over": "import os; open('here', 'w').close(); os.replace('here', {p!r})",
    "os.truncate": "import os; os.truncate({p!r}, 0)",
    "os.chmod": "import os; os.chmod({p!r}, 0)",
    "os.utime": "import os; os.utime({p!r}, (1, 1))",
    "os.mkdir": "import os; os.mkdir({p!r} + 'd')",
    "shutil.copy": "import shutil; open('here', 'w').close(); shutil.copy('here', {p!r})",
    "shutil.move": "import shutil; open('here', 'w').close(); shutil.move('here', {p!r})",
    "shutil.rmtree": "import shutil, os; shutil.rmtree(os.path.dirname({p!r}))",
    "sqlite3": "import sqlite3; sqlite3.connect({p!r} + 'db').execute('create table t(x)')",
    "sqlite3 vacuum": "import sqlite3; c = sqlite3.connect('a.db'); c.execute('create table t(x)'); c.commit(); c.execute('vacuum into ' + repr({p!r} + 'db'))",
    "zip extraction": "import zipfile\nwith zipfile.ZipFile('z', 'w') as z: z.writestr('x', 'changed')\nzipfile.ZipFile('z').extractall({p!r} + 'd')",
    "tar extraction": "import tarfile, io\nwith tarfile.open('t', 'w') as t:\n    i = tarfile.TarInfo({p!r}); i.size = 3; t.addfile(i, io.BytesIO(b'bad'))\nt = tarfile.open('t'); t.extractall('/', **(dict(filter=lambda m, p: m) if hasattr(tarfile, 'data_filter') else dict()))",
    "tempfile": "import tempfile, os; tempfile.NamedTemporaryFile(dir=os.path.dirname({p!r}), delete=False)",
    "rotation": "import logging.handlers\nh = logging.handlers.RotatingFileHandler('in.txt', maxBytes=1, backupCount=1)\nh.namer = lambda n: {p!r}\nh.doRollover()",
    "rotating log": "import logging.handlers; logging.handlers.RotatingFileHandler({p!r} + 'l')",
    "codecs": "import codecs; codecs.open({p!r}, 'w', 'utf-8')",
    "file type": "import argparse\ntry: argparse.FileType('w')({p!r})\nexcept argparse.ArgumentTypeError as e: raise e.__context__",
    "archive": "import shutil, os; shutil.make_archive({p!r} + 'z', 'zip', '.')",
}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file that is no part of any worktree."""
    folder = tmp_path / "outside"
    folder.mkdir()
    file = folder / "secret.txt"
    file.write_text("TOP-SECRET")
    return file


def picture(folder: Path) -> list[tuple[str, bytes, int]]:
    return sorted(
        (str(p.relative_to(folder)), p.read_bytes(), p.stat().st_mode)
        for p in folder.rglob("*")
        if p.is_file()
    )


@pytest.mark.parametrize("way", READS)
def test_nothing_outside_is_read(way: str, outside: Path, policy: PolicyRunner, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    run = policy.run(READS[way].format(p=str(outside)), worktree=work)
    assert run.exit_code == 1
    assert run.exception in {"PermissionError", "DatabaseError", "OperationalError"}, run.stderr
    assert "TOP-SECRET" not in run.stdout + run.stderr
    if run.exception == "PermissionError":
        assert str(work) in run.stderr


@pytest.mark.parametrize("way", WRITES)
def test_nothing_outside_is_written(way: str, outside: Path, policy: PolicyRunner, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    before = picture(outside.parent)
    run = policy.run(WRITES[way].format(p=str(outside)), worktree=work)
    assert run.exit_code == 1
    assert picture(outside.parent) == before
    assert sorted(p.name for p in outside.parent.iterdir()) == ["secret.txt"]
    assert run.exception in {"PermissionError", "DatabaseError", "OperationalError"}, run.stderr


def test_a_link_out_of_the_worktree_is_not_followed(
    outside: Path, policy: PolicyRunner, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    (work / "sub").mkdir(parents=True)
    (work / "link").symlink_to(outside)
    (work / "folder").symlink_to(outside.parent)
    (work / "sub" / "up").symlink_to("../../outside")
    for path in ("link", "folder/secret.txt", "sub/up/secret.txt", "sub/../folder/secret.txt"):
        run = policy.run(f"print(open({path!r}).read())", worktree=work)
        assert run.exception == "PermissionError"
        assert "TOP-SECRET" not in run.stdout
    run = policy.run("import os; os.remove('link'); print(os.listdir('sub'))", worktree=work)
    assert run.exit_code == 0, run.stderr
    assert outside.exists()


def test_the_worktree_is_read_only_by_policy(policy: PolicyRunner, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("kept")
    before = picture(work)
    ok = policy.run("print(open('a.txt').read())", worktree=work, files="read")
    assert ok.stdout == "kept\n"
    for way, source in WRITES.items():
        run = policy.run(source.format(p=str(work / "a.txt")), worktree=work, files="read")
        assert run.exit_code == 1, way
        assert picture(work) == before, way
    said = policy.run("open('a.txt', 'w')", worktree=work, files="read")
    assert "is for reading only" in said.stderr
    assert (
        policy.run(
            "import tempfile\nwith tempfile.TemporaryFile('w+') as f: print(f.write('x'))",
            worktree=work,
            files="read",
        ).stdout
        == "1\n"
    )


def test_a_program_without_files_has_temporary_ones(policy: PolicyRunner, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("kept")
    run = policy.run("open('a.txt')", worktree=work, files="none")
    assert run.exception == "PermissionError"
    assert "this program has no files" in run.stderr
    run = policy.run(
        "import tempfile\nwith tempfile.NamedTemporaryFile('w+') as f:\n    f.write('x'); f.seek(0); print(f.read())",
        worktree=work,
        files="none",
    )
    assert run.stdout == "x\n"


def test_the_workspaces_git_folder_is_not_the_programs(policy: PolicyRunner, tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / ".git" / "hooks").mkdir(parents=True)
    (work / "sub").mkdir()
    for source in (
        "open('.git/hooks/x', 'w')",
        "open('sub/../.git/config', 'w')",
        "import os; os.rename('.git', 'g')",
        "import os; os.listdir('.git')",
    ):
        run = policy.run(source, worktree=work)
        assert run.exception == "PermissionError"
        assert ".git belongs to the workspace" in run.stderr
    assert sorted(p.name for p in (work / ".git").rglob("*")) == ["hooks"]
    assert policy.run("open('sub/.git', 'w').close()", worktree=work).exit_code == 0


def test_a_database_lives_in_the_worktree(policy: PolicyRunner, tmp_path: Path) -> None:
    source = "import sqlite3\nwith sqlite3.connect('d.db') as c: c.execute('create table t(x)'); c.execute('insert into t values (7)')\nc.close()"
    assert policy.run(source, worktree=tmp_path).exit_code == 0
    assert (
        policy.run(
            "import sqlite3; print(sqlite3.connect('d.db').execute('select x from t').fetchone()[0])",
            worktree=tmp_path,
        ).stdout
        == "7\n"
    )
    run = policy.run(
        "import sqlite3; print(sqlite3.connect('file:d.db?mode=ro', uri=True).execute('select x from t').fetchone()[0])",
        worktree=tmp_path,
        files="read",
    )
    assert run.stdout == "7\n"
    assert (
        policy.run("import sqlite3; sqlite3.connect('d.db')", worktree=tmp_path, files="read").exception
        == "PermissionError"
    )
