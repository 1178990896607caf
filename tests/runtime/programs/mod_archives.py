import zipfile, tarfile, io, os
with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as z: z.writestr("d/x.txt", "hello"); z.writestr("y", b"\0")
with zipfile.ZipFile("a.zip") as z: print(z.namelist(), z.read("d/x.txt"), z.testzip(), z.getinfo("y").file_size); z.extractall("out"); print([p.name for p in zipfile.Path(z).iterdir()])
print(open("out/d/x.txt").read(), zipfile.is_zipfile("a.zip"))
with tarfile.open("a.tar.gz", "w:gz") as t: t.add("out", arcname="o"); i = tarfile.TarInfo("m"); i.size = 3; t.addfile(i, io.BytesIO(b"abc"))
with tarfile.open("a.tar.gz") as t: print(sorted(t.getnames()), t.extractfile("m").read()); t.extractall("tout", filter="data")
print(sorted(os.listdir("tout")))
