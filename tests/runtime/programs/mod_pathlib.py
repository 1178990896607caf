from pathlib import Path, PurePosixPath, PurePath
p = Path("d") / "e"; p.mkdir(parents=True); f = p / "x.txt"
print(f.write_text("hello\n"), f.read_text(), f.name, f.stem, f.suffix, f.parent, f.parts, f.exists(), f.is_file(), p.is_dir(), f.stat().st_size, str(f), f.with_suffix(".md"), f.with_name("y"), f.relative_to("d"), sorted(x.name for x in Path(".").iterdir()), [str(x) for x in Path(".").rglob("*.txt")], list(Path("d").glob("*")), PurePosixPath("/a/../b").as_posix(), Path("a") < Path("b"), f.match("*.txt"), Path("x").joinpath("y", "z"), f.read_bytes())
with f.open("a") as h: h.write("more")
print(f.read_text().splitlines(), f.resolve().name, Path.cwd() == Path(".").resolve(), f.samefile("d/e/x.txt"))
f.rename("z.txt"); Path("z.txt").unlink(); p.rmdir(); print(list(Path("d").iterdir()), Path("d").absolute().is_absolute())
Path("t").touch(); print(Path("t").stat().st_mode & 0o777 > 0, Path("nope").exists()); Path("t").unlink(missing_ok=True); Path("nope").unlink(missing_ok=True)
try: Path("none").read_text()
except FileNotFoundError as e: print(e)
print(repr(PurePath("a", "b")), Path("~").name, Path("a.tar.gz").suffixes, PurePosixPath("/a/b").parents[0])
