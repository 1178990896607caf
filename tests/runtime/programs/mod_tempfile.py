import tempfile, os
with tempfile.TemporaryDirectory() as d:
    open(os.path.join(d, "x"), "w").write("1"); print(os.listdir(d), os.path.isdir(d))
print(os.path.exists(d))
with tempfile.NamedTemporaryFile("w+", suffix=".txt") as f: f.write("hi"); f.flush(); print(open(f.name).read(), f.name.endswith(".txt")); f.seek(0); print(f.read())
with tempfile.TemporaryFile() as f: f.write(b"x"); f.seek(0); print(f.read())
with tempfile.SpooledTemporaryFile(max_size=2) as f: f.write(b"abcdef"); f.seek(0); print(f.read())
d = tempfile.mkdtemp(); print(os.path.isdir(d)); os.rmdir(d)
